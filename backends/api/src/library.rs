//! A vendor's library in place of a kernel: what it is asked to compute. Plain data; calls nothing.

use crate::{Artifact, ArtifactKind, CompileError, Resources, TensorElement};
use serde::{Deserialize, Serialize};

/// A call of a library: the bytes of an artifact of the kind [`ArtifactKind::Library`], as JSON. A launch of its entry
/// takes the three buffers of the product, by the names of their arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LibraryCall {
    /// Whose.
    pub library: Library,
    /// What it computes.
    pub product: Product,
}

/// A library that computes products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Library {
    /// cuBLAS, as it chooses.
    Cublas,
    /// cuBLASLt, the first algorithm of its heuristic.
    Cublaslt,
    /// cuBLASLt, the fastest of the algorithms that its heuristic lists, by time on the device.
    CublasltSearch,
}

impl Library {
    /// Every one.
    pub const ALL: [Library; 3] = [Library::Cublas, Library::Cublaslt, Library::CublasltSearch];

    /// Its name on the command line and in a workflow's `compare with`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Library::Cublas => "cublas",
            Library::Cublaslt => "cublaslt",
            Library::CublasltSearch => "cublaslt-search",
        }
    }

    /// The one of that name.
    #[must_use]
    pub fn of(name: &str) -> Option<Library> {
        Library::ALL.into_iter().find(|library| library.name() == name)
    }
}

/// `OUT[i, j] = sum(k in 0..inner) LEFT[i, k] * RIGHT[k, j]` for `rows` by `columns` elements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Product {
    /// Extent of `i`.
    pub rows: u64,
    /// Extent of `j`.
    pub columns: u64,
    /// Extent of `k`.
    pub inner: u64,
    /// By `i` and `k`.
    pub left: Matrix,
    /// By `k` and `j`.
    pub right: Matrix,
    /// By `i` and `j`.
    pub out: Matrix,
    /// In which the sum is taken.
    pub accumulate: TensorElement,
}

/// A matrix in a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matrix {
    /// The argument.
    pub name: String,
    /// Its elements.
    pub element: TensorElement,
    /// Elements from one row to the next.
    pub row_stride: u64,
    /// Elements from one column to the next.
    pub column_stride: u64,
}

impl LibraryCall {
    /// The call as an artifact.
    #[must_use]
    pub fn artifact(&self) -> Artifact {
        Artifact {
            kind: ArtifactKind::Library,
            // Plain data of strings and numbers always serializes.
            bytes: serde_json::to_vec(self).unwrap_or_default(),
            entries: Vec::new(),
            resources: Resources::default(),
            compiler: self.library.name().to_owned(),
        }
    }

    /// The call that an artifact holds.
    ///
    /// # Errors
    /// An artifact of another kind, or one that holds no call.
    pub fn of(artifact: &Artifact) -> Result<LibraryCall, CompileError> {
        let internal = |message: String| CompileError::Internal { tool: "a library call".to_owned(), message };
        if artifact.kind != ArtifactKind::Library {
            return Err(internal(format!("the artifact is {:?}", artifact.kind)));
        }
        serde_json::from_slice(&artifact.bytes).map_err(|error| internal(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_comes_back_from_its_artifact() {
        let matrix = |name: &str| Matrix {
            name: name.to_owned(),
            element: TensorElement::F16,
            row_stride: 64,
            column_stride: 1,
        };
        let (left, right, out) = (matrix("A"), matrix("B"), matrix("C"));
        let product = Product { rows: 64, columns: 64, inner: 64, left, right, out, accumulate: TensorElement::F32 };
        for library in Library::ALL {
            let call = LibraryCall { library, product: product.clone() };
            assert_eq!(LibraryCall::of(&call.artifact()), Ok(call));
            assert_eq!(Library::of(library.name()), Some(library));
        }
        let broken =
            Artifact { kind: ArtifactKind::Ptx, ..LibraryCall { library: Library::Cublas, product }.artifact() };
        assert!(LibraryCall::of(&broken).is_err());
    }
}
