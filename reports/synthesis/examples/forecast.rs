//! Prints the sizes that the sections of files would have, one file a line: `cargo run --example forecast -- FILE...`.

use sframe_oracle::cfi::Cfi;
use sframe_synthesis::{Encoding, Release, forecast};
use sframe_validator::Version;
use sframe_validator::elf::Elf;

const ENCODINGS: [Encoding; 5] = [
    Encoding::Gnu(Release::V2_40),
    Encoding::Gnu(Release::V2_44),
    Encoding::Gnu(Release::V2_47_50),
    Encoding::Smallest(Version::V2),
    Encoding::Smallest(Version::V3),
];

fn main() {
    println!("file,eh_frame,eh_frame_hdr,code,loaded,V1,V2,V3,smallest V2,smallest V3,lost by V3");
    for path in std::env::args_os().skip(1) {
        let Ok(data) = std::fs::read(&path) else { continue };
        match line(&data) {
            Ok(line) => println!("{},{line}", path.display()),
            Err(error) => eprintln!("{}: {error}", path.display()),
        }
    }
}

fn line(data: &[u8]) -> Result<String, Box<dyn std::error::Error>> {
    let elf = Elf::parse(data)?;
    let cfi = Cfi::load_all(&elf)?;
    let (mut columns, mut lost, mut start) = (Vec::new(), 0, String::new());
    for encoding in ENCODINGS {
        let forecast = match forecast(&elf, &cfi, encoding) {
            Err(sframe_synthesis::SynthesisError::VersionOfAbi) => {
                columns.push(String::new());
                continue;
            }
            other => other?,
        };
        if encoding == Encoding::Gnu(Release::V2_47_50) {
            lost = forecast.losses.iter().map(|loss| loss.functions).sum();
        }
        let sizes = forecast.sizes;
        start = format!(
            "{},{},{},{}",
            sizes.eh_frame, sizes.eh_frame_hdr, sizes.code, sizes.loaded_memory
        );
        columns.push(forecast.section.map_or(0, |section| section.size).to_string());
    }
    Ok(format!("{start},{},{lost}", columns.join(",")))
}
