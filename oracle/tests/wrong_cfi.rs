//! The files of `corpus/wrong-cfi`, whose CFI is wrong, against the machine code, SFrame, a debugger and `llvm-mc --validate-cfi`.
//! The truth is the list `WRONG.tsv`, computed by hand, and what the processor (for AArch64, qemu) does.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a test program: it may panic"
)]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{elf_files, open};
use object::{Object, ObjectSection, ObjectSymbol};
use sframe_corpus::steps::{self, Call, Machine};
use sframe_corpus::validate_cfi::{self, Opinion, Part};
use sframe_corpus::wrong_cfi::{Caller, Place, Rules, Wrong, list};
use sframe_corpus::{corpus, folder, tools};
use sframe_oracle::cfi::{Cfi, RowContext};
use sframe_oracle::code::{KnownFacts, Program, Truth};
use sframe_oracle::compare::look_up;
use sframe_validator::Abi;
use sframe_validator::elf::Elf;
use sframe_validator::unwind::{Cfa, CodeAddress, Frame, Recovery, Row};

/// The lines of the list, by file.
fn by_file() -> BTreeMap<String, Vec<Wrong>> {
    let mut files: BTreeMap<String, Vec<Wrong>> = BTreeMap::new();
    for line in list() {
        files.entry(line.file.clone()).or_default().push(line);
    }
    files
}

fn read(file: &str) -> Vec<u8> {
    sframe_corpus::read(&format!("wrong-cfi/{file}"))
}

/// The address of a function or section.
fn address_of(data: &[u8], name: &str) -> u64 {
    let file = object::File::parse(data).expect("ELF");
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name));
    let symbol = symbol.map(|symbol| symbol.address());
    let section = || file.section_by_name(name).map(|section| section.address());
    symbol.or_else(section).unwrap_or_else(|| panic!("{name} is neither function nor section"))
}

/// A row of the list as a frame.
fn frame(abi: Abi, rules: Rules) -> Frame {
    let register = if rules.from_fp { abi.fp() } else { abi.sp() };
    let recovery = |place| match place {
        Place::Unchanged => Recovery::Unchanged,
        Place::AtCfa(offset) => Recovery::AtCfa(offset),
        Place::Lost => Recovery::Undefined,
    };
    Frame {
        cfa: Cfa::RegisterOffset { register, offset: rules.offset },
        ra: recovery(rules.ra),
        fp: recovery(rules.fp),
        ra_signed: rules.ra_signed,
    }
}

/// A frame as a row of the list.
fn rules(abi: Abi, frame: &Frame) -> Rules {
    let Cfa::RegisterOffset { register, offset } = frame.cfa else { panic!("{frame}") };
    let place = |recovery| match recovery {
        Recovery::Unchanged => Place::Unchanged,
        Recovery::AtCfa(offset) => Place::AtCfa(offset),
        _ => panic!("{frame}"),
    };
    let (ra, fp) = (place(frame.ra), place(frame.fp));
    Rules { from_fp: register == abi.fp(), offset, ra, fp, ra_signed: frame.ra_signed }
}

/// An instruction that the code witness reaches.
struct At<'f> {
    /// The start of its function.
    function: u64,
    start: u64,
    end: u64,
    /// The row of CFI.
    cfi: Option<&'f Frame>,
    facts: &'f KnownFacts<'f>,
}

