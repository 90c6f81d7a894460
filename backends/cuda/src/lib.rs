//! CUDA for Peak: NVRTC compiles it to PTX or to machine code, and a GPU runs it through its driver.
//!
//! The way of a kernel: [`PreludeSpec`] -> prelude -> assembled source -> NVRTC (PTX and machine code at once) -> entry
//! points are read off the PTX, registers and spills off the assembler's words -> the interface and the limits are checked
//! -> [`Artifact`]. Its kind is what the request's target names: `sm_90a` gives a cubin, which the `gpu` runtime asks for,
//! `compute_90` (or nothing) gives PTX, for a simulator or for the driver's own compiler.
//!
//! Neither NVRTC nor a driver is needed to build; both are loaded at run time, and one that is missing is an error with the
//! command that mends it. The crate reads no file but its toolchain's, and lets a kernel include only headers of a list.

mod compile;
mod cubin;
mod disassemble;
mod error;
mod gpu;
mod includes;
mod interface;
mod messages;
mod nvrtc;
mod parameters;
mod places;
mod prelude;
mod ptx;
mod resources;
mod runtime;
mod spelling;
mod target;

pub use runtime::GpuRuntime;

use peak_backend_api::{
    Artifact, ArtifactKind, Backend, CompileError, CompileRequest, Disassembly, PreludeSpec, Runtime, Spelling,
    Toolchain,
};

/// The descriptor: what the root lists among its backends.
#[must_use]
pub fn backend() -> Box<dyn Backend> {
    Box::new(CudaBackend)
}

/// CUDA through NVRTC.
#[derive(Clone, Copy, Debug, Default)]
pub struct CudaBackend;

impl Backend for CudaBackend {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn title(&self) -> &'static str {
        "CUDA C++, compiled by NVRTC, on NVIDIA GPUs"
    }

    fn toolchains(&self) -> Vec<Toolchain> {
        nvrtc::toolchains()
    }

    fn spelling(&self) -> &'static Spelling {
        &spelling::CUDA
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

    fn target_for(&self, kind: ArtifactKind, target: &str) -> Option<String> {
        target::Target::parse(target).ok()?.making(kind)
    }

    fn artifacts(&self) -> &'static [ArtifactKind] {
        &[ArtifactKind::Cubin, ArtifactKind::Ptx]
    }

    fn runtimes(&self) -> Vec<Box<dyn Runtime>> {
        vec![Box::new(GpuRuntime)]
    }
}
