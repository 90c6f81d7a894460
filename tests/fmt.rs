//! `peak fmt` as a program: what it writes, what it leaves alone, how it ends.

use crate::program::{Outcome, command};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

const MESSY: &str = "device   mine\n   speaks  cuda ,hlsl  # both\n\n\n   has warp=32\n";
const NEAT: &str = "device mine\n  speaks cuda, hlsl  # both\n\n  has warp = 32\n";

fn peak(folder: &Path, arguments: &[&str], input: &str) -> Outcome {
    let arguments: Vec<&str> = ["fmt"].iter().chain(arguments).copied().collect();
    let mut child = command(folder, &arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("peak starts");
    // It may end without reading.
    let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
    Outcome::of(child.wait_with_output().expect("it ends"), folder)
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir_all(folder.path().join("below/.hidden")).expect("made");
    for (path, text) in [
        ("messy.peak", MESSY),
        ("below/neat.peak", NEAT),
        ("below/.hidden/messy.peak", MESSY),
        ("below/other.txt", MESSY),
    ] {
        std::fs::write(folder.path().join(path), text).expect("written");
    }
    folder
}

fn text(folder: &Path, path: &str) -> String {
    std::fs::read_to_string(folder.join(path)).expect("a file")
}

#[test]
fn files_below_a_folder_are_put_in_form() {
    let folder = folder();
    let outcome = peak(folder.path(), &[], "");
    assert_eq!((outcome.code, outcome.out.as_str()), (0, "./messy.peak\n"), "{}", outcome.err);
    assert_eq!(outcome.err, "1 of 2 files changed\n");
    assert_eq!(text(folder.path(), "messy.peak"), NEAT);
    assert_eq!(text(folder.path(), "below/neat.peak"), NEAT);
    assert_eq!(text(folder.path(), "below/.hidden/messy.peak"), MESSY);
    assert_eq!(text(folder.path(), "below/other.txt"), MESSY);
    let again = peak(folder.path(), &["--check", "."], "");
    assert_eq!((again.code, again.out.as_str()), (0, ""), "{}", again.err);
}

#[test]
fn check_and_diff_change_nothing() {
    let folder = folder();
    let outcome = peak(folder.path(), &["--check", "messy.peak", "below"], "");
    assert_eq!((outcome.code, outcome.out.as_str()), (1, "messy.peak\n"), "{}", outcome.err);
    let outcome = peak(folder.path(), &["--diff", "messy.peak"], "");
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(outcome.out.contains("-   has warp=32\n") && outcome.out.contains("+  has warp = 32\n"), "{}", outcome.out);
    assert_eq!(text(folder.path(), "messy.peak"), MESSY);
    let event: serde_json::Value =
        serde_json::from_str(&peak(folder.path(), &["--json", "--check", "messy.peak"], "").out).expect("one object");
    assert_eq!(
        (&event["event"], &event["file"], &event["changed"]),
        (&"formatted".into(), &"messy.peak".into(), &true.into())
    );
}

#[test]
fn standard_input_goes_to_standard_output() {
    let folder = folder();
    assert_eq!(peak(folder.path(), &["-"], MESSY).out, NEAT);
    let outcome = peak(folder.path(), &["-", "--check"], MESSY);
    assert_eq!((outcome.code, outcome.out.as_str()), (1, "standard input\n"));
    let outcome = peak(folder.path(), &["-"], "device mine\n  speeks cuda\n");
    assert_eq!((outcome.code, outcome.out.as_str()), (1, ""));
    assert!(outcome.err.contains("peak::unknown-clause"), "{}", outcome.err);
    assert_eq!(peak(folder.path(), &["-", "messy.peak"], MESSY).code, 2);
}

#[test]
fn a_wrong_file_is_left_alone_and_the_others_are_not() {
    let folder = folder();
    let wrong = "device   mine\n  speeks cuda\n";
    std::fs::write(folder.path().join("a-wrong.peak"), wrong).expect("written");
    let outcome = peak(folder.path(), &["."], "");
    assert_eq!((outcome.code, outcome.out.as_str()), (1, "./messy.peak\n"));
    assert!(
        outcome.err.contains("peak::unknown-clause") && outcome.err.contains("1 file left alone"),
        "{}",
        outcome.err
    );
    assert_eq!(text(folder.path(), "a-wrong.peak"), wrong);
    let missing = peak(folder.path(), &["nowhere.peak"], "");
    assert!(missing.code == 1 && missing.err.contains("peak::missing-file"), "{}", missing.err);
}

#[cfg(unix)]
#[test]
fn permissions_and_links_stay() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let path = folder.path().join("messy.peak");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).expect("set");
    std::os::unix::fs::symlink("messy.peak", folder.path().join("link.peak")).expect("linked");
    assert_eq!(peak(folder.path(), &["link.peak"], "").code, 0);
    assert_eq!(text(folder.path(), "messy.peak"), NEAT);
    assert!(folder.path().join("link.peak").symlink_metadata().expect("there").is_symlink());
    assert_eq!(std::fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o640);
}
