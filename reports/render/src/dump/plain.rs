//! Our own layout: every field of the header with its meaning, every function with its symbol and attributes, and
//! every row with its section offset, its address and its content.

use std::io::{self, Write};

use sframe_validator::elf::{Elf, SymbolTable};
use sframe_validator::section::{
    Error, FieldPlace, Flags, FrameRowEntry, FreType, Function, FunctionEntry, Header, RowBudget,
    RowLayout, field,
};
use sframe_validator::unwind::{Cfa, CodeAddress, Recovery, Register};
use sframe_validator::{Abi, Section, Version};

use super::line::Line;
use super::{Selection, endian_name, is_relocatable};
use crate::function_name::source_name;
use sframe_input::SectionSource;

/// The section and its file.
pub(super) struct SectionInFile<'p, 'a> {
    pub(super) name: &'p str,
    pub(super) source: &'p SectionSource<'a>,
    pub(super) file: Option<(&'p Elf<'a>, &'p SymbolTable<'a>)>,
}

/// Prints the section, and returns the number of places that could not be read.
pub(super) fn write(
    out: &mut dyn Write,
    place: &SectionInFile<'_, '_>,
    section: &Section<'_>,
    selection: &Selection,
) -> io::Result<u64> {
    let mut writer = Writer {
        out,
        line: Line::new(),
        place,
        section,
        budget: section.row_budget(),
        pc_width: pc_width(section),
        unreadable: 0,
    };
    writer.title()?;
    if selection.is_all() {
        writer.header()?;
    }
    let symbols = place.file.map(|(_, symbols)| symbols);
    for entry in section.entries().filter(|entry| selection.contains(entry, symbols)) {
        writer.function(&entry)?;
    }
    if !selection.is_all() {
        return Ok(writer.unreadable);
    }
    if let Some(Err(error)) = section.functions().skip(section.entry_count() as usize).last() {
        writeln!(writer.out)?;
        writer.unreadable(&error)?;
    }
    Ok(writer.unreadable)
}

/// The number of digits of the highest address, so that all addresses in the section are aligned.
fn pc_width(section: &Section<'_>) -> usize {
    let ends = section.entries().filter_map(|entry| {
        let start = entry.start().ok()?;
        Some(start.address.saturating_add(u64::from(entry.size())))
    });
    let highest = ends.max().unwrap_or(0);
    (64 - highest.leading_zeros()).div_ceil(4).max(4) as usize
}

struct Writer<'w, 's> {
    out: &'w mut dyn Write,
    line: Line,
    place: &'w SectionInFile<'w, 'w>,
    section: &'s Section<'s>,
    budget: RowBudget,
    pc_width: usize,
    unreadable: u64,
}

impl Writer<'_, '_> {
    fn title(&mut self) -> io::Result<()> {
        let header = self.section.header();
        let source = self.place.source;
        let machine = self.section.abi().map_or("unknown ABI", Abi::name);
        writeln!(
            self.out,
            "{}: {}, SFrame version {}, {machine}, {}",
            self.place.name,
            source.name,
            header.version.number(),
            endian_name(self.section.endian()),
        )?;
        let relocatable = self.place.file.is_some_and(|(elf, _)| is_relocatable(elf));
        let address = if relocatable {
            "relocatable".to_owned()
        } else {
            format!("address {:#x}", source.placement.address)
        };
        let size = source.data.len();
        writeln!(self.out, "{address}, file offset {:#x}, {size} bytes", source.file_offset)
    }

