//! `sframe-check torture`: with readers whose misbehaviour is known, because they are scripts that
//! do just that; with this program; and with a real one.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection};
use serde_json::Value;

fn torture(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sframe-check"))
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .arg("torture")
        .args(arguments)
        .output()
        .expect("the program runs")
}

/// The exit status, and the report.
fn report(arguments: &[&str]) -> (Option<i32>, Value) {
    let output = torture(&[&["--format", "json"], arguments].concat());
    let report = serde_json::from_slice(&output.stdout).expect("JSON");
    (output.status.code(), report)
}

/// A reader's cases by file.
fn cases(report: &Value) -> BTreeMap<&str, &Value> {
    let cases = report["readers"][0]["cases"].as_array().expect("cases");
    cases.iter().map(|case| (case["file"].as_str().expect("a name"), case)).collect()
}

/// An empty folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

/// A command that runs `script`, whose `$1` is the file.
fn script(name: &str, script: &str) -> String {
    let path = folder(name).join("reader");
    fs::write(&path, script).expect("writable");
    format!("sh {}", path.display())
}

#[test]
fn misbehaviour_is_called_by_its_name() {
    let reader = script(
        "reader-that-misbehaves",
        r#"case "$1" in
            */row-order.elf) kill -SEGV $$ ;;
            */row-past-end.elf) sleep 600 ;;
            */word-count.elf) while :; do :; done ;;
            */no-rows.elf) while :; do echo endless; done ;;
            */flex-register.elf) exec awk 'BEGIN { s = sprintf("%1000d", 1); while (1) a[i++] = s i }' ;;
            */fp-lost.elf) echo '==7==ERROR: AddressSanitizer: overflow' >&2; exit 1 ;;
            */bad-magic.elf) exit 3 ;;
            */fde-type.elf) echo 'warning: odd' >&2 ;;
            */pauth-key.elf) (sh -c 'kill -ABRT $$'); exit $? ;;
        esac"#,
    );
    let (status, report) = report(&["--timeout", "1", "--memory", "256", "--reader", &reader]);
    assert_eq!(status, Some(1));
    let cases = cases(&report);
    let of = |file: &str| {
        let case = &cases[format!("malformed/{file}.elf").as_str()];
        (case["verdict"].as_str().expect("a verdict"), case["judgement"].as_str().expect("one"))
    };
    assert_eq!(of("row-order"), ("crash", "not-conforming"));
    assert_eq!(cases["malformed/row-order.elf"]["signal"], 11);
    assert_eq!(of("row-past-end"), ("hang", "not-conforming"));
    assert_eq!(of("word-count"), ("hang", "not-conforming"));
    assert_eq!(of("no-rows"), ("hang", "not-conforming"));
    assert!(cases["malformed/no-rows.elf"]["printed_bytes"].as_u64() > Some(1 << 16));
    assert_eq!(of("flex-register"), ("memory", "not-conforming"));
    assert_eq!(of("fp-lost"), ("crash", "not-conforming"));
    assert_eq!(of("pauth-key"), ("crash", "not-conforming"));
    assert_eq!(of("bad-magic"), ("reject", "conforming"));
    assert_eq!(cases["malformed/bad-magic.elf"]["exit_status"], 3);
    assert_eq!(of("fde-type"), ("reject", "conforming"));
    assert_eq!(cases["malformed/fde-type.elf"]["message"], "warning: odd");
    assert_eq!(of("row-truncated"), ("accept", "not-conforming"));
    assert_eq!(of("row-redundant"), ("accept", "conforming"));
}

#[test]
fn a_reader_that_accepts_everything_accepts_what_has_no_reading() {
    let (status, all) = report(&["--reader", "true"]);
    assert_eq!(status, Some(1));
    for (file, case) in cases(&all) {
        assert_eq!(case["verdict"], "accept", "{file}");
        let wrong = case["duty"] == "refuse";
        assert_eq!(case["judgement"] == "not-conforming", wrong, "{file}");
    }
    assert_eq!(all["readers"][0]["reads"].as_array().map(Vec::len), Some(3 + 4 + 4 + 4));
    let (_, again) = report(&["--reader", "true", "--threads", "1"]);
    assert_eq!(without_measurements(all), without_measurements(again));
}

