//! CUDA as `peak` meets it: which backend is chosen, and what is said where NVRTC or a GPU is missing.

use crate::program::{Outcome, command, folder, peak, peak_with};
use crate::vulkan;
use peak::backends::{self, backend};
use peak_backend_api::{ArtifactKind, CompileError, CompileRequest};
use std::path::Path;

const ENVIRONMENT: i32 = 3;

/// A folder of toolchains with all of this machine's but CUDA's.
fn without_cuda() -> Option<tempfile::TempDir> {
    let all = peak_backend_api::toolchain_folder()?;
    let folder = tempfile::tempdir().expect("a temporary folder");
    for entry in std::fs::read_dir(all).ok()?.flatten().filter(|entry| entry.file_name() != "cuda") {
        std::os::unix::fs::symlink(entry.path(), folder.path().join(entry.file_name())).expect("a link");
    }
    Some(folder)
}

/// The toolchain's line in `peak doctor`.
fn tool(outcome: &Outcome, name: &str) -> serde_json::Value {
    outcome.events().into_iter().find(|event| event["name"] == name).unwrap_or_else(|| panic!("{}", outcome.out))
}

#[test]
fn without_nvrtc_hlsl_goes_on_working() {
    let (Some(toolchains), Some(_)) = (without_cuda(), vulkan::device()) else { return };
    let variables = [("PEAK_TOOLCHAINS", toolchains.path()), ("CUDA_PATH", Path::new("/nonexistent"))];
    let home = folder(&[]);
    let doctor = peak_with(home.path(), &variables, &["doctor", "--json"]);
    let nvrtc = tool(&doctor, "nvrtc");
    assert_eq!(
        (doctor.code, &nvrtc["mend"]),
        (0, &if nvrtc["found"] == true { ().into() } else { "scripts/setup".into() })
    );
    assert_eq!(tool(&doctor, "dxc")["found"], true);
    // A machine may have an NVRTC of its own.
    if nvrtc["found"] == false {
        let run = peak_with(home.path(), &variables, &["run", "matmul-f32", "--backend", "cuda"]);
        assert_eq!(run.code, ENVIRONMENT, "{}", run.err);
        let words = ["peak::missing-toolchain", "peak::no-device"];
        assert!(words.iter().any(|word| run.err.contains(word)), "{}", run.err);
    }
}

#[test]
fn without_a_gpu_what_is_chosen_is_hlsl() {
    let home = folder(&[]);
    let doctor = peak(home.path(), &["doctor", "--json"]);
    let devices: Vec<_> = doctor.events().into_iter().filter(|event| event["event"] == "device").collect();
    let Some(first) = devices.first().filter(|_| devices.iter().all(|device| device["kind"] == "software")) else {
        return;
    };
    assert_eq!(first["backend"], "hlsl", "a simulator is the last resort: {devices:?}");
    assert_eq!(backends::default_backend(), Some("hlsl"));
}

#[test]
fn prompts_are_asked_in_cuda_without_a_machine() {
    let home = folder(&[]);
    let arguments = ["lower", "-t", "refactor", "--backend", "cuda", "--no-run", "--emit", "prompt"];
    let output = command(home.path(), &arguments).output().expect("peak starts");
    let prompt = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(prompt.contains("```cuda") && prompt.contains("__syncthreads()"), "{prompt}");
    assert!(!prompt.contains("groupshared"), "{prompt}");
}

#[test]
fn a_target_says_what_is_made() {
    let cuda = backend("cuda").expect("this build has it");
    for kind in [ArtifactKind::Cubin, ArtifactKind::Ptx] {
        assert!(cuda.artifacts().contains(&kind));
        assert!(backends::runtimes(cuda.as_ref()).iter().any(|runtime| runtime.accepts(kind)), "{kind:?}");
    }
    let request = CompileRequest {
        pieces: Vec::new(),
        entries: Vec::new(),
        target: "gfx942".to_owned(),
        shared_bytes_limit: None,
        threads_limit: None,
    };
    let refused = cuda.compile(&request);
    assert!(matches!(refused, Err(CompileError::Interface(_))), "{refused:?}");
}
