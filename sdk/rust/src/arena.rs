//! The allocator of a plugin: small calls live in a static region and never
//! ask the host for memory. Wasm only, but its logic is tested natively.
//!
//! Every instance serves one call and is then destroyed, so that giving
//! memory back hardly matters. Growing memory does: it costs the host a system
//! call and page faults, more than the whole rest of a small call.

#![expect(unsafe_code, reason = "an allocator hands out raw memory")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, UnsafeCell};
use std::ptr;

/// Bytes of the region. A call that needs more goes on with the allocator of
/// the standard library.
const REGION_BYTES: usize = 256 * 1024;

#[repr(C, align(16))]
struct Region(UnsafeCell<[u8; REGION_BYTES]>);

/// A region that hands out one block after the other.
///
/// Only the block that was handed out last can be given back or grow in place;
/// that is what strings and vectors under construction do. Other blocks stay
/// until the instance goes.
pub(crate) struct Arena {
    region: Region,
    /// Offset of the first free byte.
    free: Cell<usize>,
}

impl Arena {
    pub(crate) const fn new() -> Self {
        Self { region: Region(UnsafeCell::new([0; REGION_BYTES])), free: Cell::new(0) }
    }

    fn base(&self) -> *mut u8 {
        self.region.0.get().cast()
    }

    /// A block from the region, or null where it does not fit any more.
    fn take(&self, layout: Layout) -> *mut u8 {
        let start = self.free.get();
        // The address is what must be aligned; the region itself is to 16.
        let misaligned = (self.base() as usize + start) & (layout.align() - 1);
        let padding = if misaligned == 0 { 0 } else { layout.align() - misaligned };
        let end = start.checked_add(padding).and_then(|block| block.checked_add(layout.size()));
        match end {
            Some(end) if end <= REGION_BYTES => {
                self.free.set(end);
                // SAFETY: `start + padding` is at most `end`, which is within the region.
                unsafe { self.base().add(start + padding) }
            }
            _ => ptr::null_mut(),
        }
    }

    /// The offset of a block, if it is one of the region.
    fn offset_of(&self, block: *mut u8) -> Option<usize> {
        (block as usize).checked_sub(self.base() as usize).filter(|offset| *offset < REGION_BYTES)
    }

    fn is_last(&self, offset: usize, size: usize) -> bool {
        offset + size == self.free.get()
    }
}

// SAFETY: blocks of the region never overlap, since `free` only moves past what
// was handed out, and back over the last block when that is given back. They
// stay valid while the arena does, which is a static. Everything else is the
// system allocator's, told apart by address. Never unwinds.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let block = self.take(layout);
        // SAFETY: the caller's promises about `layout` are handed on.
        if block.is_null() { unsafe { System.alloc(layout) } } else { block }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let block = self.take(layout);
        if block.is_null() {
            // SAFETY: as in `alloc`.
            return unsafe { System.alloc_zeroed(layout) };
        }
        // The region starts as zeros, but this part may have been used before.
        // SAFETY: the block was just handed out and is `layout.size()` long.
        unsafe { ptr::write_bytes(block, 0, layout.size()) };
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match self.offset_of(block) {
            Some(offset) if self.is_last(offset, layout.size()) => self.free.set(offset),
            Some(_) => {}
            // SAFETY: a block outside the region came from `System`.
            None => unsafe { System.dealloc(block, layout) },
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let Some(offset) = self.offset_of(block) else {
            // SAFETY: a block outside the region came from `System`.
            return unsafe { System.realloc(block, layout, new_size) };
        };
        if self.is_last(offset, layout.size()) {
            if let Some(end) = offset.checked_add(new_size).filter(|end| *end <= REGION_BYTES) {
                self.free.set(end);
                return block;
            }
        } else if new_size <= layout.size() {
            return block;
        }
        // SAFETY: the caller promises that `new_size` rounded up to the
        // alignment does not overflow, which is all that the layout needs.
        let moved = unsafe { self.alloc(Layout::from_size_align_unchecked(new_size, layout.align())) };
        if !moved.is_null() {
            // SAFETY: both blocks are valid for the smaller of the two sizes,
            // and a block that was just handed out overlaps no other.
            unsafe {
                ptr::copy_nonoverlapping(block, moved, layout.size().min(new_size));
                self.dealloc(block, layout);
            }
        }
        moved
    }
}

#[cfg(all(target_family = "wasm", not(target_feature = "atomics")))]
mod installed {
    use std::alloc::{GlobalAlloc as _, Layout, System, handle_alloc_error};

    use super::Arena;

    // SAFETY: a component without atomics has one thread.
    unsafe impl Sync for Arena {}

    #[global_allocator]
    static ALLOCATOR: Arena = Arena::new();

