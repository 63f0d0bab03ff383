//! The causes of lost coverage where GNU as itself drops functions: each line is one function, assembled by every version, beside
//! one that has nothing unusual. Whether it is dropped is what the assembler's section shows, and why is its own warning.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::path::Path;

use sframe_corpus::tools;
use sframe_oracle::account::{Options, account};
use sframe_oracle::cfi::Cfi;
use sframe_oracle::coverage::Cause;
use sframe_validator::elf::{Elf, RelocationTable};
use sframe_validator::{Placement, Section};

const VERSIONS: [&str; 3] = ["2.40", "2.44", "2.47.50"];
/// A frame with a frame pointer on AMD64.
const FRAME: &str = "push %rbp; .cfi_def_cfa_offset 16; .cfi_offset %rbp, -16; mov %rsp, %rbp; .cfi_def_cfa_register %rbp";

/// A function, why each version drops it, and what 2.47.50 prints then.
type Line = (&'static str, &'static str, [Option<Cause>; 3], &'static str);

const fn all(cause: Cause) -> [Option<Cause>; 3] {
    [Some(cause); 3]
}

const fn old(cause: Cause) -> [Option<Cause>; 3] {
    [Some(cause), Some(cause), None]
}

const fn first(cause: Cause) -> [Option<Cause>; 3] {
    [Some(cause), None, None]
}

const LABEL: &str = "CFI insn CFI_label (0x106)";

fn lines() -> Vec<Line> {
    use Cause::{
        ArgsSize, Escape, ExpressionForm, Label, OtherRegisterSave, RegisterSave, SpSave,
        Unexplained, UnsupportedEscape,
    };
    let (amd64, aarch64, s390x) = ("x86_64", "aarch64", "s390x");
    vec![
        (amd64, FRAME, [None; 3], ""),
        (amd64, ".cfi_label here", all(Label), LABEL),
        (aarch64, ".cfi_label here", all(Label), LABEL),
        (s390x, ".cfi_label here", all(Label), LABEL),
        // A label after other instructions, and one after the last, which is where the next entry starts.
        (amd64, "push %rbx; .cfi_def_cfa_offset 16; .cfi_label here; nop", all(Label), LABEL),
        (
            amd64,
            ".cfi_def_cfa_offset 16; .cfi_offset %rbx, -16; .cfi_label here",
            all(Label),
            LABEL,
        ),
        // SP in another register: "SP register 7 in .cfi_register".
        (amd64, ".cfi_register %rsp, %r8", [Some(OtherRegisterSave), None, Some(SpSave)], "SP reg"),
        (aarch64, ".cfi_register 31, 9", [Some(OtherRegisterSave), None, Some(SpSave)], "SP reg"),
        (s390x, ".cfi_register 15, 10", [None; 3], ""),
        (amd64, ".cfi_register %rbp, %r8", old(RegisterSave), ""),
        (amd64, ".cfi_register %rbx, %r8", first(OtherRegisterSave), ""),
        // GNU_args_size with a CFA counted from SP, from FP, and of two bytes.
        (amd64, ".cfi_escape 0x2e, 0x10", all(ArgsSize), ".cfi_escape with op (0x2e)"),
        (aarch64, ".cfi_escape 0x2e, 0x10", all(ArgsSize), ".cfi_escape with op (0x2e)"),
        (s390x, ".cfi_escape 0x2e, 0x10", all(ArgsSize), ".cfi_escape with op (0x2e)"),
        (amd64, "FRAME; .cfi_escape 0x2e, 0x10", old(ArgsSize), ""),
        (amd64, "FRAME; .cfi_escape 0x2e, 0", old(ArgsSize), ""),
        (amd64, ".cfi_escape 0x2e, 0", old(ArgsSize), ""),
        (amd64, "FRAME; .cfi_escape 0x2e, 0x80, 1", all(ArgsSize), ".cfi_escape with op (0x2e)"),
        // Beside it, an expression of two bytes.
        (
            amd64,
            "FRAME; .cfi_escape 0x2e, 0x10; .cfi_escape 0x10, 3, 3, 0x76, 0x80, 0x7f",
            [Some(ArgsSize), Some(ArgsSize), Some(ExpressionForm)],
            ".cfi_escape with op (0x10)",
        ),
        // Each of two instructions would be accepted alone.
        (amd64, ".cfi_escape 0x10, 13, 2, 0x76, 0", old(UnsupportedEscape), ""),
        (
            amd64,
            ".cfi_escape 0x83, 2, 0x10, 13, 2, 0x76, 0",
            [Some(UnsupportedEscape), Some(UnsupportedEscape), Some(Escape)],
            ".cfi_escape with op (0x83)",
        ),
        (
            aarch64,
            ".cfi_escape 0x93, 2, 0x10, 20, 2, 0x8f, 0",
            [Some(UnsupportedEscape), Some(UnsupportedEscape), Some(Escape)],
            ".cfi_escape with op (0x93)",
        ),
        (
            s390x,
            ".cfi_escape 0x8a, 2, 0x10, 9, 2, 0x7f, 0",
            all(Escape),
            ".cfi_escape with op (0x8a)",
        ),
        // Instructions that the assembler never writes itself: an advance after an advance, a nop between others.
        (amd64, ".cfi_escape 0x41", all(Escape), ".cfi_escape with op (0x41)"),
        (amd64, ".cfi_escape 0; nop; .cfi_def_cfa_offset 16", old(Escape), ""),
        (
            amd64,
            ".cfi_window_save",
            [None, Some(UnsupportedEscape), Some(UnsupportedEscape)],
            ".cfi_window_save",
        ),
        (amd64, ".cfi_escape 0x2d", all(UnsupportedEscape), ".cfi_escape with op (0x2d)"),
        // What a directive writes as well does not show.
        (amd64, ".cfi_escape 0x0e, 16", all(Unexplained), ".cfi_escape with op (0xe)"),
        (aarch64, ".cfi_escape 0x2d", all(Unexplained), ".cfi_escape with op (0x2d)"),
    ]
}

/// What an assembler prints, the number of functions in its section, and the causes of the others.
fn assembled(bin: &Path, machine: &str, folder: &Path, text: &str) -> (String, u32, Vec<Cause>) {
    let directives = text.replace("FRAME", FRAME).replace(';', "\n");
    let source = format!(
        ".cfi_sections .eh_frame, .sframe\n.text\nf: .cfi_startproc\nnop\n{directives}\nnop\n.cfi_endproc\n\
         g: .cfi_startproc\nnop\n.cfi_endproc\n"
    );
    let assembler = bin.join(format!("{machine}-linux-gnu-as"));
    let assembled = tools::assemble(&assembler, &["--gsframe"], folder, &source);
    let (data, printed) = assembled.unwrap_or_else(|printed| panic!("{text}: {printed}"));
    let elf = Elf::parse(&data).expect("ELF");
    let header = elf.sframe_sections().next().expect("a section");
    let starts = RelocationTable::load(&elf, header.index).expect("readable").starts();
    let bytes = elf.section_data(header).expect("in the file");
    let placement = Placement::relocated(&starts).with_abi(elf.abi());
    let sections = [Section::parse(bytes, placement).expect("sound")];
    let cfi = Cfi::load_all(&elf).expect("readable");
    let account = account(&elf, &sections, &cfi, &Options::default());
    (printed, sections[0].entry_count(), account.losses.iter().map(|loss| loss.cause).collect())
}

#[test]
fn causes_are_those_of_the_assemblers_own_warnings() {
    let bins = VERSIONS.map(tools::toolchain);
    let [Some(v1), Some(v2), Some(v3)] = bins else { return };
    let folder = sframe_corpus::empty_folder(env!("CARGO_TARGET_TMPDIR"), "causes");
    for (machine, text, causes, warning) in lines() {
        for (number, bin) in [&v1, &v2, &v3].into_iter().enumerate() {
            // Only the last one writes SFrame for s390x.
            if machine == "s390x" && number < 2 {
                continue;
            }
            let what = format!("{machine}, {}: {text}", VERSIONS[number]);
            let (printed, functions, found) = assembled(bin, machine, &folder, text);
            assert_eq!(functions, if causes[number].is_some() { 1 } else { 2 }, "{what}");
            assert_eq!(found, causes[number].into_iter().collect::<Vec<_>>(), "{what}: {printed}");
            // 2.40 prints nothing.
            match number {
                2 if causes[2].is_some() => assert!(printed.contains(warning), "{what}: {printed}"),
                1 => {
                    assert_eq!(printed.contains("SFrame"), causes[1].is_some(), "{what}: {printed}")
                }
                _ => {}
            }
        }
    }
}
