//! What a runtime must do at the edges: sizes that are none, widths of scalars, programs that come and go, kernels that
//! write where they must not.

use super::running::{LENGTH, add, buffer, floats, launch, number, ready, sequence, succeed};
use super::{BLOCK, Subject, compile, compiled, device, request, widths_entry};
use crate::{ArgumentValue, Device, LaunchStep, ProgramId, RuntimeError};

/// Programs that are loaded at once.
const PROGRAMS: usize = 24;

/// Integers of 1, 2, 4 and 8 bytes arrive, with their signs.
///
/// # Panics
/// Where the backend does not conform, as every test here.
pub fn scalars_of_every_width_arrive(subject: &Subject) {
    let Some(source) = subject.kernels.widths else { return };
    let Some(mut device) = device(subject) else { return };
    let Some(artifact) = compile(subject, &request(subject, source, vec![widths_entry()])) else { return };
    let artifact = artifact.unwrap_or_else(|error| panic!("the suite's kernels compile: {error}"));
    let program = device.load(&artifact).unwrap_or_else(|error| panic!("{error}"));
    succeed(device.allocate("C", 16));
    for values in [[-1_i64, -2, -3, -4], [127, 32767, 8_388_607, 1 << 40], [-128, -32768, -8_388_608, -(1 << 50)]] {
        let [a, b, c, d] = values.map(i64::to_le_bytes);
        let bytes = [("a", &a[..1]), ("b", &b[..2]), ("c", &c[..4]), ("d", &d[..])];
        let scalars = bytes.map(|(name, bytes)| number(name, bytes));
        let arguments = std::iter::once(buffer("C", "C")).chain(scalars).collect();
        let (entry, one) = ("widths".to_owned(), [1, 1, 1]);
        let step = LaunchStep::Launch {
            entry,
            grid: one,
            block: [BLOCK, 1, 1],
            shared_bytes: 0,
            cluster: None,
            cooperative: false,
            arguments,
        };
        succeed(device.run(program, &sequence(vec![step])));
        assert_eq!(floats(device.as_mut(), "C"), values.map(|value| value as f32));
    }
}

/// A buffer may have no bytes, or a number of them that no word divides.
pub fn buffers_of_any_size(subject: &Subject) {
    let Some(mut device) = device(subject) else { return };
    for bytes in [0_usize, 1, 2, 3, 5, 255, 257, 4095, 65537] {
        let content: Vec<u8> = (0..bytes).map(|at| (at % 250) as u8).collect();
        succeed(device.allocate("A", bytes as u64));
        succeed(device.write("A", &content));
        assert_eq!(device.read("A"), Ok(content), "{bytes} bytes");
        assert!(matches!(device.write("A", &vec![0; bytes + 1]), Err(RuntimeError::Buffer { .. })), "{bytes} bytes");
        succeed(device.fill("A", [7, 8, 9, 10]));
        assert_eq!(device.read("A").map(|it| it.last().copied()), Ok((bytes > 0).then(|| 7 + ((bytes - 1) % 4) as u8)));
    }
}

/// After each kind of refusal the device runs what it ran before, and nothing of the refused launch is seen.
pub fn a_refusal_is_forgotten(subject: &Subject) {
    let Some((mut device, program)) = ready(subject) else { return };
    let broken: [fn(&mut LaunchStep); 4] = [
        |step| launch(step).arguments.clear(),
        |step| launch(step).arguments[2] = buffer("C", "nowhere"),
        |step| launch(step).arguments[3].value = ArgumentValue::Bytes(Vec::new()),
        |step| *launch(step).grid = [0, 1, 1],
    ];
    for (index, change) in broken.iter().enumerate() {
        succeed(device.fill("C", [0; 4]));
        let mut step = add("A", "B", "C");
        change(&mut step);
        assert!(device.run(program, &sequence(vec![step])).is_err(), "change {index}");
        assert_eq!(floats(device.as_mut(), "C"), [0.0; LENGTH], "change {index}");
        runs(device.as_mut(), program);
    }
    assert!(device.load(&crate::Artifact { bytes: b"no code".to_vec(), ..loadable(subject) }).is_err());
    runs(device.as_mut(), program);
}

fn loadable(subject: &Subject) -> crate::Artifact {
    compiled(subject).unwrap_or_else(|| panic!("it was compiled a moment ago"))
}

/// A kernel that writes past its buffer's end changes no other buffer. Where the device tells, it says so, and it or a
/// fresh one runs on.
pub fn a_write_past_the_end_stays_there(subject: &Subject) {
    let Some((mut device, program)) = ready(subject) else { return };
    let before = ["A", "B"].map(|name| device.read(name));
    let mut step = add("A", "B", "C");
    // All threads of the last block: a few elements beyond.
    launch(&mut step).arguments[3] = number("n", &(LENGTH.next_multiple_of(BLOCK as usize) as i32).to_le_bytes());
    match device.run(program, &sequence(vec![step])) {
        Ok(()) => {}
        // The device goes on; and it was told before anything of that thread was written.
        Err(RuntimeError::Fault(words)) => assert!(!words.is_empty()),
        Err(RuntimeError::DeviceLost(_)) => {
            drop(device);
            let Some((mut device, program)) = ready(subject) else { return };
            return runs(device.as_mut(), program);
        }
        Err(other) => panic!("{other}"),
    }
    assert_eq!(["A", "B"].map(|name| device.read(name)), before);
    runs(device.as_mut(), program);
}

/// Many programs are loaded at once, and each goes without the others.
pub fn programs_stand_side_by_side(subject: &Subject) {
    let Some((mut device, first)) = ready(subject) else { return };
    let artifact = loadable(subject);
    let load = |_| device.load(&artifact).unwrap_or_else(|error| panic!("{error}"));
    let programs: Vec<ProgramId> = (0..PROGRAMS).map(load).collect();
    for program in &programs {
        runs(device.as_mut(), *program);
    }
    for program in programs.iter().step_by(2) {
        device.unload(*program);
    }
    for program in programs.iter().skip(1).step_by(2).chain([&first]) {
        runs(device.as_mut(), *program);
    }
}

/// A program that was unloaded is refused in words that name it, and the others run on.
pub fn an_unloaded_program_is_named(subject: &Subject) {
    let Some((mut device, first)) = ready(subject) else { return };
    let gone = device.load(&loadable(subject)).unwrap_or_else(|error| panic!("{error}"));
    device.unload(gone);
    device.unload(gone);
    match device.run(gone, &sequence(vec![add("A", "B", "C")])) {
        Err(RuntimeError::Launch(words)) => assert!(words.contains(&format!("program {}", gone.0)), "{words}"),
        other => panic!("expected a refusal, got {other:?}"),
    }
    runs(device.as_mut(), first);
}

/// Adds, and looks at the sums.
fn runs(device: &mut dyn Device, program: ProgramId) {
    succeed(device.fill("C", [0xFF; 4]));
    succeed(device.run(program, &sequence(vec![add("A", "B", "C")])));
    let sums = floats(device, "C");
    assert!(sums.iter().enumerate().all(|(index, sum)| *sum == 3.0 * index as f32), "{:?}", &sums[..8]);
}