    fn header(&mut self) -> io::Result<()> {
        let header = *self.section.header();
        writeln!(self.out, "\nHeader")?;
        for (place, value, meaning) in header_fields(&header) {
            let FieldPlace { offset, name, .. } = place;
            let line = format!("  {offset:#04x}  {name:<24} {value:<10} {meaning}");
            writeln!(self.out, "{}", line.trim_end())?;
        }
        if header.auxhdr_len > 0 {
            let end = usize::try_from(header.size()).unwrap_or(usize::MAX);
            let bytes = self.section.data();
            let auxiliary = bytes.get(28..end.min(bytes.len())).unwrap_or_default();
            let hex: Vec<String> = auxiliary.iter().map(|byte| format!("{byte:02x}")).collect();
            writeln!(self.out, "  0x1c  {:<24} {}", "auxiliary header", hex.join(" "))?;
        }
        Ok(())
    }

    fn function(&mut self, entry: &FunctionEntry<'_>) -> io::Result<()> {
        writeln!(self.out)?;
        let start = entry.start();
        let what = match start {
            Ok(start) => self.describe(start, entry.size()),
            Err(_) => format!("at an unknown address, {} bytes", entry.size()),
        };
        writeln!(self.out, "Function {} {what}", entry.index())?;
        if let Err(error) = start {
            self.unreadable(&error)?;
        }
        let function = match entry.function() {
            Ok(function) => function,
            Err(error) => {
                writeln!(self.out, "  entry {:#x}", entry.offset())?;
                return self.unreadable(&error);
            }
        };
        writeln!(self.out, "  {}", attributes(&function))?;
        if let Err(error) = function.repeat_size() {
            self.unreadable(&error)?;
        }
        self.rows(&function, start.ok())
    }

    /// For instance `name at [0x1000, 0x1010), 16 bytes`, or `name at .text+0x10, ...` in a relocatable object.
    fn describe(&self, start: CodeAddress, size: u32) -> String {
        let symbol = self.place.file.and_then(|(_, symbols)| symbols.find(start));
        let mut text = String::new();
        if let Some(symbol) = symbol {
            let inside = start.address.wrapping_sub(symbol.start.address);
            text = source_name(symbol.name.bytes());
            if inside != 0 {
                text.push_str(&format!("+{inside:#x}"));
            }
            text.push(' ');
        }
        let (prefix, at) = (self.section_prefix(start), start.address);
        let end = at.wrapping_add(u64::from(size));
        text.push_str(&format!("at {prefix}{at:#x}..{end:#x}, {size} bytes"));
        text
    }

    /// `.text+` in a relocatable object.
    fn section_prefix(&self, start: CodeAddress) -> String {
        let Some((elf, _)) = self.place.file.filter(|(elf, _)| is_relocatable(elf)) else {
            return String::new();
        };
        match elf.section(start.section) {
            Some(section) => format!("{}+", section.name),
            None => format!("section {}+", start.section),
        }
    }

