//! The address space: buffers and variables, each an allocation of its own with room around it.
//!
//! Addresses are simulated: they depend on sizes and order alone, never on where the host put the bytes. No simulated
//! address reaches host memory but through a [`Region`] that contains it.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::Arc;

/// Where generic addresses of shared memory begin.
pub(crate) const SHARED_BASE: u64 = 0x1000_0000_0000;
/// Bytes of generic addresses from the shared memory of one block of a cluster to that of the next. The block's own
/// comes first, then that of every block by its rank.
pub(crate) const CLUSTER_STRIDE: u64 = 1 << 24;
/// Where generic addresses of local memory begin; each thread of a block has [`super::LOCAL_BYTES`].
pub(crate) const LOCAL_BASE: u64 = 0x1100_0000_0000;
/// Where generic addresses of an entry's parameters begin.
pub(crate) const PARAM_BASE: u64 = 0x1200_0000_0000;
/// Where buffers and variables begin.
pub(crate) const GLOBAL_BASE: u64 = 0x2000_0000_0000;
/// Allocations begin at multiples of this, and as much stays free between two.
const SPACING: u64 = 2 << 20;
/// What `cudaMalloc` aligns to.
const ALIGN: usize = 256;

/// Bytes of the host.
#[derive(Debug)]
pub(crate) struct Bytes {
    pointer: NonNull<u8>,
    layout: Layout,
    length: u64,
}

// SAFETY: the bytes are plain memory. Whoever makes references to them has the device to itself (`&mut`); launches use
// raw pointers only.
unsafe impl Send for Bytes {}
// SAFETY: as above: a shared reference gives a raw pointer and a length, nothing else.
unsafe impl Sync for Bytes {}

impl Bytes {
    /// Zeroed bytes, or `None` where there is no room.
    pub fn new(length: u64) -> Option<Bytes> {
        let layout = Layout::from_size_align(usize::try_from(length.max(1)).ok()?, ALIGN).ok()?;
        // SAFETY: the layout has a size of at least one byte.
        let pointer = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Bytes { pointer, layout, length })
    }

    /// Where they are.
    pub fn pointer(&self) -> *mut u8 {
        self.pointer.as_ptr()
    }

    /// How many.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// To read between launches.
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: the allocation has this many initialized bytes; launches, which write through raw pointers, end
        // before `Device::run` returns, and the device is borrowed for as long as the slice lives.
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr(), self.length as usize) }
    }

    /// To write between launches.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_slice`, and `&mut self` excludes other references.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.as_ptr(), self.length as usize) }
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout; nothing uses it after the drop.
        unsafe { dealloc(self.pointer.as_ptr(), self.layout) }
    }
}

/// An allocation with its place in the address space.
#[derive(Debug)]
pub(crate) struct Region {
    /// ``buffer `A` `` or ``variable `table` ``: the words of messages.
    pub name: String,
    pub base: u64,
    pub writable: bool,
    pub bytes: Bytes,
}

impl Region {
    /// Whether `bytes` bytes at an address lie within.
    pub fn contains(&self, address: u64, bytes: u64) -> bool {
        address >= self.base
            && address - self.base <= self.bytes.length().saturating_sub(bytes)
            && bytes <= self.bytes.length()
    }
}

/// All allocations that a launch sees, by address.
#[derive(Clone, Debug, Default)]
pub(crate) struct AddressSpace {
    regions: Vec<Arc<Region>>,
}

impl AddressSpace {
    /// Of some regions, in any order.
    pub fn new(mut regions: Vec<Arc<Region>>) -> AddressSpace {
        regions.sort_by_key(|region| region.base);
        AddressSpace { regions }
    }

    /// The last region that begins at or before an address.
    pub fn before(&self, address: u64) -> Option<&Region> {
        let after = self.regions.partition_point(|region| region.base <= address);
        after.checked_sub(1).map(|at| &*self.regions[at])
    }

    /// The first region that begins after an address.
    pub fn after(&self, address: u64) -> Option<&Region> {
        self.regions.get(self.regions.partition_point(|region| region.base <= address)).map(|region| &**region)
    }

    /// The region that holds `bytes` bytes at an address.
    pub fn find(&self, address: u64, bytes: u64) -> Option<&Region> {
        self.before(address).filter(|region| region.contains(address, bytes))
    }
}

/// A free address for `bytes` bytes after `end`, the end of everything that is there.
pub(crate) fn next_base(end: u64) -> u64 {
    match end {
        0 => GLOBAL_BASE,
        end => (end + SPACING).next_multiple_of(SPACING),
    }
}
