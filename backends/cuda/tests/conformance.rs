//! The suite that every backend passes, in CUDA.

use peak_backend_api::conformance::Kernels;

const KERNELS: Kernels = Kernels {
    source: include_str!("kernels/elementwise.cu"),
    broken: include_str!("kernels/broken.cu"),
    lost_argument: include_str!("kernels/lost_argument.cu"),
    // Code can bound a block, and demands a shape only for clusters: what it says is compared in `interface.rs`.
    wrong_block: None,
    shared: include_str!("kernels/shared.cu"),
    widths: Some(include_str!("kernels/widths.cu")),
};

peak_backend_api::conformance!(peak_backend_cuda::backend(), KERNELS);
