//! The roofline (Williams, Waterman and Patterson 2009): how fast a kernel of an arithmetic intensity can be on a device of
//! documented peaks. A ceiling, from the declaration and the device's file alone: nothing is measured.

use super::work::Work;
use peak_grammar::ir::{Device, ElementType, Peak, PeakKind};

/// The ceiling of a kernel on a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Roofline {
    /// Operations for a byte that must move.
    pub intensity: f64,
    /// Operations for a byte at which both peaks are reached at once.
    pub ridge: f64,
    /// Operations a second at most.
    pub ceiling_flops: f64,
    /// Time of one run at least, in nanoseconds.
    pub time_ns_floor: f64,
    /// Which peak is the ceiling.
    pub bound: Bound,
}

/// Which peak a kernel runs into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Operations a second.
    Compute,
    /// Bytes a second.
    Memory,
}

impl Bound {
    /// The name in events.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Bound::Compute => "compute",
            Bound::Memory => "memory",
        }
    }
}

/// The roofline of a kernel's work; `None` where the device states no peak of its memory or of the type, or there is no work.
#[must_use]
pub fn roofline(work: &Work, element: ElementType, device: &Device) -> Option<Roofline> {
    // A rate of a unit of its own (tensor cores) is no rate of the kernel's plain operations.
    let plain = |peak: &&Peak| peak.kind == PeakKind::Flops && peak.of == element.name() && peak.unit.is_none();
    let flops = device.peaks.iter().find(plain)?.value;
    let bytes = device.peak(PeakKind::Bytes, "memory")?.value;
    let intensity = work.flops / work.bytes;
    let ceiling_flops = flops.min(intensity * bytes);
    let valid = work.flops > 0.0 && work.bytes > 0.0 && ceiling_flops > 0.0;
    valid.then(|| Roofline {
        intensity,
        ridge: flops / bytes,
        ceiling_flops,
        time_ns_floor: work.flops / ceiling_flops * 1e9,
        bound: if intensity * bytes < flops { Bound::Memory } else { Bound::Compute },
    })
}
