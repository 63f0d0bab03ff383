//! A row is not excused if the code proves CFI wrong, although the assembler makes it of this CFI by a known mistake: the
//! directives are the user's.

use std::fs;

use sframe_corpus::program::run;
use sframe_corpus::{folder, tools};
use sframe_record::Wrong;

use super::random::{assemble, differences};
use super::records;

/// Functions with wrong directives: the releases that describe them, the rule, the defect, and the body.
const WRONG: [(&[&str], &str, &str, &str); 3] = [
    (
        &["2.40", "2.44", "2.47.50"],
        "ra-mismatch",
        "return-value-ignored",
        "\tnop\n\t.cfi_val_offset 16, -72\n\tnop\n\tret\n",
    ),
    (
        &["2.40", "2.44"],
        "fp-mismatch",
        "same-value-ignored",
        "\tpush %rbp\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset 6, -16\n\tmov %rsp, %rbp\n\t.cfi_def_cfa_register 6\n\
         \t.cfi_same_value 6\n\tnop\n\tpop %rbp\n\t.cfi_def_cfa 7, 8\n\tret\n",
    ),
    (
        &["2.40", "2.44"],
        "ra-mismatch",
        "return-elsewhere",
        "\tnop\n\t.cfi_offset 16, -24\n\tnop\n\tret\n",
    ),
];

#[test]
fn rows_are_not_excused_if_cfi_is_wrong() {
    let folder = folder!("wrong-cfi");
    for (releases, rule, defect, body) in WRONG {
        let text = format!("\t.text\nf:\n\t.cfi_startproc\n{body}\t.cfi_endproc\n");
        for release in releases {
            let Some(tools) = tools::toolchain(release) else { return };
            let program = tools.join("x86_64-linux-gnu-as");
            let object = assemble(&program, &[], &folder, &text).expect("assembled");
            // It is the mistake of the assembler, if the directives are taken for right.
            let (named, nameless) = differences(&object);
            assert!(named > 0 && nameless.is_empty(), "{release} {defect}: {nameless:?}");
            fs::write(folder.join("object.o"), &object).expect("writable");
            let options = ["--all", "--no-config", "--format", "ndjson", "object.o"];
            let text = run(&folder, &options).text;
            let record = records(&text).next().expect("a record");
            let of_rule = record.findings.iter().filter(|finding| finding.rule.as_str() == rule);
            let mut proven = 0;
            for finding in of_rule {
                let ruling = finding.difference.as_ref().and_then(|of| of.ruling.as_ref());
                if ruling.is_some_and(|ruling| ruling.wrong == Wrong::Cfi) {
                    proven += 1;
                    assert_eq!(finding.known, None, "{release} {defect}: {}", finding.message);
                }
            }
            assert!(proven > 0, "{release} {defect}: the code proves CFI wrong");
        }
    }
}
