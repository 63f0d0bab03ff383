//! The CFI sections of an ELF file.

use sframe_validator::Abi;
use sframe_validator::elf::{
    Class, Elf, ElfError, ElfKind, ElfSection, RelocationTable, SHT_NOBITS,
};

use super::compression::{inflate, is_compressed};
use super::error::CfiErrorKind;
use super::layout::{Kind, Layout};
use super::pointer::{Bases, Relocations, Slice, byte_order};
use super::section::Cfi;

/// The data needed for reading a file's CFI: the file, and the decompressed bytes of compressed sections.
///
/// ```no_run
/// use sframe_oracle::cfi::CfiSource;
/// use sframe_validator::elf::Elf;
///
/// let file = std::fs::read("/usr/lib/debug/program.debug")?;
/// let elf = Elf::parse(&file)?;
/// let source = CfiSource::of(&elf);
/// for cfi in source.load_all()? {
///     println!("{}: {} functions", cfi.name(), cfi.len());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct CfiSource<'e, 'a> {
    elf: &'e Elf<'a>,
    /// By section index: the bytes, or the reason why there are none.
    inflated: Vec<(u32, Result<Vec<u8>, &'static str>)>,
}

impl<'e, 'a> CfiSource<'e, 'a> {
    /// Decompresses the compressed sections: `.debug_frame` with `SHF_COMPRESSED` (zlib or Zstandard), and
    /// `.zdebug_frame`. All other sections are read from the file.
    ///
    /// Memory is allocated as bytes are decompressed, up to 256 MiB for the whole file.
    #[must_use]
    pub fn of(elf: &'e Elf<'a>) -> CfiSource<'e, 'a> {
        CfiSource::within(elf, 1 << 28)
    }

    /// Like [`CfiSource::of`], with room for this many decompressed bytes.
    fn within(elf: &'e Elf<'a>, mut room: u64) -> CfiSource<'e, 'a> {
        let mut budget = Budget::of(elf);
        let mut inflated = Vec::new();
        for section in sections(elf).map(|(section, _)| section).filter(|s| is_compressed(s)) {
            let bytes =
                budget.bytes(elf, section).and_then(|data| inflate(elf, section, data, room));
            room -= bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
            inflated.push((section.index, bytes));
        }
        CfiSource { elf, inflated }
    }

    /// Reads every CFI section, like [`Cfi::load_all`].
    ///
    /// # Errors
    /// See [`Cfi::load_all`].
    pub fn load_all(&self) -> Result<Vec<Cfi<'_>>, ElfError> {
        load_all(self.elf, &self.inflated)
    }
}

impl<'a> Cfi<'a> {
    /// Reads every CFI section of a file, `.eh_frame` before `.debug_frame`. A section whose bytes cannot be read has
    /// one defect and no functions. A file without such sections yields none, and so does a file for a machine for
    /// which SFrame is not defined. Compressed sections are unreadable here; use [`CfiSource`] for them.
    ///
    /// # Errors
    /// [`ElfError::Malformed`] if a relocatable object's relocations cannot be read.
    pub fn load_all(elf: &Elf<'a>) -> Result<Vec<Cfi<'a>>, ElfError> {
        load_all(elf, &[])
    }
}

fn load_all<'b>(
    elf: &Elf<'b>,
    inflated: &'b [(u32, Result<Vec<u8>, &'static str>)],
) -> Result<Vec<Cfi<'b>>, ElfError> {
    let Some(abi) = elf.abi() else { return Ok(Vec::new()) };
    let loader = Loader::new(elf, abi);
    let mut budget = Budget::of(elf);
    let mut found = Vec::new();
    for (section, kind) in sections(elf) {
        let known = inflated.iter().find(|(index, _)| *index == section.index);
        let data = match known {
            Some((_, Ok(bytes))) => Ok(bytes.as_slice()),
            Some((_, Err(why))) => Err(*why),
            None if is_compressed(section) => Err("it is compressed"),
            None => budget.bytes(elf, section),
        };
        let data = data.and_then(|data| match u32::try_from(data.len()) {
            Ok(_) => Ok(data),
            Err(_) => Err("it has more than 4 GiB"),
        });
        found.push(loader.load(section, kind, data)?);
    }
    Ok(found)
}

/// What reading each section of a file needs.
struct Loader<'e, 'a> {
    elf: &'e Elf<'a>,
    abi: Abi,
    /// The address of `.text`.
    text: Option<u64>,
    /// The address of `.got`.
    got: Option<u64>,
    /// Whether Go's linker made the file. It writes `.debug_frame` for Go's functions; those of C have `.eh_frame`.
    is_of_go: bool,
}

impl<'e, 'a> Loader<'e, 'a> {
    fn new(elf: &'e Elf<'a>, abi: Abi) -> Loader<'e, 'a> {
        let address_of = |name: &[u8]| {
            elf.sections().iter().find(|section| section.name.bytes() == name).map(|s| s.address)
        };
        // The table by which Go's own runtime unwinds.
        let is_go = |section: &ElfSection<'_>| section.name.bytes().ends_with(b".gopclntab");
        let is_of_go = elf.sections().iter().any(is_go);
        Loader { elf, abi, text: address_of(b".text"), got: address_of(b".got"), is_of_go }
    }

