//! Prints sizes.
use sframe_oracle::cfi::Cfi;
use sframe_synthesis::*;
use sframe_validator::elf::Elf;
use sframe_validator::*;
fn main() {
    for path in std::env::args().skip(1) {
        let data = std::fs::read(&path).unwrap();
        let elf = Elf::parse(&data).unwrap();
        let cfi = Cfi::load_all(&elf).unwrap();
        for sframe in elf.sframe_contents() {
            let Ok(data) = sframe.data else { continue };
            let Ok(section) = Section::parse(data, sframe.placement().unwrap()) else { continue };
            println!("{path}: {:?}", account_of(&section));
        }
        for version in [Version::V2, Version::V3] {
            match synthesize(&elf, &cfi, Encoding::Smallest(version), Place::of(&elf)) {
                Ok(made) => println!("{path}: {:?} {:?}", made.account, made.losses),
                Err(error) => println!("{error}"),
            }
        }
    }
}
