//! The space that the functions of a section occupy: ranges of code, and blocks of the FRE sub-section.

use alloc::vec::Vec;

use super::code::CodeMap;
use crate::finding::FunctionId;
use crate::unwind::CodeAddress;

/// The code of one function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodeExtent {
    pub(crate) start: CodeAddress,
    pub(crate) size: u32,
    /// The function's index in the table.
    pub(crate) index: u32,
}

/// The rows of one function with its attributes, as far as they could be read, in bytes from the start of the FRE
/// sub-section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The function's index in the table.
    pub(crate) index: u32,
}

/// The extents of all functions.
#[derive(Debug, Default)]
pub(crate) struct Extents {
    /// Ordered by place once [`Extents::sort`] has run.
    pub(crate) code: Vec<CodeExtent>,
    /// Ordered by start once [`Extents::sort`] has run.
    pub(crate) blocks: Vec<Block>,
}

/// Sums over all functions.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    /// The number of functions in the table.
    pub(crate) functions: u64,
    /// The number of rows that were read.
    pub(crate) rows: u64,
    /// Whether every function and every row could be read.
    pub(crate) complete: bool,
}

impl Extents {
    /// Allocates room for `functions` functions.
    pub(crate) fn with_capacity(functions: usize) -> Extents {
        Extents { code: Vec::with_capacity(functions), blocks: Vec::with_capacity(functions) }
    }

    pub(crate) fn sort(&mut self) {
        // A linker's table is already sorted, and its rows consist of long sorted runs. A stable sort takes linear time
        // for the former, and nearly linear time for the latter.
        self.code.sort_by_key(|extent| (extent.start, extent.index));
        self.blocks.sort_by_key(|block| u64::from(block.start) << 32 | u64::from(block.end));
    }

    /// The number of bytes of code that the functions describe, without those with the starts `hidden`, which are in descending order; each
    /// byte is counted once.
    pub(crate) fn covered_bytes(&self, code: &CodeMap, hidden: &[CodeAddress]) -> u64 {
        let is_hidden =
            |extent: &&CodeExtent| hidden.binary_search_by(|start| extent.start.cmp(start)).is_ok();
        let mut covered = CodeAddress::absolute(0);
        let mut sum: u64 = 0;
        for extent in self.code.iter().filter(|extent| hidden.is_empty() || !is_hidden(extent)) {
            // The extents are in order, so `from` is in the same section as the extent.
            let (from, end) = (extent.start.max(covered), extent.end());
            let size = end.address.saturating_sub(from.address);
            sum = sum.saturating_add(code.bytes_in(from, size));
            covered = covered.max(end);
        }
        sum
    }

    /// Blocks that are overlapped by others, in the order of the sub-section.
    pub(crate) fn overlapping_blocks(&self) -> impl Iterator<Item = Overlap<Block>> {
        let blocks = self.blocks.iter().copied().filter(|block| block.start < block.end);
        overlaps(blocks, |before, block| block.start < before.end, |block| u64::from(block.end))
    }

    /// The functions whose blocks overlap: their indexes in the table, sorted.
    pub(crate) fn sharing_rows(&self) -> Vec<u32> {
        let mut sharing = Vec::new();
        let mut furthest: Option<Block> = None;
        for &block in self.blocks.iter().filter(|block| block.start < block.end) {
            if let Some(before) = furthest.filter(|before| block.start < before.end) {
                sharing.extend([before.index, block.index]);
            }
            if furthest.is_none_or(|before| before.end <= block.end) {
                furthest = Some(block);
            }
        }
        sharing.sort_unstable();
        sharing.dedup();
        sharing
    }

    /// Ranges of the FRE sub-section, which is `length` bytes long, that no function's rows occupy.
    pub(crate) fn unused(&self, length: u32) -> impl Iterator<Item = (u32, u32)> {
        let mut end = 0;
        let last = Block { start: length, end: length, index: u32::MAX };
        self.blocks.iter().copied().chain(core::iter::once(last)).filter_map(move |block| {
            let start = block.start.min(length);
            let gap = (end < start).then_some((end, start));
            end = end.max(block.end);
            gap
        })
    }

    /// Functions whose code other functions claim as well, in the order of the code. Functions of size 0 claim none.
    pub(crate) fn overlapping_code(&self) -> impl Iterator<Item = Overlap<CodeExtent>> {
        let code = self.code.iter().copied().filter(|extent| extent.size > 0);
        overlaps(code, |before, extent| extent.start < before.end(), |extent| extent.end())
    }
}

