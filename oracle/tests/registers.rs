//! The rules of CFI for registers that functions keep for their callers, and that SFrame does not carry. The files are those of
//! `corpus/registers`, the truth is the list `REGISTERS.tsv`, which was made by hand from the instructions, and what the processor
//! (for AArch64, qemu) does.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a test program: it may panic"
)]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::process::Command;

use common::{elf_files, open};
use gimli::{BaseAddresses, CfaRule, EhFrame, LittleEndian, RegisterRule, UnwindSection};
use object::{Object, ObjectSection};
use sframe_corpus::steps::{self, Call, Machine, Step};
use sframe_corpus::{corpus, folder, tools};
use sframe_oracle::cfi::Cfi;
use sframe_oracle::code::Program;
use sframe_oracle::compare::{Refutation, prove};
use sframe_validator::elf::Elf;
use sframe_validator::write::SectionBuilder;
use sframe_validator::write::elf::Image;
use sframe_validator::{Abi, Version};

/// The rules of a register that are wrong, and whether the processor shows it: it does not where nothing protects a slot that still
/// holds the value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Wrong {
    register: u16,
    range: (u64, u64),
    is_seen: bool,
}

/// The list, by file.
fn list() -> BTreeMap<String, Vec<Wrong>> {
    let text = std::fs::read_to_string(corpus().join("registers/REGISTERS.tsv"));
    let text = text.expect("the list");
    let mut files: BTreeMap<String, Vec<Wrong>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [file, register, range, seen, what] = columns[..] else { panic!("{line}") };
        let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16);
        let (start, end) = range.split_once("..").expect("a range");
        let range = (number(start).expect("hexadecimal"), number(end).expect("hexadecimal"));
        assert!(["processor", "-"].contains(&seen) && !what.is_empty(), "{line}");
        let (register, is_seen) = (register.parse().expect("a number"), seen != "-");
        files.entry(file.into()).or_default().push(Wrong { register, range, is_seen });
    }
    files
}

/// The files, with their names relative to the folder.
fn files() -> Vec<(String, Vec<u8>)> {
    let root = corpus().join("registers");
    let name = |path: &Path| path.strip_prefix(&root).expect("below").display().to_string();
    let read = |path: &Path| std::fs::read(path).expect("readable");
    elf_files(&root).iter().map(|path| (name(path), read(path))).collect()
}

#[test]
fn the_code_refutes_what_is_listed() {
    let list = list();
    for (file, data) in files() {
        let mut found = BTreeSet::new();
        open(&data, |elf, _, cfi| {
            let code = Program::of(elf, &[], cfi).expect("a machine whose code is examined");
            prove(&code, elf, &[], cfi, |one| match one {
                Refutation::Rules(wrong) => found.extend(wrong.rules.iter().map(|rule| {
                    let register = u16::try_from(rule.register.0).expect("a small number");
                    (register, (rule.start, rule.end))
                })),
                Refutation::Rows(wrong) => panic!("{file}: {wrong:?}"),
            });
        });
        let wrong = list.get(&file).into_iter().flatten();
        let wrong: BTreeSet<_> = wrong.map(|wrong| (wrong.register, wrong.range)).collect();
        assert_eq!(found, wrong, "{file}");
    }
}

/// The rules of a row of CFI, as gimli evaluates it.
struct Row {
    range: Range<u64>,
    cfa: (u16, i64),
    rules: Vec<(u16, RegisterRule<usize>)>,
}