fn without_measurements(mut report: Value) -> Value {
    let cases = report["readers"][0]["cases"].as_array_mut().expect("cases");
    for case in cases {
        let case = case.as_object_mut().expect("an object");
        assert!(case.remove("processor_ms").is_some() && case.remove("peak_kib").is_some());
    }
    report
}

#[test]
fn refusals_of_a_reader_that_reads_nothing_say_nothing() {
    let (status, all) = report(&["--reader", "false"]);
    assert_eq!(status, Some(2));
    assert!(cases(&all).values().all(|case| case["judgement"] == "out-of-scope"));
    // One that reads version 2 alone, with starts that count from the section.
    let only = script(
        "reader-of-version-2",
        r#"case "$1" in */sound/v2-amd64.elf) ;; */v3-shared-rows.elf) ;; *) exit 1 ;; esac"#,
    );
    let (status, all) = report(&["--reader", &only]);
    assert_eq!(status, Some(0));
    let cases = cases(&all);
    assert_eq!(cases["defects/v2/row-order.elf"]["judgement"], "conforming");
    assert_eq!(cases["defects/v1/row-order.elf"]["judgement"], "out-of-scope");
    assert_eq!(cases["malformed/unknown-version.elf"]["judgement"], "conforming");
    assert_eq!(cases["bombs/v3-shared-rows.elf"]["judgement"], "conforming");
}

#[test]
fn what_cannot_be_run_is_said() {
    let (status, report) = report(&["--reader", "/no/such/reader"]);
    assert_eq!(status, Some(2));
    let why = report["readers"][0]["error"].as_str().expect("an error");
    assert!(why.contains("No such file or directory"), "{why}");
    for usage in [&["--reader", "read 'it"][..], &["--reader", ""], &["--timeout", "0"]] {
        assert_eq!(torture(usage).status.code(), Some(3), "{usage:?}");
    }
}

