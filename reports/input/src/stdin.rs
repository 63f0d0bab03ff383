//! Standard input as a file to be checked.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::sync::Arc;

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
    Ok(Spooled(Arc::new(spool(&mut io::stdin().lock())?)))
}

fn spool(input: &mut impl Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    if io::copy(&mut input.take(MOST + 1), &mut file)? > MOST {
        return Err(io::Error::other("it has more than 4 GiB"));
    }
    Ok(file)
}
