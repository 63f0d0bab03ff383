//! Inputs with which the link fails, and inputs that cannot be read.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use sframe_record::text::printable_path;

use super::machine::Machine;
use super::{Loader, MOST_FAULTS};
use crate::arguments::Mode;
use crate::input::MemberName;
use crate::linker::Linker;
use crate::object::Refusal;
use crate::obstacle::{Obstacle, ObstacleKind};

/// The number of folders that are listed for a library.
const LISTED: usize = 40;

impl Loader<'_> {
    pub(super) fn obstacle(&mut self, obstacle: Obstacle) {
        if self.loaded.obstacles.len() < MOST_FAULTS {
            let named_by = self.scripts.last().map(|script| printable_path(script));
            self.loaded.obstacles.push(Obstacle { named_by, ..obstacle });
        }
    }

    /// An input that is there, and not what the linker expects.
    pub(super) fn refused(&mut self, kind: ObstacleKind, name: &str) {
        self.refused_because(Obstacle::new(self.linker, kind, name));
    }

    /// A member of an archive that is there, and not what the linker expects.
    pub(super) fn refused_member(&mut self, kind: ObstacleKind, name: &MemberName) {
        self.refused_because(Obstacle::of_member(self.linker, kind, name, ""));
    }

    /// An input that is there, and not what the linker expects, with the reason.
    pub(super) fn refused_because(&mut self, obstacle: Obstacle) {
        match obstacle.kind.stops(self.linker) {
            Some(true) => self.obstacle(obstacle),
            Some(false) => {}
            None => self.fault(obstacle.title()),
        }
    }

    /// An object that cannot be read.
    pub(super) fn unread(&mut self, refusal: Refusal, name: &str) {
        match refusal {
            Refusal::Obstacle(kind) => self.refused(kind, name),
            Refusal::Fault(fault) => self.fault(format!("{name}: {fault}")),
        }
    }

    pub(super) fn unopened(&mut self, kind: ObstacleKind, path: &Path, error: &io::Error) {
        match Obstacle::unopened(self.linker, kind, path, error) {
            Some(obstacle) => self.obstacle(obstacle),
            None => self.fault(format!("{}: {error}", printable_path(path))),
        }
    }

    /// Files of the command line itself: response files and linker scripts.
    pub(super) fn unopened_arguments(&mut self) {
        let arguments = self.arguments;
        for (path, error) in &arguments.unopened {
            self.unopened(ObstacleKind::NoResponse, path, error);
        }
        for path in &arguments.scripts {
            let places: Vec<PathBuf> =
                self.folders.iter().map(|folder| folder.join(path)).collect();
            if let Err(error) = std::fs::metadata(path)
                && !places.iter().any(|place| place.is_file())
            {
                self.unopened(ObstacleKind::NoScript, path, &error);
            }
        }
    }

    /// A member of a thin archive, whose file is missing. lld and mold open all members, gold those that it pulls in. GNU ld
    /// leaves it out of a whole archive without a message.
    pub(super) fn no_member(&mut self, name: &MemberName, error: &io::Error, mode: Mode) {
        let opens_all = matches!(self.linker, Linker::Lld | Linker::Mold)
            || (mode.whole_archive && self.linker == Linker::Gold);
        match Obstacle::no_member(self.linker, name, error).filter(|_| opens_all) {
            Some(obstacle) => self.obstacle(obstacle),
            None => self.fault(format!("{name}: {error}")),
        }
    }

    /// A member whose end is missing. lld and mold read all members, the others those that they pull in.
    pub(super) fn truncated_member(&mut self, name: &MemberName, mode: Mode) {
        let reads_all = mode.whole_archive || matches!(self.linker, Linker::Lld | Linker::Mold);
        let kind = ObstacleKind::TruncatedMember;
        match reads_all {
            true => self.refused_member(kind, name),
            false => self.fault(format!(
                "{name}: {}: the link fails if something needs this member",
                kind.reason()
            )),
        }
    }

    /// `-l name`.
    pub(super) fn library(&mut self, name: &OsStr, mode: Mode, depth: u32) {
        let places = super::names::library(self.linker, &self.folders, name, mode);
        let skipped = self.skipped(&places);
        match places.get(skipped.len()) {
            Some(path) => self.file(path, mode, depth),
            None => self.no_library(name, mode, &skipped),
        }
    }

    /// A library that is in no folder. GNU ld and gold have folders of their own, which only a driver's command shows.
    /// `skipped` are files for another machine.
    fn no_library(&mut self, name: &OsStr, mode: Mode, skipped: &[(PathBuf, Machine)]) {
        let input = format!("-l{}", printable_path(Path::new(name)));
        let files: Vec<String> = super::names::files(name, mode)
            .iter()
            .map(|file| printable_path(Path::new(file)))
            .collect();
        let files = files.join(" and no ");
        let skipped: Vec<String> = skipped
            .iter()
            .map(|(path, machine)| format!("; {} is for {machine}", printable_path(path)))
            .collect();
        let skipped = skipped.concat();
        let looked_in = self.places();
        if self.knows_folders || matches!(self.linker, Linker::Lld | Linker::Mold) {
            let obstacle = Obstacle::new(self.linker, ObstacleKind::NoLibrary, &input);
            let reason = match looked_in.is_empty() {
                true => format!("there is no {files}, because no folder is searched (-L)"),
                false => format!("there is no {files} in the folders that are searched{skipped}"),
            };
            return self.obstacle(Obstacle { reason, looked_in, ..obstacle });
        }
        let folders = match looked_in.is_empty() {
            true => "there are no folders of -L".to_owned(),
            false => format!("there is no {files} in {}{skipped}", looked_in.join(", ")),
        };
        self.fault(format!(
            "{input} is not found: {folders}, and the linker's own folders are known only if the driver's command is \
             audited (link -- cc ...)"
        ));
    }

    /// A file that a script names. A linker may have a sysroot of its own, which contains both.
    pub(super) fn not_found(&mut self, script: &Path, name: &Path) {
        let input = printable_path(name);
        if let Some(place) = super::names::beside_sysroot(script, name) {
            let (script, place) = (printable_path(script), printable_path(&place));
            return self.fault(format!(
                "{input}, which {script} names, is not found, unless the linker has a sysroot with {place} (--sysroot)"
            ));
        }
        let looked_in = if name.is_absolute() { Vec::new() } else { self.places() };
        let obstacle = Obstacle::new(self.linker, ObstacleKind::NotFound, &input);
        self.obstacle(Obstacle { looked_in, ..obstacle });
    }

    /// The folders that are searched for libraries, each once. Those that do not exist are listed if the command names them.
    fn places(&self) -> Vec<String> {
        let mut places: Vec<String> = Vec::new();
        for (number, folder) in self.folders.iter().enumerate() {
            let place = match std::fs::canonicalize(folder) {
                Ok(found) if folder.is_absolute() => printable_path(&found),
                Ok(_) => printable_path(folder),
                Err(_) if number < self.arguments.folders.len() => {
                    format!("{} (no such folder)", printable_path(folder))
                }
                Err(_) => continue,
            };
            if places.len() < LISTED && !places.contains(&place) {
                places.push(place);
            }
        }
        places
    }
}
