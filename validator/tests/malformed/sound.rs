//! The valid sections into which defects are put, and their rows.

use iced_x86::{Decoder, DecoderOptions};
use sframe_validator::unwind::{Cfa, Frame, Recovery, Register};
use sframe_validator::write::{FunctionBuilder, SectionBuilder, StoredSection};
use sframe_validator::{Abi, Version};

pub const AMD64: Abi = Abi::Amd64;
pub const AARCH64: Abi = Abi::Aarch64Little;
pub const S390X: Abi = Abi::S390x;
pub const V1: Version = Version::V1;
pub const V2: Version = Version::V2;
pub const V3: Version = Version::V3;

/// The length of the AMD64 instruction at the start of `code`.
pub fn instruction_length(code: &[u8]) -> Option<usize> {
    let instruction = Decoder::new(64, code, DecoderOptions::NONE).decode();
    (!instruction.is_invalid()).then(|| instruction.len())
}

/// A CFA of `base + offset`. Nothing is saved except what the ABI fixes.
pub fn based(abi: Abi, register: Register, offset: i64) -> Frame {
    let ra = match abi.fixed_ra_offset() {
        0 => Recovery::Unchanged,
        fixed => Recovery::AtCfa(i64::from(fixed)),
    };
    Frame {
        cfa: Cfa::RegisterOffset { register, offset },
        ra,
        fp: Recovery::Unchanged,
        ra_signed: false,
    }
}

/// The frame at the entry of a function.
pub fn entry(abi: Abi) -> Frame {
    let offset = match abi {
        Abi::Amd64 => 8,
        Abi::S390x => 160,
        _ => 0,
    };
    based(abi, abi.sp(), offset)
}

/// The frame once it has been set up: FP (and RA) are saved, and the CFA is based on SP.
pub fn saved(abi: Abi) -> Frame {
    match abi {
        Abi::Amd64 => Frame { fp: Recovery::AtCfa(-16), ..based(abi, abi.sp(), 16) },
        Abi::S390x => Frame {
            ra: Recovery::AtCfa(-48),
            fp: Recovery::AtCfa(-72),
            ..based(abi, abi.sp(), 320)
        },
        _ => {
            Frame { ra: Recovery::AtCfa(-8), fp: Recovery::AtCfa(-16), ..based(abi, abi.sp(), 16) }
        }
    }
}

/// The first function of every sound section: 16 bytes, rows at 0 and 4.
pub fn first(abi: Abi, start: u64) -> FunctionBuilder {
    FunctionBuilder::new(start, 16).row(0, entry(abi)).row(4, saved(abi))
}

/// The second: 16 bytes, a row at 0.
pub fn second(abi: Abi, start: u64) -> FunctionBuilder {
    FunctionBuilder::new(start, 16).row(0, entry(abi))
}

/// A section of these two functions, at 0x1000 and 0x1010.
pub fn two(version: Version, abi: Abi) -> SectionBuilder {
    of(version, abi, [first(abi, 0x1000), second(abi, 0x1010)])
}

/// A section with the given functions.
pub fn of<const N: usize>(
    version: Version,
    abi: Abi,
    functions: [FunctionBuilder; N],
) -> SectionBuilder {
    let mut builder = SectionBuilder::new(version, abi);
    for function in functions {
        builder.function(function);
    }
    builder
}

/// The bytes of a section.
pub fn bytes(builder: &SectionBuilder) -> Vec<u8> {
    builder.build().expect("the section can be written").bytes
}

/// The bytes of a section with both functions and changed header fields.
pub fn with_header(version: Version, abi: Abi, change: impl FnOnce(&mut StoredSection)) -> Vec<u8> {
    bytes(two(version, abi).with(change))
}

/// The bytes of a section whose only function is 16 bytes at 0x1000.
pub fn alone(version: Version, abi: Abi, function: FunctionBuilder) -> Vec<u8> {
    bytes(&of(version, abi, [function]))
}

/// A function of 16 bytes at 0x1000, to which rows can be added.
pub fn function() -> FunctionBuilder {
    FunctionBuilder::new(0x1000, 16)
}
