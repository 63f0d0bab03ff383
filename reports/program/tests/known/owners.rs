//! Who has to act on a wrong row. The truth is in `wrong-cfi/WRONG.tsv` and `differences/JUDGED.tsv`, judged by hand: the
//! author of the CFI, whose mistake SFrame inherits, or the assembler, which wrote other rows than its directives say.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use sframe_corpus::program::run;
use sframe_corpus::{corpus, read, tools, wrong_cfi};
use sframe_record::{Finding, Owner, ShownBy};

use super::{judged, records};

/// The owners of the findings about the start of a range in a function of a file.
fn owners(options: &[&str], file: &str, function: &str, start: u64) -> Vec<(String, Owner)> {
    let options = [options, &["--all", "--no-config", "--format", "ndjson", file]].concat();
    let text = run(&corpus(), &options).text;
    let record = records(&text).next().expect("a record");
    let is_there = |finding: &&Finding<'_>| {
        let of_function = finding.function.as_ref();
        let symbol = of_function.and_then(|of| of.symbol.as_deref());
        let from = of_function.and_then(|of| of.start).map_or(0, |start| start.0);
        let code = finding.code.as_ref();
        let holds =
            |place: u64| code.is_some_and(|code| (code.start.0..code.end.0).contains(&place));
        // A fragment comes after its function, which is at the start of the section.
        let is_fragment = symbol
            .and_then(|symbol| symbol.strip_prefix(function))
            .is_some_and(|rest| rest.starts_with('.'));
        symbol == Some(function) && holds(from + start) || is_fragment && holds(start)
    };
    let there = record.findings.iter().filter(is_there);
    there.map(|finding| (finding.rule.to_string(), finding.owner)).collect()
}

fn one(rule: &str, owner: Owner) -> Vec<(String, Owner)> {
    vec![(rule.to_owned(), owner)]
}

/// The code alone does not show whether SFrame says what CFI says.
const UNKNOWN: (&str, Owner) = ("sframe-contradicts-code", Owner::Unknown);

#[test]
fn inherited_errors_are_their_authors() {
    let proven =
        wrong_cfi::list().into_iter().filter(|wrong| wrong.is_proven && wrong.wrong == "assembly");
    let mut seen = 0;
    for wrong in proven {
        let file = format!("wrong-cfi/{}", wrong.file);
        let of = |options: &[&str]| owners(options, &file, &wrong.function, wrong.range.start);
        assert_eq!(of(&["--against", "code"]), one(UNKNOWN.0, UNKNOWN.1), "{wrong:?}");
        assert_eq!(of(&["--thorough"]), one("inherited-error", Owner::Yours), "{wrong:?}");
        seen += 1;
    }
    assert!(seen > 50, "{seen}");
}

#[test]
fn errors_of_sframe_alone_are_the_assemblers() {
    let file = "differences/register-in-place/2.47.50.o";
    let judged_by =
        judged().keys().any(|(of, function, _)| (of.as_str(), function.as_str()) == (file, "f"));
    assert!(judged_by, "judged by hand");
    let of = |options: &[&str]| owners(options, file, "f", 4);
    assert_eq!(of(&["--against", "code"]), one(UNKNOWN.0, UNKNOWN.1));
    assert_eq!(of(&["--thorough"]), one("cfa-mismatch", Owner::Assembler));
    assert_eq!(of(&[]), one("cfa-mismatch", Owner::Assembler));
}

/// The owner of each error and warning of a file in words, with what shows the origin of its code.
fn in_words(file: &Path) -> BTreeSet<(String, Option<ShownBy>)> {
    let file = file.to_str().expect("a path");
    let options = ["--thorough", "--all", "--no-config", "--format", "ndjson", file];
    let text = run(&corpus(), &options).text;
    let record = records(&text).next().expect("a record");
    let owner = |finding: &Finding<'_>| finding.owner_in_words().unwrap_or_default();
    let shown_by = |finding: &Finding<'_>| finding.origin.as_ref().map(|of| of.shown_by);
    record.findings.iter().map(|finding| (owner(finding), shown_by(finding))).collect()
}

fn only(owner: &str, shown_by: ShownBy) -> BTreeSet<(String, Option<ShownBy>)> {
    BTreeSet::from([(owner.to_owned(), Some(shown_by))])
}