/// The rows of the only function of a file; addresses count from its start.
fn rows(data: &[u8], registers: &[u16]) -> Vec<Row> {
    let section = eh_frame(data);
    let frames = EhFrame::new(&section, LittleEndian);
    let bases = BaseAddresses::default().set_eh_frame(0);
    let mut entries = frames.entries(&bases);
    let fde =
        std::iter::from_fn(|| entries.next().expect("readable")).find_map(|entry| match entry {
            gimli::CieOrFde::Fde(partial) => Some(partial),
            gimli::CieOrFde::Cie(_) => None,
        });
    let fde = fde.expect("an FDE").parse(EhFrame::cie_from_offset).expect("readable");
    let mut context = gimli::UnwindContext::new();
    let mut table = fde.rows(&frames, &bases, &mut context).expect("rows");
    let mut rows = Vec::new();
    while let Some(row) = table.next_row().expect("readable") {
        let start = row.start_address() - fde.initial_address();
        let CfaRule::RegisterAndOffset { register, offset } = row.cfa() else { panic!("{row:?}") };
        let rule = |number: &u16| {
            let rule = row.register(gimli::Register(*number));
            (*number, rule.unwrap_or(RegisterRule::SameValue))
        };
        rows.push(Row {
            range: start..row.end_address() - fde.initial_address(),
            cfa: (register.0, *offset),
            rules: registers.iter().map(rule).collect(),
        });
    }
    rows
}

/// The bytes of `.eh_frame`.
fn eh_frame(data: &[u8]) -> Vec<u8> {
    let file = object::File::parse(data).expect("ELF");
    let section = file.section_by_name(".eh_frame").expect("CFI");
    section.data().expect("in the file").to_vec()
}

/// What a rule recovers before an instruction. Offsets of expressions count from the start of `section`.
fn recover(
    call: &Call,
    step: &Step,
    (register, rule): (u16, &RegisterRule<usize>),
    (cfa, section): (u64, &[u8]),
) -> Option<u64> {
    match rule {
        RegisterRule::Undefined | RegisterRule::SameValue => step.register(register),
        RegisterRule::Offset(offset) => call.word(step, cfa.wrapping_add_signed(*offset)),
        RegisterRule::Register(other) => step.register(other.0),
        // `DW_OP_breg31` and one byte: all expressions of the files are such.
        RegisterRule::Expression(expression) => {
            let [0x8f, offset @ 0..0x40] = section[expression.offset..][..expression.length] else {
                panic!("{expression:?}")
            };
            call.word(step, step.sp + u64::from(offset))
        }
        other => panic!("{other:?}"),
    }
}

/// Runs each file. The rules recover the caller's registers except where the list says that the processor shows it.
#[test]
fn the_processor_agrees_with_the_list() {
    let Some(linker) = tools::toolchain("2.44") else { return };
    let list = list();
    for machine in [Machine::Amd64, Machine::Aarch64] {
        if !machine.can_run() {
            continue;
        }
        let mut checks = 0;
        for (file, data) in files() {
            let elf = Elf::parse(&data).expect("ELF");
            if elf.abi().expect("known").is_aarch64() != (machine == Machine::Aarch64) {
                continue;
            }
            let registers: Vec<u16> = machine.kept().iter().map(|(number, _)| *number).collect();
            let rows = rows(&data, &registers);
            let eh_frame = eh_frame(&data);
            let mut seen = BTreeSet::new();
            let lines = list.get(&file).map(Vec::as_slice).unwrap_or_default();
            for call in calls(machine, &linker, &file, &data) {
                let first = call.steps.first().expect("a step");
                for step in &call.steps {
                    let row = rows.iter().find(|row| row.range.contains(&step.offset));
                    let row = row.unwrap_or_else(|| panic!("{file}: no row at {:#x}", step.offset));
                    let base = if row.cfa.0 == frame_pointer(machine) { step.fp } else { step.sp };
                    let cfa = base.wrapping_add_signed(row.cfa.1);
                    for (register, rule) in &row.rules {
                        let is_right = recover(&call, step, (*register, rule), (cfa, &eh_frame))
                            == first.register(*register);
                        let line = lines.iter().position(|line| {
                            let (start, end) = line.range;
                            line.register == *register && (start..end).contains(&step.offset)
                        });
                        let is_wrong = line.is_some_and(|line| lines[line].is_seen);
                        let place = step.offset;
                        assert_eq!(
                            is_right, !is_wrong,
                            "{file}, +{place:#x}, r{register}: {rule:?}"
                        );
                        seen.extend(line);
                        checks += 1;
                    }
                }
            }
            assert_eq!(seen.len(), lines.len(), "{file}: lines without an instruction");
        }
        println!("{}: {checks} rules", machine.name());
        assert!(checks > 300, "{checks}");
    }
}

