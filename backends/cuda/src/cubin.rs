//! The sizes of code in a cubin: an ELF file with a section `.text.NAME` an entry.

/// Bytes of an instruction on every architecture since sm_70.
const INSTRUCTION_BYTES: u64 = 16;
/// Bytes of a section header of a 64-bit ELF.
const HEADER_BYTES: usize = 64;
/// What the name of a section with code starts with.
const CODE: &[u8] = b".text.";
const MAGIC: &[u8] = b"\x7fELF\x02\x01";

/// Instructions of all entries and functions, padding included; `None` for bytes that are no cubin.
pub(crate) fn instructions(cubin: &[u8]) -> Option<u64> {
    code_bytes(cubin, |_| true).map(|bytes| bytes / INSTRUCTION_BYTES)
}

/// Instructions of one entry, padding included; `None` as [`instructions`], and where it is not there.
pub(crate) fn instructions_of(cubin: &[u8], entry: &str) -> Option<u64> {
    let bytes =
        code_bytes(cubin, |name| name.strip_prefix(entry.as_bytes()).is_some_and(|rest| rest.starts_with(&[0])))?;
    (bytes > 0).then_some(bytes / INSTRUCTION_BYTES)
}

/// Bytes of the code whose name, which its terminator and other text follow, is wanted.
fn code_bytes(cubin: &[u8], wanted: impl Fn(&[u8]) -> bool) -> Option<u64> {
    if !cubin.starts_with(MAGIC) {
        return None;
    }
    let table = usize::try_from(number(cubin, 0x28, 8)?).ok()?;
    let (count, names) = (number(cubin, 0x3C, 2)?, usize::try_from(number(cubin, 0x3E, 2)?).ok()?);
    let header = |index: usize| table.checked_add(index.checked_mul(HEADER_BYTES)?);
    let names = usize::try_from(number(cubin, header(names)?.checked_add(0x18)?, 8)?).ok()?;
    let mut bytes = 0u64;
    for index in 0..usize::try_from(count).ok()? {
        let at = header(index)?;
        let name = names.checked_add(usize::try_from(number(cubin, at, 4)?).ok()?)?;
        if cubin.get(name..)?.strip_prefix(CODE).is_some_and(&wanted) {
            bytes = bytes.checked_add(number(cubin, at.checked_add(0x20)?, 8)?)?;
        }
    }
    Some(bytes)
}

/// A little-endian number.
fn number(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(width)?)?;
    Some(bytes.iter().rev().fold(0, |value, byte| (value << 8) | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_lie_are_no_cubin() {
        let mut bytes = MAGIC.to_vec();
        assert_eq!(instructions(&bytes), None);
        bytes.resize(200, 0xFF);
        assert_eq!(instructions(&bytes), None);
        bytes[0x28..0x30].copy_from_slice(&64u64.to_le_bytes());
        assert_eq!(instructions(&bytes), None);
    }
}
