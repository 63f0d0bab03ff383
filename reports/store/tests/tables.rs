//! Tables: other Parquet readers can read them, and queries on them have the same results as `jq` on the records.
//!
//! `store/tools/readers` installs the readers. Missing ones are reported, and are a failure if `SFRAME_REQUIRE_TOOLS`
//! is set.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod scan;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use sframe_record::Record;
use sframe_store::{Counts, Item, Manifest, Shard, Store, tables};

const QUERIES: [&str; 7] =
    ["what-broke", "lost-coverage", "cost", "producers", "worst-packages", "forecast", "consumers"];

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The program's output for files of the corpus, with packages and producers added by hand (tests/records/README.md).
fn lines() -> Vec<String> {
    let text = fs::read_to_string(here("tests/records/records.ndjson")).expect("readable");
    text.lines().map(str::to_owned).collect()
}

/// A store of these records in two shards, with an item for each path.
fn store(name: &str, lines: &[String]) -> Store {
    let folder = scan::folder(name);
    let path = |line: &String| {
        let bytes = Record::parse(line).expect("a record").path_bytes();
        PathBuf::from(OsStr::from_bytes(&bytes))
    };
    let item = |(n, line): (usize, &String)| Item { path: path(line), size: n as u64, hash: None };
    let plan = scan::plan(lines.iter().enumerate().map(item).collect(), 2);
    let store = Store::create(&folder, Manifest::plan(plan).expect("a plan")).expect("a store");
    for shard in 0..2 {
        let Shard::ToDo(mut writer) = store.begin(shard).expect("a shard") else { panic!("new") };
        while let Some(item) = writer.next_item() {
            let of_item = &store.manifest().items()[item as usize].path;
            for line in lines.iter().filter(|line| path(line) == *of_item) {
                writer.record(line.as_bytes()).expect("a record");
            }
            writer.item_done(item, None, Counts::default()).expect("it is next");
        }
        writer.finish().expect("a shard");
    }
    store
}

/// The readers' Python, if it and `jq` are installed.
fn python() -> Option<PathBuf> {
    let python = here("../../target/readers/bin/python");
    if python.exists() && Command::new("jq").arg("--version").output().is_ok() {
        return Some(python);
    }
    let remedy = "reports/store/tools/readers installs them";
    sframe_corpus::tools::missing("readers of Parquet", remedy);
    None
}

