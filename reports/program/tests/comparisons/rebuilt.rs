//! Two versions of assembled programs, whose changes are known from the source and from defects of assemblers
//! (`corpus/differences`).
//!
//! Some tests need the toolchains of `corpus/build fetch`. Missing ones are reported, and are a failure if
//! `SFRAME_REQUIRE_TOOLS` is set, as in CI.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::scans::{compare, findings, folder, scan};
use sframe_corpus::corpus;
use sframe_corpus::tools::toolchain;
use sframe_history::changes::{Became, CoverageVerdict, Matched};

/// A function that GNU as 2.44 describes correctly.
const SOUND: &str = r"
	.globl	sound
	.type	sound, @function
sound:
	.cfi_startproc
	sub	$24, %rsp
	.cfi_def_cfa_offset 32
	add	$24, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	sound, .-sound
";

/// A function that GNU as 2.44 describes with a wrong CFA (`corpus/differences/register-in-place`).
fn broken(name: &str) -> String {
    format!(
        r"
	.globl	{name}
	.type	{name}, @function
{name}:
	.cfi_startproc
	push	%rbp
	mov	%rsp, %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	.cfi_def_cfa_register rbp
	pop	%rbp
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	.cfi_endproc
	.size	{name}, .-{name}
"
    )
}

/// A function whose CFA is based on `register`. Version 2 cannot express registers other than SP and FP
/// (`corpus/golden/2.44/x86_64/realign.o`).
fn based_on(name: &str, register: &str) -> String {
    format!(
        r"
	.globl	{name}
	.type	{name}, @function
{name}:
	.cfi_startproc
	lea	8(%rsp), %rbx
	.cfi_def_cfa {register}
	nop
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.size	{name}, .-{name}
"
    )
}

/// A function that nothing calls, which moves the following code.
const UNUSED: &str = r"
unused:
	.cfi_startproc
	nop
	nop
	nop
	ret
	.cfi_endproc
	.type	unused, @function
	.size	unused, .-unused
";

/// Assembles and links a library.
fn build(bin: &Path, library: &Path, source: &str) {
    fs::create_dir_all(library.parent().expect("a folder")).expect("writable");
    let (assembly, object) = (library.with_extension("s"), library.with_extension("o"));
    fs::write(&assembly, format!("\t.text\n{source}")).expect("writable");
    let run = |tool: &str, arguments: &[&Path], option: &str| {
        let status = Command::new(bin.join(tool)).arg(option).args(arguments).status();
        assert!(status.expect("the tool runs").success(), "{tool}");
    };
    run("x86_64-linux-gnu-as", &[&assembly, Path::new("-o"), &object], "--gsframe");
    run("x86_64-linux-gnu-ld", &[&object, Path::new("-o"), library], "-shared");
    for file in [assembly, object] {
        fs::remove_file(file).expect("ours");
    }
}

/// Builds two versions of a library, with the versions in the names of folders and files, and returns the changes.
fn rebuilt(test: &str, old: &str, new: &str) -> Option<sframe_history::changes::Changes> {
    let bin = toolchain("2.44")?;
    let folder = folder(test);
    build(&bin, &folder.join("monday/foo-1.2/libfoo.so.1.2.3"), old);
    build(&bin, &folder.join("tuesday/foo-1.3/libfoo.so.1.2.4"), new);
    let scan = |day: &str, folder_inside: &str| scan(&folder.join(day), &[folder_inside]);
    let (old, new) = (scan("monday", "foo-1.2"), scan("tuesday", "foo-1.3"));
    assert!(old.contains("cfa-mismatch") || new.contains("cfa-mismatch") || test.contains("lost"));
    let forward = compare(&old, &new);
    // With the scans swapped, new findings are fixed ones.
    let backward = compare(&new, &old);
    assert_eq!(
        (forward.summary.new, forward.summary.fixed),
        (backward.summary.fixed, backward.summary.new)
    );
    assert_eq!(forward.summary.matched, 1);
    assert_eq!(forward.summary.renamed, 1);
    Some(forward)
}

const NEW_LIBRARY: &str = "foo-1.3/libfoo.so.1.2.4";

#[test]
fn moved_code_is_not_a_change() {
    let old = format!("{SOUND}{}", broken("f"));
    let new = format!("{UNUSED}{SOUND}\tnop\n{}", broken("f"));
    let Some(changes) = rebuilt("moved", &old, &new) else { return };
    assert!(changes.rules.is_empty() && changes.files.is_empty(), "{changes:#?}");
    // The unused function has an entry.
    let [sections] = changes.sections.as_slice() else { panic!("{changes:#?}") };
    assert_eq!((sections.old.as_str(), sections.new.as_str()), ("V2", "V2"));
    assert!(sections.old_bytes < sections.new_bytes, "{sections:?}");
}

