//! `lookup`: rows as GNU objdump prints them, source lines as GNU addr2line prints them.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use sframe_corpus::{printed, repository, tools};

fn lookup(folder: &Path, file: &Path, places: &[String]) -> Value {
    let mut arguments = vec!["lookup".to_owned(), "--format".to_owned(), "json".to_owned()];
    arguments.push(file.display().to_string());
    arguments.extend_from_slice(places);
    let run = sframe_corpus::program::run(folder, &arguments);
    assert!(run.status < 3, "{}: {run:?}", file.display());
    serde_json::from_str(&run.text).expect("JSON")
}

/// A row that objdump prints, in the notation of `lookup`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PrintedRow {
    start: String,
    cfa: String,
    ra: String,
    fp: String,
    ra_signed: bool,
}

/// The rows of functions that have code and no repeated blocks.
fn printed_rows(file: &Path, text: &str) -> Vec<PrintedRow> {
    let is_amd64 = file.to_string_lossy().contains("x86_64");
    let (sp, fp) = if is_amd64 { ("rsp", "rbp") } else { ("sp", "x29") };
    let recovery = |text: &str| match text.strip_prefix('c') {
        Some(offset) => format!("*(CFA{offset})"),
        // RA is at a fixed place on AMD64.
        None if text == "f" => "*(CFA-8)".to_owned(),
        None => "unchanged".to_owned(),
    };
    let mut rows: Vec<PrintedRow> = Vec::new();
    let mut has_code = false;
    for line in text.lines() {
        if line.contains("func idx") {
            has_code = !line.contains("size = 0 ");
        }
        // The rows of a repeated block have offsets.
        has_code &= !line.contains("STARTPC[m]");
        let words: Vec<&str> = line.split_whitespace().collect();
        let [start, cfa, saved_fp, saved_ra] = words[..] else { continue };
        // A row with other cells is flexible.
        let is_plain = |cell: &str| cell == "u" || cell == "f" || cell.starts_with('c');
        if !is_plain(saved_fp) || !is_plain(saved_ra.trim_end_matches("[s]")) {
            continue;
        }
        let address = u64::from_str_radix(start, 16).ok().filter(|_| start.len() == 16);
        let Some(address) = address.filter(|_| has_code) else { continue };
        rows.push(PrintedRow {
            start: format!("{address:#x}"),
            cfa: cfa.replace("sp", sp).replace("fp", fp),
            ra: recovery(saved_ra.trim_end_matches("[s]")),
            fp: recovery(saved_fp),
            ra_signed: saved_ra.ends_with("[s]"),
        });
    }
    // Of rows with the same start, the last one is valid; functions may also overlap.
    let is_alone =
        |row: &&PrintedRow| rows.iter().filter(|other| other.start == row.start).count() == 1;
    rows.iter().filter(is_alone).cloned().collect()
}

#[test]
fn rows_are_what_objdump_prints() {
    let mut compared = 0;
    for (file, text) in printed("objdump") {
        let name = file.to_string_lossy();
        let wanted = ["throw.so", "comdat.so", "shared.so", "sizes.so", "pauth.so"];
        let is_wanted = wanted.iter().any(|wanted| name.ends_with(wanted));
        let by_release = name.contains("/2.44/") || name.contains("/2.47.50/");
        // s390x has registers of its own.
        if !is_wanted || !by_release || name.contains("s390x") {
            continue;
        }
        let rows = printed_rows(&file, &text);
        let places: Vec<String> = rows.iter().map(|row| row.start.clone()).collect();
        let answers = lookup(&repository(), &file, &places);
        let answers = answers["places"].as_array().expect("a list");
        assert_eq!(answers.len(), rows.len(), "{name}");
        for (printed, answer) in rows.iter().zip(answers) {
            let row = &answer["sframe"]["row"];
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let found = PrintedRow {
                start: text(&answer["pc"]),
                cfa: text(&row["cfa"]),
                ra: text(&row["ra"]),
                fp: text(&row["fp"]),
                ra_signed: row["ra_signed"] == true,
            };
            assert_eq!(found, *printed, "{name}");
            compared += 1;
        }
    }
    assert!(compared > 300, "only {compared} rows");
}

