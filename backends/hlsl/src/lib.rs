//! HLSL for Peak: DXC compiles it to SPIR-V, and any Vulkan device runs it.
//!
//! The way of a kernel: [`PreludeSpec`] -> prelude -> assembled source -> DXC (one SPIR-V module an entry) ->
//! `spirv-val` -> reflection -> the interface and the limits are checked -> [`Artifact`] -> pipelines -> launches.
//!
//! The crate reads no file but its toolchain's, writes none, and never lets a kernel include one. It knows nothing of
//! transformations or models; what it has to say to a model is words in its errors and in its [`Spelling`].

mod compile;
mod container;
mod disassemble;
mod dxc;
mod error;
mod interface;
mod messages;
mod prelude;
mod reflect;
mod resources;
mod runtime;
mod spelling;
mod validate;
mod vulkan;

pub use container::{join as join_modules, split as split_modules};
pub use runtime::VulkanRuntime;

use peak_backend_api::{
    Artifact, ArtifactKind, Backend, CompileError, CompileRequest, Disassembly, PreludeSpec, Runtime, Spelling,
    Toolchain,
};

/// The descriptor: what the root lists among its backends.
#[must_use]
pub fn backend() -> Box<dyn Backend> {
    Box::new(HlslBackend)
}

/// HLSL through DXC, on Vulkan.
#[derive(Clone, Copy, Debug, Default)]
pub struct HlslBackend;

impl Backend for HlslBackend {
    fn name(&self) -> &'static str {
        "hlsl"
    }

    fn title(&self) -> &'static str {
        "HLSL, compiled by DXC to SPIR-V, on any Vulkan device"
    }

    fn toolchains(&self) -> Vec<Toolchain> {
        vec![dxc::toolchain(), validate::toolchain()]
    }

    fn spelling(&self) -> &'static Spelling {
        &spelling::HLSL
    }

    fn prelude(&self, spec: &PreludeSpec) -> String {
        prelude::prelude(spec)
    }

    fn compile(&self, request: &CompileRequest) -> Result<Artifact, CompileError> {
        compile::compile(request)
    }

    fn disassemble(&self, artifact: &Artifact) -> Result<Disassembly, CompileError> {
        disassemble::disassemble(artifact)
    }

    fn artifacts(&self) -> &'static [ArtifactKind] {
        &[ArtifactKind::Spirv]
    }

    fn runtimes(&self) -> Vec<Box<dyn Runtime>> {
        vec![Box::new(VulkanRuntime)]
    }
}