    fn rows(&mut self, function: &Function<'_>, start: Option<CodeAddress>) -> io::Result<()> {
        let count = function.num_rows();
        if count == 0 {
            let outermost = self.section.header().version == Version::V3 && !function.is_flexible();
            let meaning = if outermost {
                "no rows: an outermost frame, or code not described"
            } else {
                "no rows"
            };
            return writeln!(self.out, "  {meaning}");
        }
        let (entries, layout) = match (function.frame_row_entries(), RowLayout::of(function)) {
            (Ok(entries), Ok(layout)) => (entries, layout),
            (Err(error), _) | (_, Err(error)) => return self.unreadable(&error),
        };
        self.row_titles(function)?;
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => return self.unreadable(&error),
            };
            if let Err(error) = self.budget.charge(&entry) {
                return self.unreadable(&error);
            }
            self.row(function, &layout, &entry, start)?;
        }
        Ok(())
    }

    fn row_titles(&mut self, function: &Function<'_>) -> io::Result<()> {
        let in_block = function.attributes().info.is_pc_mask();
        self.line.text("  ");
        self.column("offset", 8);
        self.column(if in_block { "in block" } else { "address" }, self.pc_width + 2);
        self.column("CFA", CFA_WIDTH);
        self.column("RA", RA_WIDTH);
        self.line.text("FP");
        self.line.end(self.out)
    }

    fn column(&mut self, text: &str, width: usize) {
        let start = self.line.len();
        self.line.text(text);
        self.line.pad(start, width);
        self.line.text("  ");
    }

    fn row(
        &mut self,
        function: &Function<'_>,
        layout: &RowLayout,
        row: &FrameRowEntry<'_>,
        start: Option<CodeAddress>,
    ) -> io::Result<()> {
        let begin = self.line.len();
        self.line.text("  0x");
        self.line.hex(row.offset, 1);
        self.line.pad(begin, 10);
        self.line.text("  ");
        let begin = self.line.len();
        match start.filter(|_| !function.attributes().info.is_pc_mask()) {
            Some(start) => {
                self.line.text("0x");
                self.line.hex(start.address.wrapping_add(u64::from(row.start)), 1);
            }
            None => {
                self.line.text("+0x");
                self.line.hex(u64::from(row.start), 1);
            }
        }
        self.line.pad(begin, self.pc_width + 2);
        self.line.text("  ");
        let frame = match layout.interpret(row) {
            Ok(frame) => frame,
            Err(error) => {
                self.unreadable += 1;
                self.line.text("unreadable: ");
                self.line.text(&error.to_string());
                return self.line.end(self.out);
            }
        };
        let begin = self.line.len();
        cfa(&mut self.line, layout.abi, frame.cfa);
        self.line.pad(begin, CFA_WIDTH);
        self.line.text("  ");
        let begin = self.line.len();
        recovery(&mut self.line, layout.abi, frame.ra);
        if frame.ra_signed {
            self.line.text(" signed");
        }
        self.line.pad(begin, RA_WIDTH);
        self.line.text("  ");
        recovery(&mut self.line, layout.abi, frame.fp);
        self.line.end_trimmed(self.out)
    }

    fn unreadable(&mut self, error: &Error) -> io::Result<()> {
        self.unreadable += 1;
        writeln!(self.out, "  unreadable: {error}")
    }
}

const CFA_WIDTH: usize = 14;
const RA_WIDTH: usize = 16;

type HeaderField = (FieldPlace, String, String);

fn header_fields(header: &Header) -> [HeaderField; 12] {
    let hex = |number: u64| format!("{number:#x}");
    let fixed =
        |value: i8| if value == 0 { "not fixed".to_owned() } else { format!("CFA{value:+}") };
    let abi = Abi::from_id(header.abi_arch).map_or("unknown".to_owned(), |abi| {
        format!("{}, {}", abi.name(), endian_name(abi.endian()))
    });
    let range = |start: u64, end: u64| format!("section offsets {start:#x} to {end:#x}");
    let functions = range(header.fde_table_start(), header.fde_table_end());
    let rows = range(header.fre_start(), header.fre_end());
    [
        (field::MAGIC, "0xdee2".to_owned(), String::new()),
        (field::VERSION, header.version.number().to_string(), String::new()),
        (field::FLAGS, format!("{:#04x}", header.flags.0), flag_names(header.flags)),
        (field::ABI_ARCH, header.abi_arch.to_string(), abi),
        (
            field::FIXED_FP,
            header.cfa_fixed_fp_offset.to_string(),
            fixed(header.cfa_fixed_fp_offset),
        ),
        (
            field::FIXED_RA,
            header.cfa_fixed_ra_offset.to_string(),
            fixed(header.cfa_fixed_ra_offset),
        ),
        (field::AUXHDR_LEN, header.auxhdr_len.to_string(), String::new()),
        (field::NUM_FDES, header.num_fdes.to_string(), "functions".to_owned()),
        (field::NUM_FRES, header.num_fres.to_string(), "rows".to_owned()),
        (field::FRE_LEN, hex(header.fre_len.into()), "bytes of rows".to_owned()),
        (field::FDEOFF, hex(header.fdeoff.into()), functions),
        (field::FREOFF, hex(header.freoff.into()), rows),
    ]
}

