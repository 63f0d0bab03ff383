//! A wrong value in a row is never excused as a producer's mistake: no producer wrote it.
//!
//! The files are what GNU as and ld and LLVM made. In each function of a file, one row gets another value, so that the producer
//! has written something else there. No finding about such a row may be a case of a known defect, and the counts are the same
//! whether all findings are listed or some.
//!
//! Each golden file gets one value in each function. `SFRAME_PLANTED` is the number of values for each version and machine instead,
//! also in the libraries that `corpus/build real` makes; `SFRAME_SEED` makes other ones.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use sframe_corpus::program::run;
use sframe_corpus::{corpus, files, folder, tools};
use sframe_record::{Finding, Record};
use sframe_validator::Section;
use sframe_validator::elf::Elf;
use sframe_validator::unwind::{Cfa, Recovery, Row};

use super::records;

/// The producers, by the folders of their files in `golden/` and `real/`.
const PRODUCERS: [&str; 4] = ["2.40", "2.44", "2.47.50", "llvm-23"];
/// The folder with the smallest files that show each known defect.
const DIFFERENCES: &str = "differences";
/// The number of planted files that are checked at a time.
const AT_A_TIME: usize = 64;

/// A function and a row of a section, by number.
type Place = (u32, u32);

/// Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).expect("64 bits") % limit
    }
}

/// Each row, and the places of the bytes in which a value is planted.
type Rows = BTreeMap<Place, (Row, Vec<u64>)>;

/// The place of a file's only section, and its rows; `None` if it cannot be read.
fn section(file: &[u8]) -> Option<(usize, Rows)> {
    let elf = Elf::parse(file).ok()?;
    let mut contents = elf.sframe_contents();
    let (found, None) = (contents.next()?, contents.next()) else { return None };
    let section = Section::parse(found.data.ok()?, found.placement().ok()?).ok()?;
    let mut rows = BTreeMap::new();
    for function in section.functions() {
        let function = function.ok()?;
        let stored = function.frame_row_entries().ok()?;
        for ((number, row), stored) in (0..).zip(function.rows().ok()?).zip(stored) {
            let (row, stored) = (row.ok()?, stored.ok()?);
            // The lowest byte of each word, and the byte that says which register the CFA counts from.
            let words = (0..stored.words.count()).map(|word| stored.word_offset(word));
            let last = u64::from(stored.words.size()).saturating_sub(1);
            let is_big = file.get(5) == Some(&2);
            let words = words.map(|word| if is_big { word + last } else { word });
            let bytes = words.chain([stored.info_offset()]).collect();
            rows.insert((function.index(), number), (row, bytes));
        }
    }
    Some((usize::try_from(found.header.offset).ok()?, rows))
}

/// Plants a wrong value into a row of each function. Returns the rows whose meaning is another one.
fn plant(file: &mut [u8], random: &mut Random) -> BTreeMap<Place, Row> {
    let Some((start, before)) = section(file) else { return BTreeMap::new() };
    let mut by_function: BTreeMap<u32, Vec<Place>> = BTreeMap::new();
    for place in before.keys() {
        by_function.entry(place.0).or_default().push(*place);
    }
    for places in by_function.values() {
        let place = places[random.below(places.len())];
        let bytes = &before[&place].1;
        let which = random.below(bytes.len());
        let at = start + usize::try_from(bytes[which]).expect("in the file");
        file[at] = if which + 1 == bytes.len() {
            file[at] ^ 1
        } else {
            let changes = [8, 16, 24, 64, 248, 240, 232, 192, 1, 80, 120];
            file[at].wrapping_add(changes[random.below(changes.len())])
        };
    }
    let Some((_, after)) = section(file) else { return BTreeMap::new() };
    let is_other =
        |place: &Place, row: &Row| before.get(place).map(|of| of.0.frame) != Some(row.frame);
    let rows = after.into_iter().map(|(place, (row, _))| (place, row));
    rows.filter(|(place, row)| is_other(place, row)).collect()
}

/// The planted row that a finding is about. If it says where, the finding's first PC decides: a row that follows a wrong one and
/// equals CFI is named as one that starts too late.
fn planted_row(finding: &Finding<'_>, planted: &BTreeMap<Place, Row>) -> Option<Row> {
    let function = finding.function.as_ref()?.index;
    let of_function = planted.iter().filter(|(place, _)| place.0 == function);
    let row = of_function.clone().find(|(place, _)| finding.row == Some(place.1));
    let Some(code) = &finding.code else { return row.map(|of| *of.1) };
    let at_place = of_function.map(|of| of.1).find(|row| row.contains(code.start.0));
    at_place.or_else(|| row.map(|of| of.1).filter(|row| row.start < code.end.0)).copied()
}

/// Whether the planted value is what LLVM writes for `.cfi_rel_offset`: the operand, which counts from the CFA's register.
fn is_as_written(known: &str, finding: &Finding<'_>, planted: &Row) -> bool {
    let (Cfa::RegisterOffset { offset, .. }, Recovery::AtCfa(slot)) =
        (planted.frame.cfa, planted.frame.fp)
    else {
        return false;
    };
    let right = format!("CFI says *(CFA{:+})", slot - offset);
    known == "relative-save-ignored" && finding.message.ends_with(&right)
}

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok().map(|value| value.parse().expect("a number"))
}

