//! The facts that decide whether a function's entry is sound. They are few, and the same for nearly all functions of a
//! section, so the walk can remember which of them broke no rule.

use core::cmp::Ordering;

use super::SectionContext;
use super::code::{CodeMap, CodeRange};
use crate::abi::Abi;
use crate::section::{Function, FunctionEntry, FunctionInfo, FunctionInfo2};
use crate::unwind::CodeAddress;

/// The facts about one entry of the function table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FunctionShape {
    /// The attributes, if they can be read.
    pub(crate) attributes: Option<AttributesShape>,
    /// The place where the function starts, if known.
    pub(crate) start: Option<StartShape>,
    /// Whether the function has no bytes of code.
    pub(crate) is_empty: bool,
    /// The end of the attributes that are stored with the rows, or else the start of the rows, compared with the end of
    /// the FRE sub-section.
    pub(crate) rows: Ordering,
}

/// The attributes of a function. Of the number of rows, it only matters whether it is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AttributesShape {
    pub(crate) info: FunctionInfo,
    pub(crate) info2: FunctionInfo2,
    pub(crate) rep_size: u8,
    pub(crate) padding: u16,
    pub(crate) has_rows: bool,
    /// Whether the function's size is a multiple of its repeated block's size; `true` without such a block.
    pub(crate) has_whole_blocks: bool,
}

/// The place where a function starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StartShape {
    /// Whether it is at an instruction boundary.
    pub(crate) is_aligned: bool,
    /// Whether it is at a multiple of its repeated block's size; `true` without such a block.
    pub(crate) is_block_aligned: bool,
    /// Whether it is address 0 or the last address.
    pub(crate) is_extreme: bool,
    /// Whether the function would end past the address space.
    pub(crate) wraps: bool,
    pub(crate) code: CodePlace,
    /// Its order relative to the start of the preceding entry, if there is one whose start is known.
    pub(crate) order: Option<Ordering>,
}

/// The place of a function relative to the code of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CodePlace {
    /// There is no file around the section.
    Unknown,
    /// The whole function is in one range of code.
    Inside,
    /// It starts in a range of code and ends after it.
    PastEnd,
    /// It starts where a range of code ends.
    AtEnd,
    /// It starts elsewhere.
    Outside,
}

impl AttributesShape {
    #[inline]
    fn of(function: &Function<'_>, block: Option<u32>) -> AttributesShape {
        let attributes = function.attributes();
        let (info, info2, rep_size) = (attributes.info, attributes.info2, attributes.rep_size);
        let has_whole_blocks = block.is_none_or(|block| function.size().is_multiple_of(block));
        let (padding, has_rows) = (attributes.padding, attributes.num_fres > 0);
        AttributesShape { info, info2, rep_size, padding, has_rows, has_whole_blocks }
    }

    /// Whether the rows are flexible.
    pub(crate) const fn is_flexible(&self) -> bool {
        self.info2.fde_type_code() == FunctionInfo2::FLEX
    }
}

/// The data from which the shape of a function is computed.
pub(crate) struct ShapeSource<'s, 'a> {
    pub(crate) whole: &'s SectionContext<'a>,
    pub(crate) entry: &'s FunctionEntry<'a>,
    pub(crate) function: Option<&'s Function<'a>>,
    pub(crate) start: Option<CodeAddress>,
    /// The start of the preceding entry.
    pub(crate) previous: Option<CodeAddress>,
    pub(crate) code: &'s CodeMap,
    /// The range of code in which the function starts.
    pub(crate) range: Option<CodeRange>,
}

