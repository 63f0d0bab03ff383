//! `cargo run -p sframe-site -- FOLDER` writes the web site to a folder.

use std::io;
use std::path::Path;

use sframe_site::Site;

fn main() -> io::Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(folder), None) = (arguments.next(), arguments.next()) else {
        return Err(io::Error::other("one argument is needed: the folder to write"));
    };
    let site = Site::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))?;
    site.write(Path::new(&folder))
}
