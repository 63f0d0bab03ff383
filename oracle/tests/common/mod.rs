//! Code that the tests share: the corpus's files, and gimli's tables as the reference, with which every function and
//! row of a file's CFI is compared.
//!
//! Expressions that the reader turns into plain rules are not compared by shape. gimli evaluates the expression with
//! made-up registers and memory, and the rule must give the same number.

#![allow(dead_code, unreachable_pub, reason = "shared by several test programs")]

pub mod by_hand;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gimli::{
    BaseAddresses, CfaRule, CieOrFde, EndianSlice, EvaluationResult, RegisterRule, RunTimeEndian,
    UnwindContext, UnwindSection,
};
use object::{Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationKind};
use sframe_oracle::account::{Account, Options, Witnesses, account};
use sframe_oracle::cfi::{Cfi, CfiError, CfiErrorKind, Fde, Kind, RowContext};
use sframe_validator::Section;
use sframe_validator::elf::Elf;
use sframe_validator::finding::Keep;
use sframe_validator::unwind::{Cfa, Expression, Frame, Recovery, Row};

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// The numbers of compared items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub files: usize,
    pub functions: usize,
    /// The number of rows in gimli's tables.
    pub rows: usize,
    /// The number of the reader's rows, where equal adjacent rows count as one.
    pub merged: usize,
    /// The number of rules that are expressions in gimli and plain in the reader.
    pub simplified: usize,
    /// The number of entries that neither can read.
    pub unreadable: usize,
}

impl Counts {
    pub fn add(&mut self, other: Counts) {
        self.files += other.files;
        self.functions += other.functions;
        self.rows += other.rows;
        self.merged += other.merged;
        self.simplified += other.simplified;
        self.unreadable += other.unreadable;
    }
}

/// ELF files and archives below a folder, recognised by content, in order. Links are not followed.
pub fn elf_files(root: &Path) -> Vec<PathBuf> {
    let is_elf = |path: &PathBuf| {
        let mut magic = [0; 8];
        let read = std::fs::File::open(path)
            .and_then(|mut file| std::io::Read::read(&mut file, &mut magic));
        read.is_ok() && (magic.starts_with(b"\x7fELF") || &magic == b"!<arch>\n")
    };
    sframe_corpus::files(root).into_iter().filter(is_elf).collect()
}

pub fn golden_files() -> Vec<PathBuf> {
    let files = elf_files(&sframe_corpus::corpus().join("golden"));
    assert!(files.len() > 300, "only {} golden files", files.len());
    files
}