#[test]
fn a_nop_inside_the_function_is_not_a_change() {
    let old = broken("f");
    let new = old.replace("\tpop\t%rbp\n", "\tnop\n\tpop\t%rbp\n");
    assert_ne!(old, new);
    let Some(changes) = rebuilt("inside", &old, &new) else { return };
    assert!(changes.is_empty(), "{changes:#?}");
}

#[test]
fn another_function_with_the_same_pattern_is_a_change() {
    // Both functions have the same pattern, so the report has one finding for them.
    let (old, new) = (broken("f"), format!("{}{}", broken("f"), broken("g")));
    let Some(changes) = rebuilt("more", &old, &new) else { return };
    assert!(changes.worse);
    assert_eq!(findings(&changes, NEW_LIBRARY), ["changed cfa-mismatch f"]);
    let finding = &changes.files[0].findings[0];
    let functions =
        |place: &Option<sframe_history::changes::Place>| place.as_ref().unwrap().functions;
    assert_eq!((functions(&finding.old), functions(&finding.new)), (1, 2));
    assert_eq!((changes.rules[0].old, changes.rules[0].new), (1, 2));
}

#[test]
fn a_defect_in_a_library_without_findings_is_new() {
    let (old, new) = (SOUND.to_owned(), format!("{UNUSED}{SOUND}{}", broken("g")));
    let Some(changes) = rebuilt("new", &old, &new) else { return };
    assert!(changes.worse);
    assert_eq!(findings(&changes, NEW_LIBRARY), ["new cfa-mismatch g"]);
    assert_eq!(changes.files[0].matched, Some(Matched::Version));
    // The assembler loses the offset of 16 at the end of `mov %rsp, %rbp`, after instructions of 1 and 3 bytes.
    let place = changes.files[0].findings[0].new.as_ref().unwrap();
    assert_eq!((place.offset, place.message.as_str()), (Some(4), "CFA is rbp+8, CFI says rbp+16"));
}

#[test]
fn the_same_defect_in_another_function_is_new_and_the_old_one_fixed() {
    let old = format!("{}{}", broken("f"), SOUND);
    let new = format!("{}{}", broken("g"), SOUND);
    let Some(changes) = rebuilt("other", &old, &new) else { return };
    let mut found = findings(&changes, NEW_LIBRARY);
    found.sort();
    assert_eq!(found, ["fixed cfa-mismatch f", "new cfa-mismatch g"]);
}

#[test]
fn a_function_that_is_no_longer_described_is_listed_with_the_cause() {
    let old = format!("{SOUND}{}", based_on("h", "rsp, 8"));
    let new = format!("{UNUSED}{SOUND}{}", based_on("h", "rbx, 0"));
    let Some(changes) = rebuilt("lost", &old, &new) else { return };
    // Another function is described now, so the number of described functions is the same.
    let coverage = changes.files[0].coverage.as_ref().expect("a change");
    assert_eq!(coverage.verdict, CoverageVerdict::MoreUndescribed);
    let function = &coverage.functions[0];
    assert_eq!((function.symbol.as_str(), function.known), ("h", true));
    assert_eq!((function.old.as_deref(), function.new.as_deref()), (None, Some("cfa-register")));
    let new = format!("{SOUND}{}", based_on("h", "rbx, 0"));
    let Some(changes) = rebuilt("lost-alone", &old, &new) else { return };
    let coverage = changes.files[0].coverage.as_ref().expect("a change");
    assert_eq!(coverage.verdict, CoverageVerdict::Lost);
    assert_eq!((coverage.old.functions, coverage.new.functions), (2, 1));
    assert!(changes.worse);
}

/// One source assembled by two versions of GNU as, whose defects `corpus/differences/README.md` lists.
#[test]
fn another_assembler_fixes_its_known_defects() {
    let golden = corpus().join("golden");
    let of = |version: &str| scan(&golden, &["--all", &format!("{version}/x86_64/cfi.o")]);
    let changes = compare(&of("2.44"), &of("2.47.50"));
    let found = findings(&changes, "2.47.50/x86_64/cfi.o");
    // Only GNU as 2.40 and 2.44 have the defects `remembered-in-place` and `return-elsewhere`.
    for fixed in ["fixed cfa-mismatch remembers", "fixed ra-mismatch return_elsewhere"] {
        assert!(found.iter().any(|found| found == fixed), "{fixed}: {found:?}");
    }
    // Only GNU as 2.47.50 has the defect `simple-outermost`; 2.44 writes no entry for this function.
    assert!(
        found.iter().any(|found| found == "new outermost-mismatch simple_without_rules"),
        "{found:?}"
    );
    assert_eq!(changes.summary.new.errors, 1, "{found:?}");
}

