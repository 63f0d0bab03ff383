//! `sframe-check reduce FILE`.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use sframe_input::{FileBytes, Input, archive, open_file, plain_error};
use sframe_record::markdown::code_cell;
use sframe_record::numbers::counted;
use sframe_record::text::{printable, printable_path};
use sframe_record::{Finding, Owner, Record, Status, catalogue};
use sframe_reduce::assembler::{Assembler, Format, at_hand};
use sframe_reduce::directives;
use sframe_reduce::linker::Linker;
use sframe_reduce::page::HEAD;
use sframe_reduce::reduce::{Nearest, Outcome, Reduced, Task, reduce};
use sframe_reduce::report;
use sframe_reduce::source::{Code, Part};
use sframe_reduce::wanted::Wanted;
use sframe_validator::check::Options;
use sframe_validator::elf::Elf;
use sframe_validator::finding::Keep;
use sframe_validator::rules::{Group, Severity};

use super::args::reduce::ReduceArgs;
use super::output_file::{Content, OutputFile, OutputFiles};
use super::{Exit, complain, interrupt, stdout};
use sframe_scan::{CheckOptions, Checker, Collector};

/// The most findings of a file that are looked through.
const MOST_FINDINGS: usize = 1 << 20;
/// The number of other findings that are named.
const SHOWN: usize = 10;
/// What to do about the finding of a linker.
const LINKERS: &str =
    "linkers make such code or sections, and objects alone do not show it: name one with --linker";
/// The number of bytes in which the table of a page begins.
const PAGE_START: u64 = 4096;

pub(super) fn run(args: &ReduceArgs) -> io::Result<Exit> {
    let Some(options) = options(&args.finding) else {
        complain(&format!(
            "--finding: there is no rule and no known defect {:?}; `sframe-check explain` lists the rules, `explain --list-known` the \
             defects",
            printable(args.finding.as_bytes())
        ))?;
        return Ok(Exit::Failure);
    };
    let outputs = OutputFiles::of([&args.file]);
    let source = Some(&args.output).filter(|path| *path != Path::new("-"));
    for path in source.into_iter().chain(&page_path(args)) {
        outputs.check(path, Content::Report)?;
    }
    if args.page.is_none() {
        page_path(args).as_deref().map_or(Ok(()), check_page)?;
    }
    let mut programs = match found_programs(args)? {
        Ok(programs) => programs,
        Err(why) => {
            complain(&why)?;
            return Ok(Exit::Failure);
        }
    };
    let watcher = std::env::current_exe()?;
    let interrupted = interrupt::flag_for_any_end()?;
    let stop = || interrupted.load(Ordering::Relaxed);
    let (bytes, finding, whole) = match found(args, &options) {
        Ok(found) => found,
        Err(why) => {
            complain(&why)?;
            return Ok(Exit::Incomplete);
        }
    };
    if directives::are_wrong(&whole, &finding) {
        return wrong_directives(args, &whole, &finding);
    }
    let mut note = None;
    let outcome = Elf::parse(&bytes).map_err(|error| error.to_string()).and_then(|elf| {
        note = programs.complete(&elf, &whole, &finding, &watcher)?;
        let wanted = Wanted::like(&finding, &whole);
        // Code is reduced, too, so that it proves nothing about the directives.
        let of_reduced = CheckOptions { by_directives: true, ..options.clone() };
        let check = |path: &Path| record(path, &of_reduced);
        let task = Task {
            elf: &elf,
            finding: &finding,
            wanted,
            assemblers: &programs.assemblers,
            linker: programs.linker.as_ref(),
            check: &check,
            respell: args.respell,
            stop: &stop,
        };
        let outcome = reduce(&task).map_err(|error| error.to_string())?;
        bytes.intact().map_err(|error| plain_error(&error))?;
        Ok(outcome)
    });
    let exit = match outcome {
        Ok(Outcome::Reduced(reduced)) => match nothing_reduced(&reduced, &programs) {
            Some(why) => {
                complain(&about(&args.file, why))?;
                Exit::Incomplete
            }
            None => written(args, &reduced, &finding, &programs)?,
        },
        Ok(Outcome::NotShown(nearest)) => not_shown(&nearest, &finding, &programs)?,
        Ok(Outcome::Stopped) => return Ok(Exit::Interrupted),
        Err(why) => {
            complain(&about(&args.file, &why))?;
            return Ok(Exit::Incomplete);
        }
    };
    if let Some(note) = note.filter(|_| finding.owner != Owner::Linker || args.linker.is_some()) {
        writeln!(io::stderr(), "{note}")?;
    }
    Ok(exit)
}

