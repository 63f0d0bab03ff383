//! Compares two scans of a distribution: `cargo bench -p sframe-history --bench scale -- FILES FINDINGS` (by default,
//! 100,000 files per scan and 60,000 findings). Prints processor time and memory.
//!
//! The records are synthetic and as long as those of a system's libraries: three causes of lost coverage with three
//! functions each, and findings with a table and instructions. In the second scan all versions and addresses differ,
//! one percent of the findings is gone, and as many are new.

use std::fmt::Write as _;
use std::fs;
use std::io::sink;

use sframe_history::changes::{Options, Scan, write_json, write_text};
use sframe_history::{Comparison, Groups, When, report};

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<u64>().ok());
    let (files, findings) = (numbers.next().unwrap_or(100_000), numbers.next().unwrap_or(60_000));
    let [old, new] = [0, 1].map(|scan| text(scan, files, findings));
    let bytes = old.len() + new.len();
    println!("{files} files per scan, {findings} findings, {} MB of NDJSON", bytes / 1_000_000);
    let start = (seconds(), peak());

    let mut comparison = Comparison::new(Scan::complete("old"), Scan::complete("new"));
    for (when, text) in [(When::Old, &old), (When::New, &new)] {
        let read = report::read(text.as_bytes(), |record| comparison.add(when, record));
        comparison.scan_mut(when).complete = read.expect("a report").complete;
    }
    let read = seconds();
    let changes = comparison.finish();
    let compared = seconds();
    write_text(&mut sink(), &changes, &Options { details: usize::MAX }).expect("no errors");
    write_json(&mut sink(), &changes).expect("no errors");
    println!(
        "read {:.2} s, compared {:.2} s, written {:.2} s",
        read - start.0,
        compared - read,
        seconds() - compared
    );
    println!("memory {} MiB more than the reports", (peak() - start.1) / 1024);
    let summary = &changes.summary;
    println!(
        "{} matched, {} new, {} fixed, {} undecided",
        summary.matched,
        summary.new.all(),
        summary.fixed.all(),
        summary.undecided
    );

    let start = seconds();
    let mut groups = Groups::default();
    report::read(old.as_bytes(), |record| groups.add(record)).expect("a report");
    let causes = groups.finish();
    println!("{} causes in {:.2} s", causes.causes.len(), seconds() - start);
}

/// One scan as NDJSON.
fn text(scan: u64, files: u64, findings: u64) -> String {
    let mut text = String::new();
    for file in 0..files {
        let range = |file: u64| file * findings / files;
        let of_file = (range(file)..range(file + 1)).filter(|number| number % 100 != 99 * scan);
        let listed: Vec<String> = of_file.map(|number| finding(number, scan)).collect();
        let count = listed.len();
        let counts = if count == 0 {
            String::new()
        } else {
            format!(r#"{{"rule":"cfa-mismatch","severity":"error","count":{count},"files":1}}"#)
        };
        let losses: Vec<String> =
            ["cfa-register", "cfa-expression", "plt"].iter().map(|c| loss(c, file, scan)).collect();
        let _ = writeln!(
            text,
            r#"{{"type":"file","path":"pool/main/p{package}_1.{scan}-1_amd64.deb","inside":"usr/lib/x86_64-linux-gnu/lib{file}.so.1.2.{scan}","status":"checked","code_bytes":100000,"covered_bytes":90000,"sections":[{{"index":10,"name":".sframe","address":"0x1000","file_offset":4096,"size":20000,"header":{{"version":2,"flags":1,"abi":"AMD64","endian":"little"}},"functions":300,"rows":2000,"covered_bytes":90000}}],"counts":[{counts}],"findings":[{}],"undecided":[],"coverage":{{"bytes":{{"equal":90000,"limited":0,"different":5,"only_cfi":9000,"only_sframe":0,"neither":995,"undecided":0}},"functions":{{"both":300,"partly":0,"only_cfi":30,"only_sframe":0}},"losses":[{}],"limits":[]}}}}"#,
            listed.join(","),
            losses.join(","),
            package = file / 4,
        );
    }
    text.push_str(
        r#"{"type":"summary","format":1,"tool":{"name":"sframe-check","version":"0.1.0"}}"#,
    );
    text
}

fn finding(number: u64, scan: u64) -> String {
    let start = number * 64 + scan * 0x1000;
    let line = |side: &str, pc: u64, cfa: u64| {
        format!(
            r#"{{"side":"{side}","start":"{:#x}","cfa":"rsp+{cfa}","ra":"*(CFA-8)","fp":"unchanged","ra_signed":false}}"#,
            start + pc
        )
    };
    let base = 8 * (number % 50);
    let table = [
        line("both", 0, 8),
        line("sframe", 4, base + 16),
        line("cfi", 4, base + 8),
        line("both", 9, 8),
    ];
    format!(
        r#"{{"rule":"cfa-mismatch","severity":"error","group":"comparison","message":"CFA is rsp+{}, CFI says rsp+{}","section":0,"offset":{start},"function":{{"index":{number},"start":"{start:#x}","size":64,"symbol":"_ZN4some5space8function{number}Ev","symbol_offset":0}},"row":1,"code":{{"start":"{:#x}","end":"{:#x}"}},"context":[],"difference":{{"fields":["cfa"],"table":[{}],"instructions":[{{"address":"{:#x}","bytes":"c3","text":"ret"}}],"similar":{{"functions":0,"ranges":0,"bytes":0}}}}}}"#,
        base + 16,
        base + 8,
        start + 4,
        start + 9,
        table.join(","),
        start + 4,
    )
}

fn loss(cause: &str, file: u64, scan: u64) -> String {
    let example = |n: u64| {
        format!(
            r#"{{"start":"{:#x}","size":300,"symbol":"_ZN4lost{file}function{n}Ev","symbol_offset":0}}"#,
            n * 512 + scan * 64
        )
    };
    format!(
        r#"{{"cause":"{cause}","functions":10,"bytes":3000,"examples":[{},{},{}]}}"#,
        example(1),
        example(2),
        example(3)
    )
}

/// The user time of this process (from `stat` in proc(5), in hundredths of a second).
fn seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    after_name.split_whitespace().nth(11).and_then(|ticks| ticks.parse::<f64>().ok()).unwrap_or(0.0)
        / 100.0
}

/// The peak memory of this process in KiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
