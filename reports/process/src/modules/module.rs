//! One mapped file: where it is, and the sources of its rows.

use std::path::{Path, PathBuf};

use sframe_oracle::cfi::Cfi;
use sframe_validator::elf::{CodeNames, Elf, ElfError, PF_X, PT_LOAD, Segment};
use sframe_validator::text::Text;
use sframe_validator::unwind::{CodeAddress, Frame};

use super::Mapping;
use super::cfi::CfiSource;
use super::code::CodeSource;
use super::debug::{DebugFiles, UnusedDebugFile, WithCfi};
use super::sframe::SframeSource;
use crate::error::{FileDefect, UnusableFile};
use crate::statement::{FurtherRules, Silence, Statement, Witness};

/// The smallest size of pages on the machines that SFrame is defined for. Segments start in the page that contains their
/// first byte.
const PAGE: u64 = 0x1000;
/// The largest size of pages on these machines.
const LARGEST_PAGE: u64 = 0x1_0000;

/// A name for an address: a symbol, and the offset from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbolic<'s> {
    /// The symbol's name.
    pub name: Text<'s>,
    /// The offset in bytes from the symbol.
    pub offset: u64,
}

/// A mapped file.
pub(super) struct Module<'s> {
    name: Vec<u8>,
    /// Where the file was opened; `None` for images of memory.
    path: Option<PathBuf>,
    bytes: Result<&'s [u8], UnusableFile>,
    /// Read when it is needed first.
    parsed: Option<Result<Parsed<'s>, UnusableFile>>,
}

/// An ELF file, and what is read from it when it is needed first.
pub(super) struct Parsed<'s> {
    file: WithCfi<'s>,
    /// Its separate debug file.
    debug: Option<WithCfi<'s>>,
    /// Why a debug file is not used.
    refused: Option<UnusedDebugFile>,
    names: Option<Vec<CodeNames<'s>>>,
    sframe: Option<SframeSource<'s>>,
    cfi: Option<CfiSource<'s>>,
    code: Option<CodeSource<'s>>,
}

impl<'s> Module<'s> {
    pub(super) const fn new(
        name: Vec<u8>,
        path: Option<PathBuf>,
        bytes: Result<&'s [u8], UnusableFile>,
    ) -> Module<'s> {
        Module { name, path, bytes, parsed: None }
    }

    pub(super) fn name(&self) -> &[u8] {
        &self.name
    }

    /// Its bytes, if they can be read.
    pub(super) fn bytes(&self) -> Option<&'s [u8]> {
        self.bytes.as_ref().ok().copied()
    }

    /// Reads the file, and its debug file if `search` finds one, unless that has been done.
    pub(super) fn read(
        &mut self,
        search: Option<&DebugFiles<'s>>,
    ) -> Result<&mut Parsed<'s>, Silence> {
        let Module { name, path, bytes, parsed } = self;
        let silence = |error: &UnusableFile| Silence::File(error.to_string());
        let bytes = *bytes.as_ref().map_err(silence)?;
        let parse = || {
            let parsed = Parsed::new(bytes, search.zip(path.as_deref()));
            parsed.map_err(|error| UnusableFile::new(name, error))
        };
        parsed.get_or_insert_with(parse).as_mut().map_err(|error| silence(error))
    }

    /// Why its debug file is not used, if there is a reason.
    pub(super) fn refused(&self) -> Option<&UnusedDebugFile> {
        self.parsed.as_ref()?.as_ref().ok()?.refused.as_ref()
    }

    /// The difference between runtime addresses and the file's in a mapping that starts at `offset` in the file.
    pub(super) fn bias(&mut self, mapping: &Mapping, offset: u64) -> Result<u64, Silence> {
        let elf = &self.read(None)?.file.elf;
        let segment = segment_at(elf, mapping, offset).copied();
        let segment = segment.ok_or_else(|| {
            let error = UnusableFile::new(&self.name, FileDefect::NothingLoaded(offset));
            Silence::File(error.to_string())
        })?;
        let address = segment.address.wrapping_add(offset.wrapping_sub(segment.offset));
        Ok(mapping.start.wrapping_sub(address))
    }

    pub(super) fn statement(&mut self, witness: Witness, address: u64) -> Statement {
        let parsed = match self.read(None) {
            Ok(parsed) => parsed,
            Err(silence) => return Statement::nothing(silence),
        };
        let Parsed { file, debug, .. } = parsed;
        let sections = || cfi(file, debug.as_ref());
        match witness {
            Witness::Sframe => {
                parsed.sframe.get_or_insert_with(|| SframeSource::new(&file.elf)).at(address)
            }
            Witness::Cfi => {
                parsed.cfi.get_or_insert_with(|| CfiSource::new(sections())).at(address)
            }
            Witness::Code => {
                let new = || CodeSource::new(&file.elf, sections().unwrap_or_default());
                parsed.code.get_or_insert_with(new).at(address)
            }
        }
    }

    /// The rules of CFI at an address that `frame`, the frame there, cannot express.
    pub(super) fn further_rules(&mut self, address: u64, frame: &Frame) -> FurtherRules {
        let cfi = self.read(None).ok().and_then(|parsed| parsed.cfi.as_mut());
        cfi.map_or(FurtherRules::NONE, |cfi| cfi.further(address, frame))
    }

    pub(super) fn symbol(&mut self, address: u64) -> Option<Symbolic<'s>> {
        let place = CodeAddress::absolute(address);
        let symbol = self.names().iter().find_map(|names| names.find(place))?;
        Some(Symbolic { name: symbol.name, offset: address.checked_sub(symbol.start.address)? })
    }

    /// Whether a function symbol starts at an address.
    pub(super) fn starts_function(&mut self, address: u64) -> bool {
        let place = CodeAddress::absolute(address);
        let found = self.names().iter().find_map(|names| names.functions().find(place));
        found.is_some_and(|symbol| symbol.start == place)
    }

    /// The names in its debug file and in the file itself.
    fn names(&mut self) -> &[CodeNames<'s>] {
        let Ok(parsed) = self.read(None) else { return &[] };
        let Parsed { file, debug, names, .. } = parsed;
        names.get_or_insert_with(|| {
            // A debug file has all symbols of the file from which it was split, unless it was stripped, too.
            let files = debug.iter().chain([&*file]);
            files.map(|file| CodeNames::load(&file.elf).unwrap_or_default()).collect()
        })
    }
}

