//! The conformance suite, instantiated for HLSL on Vulkan.

use peak_backend_api::conformance::Kernels;

const KERNELS: Kernels = Kernels {
    source: include_str!("kernels/elementwise.hlsl"),
    broken: include_str!("kernels/broken.hlsl"),
    lost_argument: include_str!("kernels/lost_argument.hlsl"),
    wrong_block: Some(include_str!("kernels/wrong_block.hlsl")),
    shared: include_str!("kernels/shared.hlsl"),
    // The language has no scalar of one byte.
    widths: None,
};

peak_backend_api::conformance!(peak_backend_hlsl::backend(), KERNELS);
