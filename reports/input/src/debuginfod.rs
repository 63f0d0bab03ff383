//! Separate debug files from servers: debuginfod, by build ID.
//!
//! The protocol, the environment variables and the cache are those of elfutils (debuginfod(8), debuginfod-find(1)), so
//! that a file that GDB or perf has fetched is not fetched again. Servers are not trusted: a file is kept only if its
//! build ID is the one that was asked for.

#[cfg(feature = "http")]
mod cache;
#[cfg(feature = "http")]
mod client;
mod error;
#[cfg(feature = "http")]
mod server;
#[cfg(feature = "http")]
mod settings;

#[cfg(feature = "http")]
pub use client::Debuginfod;
pub use error::{CacheObstacle, DebuginfodError, Unfit};

/// Debug files from servers, which this build cannot ask.
#[cfg(not(feature = "http"))]
#[derive(Debug)]
pub enum Debuginfod {}

#[cfg(not(feature = "http"))]
impl Debuginfod {
    /// Servers cannot be asked.
    ///
    /// # Errors
    /// Always returns an error, which says how to get a program that can ask servers.
    pub fn from_environment() -> Result<Debuginfod, DebuginfodError> {
        Err(DebuginfodError::WithoutHttp)
    }

    /// Servers cannot be asked.
    ///
    /// # Errors
    /// There is no value to call it with.
    pub fn find(
        &self,
        _: &sframe_validator::elf::Elf<'_>,
    ) -> Result<Option<crate::DebugFile>, DebuginfodError> {
        match *self {}
    }
}