/// The output of a program.
fn printed(command: &mut Command) -> String {
    let output = command.output().expect("the program runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn read(python: &Path, reader: &str, store: &Store, what: &str) -> String {
    let mut command = Command::new(python);
    printed(command.arg(here("tools/read_tables.py")).arg(reader).arg(store.folder()).arg(what))
}

#[test]
fn the_documentation_is_current() {
    let path = here("TABLES.md");
    if std::env::var_os("SFRAME_BLESS").is_some() {
        fs::write(&path, tables::markdown()).expect("writable");
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == tables::markdown(), "TABLES.md is out of date: SFRAME_BLESS=1 writes it");
}

#[test]
fn queries_match_results_of_jq_on_the_records() {
    let Some(python) = python() else { return };
    let mut store = store("tables-queries", &lines());
    store.merge().expect("all shards");
    for query in QUERIES {
        let mut jq = Command::new("jq");
        jq.args(["-r", "-s", "-f"]).arg(here(&format!("tests/records/{query}.jq")));
        let expected = printed(jq.arg(here("tests/records/records.ndjson")));
        assert!(expected.lines().count() >= 3, "{query}: {expected}");
        let sql = here(&format!("queries/{query}.sql"));
        for reader in ["duckdb", "datafusion"] {
            let rows = read(&python, reader, &store, sql.to_str().expect("UTF-8"));
            assert_eq!(rows, expected, "{query} by {reader}");
        }
    }
}

/// Each column has as many values as `jq` counts in the records, and is documented.
#[test]
fn pandas_reads_all_values() {
    let Some(python) = python() else { return };
    let mut store = store("tables-pandas", &lines());
    store.merge().expect("all shards");
    // Tables, columns, and the filters for their values in the records.
    let counts = [
        ("files", "path", ".[].path"),
        ("files", "path_hex", ".[].path_hex // empty"),
        ("files", "package", ".[].package.name // empty"),
        ("files", "source", ".[].package.source // empty"),
        ("files", "member", ".[].member // empty"),
        ("files", "abi", ".[].sections[0].header.abi // empty"),
        ("files", "equal_bytes", ".[].coverage.bytes.equal // empty"),
        ("files", "debug_file", ".[].coverage.debug_file // empty"),
        ("counts", "rule", ".[].counts[]"),
        ("findings", "message", ".[].findings[]"),
        ("findings", "section_offset", ".[].findings[].offset // empty"),
        ("findings", "field", ".[].findings[].field // empty"),
        ("findings", "row", ".[].findings[].row // empty"),
        ("findings", "code_start", ".[].findings[].code // empty"),
        ("findings", "function", ".[].findings[] | .function.symbol // .code.symbol // empty"),
        ("differences", "fields", ".[].findings[].difference // empty"),
        ("coverage", "examples", ".[].coverage.losses[]?"),
        ("forecasts", "section_bytes", ".[].forecast.sections[]?"),
        ("forecasts", "reason", ".[].forecast.sections[]?.reason // empty"),
        (
            "forecasts",
            "machine",
            ".[].forecast | select(.).machine as $machine | .sections[] | $machine",
        ),
        (
            "forecasts",
            "elf_type",
            ".[] | select(.forecast).elf_type as $of | .forecast.sections[] | $of",
        ),
        ("forecast_losses", "cause", ".[].forecast.sections[]?.losses[]"),
        ("forecast_losses", "example_start", ".[].forecast.sections[]?.losses[].examples[0]"),
        (
            "forecast_losses",
            "example_section",
            ".[].forecast.sections[]?.losses[].examples[0].code_section // empty",
        ),
        ("findings", "known", ".[].findings[].known // empty"),
        ("findings", "source_file", ".[].findings[].source // empty"),
        ("consumers", "outcome", ".[].readings[]?"),
        ("consumers", "reason", ".[].readings[]?.reason // empty"),
        ("producers", "producer", ".[].producers[]?"),
    ];
    for (table, column, filter) in counts {
        let mut jq = Command::new("jq");
        jq.args(["-s", &format!("[{filter}] | length")]);
        let expected = printed(jq.arg(here("tests/records/records.ndjson")));
        let rows = read(&python, "pandas", &store, table);
        let line = format!("{column}\t{}", expected.trim());
        assert!(rows.lines().any(|row| row == line), "{table}: {line} is not in\n{rows}");
        for row in rows.lines() {
            let name = row.split('\t').next().unwrap_or_default();
            let documented = tables::markdown().contains(&format!("| `{name}` |"));
            assert!(documented || name == "shard", "{table}: {name}");
        }
    }
}

/// Values are stored unchanged, with escapes and large numbers. The expected ones are copied from the record below.
#[test]
fn tables_have_the_values_of_the_records() {
    let Some(python) = python() else { return };
    let mut odd = lines();
    odd.truncate(3);
    odd.push(
        r#"{"type":"file","path":"p","status":"crashed","reason":"signal 11","code_bytes":18446744073709551615,
"content":{"size":5,"hash":"00"},"findings":[{"rule":"r","severity":"lint","group":"g","message":"m \"q\"\t\u00fc",
"code":{"start":"0x10","end":"0xffffffff81000000"},"difference":{"fields":["cfa","ra"],"table":[
{"side":"both","start":"0x0","cfa":"a","ra":"b","fp":"c","ra_signed":false},
{"side":"sframe","start":"0x4","cfa":"d","ra":"e","fp":"f","ra_signed":true},
{"side":"cfi","start":"0x5","cfa":"g","ra":"h","fp":"i","ra_signed":false}],"instructions":[],
"similar":{"functions":1,"ranges":2,"bytes":3}}}],
"coverage":{"bytes":{"equal":1,"limited":2,"different":3,"only_cfi":4,"only_sframe":5,"neither":6,"undecided":7},
"functions":{"both":8,"partly":9,"only_cfi":10,"only_sframe":11},"losses":[
{"cause":"c","functions":2,"bytes":9,"examples":[{"start":"0x1","size":4,"symbol":"s,1"},{"start":"0x2","size":5}]},
{"cause":"d","functions":1,"bytes":1,"examples":[]}],"limits":[]}}"#
            .replace('\n', ""),
    );
    let mut store = store("tables-values", &odd);
    store.merge().expect("all shards");
    let ask = |query: &str| {
        let path = store.folder().join("query.sql");
        fs::write(&path, query).expect("writable");
        let answer = |reader| read(&python, reader, &store, path.to_str().expect("UTF-8"));
        let answer = (answer("duckdb"), answer("datafusion"));
        assert_eq!(answer.0, answer.1);
        answer.0
    };
    assert_eq!(
        ask("SELECT status, reason, code_bytes, size, hash, package, equal_bytes, limited_bytes,
            different_bytes, only_cfi_bytes, only_sframe_bytes, neither_bytes, undecided_bytes,
            both_functions, partly_functions, only_cfi_functions, only_sframe_functions
            FROM files WHERE path = 'p'"),
        "crashed\tsignal 11\t9223372036854775807\t5\t00\t\t1\t2\t3\t4\t5\t6\t7\t8\t9\t10\t11\n"
    );
    assert_eq!(
        ask(
            "SELECT message, code_start, code_end, section, function FROM findings WHERE rule = 'r'"
        ),
        "m \"q\"\t\u{fc}\t0x10\t0xffffffff81000000\t\t\n"
    );
    assert_eq!(
        ask(
            "SELECT fields, sframe_rows, cfi_rows, similar_functions, similar_ranges, similar_bytes
            FROM differences WHERE rule = 'r'"
        ),
        "['cfa', 'ra']\t0x0  a  b  c\n0x4  d  e  f  signed\n\t0x0  a  b  c\n0x5  g  h  i\n\t1\t2\t3\n"
    );
    assert_eq!(
        ask(
            "SELECT cause, functions, bytes, examples FROM coverage WHERE path = 'p' ORDER BY cause"
        ),
        "c\t2\t9\t['s,1', '0x2']\nd\t1\t1\t[]\n"
    );
}

#[test]
fn tables_of_several_row_groups_are_complete() {
    let Some(python) = python() else { return };
    let count = r#"{"rule":"r","severity":"error","count":1,"files":1},"#;
    // Lists of two, one and no elements. The size of a row group is not a multiple of three.
    let loss = r#"{"cause":"c","functions":1,"bytes":1,"examples":[{"start":"0x1","size":1},{"start":"0x2","size":1}]},
{"cause":"c","functions":1,"bytes":1,"examples":[{"start":"0x1","size":1}]},{"cause":"c","functions":1,"bytes":1},"#;
    let record = |n: u32| {
        let counts = count.repeat(10_000);
        let (counts, losses) = (counts.trim_end_matches(','), loss.repeat(3_333));
        let losses = losses.trim_end_matches(',');
        format!(
            r#"{{"type":"file","path":"{n}","status":"checked","counts":[{counts}],"coverage":{{
"bytes":{{"equal":0,"limited":0,"different":0,"only_cfi":0,"only_sframe":0,"neither":0,"undecided":0}},
"functions":{{"both":0,"partly":0,"only_cfi":0,"only_sframe":0}},"limits":[],"losses":[{losses}]}}}}"#
        )
        .replace('\n', "")
    };
    let mut store = store("tables-many", &(0..20).map(record).collect::<Vec<_>>());
    store.merge().expect("all shards");
    assert!(read(&python, "pandas", &store, "counts").contains("rule\t200000\n"));
    let sql = store.folder().join("lists.sql");
    fs::write(&sql, "SELECT count(*), sum(len(examples)) FROM coverage").expect("writable");
    let rows = read(&python, "duckdb", &store, sql.to_str().expect("UTF-8"));
    assert_eq!(rows, "199980\t199980\n");
    let sql = here("queries/what-broke.sql");
    let rows = read(&python, "duckdb", &store, sql.to_str().expect("UTF-8"));
    assert_eq!(rows, "error\tr\t0\t200000\t200000\n");
}

/// Fields that a record lacks are null in a table. For example, a report that lists each range of a difference has no
/// `similar`.
#[test]
fn missing_fields_are_null() {
    let record = |similar: &str| {
        format!(
            r#"{{"type":"file","path":"p","status":"checked","findings":[{{"rule":"r","severity":"error","difference":{{"fields":["cfa"],"table":[]{similar}}}}}]}}"#
        )
    };
    let similar = r#","similar":{"functions":1,"ranges":2,"bytes":3}"#;
    let mut store = store("tables-similar", &[record(""), record(similar), record("")]);
    store.merge().expect("all shards");
    let Some(python) = python() else { return };
    let values = read(&python, "pandas", &store, "differences");
    assert!(values.lines().any(|line| line == "similar_functions\t1"), "{values}");
}
