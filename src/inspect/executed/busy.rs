//! How busy each unit of a multiprocessor is at least with what was executed, one against the other: cycles by NVIDIA's
//! documented throughput at compute capability 9.0. Shares of the busiest, never a time.

use super::{Executed, accesses};
use peak_backend_api::{AccessKind, InstructionKind, MemorySpace, SiteCounts};

/// Instructions of warps that a multiprocessor issues in a cycle.
const ISSUED: f64 = 4.0;
/// Results of f32, f16x2 and f64 arithmetic in a cycle, in warps.
const SINGLES: f64 = 4.0;
const HALVES: f64 = 8.0;
const DOUBLES: f64 = 2.0;
/// Sectors that come from or go to the second-level cache in a cycle: 64 bytes.
const SECTORS: f64 = 2.0;
/// Passes over the banks of shared memory in a cycle.
const WAVEFRONTS: f64 = 1.0;

/// Cycles of a multiprocessor that did all of it, at least, unit by unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Busy {
    /// Issuing instructions.
    pub issue: f64,
    /// Floating-point arithmetic, functions and matrices aside.
    pub float: f64,
    /// Global memory, as if the first-level cache kept nothing.
    pub global: f64,
    /// Shared memory.
    pub shared: f64,
}

impl Busy {
    /// Each unit by its name.
    #[must_use]
    pub fn units(&self) -> [(&'static str, f64); 4] {
        [
            ("global memory", self.global),
            ("shared memory", self.shared),
            ("arithmetic", self.float),
            ("issue", self.issue),
        ]
    }

    /// The busiest unit's cycles.
    #[must_use]
    pub fn most(&self) -> f64 {
        self.units().into_iter().map(|(_, cycles)| cycles).fold(0.0, f64::max)
    }
}

/// How busy units are with all of it.
#[must_use]
pub fn busy(executed: &Executed) -> Busy {
    let sites: Vec<&SiteCounts> = executed.sites.iter().collect();
    let warps = |kinds: &[InstructionKind]| {
        super::float(sites.iter().filter(|site| kinds.contains(&site.kind)).map(|site| site.warps).sum())
    };
    let all = [AccessKind::Load, AccessKind::Store, AccessKind::Atomic, AccessKind::Reduction];
    let memory = |space| accesses(&sites, space, &all);
    Busy {
        issue: super::float(sites.iter().map(|site| site.warps).sum()) / ISSUED,
        float: warps(&[InstructionKind::FmaF32, InstructionKind::F32]) / SINGLES
            + warps(&[InstructionKind::F16]) / HALVES
            + warps(&[InstructionKind::F64]) / DOUBLES,
        global: memory(MemorySpace::Global).map_or(0.0, |it| super::float(it.sectors)) / SECTORS,
        shared: memory(MemorySpace::Shared).map_or(0.0, |it| super::float(it.wavefronts)) / WAVEFRONTS,
    }
}

/// Cycles that so many sectors cost.
pub(super) fn sector_cycles(sectors: u64) -> f64 {
    super::float(sectors) / SECTORS
}

/// Cycles that so many instructions of warps cost.
pub(super) fn issue_cycles(warps: f64) -> f64 {
    warps / ISSUED
}
