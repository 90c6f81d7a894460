//! Which device is meant: an index of the list, an address, or a piece of a name. Pure.

use super::super::worker::DeviceAddress;
use miette::Diagnostic;
use peak_backend_api::{DeviceInfo, DeviceKind};

/// Why no device is meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Diagnostic)]
pub enum SelectionError {
    /// There are none.
    #[error("there is no device")]
    #[diagnostic(
        code("peak::no-device"),
        help("`peak doctor` says what each runtime lacks and how to mend it; Mesa's software Vulkan device will do")
    )]
    None,
    /// None matches.
    #[error("no device here matches `{wanted}`")]
    #[diagnostic(code("peak::unknown-device"), help("give an index, or a piece of a name, of: {}", .there.join("; ")))]
    Unknown {
        /// What was asked for.
        wanted: String,
        /// Every device.
        there: Vec<String>,
    },
    /// Several match.
    #[error("`{wanted}` matches {} devices: {}", .matches.len(), .matches.join("; "))]
    #[diagnostic(
        code("peak::ambiguous-device"),
        help("give the index that stands before the name, or more of the name")
    )]
    Ambiguous {
        /// What was asked for.
        wanted: String,
        /// Those that match.
        matches: Vec<String>,
    },
}

/// The device that `wanted` means: an index into `devices`, `BACKEND/RUNTIME/INDEX`, a whole name or a piece of one
/// (case aside); the first of those that are one device in several languages. Without a wish: the first of the most capable kind, a GPU of its own before a processor.
///
/// # Errors
/// None, no match or several, with a list of what is there.
pub fn select<'a>(devices: &'a [DeviceInfo], wanted: Option<&str>) -> Result<&'a DeviceInfo, SelectionError> {
    if devices.is_empty() {
        return Err(SelectionError::None);
    }
    let Some(wanted) = wanted else {
        return devices.iter().min_by_key(|device| rank(device.kind)).ok_or(SelectionError::None);
    };
    if let Some(device) = wanted.parse::<usize>().ok().and_then(|index| devices.get(index)) {
        return Ok(device);
    }
    let address = DeviceAddress::parse(wanted);
    let lower = wanted.to_lowercase();
    let tests: [&dyn Fn(&DeviceInfo) -> bool; 3] = [
        &|device| address.as_ref().is_some_and(|address| *address == address_of(device)),
        &|device| device.name.to_lowercase() == lower,
        &|device| !lower.is_empty() && device.name.to_lowercase().contains(&lower),
    ];
    for test in tests {
        let found: Vec<usize> = (0..devices.len()).filter(|index| test(&devices[*index])).collect();
        match found.as_slice() {
            [] => {}
            [one] => return Ok(&devices[*one]),
            [first, rest @ ..] if is_one_device(&devices[*first], rest.iter().map(|index| &devices[*index])) => {
                return Ok(&devices[*first]);
            }
            several => {
                let matches = several.iter().map(|index| line(*index, &devices[*index])).collect();
                return Err(SelectionError::Ambiguous { wanted: wanted.to_owned(), matches });
            }
        }
    }
    let there = devices.iter().enumerate().map(|(index, device)| line(index, device)).collect();
    Err(SelectionError::Unknown { wanted: wanted.to_owned(), there })
}

/// The address at which a worker opens the device.
#[must_use]
pub fn address_of(device: &DeviceInfo) -> DeviceAddress {
    DeviceAddress { backend: device.backend.clone(), runtime: device.runtime.clone(), index: device.index }
}

/// Whether these are one device in several languages: of one name, and no two of one runtime.
fn is_one_device<'a>(first: &'a DeviceInfo, mut rest: impl Iterator<Item = &'a DeviceInfo>) -> bool {
    let mut runtimes = vec![(&first.backend, &first.runtime)];
    rest.all(|device| {
        let runtime = (&device.backend, &device.runtime);
        let other = !runtimes.contains(&runtime);
        runtimes.push(runtime);
        other && device.name == first.name
    })
}

fn rank(kind: DeviceKind) -> u8 {
    match kind {
        DeviceKind::Discrete => 0,
        DeviceKind::Integrated => 1,
        DeviceKind::Virtual => 2,
        DeviceKind::Software => 3,
    }
}

fn line(index: usize, device: &DeviceInfo) -> String {
    format!("{index}: {} ({}/{})", device.name, device.backend, device.runtime)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(index: usize, name: &str, kind: DeviceKind) -> DeviceInfo {
        DeviceInfo {
            index,
            name: name.to_owned(),
            backend: "hlsl".to_owned(),
            runtime: "vulkan".to_owned(),
            driver: "1".to_owned(),
            kind,
            facts: std::collections::BTreeMap::new(),
            features: Vec::new(),
            target: None,
        }
    }

    fn devices() -> Vec<DeviceInfo> {
        vec![
            device(0, "llvmpipe (LLVM 19)", DeviceKind::Software),
            device(1, "NVIDIA H200", DeviceKind::Discrete),
            device(2, "NVIDIA H200 NVL", DeviceKind::Discrete),
        ]
    }

    fn chosen(wanted: Option<&str>) -> Result<usize, SelectionError> {
        select(&devices(), wanted).map(|device| device.index)
    }

    #[test]
    fn a_device_is_chosen_by_index_address_or_name() {
        assert_eq!(chosen(None), Ok(1));
        assert_eq!(chosen(Some("0")), Ok(0));
        assert_eq!(chosen(Some("LLVMPIPE")), Ok(0));
        assert_eq!(chosen(Some("hlsl/vulkan/2")), Ok(2));
        assert_eq!(chosen(Some("nvidia h200")), Ok(1), "a whole name wins over a piece");
    }

    #[test]
    fn one_device_in_two_languages_is_not_ambiguous() {
        let cuda = |index, name| {
            let device = device(index, name, DeviceKind::Discrete);
            DeviceInfo { backend: "cuda".to_owned(), runtime: "gpu".to_owned(), ..device }
        };
        let mut there = vec![cuda(0, "NVIDIA H200"), device(0, "NVIDIA H200", DeviceKind::Discrete)];
        for wanted in [None, Some("h200"), Some("NVIDIA H200")] {
            assert_eq!(select(&there, wanted).map(|device| device.backend.as_str()), Ok("cuda"), "the first language");
        }
        there.push(cuda(1, "NVIDIA H200"));
        assert!(matches!(select(&there, Some("h200")), Err(SelectionError::Ambiguous { .. })));
    }

    #[test]
    fn a_bad_choice_lists_what_is_there() {
        assert_eq!(select(&[], None), Err(SelectionError::None));
        let ambiguous = chosen(Some("nvidia")).expect_err("two match").to_string();
        assert_eq!(
            ambiguous,
            "`nvidia` matches 2 devices: 1: NVIDIA H200 (hlsl/vulkan); 2: NVIDIA H200 NVL (hlsl/vulkan)"
        );
        for wanted in ["7", "radeon", ""] {
            let unknown = chosen(Some(wanted)).expect_err("none matches");
            let help = unknown.help().map(|help| help.to_string()).unwrap_or_default();
            assert!(help.contains("0: llvmpipe (LLVM 19) (hlsl/vulkan); 1: NVIDIA"), "{help}");
        }
    }
}