/// An item into which others reach.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overlap<T> {
    /// The item that reaches furthest.
    pub(crate) before: T,
    /// The first item that starts inside it.
    pub(crate) first: T,
    /// The number of items that start inside it. If it is one, either of the two may be wrong. If there are more, it is
    /// too long.
    pub(crate) count: u32,
}

/// Groups sorted items by the earlier item inside which they start, if there is one.
fn overlaps<T: Copy, End: Ord>(
    items: impl Iterator<Item = T>,
    inside: impl Fn(&T, &T) -> bool,
    end: impl Fn(&T) -> End,
) -> impl Iterator<Item = Overlap<T>> {
    let mut items = items.peekable();
    let mut before = items.next();
    core::iter::from_fn(move || {
        loop {
            let reaching = before?;
            if let Some(item) = items.next_if(|item| !inside(&reaching, item)) {
                before = Some(item);
                continue;
            }
            let mut further = None;
            let mut overlap: Option<Overlap<T>> = None;
            while let Some(item) = items.next_if(|item| inside(&reaching, item)) {
                let group =
                    overlap.get_or_insert(Overlap { before: reaching, first: item, count: 0 });
                group.count += 1;
                if end(&reaching) < end(&item) {
                    further = Some(item);
                    break;
                }
            }
            before = further.or_else(|| items.next());
            if overlap.is_some() {
                return overlap;
            }
        }
    })
}

impl CodeExtent {
    pub(crate) fn function(&self) -> FunctionId {
        FunctionId { index: self.index, start: Some(self.start), size: self.size }
    }

    /// Whether both functions claim exactly the same code.
    pub(crate) fn equals(&self, other: &CodeExtent) -> bool {
        self.start == other.start && self.size == other.size
    }

    /// The first place after the function.
    pub(crate) fn end(&self) -> CodeAddress {
        let address = self.start.address.saturating_add(u64::from(self.size));
        CodeAddress { section: self.start.section, address }
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "tests may panic")]
mod tests {
    use super::*;
    use core::ops::Range;

    fn extents(blocks: &[(u32, u32)]) -> Extents {
        let blocks =
            blocks.iter().zip(0..).map(|(&(start, end), index)| Block { start, end, index });
        let mut extents = Extents { code: Vec::new(), blocks: blocks.collect() };
        extents.sort();
        extents
    }

    fn overlaps(blocks: &[(u32, u32)]) -> Vec<(u32, u32, u32)> {
        let extents = extents(blocks);
        let found = extents.overlapping_blocks();
        found.map(|overlap| (overlap.before.index, overlap.first.index, overlap.count)).collect()
    }

    #[test]
    fn blocks_side_by_side_do_not_overlap() {
        assert_eq!(overlaps(&[(10, 20), (0, 10), (20, 20), (20, 30)]), []);
    }

    #[test]
    fn one_long_block_is_one_overlap() {
        assert_eq!(overlaps(&[(0, 40), (10, 20), (20, 30), (40, 50)]), [(0, 1, 2)]);
    }

    #[test]
    fn a_chain_is_an_overlap_for_each_link() {
        assert_eq!(overlaps(&[(0, 12), (10, 22), (20, 30)]), [(0, 1, 1), (1, 2, 1)]);
        assert_eq!(extents(&[(0, 12), (10, 22), (20, 30)]).sharing_rows(), [0, 1, 2]);
    }

    #[test]
    fn bytes_outside_all_blocks_are_unused() {
        let unused: Vec<_> = extents(&[(2, 5), (5, 7), (300, 400)]).unused(10).collect();
        assert_eq!(unused, [(0, 2), (7, 10)]);
    }

    /// Intervals below 12, in every order of starts and ends that three of them can have, and a few more.
    fn triples() -> impl Iterator<Item = [(u32, u32); 3]> {
        let all = (0..4_u32).flat_map(|start| (start..4).map(move |end| (start * 3, end * 3)));
        all.clone().flat_map(move |a| {
            let all = all.clone();
            all.clone().flat_map(move |b| all.clone().map(move |c| [a, b, c]))
        })
    }

    /// The expected functions are found by comparing each pair of blocks.
    #[test]
    fn blocks_with_a_common_byte_share_rows() {
        for blocks in triples() {
            let shares = |index: usize| {
                let common = |&(other, (start, end)): &(usize, (u32, u32))| {
                    other != index && start.max(blocks[index].0) < end.min(blocks[index].1)
                };
                blocks.into_iter().enumerate().any(|other| common(&other))
            };
            let expected: Vec<u32> = (0..3).filter(|&index| shares(index as usize)).collect();
            let extents = extents(&blocks);
            assert_eq!(extents.sharing_rows(), expected, "{blocks:?}");
            let found = extents.overlapping_blocks().next().is_some();
            assert_eq!(found, !expected.is_empty(), "{blocks:?}");
        }
    }

