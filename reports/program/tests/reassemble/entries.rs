//! Reassembling objects with unusual CFI: sections, states at entry, and large CIEs.

use std::fs;

use crate::tools::{Machine, folder, sframe_check, text};

const AMD64: Machine = Machine { name: "x86_64", big_endian_aarch64: false };

/// Assembles `source`, reassembles the object, assembles the result and compares both objects. Returns the messages of
/// `reassemble` and of `reassemble --compare`, or `None` without an assembler.
fn twice(name: &str, source: &str) -> Option<(String, String)> {
    let toolchain = AMD64.assemblers().into_iter().find(|name| *name != "llvm-23")?;
    let folder = folder(name);
    let assemble = |source: &str, object: &str| {
        let object = folder.join(object);
        let output = AMD64.assemble_plainly(toolchain, &folder.join(source), &object);
        assert!(output.status.success(), "{}", text(&output.stderr));
        object
    };
    fs::write(folder.join("first.s"), source).expect("writable");
    let first = assemble("first.s", "first.o");
    let again = folder.join("again.s");
    let (_, _, message) = sframe_check(&["reassemble".as_ref(), &*first, "-o".as_ref(), &again]);
    let rebuilt = assemble("again.s", "again.o");
    let (_, compared, stderr) =
        sframe_check(&["reassemble".as_ref(), &*first, "--compare".as_ref(), &rebuilt]);
    Some((message, compared + &stderr))
}

const FUNCTION: &str = "
f:	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	pop %rbp
	.cfi_def_cfa_offset 8
	.cfi_restore rbp
	ret
	.cfi_endproc
";

#[test]
fn debug_frame_is_used_if_eh_frame_is_missing() {
    for (name, sections) in [("debug", ".debug_frame"), ("both", ".eh_frame, .debug_frame")] {
        let source = format!("\t.cfi_sections {sections}\n{FUNCTION}");
        let Some((message, compared)) = twice(name, &source) else { return };
        assert_eq!(message, "1 function in 1 section, 3 bytes of code\n", "{sections}");
        assert_eq!(compared, "1 function with 3 rows the same, 0 different\n", "{sections}");
    }
}

/// States at function entry that differ from the machine's usual one, one of them without a CFA.
#[test]
fn unusual_entry_states_are_preserved() {
    let other = "
	.cfi_startproc simple
	.cfi_def_cfa rbx, 24
	.cfi_offset rip, 40
	nop
	.cfi_def_cfa rsp, 8
	nop
	.cfi_endproc
	.cfi_startproc simple
	nop
	.cfi_def_cfa rsp, 8
	nop
	.cfi_endproc
	.cfi_startproc simple
	.cfi_def_cfa rsp, 0
	.cfi_register rip, r11
	.cfi_return_column r11
	nop
	.cfi_endproc
";
    let Some((message, compared)) = twice("simple", &format!("{FUNCTION}{other}")) else { return };
    assert_eq!(message, "4 functions in 1 section, 8 bytes of code\n");
    assert_eq!(compared, "4 functions with 8 rows the same, 0 different\n");
}

/// GNU as moves rules at the start of a function into the CIE.
#[test]
fn cies_with_too_many_rules_are_reported() {
    let rules = |count: u32| {
        let rules = (0..count).map(|number| format!("\t.cfi_same_value {}\n", 100 + number));
        format!("f:\t.cfi_startproc\n{}\tret\n\t.cfi_endproc\n", rules.collect::<String>())
    };
    // With the rule for the return address, the CIEs have 64 and 65 rules.
    let Some((_, compared)) = twice("rules-63", &rules(63)) else { return };
    assert_eq!(compared, "1 function with 1 row the same, 0 different\n");
    let Some((message, _)) = twice("rules-64", &rules(64)) else { return };
    assert!(message.contains("left out: 1 function, the first at 0x0 of section 1"), "{message}");
    assert!(message.contains("the CIE has more than 64 rules"), "{message}");
}