#[test]
fn text_has_the_failures_and_the_scoreboard() {
    let output = torture(&["--reader", "true", "--reader", "/no/such/reader"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let has = |wanted: &str| text.lines().any(|line| line == wanted);
    assert!(
        has("  accept  malformed/row-truncated.elf: exit status 0, but it cannot be read; broken \
             rule: every row of a function ends inside the FRE sub-section"),
        "{text}"
    );
    assert!(text.contains("reader           crash   hang  memory  accepted wrongly | accepted"));
    assert!(
        has("/no/such/reader  cannot be run: No such file or directory (os error 2)"),
        "{text}"
    );
}

/// Whatever ends this program, and leaves it no time to do anything, takes the readers with it.
#[test]
fn no_reader_outlives_the_program() {
    for signal in ["INT", "KILL"] {
        if signal == "INT" && ignores_interrupts() {
            // As a shell does it for jobs in the background; the program leaves it so.
            eprintln!("skipped: SIGINT is ignored here, and by all that is started here");
            continue;
        }
        let name = format!("reader-that-stays-{signal}");
        let place = folder(&name);
        // The script, and a process of its own.
        let reader = script(
            &format!("{name}-script"),
            &format!("echo $$ > {}/$$; sleep 600; :", place.display()),
        );
        let mut program = Command::new(env!("CARGO_BIN_EXE_sframe-check"))
            .args(["torture", "--timeout", "600", "--threads", "2", "--reader", &reader])
            // What it leaves behind stays among the tests' files.
            .env("TMPDIR", env!("CARGO_TARGET_TMPDIR"))
            .stdout(Stdio::null())
            .stdin(Stdio::null())
            .spawn()
            .expect("the program runs");
        let readers = || {
            let names =
                fs::read_dir(&place).expect("readable").map(|e| e.expect("readable").file_name());
            let numbers = names.filter_map(|name| name.to_str()?.parse::<u32>().ok());
            numbers.filter(|number| is_alive(*number)).count()
        };
        assert!(eventually(|| readers() > 0), "no reader runs");
        let number = program.id().to_string();
        assert!(
            Command::new("kill").args(["-s", signal, &number]).status().expect("runs").success()
        );
        program.wait().expect("it ends");
        assert!(eventually(|| readers() == 0), "readers live on after SIG{signal}");
    }
}

/// Whether SIGINT, the second signal, is ignored by this process, as all that it starts inherits.
fn ignores_interrupts() -> bool {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a mask");
    u64::from_str_radix(ignored.trim(), 16).expect("hexadecimal") & 1 << 1 != 0
}

/// Whether a process is there and no zombie that nobody waits for.
fn is_alive(number: u32) -> bool {
    let state = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    state.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    (0..1_000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        holds()
    })
}

/// This program, on everything that it asks of others; and each defect is what its name says.
#[test]
fn the_program_itself_conforms() {
    let kept = folder("cases-for-itself");
    let (status, report) =
        report(&["--reader", "sframe-check", "--keep", kept.to_str().expect("UTF-8")]);
    let failures: Vec<_> = cases(&report)
        .into_values()
        .filter(|case| case["judgement"] != "conforming")
        .cloned()
        .collect();
    assert!(failures.is_empty(), "{failures:#?}");
    assert_eq!(status, Some(0));
    for (file, case) in cases(&report).into_iter().filter(|(_, case)| case["kind"] == "defect") {
        let output = Command::new(env!("CARGO_BIN_EXE_sframe-check"))
            .args(["--format", "json"])
            .arg(kept.join(file))
            .output()
            .expect("the program runs");
        let checked: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let counts = checked["files"][0]["counts"].as_array().expect("counts");
        assert!(counts.iter().any(|count| count["rule"] == case["rule"]), "{file}: {counts:?}");
    }
}

/// The program carries the whole corpus, and what it wraps up is an ELF file with these bytes.
#[test]
fn the_corpus_is_what_readers_get() {
    let kept = folder("cases-of-the-corpus");
    torture(&["--reader", "/no/such/reader", "--keep", kept.to_str().expect("UTF-8")]);
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/malformed");
    let mut files = 0;
    for entry in fs::read_dir(corpus).expect("readable") {
        let path = entry.expect("readable").path();
        let bytes = fs::read(&path).expect("readable");
        let name = Path::new("malformed").join(path.file_name().expect("a name"));
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("md") => continue,
            Some("sframe") => {
                let file = fs::read(kept.join(name.with_extension("elf"))).expect("there");
                let file = ElfFile64::<Endianness>::parse(&*file).expect("an ELF file");
                let section = file.section_by_name(".sframe").expect("a section");
                assert_eq!(section.data().expect("in the file"), bytes, "{}", path.display());
            }
            _ => assert!(fs::read(kept.join(&name)).expect("there") == bytes, "{name:?}"),
        }
        files += 1;
    }
    assert_eq!(fs::read_dir(kept.join("malformed")).expect("readable").count(), files);
}

