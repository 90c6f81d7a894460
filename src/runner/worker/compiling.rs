//! What a worker without a device answers: compile, show code, and what is there. Source text is hostile, hence the process.

use super::super::artifact_file;
use super::super::protocol::{BackendListing, Fault, Reply, Request};
use crate::backends::{self, MakeBackend};
use peak_backend_api::{Backend, CompileRequest};
use std::path::Path;

pub fn answer(request: Request, backends: &[MakeBackend]) -> Result<Reply, Fault> {
    match request {
        Request::Backends => Ok(Reply::Backends { backends: listings(backends) }),
        Request::Toolchains { backend } => Ok(Reply::Toolchains { toolchains: find(backends, &backend)?.toolchains() }),
        Request::Devices { backend, runtime } => {
            let runtimes = backends::runtimes(find(backends, &backend)?.as_ref());
            let found = runtimes.iter().find(|known| known.name() == runtime);
            let found = found.ok_or_else(|| unknown("runtime", &runtime))?;
            let mut devices = found.devices()?;
            // A runtime that several backends share knows none of them.
            devices.iter_mut().for_each(|device| device.backend.clone_from(&backend));
            Ok(Reply::Devices { devices })
        }
        Request::Compile { backend, request, output } => compile(find(backends, &backend)?.as_ref(), &request, &output),
        Request::Disassemble { backend, artifact_file, output } => {
            disassemble(find(backends, &backend)?.as_ref(), &artifact_file, &output)
        }
        _ => Err(Fault::Protocol { message: "a compiling worker does not do that".to_owned() }),
    }
}

fn compile(backend: &dyn Backend, request: &CompileRequest, output: &Path) -> Result<Reply, Fault> {
    let artifact = backend.compile(request).map_err(|error| Fault::Compile { error })?;
    let failed = |error| Fault::File { message: format!("writing {}: {error}", output.display()) };
    artifact_file::write(output, &artifact).map_err(failed)?;
    Ok(Reply::Compiled)
}

fn disassemble(backend: &dyn Backend, artifact: &Path, output: &Path) -> Result<Reply, Fault> {
    let failed = |path: &Path, error: std::io::Error| Fault::File { message: format!("{}: {error}", path.display()) };
    let artifact = artifact_file::read(artifact).map_err(|error| failed(artifact, error))?;
    let text = backend.disassemble(&artifact).map_err(|error| Fault::Compile { error })?;
    let json = serde_json::to_vec(&text).map_err(|error| failed(output, error.into()))?;
    std::fs::write(output, json).map_err(|error| failed(output, error))?;
    Ok(Reply::Disassembled)
}

fn listings(backends: &[MakeBackend]) -> Vec<BackendListing> {
    let listing = |backend: Box<dyn Backend>| BackendListing {
        name: backend.name().to_owned(),
        title: backend.title().to_owned(),
        runtimes: backends::runtimes(backend.as_ref()).iter().map(|runtime| runtime.name().to_owned()).collect(),
    };
    backends.iter().map(|make| listing(make())).collect()
}

fn find(backends: &[MakeBackend], name: &str) -> Result<Box<dyn Backend>, Fault> {
    backends::find(backends, name).ok_or_else(|| unknown("backend", name))
}

fn unknown(what: &str, name: &str) -> Fault {
    Fault::Protocol { message: format!("this build has no {what} `{name}`") }
}