    /// Where the runtime puts what the host hands over: with the allocator of
    /// the standard library, which is the C library's. Not all of it is Rust's:
    /// the C library asks for the preopened directories, and frees their names
    /// itself. What Rust frees comes to the arena, which tells it by address.
    ///
    /// # Safety
    /// As the canonical ABI has it: `block` is null or was handed out here, with
    /// this old size and alignment.
    #[unsafe(export_name = "cabi_realloc")]
    unsafe extern "C" fn realloc(block: *mut u8, old_size: usize, align: usize, new_size: usize) -> *mut u8 {
        if new_size == 0 {
            return std::ptr::without_provenance_mut(align);
        }
        // SAFETY: the ABI's alignments are powers of two, and its sizes fit.
        let layout = |size| unsafe { Layout::from_size_align_unchecked(size, align) };
        let block = if old_size == 0 {
            // SAFETY: the size is not zero.
            unsafe { System.alloc(layout(new_size)) }
        } else {
            // SAFETY: the block came from here.
            unsafe { System.realloc(block, layout(old_size), new_size) }
        };
        if block.is_null() {
            handle_alloc_error(layout(new_size));
        }
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).expect("a layout of a test is legal")
    }

    fn arena() -> Box<Arena> {
        Box::new(Arena::new())
    }

    #[test]
    fn blocks_do_not_overlap_and_are_aligned() {
        let arena = arena();
        let layouts = [layout(3, 1), layout(8, 8), layout(1, 1), layout(64, 64), layout(2, 2)];
        // SAFETY: no layout is empty, and the arena outlives the blocks.
        let blocks = layouts.map(|layout| (unsafe { arena.alloc(layout) } as usize, layout));
        let mut end = 0;
        for (block, layout) in blocks {
            assert!(block >= end, "a block begins where another one still is");
            assert_eq!(block % layout.align(), 0);
            end = block + layout.size();
        }
    }

    #[test]
    fn the_last_block_grows_shrinks_and_is_given_back_in_place() {
        let arena = arena();
        // SAFETY: every block is used with the layout that it has then.
        unsafe {
            let first = arena.alloc(layout(10, 1));
            first.write_bytes(7, 10);
            assert_eq!(arena.realloc(first, layout(10, 1), 1_000), first);
            assert_eq!(arena.realloc(first, layout(1_000, 1), 20), first);
            assert_eq!(arena.free.get(), 20);
            let second = arena.alloc(layout(5, 1));
            arena.dealloc(second, layout(5, 1));
            arena.dealloc(first, layout(20, 1));
        }
        assert_eq!(arena.free.get(), 0);
    }

    #[test]
    fn a_block_below_others_moves_with_its_content_when_it_grows() {
        let arena = arena();
        // SAFETY: every block is used with the layout that it has then.
        unsafe {
            let first = arena.alloc(layout(4, 1));
            first.write_bytes(7, 4);
            let second = arena.alloc(layout(4, 1));
            second.write_bytes(9, 4);
            assert_eq!(arena.realloc(first, layout(4, 1), 2), first, "shrinking never moves");
            let moved = arena.realloc(first, layout(2, 1), 6);
            assert_ne!(moved, first);
            assert_eq!(std::slice::from_raw_parts(moved, 2), [7, 7]);
            assert_eq!(std::slice::from_raw_parts(second, 4), [9; 4]);
        }
    }

    #[test]
    fn zeroed_memory_is_zero_where_something_was_before() {
        let arena = arena();
        // SAFETY: every block is used with the layout that it has then.
        unsafe {
            let used = arena.alloc(layout(16, 1));
            used.write_bytes(7, 16);
            arena.dealloc(used, layout(16, 1));
            let zeroed = arena.alloc_zeroed(layout(16, 1));
            assert_eq!(zeroed, used);
            assert_eq!(std::slice::from_raw_parts(zeroed, 16), [0; 16]);
        }
    }

    #[test]
    fn what_does_not_fit_comes_from_the_system_and_goes_back_to_it() {
        let arena = arena();
        // SAFETY: every block is used with the layout that it has then.
        unsafe {
            let fits = arena.alloc(layout(REGION_BYTES, 1));
            assert_eq!(arena.offset_of(fits), Some(0), "the whole region fits");
            fits.write_bytes(7, REGION_BYTES);
            let beyond = arena.alloc(layout(1, 1));
            assert_eq!(arena.offset_of(beyond), None, "one byte more does not");
            let beyond = arena.realloc(beyond, layout(1, 1), 4_096);
            arena.dealloc(beyond, layout(4_096, 1));
            let zeroed = arena.alloc_zeroed(layout(8, 8));
            assert_eq!(zeroed.cast::<u64>().read(), 0);
            arena.dealloc(zeroed, layout(8, 8));

            let moved = arena.realloc(fits, layout(REGION_BYTES, 1), REGION_BYTES + 1);
            assert_eq!(arena.offset_of(moved), None, "a block that outgrows the region leaves it");
            assert_eq!(moved.add(REGION_BYTES - 1).read(), 7);
            assert_eq!(arena.free.get(), 0, "and what it took is free again");
            arena.dealloc(moved, layout(REGION_BYTES + 1, 1));
        }
    }

    #[test]
    fn a_vector_under_construction_stays_in_one_place() {
        let arena = arena();
        // SAFETY: every block is used with the layout that it has then.
        unsafe {
            let mut size = 8;
            let block = arena.alloc(layout(size, 8));
            while size < REGION_BYTES {
                assert_eq!(arena.realloc(block, layout(size, 8), size * 2), block);
                size *= 2;
            }
        }
    }
}
