//! The templates of `peak new`: whole files that are right as they stand, with names to be put in place of theirs.

/// A file of a template: its path, and its text.
pub(super) type Template = (&'static str, &'static str);

/// A kernel's declaration; its sources are [`SOURCES`].
pub(super) const KERNEL: Template = ("my-kernel.peak", include_str!("templates/kernel.peak"));
/// A kernel's source for each language.
pub(super) const SOURCES: [(&str, Template); 3] = [
    ("cuda", ("my_kernel.cu", include_str!("templates/my_kernel.cu"))),
    ("hip", ("my_kernel.hip", include_str!("templates/my_kernel.hip"))),
    ("hlsl", ("my_kernel.hlsl", include_str!("templates/my_kernel.hlsl"))),
];
/// A transformation.
pub(super) const TRANSFORMATION: Template = ("my-transformation.peak", include_str!("templates/transformation.peak"));
/// A pack.
pub(super) const PACK: Template = ("my-pack.peak", include_str!("templates/pack.peak"));
/// A device.
pub(super) const DEVICE: Template = ("my-device.peak", include_str!("templates/device.peak"));
/// A workflow over the standard library.
pub(super) const WORKFLOW: Template = ("my-workflow.peak", include_str!("templates/workflow.peak"));
/// A workflow for a kernel that is named.
pub(super) const WORKFLOW_OF: Template = ("my-workflow.peak", include_str!("templates/workflow-of.peak"));
/// A project's workflow.
pub(super) const PROJECT_WORKFLOW: Template = ("workflow.peak", include_str!("templates/project-workflow.peak"));
/// A project's first page.
pub(super) const PROJECT_PAGE: Template = ("README.md", include_str!("templates/project.md"));