/// A field of an ELF file, or of a header at `place` of one, in little-endian order (gABI, "ELF Header",
/// "Section Header", "Program Header").
fn field(file: &[u8], place: u64, size: usize) -> u64 {
    let start = usize::try_from(place).expect("small");
    file[start..start + size].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// The section headers of type `sh_type`: where each starts in the file.
fn headers(file: &[u8], sh_type: u64) -> Vec<u64> {
    let (start, count) = (field(file, 0x28, 8), field(file, 0x3c, 2));
    (0..count)
        .map(|n| start + 64 * n)
        .filter(|place| field(file, place + 4, 4) == sh_type)
        .collect()
}

/// What a file promises is more than it has, or the same many times over, as its name says: the program's own verdict
/// does not show it, for it survives sound files as well.
#[test]
fn elf_files_promise_what_their_names_say() {
    let kept = folder("cases-of-headers");
    torture(&["--reader", "/no/such/reader", "--keep", kept.to_str().expect("UTF-8")]);
    let read =
        |name: &str| fs::read(kept.join(format!("bombs/elf-{name}.elf"))).expect("it is there");
    let (symtab, rela, progbits) = (2, 4, 1);
    let size = |file: &[u8], place: u64| field(file, place + 32, 8);
    let entry_size = |file: &[u8], place: u64| field(file, place + 56, 8);

    let file = read("section-count");
    assert!(field(&file, 0x3c, 2) == 0 && size(&file, field(&file, 0x28, 8)) > file.len() as u64);
    let file = read("segment-count");
    let first = field(&file, 0x28, 8);
    assert_eq!((field(&file, 0x38, 2), field(&file, first + 44, 4)), (0xffff, 0xffff_ffff));
    let file = read("headers-of-no-size");
    assert!(field(&file, 0x3a, 2) == 0 && field(&file, 0x3c, 2) > 60_000);
    let file = read("table-over-itself");
    assert!(field(&file, 0x3a, 2) == 1 && field(&file, 0x3c, 2) > 60_000);
    let file = read("table-at-end-of-addresses");
    assert!(field(&file, 0x28, 8).checked_add(64).is_none());
    for (name, sh_type) in [("symbol-count", symtab), ("relocation-count", rela)] {
        let file = read(name);
        let tables = headers(&file, sh_type);
        assert!(tables.len() == 1 && size(&file, tables[0]) > file.len() as u64, "{name}");
    }
    let file = read("symbols-of-no-size");
    assert_eq!(entry_size(&file, headers(&file, symtab)[0]), 0);
    let file = read("section-end-wraps");
    let wraps =
        |place: &u64| field(&file, place + 24, 8).checked_add(size(&file, *place)).is_none();
    assert_eq!(headers(&file, progbits).iter().filter(|place| wraps(place)).count(), 1);
    for (name, sh_type) in
        [("shared-sections", progbits), ("shared-relocations", rela), ("shared-cfi", progbits)]
    {
        let file = read(name);
        let mut places: Vec<u64> =
            headers(&file, sh_type).iter().map(|place| field(&file, place + 24, 8)).collect();
        let count = places.len();
        places.dedup();
        assert!(count > 3_900 && places.len() <= 2, "{name}: {count}");
    }
    let file = read("shared-segments");
    assert!(field(&file, 0x38, 2) > 3_900);
}

/// What is reported of a real reader is what the system says when it runs by itself.
#[test]
fn a_real_readelf_ends_as_reported() {
    let toolchain = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/toolchains/2.44");
    let readelf = std::env::var("SFRAME_READELF")
        .unwrap_or_else(|_| toolchain.join("bin/readelf").display().to_string());
    if Command::new(&readelf).arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("skipped: {readelf} cannot be run; `corpus/build fetch 2.44` unpacks it");
        assert!(std::env::var_os("SFRAME_REQUIRE_TOOLS").is_none(), "readelf is required");
        return;
    }
    let kept = folder("cases-for-readelf");
    let reader = format!("{readelf} --sframe");
    let keep = kept.to_str().expect("UTF-8");
    let (status, report) = report(&["--timeout", "1", "--reader", &reader, "--keep", keep]);
    assert_eq!(status, Some(1));
    let version = report["readers"][0]["version"].as_str().expect("a version");
    assert!(version.starts_with("GNU readelf"), "{version}");
    let mut ends = BTreeMap::new();
    // Where parts lie outside the section, readelf reads what happens to be in memory behind it.
    let by_chance = |file: &str| ["outside", "truncated"].iter().any(|word| file.contains(word));
    for (file, case) in cases(&report) {
        if case["kind"] == "bomb" || by_chance(file) {
            continue;
        }
        let output = Command::new(&readelf).arg("--sframe").arg(kept.join(file)).output();
        let output = output.expect("readelf runs");
        let verdict = match output.status.code() {
            None => "crash",
            Some(0) if output.stderr.is_empty() => "accept",
            Some(_) => "reject",
        };
        assert_eq!(case["verdict"], verdict, "{file}: {:?}", output.status.signal());
        *ends.entry(verdict).or_insert(0) += 1;
    }
    assert!(ends.len() == 3 && ends["crash"] > 1, "{ends:?}");
}
