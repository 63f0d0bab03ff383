//! Results of scans of checked-in files: reports in both formats, and stores.

use std::fs;
use std::path::{Path, PathBuf};

use sframe_history::Record;
use sframe_input::Selection;
use sframe_policy::Policy;
use sframe_render::report::{JsonDocument, JsonLines, Renderer, WithProgress};
use sframe_scan::{CheckOptions, scan};
use sframe_store::{
    ContentHash, Counts, Item, Key, Known, Manifest, Plan, Shard, ShardState, StampsWriter, Store,
};

use crate::targets::scans::{BEFORE, FRAME, Hashes, PART};

/// The number of lines in a frame of a shard.
const LINES_OF_FRAME: usize = 3;

/// Reports about each kind of difference between SFrame and CFI and about findings of the fuzzers, the report with
/// which the target compares others, and stores of some of their records.
///
/// # Panics
/// Panics if the corpus cannot be scanned, or if there is no space for a store.
#[must_use]
pub fn scans(corpus: &Path) -> Vec<Vec<u8>> {
    let mut reports = vec![BEFORE.to_owned(), after()];
    let folders = folders(corpus);
    reports.extend(folders.iter().map(|folder| report(corpus, folder, json_lines)));
    let stores = reports.iter().zip([2, 1, 1, 2]).map(|(report, shards)| store(report, shards));
    let stores: Vec<_> = stores.map(|store| store.expect("disk space")).collect();
    reports.extend(folders.iter().take(3).map(|folder| report(corpus, folder, json_document)));
    reports.into_iter().map(String::into_bytes).chain(stores).collect()
}

/// The fixed report as if some versions later: with other names, findings in other functions and fields, and more
/// entries.
fn after() -> String {
    let changes = [
        ("1.2", "1.3"),
        ("foo_open", "foo_close"),
        ("sfre_start_address", "sfre_info"),
        ("\"size\":32", "\"size\":48"),
        ("\"count\":7", "\"count\":5"),
        ("no-section", "checked"),
        ("\"only_cfi\":1}", "\"only_cfi\":0}"),
    ];
    changes.into_iter().fold(BEFORE.to_owned(), |report, (old, new)| report.replace(old, new))
}

fn folders(corpus: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(corpus.join("differences")).expect("checked in");
    let mut folders: Vec<_> = entries.map(|entry| entry.expect("readable").path()).collect();
    folders.push(corpus.join("regressions"));
    folders.retain(|path| path.is_dir());
    folders.sort();
    folders
}

fn json_document(out: &mut Vec<u8>) -> Box<dyn Renderer + '_> {
    Box::new(JsonDocument::new(out, None))
}

fn json_lines(out: &mut Vec<u8>) -> Box<dyn Renderer + '_> {
    Box::new(JsonLines::new(out, None))
}

/// The report on a folder with paths relative to `corpus`.
fn report(
    corpus: &Path,
    folder: &Path,
    format: fn(&mut Vec<u8>) -> Box<dyn Renderer + '_>,
) -> String {
    let mut out = Vec::new();
    let mut renderer = format(&mut out);
    let inputs = Selection::new(&[folder.into()], Vec::new());
    let options =
        CheckOptions { coverage: true, hash: true, producers: true, ..CheckOptions::default() };
    let mut sink = WithProgress::new(renderer.as_mut());
    let summary = scan(inputs, &options, &Policy::default(), 1, &mut sink).expect("checked in");
    renderer.finish(&summary).expect("memory");
    drop(renderer);
    let report = String::from_utf8(out).expect("UTF-8");
    report.replace(&format!("{}/", corpus.display()), "")
}

