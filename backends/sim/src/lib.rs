//! x
mod ir;
mod ptx;
pub use ptx::PtxError;
/// x
pub fn parse_check(text:&str)->Result<usize,PtxError>{ ptx::read(text, |tree| ir::resolve(tree)).map(|m| m.functions.iter().map(|f| f.code.len()).sum()) }