/// Passes the instructions that the code witness reaches to `look`.
fn visit(data: &[u8], mut look: impl FnMut(&At<'_>)) {
    let elf = Elf::parse(data).expect("ELF");
    let all = Cfi::load_all(&elf).expect("readable");
    let Some(code) = Program::of(&elf, &[], &all) else { return };
    for range in code.functions() {
        let rows: Vec<Row> = all
            .iter()
            .find_map(|cfi| {
                let mut context = RowContext::new(cfi);
                Some(cfi.find(range.start)?.rows(&mut context).flatten().collect())
            })
            .unwrap_or_default();
        let Some(mut function) = code.function(range.start) else { continue };
        function.visit(range.start.address..range.end, |from, to, facts| {
            let cfi = rows.iter().find(|row| row.contains(from)).map(|row| &row.frame);
            let function = range.start.address;
            look(&At { function, start: from, end: to, cfi, facts: &facts });
        });
    }
}

/// Where the code is known, it refutes the rows of the list and proves the truth; it refutes nothing else.
#[test]
fn the_code_refutes_what_is_listed() {
    let mut instructions = 0;
    for (file, lines) in by_file() {
        let data = read(&file);
        let abi = Elf::parse(&data).expect("ELF").abi().expect("known");
        let mut seen = BTreeSet::new();
        visit(&data, |&At { start: at, cfi, facts, .. }| {
            let line = lines.iter().position(|line| {
                let start = address_of(&data, &line.function);
                at >= start && line.range.contains(&(at - start))
            });
            let cfi = cfi.unwrap_or_else(|| panic!("{file}: no row at {at:#x}"));
            let judged = facts.judge(cfi).whole();
            let context = format!("{file}, {at:#x}: {cfi}, {:?}", facts.proven_row());
            let Some(index) = line else {
                assert_ne!(judged, Truth::Refuted, "{context}");
                return;
            };
            let line = &lines[index];
            let mut truth = facts.judge(&frame(abi, line.truth));
            if line.truth.fp == Place::Lost {
                // There is nothing to recover.
                truth.fp = Truth::Proven;
            }
            let truth = truth.whole();
            let expected = if line.is_proven {
                (Truth::Refuted, Truth::Proven)
            } else {
                (Truth::Unknown, Truth::Proven)
            };
            assert_eq!(*cfi, frame(abi, line.cfi), "{context}");
            assert_eq!((judged, truth), expected, "{context}");
            seen.insert(index);
            instructions += 1;
        });
        assert_eq!(seen.len(), lines.len(), "{file}: lines without an instruction");
    }
    assert!(instructions > 100, "{instructions}");
}

/// SFrame, made from CFI, says the same as CFI: it is wrong in the same way.
#[test]
fn sframe_inherits_the_error() {
    for (file, lines) in by_file() {
        let data = read(&file);
        open(&data, |elf, sections, cfi| {
            let abi = elf.abi().expect("known");
            assert!(!sections.is_empty(), "{file} has no SFrame");
            for line in lines {
                let start = cfi
                    .iter()
                    .flat_map(Cfi::functions)
                    .map(|function| CodeAddress { address: 0, ..function.start() })
                    .next();
                let address = address_of(&data, &line.function) + line.range.start;
                let place = CodeAddress { address, ..start.expect("a function") };
                let range = look_up(elf, sections, cfi, &[place])[0].expect("found");
                let says = range.sframe.and_then(|sframe| sframe.frame);
                assert_eq!(says, Some(frame(abi, line.cfi)), "{file}, {address:#x}");
            }
        });
    }
}

/// Runs the code of each file. At each PC of the list, the true row recovers the caller and the row of CFI does not. At all
/// other PCs of the function, the row of CFI does.
#[test]
fn the_processor_agrees_with_the_list() {
    let Some(linker) = tools::toolchain("2.44") else { return };
    for machine in [Machine::Amd64, Machine::Aarch64] {
        if !machine.can_run() {
            continue;
        }
        let mut steps = 0;
        for (file, lines) in by_file() {
            let data = read(&file);
            let elf = Elf::parse(&data).expect("ELF");
            let abi = elf.abi().expect("known");
            if abi.is_aarch64() != (machine == Machine::Aarch64) {
                continue;
            }
            let is_stub = lines[0].function == ".plt";
            // One of 128 signatures is 0: then the signed address is the plain one, and the row of CFI is right by chance.
            let is_signed = lines.iter().any(|line| line.truth.ra_signed);
            let calls: Vec<Call> = (0..if is_signed { 3 } else { 1 })
                .flat_map(|_| match is_stub {
                    true => call_stub(machine, &file, &data),
                    false => call_function(machine, &linker, &lines, &data),
                })
                .collect();
            let start =
                address_of(&data, &lines[0].function) + if is_stub { STUB.start } else { 0 };
            let rows = rows(&data);
            let mut refuted = BTreeSet::new();
            for (call, step) in
                calls.iter().flat_map(|call| call.steps.iter().map(move |s| (call, s)))
            {
                let caller = Caller { sp: call.sp, fp: Some(call.fp), ra: call.ra };
                let offset = step.offset + if is_stub { STUB.start } else { 0 };
                let cfi = rules(abi, &rows[&(start + step.offset)]);
                let says = cfi.recover(call, step);
                let line = lines.iter().position(|line| line.range.contains(&offset));
                let context = format!("{file}, +{offset:#x}: {cfi:x?}");
                if let Some(index) = line {
                    let truth = lines[index].truth;
                    assert!(says != Some(caller) || truth.ra_signed, "{context}");
                    if says != Some(caller) {
                        refuted.insert(index);
                    }
                    let fp = (truth.fp != Place::Lost).then_some(call.fp);
                    let caller = Caller { fp, ..caller };
                    assert_eq!(truth.recover(call, step), Some(caller), "{context}: {truth:x?}");
                } else {
                    assert_eq!(says, Some(caller), "{context}");
                }
                steps += 1;
            }
            assert_eq!(refuted.len(), lines.len(), "{file}: lines that are not refuted");
        }
        println!("{}: {steps} steps", machine.name());
        assert!(steps > 100, "{steps}");
    }
}

/// The rows of CFI at each address.
fn rows(data: &[u8]) -> BTreeMap<u64, Frame> {
    let mut rows = BTreeMap::new();
    visit(data, |at| rows.extend(at.cfi.map(|cfi| (at.start, *cfi))));
    rows
}

/// The stub for TLS descriptors in `.plt`, after the head and the stub of `g`.
const STUB: std::ops::Range<u64> = 0x20..0x30;

fn call_stub(machine: Machine, file: &str, data: &[u8]) -> Vec<Call> {
    let folder = folder!(format!("wrong-cfi-{}", file.replace('/', "-")));
    let program = folder.join("program");
    std::fs::write(&program, data).expect("writable");
    make_executable(&program);
    let entry = object::File::parse(data).expect("ELF").entry();
    let start = address_of(data, ".plt");
    let code = steps::Code::Stub(start + STUB.start..start + STUB.end, entry);
    steps::run(machine, &folder, "./program", &code)
}

fn make_executable(program: &Path) {
    let permissions = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(program, permissions).expect("its owner may");
}

/// Links an object with its caller, which calls `f`, and records the calls of the function in the lines: also in its fragments
/// after it, as far as lines are about them.
fn call_function(machine: Machine, linker: &Path, lines: &[Wrong], data: &[u8]) -> Vec<Call> {
    let line = &lines[0];
    let folder = folder!(format!("wrong-cfi-{}", line.file.replace('/', "-")));
    std::fs::write(folder.join("input.o"), data).expect("writable");
    let name = machine.name();
    let caller = corpus().join(format!("wrong-cfi/caller-{name}.s"));
    let tool = |tool: &str| Command::new(linker.join(format!("{name}-linux-gnu-{tool}")));
    let mut assemble = tool("as");
    assemble.current_dir(&folder).args(["-o", "caller.o"]).arg(caller);
    assert!(assemble.status().expect("it runs").success());
    // No linker reads SFrame of all versions.
    let mut strip = tool("objcopy");
    strip.current_dir(&folder).args(["--remove-section=.sframe", "input.o"]);
    assert!(strip.output().expect("it runs").status.success());
    let mut link = tool("ld");
    link.current_dir(&folder).args(["-o", "program", "caller.o", "input.o"]);
    assert!(link.output().expect("it runs").status.success());
    let size = object::File::parse(data)
        .expect("ELF")
        .symbols()
        .find(|symbol| symbol.name() == Ok(&line.function))
        .expect("defined")
        .size();
    let end = lines.iter().map(|line| line.range.end).max().unwrap_or(size);
    let code = steps::Code::Function(line.function.clone(), size.max(end));
    steps::run(machine, &folder, "./program", &code)
}

/// Every folder is in the list and in the README, and each line has a folder; `docs/wrong-cfi.md` refers to each folder.
#[test]
fn entries_are_listed() {
    let root = corpus().join("wrong-cfi");
    let text = |path: PathBuf| std::fs::read_to_string(path).expect("readable");
    let readme = text(root.join("README.md"));
    let docs = text(sframe_corpus::repository().join("docs/wrong-cfi.md"));
    let notes = list_of_notes();
    let folders: BTreeSet<String> = std::fs::read_dir(&root)
        .expect("readable")
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().expect("ASCII"))
        .collect();
    assert_eq!(notes, folders);
    for note in notes {
        assert!(readme.contains(&format!("| [`{note}`]({note}/input.")), "{note}: README");
        assert!(docs.contains(&format!("../corpus/wrong-cfi/{note}/input.")), "{note}: docs");
    }
    let files = by_file();
    for path in elf_files(&root) {
        let name = path.strip_prefix(&root).expect("below").to_str().expect("ASCII");
        assert!(files.contains_key(name), "{name} is not in the list");
    }
    for line in list() {
        assert!(["assembly", "llc", "ld"].contains(&&*line.wrong), "{}", line.wrong);
        assert!(line.file.starts_with(&line.note), "{}: {}", line.file, line.note);
    }
}

