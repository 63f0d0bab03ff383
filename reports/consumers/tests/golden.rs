//! What the profiles say of the golden corpus.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::collections::BTreeMap;
use std::fs;

use sframe_consumers::{Input, Verdict, assess, profiles};
use sframe_corpus::golden;
use sframe_validator::elf::Elf;

#[test]
fn table() {
    let mut counts: BTreeMap<(String, String), BTreeMap<Verdict, u64>> = BTreeMap::new();
    for path in golden(&["exe", "so"]) {
        let data = fs::read(&path).unwrap();
        let Ok(elf) = Elf::parse(&data) else { continue };
        let Some(section) = elf.sframe_contents().next() else { continue };
        let Ok(bytes) = section.data else { continue };
        let Ok(parsed) = sframe_validator::Section::parse(bytes, sframe_validator::Placement::at(section.header.address)) else { continue };
        let Ok(abi) = parsed.abi() else { continue };
        let input = Input::new(bytes, section.header.address, abi);
        let tool = path.strip_prefix(sframe_corpus::corpus().join("golden")).unwrap().components().next().unwrap().as_os_str().to_string_lossy().into_owned();
        for consumer in profiles() {
            let result = assess(&input, *consumer);
            if std::env::var_os("SHOW").is_some() {
                println!("{} {} {:?} {:?} {:?} {:?}", path.display(), result.consumer, result.verdict, result.reason, result.functions, result.bytes);
                for e in &result.examples { println!("    {e:?}"); }
            }
            *counts.entry((tool.clone(), result.consumer)).or_default().entry(result.verdict).or_default() += 1;
        }
    }
    for ((tool, consumer), verdicts) in counts { println!("{tool:10} {consumer:20} {verdicts:?}"); }
}
