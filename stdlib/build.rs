//! Tells Cargo that a file added to a folder changes the crate: the embedding macro sees only the files that were there.

fn main() {
    for folder in ["devices", "kernels", "packs", "prompts", "recordings", "transformations", "workflows"] {
        println!("cargo::rerun-if-changed={folder}");
    }
}