    /// The expected bytes are found by looking at each byte.
    #[test]
    fn unused_bytes_are_in_no_block() {
        for blocks in triples() {
            let used = |byte| blocks.iter().any(|(start, end)| (*start..*end).contains(&byte));
            let expected: Vec<u32> = (0..11).filter(|byte| !used(*byte)).collect();
            let ranges: Vec<_> = extents(&blocks).unused(11).collect();
            assert!(ranges.iter().all(|(start, end)| start < end), "{blocks:?}: {ranges:?}");
            let found: Vec<u32> = ranges.into_iter().flat_map(|(start, end)| start..end).collect();
            assert_eq!(found, expected, "{blocks:?}");
        }
    }

    #[test]
    fn an_item_is_grouped_with_the_one_that_reaches_furthest() {
        // Equal blocks; a block that ends with the long one; one that reaches further; a pair after a group.
        assert_eq!(overlaps(&[(0, 10), (0, 10), (0, 10)]), [(0, 1, 2)]);
        assert_eq!(overlaps(&[(0, 40), (10, 40), (20, 30)]), [(0, 1, 2)]);
        assert_eq!(overlaps(&[(0, 40), (10, 50), (20, 30), (45, 48)]), [(0, 1, 1), (1, 2, 2)]);
        assert_eq!(overlaps(&[(0, 40), (10, 20), (40, 50), (45, 60)]), [(0, 1, 1), (2, 3, 1)]);
        assert_eq!(overlaps(&[(0, 5), (5, 9), (9, 9), (9, 12), (11, 12)]), [(3, 4, 1)]);
    }

    /// The code of three functions in each of two sections, and the code of the file; each byte is counted by looking
    /// at it.
    #[test]
    fn each_byte_of_code_is_counted_once() {
        let place = |section, address: u32| CodeAddress { section, address: address.into() };
        let code: [(u32, Range<u32>); 3] = [(0, 0..4), (0, 7..10), (1, 2..9)];
        let map = CodeMap::of(code.iter().map(|(section, range)| {
            (place(*section, range.start), u64::from(range.end - range.start))
        }));
        for functions in triples() {
            let extent = |section, (index, (start, end)): (u32, (u32, u32))| CodeExtent {
                start: place(section, start),
                size: end - start,
                index,
            };
            let both = |section| (0..).zip(functions).map(move |f| extent(section, f));
            let mut extents =
                Extents { code: both(1).chain(both(0)).collect(), blocks: Vec::new() };
            extents.sort();
            let described =
                |byte: &u32| functions.iter().any(|(start, end)| (*start..*end).contains(byte));
            let bytes = |section| (0..12).filter(described).map(move |byte| (section, byte));
            let is_code = |(section, byte): &(u32, u32)| {
                code.iter().any(|(of, range)| of == section && range.contains(byte))
            };
            let counted = bytes(0).chain(bytes(1));
            assert_eq!(
                extents.covered_bytes(&map, &[]),
                counted.clone().filter(is_code).count() as u64,
                "{functions:?}"
            );
            assert_eq!(extents.covered_bytes(&CodeMap::unknown(), &[]), counted.count() as u64);
        }
    }

    /// What readers do not find covers nothing, wherever it is among the others.
    #[test]
    fn hidden_functions_cover_nothing() {
        let extent = |(index, start): (u32, u64)| CodeExtent {
            start: CodeAddress::absolute(start),
            size: 1 << index,
            index,
        };
        let starts = [0x100, 0x200, 0x300, 0x400];
        let code = (0..).zip(starts).map(extent).collect();
        let extents = Extents { code, blocks: Vec::new() };
        let covered = |hidden: &[u64]| {
            let hidden: Vec<_> = hidden.iter().map(|start| CodeAddress::absolute(*start)).collect();
            extents.covered_bytes(&CodeMap::unknown(), &hidden)
        };
        // Sizes of 1, 2, 4 and 8 bytes; the hidden ones in descending order.
        assert_eq!(covered(&[]), 15);
        assert_eq!(covered(&[0x300]), 11);
        assert_eq!(covered(&[0x400, 0x200, 0x100]), 4);
        assert_eq!(covered(&[0x400, 0x300, 0x200, 0x100]), 0);
    }
}