fn flag_names(flags: Flags) -> String {
    const NAMES: [(u8, &str); 3] = [
        (Flags::SORTED, "FDE_SORTED"),
        (Flags::FRAME_POINTER, "FRAME_POINTER"),
        (Flags::PCREL, "FDE_FUNC_START_PCREL"),
    ];
    let mut names: Vec<String> = NAMES
        .iter()
        .filter(|(bit, _)| flags.0 & bit != 0)
        .map(|(_, name)| (*name).to_owned())
        .collect();
    let unknown = flags.0 & !(Flags::SORTED | Flags::FRAME_POINTER | Flags::PCREL);
    if unknown != 0 {
        names.push(format!("unknown {unknown:#04x}"));
    }
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// `entry 0x1c, rows at 0x6e0 (ADDR1), 2 rows, signal frame, ...`.
fn attributes(function: &Function<'_>) -> String {
    let attributes = function.attributes();
    let kind = match function.fre_type() {
        Ok(FreType::Addr1) => "ADDR1",
        Ok(FreType::Addr2) => "ADDR2",
        Ok(FreType::Addr4) => "ADDR4",
        Err(_) => "unknown FRE type",
    };
    let mut parts = vec![
        format!("entry {:#x}", function.entry().offset()),
        format!("rows at {:#x}", function.first_row_offset()),
        format!("{} of {kind}", attributes.num_fres),
    ];
    if attributes.info.is_pc_mask() {
        parts.push(match attributes.rep_size {
            0 => "repeated blocks of unknown size (PCMASK)".to_owned(),
            size => format!("repeated every {size} bytes (PCMASK)"),
        });
    }
    if function.is_signal_frame() {
        parts.push("signal frame".to_owned());
    }
    if function.is_flexible() {
        parts.push("flexible rows".to_owned());
    }
    let aarch64 = function.section().abi().is_ok_and(Abi::is_aarch64);
    if aarch64 && attributes.info.pauth_key_b() {
        parts.push("return addresses signed with key B".to_owned());
    }
    parts.join(", ")
}

fn register(line: &mut Line, abi: Abi, register: Register) {
    match abi.register_name(register) {
        Some(name) => line.text(name),
        None => {
            line.text("r");
            line.decimal(register.0.into());
        }
    }
}

fn base_and_offset(line: &mut Line, abi: Abi, base: Register, offset: i64) {
    register(line, abi, base);
    line.signed(offset);
}

fn cfa(line: &mut Line, abi: Abi, cfa: Cfa) {
    match cfa {
        Cfa::RegisterOffset { register, offset } => base_and_offset(line, abi, register, offset),
        Cfa::Dereference { register, offset } => {
            line.text("*(");
            base_and_offset(line, abi, register, offset);
            line.text(")");
        }
        // SFrame has no expressions.
        Cfa::DereferencePlus { .. } | Cfa::Expression(_) | Cfa::Undefined => {
            line.text("undefined");
        }
    }
}

fn recovery(line: &mut Line, abi: Abi, recovery: Recovery) {
    match recovery {
        Recovery::Unchanged => line.text("unchanged"),
        Recovery::AtCfa(offset) => {
            line.text("*(CFA");
            line.signed(offset);
            line.text(")");
        }
        Recovery::CfaOffset(offset) => {
            line.text("CFA");
            line.signed(offset);
        }
        Recovery::AtRegister { register, offset } => {
            line.text("*(");
            base_and_offset(line, abi, register, offset);
            line.text(")");
        }
        Recovery::RegisterOffset { register: base, offset: 0 } => register(line, abi, base),
        Recovery::RegisterOffset { register, offset } => {
            base_and_offset(line, abi, register, offset);
        }
        // SFrame has no expressions.
        Recovery::AtExpression(_) | Recovery::Expression(_) | Recovery::Undefined => {
            line.text("undefined");
        }
    }
}