/// GNU as 2.47.50 describes `aligned_and_sized`, and 2.44 does not (docs/comparison.md, `diff`).
#[test]
fn another_assembler_describes_one_more_function() {
    let golden = corpus().join("golden");
    let of = |version: &str| scan(&golden, &[&format!("{version}/x86_64/realign.o")]);
    let changes = compare(&of("2.44"), &of("2.47.50"));
    let coverage = changes.files[0].coverage.as_ref().expect("a change");
    assert_eq!(coverage.verdict, CoverageVerdict::Gained);
    assert_eq!(coverage.functions[0].symbol, "aligned_and_sized");
    assert_eq!(coverage.functions[0].old.as_deref(), Some("cfa-register"));
    assert_eq!((coverage.old.functions, coverage.new.functions), (1, 2));
    assert_eq!(compare(&of("2.47.50"), &of("2.44")).summary.coverage_lost, 1);
}

/// Equal programs with sections of version 2 and 3. Their sizes are those that readelf printed for `MANIFEST.tsv`.
#[test]
fn sections_of_another_version_are_reported_together() {
    let golden = corpus().join("golden");
    let names = ["leaf.o", "calls.o"];
    let manifest = fs::read_to_string(golden.join("MANIFEST.tsv")).expect("readable");
    let size = |version: &str| -> u64 {
        let paths = names.map(|name| format!("{version}/x86_64/{name}"));
        let lines = manifest.lines().map(|line| line.split('\t').collect::<Vec<_>>());
        let sizes = lines.filter(|line| paths.iter().any(|path| path == line[0]));
        sizes.map(|line| line[5].parse::<u64>().expect("a size")).sum()
    };
    let of = |version: &str| {
        let paths = names.map(|name| format!("{version}/x86_64/{name}"));
        scan(&golden, &paths.each_ref().map(String::as_str))
    };
    let changes = compare(&of("2.44"), &of("2.47.50"));
    let [change] = changes.sections.as_slice() else { panic!("{:?}", changes.sections) };
    assert_eq!((change.old.as_str(), change.new.as_str(), change.files), ("V2", "V3", 2));
    assert_eq!((change.old_bytes, change.new_bytes), (size("2.44"), size("2.47.50")));
    assert!(change.old_bytes != change.new_bytes && change.old_bytes > 0);
    assert!(!changes.is_empty() && !changes.worse);
    assert!(compare(&of("2.44"), &of("2.44")).sections.is_empty());
}

/// The findings of a file that can no longer be read are not fixed.
#[test]
fn findings_of_a_truncated_file_are_undecided() {
    let folder = folder("truncated");
    let file = folder.join("cfi.o");
    let bytes = fs::read(corpus().join("golden/2.44/x86_64/cfi.o")).expect("readable");
    fs::write(&file, &bytes).expect("writable");
    let old = scan(&folder, &["cfi.o"]);
    fs::write(&file, &bytes[..100]).expect("writable");
    let changes = compare(&old, &scan(&folder, &["cfi.o"]));
    assert!(changes.worse);
    assert_eq!(changes.files[0].became, Some(Became::Unreadable));
    assert_eq!(changes.summary.fixed.all(), 0);
    assert!(changes.summary.undecided > 0);
}

#[test]
fn a_removed_section_is_worse() {
    let folder = folder("section");
    let golden = corpus().join("golden/2.44/x86_64/cfi.o");
    fs::copy(&golden, folder.join("cfi.o")).expect("writable");
    let old = scan(&folder, &["cfi.o"]);
    let Some(bin) = toolchain("2.44") else { return };
    let strip = Command::new(bin.join("x86_64-linux-gnu-objcopy"))
        .args(["-R", ".sframe", "-R", ".rela.sframe", "cfi.o"])
        .current_dir(&folder)
        .status();
    assert!(strip.expect("objcopy runs").success());
    let changes = compare(&old, &scan(&folder, &["cfi.o"]));
    assert!(changes.worse);
    assert_eq!(changes.files[0].became, Some(Became::SectionLost));
    assert_eq!(changes.summary.coverage_lost, 1);
}
