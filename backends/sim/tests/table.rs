//! `spec/simulator.md` holds the table that the code has.

#[test]
fn the_specification_lists_every_instruction() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/simulator.md");
    let text = std::fs::read_to_string(path).expect("the specification is in the repository");
    let table = peak_backend_sim::instruction_table();
    if std::env::var_os("PEAK_BLESS").is_some() {
        let start = text.find("| instruction").expect("the table's head is there");
        let end = start + text[start..].find("\n\n").map_or(text.len() - start, |end| end + 1);
        std::fs::write(path, format!("{}{table}{}", &text[..start], &text[end..])).expect("the file can be written");
        return;
    }
    assert!(text.contains(&table), "run this test with PEAK_BLESS=1, and look at what changed");
}