/// Why the smallest source shows nothing to the developers of an assembler, if that is so.
fn nothing_reduced(reduced: &Reduced, programs: &Programs) -> Option<&'static str> {
    if programs.linker.is_some() {
        return None;
    }
    let is_code = |part: &Part| matches!(part, Part::Code(Code::Bytes(_)));
    let has_code = || reduced.inputs.functions().flat_map(|of| &of.parts).any(is_code);
    match reduced.finding.owner {
        Owner::Linker => Some(LINKERS),
        _ if reduced.inputs.directives() == 0 && has_code() => Some(
            "nothing was reduced: what shows the finding has no directive, only the function's bytes, and an assembler does not read those",
        ),
        _ => None,
    }
}

/// Writes the page about directives that are wrong: no assembler and no linker made the mistake.
fn wrong_directives(
    args: &ReduceArgs,
    whole: &Record<'_>,
    finding: &Finding<'_>,
) -> io::Result<Exit> {
    let page = directives::page(whole, finding, &origin(args, finding)).to_string();
    if let Some(path) = page_path(args) {
        let (file, mut out) = OutputFiles::of([&args.file]).create(&path, Content::Report)?;
        out.write_all(page.as_bytes())
            .and_then(|()| out.flush())
            .map_err(|error| io::Error::other(about(&path, &plain_error(&error))))?;
        file.finish()?;
    }
    let owner = finding.owner_in_words();
    let owner =
        owner.unwrap_or_else(|| "undecided, the compiler or the author of assembly".to_owned());
    complain(&about(
        &args.file,
        "the directives are wrong, so that no assembler shows its own mistake: nothing was reduced",
    ))?;
    let mut out = io::stderr().lock();
    writeln!(out, "{}: {}", finding.rule, finding.message)?;
    writeln!(out, "owner: {owner}")?;
    for line in directives::in_short(whole, finding) {
        writeln!(out, "{line}")?;
    }
    Ok(Exit::Incomplete)
}

/// The assemblers and the linker to use.
struct Programs {
    assemblers: Vec<Assembler>,
    linker: Option<Linker>,
}

impl Programs {
    /// Finds an assembler if none was named. Returns a sentence if the first one writes another version than the file's section
    /// has.
    fn complete(
        &mut self,
        elf: &Elf<'_>,
        whole: &Record<'_>,
        finding: &Finding<'_>,
        watcher: &Path,
    ) -> Result<Option<String>, String> {
        let abi = elf.abi().ok_or("SFrame is not defined for its machine")?;
        let section = whole.sections.get(finding.section.unwrap_or(0));
        let header = section.and_then(|section| section.header.as_ref());
        let wanted = header.map(|header| Format::of(header, abi));
        let writes = match self.assemblers.first() {
            Some(assembler) => assembler.format(abi),
            None => {
                let found = at_hand(abi, wanted, watcher);
                let (assembler, writes) = found.map_err(|error| format!("as: {error}"))?;
                self.assemblers.push(assembler);
                writes
            }
        };
        let version = self.assemblers.first().map_or("", Assembler::version);
        Ok(wanted.zip(writes).filter(|(wanted, writes)| wanted != writes).map(|(wanted, writes)| {
            let version = printable(version.as_bytes());
            format!("{version} writes {writes}: an assembler that writes {wanted}, as in the file, was not tried; --with names one")
        }))
    }

    /// The version of the one that has to show the finding.
    fn version(&self) -> String {
        let of_assembler = self.assemblers.first().map_or("", Assembler::version);
        printable(self.linker.as_ref().map_or(of_assembler, Linker::version).as_bytes())
    }
}

/// Finds the programs. The inner error is a wrong usage.
fn found_programs(args: &ReduceArgs) -> io::Result<Result<Programs, String>> {
    let watcher = std::env::current_exe()?;
    let wrong = |option: &str, command: &str, why: &str| {
        format!("{option} {}: {why}", printable(command.as_bytes()))
    };
    let mut assemblers = Vec::new();
    for command in &args.with {
        match Assembler::find(command, &watcher) {
            Ok(assembler) => assemblers.push(assembler),
            Err(error) => return Ok(Err(wrong("--with", command, &error.to_string()))),
        }
    }
    if args.linker.is_none() && assemblers.len() > 1 {
        return Ok(Err("--with: several assemblers need --linker".to_owned()));
    }
    let linker = match &args.linker {
        None => None,
        Some(command) => match Linker::find(command, &watcher) {
            Ok(linker) => Some(linker),
            Err(error) => return Ok(Err(wrong("--linker", command, &error.to_string()))),
        },
    };
    Ok(Ok(Programs { assemblers, linker }))
}

/// The options of a scan that finds what has this name; `None` if nothing has it.
fn options(name: &str) -> Option<CheckOptions> {
    let rule = catalogue::find(name);
    if rule.is_none() && sframe_defects::find(name).is_none() {
        return None;
    }
    Some(CheckOptions {
        validator: Options {
            pedantic: rule.is_some_and(|rule| rule.severity == Severity::Lint),
            keep: Keep::All,
            ..Options::default()
        },
        thorough: rule.is_some_and(|rule| rule.group == Group::Code),
        ..CheckOptions::default()
    })
}

