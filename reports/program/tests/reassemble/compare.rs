//! `reassemble --compare` finds known changes, made by replacing a line of the assembly.

use std::fs;

use sframe_corpus::corpus;

use crate::tools::{Machine, folder, sframe_check, text};

/// A function that starts with a rule and later has a `.cfi_restore` of it (`corpus/differences`). GNU as must not move
/// the rule into the CIE.
const RESTORED: &str = "differences/restore-to-first-row/llvm-23.o";

/// Reassembles a file of the corpus, replaces `from` with `to` once, assembles the result and compares it with the
/// file. Returns the exit status and output of the comparison, or `None` without an assembler.
fn with_change(name: &str, file: &str, from: &str, to: &str) -> Option<(i32, String)> {
    let path = corpus().join(file);
    let data = fs::read(&path).expect("readable");
    let machine = Machine::of(&object::File::parse(&*data).expect("ELF")).expect("known");
    let toolchain = machine.assemblers().into_iter().find(|name| *name != "llvm-23")?;
    let folder = folder(name);
    let (source, object) = (folder.join("changed.s"), folder.join("changed.o"));
    let (status, _, stderr) =
        sframe_check(&["reassemble".as_ref(), &*path, "-o".as_ref(), &source]);
    assert_eq!(status, 0, "{stderr}");
    let assembly = fs::read_to_string(&source).expect("written");
    assert!(assembly.contains(from), "{from}: {assembly}");
    fs::write(&source, assembly.replacen(from, to, 1)).expect("writable");
    let output = machine.assemble_plainly(toolchain, &source, &object);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let (status, printed, stderr) =
        sframe_check(&["reassemble".as_ref(), &*path, "--compare".as_ref(), &object]);
    Some((status, printed + &stderr))
}

#[test]
fn restored_rules_stay_out_of_the_cie() {
    let Some((status, printed)) = with_change("restored", RESTORED, "", "") else { return };
    // The number of rows is from `corpus/differences/restore-to-first-row/llvm-23.txt`, right column.
    assert_eq!((status, &*printed), (0, "1 function with 2 rows the same, 0 different\n"));
}

#[test]
fn changes_are_reported_at_their_address() {
    let rows = "other rules from";
    // The function is `pop %rbp` (1 byte), `movq $0, -8(%rsp)` (9 bytes), `ret`.
    for (turn, (from, to, wanted)) in [
        (
            "\t.cfi_offset 6, -16\n",
            "\t.cfi_offset 6, -24\n",
            "at 0x0 of section 2: other rules from +0x0 on\n",
        ),
        ("\t.cfi_offset 6, -16\n", "\t.cfi_offset 6, -16\n\t.cfi_same_value 3\n", rows),
        ("\t.cfi_restore 6\n", "\t.cfi_undefined 6\n", "other rules from +0x1 on\n"),
        ("\t.cfi_def_cfa_offset 8\n", "\t.cfi_def_cfa 6, 8\n", "other rules from +0x1 on\n"),
        ("\t.cfi_def_cfa_offset 8\n\t.cfi_restore 6\n", "", "other rules from +0x1 on\n"),
        (
            "\t.cfi_endproc\n",
            "\t.cfi_undefined 6\n\t.cfi_endproc\n",
            "1 function with 2 rows the same",
        ),
        ("\t.cfi_startproc\n", "\t.cfi_startproc\n\t.cfi_signal_frame\n", "signal mark"),
        ("\t.cfi_startproc\n", "\t.cfi_startproc\n\t.cfi_return_column 3\n", "return column"),
        ("0xc3\n\t.cfi_endproc", "0xc2\n\t.cfi_endproc", "other code"),
        ("0xc3\n\t.cfi_endproc", "0xc3,0xc3\n\t.cfi_endproc", "another size"),
        (
            "\t.cfi_endproc\n",
            "\t.cfi_endproc\n\t.cfi_startproc\n\tret\n\t.cfi_endproc\n",
            "1 function only in the rebuilt file",
        ),
        ("\"sframe_check.section.", "\"another.section.", "no symbol sframe_check.section."),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("change-{turn}");
        let Some((status, printed)) = with_change(&name, RESTORED, from, to) else { return };
        let expected = match wanted {
            _ if wanted.starts_with("no symbol") => 2,
            _ if wanted.ends_with("the same") => 0,
            _ => 1,
        };
        assert!(
            status == expected && printed.contains(wanted),
            "{from:?} {to:?}: {status} {printed}"
        );
    }
}
