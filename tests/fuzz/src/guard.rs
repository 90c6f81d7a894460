//! An allocator that ends the simulator's memory at a page that nobody may touch, so that an access that escapes the
//! simulated memory ends the process. All other memory is the system's.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;

/// The alignment of the simulator's memory, which nothing else asks for.
const ALIGN: usize = 256;

const PAGE_BYTES: usize = 4096;

/// The allocator.
pub struct Guarded;

/// Bytes in whole pages.
fn pages(layout: Layout) -> usize {
    layout.size().next_multiple_of(PAGE_BYTES)
}

// SAFETY: blocks of `ALIGN` are mapped and unmapped here, by sizes that follow from the layout alone; the rest is the
// system's.
unsafe impl GlobalAlloc for Guarded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() != ALIGN {
            // SAFETY: the caller's promise.
            return unsafe { System.alloc(layout) };
        }
        let bytes = pages(layout);
        let (kind, rights) = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE, libc::PROT_NONE);
        // SAFETY: a fresh mapping at a place that the system chooses, a page before and one after.
        let start = unsafe { libc::mmap(ptr::null_mut(), bytes + 2 * PAGE_BYTES, rights, kind, -1, 0) };
        if start == libc::MAP_FAILED {
            return ptr::null_mut();
        }
        let first = start.cast::<u8>().wrapping_add(PAGE_BYTES);
        // SAFETY: within the mapping.
        if unsafe { libc::mprotect(first.cast(), bytes, libc::PROT_READ | libc::PROT_WRITE) } != 0 {
            return ptr::null_mut();
        }
        // Its end stands at the page's end, as near as the alignment allows.
        first.wrapping_add(bytes - layout.size().next_multiple_of(ALIGN))
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match layout.align() {
            // SAFETY: the caller's promise; fresh mappings are zero.
            ALIGN => unsafe { self.alloc(layout) },
            // SAFETY: the caller's promise.
            _ => unsafe { System.alloc_zeroed(layout) },
        }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if layout.align() != ALIGN {
            // SAFETY: the caller's promise.
            return unsafe { System.dealloc(pointer, layout) };
        }
        let bytes = pages(layout);
        let first = pointer.wrapping_sub(bytes - layout.size().next_multiple_of(ALIGN));
        // SAFETY: the mapping that `alloc` made for this layout.
        unsafe { libc::munmap(first.wrapping_sub(PAGE_BYTES).cast(), bytes + 2 * PAGE_BYTES) };
    }
}
