//! Compares the SFrame sections of files with their CFI: `cargo run --example compare -- FILE...`.

use std::collections::BTreeMap;

use sframe_oracle::cfi::{Cfi, RowContext};
use sframe_oracle::compare::{Sums, Verdict, compare};
use sframe_oracle::coverage::{Cause, Stubs, cause};
use sframe_validator::elf::{Elf, ElfKind, RelocationTable};
use sframe_validator::{Placement, Section, Version};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args_os().skip(1) {
        let data = std::fs::read(&path)?;
        println!("{}", path.display());
        if let Err(error) = print(&data) {
            println!("  {error}");
        }
    }
    Ok(())
}

fn print(data: &[u8]) -> Result<Sums, Box<dyn std::error::Error>> {
    let elf = Elf::parse(data)?;
    let headers: Vec<_> = elf.sframe_sections().copied().collect();
    let mut starts = Vec::new();
    for header in &headers {
        starts.push(RelocationTable::load(&elf, header.index)?.starts());
    }
    let mut sections = Vec::new();
    for (header, starts) in headers.iter().zip(&starts) {
        let placement = if elf.kind() == ElfKind::Relocatable {
            Placement::relocated(starts)
        } else {
            Placement::at(header.address)
        };
        match Section::parse(elf.section_data(header)?, placement.with_abi(elf.abi())) {
            Ok(section) => sections.push(section),
            Err(error) => println!("  {error}"),
        }
    }
    let version = sections.first().map_or(Version::V3, |section| section.header().version);
    let cfi = Cfi::load_all(&elf)?;
    let mut contexts: Vec<_> = cfi.iter().map(RowContext::new).collect();
    let stubs = Stubs::of(&elf);
    let mut causes: BTreeMap<Cause, u64> = BTreeMap::new();
    let sums = compare(&elf, &sections, &cfi, |range| match range.verdict {
        Verdict::Different(fields) | Verdict::Limited(fields) => {
            println!(
                "  {}+{:#x}..{:#x} {:?}: {fields}",
                range.section, range.start, range.end, range.verdict
            );
            if let (Some((_, _, ours)), Some((fde, Some(truth)))) = (range.sframe, range.cfi) {
                println!("    SFrame {ours}\n    CFI    {truth} (FDE {:#x})", fde.offset());
            }
        }
        Verdict::OnlyCfi => {
            let Some((fde, _)) = range.cfi else { return };
            let at = cfi.iter().position(|cfi| cfi.section() == fde.cfi().section());
            let Some(context) = at.and_then(|at| contexts.get_mut(at)) else { return };
            let cause = cause(&stubs, &fde, version, context);
            *causes.entry(cause).or_default() += range.end - range.start;
            if cause == Cause::None {
                println!(
                    "  {}+{:#x}..{:#x} only CFI, FDE {:#x}",
                    range.section,
                    range.start,
                    range.end,
                    fde.offset()
                );
            }
        }
        Verdict::OnlySframe | Verdict::Undecided => {
            println!(
                "  {}+{:#x}..{:#x} {:?}",
                range.section, range.start, range.end, range.verdict
            );
        }
        Verdict::Equal | Verdict::Neither => {}
    });
    println!("  {version:?} {sums:?}");
    for (cause, bytes) in causes {
        println!("  {bytes} bytes lost: {}", cause.name());
    }
    Ok(sums)
}
