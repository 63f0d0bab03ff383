//! Functions: their places, properties and rows.

use arbitrary::{Result, Unstructured};
use sframe_validator::Version;
use sframe_validator::section::FreType;
use sframe_validator::unwind::{Frame, Row};
use sframe_validator::write::FunctionBuilder;

use super::frames::{self, Kind};
use super::{Features, Plan, fre_type};

/// The number of bytes of entropy for a function without its rows.
pub(super) const HEAD: usize = 16;
/// The number of bytes of entropy for a row.
pub(super) const ROW: usize = 12;
/// The number of rows in a block of entropy.
pub(super) const ROWS: usize = 6;

/// A function to be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionPlan {
    /// Its start; in an object, relative to the section of code.
    pub start: u64,
    /// The size in bytes of code.
    pub size: u32,
    /// The rows by their offset, in stored order.
    pub rows: Vec<(u32, Frame)>,
    /// The size in bytes of the block to which the rows apply; 0 in version 1, which does not record it.
    pub repeat: Option<u8>,
    /// Whether it is a signal frame.
    pub signal: bool,
    /// Whether return addresses are signed with the B key.
    pub key_b: bool,
    /// Whether it has FDE type FLEX.
    pub flexible: bool,
    /// The width of the rows' start fields, if it is not the narrowest.
    pub fre_type: Option<FreType>,
}

impl FunctionPlan {
    /// The builder of the function.
    #[must_use]
    pub fn builder(&self) -> FunctionBuilder {
        let mut builder = FunctionBuilder::new(self.start, self.size);
        for (start, frame) in &self.rows {
            builder = builder.row(*start, *frame);
        }
        if let Some(size) = self.repeat {
            builder = builder.repeat(size);
        }
        if self.signal {
            builder = builder.signal_frame();
        }
        if self.key_b {
            builder = builder.pauth_key_b();
        }
        if self.flexible {
            builder = builder.flexible();
        }
        if let Some(fre_type) = self.fre_type {
            builder = builder.fre_type(fre_type);
        }
        builder
    }

    /// The number of bytes in which rows can start: those of the function, or of its block.
    #[must_use]
    pub fn length(&self) -> u32 {
        match self.repeat {
            None | Some(0) => self.size,
            Some(block) => self.size.min(block.into()),
        }
    }

    /// The rows as ranges of addresses. Each extends to the start of the next one, the last to the end.
    #[must_use]
    pub fn ranges(&self) -> Vec<Row> {
        let length = self.length();
        let nexts = self.rows.iter().skip(1).map(|(start, _)| *start).chain([length]);
        let range = |((start, frame), next): (&(u32, Frame), u32)| Row {
            start: self.start + u64::from(*start),
            end: self.start + u64::from(next.min(length).max(*start)),
            frame: *frame,
        };
        self.rows.iter().zip(nexts).map(range).collect()
    }
}

/// The function that a block of entropy encodes, at or after `end`; `None` if there is no space left.
pub(super) fn plan(
    block: &[u8],
    plan: &Plan,
    features: Features,
    end: u64,
) -> Option<FunctionPlan> {
    let (head, rest) = block.split_at(block.len().min(HEAD));
    let mut function =
        head_of(&mut Unstructured::new(head), plan, features, end).expect("never runs out")?;
    let kind = Kind {
        version: plan.version,
        abi: plan.abi,
        flexible: function.flexible,
        outermost: features.has(Features::OUTERMOST)
            && (plan.version == Version::V3
                || plan.version == Version::V2 && (plan.pcrel || features.warned())),
        odd: features.has(Features::ODD_FRAMES),
    };
    let count = head.first().copied().unwrap_or(0) as usize % (ROWS + 1);
    let without = features.has(Features::WITHOUT_ROWS)
        && (plan.version == Version::V3 && !function.flexible || features.warned());
    let count = if without { count } else { count.max(1) };
    for number in 0..count {
        let entropy = rest.get(number * ROW..).unwrap_or_default();
        let entropy = &entropy[..entropy.len().min(ROW)];
        let row = row(entropy, plan, features, &function, kind);
        function.rows.extend(row.expect("never runs out"));
    }
    function.fre_type = function.fre_type.map(|wanted| {
        let last = function.rows.iter().map(|(start, _)| *start).max().unwrap_or(0);
        wanted.max(FreType::for_start(last))
    });
    Some(function)
}

