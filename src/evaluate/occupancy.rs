//! Occupancy: how many blocks of a kernel a multiprocessor holds at once, and what there is too little of for one more.
//!
//! The rules are those of NVIDIA's occupancy calculator (`cuda_occupancy.h` of CUDA's samples, the spreadsheet of Nsight
//! Compute): registers go to whole warps in pieces, from one of the multiprocessor's four partitions; shared memory goes to
//! blocks in pieces, with some that the system keeps. Computed from what an artifact states and a launch; nothing runs.

use crate::context::launch::ConcretePlan;
use crate::context::scope::Facts;
use peak_backend_api::{Artifact, LaunchStep, Resources};
use serde::{Deserialize, Serialize};

/// Registers are given to a warp in pieces of this size: every architecture since sm_30.
const REGISTER_PIECE: u64 = 256;
/// Partitions that a multiprocessor's registers and warps are divided among: every architecture since sm_50, sm_60 aside.
const PARTITIONS: u64 = 4;
/// Shared memory is given to a block in pieces of so many bytes: since sm_80 (256 before).
const SHARED_PIECE: u64 = 128;
/// Shared memory of a block that the system keeps, where the device does not say: since sm_80.
const SHARED_RESERVED: u64 = 1024;

/// How much of a multiprocessor a kernel keeps busy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occupancy {
    /// Blocks that a multiprocessor holds at once.
    pub blocks: u64,
    /// Their warps.
    pub warps: u64,
    /// Warps that a multiprocessor can hold.
    pub warps_max: u64,
    /// What there is too little of for one block more; several where they run out together.
    pub limiters: Vec<Limiter>,
}

impl Occupancy {
    /// Warps at once, as a share of those that fit, 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        #[allow(clippy::cast_precision_loss, reason = "a few dozen warps")]
        let share = self.warps as f64 / self.warps_max.max(1) as f64;
        share
    }

    /// The limiters in words: `registers and threads`.
    #[must_use]
    pub fn limiter_words(&self) -> String {
        self.limiters.iter().map(|limiter| limiter.name()).collect::<Vec<_>>().join(" and ")
    }
}

/// What limits how many blocks a multiprocessor holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each is the resource of its name")]
pub enum Limiter {
    Registers,
    SharedMemory,
    Threads,
    Blocks,
}

impl Limiter {
    /// The name for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Limiter::Registers => "registers",
            Limiter::SharedMemory => "shared memory",
            Limiter::Threads => "threads",
            Limiter::Blocks => "blocks",
        }
    }
}

/// Why there is no occupancy to state: what is not known, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not known: {}", .0.join(", "))]
pub struct Unknown(pub Vec<String>);

/// The occupancy of blocks of `threads` threads with `dynamic_bytes` of shared memory beside the static.
///
/// # Errors
/// What is not known of the kernel or the device. A block that does not fit at all has an occupancy of 0.
pub fn occupancy(resources: &Resources, threads: u64, dynamic_bytes: u64, facts: &Facts) -> Result<Occupancy, Unknown> {
    let known = Known::of(resources, facts)?;
    let warps = threads.max(1).div_ceil(known.warp);
    let piece = (known.registers * known.warp).next_multiple_of(REGISTER_PIECE);
    let of_partition = (known.registers_max / PARTITIONS).checked_div(piece);
    let shared = (known.shared + dynamic_bytes).next_multiple_of(SHARED_PIECE) + known.reserved;
    // The limits in the order in which they are named.
    let fits = [
        (Limiter::Registers, of_partition.map(|warps| warps * PARTITIONS).map(|fit| fit / warps)),
        (Limiter::SharedMemory, known.shared_max.checked_div(shared)),
        (Limiter::Threads, Some(known.threads_max / known.warp / warps)),
        (Limiter::Blocks, Some(known.blocks_max)),
    ];
    let blocks = fits.iter().filter_map(|(_, blocks)| *blocks).min().unwrap_or(0);
    let limiters = fits.iter().filter(|(_, fit)| *fit == Some(blocks)).map(|(limiter, _)| *limiter).collect();
    Ok(Occupancy { blocks, warps: blocks * warps, warps_max: known.threads_max / known.warp, limiters })
}

/// The lowest occupancy of a plan's launches; `None` where that of one is not known, or nothing is launched.
#[must_use]
pub fn lowest(artifact: &Artifact, plan: &ConcretePlan, facts: &Facts) -> Option<Occupancy> {
    let mut found: Vec<Occupancy> = Vec::new();
    for step in &plan.sequence.steps {
        let LaunchStep::Launch { entry, block, shared_bytes, .. } = step else { continue };
        let entry = artifact.entries.iter().find(|known| known.name == *entry)?;
        let threads = block.iter().map(|side| u64::from(*side)).product();
        found.push(occupancy(&entry.resources, threads, u64::from(*shared_bytes), facts).ok()?);
    }
    found.into_iter().min_by_key(|occupancy| occupancy.warps)
}

/// All that occupancy is made of.
struct Known {
    registers: u64,
    shared: u64,
    warp: u64,
    threads_max: u64,
    blocks_max: u64,
    registers_max: u64,
    shared_max: u64,
    reserved: u64,
}

