//! Bit fields and permutations, as PTX's pseudo code has them.

/// In the width of [`bfe`]: the field is signed.
pub(crate) const SIGNED: u32 = 1 << 8;

/// Extracts a field; `width` is 32 or 64, with [`SIGNED`].
pub(crate) extern "C" fn bfe(a: u64, position: u32, length: u32, width: u32) -> u64 {
    let (position, length) = place(position, length, width & 0xFF);
    let top = (width & 0xFF) - 1;
    let mut field = 0;
    let sign = if width & SIGNED == 0 || length == 0 { 0 } else { a >> (position + length - 1).min(top) & 1 };
    for bit in 0..=top {
        let inside = bit < length && position + bit <= top;
        field |= (if inside { a >> (position + bit) & 1 } else { sign }) << bit;
    }
    field
}

/// Where a field is. Of 32 bits the hardware reads a byte of each; of 64 it reads all, and what is beyond is beyond.
fn place(position: u32, length: u32, width: u32) -> (u32, u32) {
    if width == 32 { (position & 0xFF, length & 0xFF) } else { (position.min(0xFF), length.min(0xFF)) }
}

/// Puts `a` into a field of `b`; `width` is 32 or 64.
pub(crate) extern "C" fn bfi(a: u64, b: u64, position: u32, length: u32, width: u32) -> u64 {
    let (position, length) = place(position, length, width);
    if position >= width {
        return b;
    }
    let mask = if length >= 64 { u64::MAX } else { (1 << length) - 1 } << position;
    b & !mask | (a << position) & mask
}

/// Picks bytes of `b:a`; the mode is 0 (by the selector), or 1 to 6: `f4e`, `b4e`, `rc8`, `ecl`, `ecr`, `rc16`.
pub(crate) extern "C" fn prmt(a: u32, b: u32, selector: u32, mode: u32) -> u32 {
    let bytes = (u64::from(b) << 32 | u64::from(a)).to_le_bytes();
    let s = selector & 3;
    let pick = |at: u32| -> u32 {
        match mode {
            0 => selector >> (4 * at) & 0xF,
            1 => s + at,
            2 => (s + 8 - at) & 7,
            3 => s,
            4 => at.max(s),
            5 => at.min(s),
            _ => (s & 1) * 2 + (at & 1),
        }
    };
    (0..4).fold(0, |word, at| {
        let choice = pick(at);
        let byte = bytes[(choice & 7) as usize];
        let byte = if choice & 8 == 0 {
            byte
        } else if byte & 0x80 == 0 {
            0
        } else {
            0xFF
        };
        word | u32::from(byte) << (8 * at)
    })
}

/// The highest bit that differs from the sign, or -1; `code` is the width, with [`SIGNED`] and bit 9 for `.shiftamt`.
pub(crate) extern "C" fn bfind(a: u64, code: u32) -> u32 {
    let width = code & 0xFF;
    let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
    let negative = code & SIGNED != 0 && a >> (width - 1) & 1 == 1;
    let found = if negative { !a & mask } else { a & mask };
    match (found, code >> 9 & 1) {
        (0, _) => u32::MAX,
        (_, 0) => found.ilog2(),
        _ => width - 1 - found.ilog2(),
    }
}