/// What the code says about a row, part by part.
#[derive(Clone, Copy, Debug)]
struct State {
    /// The distance of the row's CFA from the true one, if it is known.
    distance: Option<i64>,
    fp: Truth,
    ra: Truth,
}

fn state(cfi: &Frame, facts: &KnownFacts<'_>) -> State {
    let with = |distance: i64| match cfi.cfa {
        Cfa::RegisterOffset { register, offset } => {
            Frame { cfa: Cfa::RegisterOffset { register, offset: offset - distance }, ..*cfi }
        }
        _ => *cfi,
    };
    let is_true = |distance: &i64| facts.judge(&with(*distance)).cfa == Truth::Proven;
    let distance = match (cfi.cfa, facts.proven_row().cfa) {
        (
            Cfa::RegisterOffset { register, offset },
            Some(Cfa::RegisterOffset { register: known, offset: truth }),
        ) if register == known => Some(offset - truth),
        _ => (0..=64).flat_map(|bytes| [bytes, -bytes]).find(is_true),
    };
    // The rules for FP and RA are judged apart from that of the CFA.
    let checked = facts.judge(&with(distance.unwrap_or(0)));
    State { distance, fp: checked.fp, ra: checked.ra }
}

/// Who sees a defect at an instruction: the names in `LLVM.tsv`.
const BOTH: &str = "both";
/// llvm-mc alone: the code proves the opposite.
const REFUTED: &str = "llvm-mc, refuted";
/// llvm-mc alone: the code does not determine it.
const OPEN: &str = "llvm-mc, open";
/// llvm-mc alone: no known path leads to the instruction after it, or none follows in the function.
const NO_PATH: &str = "llvm-mc, no path";
/// The code alone.
const CODE: &str = "code";
/// The code; llvm-mc says that it does not check this.
const UNCHECKED: &str = "code, unchecked";

