//! Compares the oracle with gimli's `UnwindTable` on bytes of CFI, row by row. Also compares both with random programs,
//! whose meaning is known.
//!
//! Malformed sections are compared as far as both can read them. Limitations of only one of the two are excluded by
//! name (`ours_alone`, `gimli_alone`).

mod rows;

use gimli::{BaseAddresses, CieOrFde, EndianSlice, RunTimeEndian, UnwindContext, UnwindSection};
use sframe_oracle::cfi::{Cfi, CfiError, CfiErrorKind, Fde, Kind, RowContext};
use sframe_validator::unwind::Row;
use sframe_validator::{Abi, Endian};

use crate::program::{Program, Scope};
use rows::difference;
use sframe_mutate::Seeded;

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// The address of the section.
const ADDRESS: u64 = 0x10_0000;
/// The start of its functions.
const CODE: u64 = 0x1000;
/// Allows every frame.
const FREE: Scope<'_> =
    Scope { for_gimli: true, in_file: false, abi: None, ops: Scope::ALL_OPS, allows: &|_, _| true };

/// The number of remembered states that gimli has space for. The oracle has more than any input needs.
const STACK: usize = 64;

/// Space for gimli's states, because its own storage has only four.
struct Storage;

impl<T: gimli::ReaderOffset> gimli::UnwindContextStorage<T> for Storage {
    type Rules = [(gimli::Register, gimli::RegisterRule<T>); 96];
    type Stack = Box<[gimli::UnwindTableRow<T, Self>; STACK]>;
}

/// Reads the input in the form that its first byte selects: the rest as a section, a program with a few changed bytes,
/// a program, or a program of only what gimli knows.
///
/// # Panics
/// Panics if the oracle and gimli, or either and the program, disagree.
pub fn run(data: &[u8]) {
    let Some((mode, data)) = data.split_first() else { return };
    match mode % 4 {
        0 => {
            let Some((choice, section)) = data.split_first() else { return };
            let kind = if choice & 1 == 0 { Kind::EhFrame } else { Kind::DebugFrame };
            let abi = Abi::ALL[usize::from(choice >> 1) % 4];
            compare(section, kind, abi, Input::Any);
        }
        1 => {
            let (seed, data) = data.split_at(data.len().min(4));
            let mut seed = Seeded::new(seed.iter().fold(0, |seed, b| seed << 8 | u64::from(*b)));
            let program = Program::new(data, CODE, &FREE);
            let section = seed.damaged(&program.section(ADDRESS));
            compare(&section, program.kind, program.abi, Input::Any);
        }
        2 => {
            let program = Program::new(data, CODE, &Scope { for_gimli: false, ..FREE });
            meant(&program, &program.section(ADDRESS));
        }
        _ => {
            let program = Program::new(data, CODE, &FREE);
            let section = program.section(ADDRESS);
            compare(&section, program.kind, program.abi, Input::Program);
            meant(&program, &section);
        }
    }
}

/// Checks that the oracle reads the rows of a program.
///
/// # Panics
/// Panics if the rows differ.
pub fn meant(program: &Program, section: &[u8]) {
    let cfi = Cfi::from_bytes(section, program.kind, ADDRESS, program.abi);
    assert_eq!(cfi.defects(), [], "{program:#?}");
    assert_eq!(cfi.functions().count(), program.functions.len());
    let mut context = RowContext::new(&cfi);
    for (function, fde) in program.functions.iter().zip(cfi.functions()) {
        let place = (fde.start().address, fde.size());
        assert_eq!(place, (function.start, u64::from(function.size)));
        let rows: Result<Vec<_>, _> = fde.rows(&mut context).collect();
        let rows = rows.unwrap_or_else(|error| panic!("{error}: {program:#?}"));
        let starts = rows.iter().map(|row| ((row.start - function.start) as u32, row.frame));
        assert_eq!(starts.collect::<Vec<_>>(), program.rows(function), "{function:#?}");
        let ends = rows.iter().map(|row| row.end - function.start);
        let nexts = rows.iter().skip(1).map(|row| row.start - function.start);
        assert!(ends.eq(nexts.chain([function.size.into()])), "{rows:#x?}");
    }
}

/// Where a section comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Input {
    /// From a program that both sides know: neither may report an error.
    Program,
    /// From any bytes.
    Any,
}

/// Compares the functions and rows of a section.
fn compare(data: &[u8], kind: Kind, abi: Abi, input: Input) {
    let order = match abi.endian() {
        Endian::Little => RunTimeEndian::Little,
        Endian::Big => RunTimeEndian::Big,
    };
    let vendor = if abi.is_aarch64() { gimli::Vendor::AArch64 } else { gimli::Vendor::Default };
    let cfi = Cfi::from_bytes(data, kind, ADDRESS, abi);
    let bases = BaseAddresses::default().set_eh_frame(ADDRESS);
    match kind {
        Kind::EhFrame => {
            let mut section = gimli::EhFrame::new(data, order);
            section.set_vendor(vendor);
            section.set_address_size(8);
            sections(&cfi, &section, &bases, input);
        }
        Kind::DebugFrame => {
            let mut section = gimli::DebugFrame::new(data, order);
            section.set_vendor(vendor);
            section.set_address_size(8);
            sections(&cfi, &section, &bases, input);
        }
    }
}

