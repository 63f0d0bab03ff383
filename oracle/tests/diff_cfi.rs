//! Tests that compare what two files without SFrame say: their call frame information, or their machine code.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a test program: it may panic"
)]

use std::collections::BTreeMap;

use gimli::{
    BaseAddresses, CfaRule, EhFrame, LittleEndian, RegisterRule, UnwindContext, UnwindSection,
    X86_64,
};
use object::{Object, ObjectSection, ObjectSymbol};
use sframe_corpus::tools;
use sframe_oracle::cfi::Cfi;
use sframe_oracle::code::Program;
use sframe_oracle::compare::Fields;
use sframe_oracle::diff::{Change, Matching, Set, Source, Totals, diff};
use sframe_validator::elf::{Elf, SymbolTable};

/// A range that differs: symbol, start, end, and kind of change.
type Found = (String, u64, u64, Change);

#[derive(Clone, Copy)]
enum From {
    Cfi,
    Code,
}

fn compared(first: &[u8], second: &[u8], from: From) -> (Vec<Found>, Totals) {
    let elves = [first, second].map(|data| Elf::parse(data).expect("ELF"));
    let cfi = elves.each_ref().map(|elf| Cfi::load_all(elf).expect("readable"));
    let symbols = elves.each_ref().map(|elf| SymbolTable::load(elf).expect("symbols"));
    let programs =
        [0, 1].map(|side| Program::of(&elves[side], &[], &cfi[side]).expect("a known machine"));
    let set = |side: usize| Set {
        source: match from {
            From::Cfi => Source::Cfi(&cfi[side]),
            From::Code => Source::Code(&programs[side]),
        },
        elf: &elves[side],
        symbols: &symbols[side],
    };
    let mut found = Vec::new();
    let totals = diff(&set(0), &set(1), Matching::Symbol, |range| {
        found.push((range.name.to_string(), range.start, range.end, range.change));
    });
    (found, totals)
}

fn assembled(name: &str, source: &str) -> Option<Vec<u8>> {
    let bin = tools::toolchain("2.44")?;
    let folder = sframe_corpus::empty_folder(env!("CARGO_TARGET_TMPDIR"), name);
    let assembler = bin.join("x86_64-linux-gnu-as");
    Some(tools::assemble(&assembler, &[], &folder, source).expect("assembled").0)
}

const RULE_FOR_RBP: &str = ".cfi_offset %rbp, -16";

/// A function with a frame pointer, and a leaf.
fn with_frame_pointer(rule: &str) -> String {
    format!(
        ".globl framed, leaf\n.type framed, @function\n.type leaf, @function\n\
         framed: .cfi_startproc\npush %rbp\n.cfi_def_cfa_offset 16\n{rule}\n\
         mov %rsp, %rbp\n.cfi_def_cfa_register %rbp\nleave\n.cfi_def_cfa %rsp, 8\nret\n.cfi_endproc\n\
         leaf: .cfi_startproc\nlea 1(%rdi), %rax\nret\n.cfi_endproc\n"
    )
}

/// Of `framed`, `push` has 1 byte, `mov` 3, `leave` 1 and `ret` 1: without its rule, RBP is unchanged from 1 on. `leaf` has 5 bytes.
/// The code is the same.
#[test]
fn a_directive_that_is_missing_is_a_difference_of_cfi_alone() {
    let without = assembled("missing-a", &with_frame_pointer(""));
    let with = assembled("missing-b", &with_frame_pointer(RULE_FOR_RBP));
    let (Some(without), Some(with)) = (without, with) else { return };
    let (found, totals) = compared(&without, &with, From::Cfi);
    let fp = Change::Different(Fields::FP);
    let ranges: Vec<_> =
        found.iter().map(|(name, start, end, it)| (&**name, *start, *end, *it)).collect();
    assert_eq!(ranges, [("framed", 1, 4, fp), ("framed", 4, 5, fp), ("framed", 5, 6, fp)]);
    assert_eq!((totals.different, totals.equal, totals.matched), (5, 1 + 5, 2));
    let (found, totals) = compared(&without, &with, From::Code);
    assert_eq!((found, totals.equal, totals.undecided), (Vec::new(), 6 + 5, 0));
}

/// Both functions have 4 bytes and no CFI. In `push %rbx; pop %rbx; nop; ret`, the CFA is RSP + 16 after the first instruction, which has
/// one byte, up to the end of the second, which has one byte, too; in the other RSP + 8 everywhere.
#[test]
fn code_is_compared_without_any_cfi() {
    let function = |name: &str, body: &str| {
        let source = format!(".globl f\n.type f, @function\nf:\n{body}\n.size f, .-f\n");
        assembled(name, &source)
    };
    let plain = function("code-a", "nop\nnop\nnop\nret");
    let pushes = function("code-b", "push %rbx\npop %rbx\nnop\nret");
    let (Some(plain), Some(pushes)) = (plain, pushes) else { return };
    let (found, totals) = compared(&plain, &pushes, From::Code);
    assert_eq!(found, [("f".to_owned(), 1, 2, Change::Different(Fields::CFA))]);
    assert_eq!((totals.equal, totals.different, totals.undecided), (3, 1, 0));
}

