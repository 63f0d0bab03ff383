//! The linker's stubs, by the relocations of the pointers through which they jump: one stub for each pointer, in one
//! section, after a stub that calls the dynamic linker.
//!
//! Only machine code leads from a pointer to its stub. What is looked for are the forms that the ABI supplements show, and
//! that GNU ld, lld and mold write.

use alloc::vec::Vec;

use super::super::numbers::Numbers;
use super::super::{EM_AARCH64, EM_S390, EM_X86_64, PF_W, PF_X};
use super::dynamic::Dynamic;
use super::loads::Loads;
use super::{Content, Format, Piece};
use crate::abi::Endian;

/// `R_X86_64_GLOB_DAT`.
const GLOB_DAT: u64 = 6;
/// `R_AARCH64_TLSDESC`.
const TLSDESC: u64 = 1031;
/// The size of an entry of `SHT_RELA` for 64-bit files.
const RELA: usize = 24;
/// The size and alignment of stubs on AMD64, and their size on AArch64.
const STUB: u64 = 16;

/// The sections of stubs.
pub(super) fn pieces(loads: &Loads<'_>, dynamic: &Dynamic, format: Format) -> Vec<Piece> {
    if format.numbers.word() != 8 {
        return Vec::new();
    }
    let file = File { loads, dynamic, format };
    // The pointer of a thread-local variable leads to no stub.
    let wanted = |r_type| format.machine != EM_AARCH64 || r_type != TLSDESC;
    let pointers = file.pointers(dynamic.stub_relocations(), wanted);
    match format.machine {
        EM_X86_64 => file.amd64(&pointers),
        EM_AARCH64 => file.aarch64(&pointers).into_iter().collect(),
        EM_S390 => file.s390x(&pointers).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// A section of stubs from one address to another.
const fn section(name: &'static [u8], (start, end): (u64, u64), entry: u64) -> Piece {
    Piece {
        entry_size: entry,
        ..Piece::new((start, end.saturating_sub(start)), name, Content::Code)
    }
}

struct File<'l, 'a> {
    loads: &'l Loads<'a>,
    dynamic: &'l Dynamic,
    format: Format,
}

impl File<'_, '_> {
    /// The addresses of the pointers that relocations of the wanted types fill, ordered.
    fn pointers(&self, (start, size): (u64, u64), is_wanted: impl Fn(u64) -> bool) -> Vec<u64> {
        let entries = self.loads.bytes(start, size).unwrap_or_default().chunks_exact(RELA);
        let wanted = entries.filter(|entry| {
            let info = self.format.numbers.number_at(entry, 8, 8).unwrap_or_default();
            is_wanted(info & 0xffff_ffff)
        });
        let mut pointers: Vec<u64> =
            wanted.filter_map(|entry| self.format.numbers.number_at(entry, 0, 8)).collect();
        pointers.sort_unstable();
        pointers.dedup();
        pointers
    }

    /// What the pointers contain in the file and leads to code: the lowest value, and the number of such pointers.
    fn first_target(&self, pointers: &[u64]) -> Option<(u64, u64)> {
        let target = |pointer: &u64| {
            let bytes = self.loads.bytes(*pointer, 8)?;
            let target = self.format.numbers.number(bytes);
            self.loads.at(target).filter(|load| load.flags & PF_X != 0).map(|_| target)
        };
        let targets = || pointers.iter().filter_map(target);
        Some((targets().min()?, targets().count() as u64))
    }

    /// Stubs jump through their pointers. With indirect branch tracking these are in `.plt.sec`, and those that call the
    /// dynamic linker in `.plt`. `.plt.got` follows, with stubs whose pointers are filled from the start.
    fn amd64(&self, pointers: &[u64]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let header = self.header();
        let jumping = self.jumps(pointers);
        let of_header = match (header, jumping) {
            (Some((start, end)), Some((first, after))) if first == end => Some((start, after)),
            (Some((start, end)), _) => Some((start, end.max(self.lazy_end(pointers)))),
            (None, _) => None,
        };
        // The stub for thread-local storage is the last one.
        let of_header = of_header.map(|(start, end)| match self.dynamic.tls_stub {
            stub if stub != 0 && stub == end => (start, end.saturating_add(STUB)),
            _ => (start, end),
        });
        pieces.extend(of_header.map(|place| section(b".plt", place, STUB)));
        if let Some((first, after)) = jumping
            .filter(|(first, _)| of_header.is_none_or(|(start, end)| !(start..end).contains(first)))
        {
            pieces.push(section(b".plt.sec", (first, after), STUB));
        }
        pieces.extend(of_header.and_then(|(_, end)| self.plt_got(end)));
        pieces
    }

    /// The addresses of the first stub that jumps through one of the pointers, and after the last one.
    fn jumps(&self, pointers: &[u64]) -> Option<(u64, u64)> {
        let (first, last) = (*pointers.first()?, *pointers.last()?);
        let is_pointer = |address: u64| {
            (first..=last).contains(&address) && pointers.binary_search(&address).is_ok()
        };
        let mut places = self.instructions([0xff, 0x25]).filter(|(_, to)| is_pointer(*to));
        let (first, _) = places.next()?;
        let last = places.last().map_or(first, |(last, _)| last);
        let (start, end) = (first & !(STUB - 1), (last & !(STUB - 1)).checked_add(STUB)?);
        let most = (pointers.len() as u64).saturating_mul(STUB);
        (end - start <= most).then_some((start, end))
    }

    /// The instructions that begin with two bytes and end with a distance: their addresses, and those to which they refer.
    fn instructions(&self, begin: [u8; 2]) -> impl Iterator<Item = (u64, u64)> {
        let code = self.loads.all().iter().filter(|load| load.flags & PF_X != 0);
        let code = code.filter_map(|load| Some((load.start, self.loads.from(load.start)?)));
        code.flat_map(move |(start, bytes)| {
            let windows =
                bytes.windows(6).zip(start..).filter(move |(it, _)| it.starts_with(&begin));
            windows.filter_map(|(it, address)| Some((address, self.relative(it, 2, address)?)))
        })
    }

    /// The address to which an instruction refers whose offset ends it, at `offset` in bytes at an address.
    fn relative(&self, bytes: &[u8], offset: usize, address: u64) -> Option<u64> {
        let distance = self.format.numbers.signed_at(bytes, offset, 4)?;
        Some(address.wrapping_add(offset as u64 + 4).wrapping_add(distance))
    }

    /// The place of the stub that calls the dynamic linker: the first one that pushes the second word of the global offset
    /// table. mold's has 32 bytes, and starts with other instructions.
    fn header(&self) -> Option<(u64, u64)> {
        let wanted = self.dynamic.got.checked_add(8).filter(|_| self.dynamic.got != 0)?;
        let (push, _) = self.instructions([0xff, 0x35]).find(|(_, to)| *to == wanted)?;
        let size = if push % STUB == 0 { STUB } else { 2 * STUB };
        let start = push & !(STUB - 1);
        Some((start, start.checked_add(size)?))
    }

    /// The end of the stubs to which the pointers lead at first; 0 if they lead to none.
    fn lazy_end(&self, pointers: &[u64]) -> u64 {
        let end = |(target, count): (u64, u64)| {
            (target & !(STUB - 1)).checked_add(count.checked_mul(STUB)?)
        };
        self.first_target(pointers).and_then(end).unwrap_or(0)
    }

    /// `.plt.got` after an address: stubs of 8 bytes, or of 16 that start with `endbr64`. In static programs, no relocation
    /// fills their pointers by name, so that only their form shows them.
    fn plt_got(&self, after: u64) -> Option<Piece> {
        // xchg %ax,%ax
        const PADDING: [u8; 2] = [0x66, 0x90];
        let pointers = self.pointers(self.dynamic.relocations(), |r_type| r_type == GLOB_DAT);
        let is_data = |pointer| self.loads.at(pointer).is_some_and(|load| load.flags & PF_W != 0);
        let mut size = None;
        let start = after.checked_next_multiple_of(8)?;
        let mut end = start;
        while let Some(bytes) = self.loads.bytes(end, 8) {
            let (own, jump) = match bytes {
                [0xff, 0x25, ..] => (8, 0),
                [0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, ..] => (STUB, 4),
                [0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, ..] => (STUB, 5),
                _ => break,
            };
            let stub = self.loads.bytes(end, own).filter(|_| size.is_none_or(|it| it == own));
            let Some(stub) = stub else { break };
            let is_own = |pointer| match pointers.as_slice() {
                [] => stub.ends_with(&PADDING) && is_data(pointer),
                filled => filled.binary_search(&pointer).is_ok(),
            };
            if !self.relative(stub, jump + 2, end).is_some_and(is_own) {
                break;
            }
            size = Some(own);
            end += own;
        }
        size.map(|size| section(b".plt.got", (start, end), size))
    }

    /// At first, all pointers lead to the stub that calls the dynamic linker, which has 32 bytes. Each stub ends with
    /// `br x17`, or with `nop` after it.
    fn aarch64(&self, pointers: &[u64]) -> Option<Piece> {
        const BR_X17: u64 = 0xd61f_0220;
        const NOP: u64 = 0xd503_201f;
        let (start, count) = self.first_target(pointers)?;
        let bytes = self.loads.from(start)?;
        // Instructions are little-endian in either byte order of data.
        let little = Numbers { endian: Endian::Little, ..self.format.numbers };
        let words = || bytes.chunks_exact(4).map(|word| little.number(word));
        let most = usize::try_from(count.checked_mul(32)?.checked_add(64)?).ok()?;
        let jumps = words().take(most).enumerate().filter(|(_, word)| *word == BR_X17);
        let mut jumps = jumps.map(|(at, _)| at).take(usize::try_from(count).ok()?.checked_add(1)?);
        let (mut last, mut before) = (jumps.next()?, 0);
        for jump in jumps {
            (before, last) = (last, jump);
        }
        let padded = last - before == 6 && words().nth(last + 1) == Some(NOP);
        let size = (last as u64 + if padded { 2 } else { 1 }).checked_mul(4)?;
        let end = start.checked_add(size)?;
        Some(section(b".plt", (start, self.after_tls_stub(end)), STUB))
    }

    /// The end of AArch64's stubs, of which the one for thread-local storage, of eight instructions, is the last.
    fn after_tls_stub(&self, end: u64) -> u64 {
        const SIZE: usize = 32;
        let has_room = self.loads.from(end).is_some_and(|code| code.len() >= SIZE);
        let is_there = self.dynamic.tls_stub == end && has_room;
        end.saturating_add(if is_there { SIZE as u64 } else { 0 })
    }

    /// GNU ld's pointers lead to the second half of their stubs at first. All stubs have 32 bytes; the first one calls the
    /// dynamic linker, which static programs do without. mold's pointers lead to the first stub, which has 48 bytes; the
    /// others have 16.
    fn s390x(&self, pointers: &[u64]) -> Option<Piece> {
        // stg %r1,56(%r15), with which the first stub begins.
        const STORE: [u8; 6] = [0xe3, 0x10, 0xf0, 0x38, 0x00, 0x24];
        // br %r1; basr %r1,%r0: the end of the first half, and the start of the second one.
        const HALVES: [u8; 4] = [0x07, 0xf1, 0x0d, 0x10];
        const SIZE: u64 = 32;
        let (target, count) = self.first_target(pointers)?;
        let is_at = |code: &[u8], start: u64| {
            self.loads.bytes(start, code.len() as u64).is_some_and(|bytes| bytes == code)
        };
        let (start, header, stub) = if is_at(&HALVES, target.checked_sub(2)?) {
            let first = target.checked_sub(14)?;
            match first.checked_sub(SIZE).filter(|start| is_at(&STORE, *start)) {
                Some(start) => (start, SIZE, SIZE),
                None => (first, 0, SIZE),
            }
        } else {
            (target, 48, 16)
        };
        let end = start.checked_add(count.checked_mul(stub)?.checked_add(header)?)?;
        Some(section(b".plt", (start, end), stub))
    }
}
