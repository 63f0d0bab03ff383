//! Start fields that a linker did not adjust are recognised if all of them fit CFI, and only then.
//!
//! The files are those of `corpus/differences/starts-not-adjusted/`; objdump and readelf print beside them where SFrame and
//! CFI have each function. The neighbours differ from them in one field.

use std::fs;
use std::process::Command;

use sframe_corpus::program::run;
use sframe_corpus::{corpus, folder, read, tools};
use sframe_record::Record;

use super::{records, scan};

const KNOWN: &str = "starts-not-adjusted";
/// Where the section of `lld.so` has its flags, and the start and size of its second function: a header of 28 bytes,
/// and entries of 20.
const FLAGS: usize = 3;
const START: usize = 28 + 20;
const SIZE: usize = START + 4;

/// The rules that a file breaks: those whose findings are all cases of the defect, and the others.
fn rules(record: &Record<'_>) -> (Vec<String>, Vec<String>) {
    let is_known = |rule: &str| {
        let mut counts = record.counts.iter().filter(|count| count.rule.as_str() == rule);
        counts.all(|count| count.known.as_deref() == Some(KNOWN))
    };
    let mut rules: Vec<String> = record.counts.iter().map(|count| count.rule.to_string()).collect();
    rules.sort();
    rules.dedup();
    rules.into_iter().partition(|rule| is_known(rule))
}

const ALL: [&str; 8] = [
    "cfa-mismatch",
    "fp-mismatch",
    "function-outside-code",
    "function-overlap",
    "segment-missing",
    "sframe-without-cfi",
    "unexplained-loss",
    "unsorted-linked",
];

#[test]
fn all_findings_are_cases_of_the_defect() {
    for (file, others) in
        [("lld.so", &[][..]), ("gold.so", &[]), ("lld-v1.so", &["obsolete-version"])]
    {
        let options = ["--no-config", "--format", "ndjson", file];
        let outcome = run(&corpus().join("differences/starts-not-adjusted"), &options);
        // Each function is at a wrong place: the section is useless.
        assert_eq!(outcome.status, 1, "{file}");
        let record = records(&outcome.text).next().expect("a record");
        let (known, unknown) = rules(&record);
        assert_eq!(known, ALL, "{file}");
        assert_eq!(unknown, [others, &["useless-section"]].concat(), "{file}");
    }
}

#[test]
fn other_golden_files_are_no_cases() {
    let text = scan();
    let mut files = 0;
    for record in records(&text) {
        let is_case = record.counts.iter().any(|count| count.known.as_deref() == Some(KNOWN));
        let path = record.path.as_str();
        let is_judged =
            path.starts_with("differences/starts-not-adjusted/") && path.ends_with(".so");
        assert_eq!(is_case, is_judged, "{}", record.path);
        files += usize::from(is_case);
    }
    assert_eq!(files, 3);
}

/// Checks `lld.so` after a change to the bytes of the file, at an offset from its section.
fn changed(name: &str, change: impl Fn(&mut [u8], usize)) -> (Vec<String>, Vec<String>) {
    let mut file = read("differences/starts-not-adjusted/lld.so");
    let at = section(&file);
    change(&mut file, at);
    let folder = folder!(format!("starts-{name}"));
    fs::write(folder.join("file.so"), file).expect("writable");
    let text = run(&folder, &["--all", "--no-config", "--format", "ndjson", "file.so"]).text;
    rules(&records(&text).next().expect("a record"))
}

/// The offset of the section in the file: the only place with its first four bytes.
fn section(file: &[u8]) -> usize {
    let places: Vec<usize> =
        (0..file.len()).filter(|at| file[*at..].starts_with(&[0xe2, 0xde, 2, 0])).collect();
    assert_eq!(places.len(), 1, "{places:x?}");
    places[0]
}