/// The frame pointer's DWARF number.
const fn frame_pointer(machine: Machine) -> u16 {
    match machine {
        Machine::Amd64 => 6,
        Machine::Aarch64 => 29,
    }
}

/// Links a file with its caller, and records the calls of its function.
fn calls(machine: Machine, linker: &Path, file: &str, data: &[u8]) -> Vec<Call> {
    let folder = folder!(format!("registers-{}", file.replace('/', "-")));
    std::fs::write(folder.join("input.o"), data).expect("writable");
    let name = machine.name();
    let caller = corpus().join(format!("wrong-cfi/caller-{name}.s"));
    let run = |tool: &str, arguments: &[&str]| {
        let mut command = Command::new(linker.join(format!("{name}-linux-gnu-{tool}")));
        let output = command.current_dir(&folder).args(arguments).output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run("as", &["-o", "caller.o", caller.to_str().expect("UTF-8")]);
    // This linker does not read SFrame of all versions.
    run("objcopy", &["--remove-section=.sframe", "input.o"]);
    run("ld", &["-o", "program", "caller.o", "input.o"]);
    let size =
        object::File::parse(data).expect("ELF").section_by_name(".text").expect("code").size();
    steps::run(machine, &folder, "./program", &steps::Code::Function("f".into(), size))
}

/// The number of wrong rules that are found for a function of 400 bytes that saves nothing, and has another rule for RBX after each 2
/// bytes: `add %al,(%rax)`. The CIE has some `nop` at the end.
fn wrong_rules(nops: usize) -> Vec<usize> {
    // def_cfa rsp+8; RA at CFA-8.
    let length = u32::try_from(14 + nops).expect("short").to_le_bytes();
    let rest = [0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1];
    let mut cfi = [length.as_slice(), &rest, &vec![0; nops]].concat();
    let cie = u32::try_from(cfi.len() + 4).expect("short").to_le_bytes();
    // offset rbx, CFA-24 or CFA-32; advance 2.
    let program: Vec<u8> = (0..200).flat_map(|row| [0x83, 3 + row % 2, 0x42]).collect();
    let length = u32::try_from(20 + program.len()).expect("short").to_le_bytes();
    let range = [0x1000_u64.to_le_bytes(), 400_u64.to_le_bytes()].concat();
    cfi.extend([length.as_slice(), &cie, &range, &program].concat());
    let mut builder = SectionBuilder::new(Version::V2, Abi::Amd64);
    let sframe = builder.address(0x4000).build().expect("a section").bytes;
    let (code, eh_frame) = (0x1000..0x1190, Some((cfi.as_slice(), 0x8000)));
    let image = Image { abi: Abi::Amd64, code, sframe: (&sframe, 0x4000), typed: true, eh_frame };
    let file = image.bytes().expect("a file");
    let elf = Elf::parse(&file).expect("ELF");
    let cfi = Cfi::load_all(&elf).expect("readable");
    let code = Program::of(&elf, &[], &cfi).expect("AMD64");
    let mut found = Vec::new();
    prove(&code, &elf, &[], &cfi, |one| match one {
        Refutation::Rules(wrong) => found.push(wrong.rules.len()),
        Refutation::Rows(wrong) => panic!("{wrong:?}"),
    });
    found
}

#[test]
fn wrong_rules_of_a_function_are_bounded() {
    assert_eq!(wrong_rules(0), [64]);
    // The CIE has 5 other bytes of instructions.
    assert_eq!(wrong_rules(251), [64]);
    assert_eq!(wrong_rules(252), [0; 0]);
}

/// Each folder is in the README, and each line is about a file.
#[test]
fn entries_are_listed() {
    let readme = std::fs::read_to_string(corpus().join("registers/README.md")).expect("readable");
    let files: BTreeSet<String> = files().into_iter().map(|(name, _)| name).collect();
    for name in &files {
        let entry = name.split('/').next().expect("a folder");
        assert!(readme.contains(&format!("]({entry}/input.s)")), "{entry}");
    }
    for name in list().into_keys() {
        assert!(files.contains(&name), "{name}");
    }
}
