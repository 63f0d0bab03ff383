//! `cargo run -p sframe-site -- FOLDER` writes the web site to a folder.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use sframe_site::Site;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sframe-site: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> io::Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(folder), None) = (arguments.next(), arguments.next()) else {
        return Err(io::Error::other("name one argument, the folder to write"));
    };
    let site = Site::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))?;
    site.write(Path::new(&folder))
}
