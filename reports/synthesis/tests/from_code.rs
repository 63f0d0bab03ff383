//! Sections from machine code alone. Rows were computed by hand from the instructions; and the code is run one instruction at a time, on
//! this processor or in qemu: at each PC, its row recovers the caller.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a test program: it may panic"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

use sframe_corpus::steps::{self, Call, Machine, Step};
use sframe_corpus::{corpus, empty_folder, tools};
use sframe_oracle::cfi::Cfi;
use sframe_synthesis::{Place, Synthesis, synthesize_code};
use sframe_validator::Version;
use sframe_validator::elf::Elf;
use sframe_validator::unwind::{Cfa, Frame, Named, Recovery};

/// A function `f` with a frame record, as compilers begin and end nearly every one for AArch64.
const PLAIN: &str = "stp x29, x30, [sp, #-32]!; mov x29, sp; bl g; ldp x29, x30, [sp], #32; ret";
/// A function `f` with a frame record that holds a signed return address.
const SIGNED: &str =
    "paciasp; stp x29, x30, [sp, #-32]!; mov x29, sp; bl g; ldp x29, x30, [sp], #32; autiasp; ret";
/// `push` and `pop` of the frame pointer.
const PUSHED: &str = "push %rbp; mov %rsp, %rbp; call g; pop %rbp; ret";

/// Functions of which every row is known.
const AARCH64: [&str; 8] = [
    PLAIN,
    SIGNED,
    // Arguments below the frame record, which is stored after SP is lowered.
    "sub sp, sp, #64; stp x29, x30, [sp, #48]; add x29, sp, #48; bl g; ldp x29, x30, [sp, #48]; add sp, sp, #64; ret",
    // A frame of unknown size.
    "stp x29, x30, [sp, #-16]!; mov x29, sp; and x9, x0, #0x30; sub sp, sp, x9; bl g; mov sp, x29; ldp x29, x30, [sp], #16; ret",
    // Without a frame pointer, and without anything.
    "str x30, [sp, #-16]!; bl g; ldr x30, [sp], #16; ret",
    "add x0, x0, x1; ret",
    // A frame record on one path only.
    "cbz x0, 1f; stp x29, x30, [sp, #-32]!; mov x29, sp; str x19, [sp, #16]; bl g; ldr x19, [sp, #16]; ldp x29, x30, [sp], #32; 1: ret",
    "pacibsp; stp x29, x30, [sp, #-48]!; stp x19, x20, [sp, #16]; mov x29, sp; bl g; ldp x19, x20, [sp, #16]; ldp x29, x30, [sp], #48; autibsp; ret",
];
const AMD64: [&str; 4] = [
    PUSHED,
    "push %rbx; sub $16, %rsp; call g; add $16, %rsp; pop %rbx; ret",
    "push %rbp; mov %rsp, %rbp; push %rbx; sub $40, %rsp; call g; mov -8(%rbp), %rbx; leave; ret",
    "cmp %edi, %esi; jne 1f; push %rbp; mov %rdi, %rbp; call g; pop %rbp; 1: ret",
];

/// The object of a function `f`, in a folder of its own. `None` if there is no assembler.
fn assembled(machine: Machine, name: &str, before: &str, code: &str) -> Option<PathBuf> {
    let bin = tools::toolchain("2.44")?;
    let folder = empty_folder(env!("CARGO_TARGET_TMPDIR"), &format!("from-code-{name}"));
    let code = code.replace("; ", "\n");
    let source =
        format!("{before}\n.text\n.globl f\n.type f, %function\nf:\n{code}\n.size f, .-f\n");
    std::fs::write(folder.join("f.s"), source).expect("written");
    let mut command = Command::new(bin.join(format!("{}-linux-gnu-as", machine.name())));
    command.args(if machine == Machine::Aarch64 { ["-march=armv8.3-a"].as_slice() } else { &[] });
    let status = command.args(["-o", "input.o", "f.s"]).current_dir(&folder).status();
    assert!(status.expect("the assembler runs").success(), "{code}");
    Some(folder)
}

fn synthesized(folder: &Path, version: Version) -> (Synthesis, u64) {
    let data = std::fs::read(folder.join("input.o")).expect("an object");
    let elf = Elf::parse(&data).expect("ELF");
    let cfi = Cfi::load_all(&elf).expect("readable");
    let made = synthesize_code(&elf, &cfi, version, Place::Relocatable).expect("a section");
    (made.synthesis, made.unknown)
}

/// The rows of the only function, as `PC CFA RA FP`.
fn rows(folder: &Path, version: Version) -> Vec<String> {
    let (made, unknown) = synthesized(folder, version);
    assert_eq!((made.functions.len(), unknown), (1, 0), "{made:?}");
    let data = std::fs::read(folder.join("input.o")).expect("an object");
    let abi = Elf::parse(&data).expect("ELF").abi().expect("known");
    let of = |frame: &Frame| {
        let signed = if frame.ra_signed { " signed" } else { "" };
        let (cfa, ra, fp) = (Named(abi, frame.cfa), Named(abi, frame.ra), Named(abi, frame.fp));
        format!("{cfa} {ra}{signed} {fp}")
    };
    let rows = made.functions[0].rows.iter();
    rows.map(|row| format!("{:#x} {}", row.start, of(&row.frame))).collect()
}

/// From `stp` to `ldp`, both registers are in their slots: a row of SFrame for AArch64 with FP has RA as well (V3 3.2). After `ldp`,
/// the slots are below SP, where anything may overwrite them.
#[test]
fn a_frame_record_holds_both_registers() {
    let Some(folder) = assembled(Machine::Aarch64, "plain", "", PLAIN) else { return };
    let wanted = [
        "0x0 sp+0 unchanged unchanged",
        "0x4 sp+32 *(CFA-24) *(CFA-32)",
        "0x10 sp+0 unchanged unchanged",
    ];
    for version in [Version::V1, Version::V2, Version::V3] {
        assert_eq!(rows(&folder, version), wanted, "{version:?}");
    }
}

