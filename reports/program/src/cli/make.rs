//! `sframe-check synthesize` and `sframe-check repair`.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use sframe_input::kind::Kind;
use sframe_input::{FileBytes, plain_error};
use sframe_oracle::cfi::{Cfi, CfiSource};
use sframe_record::numbers::{counted, grouped, percent};
use sframe_record::text::{printable, printable_path};
use sframe_repair::{Remaining, RepairError, remaining, repair};
use sframe_synthesis::{
    AssemblyError, CannotInsert, Encoding, FromCode, Insertion, Loss, Place, Synthesis, assembly,
    synthesize, synthesize_code,
};
use sframe_validator::elf::{Elf, ElfKind, SymbolTable};

mod described;

use super::args::make::{RepairArgs, SynthesizeArgs, Witness, Written};
use super::output_file::{Content, OutputFiles};
use super::{Exit, complain, styled_stdout};

pub(super) fn synthesize_file(args: &SynthesizeArgs) -> io::Result<Exit> {
    let content = match args.kind {
        Written::Elf => Content::Elf,
        Written::Raw => Content::Section,
        Written::Assembly => Content::Report,
    };
    made(&args.file, &args.output, content, |data| {
        let (bytes, made) = section(data, args)?;
        let Synthesis { account, losses, .. } = &made.section;
        let mut lines = vec![format!(
            "{} for {}, {}",
            counted(account.size, "byte"),
            counted(account.functions, "function"),
            counted(account.rows, "row")
        )];
        lines.extend(losses.iter().map(left_out));
        lines.extend(made.not_described.iter().cloned());
        // What GNU as and ld would have written has their mistakes, as asked for.
        let wrong = match (args.from, args.kind, args.encoding()) {
            (Witness::Cfi, Written::Elf, Encoding::Smallest(_)) => {
                remaining(&bytes).map_err(|error| error.to_string())?
            }
            _ => Vec::new(),
        };
        let is_right = wrong.iter().all(Remaining::is_known);
        let is_complete = losses.is_empty() && !made.is_partial && is_right;
        lines.extend(still_wrong(&wrong, DAMAGED));
        Ok(Made { bytes, lines, is_complete })
    })
}

pub(super) fn repair_file(args: &RepairArgs) -> io::Result<Exit> {
    made(&args.file, &args.output, Content::Elf, |data| {
        let repaired = repair(data).map_err(|error| cannot_repair(&error))?;
        let mut lines: Vec<String> = repaired.changes.iter().map(ToString::to_string).collect();
        if lines.is_empty() {
            lines.push("nothing to repair: it is a copy".to_owned());
        }
        lines.extend(repaired.lost.iter().map(|loss| format!("lost: {loss}")));
        lines.extend(still_wrong(&repaired.remaining, CONTRADICTED));
        let is_right = repaired.remaining.iter().all(Remaining::is_known);
        let is_complete = repaired.lost.is_empty() && is_right;
        Ok(Made { bytes: repaired.bytes, lines, is_complete })
    })
}

/// What to do about a repaired section that is still wrong, and about one that was made.
const CONTRADICTED: &str = "`sframe-check` on the new file shows each place; assemble that code again, or replace the section \
                            (of a program or library: `sframe-check synthesize --replace`)";
const DAMAGED: &str =
    "the CFI contradicts itself, or is damaged: `sframe-check` on the new file shows each place";

/// What is still wrong with the section that was written, and what to do.
fn still_wrong(remaining: &[Remaining], remedy: &str) -> Vec<String> {
    let (known, wrong): (Vec<_>, Vec<_>) = remaining.iter().partition(|wrong| wrong.is_known());
    let line = |what: &str, wrong: &Remaining| format!("{what}: {}", printable(wrong.to_string()));
    let mut lines: Vec<String> = wrong.iter().map(|wrong| line("still wrong", wrong)).collect();
    if !lines.is_empty() {
        lines.push(remedy.to_owned());
    }
    lines.extend(known.iter().map(|wrong| line("known, not caused by this file", wrong)));
    lines
}

/// A file that was made.
struct Made {
    bytes: Vec<u8>,
    /// What was done, for people.
    lines: Vec<String>,
    /// Whether nothing was left out or lost, and nothing is still wrong.
    is_complete: bool,
}

/// Makes a file from the one at `path`, and writes it to `output`. A program that is made from a program can be run, too.
fn made(
    path: &Path,
    output: &Path,
    content: Content,
    make: impl FnOnce(&[u8]) -> Result<Made, String>,
) -> io::Result<Exit> {
    let name = printable_path(path);
    if path.as_os_str() == "-" {
        complain(&"- is not the name of a file here: use a file, ./- for one with this name")?;
        return Ok(Exit::Failure);
    }
    let mut outputs = OutputFiles::of([path]);
    outputs.check(output, content)?;
    let data = FileBytes::open(path);
    let made = data.map_err(|error| plain_error(&error)).and_then(|data| {
        if let Some(reason) = container(&data) {
            return Err(reason.to_owned());
        }
        let made = make(&data)?;
        data.intact().map_err(|error| plain_error(&error))?;
        Ok(made)
    });
    let made = match made {
        Ok(made) => made,
        Err(reason) => {
            complain(&format!("{name}: {reason}"))?;
            return Ok(Exit::Incomplete);
        }
    };
    let (file, mut out) = outputs.create(output, content)?;
    out.write_all(&made.bytes).and_then(|()| out.flush()).map_err(|error| {
        io::Error::other(format!("{}: {}", printable_path(output), plain_error(&error)))
    })?;
    if content == Content::Elf {
        // As a copy: without the bits that would make it run as its owner.
        let mode = fs::metadata(path)?.permissions().mode() & 0o777;
        file.set_mode(mode)?;
    }
    drop(out);
    file.finish()?;
    let mut out = styled_stdout();
    writeln!(out, "{name} -> {}", printable_path(output))?;
    for line in made.lines {
        writeln!(out, "  {line}")?;
    }
    out.flush()?;
    Ok(if made.is_complete { Exit::Clean } else { Exit::Findings })
}