/// Everything that is found in a file.
fn record(path: &Path, options: &CheckOptions) -> Record<'static> {
    let mut whole = Record::because(Status::Unreadable, String::new());
    let mut collector = Collector::of(MOST_FINDINGS);
    Checker::new(options).input(Input::File(path.to_owned()), &mut |piece| {
        collector.add(piece).into_iter().for_each(|record| whole = record);
    });
    whole
}

/// The file, the finding in it, and the record of the file.
fn found(
    args: &ReduceArgs,
    options: &CheckOptions,
) -> Result<(FileBytes, Finding<'static>, Record<'static>), String> {
    let system = |error| about(&args.file, &plain_error(&error));
    let bytes = FileBytes::open(&args.file).map_err(system)?;
    if archive::is_archive(&bytes) {
        return Err(about(&args.file, "an archive: take out the member"));
    }
    let record = record(&args.file, options);
    let is_named = |finding: &Finding<'_>| {
        let known = finding.known.as_ref().map(|known| known.as_str());
        finding.rule.as_str() == args.finding || known == Some(args.finding.as_str())
    };
    let is_in_function = |finding: &Finding<'_>| {
        let function = finding.function.as_ref().and_then(|of| of.symbol.as_deref());
        let symbol = function.or(finding.code.as_ref().and_then(|of| of.symbol.as_deref()));
        args.function.is_none() || symbol == args.function.as_deref()
    };
    let named = || record.findings.iter().filter(|of| is_named(of) && is_in_function(of));
    // A defect may show in several rules: an error is at its cause, a warning is a consequence.
    let finding =
        named().find(|of| of.severity == sframe_record::Severity::Error).or_else(|| named().next());
    match finding.cloned() {
        Some(finding) => Ok((bytes, finding, record)),
        None => {
            let others = names(record.findings.iter());
            let why = match (&record.reason, others.is_empty()) {
                (Some(reason), true) => reason.to_string(),
                (_, true) => "nothing was found in it".to_owned(),
                (_, false) => format!("it has no such finding, but {others}"),
            };
            Err(about(&args.file, &why))
        }
    }
}

