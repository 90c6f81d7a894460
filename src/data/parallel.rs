//! Splits work on a slice over the cores. Small slices stay on the calling thread.

use std::thread;

/// Units of work below which another thread costs more than it saves.
const WORTH_A_THREAD: usize = 1 << 15;

/// Threads to use at most.
#[must_use]
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Calls `work(first, chunk)` on disjoint chunks that cover `items`, each a multiple of `unit` long except the last;
/// `first` is the chunk's offset in `items`.
pub fn chunks<T: Send>(items: &mut [T], unit: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    let threads = cores().min(items.len() / WORTH_A_THREAD);
    split(items, unit, threads, |first, chunk| {
        work(first, chunk);
        Ok::<(), std::convert::Infallible>(())
    })
    .unwrap_or_else(|never| match never {});
}

/// As [`chunks`], for work that can fail and that is heavy for each item: every core gets a share.
///
/// # Errors
/// The error of the first chunk, in order, that has one.
pub fn try_chunks<T: Send, E: Send>(
    items: &mut [T],
    work: impl Fn(usize, &mut [T]) -> Result<(), E> + Sync,
) -> Result<(), E> {
    split(items, 1, cores().min(items.len()), work)
}

fn split<T: Send, E: Send>(
    items: &mut [T],
    unit: usize,
    threads: usize,
    work: impl Fn(usize, &mut [T]) -> Result<(), E> + Sync,
) -> Result<(), E> {
    if threads < 2 {
        return work(0, items);
    }
    let size = items.len().div_ceil(threads).next_multiple_of(unit.max(1));
    thread::scope(|scope| {
        let work = &work;
        let mut first = 0;
        let mut running = Vec::new();
        for chunk in items.chunks_mut(size) {
            let start = first;
            first += chunk.len();
            running.push(scope.spawn(move || work(start, chunk)));
        }
        let finish = |thread: thread::ScopedJoinHandle<'_, Result<(), E>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        // Every thread is joined, also after an error: the scope would wait for it anyway.
        running.into_iter().map(finish).fold(Ok(()), Result::and)
    })
}