    fn load<'b>(
        &self,
        section: &ElfSection<'_>,
        kind: Kind,
        data: Result<&'b [u8], &'static str>,
    ) -> Result<Cfi<'b>, ElfError> {
        let &Loader { elf, abi, text, got, is_of_go } = self;
        let relocations = if elf.kind() == ElfKind::Relocatable {
            let mut entries = RelocationTable::load(elf, section.index)?.relocations;
            entries.sort_by_key(|relocation| relocation.offset);
            Some(Relocations { entries, machine: elf.machine() })
        } else {
            None
        };
        let endian = byte_order(elf.endian());
        let layout = Layout {
            whole: Slice::new(data.unwrap_or_default(), endian),
            kind,
            endian,
            address_size: if elf.class() == Class::Elf32 { 4 } else { 8 },
            bases: Bases { section: section.address, text, data: got, relocations },
        };
        let mut cfi = Cfi::read(layout, abi, section.index, elf.data().len() as u64);
        cfi.keeps_registers = !is_of_go || kind != Kind::DebugFrame;
        if let Err(why) = data {
            cfi.defect(CfiErrorKind::UnreadableSection(why).at(0));
        }
        Ok(cfi)
    }
}

/// The number of bytes of sections that may still be read. Sections of sound files do not overlap, and many headers
/// that lead to the same bytes must not multiply the work.
struct Budget(u64);

impl Budget {
    fn of(elf: &Elf<'_>) -> Budget {
        Budget(elf.data().len() as u64)
    }

    fn bytes<'a>(
        &mut self,
        elf: &Elf<'a>,
        section: &ElfSection<'_>,
    ) -> Result<&'a [u8], &'static str> {
        let data = elf.section_data(section).map_err(|_| "it ends outside the file")?;
        let rest = self.0.checked_sub(data.len() as u64);
        self.0 = rest.ok_or("it shares its bytes with other sections")?;
        Ok(data)
    }
}

/// The CFI sections; those for unwinders precede those for debuggers.
fn sections<'e, 'a>(elf: &'e Elf<'a>) -> impl Iterator<Item = (&'e ElfSection<'a>, Kind)> {
    let of = |wanted| {
        let all = elf.sections().iter().filter_map(|section| Some((section, kind_of(section)?)));
        all.filter(move |(_, kind)| *kind == wanted)
    };
    of(Kind::EhFrame).chain(of(Kind::DebugFrame))
}

/// The format of a section, according to its name; `None` for NOBITS sections of debug files.
fn kind_of(section: &ElfSection<'_>) -> Option<Kind> {
    if section.sh_type == SHT_NOBITS {
        return None;
    }
    match section.name.bytes() {
        b".eh_frame" => Some(Kind::EhFrame),
        b".debug_frame" | b".zdebug_frame" => Some(Kind::DebugFrame),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use sframe_validator::write::elf::{ElfWriter, SectionHeader};

    use super::*;

    /// 16 bytes as zlib stores them uncompressed (RFC 1950 and 1951): two bytes of header, the mark of the last block,
    /// its length and the complement, the bytes, and their Adler-32 checksum, which is 0x100001 for zeros.
    const STORED: [u8; 27] = [
        0x78, 1, 1, 16, 0, 0xef, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0,
        1,
    ];

    /// Three sections of 16 bytes each, with room for 40 or 48.
    #[test]
    fn decompressed_sections_share_the_room() {
        let mut file = ElfWriter::new(Abi::Amd64, ElfKind::Executable);
        // Elf64_Chdr: ELFCOMPRESS_ZLIB, padding, size, alignment.
        let head = [[1, 0, 0, 0, 0, 0, 0, 0], 16_u64.to_le_bytes(), 8_u64.to_le_bytes()].concat();
        let header = SectionHeader { sh_type: 1, flags: 0x800, ..SectionHeader::default() };
        for _ in 0..3 {
            file.section_of(".debug_frame", &[head.as_slice(), &STORED].concat(), header);
        }
        let bytes = file.finish().expect("a file");
        let elf = Elf::parse(&bytes).expect("ELF");
        let inflated = |room| {
            let source = CfiSource::within(&elf, room);
            let of = |bytes: &Result<Vec<u8>, _>| bytes.as_ref().map(Vec::len).map_err(|why| *why);
            source.inflated.iter().map(|(_, bytes)| of(bytes)).collect::<Vec<_>>()
        };
        assert_eq!(inflated(48), [Ok(16), Ok(16), Ok(16)]);
        let full = Err("it is too large when decompressed");
        assert_eq!(inflated(40), [Ok(16), Ok(16), full]);
        assert_eq!(inflated(31), [Ok(16), full, full]);
        assert_eq!(inflated(15), [full, full, full]);
    }
}
