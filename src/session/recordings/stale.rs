//! Why a recording answers nothing: the nearest prompt by what its front matter says, and what is different there.

use super::State;
use super::walk::{Asked, Walked};
use crate::library::Loaded;
use crate::lowering::CHOICE;
use crate::provider::RecordingHead;

/// The state of a recording that answers no prompt of these walks.
pub fn state(head: &RecordingHead, walks: &[Walked], loaded: &Loaded) -> State {
    let of_kernel = walks.iter().filter(|walked| (&walked.kernel, &walked.backend) == (&head.kernel, &head.backend));
    let near: Vec<&Asked> = of_kernel.flat_map(|walked| &walked.asked).filter(|asked| is_place(head, asked)).collect();
    let same_chain = |asked: &&&Asked| asked.identity.applied == head.applied;
    if let Some(nearest) = near.iter().find(same_chain).or(near.first()) {
        return State::Stale(change(head, nearest));
    }
    if head.attempt > 0 && walks.iter().flat_map(|walked| &walked.asked).any(|asked| is_first_of(head, asked)) {
        return State::Repairs;
    }
    State::Unreached(unreached(head, walks, loaded))
}

/// Whether a prompt is for the recording's region of its pass, at its attempt.
fn is_place(head: &RecordingHead, asked: &Asked) -> bool {
    asked.identity.repair == head.attempt && is_region(head, asked)
}

/// Whether a prompt is for the answer that the recording repairs.
fn is_first_of(head: &RecordingHead, asked: &Asked) -> bool {
    asked.identity.repair < head.attempt && asked.answer.is_some() && is_region(head, asked)
}

fn is_region(head: &RecordingHead, asked: &Asked) -> bool {
    let id = &asked.identity;
    (&id.kernel, &id.backend, &id.transformation, &id.pass, id.subject())
        == (&head.kernel, &head.backend, &head.transformation, &head.pass, head.region.as_str())
}

fn change(head: &RecordingHead, nearest: &Asked) -> String {
    let applied = match nearest.identity.applied == head.applied {
        true => String::new(),
        false => format!(" (the nearest comes after: {})", chain(&nearest.identity.applied)),
    };
    let changed = head.parts.as_ref().map(|parts| parts.changes(&nearest.parts)).unwrap_or_default();
    match changed.is_empty() {
        true => format!("the words of the pass, or the code that it is asked about, changed{applied}"),
        false => format!("{} changed{applied}", changed.join(" and ")),
    }
}

fn unreached(head: &RecordingHead, walks: &[Walked], loaded: &Loaded) -> String {
    let library = &loaded.ir;
    let packs = library.packs.values().flat_map(|pack| pack.transformations.values());
    let named = library.transformations.values().chain(packs).find(|known| known.name == head.transformation);
    let Some(kernel) = library.kernels.get(&head.kernel) else {
        return format!("there is no kernel `{}`", head.kernel);
    };
    if !kernel.code.contains_key(&head.backend) {
        return format!("the kernel has no code for {}", head.backend);
    }
    if head.transformation == CHOICE {
        return "no workflow lets a model choose so".to_owned();
    }
    let Some(transformation) = named else { return format!("there is no transformation `{}`", head.transformation) };
    if transformation.passes.iter().all(|pass| pass.name != head.pass) {
        return format!("the transformation has no pass `{}`", head.pass);
    }
    let stopped = walks.iter().filter(|walked| (&walked.kernel, &walked.backend) == (&head.kernel, &head.backend));
    match stopped.flat_map(|walked| &walked.asked).find(|asked| asked.answer.is_none()) {
        Some(asked) => format!("no workflow comes here: nothing answers {} before it", asked.identity.stem()),
        None => format!("no workflow applies the transformation after: {}", chain(&head.applied)),
    }
}

fn chain(applied: &[String]) -> String {
    if applied.is_empty() { "nothing".to_owned() } else { applied.join(", ") }
}