/// Calls `with` with the parts of a file.
pub fn open<T>(data: &[u8], with: impl FnOnce(&Elf<'_>, &[Section<'_>], &[Cfi<'_>]) -> T) -> T {
    let elf = Elf::parse(data).expect("ELF");
    let contents: Vec<_> = elf.sframe_contents().collect();
    let sections: Vec<_> = contents
        .iter()
        .filter_map(|sframe| {
            let placement = sframe.placement().expect("readable").with_abi(elf.abi());
            Section::parse(sframe.data.expect("in the file"), placement).ok()
        })
        .collect();
    let cfi = Cfi::load_all(&elf).expect("readable");
    with(&elf, &sections, &cfi)
}

/// The ELF files in a file: itself, or an archive's members.
pub fn members(data: &[u8]) -> Vec<&[u8]> {
    let Ok(archive) = object::read::archive::ArchiveFile::parse(data) else { return vec![data] };
    let members = archive.members().flatten().filter_map(|member| member.data(data).ok());
    members.filter(|data| data.starts_with(b"\x7fELF")).collect()
}

/// Keeps everything, with each range on its own.
pub const ALL: Options = Options {
    keep: Keep::All,
    pedantic: true,
    witnesses: Witnesses::Cfi,
    functions_without_entry: 1000,
};
/// Keeps everything, with differences grouped by pattern.
pub const ALL_BY_PATTERN: Options = Options { keep: Keep::First(usize::MAX), ..ALL };

/// The bytes of a golden file.
pub fn golden(name: &str) -> Vec<u8> {
    sframe_corpus::read(&format!("golden/{name}"))
}

/// The account of a golden file.
pub fn of_file(name: &str, options: &Options, look: impl FnOnce(&Account<'_>)) {
    open(&golden(name), |elf, sections, cfi| look(&account(elf, sections, cfi, options)));
}

/// Counts by rule name.
pub fn counts(account: &Account<'_>) -> BTreeMap<&'static str, u64> {
    account.counts.iter().map(|(rule, count)| (rule.name, *count)).collect()
}

/// Compares every member of a file.
pub fn compare(data: &[u8]) -> Result<Counts, String> {
    let mut counts = Counts::default();
    for member in members(data) {
        counts.add(compare_member(member)?);
    }
    Ok(counts)
}

/// A section with its relocations applied, for gimli.
struct Relocated {
    data: Vec<u8>,
    address: u64,
}

/// The address of each section: its own or, in an object, a chosen one.
fn base(file: &object::File<'_>, section: usize) -> u64 {
    if file.kind() != object::ObjectKind::Relocatable {
        return 0;
    }
    let before = file.sections().filter(|s| s.index().0 < section);
    0x1000 + before.map(|s| s.size().next_multiple_of(64) + 64).sum::<u64>()
}

/// The section's bytes with the relocations that `object` finds, and with augmentation letters that gimli does not know
/// replaced by one that it does.
fn relocated(file: &object::File<'_>, section: &object::Section<'_, '_>) -> Relocated {
    let mut data = section.data().unwrap_or_default().to_vec();
    let relocatable = file.kind() == object::ObjectKind::Relocatable;
    let address = base(file, section.index().0) + section.address();
    let little = file.is_little_endian();
    for (offset, relocation) in section.relocations().filter(|_| relocatable) {
        let object::RelocationTarget::Symbol(symbol) = relocation.target() else { continue };
        let Ok(symbol) = file.symbol_by_index(symbol) else { continue };
        let Some(target) = symbol.section_index() else { continue };
        let RelocationFlags::Elf { .. } = relocation.flags() else { continue };
        let value = base(file, target.0)
            .wrapping_add(symbol.address())
            .wrapping_add(relocation.addend().cast_unsigned());
        let value = match relocation.kind() {
            RelocationKind::Absolute => value,
            RelocationKind::Relative => value.wrapping_sub(address + offset),
            other => panic!("relocation {other:?} at {offset:#x}"),
        };
        let width = usize::from(relocation.size()) / 8;
        let start = usize::try_from(offset).expect("in memory");
        let bytes: Vec<u8> = if little {
            value.to_le_bytes()[..width].to_vec()
        } else {
            value.to_be_bytes()[8 - width..].to_vec()
        };
        data[start..start + width].copy_from_slice(&bytes);
    }
    for known in [&b"zPLRB\0"[..], b"zRB\0", b"zRBS\0", b"zRSB\0", b"zPLRG\0", b"zRG\0"] {
        let places: Vec<usize> = data
            .windows(known.len())
            .enumerate()
            .filter(|(_, w)| *w == known)
            .map(|f| f.0)
            .collect();
        for place in places {
            for byte in &mut data[place..place + known.len()] {
                if matches!(byte, b'B' | b'G') {
                    *byte = b'S';
                }
            }
        }
    }
    Relocated { data, address }
}

fn compare_member(data: &[u8]) -> Result<Counts, String> {
    let mut counts = Counts { files: 1, ..Counts::default() };
    let elf = Elf::parse(data).map_err(|error| error.to_string())?;
    let ours = Cfi::load_all(&elf).map_err(|error| error.to_string())?;
    let file = object::File::parse(data).map_err(|error| error.to_string())?;
    for cfi in &ours {
        // A stripped object has lost the relocations that give addresses, so the reader finds no functions; gimli uses
        // the stored fields. gimli also does not know that bytes are compressed.
        let lost = |e: &CfiError| {
            use CfiErrorKind::{MissingRelocation, UnreadableSection, UnresolvedRelocation};
            matches!(e.kind, MissingRelocation | UnreadableSection(_) | UnresolvedRelocation)
        };
        if cfi.is_empty() && !cfi.defects().is_empty() && cfi.defects().iter().all(lost) {
            counts.unreadable += cfi.defects().len();
            continue;
        }
        let index = usize::try_from(cfi.section()).expect("small");
        let section = file.section_by_index(object::SectionIndex(index)).expect("the same table");
        let truth = relocated(&file, &section);
        let address_of = |name| file.section_by_name(name).map(|section| section.address());
        let mut bases = BaseAddresses::default().set_eh_frame(truth.address);
        if let Some(text) = address_of(".text") {
            bases = bases.set_text(text);
        }
        if let Some(got) = address_of(".got") {
            bases = bases.set_got(got);
        }
        let order =
            if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let place = |section: u32| base(&file, usize::try_from(section).expect("small"));
        let arm = elf.machine() == 183;
        let vendor = if arm { gimli::Vendor::AArch64 } else { gimli::Vendor::Default };
        let size = if file.is_64() { 8 } else { 4 };
        let result = match cfi.kind().expect("a section") {
            Kind::EhFrame => {
                let mut section = gimli::EhFrame::new(&truth.data, order);
                section.set_vendor(vendor);
                section.set_address_size(size);
                compare_section(cfi, &section, &bases, place, &mut counts)
            }
            Kind::DebugFrame => {
                let mut section = gimli::DebugFrame::new(&truth.data, order);
                section.set_vendor(vendor);
                section.set_address_size(size);
                compare_section(cfi, &section, &bases, place, &mut counts)
            }
        };
        result.map_err(|error| format!("{:?}: {error}", cfi.kind()))?;
    }
    Ok(counts)
}

fn compare_section<'a, S: UnwindSection<Slice<'a>>>(
    cfi: &Cfi<'_>,
    section: &S,
    bases: &BaseAddresses,
    place: impl Fn(u32) -> u64,
    counts: &mut Counts,
) -> Result<(), String>
where
    S::Offset: gimli::UnwindOffset<usize>,
{
    let mut ours = cfi.functions();
    let mut context = RowContext::new(cfi);
    let mut peer = UnwindContext::new();
    let mut entries = section.entries(bases);
    while let Some(entry) = entries.next().map_err(|error| format!("gimli: {error}"))? {
        let CieOrFde::Fde(partial) = entry else { continue };
        let theirs = match partial.parse(S::cie_from_offset) {
            Ok(fde) => fde,
            Err(_) => {
                counts.unreadable += 1;
                continue;
            }
        };
        let fde = ours.next().ok_or("gimli has more functions")?;
        let at = fde.offset();
        let check = |what: &str, equal: bool| {
            if equal { Ok(()) } else { Err(format!("FDE at {at:#x}: {what} differs")) }
        };
        let shift = place(fde.start().section);
        check("offset", at == theirs.offset() as u64)?;
        check("start", fde.start().address.wrapping_add(shift) == theirs.initial_address())?;
        check("size", fde.size() == theirs.len())?;
        let column = u32::from(theirs.cie().return_address_register().0);
        check("return column", fde.cie().return_address.0 == column)?;
        let signal = fde.cie().signal || fde.cie().pauth_key_b || fde.cie().tagged;
        check("signal", signal == theirs.is_signal_trampoline())?;
        counts.functions += 1;

        let mut rows = Vec::new();
        let mut error = None;
        for row in fde.rows(&mut context) {
            match row {
                Ok(row) => rows.push(row),
                Err(found) => error = Some(found),
            }
        }
        counts.merged += rows.len();
        let mut table =
            theirs.rows(section, bases, &mut peer).map_err(|e| format!("{at:#x}: {e}"))?;
        let mut rows = rows.iter().peekable();
        let mut pc = fde.start().address;
        loop {
            let row = match table.next_row() {
                Ok(Some(row)) => row,
                Ok(None) => break,
                // Both must stop somewhere.
                Err(_) if error.is_some() => {
                    counts.unreadable += 1;
                    break;
                }
                Err(other) => return Err(format!("FDE at {at:#x}: only gimli fails: {other}")),
            };
            counts.rows += 1;
            let end = row.end_address().wrapping_sub(shift).min(fde.start().address + fde.size());
            let start = row.start_address().wrapping_sub(shift);
            check("row start", start == pc || start >= end)?;
            while pc < end {
                let Some(own) = rows.peek() else {
                    return Err(format!("FDE at {at:#x}: no row for {pc:#x} ({error:?})"));
                };
                if !own.contains(pc) {
                    return Err(format!("FDE at {at:#x}: {own:x?} does not have {pc:#x}"));
                }
                same(&fde, own, pc.wrapping_add(shift), row, section, counts)
                    .map_err(|e| format!("FDE at {at:#x}, PC {pc:#x}: {} {e}", own.frame))?;
                pc = own.end.min(end);
                if own.end <= end {
                    rows.next();
                }
            }
        }
        check("number of rows", rows.next().is_none())?;
        check("end", error.is_some() || pc == fde.start().address + fde.size())?;
    }
    if let Some(more) = ours.next() {
        return Err(format!("gimli has no FDE at {:#x}", more.offset()));
    }
    Ok(())
}

fn same<'a, S: UnwindSection<Slice<'a>>>(
    fde: &Fde<'_>,
    own: &Row,
    pc: u64,
    row: &gimli::UnwindTableRow<usize>,
    section: &S,
    counts: &mut Counts,
) -> Result<(), String> {
    let abi = fde.cfi().abi();
    let bytes = |expression: &gimli::UnwindExpression<usize>| {
        expression.get(section).expect("in the section").0.slice()
    };
    let own_bytes = |expression: Expression| fde.cfi().expression(expression);
    let cfa_equal = match row.cfa() {
        CfaRule::RegisterAndOffset { register, offset } => {
            own.frame.cfa
                == Cfa::RegisterOffset {
                    register: sframe_validator::unwind::Register(register.0.into()),
                    offset: *offset,
                }
        }
        CfaRule::Expression(expression) => match own.frame.cfa {
            Cfa::Expression(own) => own_bytes(own) == bytes(expression),
            Cfa::RegisterOffset { register, offset } => {
                counts.simplified += 1;
                evaluate(bytes(expression), None, pc) == Some(made_up(register.0, pc, offset))
            }
            Cfa::Dereference { register, offset } => {
                counts.simplified += 1;
                let address = made_up(register.0, pc, offset);
                evaluate(bytes(expression), None, pc) == Some(memory(address))
            }
            Cfa::DereferencePlus { register, offset, plus } => {
                counts.simplified += 1;
                let address = made_up(register.0, pc, offset.into());
                let value = memory(address).wrapping_add_signed(plus.into());
                evaluate(bytes(expression), None, pc) == Some(value)
            }
            Cfa::Undefined => false,
        },
    };
    // For a CIE without a CFA rule, gimli's rule is register 0 plus 0.
    let unset = own.frame.cfa == Cfa::Undefined
        && matches!(row.cfa(), CfaRule::RegisterAndOffset { register, offset: 0 } if register.0 == 0);
    if !cfa_equal && !unset {
        return Err(format!("CFA {:?}", row.cfa()));
    }
    for (column, rule) in [(fde.cie().return_address, own.frame.ra), (abi.fp(), own.frame.fp)] {
        let number = u16::try_from(column.0).expect("few registers");
        let theirs = row.register(gimli::Register(number));
        let equal = match theirs {
            None | Some(RegisterRule::SameValue) => rule == Recovery::Unchanged,
            Some(RegisterRule::Undefined) => rule == Recovery::Undefined,
            Some(RegisterRule::Offset(offset)) => rule == Recovery::AtCfa(offset),
            Some(RegisterRule::ValOffset(offset)) => rule == Recovery::CfaOffset(offset),
            Some(RegisterRule::Register(gimli::Register(saved))) if saved == number => {
                rule == Recovery::Unchanged
            }
            Some(RegisterRule::Register(saved)) => {
                let register = sframe_validator::unwind::Register(saved.0.into());
                rule == Recovery::RegisterOffset { register, offset: 0 }
            }
            Some(RegisterRule::Expression(expression)) => match rule {
                Recovery::AtExpression(own) => own_bytes(own) == bytes(&expression),
                _ => {
                    counts.simplified += 1;
                    evaluate(bytes(&expression), Some(CFA), pc).map(memory) == value(rule, pc)
                }
            },
            Some(RegisterRule::ValExpression(expression)) => match rule {
                Recovery::Expression(own) => own_bytes(own) == bytes(&expression),
                _ => {
                    counts.simplified += 1;
                    evaluate(bytes(&expression), Some(CFA), pc) == value(rule, pc)
                }
            },
            _ => false,
        };
        if !equal {
            return Err(format!("register {column} {theirs:?}"));
        }
    }
    if abi.is_aarch64() {
        let signed = match row.register(gimli::AArch64::RA_SIGN_STATE) {
            Some(RegisterRule::Constant(value)) => value & 1 != 0,
            _ => false,
        };
        if signed != own.frame.ra_signed {
            return Err(format!("RA signed {signed}"));
        }
    }
    Ok(())
}

/// The value of the CFA, if an expression uses it.
const CFA: u64 = 0x7fff_1234_5000;

/// The value of a register plus an offset. The PC's column on AMD64 contains the PC.
fn made_up(register: u32, pc: u64, offset: i64) -> u64 {
    let value = if register == 16 { pc } else { (u64::from(register) + 3) * 0x1_0001_0010 };
    value.wrapping_add(offset.cast_unsigned())
}

/// The content of memory at an address.
fn memory(address: u64) -> u64 {
    address.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17)
}

/// The value that a plain rule gives.
fn value(rule: Recovery, pc: u64) -> Option<u64> {
    let cfa = |offset: i64| CFA.wrapping_add(offset.cast_unsigned());
    match rule {
        Recovery::AtCfa(offset) => Some(memory(cfa(offset))),
        Recovery::CfaOffset(offset) => Some(cfa(offset)),
        Recovery::AtRegister { register, offset } => Some(memory(made_up(register.0, pc, offset))),
        Recovery::RegisterOffset { register, offset } => Some(made_up(register.0, pc, offset)),
        _ => None,
    }
}

/// gimli's own evaluation of an expression.
fn evaluate(bytes: &[u8], initial: Option<u64>, pc: u64) -> Option<u64> {
    let encoding = gimli::Encoding { address_size: 8, format: gimli::Format::Dwarf32, version: 5 };
    let slice = EndianSlice::new(bytes, RunTimeEndian::Little);
    let mut evaluation = gimli::Expression(slice).evaluation(encoding);
    if let Some(initial) = initial {
        evaluation.set_initial_value(initial);
    }
    let mut result = evaluation.evaluate().ok()?;
    loop {
        result = match result {
            EvaluationResult::Complete => break,
            EvaluationResult::RequiresRegister { register, .. } => {
                let value = made_up(register.0.into(), pc, 0);
                evaluation.resume_with_register(gimli::Value::Generic(value)).ok()?
            }
            EvaluationResult::RequiresMemory { address, .. } => {
                evaluation.resume_with_memory(gimli::Value::Generic(memory(address))).ok()?
            }
            EvaluationResult::RequiresCallFrameCfa => {
                evaluation.resume_with_call_frame_cfa(CFA).ok()?
            }
            _ => return None,
        };
    }
    match evaluation.as_result().first()?.location {
        gimli::Location::Address { address } => Some(address),
        _ => None,
    }
}

/// A short way to write a frame in tables.
pub fn frame(cfa: Cfa, ra: Recovery, fp: Recovery) -> Frame {
    Frame { cfa, ra, fp, ra_signed: false }
}
