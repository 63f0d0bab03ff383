//! Separate debug files from servers: debuginfod, by build ID.
//!
//! The protocol, the environment variables and the cache are those of elfutils (debuginfod(8), debuginfod-find(1)), so
//! that a file that GDB or perf has fetched is not fetched again. Servers are not trusted: a file is kept only if its
//! build ID is the one that was asked for.

#[cfg(feature = "http")]
mod cache;
#[cfg(feature = "http")]
mod client;
#[cfg(feature = "http")]
mod server;
#[cfg(feature = "http")]
mod settings;

#[cfg(feature = "http")]
pub use client::Debuginfod;

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
    pub fn from_environment() -> Result<Debuginfod, String> {
        Err("--debuginfod: this program was built without the feature http: build with `cargo install sframe-check --features http`, or name a folder of debug files with --debug-dir".to_owned())
    }

    /// Servers cannot be asked.
    ///
    /// # Errors
    /// There is no value to call it with.
    pub fn find(
        &self,
        _: &sframe_validator::elf::Elf<'_>,
    ) -> Result<Option<crate::DebugFile>, String> {
        match *self {}
    }
}
