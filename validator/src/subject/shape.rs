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
        start.address.checked_add(size)?;
        let code = match self.range {
            Some(range) if range.contains(start, size) => CodePlace::Inside,
            None if !self.code.is_known() => CodePlace::Unknown,
            Some(_) | None => return None,
        };
        let ordinary = start > previous
            && size > 0
            && start.address > 0
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
        let order = |order: Ordering| match order {
            Ordering::Less => 0,
            Ordering::Equal => 1,
            Ordering::Greater => 2_u8,
        };
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

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "tests may panic")]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;
    use crate::abi::Endian;
    use crate::section::{Placement, Section};
    use crate::subject::FileKind;

    /// A function: its start, its size, and the size of its repeated block if its rows repeat.
    #[derive(Clone, Copy)]
    struct Written(u64, u32, Option<u8>);

    /// A version 3 section with these functions, in this order (V3 2.1 to 2.4). Starts count from the section, which is
    /// at address 0. Each function has 5 bytes of attributes and a row of 2 bytes, without words.
    fn section(abi: Abi, functions: &[Written]) -> Vec<u8> {
        let number = |number: u32| match abi.endian() {
            Endian::Little => number.to_le_bytes(),
            Endian::Big => number.to_be_bytes(),
        };
        let count = u32::try_from(functions.len()).expect("few");
        let fixed_ra = abi.fixed_ra_offset().cast_unsigned();
        let mut bytes = match abi.endian() {
            Endian::Little => vec![0xe2, 0xde],
            Endian::Big => vec![0xde, 0xe2],
        };
        bytes.extend([3, 0, abi.id(), 0, fixed_ra, 0]);
        let rows = functions.len() * 7;
        let counts = [count, count, u32::try_from(rows).expect("few"), 0, 16 * count];
        bytes.extend(counts.into_iter().flat_map(number));
        for (Written(start, size, _), index) in functions.iter().zip(0..) {
            match abi.endian() {
                Endian::Little => bytes.extend(start.to_le_bytes()),
                Endian::Big => bytes.extend(start.to_be_bytes()),
            }
            bytes.extend([number(*size), number(7 * index)].concat());
        }
        for Written(_, _, block) in functions {
            let count = if abi.endian() == Endian::Little { [1, 0] } else { [0, 1] };
            let info = if block.is_some() { FunctionInfo::PC_MASK } else { 0 };
            bytes.extend(count);
            bytes.extend([info, 0, block.unwrap_or(0), 0, 0]);
        }
        bytes
    }

    /// The shape of the last function and whether a few facts determine it, after the functions before it.
    fn shape_in(code: &CodeMap, abi: Abi, functions: &[Written]) -> (FunctionShape, bool) {
        let bytes = section(abi, functions);
        let section = Section::parse(&bytes, Placement::at(0)).expect("a header");
        let whole = SectionContext { section: &section, kind: FileKind::Linked };
        let start = |entry: FunctionEntry<'_>| entry.start().expect("linked");
        let entry = section.entries().last().expect("a function");
        let function = entry.function().expect("readable");
        let before = entry.index().checked_sub(1).and_then(|index| section.entry(index));
        let source = ShapeSource {
            whole: &whole,
            entry: &entry,
            function: Some(&function),
            start: Some(start(entry)),
            previous: before.map(start),
            code,
            range: code.containing(start(entry)).copied(),
        };
        assert_eq!(source.key(), source.shape().key());
        (source.shape(), source.ordinary_key().is_some())
    }

    const fn function(start: u64, size: u32) -> Written {
        Written(start, size, None)
    }

    /// The place of a function after another one, inside code.
    const AFTER: StartShape = StartShape {
        is_aligned: true,
        is_block_aligned: true,
        is_extreme: false,
        wraps: false,
        code: CodePlace::Inside,
        order: Some(Ordering::Greater),
    };

    /// The code is at 0x100..0x200. Only functions at ordinary places need few facts; otherwise, the check would be
    /// slower than it has to be.
    #[test]
    fn the_place_of_a_function_has_these_facts() {
        let code = CodeMap::of([(CodeAddress::absolute(0x100), 0x100)].into_iter());
        let cases = [
            ((0x110, 0x10), AFTER, true),
            ((0x1f0, 0x10), AFTER, true),
            ((0x1f1, 0xf), AFTER, true),
            ((0x1f1, 0x10), StartShape { code: CodePlace::PastEnd, ..AFTER }, false),
            ((0x1ff, 2), StartShape { code: CodePlace::PastEnd, ..AFTER }, false),
            ((0x200, 1), StartShape { code: CodePlace::AtEnd, ..AFTER }, false),
            ((0x201, 1), StartShape { code: CodePlace::Outside, ..AFTER }, false),
            ((0x100, 1), StartShape { order: Some(Ordering::Equal), ..AFTER }, false),
            (
                (0xff, 1),
                StartShape { order: Some(Ordering::Less), code: CodePlace::Outside, ..AFTER },
                false,
            ),
            (
                (0, 1),
                StartShape {
                    order: Some(Ordering::Less),
                    code: CodePlace::Outside,
                    is_extreme: true,
                    ..AFTER
                },
                false,
            ),
            (
                (u64::MAX, 0),
                StartShape { code: CodePlace::Outside, is_extreme: true, ..AFTER },
                false,
            ),
            (
                (u64::MAX, 1),
                StartShape { code: CodePlace::Outside, is_extreme: true, wraps: true, ..AFTER },
                false,
            ),
        ];
        for ((start, size), expected, is_ordinary) in cases {
            let functions = [function(0x100, 0x10), function(start, size)];
            let (shape, ordinary) = shape_in(&code, Abi::Amd64, &functions);
            assert_eq!((shape.start, ordinary), (Some(expected), is_ordinary), "{start:#x}");
            assert_eq!(shape.is_empty, size == 0);
        }
        // The first function, and a function of size 0.
        let (first, ordinary) = shape_in(&code, Abi::Amd64, &[function(0x110, 0x10)]);
        assert_eq!((first.start, ordinary), (Some(StartShape { order: None, ..AFTER }), false));
        let empty = [function(0x100, 0x10), function(0x110, 0)];
        let (empty, ordinary) = shape_in(&code, Abi::Amd64, &empty);
        assert_eq!((empty.start, empty.is_empty, ordinary), (Some(AFTER), true, false));
    }

    #[test]
    fn places_in_unknown_code_are_not_judged() {
        for (start, order) in [(0x110, Ordering::Greater), (0x20, Ordering::Less)] {
            let functions = [function(0x100, 0x10), function(start, 0x10)];
            let (shape, ordinary) = shape_in(&CodeMap::unknown(), Abi::Amd64, &functions);
            let expected = StartShape { code: CodePlace::Unknown, order: Some(order), ..AFTER };
            assert_eq!((shape.start, ordinary), (Some(expected), order == Ordering::Greater));
        }
        let code = CodeMap::of(core::iter::empty());
        let functions = [function(0x100, 0x10), function(0x110, 0x10)];
        let (shape, ordinary) = shape_in(&code, Abi::Amd64, &functions);
        assert_eq!((shape.start.map(|s| s.code), ordinary), (Some(CodePlace::Outside), false));
    }

    /// Instructions are at multiples of 4 on AArch64 and of 2 on s390x.
    #[test]
    fn functions_are_aligned_like_instructions() {
        let aligned = |abi, start| {
            let functions = [function(0x100, 0x10), function(start, 8)];
            let (shape, ordinary) = shape_in(&CodeMap::unknown(), abi, &functions);
            let is_aligned = shape.start.expect("known").is_aligned;
            assert_eq!(is_aligned, ordinary, "{start:#x}");
            is_aligned
        };
        let of = |abi| (0x110..0x114).map(|start| aligned(abi, start)).collect::<Vec<_>>();
        assert_eq!(of(Abi::Amd64), [true; 4]);
        assert_eq!(of(Abi::S390x), [true, false, true, false]);
        assert_eq!(of(Abi::Aarch64Little), [true, false, false, false]);
    }

    #[test]
    fn repeated_blocks_are_compared_with_start_and_size() {
        let facts = |start, size, block| {
            let functions = [function(0x100, 0x10), Written(start, size, Some(block))];
            let (shape, ordinary) = shape_in(&CodeMap::unknown(), Abi::Amd64, &functions);
            assert!(!ordinary);
            let aligned = shape.start.expect("known").is_block_aligned;
            (aligned, shape.attributes.expect("readable").has_whole_blocks)
        };
        assert_eq!(facts(0x110, 0x30, 16), (true, true));
        assert_eq!(facts(0x118, 0x30, 16), (false, true));
        assert_eq!(facts(0x110, 0x38, 16), (true, false));
        // Blocks of unknown size.
        assert_eq!(facts(0x111, 0x31, 0), (true, true));
    }

    /// The first function has 5 bytes of attributes and a row of 2 bytes, so the second one's attributes end at 12.
    #[test]
    fn attributes_are_compared_with_the_end_of_the_rows() {
        let rows = |length| {
            let mut bytes = section(Abi::Amd64, &[function(0x100, 0x10), function(0x110, 0x10)]);
            // The length of the FRE sub-section.
            bytes[16] = length;
            let section = Section::parse(&bytes, Placement::at(0)).expect("a header");
            let whole = SectionContext { section: &section, kind: FileKind::Bare };
            let entry = section.entry(1).expect("it is there");
            let source = ShapeSource {
                whole: &whole,
                entry: &entry,
                function: None,
                start: None,
                previous: None,
                code: &CodeMap::unknown(),
                range: None,
            };
            source.shape().rows
        };
        assert_eq!([11, 12, 13].map(rows), [Ordering::Greater, Ordering::Equal, Ordering::Less]);
    }

    /// Changes each fact of a shape in turn: no two of the shapes have the same key.
    #[test]
    fn different_shapes_have_different_keys() {
        let attributes = AttributesShape {
            info: FunctionInfo(0),
            info2: FunctionInfo2(0),
            rep_size: 0,
            padding: 0,
            has_rows: true,
            has_whole_blocks: true,
        };
        let mut all = vec![None, Some(attributes)];
        for bit in 0..8 {
            all.push(Some(AttributesShape { info: FunctionInfo(1 << bit), ..attributes }));
            all.push(Some(AttributesShape { info2: FunctionInfo2(1 << bit), ..attributes }));
            all.push(Some(AttributesShape { rep_size: 1 << bit, ..attributes }));
            all.push(Some(AttributesShape { padding: 1 << bit, ..attributes }));
            all.push(Some(AttributesShape { padding: 0x100 << bit, ..attributes }));
        }
        all.push(Some(AttributesShape { has_rows: false, ..attributes }));
        all.push(Some(AttributesShape { has_whole_blocks: false, ..attributes }));
        let mut starts = vec![
            None,
            Some(StartShape { is_aligned: false, ..AFTER }),
            Some(StartShape { is_block_aligned: false, ..AFTER }),
            Some(StartShape { is_extreme: true, ..AFTER }),
            Some(StartShape { wraps: true, ..AFTER }),
        ];
        let codes = [
            CodePlace::Unknown,
            CodePlace::Inside,
            CodePlace::PastEnd,
            CodePlace::AtEnd,
            CodePlace::Outside,
        ];
        let orders = [Ordering::Less, Ordering::Equal, Ordering::Greater].map(Some);
        for (code, order) in codes
            .into_iter()
            .flat_map(|code| orders.into_iter().chain([None]).map(move |order| (code, order)))
        {
            starts.push(Some(StartShape { code, order, ..AFTER }));
        }
        let mut keys = Vec::new();
        for (attributes, start) in
            all.iter().flat_map(|attributes| starts.iter().map(move |start| (*attributes, *start)))
        {
            for (is_empty, rows) in [
                (true, Ordering::Less),
                (false, Ordering::Less),
                (true, Ordering::Equal),
                (false, Ordering::Equal),
                (true, Ordering::Greater),
                (false, Ordering::Greater),
            ] {
                keys.push(FunctionShape { attributes, start, is_empty, rows }.key());
            }
        }
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!((keys.len(), count), (44 * 25 * 6, 44 * 25 * 6));
        assert!(keys.iter().all(|key| *key < u64::MAX));
    }
}
