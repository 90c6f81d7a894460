//! Splits work on a slice over the cores. Small slices stay on the calling thread.

use std::sync::{Mutex, PoisonError};
use std::thread;

/// Units of work below which another thread costs more than it saves.
const WORTH_A_THREAD: usize = 1 << 15;
/// Shares of heavy work that each thread takes, on average.
const SHARES: usize = 16;

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

/// As [`chunks`], for work that can fail and that is heavy for each item: every core takes small shares until none is
/// left, since some items may be heavier than others.
///
/// # Errors
/// The error of the first chunk, in order, that has one.
pub fn try_chunks<T: Send, E: Send>(
    items: &mut [T],
    work: impl Fn(usize, &mut [T]) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let threads = cores().min(items.len());
    if threads < 2 {
        return work(0, items);
    }
    let size = items.len().div_ceil(threads * SHARES);
    let queue = Mutex::new(items.chunks_mut(size).enumerate());
    let take = || {
        let mut failed: Option<(usize, E)> = None;
        loop {
            // Nothing panics while the queue is locked, so it is never poisoned.
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((number, chunk)) = next else { return failed };
            if let Err(error) = work(number * size, chunk) {
                // Later chunks come later: the first error that a thread meets is the first of its own.
                failed.get_or_insert((number, error));
            }
        }
    };
    let failed = thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(take)).collect();
        let finish = |thread: thread::ScopedJoinHandle<'_, Option<(usize, E)>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        running.into_iter().filter_map(finish).min_by_key(|(number, _)| *number)
    });
    failed.map_or(Ok(()), |(_, error)| Err(error))
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
