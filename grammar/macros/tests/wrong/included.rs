//! A file with a mistake: its name and line are told.

fn main() {
    let _ = peak_macros::include!("recipes/wrong.peak");
}