/// A complete store of a report's records, as the target takes it.
fn store(report: &str, shards: u32) -> sframe_store::Result<Vec<u8>> {
    let room = tempfile::tempdir().expect("disk space");
    let folder = room.path();
    let records: Vec<_> = report.lines().filter_map(|line| Some((line, path(line)?))).collect();
    let rules = ContentHash::of(b"rules");
    let key = Key { tool: "sframe-check 0.1.0".to_owned(), rules, options: rules };
    let item = |path: &PathBuf| Item { path: path.clone(), size: 1, hash: None };
    let items = records.iter().map(|(_, path)| item(path)).collect();
    let mut without = Counts::default();
    without.add("not-elf", 2);
    let plan = Plan { key: key.clone(), inputs: vec!["corpus".into()], shards, without, items };
    let manifest = Manifest::plan(plan)?;
    let mut store = Store::create(folder, manifest.clone())?;
    for shard in 0..shards {
        let Shard::ToDo(mut writer) = store.begin(shard)? else { continue };
        while let Some(number) = writer.next_item() {
            let path = &manifest.items()[number as usize].path;
            for (record, _) in records.iter().filter(|(_, of)| of == path) {
                writer.record(record.as_bytes())?;
            }
            let hash = ContentHash::of(path.as_os_str().as_encoded_bytes());
            writer.item_done(number, Some(hash), manifest.without().clone())?;
        }
        writer.finish()?;
    }
    store.merge()?;
    stamps(folder, &key)?;

    let run = fs::read_to_string(folder.join("run.json")).expect("merged");
    // The last two fields: the hash of the list of files, and the hash of the preceding text.
    let (before, _) = run.split_once(",\n  \"files\"").expect("merged");
    let run = format!(
        "{before},\n  \"files\": \"{}\",\n  \"hash\": \"{}\"\n}}\n",
        Hashes::FILES,
        Hashes::RUN
    );
    let named = |text: String| {
        let text = text.replace(&manifest.hash().to_string(), Hashes::MANIFEST);
        text.replace(&key.hash().to_string(), Hashes::KEY)
    };
    let mut parts = vec![named(run), decompressed(&folder.join("manifest.ndjson.zst"))];
    for shard in 0..2 {
        let Ok(ShardState::Whole(totals)) = store.state(shard) else {
            // Once with a list that does not match these files, and once without a list, so that it is made from them.
            let list = fs::read_to_string(folder.join("files.ndjson")).expect("merged");
            parts.push(if shards == 1 { list } else { String::new() });
            continue;
        };
        let lines = named(decompressed(&folder.join(format!("shards/{shard:05}.ndjson.zst"))));
        let lines = lines.replace(&totals.hash.to_string(), Hashes::LINES);
        let lines: Vec<&str> = lines.split_inclusive('\n').collect();
        let frames: Vec<String> = lines.chunks(LINES_OF_FRAME).map(<[&str]>::concat).collect();
        parts.push(frames.join(&char::from(FRAME).to_string()));
    }
    parts.push(String::new());
    let mut stamps = fs::read(folder.join("stamps")).expect("saved");
    stamps.truncate(stamps.len() - ContentHash::of(b"").as_bytes().len());
    let parts = parts.into_iter().map(String::into_bytes).chain([stamps]);
    Ok(parts.collect::<Vec<_>>().join(&PART))
}

/// The path in a line, if the line is a record.
fn path(line: &str) -> Option<PathBuf> {
    Some(PathBuf::from(Record::parse(line).ok()?.path.as_str()))
}

/// Stamps of two files.
fn stamps(folder: &Path, key: &Key) -> sframe_store::Result<()> {
    let mut writer = StampsWriter::start(folder, key)?;
    let sources = Path::new(env!("CARGO_MANIFEST_DIR"));
    let known = [Known::Content(ContentHash::of(b"")), Known::Without("not-elf")];
    for (name, known) in ["Cargo.toml", "README.md"].into_iter().zip(known) {
        writer.note(&fs::metadata(sources.join(name)).expect("checked in"), known);
    }
    writer.save()
}

fn decompressed(path: &Path) -> String {
    let bytes = zstd::decode_all(fs::File::open(path).expect("written")).expect("written by zstd");
    String::from_utf8(bytes).expect("UTF-8")
}

#[cfg(test)]
mod tests {
    use super::{BEFORE, after, store};
    use sframe_history::report;

    /// The reports can be read to the end, and the store contains names instead of its own hashes.
    #[test]
    fn the_fixed_reports_and_their_store_are_valid() {
        for report in [BEFORE, &after()] {
            let mut records = 0;
            let ending = report::read(report.as_bytes(), |_| records += 1).expect("a report");
            assert!(ending.complete && records == 4);
        }
        let store = store(BEFORE, 2).expect("disk space");
        let text = String::from_utf8_lossy(&store);
        for hash in ["\"manifest\": \"@manifest\"", "\"key\":\"@key\"", "\"hash\":\"@lines\""] {
            assert!(text.contains(hash), "{hash}");
        }
    }
}
