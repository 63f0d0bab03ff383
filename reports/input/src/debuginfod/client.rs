//! Asks servers for debug files, one after the other, and keeps what they send in the cache.

use std::env;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sframe_oracle::debug_file::{build_id, check};
use sframe_validator::elf::{Elf, SHT_NOBITS};
use ureq::Agent;

use super::cache::{Cache, Known};
use super::server::{Failure, Server, agent, receive};
use super::settings::Settings;
use super::{DebuginfodError, Unfit};
use crate::{DebugBytes, DebugFile, FileBytes};

/// The longest build ID that servers are asked for, in bytes: those of linkers have 8 to 32.
const LONGEST_ID: usize = 64;
/// The bytes that servers may send in a run.
const ROOM: u64 = 64 << 30;

/// Debug files from servers, by build ID.
#[derive(Debug)]
pub struct Debuginfod {
    settings: Settings,
    cache: Cache,
    agent: Agent,
    /// Threads wait for each other here, so that nothing is fetched twice, and no server is asked after it has failed.
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    servers: Vec<Server>,
    /// The rest of [`ROOM`].
    room: u64,
    /// Why nothing can be written to the cache.
    unwritable: Option<DebuginfodError>,
}

impl Debuginfod {
    /// The servers, the cache and the limits that the environment names. No server is asked yet.
    ///
    /// # Errors
    /// Returns an error if the environment names none, or if a variable cannot be understood.
    pub fn from_environment() -> Result<Debuginfod, DebuginfodError> {
        Settings::read(|name| env::var_os(name), |path| path.is_dir()).map(Debuginfod::new)
    }

    fn new(settings: Settings) -> Debuginfod {
        let servers = settings.servers.iter().cloned().map(Server::new).collect();
        Debuginfod {
            cache: Cache::new(settings.cache.clone()),
            agent: agent(&settings),
            state: Mutex::new(State { servers, room: ROOM, unwritable: None }),
            settings,
        }
    }

    /// The debug file of `elf`; `None` if no server has it, or if the file has no build ID or has its own debugging
    /// information.
    ///
    /// # Errors
    /// Returns an error if a server or the cache failed. After the first failure of a server it is not asked
    /// again, and the error is the one of the first time.
    pub fn find(&self, elf: &Elf<'_>) -> Result<Option<DebugFile>, DebuginfodError> {
        let id = build_id(elf).filter(|_| !has_debug_info(elf));
        let Some(id) = id.and_then(name_of) else { return Ok(None) };
        if let Some(found) = self.cached(elf, &id)? {
            return Ok(found);
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have fetched it meanwhile.
        if let Some(found) = self.cached(elf, &id)? {
            return Ok(found);
        }
        self.fetch(elf, &id, &mut state)
    }

    /// What the cache says: the file, or that there is none. `None` if servers have to be asked.
    fn cached(
        &self,
        elf: &Elf<'_>,
        id: &str,
    ) -> Result<Option<Option<DebugFile>>, DebuginfodError> {
        let path = match self.cache.look(id)? {
            Known::Here(path) => path,
            Known::Missing => return Ok(Some(None)),
            Known::Unknown => return Ok(None),
        };
        match checked(elf, &path) {
            Ok(data) => Ok(Some(Some(DebugFile { path, data: DebugBytes::File(data) }))),
            Err(why) => Err(DebuginfodError::Foreign(path, why)),
        }
    }

    /// Asks each server that has not failed.
    fn fetch(
        &self,
        elf: &Elf<'_>,
        id: &str,
        state: &mut State,
    ) -> Result<Option<DebugFile>, DebuginfodError> {
        let State { servers, room, unwritable } = state;
        if let Some(why) = unwritable {
            return Err(why.clone());
        }
        let mut failures = Vec::new();
        for server in servers {
            if let Some(why) = &server.failed {
                failures.push(why.clone());
                continue;
            }
            match self.fetch_from(server, elf, id, room) {
                Ok(Some(path)) => {
                    return self.cached(elf, id)?.ok_or(DebuginfodError::Vanished(path));
                }
                Ok(None) => {}
                Err(Failure::Size(limit)) => failures.push(server.failure(&format!(
                    "the debug file of build ID {id} has more than {limit} bytes, the limit"
                ))),
                Err(Failure::Server(why)) => {
                    let why = format!("{}; it is not asked again", server.failure(&why));
                    failures.push(server.failed.insert(why).clone());
                }
                Err(Failure::Output(why)) => return Err(unwritable.insert(why).clone()),
            }
        }
        if failures.is_empty() {
            self.cache.note_missing(id).map_err(|why| unwritable.insert(why).clone())?;
            return Ok(None);
        }
        Err(DebuginfodError::Servers(failures))
    }

    /// Asks one server. Returns the path of the file in the cache.
    fn fetch_from(
        &self,
        server: &Server,
        elf: &Elf<'_>,
        id: &str,
        room: &mut u64,
    ) -> Result<Option<PathBuf>, Failure> {
        let Some(mut body) = server.ask(&self.agent, id, &self.settings)? else { return Ok(None) };
        let mut file = self.cache.create(id).map_err(Failure::Output)?;
        let most = self.settings.largest.min(*room);
        let length = receive(&mut body, &mut file, most, &self.settings)?;
        *room = room.saturating_sub(length);
        if let Err(why) = checked(elf, file.path()) {
            return Err(Failure::Server(format!(
                "what it sends for build ID {id} is not the debug file: {why}"
            )));
        }
        self.cache.keep(id, file).map(Some).map_err(Failure::Output)
    }
}

/// The bytes of the file at `path`, if it is the debug file of `elf`.
fn checked(elf: &Elf<'_>, path: &Path) -> Result<FileBytes, Unfit> {
    let data = FileBytes::open(path).map_err(|error| Unfit::Io(Arc::new(error)))?;
    if data.has_large_holes() {
        return Err(Unfit::Holes);
    }
    check(elf, &data).map_err(Unfit::Mismatch)?;
    Ok(data)
}

/// Whether a file has debugging information, so that it has all that a debug file would add.
fn has_debug_info(elf: &Elf<'_>) -> bool {
    let is_named = |name: &[u8]| matches!(name, b".debug_info" | b".zdebug_info");
    elf.sections().iter().any(|of| of.sh_type != SHT_NOBITS && is_named(of.name.bytes()))
}

/// The name by which servers know a build ID, unless it is too long to be one.
fn name_of(id: &[u8]) -> Option<String> {
    (id.len() <= LONGEST_ID).then(|| {
        id.iter().fold(String::new(), |mut text, byte| {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_build_ids_are_not_asked_for() {
        assert_eq!(name_of(&[0xab, 0x0c]).as_deref(), Some("ab0c"));
        assert_eq!(name_of(&[0; 64]), Some("0".repeat(128)));
        assert_eq!(name_of(&[0; 65]), None);
    }
}