/// llvm-mc reports each instruction that changes a register without directives, or directives without a change. The code has the
/// corresponding statement if the distance of the row's CFA from the true one changes, or a register's rule becomes wrong.
fn seen(part: Part, before: State, after: State, llvm: Option<Opinion>) -> Option<&'static str> {
    let (is_defect, is_new, is_known) = if let Part::Cfa = part {
        let is_known = before.distance.is_some() && after.distance.is_some();
        let is_changed = is_known && before.distance != after.distance;
        (is_changed, is_changed, is_known)
    } else {
        let truth = |state: State| if part == Part::Fp { state.fp } else { state.ra };
        let both = [truth(before), truth(after)];
        let is_new = both == [Truth::Proven, Truth::Refuted];
        (both.contains(&Truth::Refuted), is_new, !both.contains(&Truth::Unknown))
    };
    match llvm {
        Some(Opinion::Wrong) if is_defect => Some(BOTH),
        Some(Opinion::Wrong) if is_known => Some(REFUTED),
        Some(Opinion::Wrong) => Some(OPEN),
        Some(Opinion::Unchecked) if is_new => Some(UNCHECKED),
        None if is_new => Some(CODE),
        _ => None,
    }
}

/// `llvm-mc --validate-cfi` is an independent witness. Each disagreement with the code is judged by hand, in `LLVM.tsv`.
#[test]
fn llvm_mc_agrees_except_as_judged() {
    let Some(llvm_mc) = validate_cfi::llvm_mc() else { return };
    let folder = folder!("validate-cfi");
    let (mut agreed, mut found) = (BTreeSet::new(), BTreeSet::new());
    for (name, machine, path) in sources(&llvm_mc, &folder) {
        for ((line, part), seen) in opinions(&llvm_mc, machine, &path, &folder.join("object.o")) {
            if seen == BOTH {
                agreed.insert(name.clone());
            } else {
                found.insert(format!("{name}\t{line}\t{part:?}\t{seen}"));
            }
        }
    }
    let list = std::fs::read_to_string(corpus().join("wrong-cfi/LLVM.tsv")).expect("the list");
    let mut lines = list.lines();
    assert_eq!(lines.next(), Some("source\tline\tpart\tseen by\twrong\treason"));
    let judged = |line: &str| {
        let columns: Vec<&str> = line.split('\t').collect();
        let wrong = columns.get(4).copied();
        assert!(matches!(wrong, Some("llvm-mc" | "code" | "both" | "-")), "{line}");
        assert!(columns.len() == 6 && !columns[5].is_empty(), "{line}");
        columns[..4].join("\t")
    };
    let judged: BTreeSet<String> = lines.map(judged).collect();
    let news: Vec<_> = found.difference(&judged).collect();
    let gone: Vec<_> = judged.difference(&found).collect();
    assert!(news.is_empty() && gone.is_empty(), "not judged: {news:#?}\nnot there: {gone:#?}");
    let inputs: Vec<_> = agreed.iter().filter(|name| name.starts_with("wrong-cfi/")).collect();
    println!("{} disagreements, all judged; they agree on defects in {agreed:#?}", judged.len());
    // Neither `llvm-mc` nor anybody else can see in assembly what a linker adds. It sees no amounts, no frames of jumps, and on
    // AArch64 only the CFA. That the register of the CFA is another's is nothing it asks.
    let blind = [
        "adjusted-by-wrong-sign",
        "data-in-x29",
        "fragment-with-frame-of-call",
        "fragment-with-frame-of-call-aarch64",
        "frame-pointer-popped-early",
        "frame-pointer-restored-early",
        "return-address-in-link-register",
        "signing-without-directive",
        "tls-descriptor-stub",
    ];
    let entries: BTreeSet<String> = list_of_notes();
    assert_eq!(inputs.len() + blind.len(), entries.len(), "{inputs:?}");
    assert!(blind.iter().all(|name| entries.contains(*name)));
}

