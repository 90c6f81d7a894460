//! The bytes of input buffers, generated once for each buffer and fill. Never read from the coordinator.

use super::super::Fill;
use crate::context::launch::BufferSpec;
use std::collections::HashMap;
use std::sync::Arc;

/// Bytes of inputs kept between jobs, at most.
const KEPT_BYTES_MAX: usize = 1 << 30;

/// What an input holds, and the digest by which a change is seen.
pub struct Filled {
    pub bytes: Vec<u8>,
    pub digest: String,
}

/// Inputs generated so far.
#[derive(Default)]
pub struct Inputs {
    kept: HashMap<String, Arc<Filled>>,
    kept_bytes: usize,
}

impl Inputs {
    /// The bytes that `spec` holds before a run.
    pub fn get(&mut self, spec: &BufferSpec, fill: Fill) -> Arc<Filled> {
        let key = serde_json::json!([spec, fill]).to_string();
        if let Some(found) = self.kept.get(&key) {
            return Arc::clone(found);
        }
        let bytes = crate::data::fill_buffer(spec, fill);
        let filled = Arc::new(Filled { digest: crate::hash::hex(&bytes), bytes });
        if self.kept_bytes + filled.bytes.len() > KEPT_BYTES_MAX {
            self.kept.clear();
            self.kept_bytes = 0;
        }
        if filled.bytes.len() <= KEPT_BYTES_MAX {
            self.kept_bytes += filled.bytes.len();
            self.kept.insert(key, Arc::clone(&filled));
        }
        filled
    }
}
