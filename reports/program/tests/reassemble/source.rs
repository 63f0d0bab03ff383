//! Reassembling an object yields the CFI directives of the source that it was assembled from, for sources of the
//! corpus.

use std::fs;

use sframe_corpus::corpus;

use crate::tools::sframe_check;

/// Sources and their objects. This leaves out sources with relative directives (`.cfi_adjust_cfa_offset`,
/// `.cfi_rel_offset`), for which the object has absolute offsets, and sources with a `.cfi_restore` of a rule that
/// GNU as moves into the CIE.
const PAIRS: [(&str, &str); 13] = [
    ("differences/cfa-in-other-register/input.s", "differences/cfa-in-other-register/2.40.o"),
    ("differences/frame-pointer-only/input.s", "differences/frame-pointer-only/2.40.o"),
    ("differences/frame-pointer-undefined/input.s", "differences/frame-pointer-undefined/2.44.o"),
    ("differences/odd-offset/input.s", "differences/odd-offset/2.47.50.o"),
    ("differences/register-in-place/input.s", "differences/register-in-place/2.47.50.o"),
    ("differences/remembered-in-place/input.s", "differences/remembered-in-place/2.44.o"),
    ("differences/remembers-one-state/input.s", "differences/remembers-one-state/2.47.50.o"),
    ("differences/restore-with-older-cie/input.s", "differences/restore-with-older-cie/2.44.o"),
    ("differences/return-in-escape/input.s", "differences/return-in-escape/llvm-23.o"),
    ("differences/return-in-register/input.s", "differences/return-in-register/2.44.o"),
    ("differences/return-offset-cut/input.s", "differences/return-offset-cut/2.47.50.o"),
    ("differences/return-restore-ignored/input.s", "differences/return-restore-ignored/2.47.50.o"),
    ("differences/same-value-ignored/input.s", "differences/same-value-ignored/2.44.o"),
];

/// A register's DWARF number (System V ABI, AMD64 and AArch64 supplements; s390x ELF ABI).
fn number(register: &str) -> Option<u32> {
    let amd64 = [
        "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12",
        "r13", "r14", "r15", "rip",
    ];
    let place = amd64.iter().position(|name| *name == register.trim_start_matches('%'));
    let by_name = place.and_then(|place| u32::try_from(place).ok());
    let digits = |prefix: &str| register.strip_prefix(prefix).and_then(|n| n.parse().ok());
    let stack_pointer = (register == "sp").then_some(31);
    by_name.or(stack_pointer).or_else(|| digits("x")).or_else(|| digits("%r"))
}

/// The CFI directives of a source, with registers by their numbers.
fn directives(source: &str) -> Vec<String> {
    let lines = source.lines().map(|line| line.split(['#', ';']).next().unwrap_or_default());
    let lines = lines.map(|line| line.split("//").next().unwrap_or_default().trim());
    let cfi = lines.filter_map(|line| line.find(".cfi_").map(|at| &line[at..]));
    cfi.map(|line| {
        let (name, operands) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        let operands = operands.split(',').map(str::trim).map(|operand| match number(operand) {
            Some(number) => number.to_string(),
            None => operand.to_owned(),
        });
        format!("{name} {}", operands.collect::<Vec<_>>().join(","))
    })
    .collect()
}

#[test]
fn directives_match_the_source() {
    let mut wrong = Vec::new();
    for (source, object) in PAIRS {
        let source = fs::read_to_string(corpus().join(source)).expect("readable");
        let path = corpus().join(object);
        let (status, assembly, stderr) =
            sframe_check(&["reassemble".as_ref(), path.as_os_str(), "-o".as_ref(), "-".as_ref()]);
        assert_eq!(status, 0, "{object}: {stderr}");
        let (wanted, found) = (directives(&source), directives(&assembly));
        assert!(wanted.len() > 2, "{object}");
        if wanted != found {
            wrong.push(format!("{object}: {wanted:#?} {found:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