fn sections<'a, S: UnwindSection<Slice<'a>>>(
    cfi: &Cfi<'_>,
    section: &S,
    bases: &BaseAddresses,
    input: Input,
) where
    S::Offset: gimli::UnwindOffset<usize>,
{
    let mut context = RowContext::new(cfi);
    let mut peer = UnwindContext::<usize, Storage>::new_in();
    let mut entries = section.entries(bases);
    let mut count = 0;
    // gimli stops after an entry whose end is unknown, and after the terminator.
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(partial) = entry else { continue };
        let Ok(theirs) = partial.parse(S::cie_from_offset) else { continue };
        let Some(fde) = cfi.functions().find(|fde| fde.offset() == theirs.offset() as u64) else {
            // If the oracle refuses to read something, it must report a defect.
            assert!(!cfi.defects().is_empty(), "no FDE at {:#x}", theirs.offset());
            continue;
        };
        count += 1;
        let start = fde.start().address;
        assert_eq!((start, fde.size()), (theirs.initial_address(), theirs.len()));
        let column = u32::from(theirs.cie().return_address_register().0);
        assert_eq!(fde.cie().return_address.0, column);
        assert_eq!(fde.cie().signal, theirs.is_signal_trampoline());
        let table = theirs.rows(section, bases, &mut peer);
        function(&fde, table, section, &mut context, input);
    }
    assert!(
        input == Input::Any || count == cfi.len(),
        "gimli reads {count} of {} functions",
        cfi.len()
    );
}

/// Compares the rows of one function, as far as both sides have rows.
fn function<'a, S: UnwindSection<Slice<'a>>>(
    fde: &Fde<'_>,
    table: gimli::Result<gimli::UnwindTable<'_, '_, Slice<'a>, Storage>>,
    section: &S,
    context: &mut RowContext,
    input: Input,
) {
    let (mut rows, mut error) = (Vec::new(), None);
    for row in fde.rows(context) {
        match row {
            Ok(row) => rows.push(row),
            Err(found) => error = Some(found),
        }
    }
    let start = fde.start().address;
    let end = start + fde.size();
    let mut table = match table {
        Ok(table) => table,
        Err(failed) => return excuse(error, Some(failed), input, fde),
    };
    let mut pc = start;
    let mut rows: std::iter::Peekable<std::slice::Iter<'_, Row>> = rows.iter().peekable();
    loop {
        let row = match table.next_row() {
            Ok(Some(row)) => row,
            Ok(None) => {
                let whole = pc == end && rows.next().is_none();
                assert!(whole || error.is_some(), "FDE at {:#x}: rows to {pc:#x}", fde.offset());
                break excuse(error, None, input, fde);
            }
            Err(failed) => break excuse(error, Some(failed), input, fde),
        };
        // Before an error, the oracle's row may be shorter than gimli's. gimli's last row may extend past the
        // function's end.
        while pc < row.end_address().min(end) {
            let Some(own) = rows.peek().filter(|own| own.contains(pc)) else {
                assert!(error.is_some(), "FDE at {:#x}: no row for {pc:#x}", fde.offset());
                return excuse(error, None, input, fde);
            };
            if let Some(difference) = difference(fde, own, pc, row, section) {
                panic!("FDE at {:#x}, PC {pc:#x}: {} {difference}", fde.offset(), own.frame);
            }
            pc = own.end.min(row.end_address()).min(end);
            rows.next_if(|own| own.end <= pc);
        }
    }
}

/// Checks that an error of one side is allowed.
fn excuse(ours: Option<CfiError>, theirs: Option<gimli::Error>, input: Input, fde: &Fde<'_>) {
    let may_fail = input == Input::Any;
    let excused = match (&ours, &theirs) {
        (None, None) => true,
        (Some(_), Some(_)) => may_fail,
        (Some(error), None) => may_fail && ours_alone(error.kind),
        (None, Some(error)) => may_fail && gimli_alone(*error),
    };
    assert!(excused, "FDE at {:#x}: {ours:?}, {theirs:?}", fde.offset());
}

/// Errors that only the oracle reports.
const fn ours_alone(kind: CfiErrorKind) -> bool {
    matches!(
        kind,
        // If a CIE has no rule, gimli uses register 0 plus 0.
        CfiErrorKind::CfaNotRegister
            // gimli wraps, and continues past the end of the function.
            | CfiErrorKind::OffsetOverflow
            | CfiErrorKind::AddressOverflow
            | CfiErrorKind::AdvancePastEnd { .. }
            // gimli's rows are not tied to a section, so it accepts any address.
            | CfiErrorKind::SetLocBackwards { .. }
            // gimli advances, and drops the states that a CIE has left on the stack.
            | CfiErrorKind::NotInitial(_)
            | CfiErrorKind::UnbalancedRestoreState
    )
}

/// Errors that only gimli reports.
const fn gimli_alone(error: gimli::Error) -> bool {
    use gimli::Error as E;
    matches!(
        error,
        // The vendors' instructions MIPS_advance_loc8, GNU_negative_offset_extended, GNU_window_save,
        // AARCH64_negate_ra_state_with_pc.
        E::UnknownCallFrameInstruction(_)
            // gimli's registers are numbers of 16 bits, and all of them have rules.
            | E::UnsupportedRegister(_)
            | E::TooManyRegisterRules
            | E::StackFull
            // In gimli, the signing state is a register that other rules can change.
            | E::CfiInstructionInInvalidContext
    )
}
