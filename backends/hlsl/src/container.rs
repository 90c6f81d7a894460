//! Several SPIR-V modules in one artifact.
//!
//! The bytes of an HLSL artifact are, all integers little endian and 32 bits wide: the eight letters `PEAKSPV1`, the
//! number of modules, then for each module its length in words and its words. Module `i` holds entry `i` of
//! [`peak_backend_api::Artifact::entries`], under the entry's own name.

const MAGIC: &[u8; 8] = b"PEAKSPV1";

/// Packs modules, in the order of the entries.
#[must_use]
pub fn join(modules: &[Vec<u32>]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    let mut push = |word: usize| bytes.extend((word as u32).to_le_bytes());
    push(modules.len());
    for module in modules {
        push(module.len());
        module.iter().for_each(|word| push(*word as usize));
    }
    bytes
}

/// Unpacks modules; `None` where the bytes are not a container of this kind.
#[must_use]
pub fn split(bytes: &[u8]) -> Option<Vec<Vec<u32>>> {
    let body = bytes.strip_prefix(MAGIC)?;
    let (words, []) = body.as_chunks::<4>() else { return None };
    let mut words = words.iter().map(|word| u32::from_le_bytes(*word));
    let count = words.next()?;
    let mut modules = Vec::new();
    for _ in 0..count {
        let length = words.next()? as usize;
        let module: Vec<u32> = words.by_ref().take(length).collect();
        if module.len() != length {
            return None;
        }
        modules.push(module);
    }
    words.next().is_none().then_some(modules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_joined_splits_again() {
        let modules = vec![vec![1, 2, 3], vec![], vec![u32::MAX]];
        assert_eq!(split(&join(&modules)), Some(modules));
    }

    #[test]
    fn damage_is_noticed() {
        let mut bytes = join(&[vec![1, 2, 3]]);
        assert_eq!(split(&bytes[1..]), None);
        assert_eq!(split(&bytes[..bytes.len() - 4]), None);
        bytes.extend([0; 4]);
        assert_eq!(split(&bytes), None);
    }
}