/// The files of a producer with a section, by machine.
fn of_producer(producer: &str, with_real: bool) -> BTreeMap<String, Vec<PathBuf>> {
    let is_of_all = producer == DIFFERENCES;
    let golden = if is_of_all { corpus() } else { corpus().join("golden") };
    let mut roots = vec![golden.join(producer)];
    roots.extend(with_real.then(|| tools::real_libraries().join(producer)));
    let mut found: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for root in roots {
        for path in files(&root) {
            let inside = path.strip_prefix(&root).expect("below it");
            let machine = inside.iter().next().expect("a folder").to_string_lossy().into_owned();
            let machine = if is_of_all { "all".to_owned() } else { machine };
            let is_elf = path.extension().is_some_and(|name| name == "o" || name == "so");
            // Inputs of other producers.
            let is_mixed = path.to_string_lossy().contains("mixed");
            if is_elf && !is_mixed {
                found.entry(machine).or_default().push(path);
            }
        }
    }
    found
}

/// How many findings of each rule are cases of each known defect, or of none.
type Counts = BTreeMap<(String, String), u64>;

fn counts(record: &Record<'_>) -> Counts {
    let text = |known: Option<&str>| known.unwrap_or_default().to_owned();
    let of = |count: &sframe_record::RuleCount<'_>| {
        ((count.rule.to_string(), text(count.known.as_deref())), count.count)
    };
    record.counts.iter().map(of).collect()
}

/// The files that were planted, and in which rows.
#[derive(Default)]
struct Batch {
    folder: PathBuf,
    planted: BTreeMap<String, BTreeMap<Place, Row>>,
}

impl Batch {
    /// Checks the files. Returns what is excused.
    fn check(&mut self) -> Vec<String> {
        let mut excused = Vec::new();
        let mut of_all: BTreeMap<String, Counts> = BTreeMap::new();
        let options = ["--all", "--no-config", "--format", "ndjson", "."];
        let text = run(&self.folder, &options).text;
        for record in records(&text) {
            let name = record.path.as_str().trim_start_matches("./").to_owned();
            let planted = &self.planted[&name];
            for finding in &record.findings {
                let Some(known) = finding.known.as_deref() else { continue };
                let row = planted_row(finding, planted).filter(|_| finding.difference.is_some());
                if row.is_some_and(|row| !is_as_written(known, finding, &row)) {
                    excused.push(format!("{name}: {known}: {}", finding.message));
                }
            }
            of_all.insert(name, counts(&record));
        }
        let text = run(&self.folder, &options[1..]).text;
        for record in records(&text) {
            let name = record.path.as_str().trim_start_matches("./");
            assert_eq!(counts(&record), of_all[name], "{name}: with --all and without");
        }
        for name in std::mem::take(&mut self.planted).keys() {
            fs::remove_file(self.folder.join(name)).expect("it was written");
        }
        excused
    }
}

#[test]
fn no_planted_value_is_excused() {
    let wanted = number("SFRAME_PLANTED");
    let seed = number("SFRAME_SEED").unwrap_or(1);
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (seed as u64) << 20);
    let mut excused = Vec::new();
    for producer in PRODUCERS.into_iter().chain([DIFFERENCES]) {
        for (machine, paths) in of_producer(producer, wanted.is_some()) {
            let mut number = 0;
            let mut batch = Batch { folder: folder!("planted"), ..Batch::default() };
            let mut rounds = 0;
            while rounds == 0 || wanted.is_some_and(|wanted| number < wanted) && rounds < 1000 {
                for path in &paths {
                    number += add(&mut batch, path, rounds, &mut random);
                    if batch.planted.len() >= AT_A_TIME || is_large(path) {
                        excused.extend(batch.check());
                    }
                    if rounds > 0 && wanted.is_none_or(|wanted| number >= wanted) {
                        break;
                    }
                }
                rounds += 1;
            }
            excused.extend(batch.check());
            println!("{producer} {machine}: {number} values planted");
            assert!(number > 20, "{producer} {machine}: {number}");
        }
    }
    assert!(excused.is_empty(), "{} excused: {excused:#?}", excused.len());
}

/// Adds a file to a batch. Returns the number of planted rows.
fn add(batch: &mut Batch, path: &Path, round: usize, random: &mut Random) -> usize {
    let mut file = fs::read(path).expect("readable");
    let planted = plant(&mut file, random);
    let number = planted.len();
    if number > 0 {
        let name = path.file_name().expect("a file").to_string_lossy();
        let name = format!("{round}-{}-{name}", batch.planted.len());
        fs::write(batch.folder.join(&name), file).expect("writable");
        batch.planted.insert(name, planted);
    }
    number
}

/// Whether a file is so large that it is checked alone.
fn is_large(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|of| of.len() > 1 << 20)
}
