//! The commands that show a finding, with their outputs.

use std::path::Path;

use sframe_record::Finding;

use super::{Programs, STEM};
use crate::assembler::{Assembler, Kind};
use crate::error::ProgramError;
use crate::page::Step;
use crate::reduce::Reduced;

/// A program of the assembler's release, and its arguments.
struct Printer {
    name: &'static str,
    options: Vec<String>,
    /// Only lines with this word.
    only: Option<&'static str>,
}

pub(super) fn steps(
    reduced: &Reduced,
    programs: Programs<'_>,
    reader: &Assembler,
) -> Result<Vec<Step>, ProgramError> {
    let inputs = &reduced.inputs;
    let mut steps = Vec::new();
    let mut objects = Vec::new();
    let messages = reduced.made.messages.iter();
    for ((name, input), output) in inputs.names(STEM).iter().zip(&inputs.sources).zip(messages) {
        let assembler = programs.assemblers.get(input.assembler).unwrap_or(reader);
        let options = assembler.options(input.source.abi).join(" ");
        let object = Path::new(name).with_extension("o").to_string_lossy().into_owned();
        let command = format!("{} {options} -o {object} {name}", assembler.name());
        // Each source has the same name when it is assembled.
        let output = output.replace("small.s:", &format!("{name}:"));
        steps.push(Step { command, output });
        objects.push(object);
    }
    let mut file = objects.concat();
    if let Some(linker) = programs.linker {
        file = linker.output_name(&inputs.options, STEM);
        let command = linker.command(&inputs.options);
        let command = format!("{command} -o {file} {}", objects.join(" "));
        let output =
            reduced.made.link_messages.replace("small-1.o", objects.first().map_or("", |o| o));
        steps.push(Step { command, output });
    }
    for printer in printers(&reduced.finding, programs, reader) {
        steps.extend(printer.run(reader, &file, &reduced.made.bytes)?);
    }
    Ok(steps)
}

fn printers(finding: &Finding<'_>, programs: Programs<'_>, reader: &Assembler) -> Vec<Printer> {
    let is_linked = programs.linker.is_some();
    let printer = |name, options: &[&str]| Printer {
        name,
        options: options.iter().map(|option| (*option).to_owned()).collect(),
        only: None,
    };
    if reader.kind() == Kind::Llvm {
        let printers =
            [printer("llvm-readobj", &["--sframe"]), printer("llvm-dwarfdump", &["--eh-frame"])];
        return printers.into();
    }
    let mut printers = Vec::new();
    if is_linked && finding.difference.is_none() {
        printers.push(Printer { only: Some("sframe"), ..printer("readelf", &["-SlW"]) });
    }
    let section = finding.elf_section.as_deref().filter(|name| name.starts_with(".plt"));
    if let Some(section) = section.filter(|_| is_linked) {
        printers.push(printer("objdump", &["-d", "-j", section]));
    }
    printers.push(printer("objdump", &["--sframe"]));
    printers.push(printer("readelf", &["-W", "--debug-dump=frames-interp"]));
    printers
}

impl Printer {
    /// `None` if the program is not beside the assembler.
    fn run(
        &self,
        reader: &Assembler,
        file: &str,
        bytes: &[u8],
    ) -> Result<Option<Step>, ProgramError> {
        let Some(program) = reader.sibling(self.name) else { return Ok(None) };
        let name = program.file_name().map(|name| name.to_string_lossy().into_owned());
        let options: Vec<&str> = self.options.iter().map(String::as_str).collect();
        let mut output = reader.print(&program, &options, (file, bytes))?;
        let mut command = format!("{} {} {file}", name.unwrap_or_default(), options.join(" "));
        if let Some(only) = self.only {
            command = format!("{command} | grep -i {only}");
            let lines = output.lines().filter(|line| line.to_lowercase().contains(only));
            output = lines.collect::<Vec<_>>().join("\n");
        }
        Ok(Some(Step { command, output }))
    }
}
