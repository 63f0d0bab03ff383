//! Writes the assembly: a comment at the top, then each code section with its functions.

use std::io::{self, Write};

use sframe_validator::elf::{Elf, SymbolTable};
use sframe_validator::{Abi, Endian};

use super::SECTION_SYMBOL;
use super::directive;
use super::functions::{CodeSection, Function, Plan};
use super::labels::{Label, Labels, section_name};
use super::placed::Placed;
use super::rules::State;
use super::settled::Settled;

/// The maximum alignment of sections, which is more than a page of any machine.
const MAX_ALIGNMENT: u64 = 1 << 16;

pub(super) fn write(
    plan: &Plan<'_>,
    elf: &Elf<'_>,
    abi: Abi,
    name: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    head(out, abi, name)?;
    // Names help people who read the assembly, and `--thorough` on the rebuilt file to find the entries of functions.
    let symbols = SymbolTable::load(elf).unwrap_or_default();
    let mut labels = Labels::new(&symbols, elf.data().len());
    let at_entry = State::at_entry(abi);
    let mut settled = Settled::default();
    for section in &plan.sections {
        Body { out, endian: abi.endian(), data: section.data, written: 0 }.write(
            section,
            &mut labels,
            &at_entry,
            &mut settled,
        )?;
    }
    Ok(())
}

/// Writes a comment that explains what the assembly is and how to use it.
fn head(out: &mut dyn Write, abi: Abi, name: &str) -> io::Result<()> {
    let (machine, order) = match abi {
        Abi::Amd64 => ("x86_64", ""),
        Abi::Aarch64Little => ("aarch64", ""),
        Abi::Aarch64Big => ("aarch64", " -EB"),
        Abi::S390x => ("s390x", ""),
    };
    writeln!(out, "# Code and call frame information of {name}, by sframe-check reassemble.")?;
    writeln!(out, "#")?;
    writeln!(out, "#   {machine}-linux-gnu-as{order} --gsframe THIS.s -o rebuilt.o")?;
    if abi == Abi::Amd64 {
        // The only machine for which LLVM emits SFrame.
        writeln!(out, "# or")?;
        writeln!(
            out,
            "#   llvm-mc -triple=x86_64-linux-gnu -filetype=obj --gsframe THIS.s -o rebuilt.o"
        )?;
        writeln!(out, "# and")?;
    }
    writeln!(out, "#   {machine}-linux-gnu-ld{order} -shared rebuilt.o -o rebuilt.so")?;
    writeln!(out, "#   sframe-check rebuilt.so")?;
    writeln!(out, "#   sframe-check reassemble FILE --compare rebuilt.so")?;
    writeln!(out, "\t.section .note.GNU-stack,\"\",@progbits")
}

/// A section being written.
struct Body<'w, 'c> {
    out: &'w mut dyn Write,
    endian: Endian,
    data: &'c [u8],
    /// The number of its bytes written so far.
    written: usize,
}

impl Body<'_, '_> {
    fn write(
        mut self,
        code: &CodeSection<'_>,
        labels: &mut Labels<'_, '_>,
        at_entry: &State<'_>,
        settled: &mut Settled,
    ) -> io::Result<()> {
        let alignment = code.section.alignment.clamp(1, MAX_ALIGNMENT);
        let alignment = if alignment.is_power_of_two() { alignment } else { 1 };
        writeln!(self.out)?;
        let name = section_name(code.section.name.bytes());
        writeln!(self.out, "\t.section {name},\"ax\",@progbits")?;
        writeln!(self.out, "\t.balign {alignment}")?;
        writeln!(self.out, "\"{SECTION_SYMBOL}{}\":", code.section.index)?;
        for function in &code.functions {
            self.bytes_to(function.offset)?;
            self.function(function, &labels.of(function.fde.start()), at_entry, settled)?;
        }
        self.bytes_to(self.data.len() as u64)
    }

    fn function(
        &mut self,
        function: &Function<'_>,
        label: &Label,
        at_entry: &State<'_>,
        settled: &mut Settled,
    ) -> io::Result<()> {
        let size = function.fde.size();
        let Label { name, is_function } = label;
        writeln!(self.out)?;
        if *is_function {
            // A part of a function must not have this type: `--thorough` takes the place for one that is called.
            writeln!(self.out, "\t.type \"{name}\", @function")?;
        }
        writeln!(self.out, "\t.size \"{name}\", {size}")?;
        writeln!(self.out, "\"{name}\":")?;
        let is_pinned = settled.pins(function, at_entry);
        directive::start(self.out, function)?;
        if is_pinned {
            directive::nop(self.out)?;
        }
        directive::initial_state(self.out, function, at_entry)?;
        let mut machine = function.machine();
        // Functions whose instructions cannot be evaluated have been left out before.
        for (at, instruction) in Placed::of(&function.fde).flatten() {
            self.bytes_to(function.offset + at)?;
            if machine.apply(&instruction, |_| {}).is_ok() {
                directive::instruction(self.out, &instruction, &machine, at_entry)?;
            }
        }
        self.bytes_to(function.offset + size)?;
        self.out.write_all(b"\t.cfi_endproc\n")
    }

    /// Writes the section's bytes up to `offset`.
    fn bytes_to(&mut self, offset: u64) -> io::Result<()> {
        let end = usize::try_from(offset).unwrap_or(usize::MAX);
        let bytes = self.data.get(self.written..end).unwrap_or_default();
        self.written += bytes.len();
        for line in bytes.chunks(32) {
            let (words, rest) = line.as_chunks::<8>();
            let mut before = "\t.8byte ";
            for word in words {
                let value = match self.endian {
                    Endian::Little => u64::from_le_bytes(*word),
                    Endian::Big => u64::from_be_bytes(*word),
                };
                write!(self.out, "{before}{value:#x}")?;
                before = ",";
            }
            if !words.is_empty() {
                writeln!(self.out)?;
            }
            let mut before = "\t.byte ";
            for byte in rest {
                write!(self.out, "{before}{byte:#x}")?;
                before = ",";
            }
            if !rest.is_empty() {
                writeln!(self.out)?;
            }
        }
        Ok(())
    }
}
