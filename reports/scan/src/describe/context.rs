//! The bytes around a defect, divided into fields.

use std::ops::Range;

use sframe_record::Part;
use sframe_record::json::hex;
use sframe_validator::finding::Finding;
use sframe_validator::section::{
    FieldPlace, FreType, Function, FunctionEntry, FunctionField, HEADER_SIZE, RowInfo, field,
};
use sframe_validator::{Abi, Endian, Section, Version};

use sframe_input::SectionSource;

/// The maximum number of fields that are shown.
const MAX_PARTS: usize = 12;
/// The number of bytes of a part without a name.
const RAW_PART: u64 = 16;

/// A field, and how its value is written.
#[derive(Clone, Copy)]
struct Shown {
    place: FieldPlace,
    notation: Notation,
}

/// The usual notation of a value.
#[derive(Clone, Copy)]
enum Notation {
    /// `12 (0xc)`.
    Decimal,
    /// `0xdee2`.
    Hexadecimal,
    /// `0x03`.
    Byte,
    /// `-8`.
    Signed,
    /// `3 (AMD64, little-endian)`.
    Abi,
    /// `0x03: base SP, 1 word of 1 byte`.
    RowInfo,
    /// The bytes belong to no field.
    Raw,
}

impl Shown {
    const fn new(place: FieldPlace, notation: Notation) -> Shown {
        Shown { place, notation }
    }

    const fn end(&self) -> u64 {
        self.place.offset + self.place.size
    }
}