/// RA is signed from the instruction after `paciasp` up to and including `autiasp`.
#[test]
fn signed_addresses_are_marked() {
    let Some(folder) = assembled(Machine::Aarch64, "signed", "", SIGNED) else { return };
    let wanted = [
        "0x0 sp+0 unchanged unchanged",
        "0x4 sp+0 unchanged signed unchanged",
        "0x8 sp+32 *(CFA-24) signed *(CFA-32)",
        "0x14 sp+0 unchanged signed unchanged",
        "0x18 sp+0 unchanged unchanged",
    ];
    assert_eq!(rows(&folder, Version::V3), wanted);
}

/// After `pop`, the slot of RBP is in the red zone (psABI 3.2.2), where only the kernel's own code has none. CFI is obeyed where it
/// is right: in a program it may leave out `.cfi_restore`.
#[test]
fn only_programs_have_a_red_zone() {
    let module = ".section .modinfo, \"a\"\n.asciz \"license=GPL\"";
    for (name, before, last) in [("program", "", "*(CFA-16)"), ("module", module, "unchanged")] {
        let Some(folder) = assembled(Machine::Amd64, name, before, PUSHED) else { return };
        let wanted = [
            "0x0 rsp+8 *(CFA-8) unchanged".to_owned(),
            "0x1 rsp+16 *(CFA-8) *(CFA-16)".to_owned(),
            "0x4 rbp+16 *(CFA-8) *(CFA-16)".to_owned(),
            format!("0xa rsp+8 *(CFA-8) {last}"),
        ];
        assert_eq!(rows(&folder, Version::V3), wanted, "{name}");
    }
}

/// Where only FP is saved, no version after the first one can say so. The other rows stay.
#[test]
fn rows_that_the_version_cannot_express_are_left_out() {
    let code = "str x29, [sp, #-16]!; mov x29, x1; ldr x29, [sp], #16; ret";
    let Some(folder) = assembled(Machine::Aarch64, "fp-alone", "", code) else { return };
    for (version, entries, left) in [(Version::V2, 2, 4), (Version::V3, 2, 4)] {
        let (made, unknown) = synthesized(&folder, version);
        assert_eq!((made.functions.len(), unknown), (entries, left), "{version:?}: {made:?}");
    }
}

/// The stack pointer, the return address and the frame pointer of the caller, by a row.
fn recovered(machine: Machine, frame: &Frame, call: &Call, step: &Step) -> [Option<u64>; 3] {
    let Cfa::RegisterOffset { register, offset } = frame.cfa else { panic!("{frame}") };
    let is_fp = register.0 == if machine == Machine::Aarch64 { 29 } else { 6 };
    let cfa = if is_fp { step.fp } else { step.sp }.wrapping_add_signed(offset);
    let red_zone = if machine == Machine::Aarch64 { 0 } else { 128 };
    let value = |rule, register| match rule {
        Recovery::Unchanged => Some(register),
        Recovery::AtCfa(offset) => {
            let address = cfa.wrapping_add_signed(offset);
            assert!(address >= step.sp - red_zone, "{frame} at {:#x}", step.offset);
            call.word(step, address)
        }
        _ => panic!("{frame}"),
    };
    let ra = value(frame.ra, step.ra);
    // One of 128 signatures is 0, so a signed address may look like a plain one, but not the other way.
    let plain = |ra: u64| ra & 0xffff_ffff_ffff;
    [Some(cfa), if frame.ra_signed { ra.map(plain) } else { ra }, value(frame.fp, step.fp)]
}

#[test]
fn the_processor_agrees_with_every_row() {
    let Some(bin) = tools::toolchain("2.44") else { return };
    let functions = AARCH64.map(|code| (Machine::Aarch64, code)).into_iter();
    for (number, (machine, code)) in
        functions.chain(AMD64.map(|code| (Machine::Amd64, code))).enumerate()
    {
        let name = format!("run-{number}");
        let Some(folder) = assembled(machine, &name, "", code).filter(|_| machine.can_run()) else {
            continue;
        };
        let caller = corpus().join(format!("wrong-cfi/caller-{}.s", machine.name()));
        let tool = |tool: &str| {
            let mut command =
                Command::new(bin.join(format!("{}-linux-gnu-{tool}", machine.name())));
            command.current_dir(&folder);
            command
        };
        assert!(
            tool("as").args(["-o", "caller.o"]).arg(caller).status().expect("it runs").success()
        );
        let mut link = tool("ld");
        link.args(["-o", "program", "caller.o", "input.o"]);
        assert!(link.status().expect("it runs").success());
        let (made, unknown) = synthesized(&folder, Version::V3);
        assert_eq!((made.functions.len(), unknown), (1, 0), "{code}: {made:?}");
        let function = &made.functions[0];
        let place = steps::Code::Function("f".to_owned(), function.size.into());
        let calls = steps::run(machine, &folder, "./program", &place);
        let mut reached = 0;
        for (call, step) in
            calls.iter().flat_map(|call| call.steps.iter().map(move |it| (call, it)))
        {
            let row = function.rows.iter().find(|row| (row.start..row.end).contains(&step.offset));
            let row = row.unwrap_or_else(|| panic!("{code}: no row at {:#x}", step.offset));
            let found = recovered(machine, &row.frame, call, step);
            assert_eq!(found, [call.sp, call.ra, call.fp].map(Some), "{code}: {:#x}", step.offset);
            reached += 1;
        }
        assert!(reached >= 4, "{code}: {reached} steps");
    }
}
