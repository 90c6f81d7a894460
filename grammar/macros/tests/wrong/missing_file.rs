//! A file that is not there.

fn main() {
    let _ = peak_macros::include!("recipes/no-such-file.peak");
}