impl ShapeSource<'_, '_> {
    pub(crate) fn shape(&self) -> FunctionShape {
        let repeats = self.function.filter(|function| function.attributes().info.is_pc_mask());
        let block = repeats.and_then(|function| function.repeat_size().ok()?).map(u32::from);
        let size = self.entry.size();
        let header = self.whole.header();
        let rows = u64::from(self.entry.fre_offset()) + header.version.attribute_size();
        let start = self.start.map(|start| StartShape {
            is_aligned: self.is_aligned(start),
            is_block_aligned: block
                .is_none_or(|block| start.address.is_multiple_of(u64::from(block))),
            is_extreme: start.address == 0 || start.address == u64::MAX,
            wraps: start.address.checked_add(u64::from(size)).is_none(),
            code: match self.range {
                _ if !self.code.is_known() => CodePlace::Unknown,
                Some(range) if range.contains(start, u64::from(size)) => CodePlace::Inside,
                Some(_) => CodePlace::PastEnd,
                None if self.code.ends_at(start) => CodePlace::AtEnd,
                None => CodePlace::Outside,
            },
            order: self.previous.map(|previous| start.cmp(&previous)),
        });
        FunctionShape {
            attributes: self.function.map(|function| AttributesShape::of(function, block)),
            start,
            is_empty: size == 0,
            rows: rows.cmp(&u64::from(header.fre_len)),
        }
    }

    #[inline]
    fn is_aligned(&self, start: CodeAddress) -> bool {
        let alignment = self.whole.abi().map_or(1, Abi::instruction_alignment);
        start.address & u64::from(alignment - 1) == 0
    }

    /// The key of the shape. For nearly all functions, a few facts determine it: their rows do not repeat, and they are
    /// inside known code, after the preceding function.
    #[inline(always)]
    pub(crate) fn key(&self) -> u64 {
        let key = self.ordinary_key().unwrap_or_else(|| self.shape().key());
        debug_assert_eq!(key, self.shape().key());
        key
    }

    #[inline(always)]
    fn ordinary_key(&self) -> Option<u64> {
        let (function, start, previous) = (self.function?, self.start?, self.previous?);
        let size = u64::from(self.entry.size());
        let header = self.whole.header();
        let rows = u64::from(self.entry.fre_offset()) + header.version.attribute_size();
        let end = start.address.checked_add(size)?;
        let code = match self.range {
            Some(range) if range.contains(start, size) => CodePlace::Inside,
            None if !self.code.is_known() => CodePlace::Unknown,
            Some(_) | None => return None,
        };
        let ordinary = start > previous
            && size > 0
            && start.address > 0
            && end < u64::MAX
            && rows < u64::from(header.fre_len)
            && self.is_aligned(start)
            && !function.attributes().info.is_pc_mask();
        ordinary.then(|| {
            let start = StartShape {
                is_aligned: true,
                is_block_aligned: true,
                is_extreme: false,
                wraps: false,
                code,
                order: Some(Ordering::Greater),
            };
            let attributes = Some(AttributesShape::of(function, None));
            let rows = Ordering::Less;
            FunctionShape { attributes, start: Some(start), is_empty: false, rows }.key()
        })
    }
}

impl FunctionShape {
    /// A number that is unique to this shape.
    #[inline(always)]
    pub(crate) fn key(&self) -> u64 {
        let FunctionShape { attributes, start, is_empty, rows } = *self;
        let order = |order: Ordering| (order as i8 + 1).unsigned_abs();
        let bits = |key: u64, (width, fact): (u32, u16)| key << width | u64::from(fact);
        let attributes = attributes.map_or(0, |attributes| {
            let AttributesShape { info, info2, rep_size, padding, has_rows, has_whole_blocks } =
                attributes;
            let facts = [
                (1, 1),
                (8, info.0.into()),
                (8, info2.0.into()),
                (8, rep_size.into()),
                (16, padding),
                (1, has_rows.into()),
                (1, has_whole_blocks.into()),
            ];
            facts.into_iter().fold(0, bits)
        });
        let start = start.map_or(0, |start| {
            let StartShape { is_aligned, is_block_aligned, is_extreme, wraps, code, order: after } =
                start;
            let facts = [
                (1, 1),
                (1, is_aligned.into()),
                (1, is_block_aligned.into()),
                (1, is_extreme.into()),
                (1, wraps.into()),
                (3, code as u16),
                (2, after.map_or(3, order).into()),
            ];
            facts.into_iter().fold(0, bits)
        });
        attributes << 13 | start << 3 | u64::from(order(rows)) << 1 | u64::from(is_empty)
    }
}
