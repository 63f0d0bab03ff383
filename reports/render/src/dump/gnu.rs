//! The layout of GNU objdump, byte for byte, derived from the output of the tools.
//!
//! Each version is printed like the release of binutils that wrote it: version 1 like 2.40, version 2 up to 2.44, and
//! everything since the PC-relative flag like 2.47.50. Their outputs differ slightly ([`Dialect`]). If a release
//! crashes, or prints a row that is not in the section, there is no output to imitate: a line that starts with
//! `sframe-check:` says so.

use std::io::{self, Write};

use sframe_validator::elf::{EM_AARCH64, EM_S390, EM_X86_64, Elf};
use sframe_validator::section::{
    Control, Error, Flags, FrameRowEntry, Function, FunctionEntry, FunctionInfo, RowBudget,
    S390X_CFA_ADJUSTMENT, S390X_CFA_FACTOR, Starts,
};
use sframe_validator::unwind::Register;
use sframe_validator::{Abi, Endian, Section, Version};

use super::line::Line;
use sframe_input::SectionSource;

/// The binutils release whose output is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Dialect {
    /// Version 1.
    Binutils240,
    /// Version 2 with section-relative start fields. 2.44 does not support s390x.
    Binutils244,
    /// All newer sections.
    Binutils247,
}

impl Dialect {
    fn of(section: &Section<'_>) -> Dialect {
        let header = section.header();
        match header.version {
            Version::V1 => Dialect::Binutils240,
            Version::V2 if !header.flags.pcrel() && header.abi_arch != Abi::S390x.id() => {
                Dialect::Binutils244
            }
            Version::V2 | Version::V3 => Dialect::Binutils247,
        }
    }

    const fn release(self) -> &'static str {
        match self {
            Dialect::Binutils240 => "2.40",
            Dialect::Binutils244 => "2.44",
            Dialect::Binutils247 => "2.47.50",
        }
    }

    /// The maximum number of data words for which the release does not read past the end of a buffer.
    const fn max_words(self) -> usize {
        match self {
            Dialect::Binutils240 | Dialect::Binutils244 => 3,
            Dialect::Binutils247 => 6,
        }
    }

    /// Whether the release does not crash on a row that starts at `start` in a function of `size` bytes.
    const fn survives(self, start: u32, size: u32) -> bool {
        match self {
            Dialect::Binutils240 | Dialect::Binutils244 => start < size || size == 0 && start == 0,
            Dialect::Binutils247 => start <= size,
        }
    }
}

