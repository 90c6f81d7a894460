//! The metrics, each with the one of NVIDIA's Nsight Compute that it stands for. `spec/simulator.md` prints the table.

use peak_backend_api::{AccessKind, InstructionKind, MemoryCounts, MemorySpace, SECTOR_BYTES, SiteCounts};

/// A sum over instructions.
pub struct Metric {
    /// Its name: in `expects` clauses, in JSON, in tests.
    pub name: &'static str,
    /// The metric of Nsight Compute that counts the same on a GPU; empty where there is none.
    pub ncu: &'static str,
    /// What is counted.
    pub what: &'static str,
    /// How it stands to a GPU's.
    pub standing: Standing,
    /// What one instruction adds.
    pub of: fn(&SiteCounts) -> u64,
}

/// How a metric stands to what a GPU counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The same, but where the assembler merges or drops accesses.
    Same,
    /// The assembler makes other instructions of it: for orientation.
    Informational,
}

/// The metric of a name.
#[must_use]
pub fn metric(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.name == name)
}

use AccessKind::{Atomic, Load, Reduction, Store};
use MemorySpace::{Global, Shared};
use Standing::{Informational, Same};

macro_rules! metrics {
    ($($standing:ident $name:literal $ncu:literal $what:literal $of:expr;)*) => {
        &[$(Metric { name: $name, ncu: $ncu, what: $what, standing: $standing, of: $of }),*]
    };
}

/// Every metric.
pub const METRICS: &[Metric] = metrics! {
    Same "global_load_requests" "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum" "warps' loads of global memory"
        |it| of(it, Global, Load, |it| it.requests);
    Same "global_load_sectors" "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum" "sectors of 32 bytes that they touch"
        |it| of(it, Global, Load, |it| it.sectors);
    Same "global_load_bytes" "" "those sectors' bytes" |it| of(it, Global, Load, |it| it.sectors * SECTOR_BYTES);
    Same "global_store_requests" "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum" "warps' stores to global memory"
        |it| of(it, Global, Store, |it| it.requests);
    Same "global_store_sectors" "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum" "sectors that they touch"
        |it| of(it, Global, Store, |it| it.sectors);
    Same "global_store_bytes" "" "those sectors' bytes" |it| of(it, Global, Store, |it| it.sectors * SECTOR_BYTES);
    Same "global_atomic_requests" "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum"
        "warps' atomics on global memory whose result is read" |it| of(it, Global, Atomic, |it| it.requests);
    Same "global_reduction_requests" "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"
        "warps' atomics on global memory whose result nobody reads" |it| of(it, Global, Reduction, |it| it.requests);
    Same "global_reduction_sectors" "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum" "sectors that they touch"
        |it| of(it, Global, Reduction, |it| it.sectors);
    Same "shared_load_requests" "smsp__inst_executed_op_shared_ld.sum" "warps' loads of shared memory"
        |it| of(it, Shared, Load, |it| it.requests);
    Same "shared_load_wavefronts" "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
        "passes over the banks that they take" |it| of(it, Shared, Load, |it| it.wavefronts);
    Same "shared_load_conflicts" "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
        "passes that words in one bank add" |it| of(it, Shared, Load, |it| it.conflicts);
    Same "shared_store_requests" "smsp__inst_executed_op_shared_st.sum" "warps' stores to shared memory"
        |it| of(it, Shared, Store, |it| it.requests);
    Same "shared_store_wavefronts" "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum"
        "passes over the banks that they take" |it| of(it, Shared, Store, |it| it.wavefronts);
    Same "shared_store_conflicts" "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"
        "passes that words in one bank add" |it| of(it, Shared, Store, |it| it.conflicts);
    Same "shared_atomic_requests" "smsp__inst_executed_op_shared_atom.sum" "warps' atomics on shared memory"
        |it| of(it, Shared, Atomic, |it| it.requests) + of(it, Shared, Reduction, |it| it.requests);
    Same "fma_f16" "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum"
        "threads' fused multiply-adds in f16 or bf16, one or two at once" |it| fused(it, InstructionKind::F16);
    Same "fma_f32" "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum" "threads' fused multiply-adds in f32"
        |it| fused(it, InstructionKind::FmaF32);
    Same "fma_f64" "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum" "threads' fused multiply-adds in f64"
        |it| fused(it, InstructionKind::F64);
    Informational "barriers" "" "warps' barriers and fences" |it| warps(it, InstructionKind::Barrier);
    Informational "control" "smsp__sass_thread_inst_executed_op_control_pred_on.sum" "threads' jumps, calls, returns"
        |it| threads(it, InstructionKind::Control);
    Informational "conversions" "smsp__sass_thread_inst_executed_op_conversion_pred_on.sum" "threads' conversions"
        |it| threads(it, InstructionKind::Conversion);
    Informational "exchanges" "smsp__sass_thread_inst_executed_op_inter_thread_communication_pred_on.sum"
        "threads' shuffles, votes and matches" |it| threads(it, InstructionKind::Warp);
    Informational "integers" "smsp__sass_thread_inst_executed_op_integer_pred_on.sum"
        "threads' whole numbers, bits, comparisons, addresses" |it| threads(it, InstructionKind::Integer);
    Informational "matrix_products" "" "warps' products of matrices" |it| warps(it, InstructionKind::Matrix);
    Informational "warp_instructions" "smsp__inst_executed.sum" "all that warps execute" |it| it.warps;
    Informational "thread_instructions" "smsp__thread_inst_executed_pred_on.sum" "all that threads execute"
        |it| it.threads;
};

fn of(site: &SiteCounts, space: MemorySpace, access: AccessKind, count: fn(&MemoryCounts) -> u64) -> u64 {
    site.memory.iter().filter(|it| (it.space, it.access) == (space, access)).map(count).sum()
}

fn fused(site: &SiteCounts, kind: InstructionKind) -> u64 {
    let fuses = site.opcode.starts_with("fma.") || site.opcode.starts_with("mad.");
    if fuses { threads(site, kind) } else { 0 }
}

fn threads(site: &SiteCounts, kind: InstructionKind) -> u64 {
    if site.kind == kind { site.threads } else { 0 }
}

fn warps(site: &SiteCounts, kind: InstructionKind) -> u64 {
    if site.kind == kind { site.warps } else { 0 }
}