fn output_of(folder: &Path, tool: &str, arguments: &[String]) -> String {
    let output = Command::new(tool).args(arguments).current_dir(folder).output().expect(tool);
    String::from_utf8(output.stdout).expect("text")
}

/// Debugging information in the file, compressed in it, and in a separate file.
#[test]
fn source_lines_are_what_addr2line_prints() {
    let folder = sframe_corpus::folder!("lookup-source-lines");
    let source = "static int twice(int x) {\n  return 2 * x;\n}\n\nint (*volatile f)(int) = twice;\n\n\
                  int main(void) {\n  return f(1)\n    + f(2);\n}\n";
    std::fs::write(folder.join("a.c"), source).expect("writable");
    let build = "gcc -g -O1 -o plain a.c && gcc -g -gz -O1 -o compressed a.c && mkdir debug && cp plain stripped \
                 && objcopy --only-keep-debug plain debug/stripped.debug \
                 && objcopy -S --add-gnu-debuglink=debug/stripped.debug stripped";
    if !tools::run(&folder, "gcc", build) || !tools::has("addr2line") {
        return;
    }
    let symbols = output_of(&folder, "nm", &["plain".to_owned()]);
    let main = symbols.lines().find_map(|line| line.strip_suffix(" T main")).expect("a symbol");
    let main = u64::from_str_radix(main, 16).expect("an address");
    let places: Vec<String> = (0..24).map(|offset| format!("main+{offset:#x}")).collect();
    let addresses: Vec<String> = (main..main + 24).map(|address| format!("{address:#x}")).collect();
    let arguments = [["-e".to_owned(), "plain".to_owned()].as_slice(), &addresses].concat();
    let lines = output_of(&folder, "addr2line", &arguments);
    assert!(lines.contains("a.c:8") && lines.contains("a.c:9"), "{lines}");
    for (name, options) in
        [("plain", vec![]), ("compressed", vec![]), ("stripped", vec!["--debug-dir", "debug"])]
    {
        let mut wanted: Vec<String> = options.into_iter().map(str::to_owned).collect();
        wanted.extend(places.clone());
        let answers = lookup(&folder, Path::new(name), &wanted);
        for (number, line) in lines.lines().enumerate() {
            let answer = &answers["places"][number];
            let source = &answer["source"];
            let found =
                format!("{}:{}", source["file"].as_str().unwrap_or_default(), source["line"]);
            // addr2line adds a discriminator to some lines.
            let line = line.split(" (").next().unwrap_or_default();
            assert_eq!(found, line, "{name}: {answer}");
            assert_eq!(
                (&answer["pc"], &answer["symbol"]),
                (&addresses[number][..].into(), &"main".into())
            );
        }
    }
}

/// In relocatable objects, all sections start at 0, and the debugging information has relocations. addr2line and the
/// source below agree on the lines.
#[test]
fn source_lines_of_objects_are_what_addr2line_prints() {
    let folder = sframe_corpus::folder!("lookup-lines-of-objects");
    // The lines 4, 5, 10 and 11 have an instruction each.
    let function = |name: &str| {
        format!(
            "\t.section .text.{name},\"ax\"\n\t.type {name}, %function\n{name}:\n\tnop\n\tnop\n"
        )
    };
    std::fs::write(folder.join("a.s"), function("f") + "\n" + &function("g")).expect("writable");
    for (version, machine) in [("2.44", "x86_64"), ("2.44", "aarch64"), ("2.47.50", "s390x")] {
        let bin = tools::toolchains().join(version).join("bin");
        let tool =
            |name: &str| bin.join(format!("{machine}-linux-gnu-{name}")).display().to_string();
        if !Path::new(&tool("as")).exists() {
            let remedy = format!("corpus/build fetch {version}");
            // Released tools do not vanish from their suite.
            match version {
                "2.44" => tools::missing("binutils 2.44", &remedy),
                _ => tools::skipped::note(&format!("as for {machine}"), &remedy),
            }
            continue;
        }
        let object = format!("{machine}.o");
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<String>>();
        output_of(&folder, &tool("as"), &words(&format!("-g a.s -o {object}")));
        let size = if machine == "x86_64" { 1 } else { 4 };
        for (section, first) in [("f", 4), ("g", 10)] {
            for number in 0..2 {
                let place = format!(".text.{section}+{:#x}", number * size);
                let address = format!("{:#x}", number * size);
                let arguments = words(&format!("-j .text.{section} -e {object} {address}"));
                let line = output_of(&folder, &tool("addr2line"), &arguments);
                assert!(line.trim_end().ends_with(&format!("a.s:{}", first + number)), "{line}");
                let answer = lookup(&folder, Path::new(&object), &[place]);
                let source = &answer["places"][0]["source"];
                let found =
                    format!("{}:{}", source["file"].as_str().unwrap_or_default(), source["line"]);
                assert_eq!(found, line.trim_end(), "{machine}: {answer}");
            }
        }
    }
}