/// Why a file is not the one that is meant, and what to do: it contains such files.
fn container(data: &[u8]) -> Option<&'static str> {
    match Kind::of(data) {
        Kind::Archive => {
            Some("it is an archive: take the objects out (`ar x`), and name one of them")
        }
        Kind::Package(_) => Some("it is a package: unpack it, and name one of its files"),
        _ => None,
    }
}

/// Why a file cannot be repaired, and what can be done instead.
fn cannot_repair(error: &RepairError) -> String {
    let instead = match error {
        RepairError::NoSection => "; `sframe-check synthesize` makes one from CFI",
        RepairError::Stale { .. } => {
            "; `sframe-check synthesize --replace` replaces it by one made from CFI"
        }
        _ => "",
    };
    format!("{error}{instead}")
}

/// A section, and what a person should know about it.
struct Synthesized {
    section: Synthesis,
    /// The code that the section does not describe.
    not_described: Option<String>,
    /// Whether the section leaves out code that its witness should know.
    is_partial: bool,
}

/// Makes the section of a file for a place in it.
fn synthesized(
    elf: &Elf<'_>,
    cfi: &[Cfi<'_>],
    args: &SynthesizeArgs,
    place: Place,
) -> Result<Synthesized, String> {
    let made = match (args.from, args.encoding()) {
        (Witness::Cfi, encoding) => synthesize(elf, cfi, encoding, place).map(|section| {
            let not_described = described::without_cfi(elf, cfi);
            Synthesized { section, not_described, is_partial: false }
        }),
        (Witness::Code, Encoding::Smallest(version)) => {
            synthesize_code(elf, cfi, version, place).map(from_code)
        }
        (Witness::Code, Encoding::Gnu(_)) => {
            return Err("GNU as makes sections from CFI, so that --from code goes with a smallest encoding only".to_owned());
        }
    };
    let made = made.map_err(|error| error.to_string())?;
    match made.section.account.functions {
        0 => Err(described::nothing(elf, args.from, &made.section.losses)),
        _ => Ok(made),
    }
}

fn from_code(made: FromCode) -> Synthesized {
    let (unknown, code) = (counted(made.unknown, "byte"), grouped(made.code));
    let share = percent(made.unknown, made.code);
    let text = format!(
        "not described: {unknown} of {code} ({share}), which are padding or not understood"
    );
    let is_partial = made.unknown > 0;
    let not_described = is_partial.then_some(text);
    Synthesized { section: made.synthesis, not_described, is_partial }
}

/// The section of a file as it is written, and what it contains.
fn section(data: &[u8], args: &SynthesizeArgs) -> Result<(Vec<u8>, Synthesized), String> {
    let elf = Elf::parse(data).map_err(|error| error.to_string())?;
    let source = CfiSource::of(&elf);
    let cfi = source.load_all().map_err(|error| error.to_string())?;
    let make = |place| synthesized(&elf, &cfi, args, place);
    match args.kind {
        Written::Elf => {
            let insertion = match args.replace {
                true => Insertion::replacing(&elf),
                false => Insertion::new(&elf),
            };
            let insertion = insertion.map_err(|error| no_place(&elf, &error))?;
            let made = make(insertion.place())?;
            let file = insertion.file(&made.section.written).map_err(|error| error.to_string())?;
            Ok((file, made))
        }
        Written::Raw => {
            let made = make(Place::of(&elf))?;
            Ok((made.section.written.bytes.clone(), made))
        }
        Written::Assembly => {
            let made = make(Place::of(&elf))?;
            let symbols = SymbolTable::load(&elf).unwrap_or_default();
            let text = assembly(&elf, &symbols, &made.section.written);
            Ok((text.map_err(|error| no_source(&error))?.into_bytes(), made))
        }
    }
}

/// Why a file cannot get a section, and what can be written instead.
fn no_place(elf: &Elf<'_>, error: &CannotInsert) -> String {
    let instead = match error {
        CannotInsert::HasSframe if elf.kind() == ElfKind::Relocatable => {
            "; `sframe-check repair` corrects it, and `objcopy --remove-section .sframe` removes it, to make another one"
        }
        CannotInsert::HasSframe if elf.is_rewritten() => {
            "; BOLT has rewritten the file: --replace makes a new section"
        }
        CannotInsert::Object => {
            "; `objcopy --remove-section .sframe` removes it, to make another one"
        }
        CannotInsert::SeveralSections => {
            "; `sframe-check repair` merges those that a linker has appended"
        }
        CannotInsert::HasSframe => {
            "; `sframe-check repair` corrects it, and --replace replaces it by a new one"
        }
        _ => "",
    };
    format!("{error}{instead}")
}

/// Why a section cannot be written as assembly, and what can be written instead.
fn no_source(error: &AssemblyError) -> String {
    let instead = match error {
        AssemblyError::Linked => "; without --as, the section is added to the file",
        _ => "",
    };
    format!("{error}{instead}")
}

/// `left out: 3 functions, cfa-register, the first at 0x401000`.
fn left_out(loss: &Loss) -> String {
    let functions = counted(loss.functions, "function");
    format!(
        "left out: {functions}, {}, the first at {:#x}",
        loss.cause.name(),
        loss.example.start.address
    )
}
