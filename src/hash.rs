//! Content addresses: SHA-256 in hex.

use sha2::{Digest, Sha256};

/// The SHA-256 of `bytes`, in 64 hex digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
