//! The machine of a link. Every linker refuses to link inputs of several machines.

use std::fmt;
use std::path::{Path, PathBuf};

use sframe_input::archive::{Content, is_archive, members};
use sframe_input::{FileBytes, MemberCount};
use sframe_record::text::printable_path;
use sframe_validator::elf::{EM_386, EM_AARCH64};

use super::{Item, Loader, names};
use crate::linker::Linker;
use crate::object;
use crate::obstacle::{Obstacle, ObstacleKind};

/// `ELFCLASS32` and `ELFDATA2MSB`.
const CLASS_32: u8 = 1;
const BIG: u8 = 2;
/// `ET_REL` and `ET_DYN`.
const LINKABLE: [u16; 2] = [1, 3];

/// What linkers compare: two fields of `e_ident`, and `e_machine`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Machine {
    class: u8,
    order: u8,
    number: u16,
}

impl Machine {
    /// That of an object or a shared object; `None` for other data.
    pub(super) fn of(data: &[u8]) -> Option<Machine> {
        let header = data.strip_prefix(b"\x7fELF")?;
        let [class, order] = *header.first_chunk()?;
        let short = |offset: usize| -> Option<u16> {
            let bytes: [u8; 2] = *data.get(offset..)?.first_chunk()?;
            Some(if order == BIG { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
        };
        let (kind, number) = (short(16)?, short(18)?);
        LINKABLE.contains(&kind).then_some(Machine { class, order, number })
    }

    /// That of a file, or of the first object in an archive, by which GNU ld and mold judge libraries.
    fn of_file(data: &[u8]) -> Option<Machine> {
        if !is_archive(data) {
            return Machine::of(data);
        }
        let mut count = MemberCount::default();
        let found = members(data, &mut count).map_while(Result::ok);
        found
            .filter_map(|member| match member.content {
                Content::Bytes(bytes) => Machine::of(bytes),
                _ => None,
            })
            .next()
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            EM_386 => f.write_str("i386")?,
            number => f.write_str(&object::machine(number))?,
        }
        if self.order == BIG && self.number == EM_AARCH64 {
            f.write_str(" (big-endian)")?;
        }
        if self.class == CLASS_32 && self.number != EM_386 {
            f.write_str(" (32 bits)")?;
        }
        Ok(())
    }
}

impl Loader<'_> {
    /// The first object that the command names decides, also for libraries before it.
    pub(super) fn choose_machine(&mut self) {
        let arguments = self.arguments;
        let objects = arguments.items.iter().filter_map(|item| match item {
            Item::File(path, mode) if !mode.binary => Some(path),
            _ => None,
        });
        self.machine = objects
            .filter_map(|path| {
                let machine = Machine::of(&FileBytes::open(path).ok()?)?;
                Some((machine, self.called(path)))
            })
            .next();
    }

    /// The name of a file as the linker prints it. A compiled object has that of its source.
    pub(super) fn called(&self, path: &Path) -> String {
        self.names.get(path).cloned().unwrap_or_else(|| match self.linker {
            Linker::Mold => printable_path(&names::shortest(path)),
            _ => printable_path(path),
        })
    }

    /// Whether an input is for another machine than the first one, with which the link fails.
    pub(super) fn is_foreign(&mut self, name: &str, machine: Option<Machine>) -> bool {
        let Some(found) = machine else { return false };
        let linker = self.linker;
        self.differs(found, name, |first| Obstacle::other_machine(linker, name, first))
    }

    /// Whether an input is for another machine than the first one, whose name the obstacle has.
    fn differs(
        &mut self,
        found: Machine,
        name: &str,
        obstacle: impl FnOnce(&str) -> Obstacle,
    ) -> bool {
        let Some((expected, first)) = &self.machine else {
            self.machine = Some((found, name.to_owned()));
            return false;
        };
        if *expected == found {
            return false;
        }
        let reason = format!("it is for {found}, and {first} is for {expected}");
        let obstacle = obstacle(first);
        self.refused_because(Obstacle { reason, ..obstacle });
        true
    }

    /// lld and mold look at all members of an archive, also at those that nothing needs.
    pub(super) fn foreign_members(&mut self, number: usize) {
        if !matches!(self.linker, Linker::Lld | Linker::Mold) {
            return;
        }
        let members = self.archives.get(number).map_or(0, super::Archive::members);
        for member in 0..members {
            self.is_foreign_member(number, member);
        }
    }

    /// Whether a member is for another machine. It is reported once, and takes no part in the link.
    pub(super) fn is_foreign_member(&mut self, archive: usize, member: usize) -> bool {
        let found = self.archives.get(archive).and_then(|archive| archive.machine(member));
        let Some((name, machine)) = found else { return false };
        let (linker, kind) = (self.linker, ObstacleKind::OtherMachine);
        let obstacle = |first: &str| Obstacle::of_member(linker, kind, &name, first);
        let is_foreign = self.differs(machine, &name.printed, obstacle);
        if is_foreign && let Some(archive) = self.archives.get_mut(archive) {
            archive.leave_out(member);
        }
        is_foreign
    }

    /// The files for `-l` that a linker skips because they are for another machine, with the machine. gold and lld skip none.
    pub(super) fn skipped(&self, places: &[PathBuf]) -> Vec<(PathBuf, Machine)> {
        let skips = self.linker.is_gnu_ld() || self.linker == Linker::Mold;
        let Some((expected, _)) = self.machine.as_ref().filter(|_| skips) else {
            return Vec::new();
        };
        let skipped = places.iter().map_while(|place| {
            let found = Machine::of_file(&FileBytes::open(place).ok()?)?;
            (found != *expected).then(|| (place.clone(), found))
        });
        skipped.collect()
    }
}
