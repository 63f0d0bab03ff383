//! Measures the time of a forecast: `cargo run --release --example cost -- FILE...`.

use std::time::Instant;

use sframe_oracle::account::{Options, account};
use sframe_oracle::cfi::Cfi;

use sframe_synthesis::{Encoding, Release, forecast};
use sframe_validator::Version;
use sframe_validator::elf::Elf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args_os().skip(1) {
        let data = std::fs::read(&path)?;
        let elf = Elf::parse(&data)?;
        let start = Instant::now();
        let cfi = Cfi::load_all(&elf)?;
        println!("{}: CFI read in {:?}", path.display(), start.elapsed());
        let start = Instant::now();
        let account = account(&elf, &[], &cfi, &Options::default());
        println!("  coverage sweep: {:?} {} losses", start.elapsed(), account.losses.len());
        for encoding in [Encoding::Gnu(Release::V2_47_50), Encoding::Smallest(Version::V3)] {
            let start = Instant::now();
            let size = forecast(&elf, &cfi, encoding)?.section.map(|account| account.size);
            println!("  {encoding:?}: {size:?} bytes in {:?}", start.elapsed());
        }
    }
    Ok(())
}
