//! The smallest files around an SFrame section, linked and relocatable.

use alloc::vec::Vec;
use core::ops::Range;

use super::{ElfWriter, Relocation, SectionHeader, Symbol, TooLarge};
use crate::abi::Abi;
use crate::elf::{
    ElfKind, PF_R, PF_X, PT_GNU_SFRAME, PT_LOAD, SHF_ALLOC, SHF_EXECINSTR, SHT_GNU_SFRAME,
    SHT_NOBITS, SHT_PROGBITS, Segment,
};
use crate::section::{StartRelocation, Version};

/// If there are more bytes of code, they are not in the file.
const MOST_CODE: u64 = 0x10_0000;
const ALIGNMENT: u64 = 8;
/// A symbol of type `STT_SECTION`.
const SECTION_SYMBOL: u8 = 3;

/// A linked file: code, an SFrame section, and optionally CFI.
///
/// ```
/// use sframe_validator::elf::Elf;
/// use sframe_validator::write::SectionBuilder;
/// use sframe_validator::write::elf::Image;
/// use sframe_validator::{Abi, Version};
///
/// let section = SectionBuilder::new(Version::V3, Abi::S390x).build()?.bytes;
/// let image = Image {
///     abi: Abi::S390x,
///     code: 0x1000..0x2000,
///     sframe: (&section, 0x4000),
///     typed: true,
///     eh_frame: None,
/// };
/// let bytes = image.bytes()?;
/// let elf = Elf::parse(&bytes)?;
/// assert_eq!(elf.sframe_sections().next().map(|section| section.address), Some(0x4000));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Image<'a> {
    /// The machine, which determines the byte order.
    pub abi: Abi,
    /// The addresses of code. Its bytes are zero. If there are many, they are not in the file.
    pub code: Range<u64>,
    /// The SFrame section and its address.
    pub sframe: (&'a [u8], u64),
    /// Whether the section has the type `SHT_GNU_SFRAME`, which version 2, errata 1 introduced.
    pub typed: bool,
    /// `.eh_frame` and its address.
    pub eh_frame: Option<(&'a [u8], u64)>,
}

/// A relocatable object: code, an SFrame section, and the relocations of its start fields.
#[derive(Clone, Debug)]
pub struct Object<'a> {
    /// The machine, which determines the byte order.
    pub abi: Abi,
    /// The SFrame version, which determines the width of start fields.
    pub version: Version,
    /// The number of bytes of code, which are not in the file.
    pub code: u64,
    /// The SFrame section.
    pub sframe: &'a [u8],
    /// Whether the section has the type `SHT_GNU_SFRAME`, which version 2, errata 1 introduced.
    pub typed: bool,
    /// The places of the start fields, and the places in the code to which they refer.
    pub relocations: &'a [StartRelocation],
}

impl Image<'_> {
    /// The index of the SFrame section.
    pub const SFRAME: u32 = 2;

    /// The file's bytes.
    ///
    /// # Errors
    /// [`TooLarge`].
    pub fn bytes(&self) -> Result<Vec<u8>, TooLarge> {
        let mut file = ElfWriter::new(self.abi, ElfKind::Shared);
        file.reserve_segments(if self.eh_frame.is_some() { 4 } else { 3 });
        let size = self.code.end.saturating_sub(self.code.start);
        let present = if size <= MOST_CODE { size } else { 0 };
        let code = alloc::vec![0; usize::try_from(present).unwrap_or(0)];
        let offset = file.append(&code, ALIGNMENT);
        let header = SectionHeader {
            sh_type: if present == size { SHT_PROGBITS } else { SHT_NOBITS },
            flags: SHF_ALLOC | SHF_EXECINSTR,
            address: self.code.start,
            offset,
            size,
            alignment: ALIGNMENT,
            ..SectionHeader::default()
        };
        file.section(".text", header);
        file.segment(Segment {
            p_type: PT_LOAD,
            flags: PF_R | PF_X,
            offset,
            address: self.code.start,
            file_size: present,
            memory_size: size,
        });
        let segment = loaded(&mut file, ".sframe", sframe_type(self.typed), self.sframe);
        file.segment(Segment { p_type: PT_GNU_SFRAME, ..segment });
        if let Some(eh_frame) = self.eh_frame {
            loaded(&mut file, ".eh_frame", SHT_PROGBITS, eh_frame);
        }
        file.finish()
    }
}

/// Adds a section and the segment that loads it.
fn loaded<'a>(
    file: &mut ElfWriter<'a>,
    name: &'a str,
    sh_type: u32,
    (data, address): (&[u8], u64),
) -> Segment {
    let (offset, size) = (file.append(data, ALIGNMENT), data.len() as u64);
    let header = SectionHeader {
        sh_type,
        flags: SHF_ALLOC,
        address,
        offset,
        size,
        alignment: ALIGNMENT,
        ..SectionHeader::default()
    };
    file.section(name, header);
    let segment = Segment {
        p_type: PT_LOAD,
        flags: PF_R,
        offset,
        address,
        file_size: size,
        memory_size: size,
    };
    file.segment(segment);
    segment
}

const fn sframe_type(typed: bool) -> u32 {
    if typed { SHT_GNU_SFRAME } else { SHT_PROGBITS }
}

impl Object<'_> {
    /// The file's bytes.
    ///
    /// # Errors
    /// [`TooLarge`].
    pub fn bytes(&self) -> Result<Vec<u8>, TooLarge> {
        let mut file = ElfWriter::new(self.abi, ElfKind::Relocatable);
        let code = SectionHeader {
            sh_type: SHT_NOBITS,
            flags: SHF_ALLOC | SHF_EXECINSTR,
            offset: file.append(&[], ALIGNMENT),
            size: self.code,
            alignment: ALIGNMENT,
            ..SectionHeader::default()
        };
        let code = file.section(".text", code);
        let header = SectionHeader {
            sh_type: sframe_type(self.typed),
            flags: SHF_ALLOC,
            alignment: ALIGNMENT,
            ..SectionHeader::default()
        };
        let sframe = file.section_of(".sframe", self.sframe, header);
        let section = u16::try_from(code).map_err(|_| TooLarge)?;
        let symbol = Symbol { name: "", info: SECTION_SYMBOL, section, value: 0, size: 0 };
        let symbols = file.symbols(&[symbol])?;
        let kind = start_relocation(self.abi, self.version);
        let relocation = |relocation: &StartRelocation| Relocation {
            offset: relocation.field_offset,
            symbol: 1,
            kind,
            addend: relocation.target.map_or(0, |target| target.address.cast_signed()),
        };
        let relocations: Vec<_> = self.relocations.iter().map(relocation).collect();
        file.relocations(".rela.sframe", (sframe, symbols), &relocations);
        file.finish()
    }
}

/// The number of the ABI's PC-relative relocation for a start field of the version's width.
const fn start_relocation(abi: Abi, version: Version) -> u32 {
    let wide = matches!(version, Version::V3);
    match abi {
        Abi::Amd64 => {
            if wide {
                24
            } else {
                2
            }
        }
        Abi::Aarch64Big | Abi::Aarch64Little => {
            if wide {
                260
            } else {
                261
            }
        }
        Abi::S390x => {
            if wide {
                23
            } else {
                5
            }
        }
    }
}
