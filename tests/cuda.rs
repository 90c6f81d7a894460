//! CUDA as `peak` meets it: which backend is chosen, and what is said where NVRTC or a GPU is missing.

use crate::program::{Outcome, command, folder, peak, peak_with};
use crate::skipped::skip;
use crate::vulkan;
use peak::backends::{self, backend};
use peak_backend_api::{ArtifactKind, CompileError, CompileRequest};
use std::path::{Path, PathBuf};

const ENVIRONMENT: i32 = 3;

const TINY: &str = include_str!("suite/workflow/tiny.peak");
const MECHANICS: &str = include_str!("suite/workflow/mechanics.peak");

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

/// This machine's toolchains with a CUDA of our making: files of `cuda/lib`, each a link to one of the real ones.
fn with_libraries(links: &[(&str, &Path)]) -> Option<tempfile::TempDir> {
    let folder = without_cuda()?;
    std::fs::create_dir_all(folder.path().join("cuda/lib")).expect("a folder");
    std::os::unix::fs::symlink(real("include")?, folder.path().join("cuda/include")).expect("a link");
    for (name, to) in links {
        std::os::unix::fs::symlink(to, folder.path().join("cuda/lib").join(name)).expect("a link");
    }
    Some(folder)
}

/// A file of the real toolchain; a counted skip where that is not here.
fn real(name: &str) -> Option<PathBuf> {
    let path = peak_backend_api::toolchain_folder().map(|folder| folder.join("cuda").join(name));
    let found = path.filter(|path| path.exists());
    if found.is_none() {
        skip("cuda", &format!("there is no {name} in the folder of toolchains"));
    }
    found
}

/// NVRTC itself under another version: a library with only that function, which leaves the others to the real one.
fn posing_as(version: (u32, u32), folder: &Path) -> PathBuf {
    let (source, library) = (folder.join("posing.rs"), folder.join("posing.so"));
    let (major, minor) = version;
    let text = format!(
        "#[unsafe(no_mangle)]\npub unsafe extern \"C\" fn nvrtcVersion(major: *mut i32, minor: *mut i32) -> i32 {{\n\
         unsafe {{ *major = {major}; *minor = {minor}; }}\n0\n}}\n"
    );
    std::fs::write(&source, text).expect("written");
    let real = real("lib").expect("it is here");
    let mut rustc = std::process::Command::new("rustc");
    rustc.args(["--edition", "2024", "--crate-type", "cdylib", "-C", "panic=abort", "-o"]).arg(&library).arg(&source);
    for argument in [format!("-L{}", real.display()), "-Wl,--no-as-needed".into(), "-l:libnvrtc.so.13".into()] {
        rustc.args(["-C", &format!("link-arg={argument}")]);
    }
    rustc.args(["-C", &format!("link-arg=-Wl,-rpath,{}", real.display())]);
    let output = rustc.output().expect("rustc starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    library
}

/// `peak run` of the shipped workflow with other toolchains.
fn run_with(toolchains: &Path, arguments: &[&str]) -> Outcome {
    let home = folder(&[]);
    let variables = [("PEAK_TOOLCHAINS", toolchains), ("CUDA_PATH", Path::new("/nonexistent"))];
    peak_with(home.path(), &variables, arguments)
}

/// Words without their line breaks and frames.
fn unfolded(outcome: &Outcome) -> String {
    outcome.err.replace(['│', '\n'], " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn nvrtc_without_its_builtins_says_what_is_missing() {
    let Some(nvrtc) = real("lib/libnvrtc.so.13") else { return };
    let Some(toolchains) = with_libraries(&[("libnvrtc.so.13", &nvrtc)]) else { return };
    let run = run_with(toolchains.path(), &["run", "matmul-f32", "--backend", "cuda", "-q"]);
    let words = unfolded(&run);
    assert_eq!(run.code, ENVIRONMENT, "{words}");
    for piece in ["nvrtc-builtins", "libnvrtc-builtins.so.13", "scripts/setup"] {
        assert!(words.contains(piece), "`{piece}`: {words}");
    }
    hlsl_goes_on(toolchains.path());
}

#[test]
fn an_nvrtc_that_is_too_old_is_refused_with_its_version() {
    let (Some(_), scratch) = (real("lib/libnvrtc.so.13"), folder(&[])) else { return };
    let old = posing_as((11, 8), scratch.path());
    let Some(toolchains) = with_libraries(&[("libnvrtc.so.11", &old)]) else { return };
    let doctor = run_with(toolchains.path(), &["doctor", "--json"]);
    if tool(&doctor, "nvrtc")["found"] == true {
        // The system has another one, which is used.
        return;
    }
    let run = run_with(toolchains.path(), &["run", "matmul-f32", "--backend", "cuda", "-q"]);
    let words = unfolded(&run);
    assert_eq!(run.code, ENVIRONMENT, "{words}");
    for piece in ["peak::missing-toolchain", "is NVRTC 11.8, and 12.0 or newer is needed", "scripts/setup"] {
        assert!(words.contains(piece), "`{piece}`: {words}");
    }
    hlsl_goes_on(toolchains.path());
}

#[test]
fn an_nvrtc_that_is_newer_is_used_and_named() {
    let (Some(builtins), scratch) = (real("lib/libnvrtc-builtins.so.13.0"), folder(&[])) else { return };
    let newer = posing_as((14, 2), scratch.path());
    let links = [("libnvrtc.so.14", newer.as_path()), ("libnvrtc-builtins.so.13.0", &builtins)];
    let Some(toolchains) = with_libraries(&links) else { return };
    let doctor = run_with(toolchains.path(), &["doctor", "--json"]);
    assert_eq!(tool(&doctor, "nvrtc")["version"], "14.2, newer than Peak was tried with", "{}", doctor.out);
    hlsl_goes_on(toolchains.path());
}

/// HLSL compiles and runs with these toolchains.
fn hlsl_goes_on(toolchains: &Path) {
    if vulkan::device().is_none() {
        return;
    }
    let home = folder(&[("mine.peak", &format!("{TINY}\n{MECHANICS}"))]);
    let variables = [("PEAK_TOOLCHAINS", toolchains), ("CUDA_PATH", Path::new("/nonexistent"))];
    let arguments = ["run", "short", "--use", "mine.peak", "--backend", "hlsl", "-q"];
    let run = peak_with(home.path(), &variables, &arguments);
    assert_eq!(run.code, 0, "{}", run.err);
}

/// Architectures that this NVRTC does not know, or that are none: what a newcomer reads, as one snapshot.
#[test]
fn an_unknown_architecture_is_told_with_those_that_are_known() {
    if real("lib/libnvrtc.so.13").is_none() {
        return;
    }
    let cuda = backend("cuda").expect("this build has it");
    let mut told = String::new();
    for target in ["sm_30", "sm_999", "compute_35", "gfx942", "sm_90 "] {
        let request = CompileRequest {
            pieces: Vec::new(),
            entries: Vec::new(),
            target: target.to_owned(),
            shared_bytes_limit: None,
            threads_limit: None,
        };
        let error = cuda.compile(&request).expect_err("it is unknown");
        told.push_str(&format!("{target}: {error}\n"));
    }
    insta::assert_snapshot!(told);
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