/// The fields around the defect of a finding, in the order of the section's bytes; empty if no bytes of the section are
/// to blame.
#[must_use]
pub fn context(finding: &Finding, source: &SectionSource<'_>) -> Vec<Part<'static>> {
    if finding.bytes.is_empty() {
        return Vec::new();
    }
    // The bytes of a function are its table entry; the blamed field may be among its attributes (V3 2.3.2).
    let shown = match finding.offset {
        Some(offset) if !finding.bytes.contains(&offset) => offset..offset.saturating_add(1),
        _ => finding.bytes.clone(),
    };
    let endian = source.section.as_ref().map_or(guess_endian(source.data), Section::endian);
    let mut places = match &source.section {
        Ok(section) => places(section, finding, &shown),
        Err(_) => header_places(&shown),
    };
    if places.is_empty() {
        places = raw_places(&shown);
    }
    let blamed = |field: &Shown| match finding.offset {
        Some(offset) => field.place.offset <= offset && offset < field.end(),
        None => field.place.offset < shown.end && shown.start < field.end(),
    };
    let part = |field| Some(Part { blamed: blamed(field), ..part(source.data, endian, field)? });
    window(&places, blamed).iter().filter_map(part).collect()
}

fn guess_endian(data: &[u8]) -> Endian {
    match data {
        [0xde, 0xe2, ..] => Endian::Big,
        _ => Endian::Little,
    }
}

/// The fields that are shown, including the blamed one.
fn window(places: &[Shown], blamed: impl Fn(&Shown) -> bool) -> &[Shown] {
    let first = places.iter().position(blamed).unwrap_or(0);
    let start = first.saturating_sub(MAX_PARTS - 2).min(places.len().saturating_sub(MAX_PARTS));
    places.get(start..places.len().min(start + MAX_PARTS)).unwrap_or_default()
}

/// The fields of the structure that contains the shown bytes.
fn places(section: &Section<'_>, finding: &Finding, shown: &Range<u64>) -> Vec<Shown> {
    if shown.start < HEADER_SIZE {
        return header_places(shown);
    }
    let entry = finding.function.and_then(|function| section.entry(function.index));
    let Some(entry) = entry else { return Vec::new() };
    let version = section.header().version;
    let table_entry = entry.offset()..entry.offset() + version.entry_size();
    if table_entry.contains(&shown.start) {
        return entry_places(&entry, version);
    }
    let block = entry.rows_offset()..entry.rows_offset() + version.attribute_size();
    if block.contains(&shown.start) {
        return block_places(&entry);
    }
    let Ok(function) = entry.function() else { return Vec::new() };
    match (finding.row, function.fre_type()) {
        (Some(_), Ok(kind)) => row_places(section, &function, kind, shown.start),
        _ => Vec::new(),
    }
}

/// The header's fields in `shown`, and one field on each side.
fn header_places(shown: &Range<u64>) -> Vec<Shown> {
    const FIELDS: [Shown; 12] = [
        Shown::new(field::MAGIC, Notation::Hexadecimal),
        Shown::new(field::VERSION, Notation::Decimal),
        Shown::new(field::FLAGS, Notation::Hexadecimal),
        Shown::new(field::ABI_ARCH, Notation::Abi),
        Shown::new(field::FIXED_FP, Notation::Signed),
        Shown::new(field::FIXED_RA, Notation::Signed),
        Shown::new(field::AUXHDR_LEN, Notation::Decimal),
        Shown::new(field::NUM_FDES, Notation::Decimal),
        Shown::new(field::NUM_FRES, Notation::Decimal),
        Shown::new(field::FRE_LEN, Notation::Decimal),
        Shown::new(field::FDEOFF, Notation::Decimal),
        Shown::new(field::FREOFF, Notation::Decimal),
    ];
    let inside = |field: &Shown| field.place.offset < shown.end && shown.start < field.end();
    let Some(first) = FIELDS.iter().position(inside) else { return Vec::new() };
    let last = FIELDS.iter().rposition(inside).unwrap_or(first);
    let range = first.saturating_sub(1)..FIELDS.len().min(last + 2);
    FIELDS.get(range).unwrap_or_default().to_vec()
}

fn entry_places(entry: &FunctionEntry<'_>, version: Version) -> Vec<Shown> {
    let fields: &[FunctionField] = match version {
        Version::V1 => &[
            FunctionField::Start,
            FunctionField::Size,
            FunctionField::FreOffset,
            FunctionField::NumFres,
            FunctionField::Info,
        ],
        Version::V2 => &[
            FunctionField::Start,
            FunctionField::Size,
            FunctionField::FreOffset,
            FunctionField::NumFres,
            FunctionField::Info,
            FunctionField::RepSize,
            FunctionField::Padding,
        ],
        Version::V3 => &[FunctionField::Start, FunctionField::Size, FunctionField::FreOffset],
    };
    fields.iter().map(|field| function_field(entry, *field)).collect()
}

fn function_field(entry: &FunctionEntry<'_>, field: FunctionField) -> Shown {
    let notation = match field {
        FunctionField::Start => Notation::Signed,
        FunctionField::Info | FunctionField::Info2 => Notation::Byte,
        _ => Notation::Decimal,
    };
    Shown::new(entry.field(field), notation)
}

/// The attributes before a function's rows (version 3).
fn block_places(entry: &FunctionEntry<'_>) -> Vec<Shown> {
    const FIELDS: [FunctionField; 4] =
        [FunctionField::NumFres, FunctionField::Info, FunctionField::Info2, FunctionField::RepSize];
    FIELDS.iter().map(|field| function_field(entry, *field)).collect()
}

fn row_places(
    section: &Section<'_>,
    function: &Function<'_>,
    kind: FreType,
    start: u64,
) -> Vec<Shown> {
    let width = kind.width() as u64;
    let address = FieldPlace { offset: start, size: width, name: "sfre_start_address" };
    let info = FieldPlace { offset: start + width, size: 1, name: "sfre_info" };
    let mut places =
        vec![Shown::new(address, Notation::Decimal), Shown::new(info, Notation::RowInfo)];
    let info = usize::try_from(start + width).ok().and_then(|at| section.data().get(at));
    let Some(info) = info.map(|info| RowInfo(*info)) else { return places };
    let size = u64::from(info.word_size().unwrap_or(1));
    let words = words(section, function, info.word_count());
    for index in 0..info.word_count() {
        let offset = start + width + 1 + u64::from(index) * size;
        let unknown = ("data word", Notation::Decimal);
        let (name, notation) = words.get(usize::from(index)).copied().unwrap_or(unknown);
        places.push(Shown::new(FieldPlace { offset, size, name }, notation));
    }
    places
}

/// The name of a data word, and how its value is written.
type Word = (&'static str, Notation);

const CFA_OFFSET: Word = ("CFA offset", Notation::Signed);
const RA_OFFSET: Word = ("RA offset", Notation::Signed);
const FP_OFFSET: Word = ("FP offset", Notation::Signed);
const CFA_CONTROL: Word = ("CFA control", Notation::Hexadecimal);
const RA_CONTROL: Word = ("RA control", Notation::Hexadecimal);
const FP_CONTROL: Word = ("FP control", Notation::Hexadecimal);
const PADDING: Word = ("padding", Notation::Decimal);

/// The data words of a row that has so many of them.
fn words(section: &Section<'_>, function: &Function<'_>, count: u8) -> &'static [Word] {
    if function.is_flexible() {
        return match count {
            5 => &[CFA_CONTROL, CFA_OFFSET, PADDING, FP_CONTROL, FP_OFFSET],
            _ => &[CFA_CONTROL, CFA_OFFSET, RA_CONTROL, RA_OFFSET, FP_CONTROL, FP_OFFSET],
        };
    }
    match section.header().cfa_fixed_ra_offset {
        0 => &[CFA_OFFSET, RA_OFFSET, FP_OFFSET],
        _ => &[CFA_OFFSET, FP_OFFSET],
    }
}

/// The first lines of bytes that are not a known field.
fn raw_places(shown: &Range<u64>) -> Vec<Shown> {
    let starts = (shown.start..shown.end).step_by(usize::try_from(RAW_PART).unwrap_or(16));
    let place = |offset| FieldPlace { offset, size: RAW_PART.min(shown.end - offset), name: "" };
    starts.take(4).map(|offset| Shown::new(place(offset), Notation::Raw)).collect()
}

/// The bytes of a field and its value; not blamed yet.
fn part(data: &[u8], endian: Endian, field: &Shown) -> Option<Part<'static>> {
    let Shown { place, notation } = field;
    let start = usize::try_from(place.offset).ok()?;
    let end = start.checked_add(usize::try_from(place.size).ok()?)?.min(data.len());
    let bytes = data.get(start..end).filter(|bytes| !bytes.is_empty())?;
    let whole = bytes.len() as u64 == place.size;
    let value = match notation {
        Notation::Raw => String::new(),
        _ if !whole => "cut off by the section's end".to_owned(),
        notation => notation.value(bytes, endian),
    };
    let (bytes, name) = (hex(bytes).into(), place.name.into());
    Some(Part { offset: place.offset, bytes, name, value: value.into(), blamed: false })
}

