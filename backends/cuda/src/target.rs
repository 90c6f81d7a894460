//! What `CompileRequest::target` asks for: NVRTC's own names tell the architecture and the kind of artifact.
//!
//! `sm_90a` is machine code for that architecture (a cubin); `compute_90` is portable PTX, for the simulator or for the
//! driver's own compiler; an empty target is PTX for [`PORTABLE`].

use peak_backend_api::{ArtifactKind, CompileError};

/// The architecture of PTX for which no device is named: the newest whose features the simulator knows.
pub(crate) const PORTABLE: u32 = 90;

/// An architecture, with what is made for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// 90 for `sm_90a`.
    pub number: u32,
    /// `a` or `f`, for features of one architecture or one family; or empty.
    pub suffix: String,
    /// PTX or cubin.
    pub kind: ArtifactKind,
}

impl Target {
    /// Reads a target.
    ///
    /// # Errors
    /// Words that are no architecture of CUDA.
    pub fn parse(text: &str) -> Result<Target, CompileError> {
        if text.is_empty() {
            return Ok(Target { number: PORTABLE, suffix: String::new(), kind: ArtifactKind::Ptx });
        }
        let parts = text.strip_prefix("sm_").map(|rest| (rest, ArtifactKind::Cubin));
        let parts = parts.or_else(|| text.strip_prefix("compute_").map(|rest| (rest, ArtifactKind::Ptx)));
        let parsed = parts.and_then(|(rest, kind)| {
            let digits = rest.trim_end_matches(['a', 'f']);
            let suffix = &rest[digits.len()..];
            let plain = digits.bytes().all(|digit| digit.is_ascii_digit()) && suffix.len() <= 1;
            Some(Target { number: digits.parse().ok().filter(|_| plain)?, suffix: suffix.to_owned(), kind })
        });
        let shown: String = text.escape_debug().take(40).collect();
        parsed.ok_or_else(|| {
            unsupported(format!(
                "`{shown}` is no architecture of CUDA: write `sm_90a` for machine code, `compute_90` for PTX"
            ))
        })
    }

    /// What NVRTC is asked for. Always a real architecture: then it assembles too, and tells registers and spills.
    pub fn architecture(&self) -> String {
        format!("sm_{}{}", self.number, self.suffix)
    }

    /// The name of the target that makes that kind for the same architecture.
    #[must_use]
    pub fn making(&self, kind: ArtifactKind) -> Option<String> {
        let name = match kind {
            ArtifactKind::Ptx => "compute_",
            ArtifactKind::Cubin => "sm_",
            _ => return None,
        };
        Some(format!("{name}{}{}", self.number, self.suffix))
    }

    /// Whether the compiler knows the architecture.
    ///
    /// # Errors
    /// A word with all that it knows.
    pub fn check(&self, supported: &[u32], compiler: &str) -> Result<(), CompileError> {
        if supported.is_empty() || supported.contains(&self.number) {
            return Ok(());
        }
        let known: Vec<String> = supported.iter().map(|number| format!("sm_{number}")).collect();
        let name = self.architecture();
        let cure = "a CUDA toolkit that knows the device's is taken from the folder in `CUDA_PATH`";
        Err(unsupported(format!("{compiler} does not compile for `{name}`: it knows {}; {cure}", known.join(", "))))
    }
}

fn unsupported(problem: String) -> CompileError {
    CompileError::Interface(vec![problem])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_tells_architecture_and_kind() {
        let parse = |text: &str| Target::parse(text).map(|it| (it.architecture(), it.kind));
        assert_eq!(parse(""), Ok(("sm_90".to_owned(), ArtifactKind::Ptx)));
        assert_eq!(parse("compute_75"), Ok(("sm_75".to_owned(), ArtifactKind::Ptx)));
        assert_eq!(parse("sm_90a"), Ok(("sm_90a".to_owned(), ArtifactKind::Cubin)));
        assert_eq!(parse("sm_100f"), Ok(("sm_100f".to_owned(), ArtifactKind::Cubin)));
    }

    #[test]
    fn each_kind_has_its_target() {
        let making = |text: &str, kind| Target::parse(text).ok().and_then(|target| target.making(kind));
        assert_eq!(making("sm_90a", ArtifactKind::Ptx).as_deref(), Some("compute_90a"));
        assert_eq!(making("", ArtifactKind::Cubin).as_deref(), Some("sm_90"));
        assert_eq!(making("sm_90a", ArtifactKind::Spirv), None);
    }

    #[test]
    fn other_words_are_refused() {
        for text in ["sm_", "sm_90aa", "sm_9x", "gfx942", "sm_-1", "sm_99999999999", "sm_90a -I/etc", "\u{0}"] {
            let Err(CompileError::Interface(problems)) = Target::parse(text) else { panic!("{text:?}") };
            assert!(problems[0].contains("no architecture"), "{problems:?}");
        }
        let old = Target::parse("sm_52").and_then(|target| target.check(&[75, 90], "NVRTC 13.0"));
        assert_eq!(
            old.map_err(|error| error.to_string()),
            Err("NVRTC 13.0 does not compile for `sm_52`: it knows sm_75, sm_90; \
                 a CUDA toolkit that knows the device's is taken from the folder in `CUDA_PATH`"
                .to_owned())
        );
    }
}