/// The labels of an assembly file: functions without a size, with a size, without a type, and data between them.
const LABELS: &str = "\t.text\n\t.globl _start\n_start:\n\tnop\n\tnop\nlocal:\n\tnop\n.Lhidden:\n\tnop\n\
                      \t.type sized, %function\nsized:\n\tnop\n\tnop\n\t.size sized, .-sized\n\tnop\n\
                      \t.type typed, %function\ntyped:\n\tnop\n\tnop\n\t.type data, %object\ndata:\n\t.long 0\n\
                      \t.size data, .-data\n\tnop\n\t.globl last\nlast:\n\tnop\n\tnop\n\
                      \t.section .init, \"ax\"\nother:\n\tnop\n\tnop\n\t.data\n\t.long 0\n";

/// The truth is `info symbol`, for each address in and around the code. Only code has a name in `lookup`.
#[test]
fn code_without_a_size_has_the_name_that_gdb_prints() {
    let Some(bin) = tools::toolchain("2.44").filter(|_| tools::is_installed("gdb-multiarch"))
    else {
        return;
    };
    let folder = sframe_corpus::folder!("lookup-labels");
    std::fs::write(folder.join("a.s"), LABELS).expect("writable");
    for (machine, size) in [("x86_64", 1), ("aarch64", 4)] {
        let tool =
            |name: &str| bin.join(format!("{machine}-linux-gnu-{name}")).display().to_string();
        let (object, program) = (format!("{machine}.o"), format!("{machine}.exe"));
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<String>>();
        output_of(&folder, &tool("as"), &words(&format!("a.s -o {object}")));
        let link = "--section-start=.init=0x10000 -Ttext=0x20000";
        output_of(&folder, &tool("ld"), &words(&format!("{link} {object} -o {program}")));
        let init = 0xfffe..0x10000 + 2 * size + 4;
        let text = 0x1fffe..0x20000 + 12 * size + 12;
        let addresses: Vec<String> =
            init.chain(text).map(|address: u64| format!("{address:#x}")).collect();
        let mut gdb = vec!["-nx".to_owned(), "-batch".to_owned(), program.clone()];
        for address in &addresses {
            gdb.extend(["-ex".to_owned(), format!("info symbol {address}")]);
        }
        let printed = output_of(&folder, "gdb-multiarch", &gdb);
        assert_eq!(printed.lines().count(), addresses.len(), "{printed}");
        let answers = lookup(&folder, Path::new(&program), &addresses);
        let mut named = 0;
        for (number, line) in printed.lines().enumerate() {
            let answer = &answers["places"][number];
            // Such as `_start + 1 in section .text`.
            let name = line.split_once(" in section ").map(|(name, _)| name);
            let name = name.filter(|name| !name.starts_with("data")).map(str::to_owned);
            let found = answer["symbol"].as_str().map(|symbol| match &answer["symbol_offset"] {
                Value::Number(offset) if offset.as_u64() != Some(0) => {
                    format!("{symbol} + {offset}")
                }
                _ => symbol.to_owned(),
            });
            assert_eq!(found, name, "{machine} {}: {line}", addresses[number]);
            named += usize::from(found.is_some());
        }
        // 2 instructions in `.init`, and 12 without the one after `sized` and the one after the data.
        assert_eq!(named as u64, 12 * size, "{machine}");
    }
}