fn head_of(
    input: &mut Unstructured<'_>,
    plan: &Plan,
    features: Features,
    end: u64,
) -> Result<Option<FunctionPlan>> {
    // The number of rows.
    input.arbitrary::<u8>()?;
    let unit = plan.abi.instruction_alignment();
    let flexible = plan.version == Version::V3
        && features.has(Features::FLEXIBLE)
        && input.arbitrary()?
        && (!plan.abi.is_aarch64() || features.warned());
    let signal =
        plan.version == Version::V3 && features.has(Features::SIGNAL) && input.ratio(1, 4)?;
    let key_b = plan.abi.is_aarch64() && features.has(Features::KEY_B) && input.arbitrary()?;
    let repeats = features.has(Features::REPEAT) && input.arbitrary()?;
    let block = match input.int_in_range(0..=3)? {
        0 => 16,
        1 => 8,
        2 => 32,
        _ => (input.int_in_range(1..=255_u32)? / unit).max(1) * unit,
    };
    let gap = u64::from(input.arbitrary::<u8>()? / 16 * 4);
    let class = input.int_in_range(0..=7)?;
    let number: u32 = input.arbitrary()?;
    let size = match class {
        0 if features.has(Features::ODD_PLACES) => 0,
        1 if features.has(Features::LARGE) => 0x100 + number % 0xff00,
        2 if features.has(Features::LARGE) => 0x1_0000 + number % 0xf_0000,
        _ => unit + number % 0xf0,
    };
    let mut size = size / unit * unit;
    let mut start = (end + gap).next_multiple_of(unit.into());
    let mut repeat = None;
    if repeats && plan.version == Version::V1 {
        repeat = Some(0);
    } else if repeats && size > 0 {
        repeat = u8::try_from(block).ok();
        let odd = features.has(Features::ODD_PLACES) && input.arbitrary()?;
        if !odd {
            size = size.next_multiple_of(block);
            start = start.next_multiple_of(block.into());
        }
    }
    let wide = features.has(Features::WIDE).then(|| input.arbitrary().map(fre_type)).transpose()?;
    // Before the end of the address space, and within reach of a start field of 32 bits.
    let reach = plan.version == Version::V3
        || i32::try_from(start.wrapping_sub(plan.address).cast_signed() - 0x1_0000).is_ok();
    let room = start.checked_add(u64::from(size)).is_some_and(|end| end < u64::MAX - 0x10_0000);
    Ok((reach && room).then_some(FunctionPlan {
        start,
        size,
        rows: Vec::new(),
        repeat,
        signal,
        key_b,
        flexible,
        fre_type: wide,
    }))
}

/// The next row of `function`; `None` if it would start after the function's end.
fn row(
    entropy: &[u8],
    plan: &Plan,
    features: Features,
    function: &FunctionPlan,
    kind: Kind,
) -> Result<Option<(u32, Frame)>> {
    let mut input = Unstructured::new(entropy);
    let input = &mut input;
    let unit = plan.abi.instruction_alignment();
    let (class, distance): (u8, u8) = (input.arbitrary()?, input.arbitrary()?);
    let frame = frames::frame(input, kind)?;
    let odd = features.has(Features::ODD_PLACES);
    let step = match class % 8 {
        0 if odd => 0,
        1..=3 if features.has(Features::LARGE) => u32::from(distance) * 0x101,
        _ => u32::from(distance % 32),
    };
    let step = step / unit * unit;
    let start = match function.rows.last() {
        None if odd => step,
        None => 0,
        Some((last, _)) if odd => last.saturating_add(step),
        Some((last, _)) => last.saturating_add(step.max(unit)),
    };
    let length = function.length();
    let at_end = odd && function.repeat.is_none() && start == length;
    let only = length == 0 && start == 0;
    Ok((start < length || at_end || only).then_some((start, frame)))
}