/// What two files say, byte by byte of each function: how CFA, RA and RBP are recovered.
type Frame = (CfaRule<usize>, RegisterRule<usize>, RegisterRule<usize>);

/// The frames of each named function according to gimli.
fn frames(data: &[u8]) -> BTreeMap<String, Vec<Frame>> {
    let file = object::File::parse(data).expect("ELF");
    let names: BTreeMap<u64, String> = file
        .symbols()
        .filter(|symbol| symbol.is_definition() && symbol.kind() == object::SymbolKind::Text)
        .map(|symbol| (symbol.address(), symbol.name().expect("UTF-8").to_owned()))
        .collect();
    let section = file.section_by_name(".eh_frame").expect("CFI");
    let cfi = EhFrame::new(section.data().expect("in the file"), LittleEndian);
    let bases = BaseAddresses::default().set_eh_frame(section.address());
    let mut functions = BTreeMap::new();
    let mut entries = cfi.entries(&bases);
    while let Some(entry) = entries.next().expect("readable") {
        let gimli::CieOrFde::Fde(partial) = entry else { continue };
        let fde = partial.parse(EhFrame::cie_from_offset).expect("readable");
        let Some(name) = names.get(&fde.initial_address()) else { continue };
        let mut context = UnwindContext::new();
        let mut table = fde.rows(&cfi, &bases, &mut context).expect("readable");
        let mut frames = Vec::new();
        while let Some(row) = table.next_row().expect("readable") {
            let rule = |register| match row.register(register) {
                None | Some(RegisterRule::Undefined) => RegisterRule::SameValue,
                Some(rule) => rule,
            };
            let frame = (row.cfa().clone(), rule(X86_64::RA), rule(X86_64::RBP));
            frames.extend((row.start_address()..row.end_address()).map(|_| frame.clone()));
        }
        functions.insert(name.clone(), frames);
    }
    functions
}

/// The totals of two builds are those that gimli's tables give, byte by byte.
#[test]
fn two_builds_are_compared_as_gimli_reads_them() {
    if !cfg!(target_arch = "x86_64") || !tools::is_installed("cc") {
        return;
    }
    let folder = sframe_corpus::empty_folder(env!("CARGO_TARGET_TMPDIR"), "builds");
    let source = "#include <string.h>\nint out(int);\n\
        int one(int x) { int b[100]; memset(b, x, sizeof b); return out(b[3]) + out(x); }\n\
        int two(int n) { char *p = __builtin_alloca(n); memset(p, 1, n); return out(p[0]); }\n\
        int three(int x) { for (int i = 0; i < x; i++) x += out(i) * out(x); return x; }\n\
        #ifndef __OPTIMIZE__\nint slow(int x) { return out(x) + 1; }\n#endif\n\
        int leaf(int x) { return x * 2; }\n";
    std::fs::write(folder.join("source.c"), source).expect("written");
    let build = |name: &str, options: &str| {
        let command = format!("cc {options} -fPIC -fno-plt -shared -nostdlib source.c -o {name}");
        assert!(tools::run(&folder, "cc", &command), "the source is compiled");
        std::fs::read(folder.join(name)).expect("a library")
    };
    let builds = [build("slow.so", "-O0"), build("fast.so", "-O2"), build("size.so", "-Os")];
    for (a, b) in [(0, 1), (1, 0), (1, 2), (2, 0)] {
        let (_, totals) = compared(&builds[a], &builds[b], From::Cfi);
        let (first, second) = (frames(&builds[a]), frames(&builds[b]));
        let mut wanted = Totals::default();
        for (name, rows) in &first {
            let others = second.get(name);
            wanted.matched += u64::from(others.is_some());
            wanted.functions_only_first += u64::from(others.is_none());
            let others = others.map_or(&[][..], Vec::as_slice);
            for (row, other) in rows.iter().zip(others) {
                let sum = if row == other { &mut wanted.equal } else { &mut wanted.different };
                *sum += 1;
            }
            wanted.only_first += rows.len().saturating_sub(others.len()) as u64;
        }
        for (name, rows) in &second {
            let others = first.get(name).map_or(0, Vec::len);
            wanted.functions_only_second += u64::from(others == 0);
            wanted.only_second += rows.len().saturating_sub(others) as u64;
        }
        assert!(wanted.different > 50 && wanted.equal > 5, "{wanted:?}");
        assert_eq!(totals, wanted, "{a} and {b}");
    }
}

/// A file equals itself, whatever is compared, on both machines.
#[test]
fn a_file_equals_itself() {
    for path in ["2.47.50/x86_64/shared.so", "2.44/aarch64/plt.so"] {
        let data = sframe_corpus::read(&format!("golden/{path}"));
        for from in [From::Cfi, From::Code] {
            let (found, totals) = compared(&data, &data, from);
            assert!(
                found.iter().all(|(_, _, _, it)| *it == Change::Undecided),
                "{path}: {found:?}"
            );
            assert!(totals.equal > 0 && totals.matched > 0, "{path}: {totals:?}");
        }
    }
}
