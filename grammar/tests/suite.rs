//! Data-driven tests of the front end: each file under `suite/` is read, resolved and compared with its snapshot.

use peak_grammar::{SourceFile, Sources, load};

#[test]
fn probe() {
    let text = std::fs::read_to_string("tests/suite/ok/design.peak").expect("x");
    let file = SourceFile::new("design.peak", &text);
    let (library, diagnostics) = load(std::slice::from_ref(&file));
    let sources = Sources::new([&file]);
    for d in &diagnostics {
        println!("{:?}", sources.report(d));
    }
    println!("{}", serde_json::to_string_pretty(&library).expect("json"));
    assert!(diagnostics.is_empty());
}
