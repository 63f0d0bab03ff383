//! The errors of asking servers for debug files.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use sframe_oracle::debug_file::Mismatch;
use sframe_record::text::printable_path;

use crate::plain_error;

/// The servers that are asked at most.
pub(super) const SERVERS: usize = 32;

/// Why servers cannot be asked for debug files, or why there is none of them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum DebuginfodError {
    /// This program was built without the feature `http`.
    WithoutHttp,
    /// This variable of the environment is not a number.
    NotANumber(&'static str),
    /// `DEBUGINFOD_URLS` is not UTF-8.
    NotText,
    /// This word in `DEBUGINFOD_URLS` is not an address. It has no characters that a terminal interprets, and no password.
    NotAnAddress(String),
    /// `DEBUGINFOD_URLS` names no server.
    NoServer,
    /// `DEBUGINFOD_URLS` names this number of servers, which is too large.
    ManyServers(usize),
    /// The environment names no folder for the cache.
    NoCache,
    /// A file or folder of the cache cannot be used.
    Cache(PathBuf, CacheObstacle),
    /// What a server sends cannot be written.
    Output(Arc<io::Error>),
    /// A file of the cache has the right name, but is not the debug file.
    Foreign(PathBuf, Unfit),
    /// A file of the cache that was just written is no longer there.
    Vanished(PathBuf),
    /// No server has sent it, and some have failed: why, for each of these.
    Servers(Vec<String>),
}

/// Why a file or folder of the cache cannot be used.
#[derive(Clone, Debug)]
pub enum CacheObstacle {
    /// It is not a folder.
    NotAFolder,
    /// It is not a regular file.
    NotAFile,
    /// The system refuses it.
    Io(Arc<io::Error>),
}

/// Why a file is not the debug file.
#[derive(Clone, Debug)]
pub enum Unfit {
    /// It cannot be opened.
    Io(Arc<io::Error>),
    /// It has holes of more than 1 GiB.
    Holes,
    /// It belongs to another file.
    Mismatch(Mismatch),
}

impl fmt::Display for DebuginfodError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DebuginfodError::WithoutHttp => f.write_str(
                "--debuginfod: this program was built without the feature http: build with `cargo install sframe-check --features http`, or name a folder of debug files with --debug-dir",
            ),
            DebuginfodError::NotANumber(name) => {
                write!(f, "--debuginfod: {name} is not a number")
            }
            DebuginfodError::NotText => {
                f.write_str("--debuginfod: DEBUGINFOD_URLS is not UTF-8")
            }
            DebuginfodError::NotAnAddress(word) => write!(
                f,
                "--debuginfod: {word} in DEBUGINFOD_URLS is neither an http: nor an https: address"
            ),
            DebuginfodError::NoServer => f.write_str(
                "--debuginfod: DEBUGINFOD_URLS names no server: set it to the addresses of servers, such as https://debuginfod.debian.net, separated by spaces",
            ),
            DebuginfodError::ManyServers(many) => write!(
                f,
                "--debuginfod: DEBUGINFOD_URLS has {many} servers, more than {SERVERS}"
            ),
            DebuginfodError::NoCache => f.write_str(
                "--debuginfod: there is no folder for the cache: set DEBUGINFOD_CACHE_PATH to one",
            ),
            DebuginfodError::Cache(path, why) => {
                let path = printable_path(path);
                write!(f, "the cache of debuginfod cannot be used: {path}: {why}")
            }
            DebuginfodError::Output(error) => f.write_str(&plain_error(error)),
            DebuginfodError::Foreign(path, why) => write!(
                f,
                "{} is not its debug file: {why}; remove it, so that servers are asked again",
                printable_path(path)
            ),
            DebuginfodError::Vanished(path) => {
                write!(f, "{} is not its debug file", printable_path(path))
            }
            DebuginfodError::Servers(failures) => f.write_str(&failures.join("; ")),
        }
    }
}

impl std::error::Error for DebuginfodError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            DebuginfodError::Output(error)
            | DebuginfodError::Cache(_, CacheObstacle::Io(error)) => Some(error),
            DebuginfodError::Foreign(_, why) => Some(why),
            _ => None,
        }
    }
}

impl fmt::Display for CacheObstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CacheObstacle::NotAFolder => f.write_str("it is not a folder"),
            CacheObstacle::NotAFile => f.write_str("it is not a regular file"),
            CacheObstacle::Io(error) => f.write_str(&plain_error(error)),
        }
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::Io(error) => f.write_str(&plain_error(error)),
            Unfit::Holes => f.write_str("it has holes of more than 1 GiB"),
            Unfit::Mismatch(mismatch) => mismatch.fmt(f),
        }
    }
}

impl std::error::Error for Unfit {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Unfit::Io(error) => Some(error),
            Unfit::Mismatch(mismatch) => Some(mismatch),
            Unfit::Holes => None,
        }
    }
}
