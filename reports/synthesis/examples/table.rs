//! Compares predictions with the sections that files have: `cargo run --example table -- FILE...`.

use std::collections::BTreeMap;

use sframe_oracle::cfi::Cfi;
use sframe_synthesis::{Encoding, Place, Release, Synthesis, account_of, synthesize};
use sframe_validator::Version;
use sframe_validator::elf::Elf;
use sframe_validator::section::Section;

type Table = BTreeMap<(u32, u64), (u32, Vec<(u64, String)>)>;

fn rows_of(section: &Section<'_>) -> Table {
    let mut table = Table::new();
    for function in section.functions().flatten() {
        let Ok(start) = function.start() else { continue };
        let rows = function
            .rows()
            .map(|rows| rows.flatten().map(|row| (row.start, row.frame.to_string())).collect());
        table.insert((start.section, start.address), (function.size(), rows.unwrap_or_default()));
    }
    table
}

fn print(made: &Synthesis, own: &Section<'_>, place: Place) {
    let placement = match place {
        Place::Linked(address) => sframe_validator::Placement::at(address),
        Place::Relocatable => sframe_validator::Placement::relocated(&made.written.relocations),
    };
    let section = Section::parse(&made.written.bytes, placement).expect("sound");
    let (ours, theirs) = (rows_of(&section), rows_of(own));
    let mut left = 6;
    for (start, function) in &ours {
        if theirs.get(start) != Some(function) && left > 0 {
            left -= 1;
            println!("  ours   {start:x?} {function:x?}\n  theirs {:x?}", theirs.get(start));
        }
    }
    for (start, function) in &theirs {
        if !ours.contains_key(start) && left > 0 {
            left -= 1;
            println!("  only theirs {start:x?} {function:x?}");
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    let verbose = arguments.next_if_eq("-v").is_some();
    for path in arguments {
        let Ok(data) = std::fs::read(&path) else { continue };
        let Ok(elf) = Elf::parse(&data) else { continue };
        let Ok(cfi) = Cfi::load_all(&elf) else { continue };
        for sframe in elf.sframe_contents() {
            let Ok(data) = sframe.data else { continue };
            let Ok(placement) = sframe.placement() else { continue };
            let Ok(section) = Section::parse(data, placement) else { continue };
            let Ok(account) = account_of(&section) else { continue };
            let release = match section.header().version {
                Version::V1 => Release::V2_40,
                Version::V2 => Release::V2_44,
                Version::V3 => Release::V2_47_50,
            };
            let place = Place::of(&elf);
            let (made, smallest) = match (
                synthesize(&elf, &cfi, Encoding::Gnu(release), place),
                synthesize(
                    &elf,
                    &cfi,
                    Encoding::Smallest(release.version().max(Version::V2)),
                    place,
                ),
            ) {
                (Ok(made), Ok(smallest)) => (made, smallest),
                (a, b) => {
                    println!("{path}: {:?} {:?}", a.err(), b.err());
                    continue;
                }
            };
            let sign = if made.account.size == account.size { "==" } else { "!=" };
            println!(
                "{sign} {path}: {} {} predicted {}/{}/{} real {}/{}/{} smallest {}",
                release.name(),
                account.abi.name(),
                made.account.size,
                made.account.functions,
                made.account.rows,
                account.size,
                account.functions,
                account.rows,
                smallest.account.size,
            );
            if verbose {
                println!("  {:?}", made.losses);
                print(&made, &section, place);
            }
        }
    }
}