/// LLVM makes the mistake in `input.ll`, whatever the source is called.
const WRONG_BY_LLVM: &str = "wrong-cfi/epilogue-above-branch/input.ll";
const UNIT: &str = r#"
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, producer: "clang version 17.0.6", emissionKind: FullDebug)
!1 = !DIFile(filename: "a.c", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = distinct !DISubprogram(name: "f", file: !1, line: 1, unit: !0, type: !4, spFlags: DISPFlagDefinition)
!4 = !DISubroutineType(types: !5)
!5 = !{}
!6 = !DILocation(line: 1, scope: !3)
"#;
const IDENT: &str = "\n!llvm.ident = !{!7}\n!7 = !{!\"clang version 17.0.6\"}\n";

#[test]
fn errors_of_compilers_are_not_their_users() {
    let (Some(llvm), Some(gnu)) = (tools::toolchain("llvm-23"), tools::toolchain("2.44")) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let source = String::from_utf8(read(WRONG_BY_LLVM)).expect("text");
    let with_unit = source
        .replace("nounwind uwtable {", "nounwind uwtable !dbg !3 {")
        .replace("label %two\n", "label %two, !dbg !6\n")
        .replace("call void @g(i64 %x)\n", "call void @g(i64 %x), !dbg !6\n");
    let named = |source: &str, name: &str| format!("source_filename = \"{name}\"\n{source}");
    let (c, unnamed) = (named(&source, "a.c"), named(&source, "a"));
    let clang = "compiler (clang 17.0.6; inline assembly is yours)";
    let cases = [
        ("unit", with_unit + UNIT, only(clang, ShownBy::Unit)),
        ("file", c.clone() + IDENT, only(clang, ShownBy::FileSymbol)),
        ("no-version", c, only("compiler", ShownBy::FileSymbol)),
        ("unknown", unnamed.clone(), BTreeSet::from([(String::new(), None)])),
    ];
    let assembled = |name: &str, text: &str| {
        fs::write(folder.path().join(name).with_extension("ll"), text).expect("a file");
        let object = folder.path().join(name).with_extension("o");
        let mut llc = Command::new(llvm.join("llc"));
        llc.args(["-O2", "-o", "a.s", &format!("{name}.ll")]).current_dir(&folder);
        assert!(llc.status().expect("llc runs").success());
        let mut assembler = Command::new(llvm.join("llvm-mc"));
        assembler.args(["--gsframe", "-filetype=obj", "-triple=x86_64-linux-gnu", "a.s", "-o"]);
        assembler.arg(&object).current_dir(&folder);
        assert!(assembler.status().expect("llvm-mc runs").success());
        object
    };
    for (name, text, owners) in cases {
        assert_eq!(in_words(&assembled(name, &text)), owners, "{name}");
    }
    // After the link, only `.comment` is left: which may be about other code.
    let object = assembled("linked", &(unnamed + IDENT));
    let linked = folder.path().join("linked.so");
    let mut ld = Command::new(gnu.join("ld"));
    ld.args(["-shared", "-s", "-o"]).args([&linked, &object]);
    assert!(ld.status().expect("ld runs").success());
    let by_comment = "compiler (clang 17.0.6, which .comment names; assembly is yours)";
    let found = in_words(&linked);
    assert!(found.contains(&(by_comment.to_owned(), Some(ShownBy::Comment))), "{found:?}");
    assert!(!found.iter().any(|(owner, _)| owner == "yours"), "{found:?}");
}

#[test]
fn compilers_are_distinguished_from_assembly() {
    let Some(gnu) = tools::toolchain("2.44").filter(|_| tools::is_installed("gcc")) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let c = "int g(int);\nint f(int a) {\n  int r;\n  __asm__ volatile(\"pushq %q1\\n\\tcall h\\n\\tpopq %q0\" : \"=r\"(r) : \"r\"(a));\n\
             return g(r) + 1;\n}\n";
    let s = " .globl f\n .type f,@function\nf:\n .cfi_startproc\n pushq %rbx\n call g\n popq %rbx\n ret\n .cfi_endproc\n .size f,.-f\n";
    for (name, text) in [("a.c", c), ("a.s", s), ("a.S", s)] {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    let version = Command::new("gcc").arg("-dumpfullversion").output().expect("gcc runs").stdout;
    let version = String::from_utf8(version).expect("text");
    let gcc = format!("compiler (GCC {}; inline assembly is yours)", version.trim());
    let cases = [
        ("a.c", "-g", only(&gcc, ShownBy::Unit)),
        ("a.c", "-gdwarf-4", only(&gcc, ShownBy::Unit)),
        ("a.c", "-g0", only(&gcc, ShownBy::FileSymbol)),
        ("a.s", "-g", only("yours", ShownBy::SourceFile)),
        ("a.S", "-g", only("yours", ShownBy::SourceFile)),
        ("a.s", "-g0", only("yours", ShownBy::NoCompiler)),
        ("a.S", "-g0", only("yours", ShownBy::NoCompiler)),
    ];
    for (name, option, owners) in cases {
        let object = folder.path().join("a.o");
        let mut gcc = Command::new("gcc");
        gcc.arg(format!("-B{}", gnu.display()));
        gcc.args(["-O2", option, "-Wa,--gsframe", "-c", name, "-o"]).arg(&object);
        assert!(gcc.current_dir(&folder).status().expect("gcc runs").success());
        assert_eq!(in_words(&object), owners, "{name} {option}");
    }
}