fn list_of_notes() -> BTreeSet<String> {
    list().into_iter().map(|line| line.note).collect()
}

/// Who sees a defect, at each instruction of a source.
fn opinions(
    llvm_mc: &Path,
    machine: &str,
    source: &Path,
    object: &Path,
) -> BTreeMap<(u32, Part), &'static str> {
    let reports = validate_cfi::reports(llvm_mc, machine, source);
    let lines = validate_cfi::lines(llvm_mc, machine, source, object);
    let lines: BTreeMap<u64, u32> = lines.into_iter().collect();
    let data = std::fs::read(object).expect("readable");
    let wrong = reports.about.iter().filter(|(_, opinion)| **opinion == Opinion::Wrong);
    let mut found: BTreeMap<_, _> = wrong.map(|(key, _)| (*key, NO_PATH)).collect();
    let mut last: Option<(u64, u64, u64, State)> = None;
    visit(&data, |at| {
        let now = at.cfi.map(|cfi| (at.function, at.start, at.end, state(cfi, at.facts)));
        let previous = last.filter(|last| (last.0, last.2) == (at.function, at.start));
        last = now;
        let (Some((_, start, _, before)), Some((_, _, _, after))) = (previous, now) else { return };
        let Some(line) = lines.get(&start) else { return };
        for part in [Part::Cfa, Part::Fp, Part::Ra] {
            let key = (*line, part);
            found.extend(
                seen(part, before, after, reports.about.get(&key).copied()).map(|s| (key, s)),
            );
        }
    });
    found
}

/// The assembly of `corpus/` for AMD64 and AArch64: its name, machine and path.
fn sources(llvm_mc: &Path, folder: &Path) -> Vec<(String, &'static str, PathBuf)> {
    let corpus = corpus();
    let mut sources = Vec::new();
    for path in sframe_corpus::files(&corpus) {
        let name = path.strip_prefix(&corpus).expect("below").to_str().expect("ASCII").to_owned();
        let is_input =
            name.ends_with("/input.s") || name.starts_with("sources/") && name.ends_with(".s");
        if name.ends_with("/input.ll") {
            let compiled = folder.join(name.replace('/', "-")).with_extension("s");
            let mut llc = Command::new(llvm_mc.with_file_name("llc"));
            llc.args(["-O2", "-o"]).arg(&compiled).arg(&path);
            assert!(llc.status().expect("it runs").success());
            sources.push((name, "x86_64", compiled));
        } else if is_input {
            let text = std::fs::read_to_string(&path).expect("text");
            let machine = if name.contains("/s390x/") || text.contains("Machine: s390x") {
                continue;
            } else if name.contains("/aarch64/") || text.contains("Machine: aarch64") {
                "aarch64"
            } else {
                "x86_64"
            };
            sources.push((name, machine, path));
        }
    }
    sources
}
