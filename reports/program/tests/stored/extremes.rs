//! A store with the largest possible numbers, which a damaged or malicious store may have: no command overflows, and
//! sums saturate at 2^64 - 1.

use sframe_store::{Counts, Manifest, Shard, Store};

use crate::{folder, golden_tree, outcome};

const LARGEST: u64 = u64::MAX;
const LARGEST_TEXT: &str = "18,446,744,073,709,551,615";

/// A record with the largest number in every count.
fn record(path: &str) -> String {
    let section = format!(
        r#"{{"size":{LARGEST},"functions":{LARGEST},"rows":{LARGEST},"covered_bytes":{LARGEST},"header":{{"version":2}}}}"#
    );
    let count = |rule: &str, severity: &str| {
        format!(r#"{{"rule":"{rule}","severity":"{severity}","count":{LARGEST}}}"#)
    };
    let counts = [
        count("cfa-mismatch", "error"),
        count("ra-mismatch", "error"),
        count("fp-lost", "warning"),
    ];
    let verdicts =
        ["equal", "limited", "different", "only_cfi", "only_sframe", "neither", "undecided"];
    let functions = ["both", "partly", "only_cfi", "only_sframe"];
    let all = |names: &[&str]| {
        let fields: Vec<String> =
            names.iter().map(|name| format!("\"{name}\":{LARGEST}")).collect();
        format!("{{{}}}", fields.join(","))
    };
    let extent = format!(r#""functions":{LARGEST},"bytes":{LARGEST}"#);
    format!(
        r#"{{"type":"file","path":"{path}","status":"checked","code_bytes":{LARGEST},"covered_bytes":{LARGEST},"sections":[{section},{section}],"counts":[{}],"coverage":{{"bytes":{},"functions":{},"losses":[{{"cause":"cfa-register",{extent}}}],"limits":[{{"field":"signal",{extent}}}]}}}}"#,
        counts.join(","),
        all(&verdicts),
        all(&functions),
    )
}

#[test]
fn sums_of_the_largest_numbers_saturate() {
    let folder = folder("extremes");
    golden_tree(&folder.join("tree"));
    assert_eq!(outcome(&folder, &["plan", "tree", "--shards", "1", "-o", "m"]).0, 0);
    let manifest = Manifest::open(&folder.join("m")).expect("a manifest");
    let paths = manifest.items().iter().map(|item| item.path.display().to_string());
    let paths: Vec<String> = paths.collect();
    let store = Store::create(&folder.join("s"), manifest).expect("a store");
    let Shard::ToDo(mut writer) = store.begin(0).expect("a shard") else { panic!("a new store") };
    let mut without = Counts::default();
    for kind in ["not-elf", "fifo", "of-another-version"] {
        without.add(kind, LARGEST);
    }
    while let Some(item) = writer.next_item() {
        writer.record(record(&paths[item as usize]).as_bytes()).expect("a record");
        writer.item_done(item, None, without.clone()).expect("it is next");
    }
    writer.finish().expect("a shard");

    let (status, _, error) = outcome(&folder, &["merge", "--manifest", "m", "--store", "s"]);
    assert_eq!(status, 0, "{error}");
    assert!(error.contains(&format!("{LARGEST_TEXT} files without")), "{error}");
    assert_eq!(outcome(&folder, &["status", "--manifest", "m", "--store", "s"]).0, 0);
    let (status, text, error) = outcome(&folder, &["--store", "s", "--resume", "-v", "tree"]);
    assert_eq!(status, 1, "{error}");
    for sum in ["inputs", "functions", "rows", "errors", "warnings"] {
        assert!(text.contains(&format!("{LARGEST_TEXT} {sum}")), "{sum}: {text}");
    }
    for format in ["text", "json", "markdown"] {
        let (status, _, error) = outcome(&folder, &["compare", "s", "s", "--format", format]);
        assert_eq!(status, 0, "{error}");
    }
}