impl Notation {
    /// The value of these bytes.
    fn value(self, bytes: &[u8], endian: Endian) -> String {
        let unsigned = number(bytes, endian);
        match self {
            Notation::Hexadecimal => format!("{unsigned:#x}"),
            Notation::Byte => format!("{unsigned:#04x}"),
            Notation::Signed => sign_extended(unsigned, bytes.len()).to_string(),
            Notation::Abi => match u8::try_from(unsigned).ok().and_then(Abi::from_id) {
                Some(abi) => format!("{unsigned} ({abi})"),
                None => format!("{unsigned} (unknown)"),
            },
            Notation::RowInfo => row_info(RowInfo(u8::try_from(unsigned).unwrap_or(0))),
            Notation::Decimal if unsigned > 9 => format!("{unsigned} ({unsigned:#x})"),
            Notation::Decimal => unsigned.to_string(),
            Notation::Raw => String::new(),
        }
    }
}

fn row_info(info: RowInfo) -> String {
    let base = if info.base_is_sp() { "SP" } else { "FP" };
    let size = match info.word_size() {
        Some(1) => "1 byte",
        Some(2) => "2 bytes",
        Some(_) => "4 bytes",
        None => "reserved size code 3",
    };
    let words = if info.word_count() == 1 { "word" } else { "words" };
    let signed = if info.mangled_ra() { ", RA signed" } else { "" };
    format!("{:#04x}: base {base}, {} {words} of {size}{signed}", info.0, info.word_count())
}

fn number(bytes: &[u8], endian: Endian) -> u64 {
    let append = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
    match endian {
        Endian::Big => bytes.iter().fold(0, append),
        Endian::Little => bytes.iter().rev().fold(0, append),
    }
}

fn sign_extended(number: u64, bytes: usize) -> i64 {
    let unused = 64_usize.saturating_sub(8 * bytes);
    (number << unused).cast_signed() >> unused
}