/// The names of findings, each once.
fn names<'f>(findings: impl Iterator<Item = &'f Finding<'static>>) -> String {
    let mut names: Vec<String> = Vec::new();
    for finding in findings {
        let name = match &finding.known {
            Some(known) => format!("{} ({known})", finding.rule),
            None => finding.rule.to_string(),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(SHOWN);
    names.truncate(SHOWN);
    if more > 0 {
        names.push(format!("{more} others"));
    }
    names.join(", ")
}

/// The file and the function of a finding, as Markdown for a cell.
fn origin(args: &ReduceArgs, finding: &Finding<'_>) -> String {
    let name = args.file.file_name().map_or(args.file.as_path(), Path::new);
    let function = finding.function.as_ref().and_then(|function| function.symbol.as_ref());
    let function = function.or(finding.code.as_ref().and_then(|code| code.symbol.as_ref()));
    let name = code_cell(&printable_path(name));
    match function {
        Some(function) => format!("{name}, function {}", code_cell(function)),
        None => name,
    }
}

/// Writes the sources and the page.
fn written(
    args: &ReduceArgs,
    reduced: &Reduced,
    finding: &Finding<'_>,
    programs: &Programs,
) -> io::Result<Exit> {
    let origin = origin(args, finding);
    let used =
        report::Programs { assemblers: &programs.assemblers, linker: programs.linker.as_ref() };
    let page = match report::report(reduced, used, Some(&origin)) {
        Ok(page) => page.to_string(),
        Err(why) => {
            complain(&why)?;
            return Ok(Exit::Incomplete);
        }
    };
    let sources: Vec<_> = reduced.inputs.sources.iter().map(|of| of.source.text()).collect();
    let is_stdout = args.output == Path::new("-");
    let paths = if is_stdout { Vec::new() } else { numbered(&args.output, sources.len()) };
    let page_path = page_path(args);
    if page_path.as_ref().is_some_and(|page| paths.contains(page)) {
        complain(
            &"the assembly and the page would be the same file: name another one with --page",
        )?;
        return Ok(Exit::Failure);
    }
    if is_stdout {
        print_sources(&reduced.inputs.names("small"), &sources)?;
    }
    let texts = paths.iter().zip(&sources).chain(page_path.iter().map(|path| (path, &page)));
    let mut outputs = OutputFiles::of([&args.file]);
    let mut files = Vec::new();
    for (path, text) in texts {
        let (file, mut out) = outputs.create(path, Content::Report)?;
        out.write_all(text.as_bytes())
            .and_then(|()| out.flush())
            .map_err(|error| io::Error::other(about(path, &plain_error(&error))))?;
        files.push(file);
    }
    files.into_iter().try_for_each(OutputFile::finish)?;
    summary(reduced, programs)?;
    Ok(Exit::Clean)
}

/// The file of the page: beside the assembly, unless another one is named.
fn page_path(args: &ReduceArgs) -> Option<PathBuf> {
    let beside = || (args.output != Path::new("-")).then(|| args.output.with_extension("md"));
    args.page.clone().or_else(beside)
}

/// Checks that the place of a page that nobody has named is free, or has such a page.
fn check_page(path: &Path) -> io::Result<()> {
    let mut start = Vec::new();
    match open_file(path).and_then(|file| file.take(PAGE_START).read_to_end(&mut start)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Ok(_) if String::from_utf8_lossy(&start).contains(HEAD) => return Ok(()),
        _ => {}
    }
    let why = "the page would be written here, and this is another file, which is not replaced: name one with --page";
    Err(io::Error::other(about(path, why)))
}

/// The files of the sources: `small.s`, or `small-1.s` and so on.
fn numbered(path: &Path, count: usize) -> Vec<PathBuf> {
    if count == 1 {
        return vec![path.to_owned()];
    }
    let name = |number: usize| {
        let mut name = path.file_stem().unwrap_or_default().to_owned();
        name.push(format!("-{number}"));
        if let Some(extension) = path.extension() {
            name.push(".");
            name.push(extension);
        }
        path.with_file_name(name)
    };
    (1..=count).map(name).collect()
}

fn print_sources(names: &[String], sources: &[String]) -> io::Result<()> {
    let mut out = stdout();
    for (name, source) in names.iter().zip(sources) {
        if sources.len() > 1 {
            writeln!(out, "# {name}")?;
        }
        out.write_all(source.as_bytes())?;
    }
    out.flush()
}

/// Says on standard error what was done, because the assembly may be on standard output.
fn summary(reduced: &Reduced, programs: &Programs) -> io::Result<()> {
    let mut out = io::stderr().lock();
    let Reduced { inputs, finding, directives_before, runs, is_smallest, .. } = reduced;
    let functions = counted(inputs.count() as u64, "function");
    let functions = match (&programs.linker, inputs.sources.len()) {
        (None, _) => functions,
        (Some(_), 1) => format!("1 source, {functions}"),
        (Some(_), count) => format!("{count} sources, {functions}"),
    };
    let directives = counted(inputs.directives() as u64, "directive");
    writeln!(
        out,
        "{functions}, {directives} of {directives_before}, after {}",
        counted(*runs, "run")
    )?;
    let known = finding.known.as_ref().map_or(String::new(), |known| format!(", known: {known}"));
    writeln!(out, "{}: {}{known}", finding.rule, finding.message)?;
    writeln!(out, "{}", programs.version())?;
    if programs.linker.as_ref().is_some_and(|linker| linker.needs_libraries(&inputs.options)) {
        writeln!(out, "it depends on startup objects or the C library, which the driver adds")?;
    }
    if !is_smallest {
        writeln!(out, "not every line is needed: the most runs were reached")?;
    }
    Ok(())
}

/// Says what the programs do instead.
fn not_shown(nearest: &Nearest, finding: &Finding<'_>, programs: &Programs) -> io::Result<Exit> {
    let known = finding.known.as_ref().map_or(String::new(), |known| format!(" ({known})"));
    complain(&format!("{}{known} is not shown by {}", finding.rule, programs.version()))?;
    let is_linked = programs.linker.is_some();
    let instead = match (&nearest.refused, nearest.findings.is_empty()) {
        (Some(why), _) if is_linked => format!("it links nothing: {}", printable(why.as_bytes())),
        (Some(why), _) => format!("it makes no object: {}", printable(why.as_bytes())),
        (None, true) if is_linked => "nothing is found in what it links".to_owned(),
        (None, true) => "nothing is found in the function that it assembles".to_owned(),
        (None, false) => {
            let each = nearest.findings.iter().take(SHOWN).map(|((rule, known), count)| {
                let known = known.as_ref().map_or(String::new(), |known| format!(" ({known})"));
                format!("{count} {rule}{known}")
            });
            format!("what is found instead: {}", each.collect::<Vec<_>>().join(", "))
        }
    };
    match finding.owner {
        Owner::Linker if !is_linked => writeln!(io::stderr(), "{LINKERS}")?,
        _ => writeln!(io::stderr(), "{instead}")?,
    }
    Ok(Exit::Incomplete)
}

fn about(path: &Path, why: &str) -> String {
    format!("{}: {why}", printable_path(path))
}
