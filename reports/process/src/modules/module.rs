//! One mapped file: where it is, and the sources of its rows.

use sframe_validator::elf::{Elf, PF_X, PT_LOAD, Segment, SymbolTable};
use sframe_validator::text::Text;
use sframe_validator::unwind::{CodeAddress, Frame};

use super::cfi::CfiSource;
use super::code::CodeSource;
use super::sframe::SframeSource;
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
    bytes: Result<&'s [u8], String>,
    /// Read when it is needed first.
    parsed: Option<Result<Parsed<'s>, String>>,
}

/// An ELF file, and what is read from it when it is needed first.
struct Parsed<'s> {
    elf: Elf<'s>,
    symbols: Option<SymbolTable<'s>>,
    sframe: Option<SframeSource<'s>>,
    cfi: Option<CfiSource<'s>>,
    code: Option<CodeSource<'s>>,
}

impl<'s> Module<'s> {
    pub(super) const fn new(name: Vec<u8>, bytes: Result<&'s [u8], String>) -> Module<'s> {
        Module { name, bytes, parsed: None }
    }

    pub(super) fn name(&self) -> &[u8] {
        &self.name
    }

    pub(super) fn bytes(&self) -> Result<&'s [u8], String> {
        self.bytes.clone()
    }

    fn parsed(&mut self) -> Result<&mut Parsed<'s>, String> {
        let bytes = &self.bytes;
        let parsed = self.parsed.get_or_insert_with(|| Parsed::new(bytes.clone()?));
        parsed.as_mut().map_err(|reason| reason.clone())
    }

    /// The difference between runtime addresses and the file's in a mapping that starts at `start` and at `offset` in
    /// the file.
    pub(super) fn bias(
        &mut self,
        start: u64,
        offset: u64,
        executable: bool,
    ) -> Result<u64, String> {
        let elf = &self.parsed()?.elf;
        let segment = segment_at(elf, offset, executable);
        let segment = segment.ok_or_else(|| {
            format!("its program headers load nothing from file offset {offset:#x}")
        })?;
        Ok(start.wrapping_sub(segment.address.wrapping_add(offset.wrapping_sub(segment.offset))))
    }

    pub(super) fn statement(&mut self, witness: Witness, address: u64) -> Statement {
        let parsed = match self.parsed() {
            Ok(parsed) => parsed,
            Err(reason) => return Statement::nothing(Silence::File(reason)),
        };
        let elf = &parsed.elf;
        match witness {
            Witness::Sframe => {
                parsed.sframe.get_or_insert_with(|| SframeSource::new(elf)).at(address)
            }
            Witness::Cfi => parsed.cfi.get_or_insert_with(|| CfiSource::new(elf)).at(address),
            Witness::Code => parsed.code.get_or_insert_with(|| CodeSource::new(elf)).at(address),
        }
    }

    /// The rules of CFI at an address that `frame`, the frame there, cannot express.
    pub(super) fn further_rules(&mut self, address: u64, frame: &Frame) -> FurtherRules {
        let cfi = self.parsed().ok().and_then(|parsed| parsed.cfi.as_mut());
        cfi.map_or(FurtherRules::NONE, |cfi| cfi.further(address, frame))
    }

    pub(super) fn symbol(&mut self, address: u64) -> Option<Symbolic<'s>> {
        let parsed = self.parsed().ok()?;
        let elf = &parsed.elf;
        let symbols =
            parsed.symbols.get_or_insert_with(|| SymbolTable::load(elf).unwrap_or_default());
        let symbol = symbols.find(CodeAddress::absolute(address))?;
        Some(Symbolic { name: symbol.name, offset: address.checked_sub(symbol.start.address)? })
    }
}

impl<'s> Parsed<'s> {
    fn new(bytes: &'s [u8]) -> Result<Parsed<'s>, String> {
        let elf = Elf::parse(bytes).map_err(|error| error.to_string())?;
        Ok(Parsed { elf, symbols: None, sframe: None, cfi: None, code: None })
    }
}

/// The segment from which the bytes at a file offset are mapped. Two segments can share the page between them: code is
/// in an executable one, and a mapping that starts in the same page as a segment belongs to this segment.
fn segment_at<'e>(elf: &'e Elf<'_>, offset: u64, executable: bool) -> Option<&'e Segment> {
    let loads = |segment: &&Segment| segment.p_type == PT_LOAD && segment.file_size > 0;
    let is_code = |segment: &Segment| segment.flags & PF_X != 0;
    let contains = |segment: &Segment, page: u64| {
        let first = segment.offset & !(page - 1);
        let end = segment.offset.saturating_add(segment.file_size);
        first <= offset && offset < end
    };
    let best = |page: u64| {
        let all = elf.segments().iter().filter(loads).filter(|s| contains(s, page));
        all.min_by_key(|s| (is_code(s) != executable, s.offset & !(page - 1) != offset))
    };
    best(PAGE).or_else(|| best(LARGEST_PAGE))
}