impl Known {
    fn of(resources: &Resources, facts: &Facts) -> Result<Known, Unknown> {
        let mut missing = Vec::new();
        let fact = |name: &str| facts.get(name).and_then(|value| u64::try_from(*value).ok());
        let mut need = |value: Option<u64>, words: &str| {
            value.unwrap_or_else(|| {
                missing.push(words.to_owned());
                1
            })
        };
        let mut stated = |name: &str| need(fact(name).filter(|value| *value > 0), &format!("device.{name}"));
        let (warp, threads_max) = (stated("warp"), stated("max_threads_per_multiprocessor"));
        let (blocks_max, registers_max) =
            (stated("max_blocks_per_multiprocessor"), stated("registers_per_multiprocessor"));
        let shared_max = stated("shared_memory_per_multiprocessor");
        let known = Known {
            registers: need(resources.registers.map(u64::from), "registers of the kernel"),
            shared: need(resources.shared_bytes, "shared memory of the kernel"),
            warp,
            threads_max,
            blocks_max,
            registers_max,
            shared_max,
            reserved: fact("shared_memory_reserved_per_block").unwrap_or(SHARED_RESERVED),
        };
        if missing.is_empty() { Ok(known) } else { Err(Unknown(missing)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A multiprocessor of compute capability 9.0: table "Technical Specifications per Compute Capability" of the CUDA C++
    /// Programming Guide.
    fn hopper() -> Facts {
        [
            ("warp", 32),
            ("max_threads_per_multiprocessor", 2048),
            ("max_blocks_per_multiprocessor", 32),
            ("registers_per_multiprocessor", 65536),
            ("shared_memory_per_multiprocessor", 228 << 10),
            ("shared_memory_reserved_per_block", 1024),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect()
    }

    fn uses(registers: u32, shared: u64) -> Resources {
        Resources { registers: Some(registers), shared_bytes: Some(shared), ..Resources::default() }
    }

    #[test]
    fn occupancy_is_that_of_the_calculator() {
        use Limiter::{Blocks, Registers, SharedMemory, Threads};
        // Registers, static and dynamic shared memory, threads; then blocks, warps and limiters.
        for (registers, fixed, dynamic, threads, blocks, warps, limiters) in [
            (32, 0, 0, 256, 8, 64, &[Registers, Threads][..]),
            (33, 0, 0, 256, 6, 48, &[Registers]),
            (40, 0, 0, 256, 6, 48, &[Registers]),
            (64, 0, 0, 256, 4, 32, &[Registers]),
            (128, 0, 0, 256, 2, 16, &[Registers]),
            (255, 0, 0, 256, 1, 8, &[Registers]),
            // 168 registers are 5376 a warp: three warps in each partition of 16384, so twelve, and four blocks of three.
            (168, 0, 0, 96, 4, 12, &[Registers]),
            (16, 48 << 10, 0, 128, 4, 16, &[SharedMemory]),
            (16, 0, 227 << 10, 128, 1, 4, &[SharedMemory]),
            (16, 1, 100 << 10, 128, 2, 8, &[SharedMemory]),
            (16, 0, 0, 1024, 2, 64, &[Threads]),
            (16, 0, 0, 32, 32, 32, &[Blocks]),
            (16, 0, 0, 33, 32, 64, &[Threads, Blocks]),
            (65, 0, 0, 1024, 0, 0, &[Registers]),
        ] {
            let found = occupancy(&uses(registers, fixed), threads, dynamic, &hopper()).expect("all is known");
            let expected = Occupancy { blocks, warps, warps_max: 64, limiters: limiters.to_vec() };
            assert_eq!(found, expected, "{registers} registers, {fixed} + {dynamic} bytes, {threads} threads");
        }
        assert_eq!(occupancy(&uses(128, 0), 256, 0, &hopper()).map(|found| found.share()), Ok(0.25));
    }

    #[test]
    fn occupancy_is_the_drivers() {
        let points = include_str!("../../tests/suite/occupancy/nvidia-h200.txt");
        let mut compared = 0;
        for line in points.lines().filter(|line| !line.starts_with('#')) {
            let numbers: Vec<u64> = line.split(' ').map(|word| word.parse().expect("a number")).collect();
            let [registers, fixed, threads, dynamic, blocks] = numbers[..] else { panic!("{line}") };
            let registers = u32::try_from(registers).expect("registers");
            let found = occupancy(&uses(registers, fixed), threads, dynamic, &hopper()).expect("all is known");
            assert_eq!(found.blocks, blocks, "{line}");
            compared += 1;
        }
        assert!(compared > 400, "{compared}");
    }

    #[test]
    fn what_is_not_known_is_named() {
        let mut facts = hopper();
        facts.shift_remove("max_blocks_per_multiprocessor");
        let found = occupancy(&Resources { shared_bytes: Some(0), ..Resources::default() }, 32, 0, &facts);
        let words = found.map_err(|unknown| unknown.to_string());
        assert_eq!(words, Err("not known: device.max_blocks_per_multiprocessor, registers of the kernel".to_owned()));
    }
}
