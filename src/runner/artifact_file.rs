//! Artifacts as files: one line of JSON with everything but the code, then the code. Written whole or not at all.

use peak_backend_api::Artifact;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

/// Version of the file's form.
const ARTIFACT_FILE_VERSION: u32 = 2;

/// Bytes of an artifact file, at most.
const ARTIFACT_BYTES_MAX: u64 = 256 << 20;

#[derive(Serialize, Deserialize)]
struct Header {
    version: u32,
    /// With no bytes: they follow the line.
    artifact: Artifact,
    sha256: String,
}

/// The content address of an artifact: code and reflection.
#[must_use]
pub fn address(artifact: &Artifact) -> String {
    let entries = serde_json::json!([artifact.kind, artifact.entries, artifact.compiler]).to_string();
    crate::hash::hex(format!("{entries}\n{}", crate::hash::hex(&artifact.bytes)).as_bytes())
}

/// Writes an artifact; a reader sees the old file or the new one.
///
/// # Errors
/// The folder cannot be written.
pub fn write(path: &Path, artifact: &Artifact) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let header = Header {
        version: ARTIFACT_FILE_VERSION,
        artifact: Artifact { bytes: Vec::new(), ..artifact.clone() },
        sha256: crate::hash::hex(&artifact.bytes),
    };
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    serde_json::to_writer(&mut file, &header)?;
    file.write_all(b"\n")?;
    file.write_all(&artifact.bytes)?;
    file.flush()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Reads an artifact.
///
/// # Errors
/// The file is missing, too large, of another version, or damaged.
pub fn read(path: &Path) -> io::Result<Artifact> {
    let damaged = |what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("{}: {what}", path.display()));
    let mut file = BufReader::new(File::open(path)?.take(ARTIFACT_BYTES_MAX + 1));
    let mut line = Vec::new();
    file.read_until(b'\n', &mut line)?;
    let header: Header = serde_json::from_slice(&line)?;
    if header.version != ARTIFACT_FILE_VERSION {
        return Err(damaged("an artifact of another version"));
    }
    let mut artifact = header.artifact;
    file.read_to_end(&mut artifact.bytes)?;
    if file.get_ref().limit() == 0 {
        return Err(damaged("an artifact larger than 256 MiB"));
    }
    if crate::hash::hex(&artifact.bytes) != header.sha256 {
        return Err(damaged("the artifact does not match its checksum"));
    }
    Ok(artifact)
}

#[cfg(test)]
mod tests {
    use super::*;
    use peak_backend_api::{ArtifactKind, Resources};

    #[test]
    fn an_artifact_survives_its_file_and_damage_is_seen() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("a.artifact");
        let artifact = Artifact {
            kind: ArtifactKind::Spirv,
            bytes: vec![1, b'\n', 0, 255],
            entries: Vec::new(),
            resources: Resources::default(),
            compiler: "test 1".to_owned(),
        };
        write(&path, &artifact)?;
        assert_eq!(read(&path)?, artifact);
        let mut bytes = std::fs::read(&path)?;
        *bytes.last_mut().expect("not empty") ^= 1;
        std::fs::write(&path, bytes)?;
        assert!(read(&path).is_err_and(|error| error.to_string().contains("checksum")));
        Ok(())
    }
}
