//! Standard input as a file to be checked.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::sync::Arc;

use sframe_record::numbers::grouped;

/// What records call it.
pub(crate) const NAME: &str = "standard input";
/// The maximum size in bytes.
const MOST: u64 = 4 << 30;

/// The content of standard input, in a temporary file without a name.
#[derive(Clone, Debug)]
pub struct Spooled(Arc<File>);

impl PartialEq for Spooled {
    fn eq(&self, other: &Spooled) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Spooled {}

impl Spooled {
    /// The file, at its start.
    ///
    /// # Errors
    /// Returns the system's error.
    pub fn file(&self) -> io::Result<File> {
        let mut file = self.0.try_clone()?;
        file.rewind()?;
        Ok(file)
    }
}

/// Reads standard input to its end.
pub(crate) fn read() -> io::Result<Spooled> {
    Ok(Spooled(Arc::new(spool(&mut io::stdin().lock(), MOST)?)))
}

fn spool(input: &mut impl Read, most: u64) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    if io::copy(&mut input.take(most + 1), &mut file)? > most {
        return Err(io::Error::other(format!("it has more than {} bytes", grouped(most))));
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_input_past_the_limit_is_an_error() {
        let file = spool(&mut &[7; 1000][..], 1000).expect("as many as allowed");
        assert_eq!(file.metadata().expect("open").len(), 1000);
        let why = spool(&mut io::repeat(7), 1000).expect_err("no end").to_string();
        assert_eq!(why, "it has more than 1,000 bytes");
    }
}