/// The name of the file's format in binutils.
pub(super) fn target(elf: &Elf<'_>) -> &'static str {
    match (elf.machine(), elf.endian()) {
        (EM_X86_64, _) => "elf64-x86-64",
        (EM_AARCH64, Endian::Little) => "elf64-littleaarch64",
        (EM_AARCH64, Endian::Big) => "elf64-bigaarch64",
        (EM_S390, _) => "elf64-s390",
        (_, Endian::Little) => "elf64-little",
        (_, Endian::Big) => "elf64-big",
    }
}

/// Prints the section, and returns the number of places that could not be printed as binutils does.
pub(super) fn write(
    out: &mut dyn Write,
    source: &SectionSource<'_>,
    section: &Section<'_>,
) -> io::Result<u64> {
    let mut writer = Writer {
        out,
        line: Line::new(),
        dialect: Dialect::of(section),
        section,
        budget: section.row_budget(),
        notes: 0,
    };
    writer.header(&source.name)?;
    for entry in section.entries() {
        writer.function(source, entry)?;
    }
    if section.entry_count() < section.header().num_fdes {
        let (there, stored) = (section.entry_count(), section.header().num_fdes);
        writer.note(&format!("the section ends after {there} of {stored} functions"))?;
    }
    Ok(writer.notes)
}

struct Writer<'w, 's> {
    out: &'w mut dyn Write,
    line: Line,
    dialect: Dialect,
    section: &'s Section<'s>,
    budget: RowBudget,
    notes: u64,
}

impl Writer<'_, '_> {
    fn header(&mut self, name: &str) -> io::Result<()> {
        let header = self.section.header();
        writeln!(self.out, "Contents of the SFrame section {name}:")?;
        writeln!(self.out, "  Header :\n")?;
        writeln!(self.out, "    Version: SFRAME_VERSION_{}", header.version.number())?;
        writeln!(self.out, "    Flags: {}", self.flags())?;
        if self.dialect > Dialect::Binutils240 {
            let fixed = [("FP", header.cfa_fixed_fp_offset), ("RA", header.cfa_fixed_ra_offset)];
            for (register, offset) in fixed.iter().filter(|(_, offset)| *offset != 0) {
                writeln!(self.out, "    CFA fixed {register} offset: {offset}")?;
            }
        }
        // Like the size of a function, binutils prints these two as signed numbers.
        writeln!(self.out, "    Num FDEs: {}", header.num_fdes.cast_signed())?;
        writeln!(self.out, "    Num FREs: {}\n", header.num_fres.cast_signed())?;
        writeln!(self.out, "  Function Index :")
    }

    fn flags(&self) -> String {
        const NAMES: [(u8, &str); 3] = [
            (Flags::SORTED, "SFRAME_F_FDE_SORTED"),
            (Flags::FRAME_POINTER, "SFRAME_F_FRAME_POINTER"),
            (Flags::PCREL, "SFRAME_F_FDE_FUNC_START_PCREL"),
        ];
        let set = |(bit, _): &&(u8, &str)| self.section.header().flags.0 & bit != 0;
        let mut names: Vec<&str> = NAMES.iter().filter(set).map(|(_, name)| *name).collect();
        if self.dialect < Dialect::Binutils247 {
            // Only the last name is printed.
            names.drain(..names.len().saturating_sub(1));
        }
        if names.is_empty() { "NONE".to_owned() } else { names.join(",\n           ") }
    }

    fn function(&mut self, source: &SectionSource<'_>, entry: FunctionEntry<'_>) -> io::Result<()> {
        let pc = printed_start(source, &entry);
        let (index, size) = (entry.index(), entry.size().cast_signed());
        let function = match entry.function() {
            Ok(function) => function,
            Err(error) => {
                writeln!(self.out, "\n    func idx [{index}]: pc = {pc:#x}, size = {size} bytes")?;
                return self.note_error(&error);
            }
        };
        let attributes = self.attributes(&function);
        writeln!(
            self.out,
            "\n    func idx [{index}]: pc = {pc:#x}, size = {size} bytes{attributes}"
        )?;
        let mask = if function.attributes().info.is_pc_mask() { "[m]" } else { "" };
        writeln!(
            self.out,
            "    {:<16}CFA       FP        RA           ",
            format!("STARTPC{mask}")
        )?;
        self.rows(&function, pc)
    }

    fn attributes(&self, function: &Function<'_>) -> String {
        let info = function.attributes().info;
        let mut text = String::new();
        if self.dialect == Dialect::Binutils247 {
            // Also for version 2, in which the bit has no meaning.
            let signal = if info.0 & FunctionInfo::SIGNAL != 0 { "S" } else { "" };
            let flexible = if function.is_flexible() { "F" } else { "" };
            if !signal.is_empty() || !flexible.is_empty() {
                text = format!(", attr = \"{signal}{flexible}\"");
            }
        }
        let aarch64 = Abi::from_id(self.section.header().abi_arch).is_some_and(Abi::is_aarch64);
        if aarch64 && info.pauth_key_b() {
            text.push_str(", pauth = B key");
        }
        text
    }

    fn rows(&mut self, function: &Function<'_>, pc: u64) -> io::Result<()> {
        let entries = match function.frame_row_entries() {
            Ok(entries) => entries,
            Err(error) => return self.note_error(&error),
        };
        // Rows of a repeated block are printed by their place in the block.
        let base = if function.attributes().info.is_pc_mask() { 0 } else { pc };
        let mut is_noted = false;
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => return self.note_error(&error),
            };
            if let Err(error) = self.budget.charge(&entry) {
                return self.note_error(&error);
            }
            if !self.dialect.survives(entry.start, function.size()) && !is_noted {
                is_noted = true;
                self.note(&format!(
                    "objdump {} aborts here: the row starts at or past the function's end",
                    self.dialect.release()
                ))?;
            }
            if entry.words.count() > self.dialect.max_words() {
                self.note(&format!(
                    "objdump {} cannot read the row at {:#x} with its {} data words, and repeats the one before",
                    self.dialect.release(),
                    entry.offset,
                    entry.words.count()
                ))?;
                continue;
            }
            self.row(function, &entry, base)?;
        }
        Ok(())
    }

    fn row(
        &mut self,
        function: &Function<'_>,
        row: &FrameRowEntry<'_>,
        base: u64,
    ) -> io::Result<()> {
        if function.is_flexible() && row.words.count() == 1 {
            return self.note(&format!(
                "objdump {} aborts here: the flexible row at {:#x} has one data word",
                self.dialect.release(),
                row.offset
            ));
        }
        self.line.text("    ");
        self.line.hex(base.wrapping_add(u64::from(row.start)), 16);
        self.line.text("  ");
        if row.words.count() == 0 && self.dialect == Dialect::Binutils247 {
            self.line.text("RA undefined");
            return self.line.end(self.out);
        }
        let cells = if function.is_flexible() { self.flexible(row) } else { self.default(row) };
        let start = self.line.len();
        self.cell(cells.cfa);
        self.line.pad(start, 10);
        let start = self.line.len();
        self.cell(cells.fp);
        self.line.pad(start, 10);
        let start = self.line.len();
        self.cell(cells.ra);
        self.line.text(if row.info.mangled_ra() { "[s]" } else { "   " });
        self.line.pad(start, 13);
        self.line.end(self.out)
    }

    fn default(&self, row: &FrameRowEntry<'_>) -> Cells {
        let header = self.section.header();
        let words = &row.words;
        let base = if row.info.base_is_sp() { "sp+" } else { "fp+" };
        // Releases before 2.47.50 print their error code for the missing word.
        let cfa =
            Cell::Default { base, offset: words.signed(0).map_or(-1, |w| self.cfa_offset(w)) };
        let old = self.dialect == Dialect::Binutils240;
        let mut next = 1;
        let ra = if header.cfa_fixed_ra_offset == 0 {
            next += 1;
            match words.signed(1) {
                None => Cell::Text("u"),
                Some(0) if self.dialect == Dialect::Binutils247 => Cell::Text("U"),
                Some(word) => self.saved(word),
            }
        } else {
            Cell::Text(if old { "u" } else { "f" })
        };
        let fp = match header.cfa_fixed_fp_offset {
            0 => words.signed(next).map_or(Cell::Text("u"), |word| self.saved(word)),
            _ if old => Cell::Text("u"),
            fixed => Cell::FromCfa(i32::from(fixed)),
        };
        Cells { cfa, fp, ra }
    }

    fn saved(&self, word: i32) -> Cell {
        let header = self.section.header();
        let in_register = header.version == Version::V2 && header.abi_arch == Abi::S390x.id();
        if in_register && word & 1 != 0 { Cell::InRegister(word >> 1) } else { Cell::FromCfa(word) }
    }

    fn flexible(&self, row: &FrameRowEntry<'_>) -> Cells {
        let words = &row.words;
        let rule = |index: usize| {
            let control = Control(words.unsigned(index)?);
            Some(Cell::Rule { control, offset: words.signed(index + 1)? })
        };
        let fixed_ra = self.section.header().cfa_fixed_ra_offset != 0;
        let cfa = match rule(0) {
            Some(Cell::Rule { control, offset }) => {
                Cell::Rule { control, offset: self.cfa_offset(offset) }
            }
            other => other.unwrap_or(Cell::Text("u")),
        };
        // Binutils treats a third word of 0 as padding, regardless of the number of words after it.
        let (ra, fp) = match words.unsigned(2) {
            None => (Some(Cell::Text(if fixed_ra { "f" } else { "u" })), None),
            Some(0) => (Some(Cell::Text("U")), rule(3)),
            Some(_) => (rule(2), rule(4)),
        };
        let unchanged = Cell::Text("u");
        Cells { cfa, fp: fp.unwrap_or(unchanged), ra: ra.unwrap_or(unchanged) }
    }

    /// Computed in 32 bits, like in binutils.
    #[allow(clippy::cast_possible_truncation, reason = "both constants fit")]
    fn cfa_offset(&self, word: i32) -> i32 {
        let (factor, adjustment) = (S390X_CFA_FACTOR as i32, S390X_CFA_ADJUSTMENT as i32);
        let scaled = self.dialect == Dialect::Binutils247
            && self.section.header().abi_arch == Abi::S390x.id();
        if scaled { word.wrapping_mul(factor).wrapping_add(adjustment) } else { word }
    }

    fn cell(&mut self, cell: Cell) {
        match cell {
            Cell::Text(text) => self.line.text(text),
            Cell::Default { base, offset } => {
                self.line.text(base);
                self.line.decimal(offset.into());
            }
            Cell::FromCfa(offset) => {
                self.line.text("c");
                self.line.signed(offset.into());
            }
            Cell::InRegister(register) => {
                self.line.text("r");
                self.line.decimal(register.into());
            }
            Cell::Rule { control, offset } => {
                let in_memory = control.reg_p() && control.deref_p();
                self.line.text(if in_memory { "(" } else { "" });
                if control.reg_p() {
                    self.register(control.register())
                } else {
                    self.line.text("c")
                }
                self.line.signed(offset.into());
                self.line.text(if in_memory { ")" } else { "" });
            }
        }
    }

    fn register(&mut self, register: Register) {
        match Abi::from_id(self.section.header().abi_arch) {
            Some(abi) if abi.sp() == register => self.line.text("sp"),
            Some(abi) if abi.fp() == register => self.line.text("fp"),
            _ => {
                self.line.text("r");
                self.line.decimal(register.0.into());
            }
        }
    }

    fn note_error(&mut self, error: &Error) -> io::Result<()> {
        self.note(&format!("objdump {} has no sound output here: {error}", self.dialect.release()))
    }

    fn note(&mut self, what: &str) -> io::Result<()> {
        self.notes += 1;
        writeln!(self.out, "sframe-check: {what}")
    }
}

/// The columns of a row.
struct Cells {
    cfa: Cell,
    fp: Cell,
    ra: Cell,
}

#[derive(Clone, Copy)]
enum Cell {
    /// `u` unchanged, `f` fixed, `U` undefined.
    Text(&'static str),
    /// `sp+8`, and `sp+-8`.
    Default { base: &'static str, offset: i32 },
    /// `c-16`.
    FromCfa(i32),
    /// `r14`.
    InRegister(i32),
    /// `r10+0`, `(fp-8)`.
    Rule { control: Control, offset: i32 },
}

/// The start address in the output of objdump, which applies the relocations of a relocatable object to PC-relative
/// start fields, but not to section-relative ones.
fn printed_start(source: &SectionSource<'_>, entry: &FunctionEntry<'_>) -> u64 {
    let value = entry.start_field().cast_unsigned();
    let pcrel = source.data.get(3).is_some_and(|flags| Flags(*flags).pcrel());
    let relocated = matches!(source.placement.starts, Starts::Relocated(_));
    let address = source.placement.address;
    match entry.start() {
        Ok(start) if !relocated || pcrel => start.address,
        _ if pcrel => address.wrapping_add(entry.offset()).wrapping_add(value),
        _ => address.wrapping_add(value),
    }
}