impl<'s> Parsed<'s> {
    fn new(
        bytes: &'s [u8],
        search: Option<(&DebugFiles<'s>, &Path)>,
    ) -> Result<Parsed<'s>, ElfError> {
        let elf = Elf::parse(bytes)?;
        let found = search.map_or(Ok(None), |(search, path)| search.find(path, &elf));
        let (debug, refused) = match found {
            Ok(debug) => (debug, None),
            Err(reason) => (None, Some(reason)),
        };
        let file = match search {
            Some((search, _)) => search.inflate(elf),
            None => WithCfi::plain(elf),
        };
        Ok(Parsed { file, debug, refused, names: None, sframe: None, cfi: None, code: None })
    }
}

/// The CFI sections of a file, and of its debug file.
fn cfi<'s>(file: &WithCfi<'s>, debug: Option<&WithCfi<'s>>) -> Result<Vec<Cfi<'s>>, ElfError> {
    let mut sections = file.cfi()?;
    if let Some(debug) = debug {
        sections.extend(debug.cfi()?);
    }
    Ok(sections)
}

/// The segment from which the bytes at a file offset are mapped. Two segments can share the page between them: code is
/// in an executable one, and a mapping that starts in the same page as a segment belongs to this segment.
fn segment_at<'e>(elf: &'e Elf<'_>, mapping: &Mapping, offset: u64) -> Option<&'e Segment> {
    let loads = |segment: &&Segment| segment.p_type == PT_LOAD && segment.file_size > 0;
    let is_code = |segment: &Segment| segment.flags & PF_X != 0;
    let contains = |segment: &Segment, page: u64| {
        let first = segment.offset & !(page - 1);
        let end = segment.offset.saturating_add(segment.file_size);
        first <= offset && offset < end
    };
    let best = |page: u64| {
        let all = elf.segments().iter().filter(loads).filter(|s| contains(s, page));
        all.min_by_key(|s| (is_code(s) != mapping.executable, s.offset & !(page - 1) != offset))
    };
    best(PAGE).or_else(|| best(LARGEST_PAGE))
}