#[test]
fn neighbours_are_no_cases() {
    let (known, others) = changed("none", |_, _| ());
    assert_eq!((known.len(), others), (ALL.len(), vec!["useless-section".to_owned()]));
    type Change = dyn Fn(&mut [u8], usize);
    // `Linker: Debian LLD 23.1.4` in .comment.
    let producer = |file: &mut [u8], _: usize| {
        let at = file.windows(7).position(|bytes| bytes == b"ian LLD").expect("in .comment");
        file[at..at + 7].copy_from_slice(b"   mold");
    };
    let neighbours: [(&str, &Change); 7] = [
        ("one function starts a byte later", &|file, at| file[at + START] += 1),
        ("one function starts a byte earlier", &|file, at| file[at + START] -= 1),
        ("one function is a byte longer", &|file, at| file[at + SIZE] += 1),
        ("one function is empty", &|file, at| file[at + SIZE] = 0),
        ("two functions are one", &|file, at| {
            // The second function counts from a field 20 bytes later, and has the first one's size.
            let start = i32::from_le_bytes(file[at + 28..at + 32].try_into().expect("4 bytes"));
            file[at + START..at + SIZE].copy_from_slice(&(start - 20).to_le_bytes());
            file[at + SIZE] = 1;
        }),
        ("functions are sorted", &|file, at| file[at + FLAGS] |= 1),
        ("another linker", &producer),
    ];
    for (name, change) in neighbours {
        let (known, _) = changed(&name.replace(' ', "-"), change);
        // A function without code shows a linker that does not adjust starts, whatever the other functions are.
        let is_of_others = |rule: &String| rule != "function-outside-code";
        assert!(!known.iter().any(is_of_others), "{name}: {known:?}");
        assert!(name != "another linker" || known.is_empty(), "{name}: {known:?}");
    }
}

/// With the flag for fields that count from themselves, all functions are where CFI has them.
#[test]
fn a_section_that_says_so_is_right() {
    let (known, others) = changed("pcrel", |file, at| file[at + FLAGS] |= 4);
    assert_eq!(known, Vec::<String>::new());
    let of_linker = ["section-type", "segment-missing", "unsorted-linked"];
    assert!(others.iter().all(|rule| of_linker.contains(&rule.as_str())), "{others:?}");
}

/// The known defects of lost functions in a program of lld, and their numbers. `main` and the C library's main function have
/// SFrame; the functions of `others` and of the start files have none.
fn lost_beside(others: &[&str]) -> Option<Vec<(String, u64)>> {
    let (assembler, linker) = (tools::toolchain("2.44")?, tools::toolchain("llvm-23")?);
    let start_file = super::start_files::crt1()?;
    let start_file = start_file.to_str().expect("UTF-8");
    let folder = folder!(format!("starts-beside-{}", others.len()));
    let function = |name: &&str| {
        format!(
            "\t.globl {name}\n\t.type {name}, @function\n{name}:\n\t.cfi_startproc\n\tret\n\t.cfi_endproc\n\t.size {name}, .-{name}\n"
        )
    };
    let with: String = ["main", "__libc_start_main"].iter().map(function).collect();
    fs::write(folder.join("main.s"), with).expect("writable");
    fs::write(folder.join("others.s"), others.iter().map(function).collect::<String>())
        .expect("writable");
    let assembler = assembler.join("x86_64-linux-gnu-as");
    let commands: [(_, &[&str]); 3] = [
        (&assembler, &["--gsframe", "-o", "main.o", "main.s"]),
        (&assembler, &["-o", "others.o", "others.s"]),
        (&linker.join("ld.lld"), &["-o", "program", "main.o", "others.o", start_file]),
    ];
    for (program, arguments) in commands {
        let status = Command::new(program).args(arguments).current_dir(&folder).status();
        assert!(status.expect("it runs").success(), "{arguments:?}");
    }
    let text = run(&folder, &["--no-config", "--format", "ndjson", "program"]).text;
    let record = records(&text).next().expect("a record");
    let of_rule = record.counts.iter().filter(|count| count.rule.as_str() == "unexplained-loss");
    let known = |id: Option<&sframe_record::Text<'_>>| id.map(ToString::to_string);
    Some(of_rule.map(|of| (known(of.known.as_ref()).unwrap_or_default(), of.count)).collect())
}

/// Functions that were assembled without SFrame are lost for another reason.
#[test]
fn other_losses_are_counted_apart() {
    let Some(found) = lost_beside(&[]) else { return };
    let start = ("start-without-sframe".to_owned(), 2);
    assert_eq!(found, [start.clone(), (KNOWN.to_owned(), 2)]);
    let found = lost_beside(&["helper", "other"]).expect("tools");
    assert_eq!(found, [(String::new(), 2), start, (KNOWN.to_owned(), 2)]);
}
