//! Maps of files that survive what happens to the file.
//!
//! Where a file shrinks, the pages behind its new end are gone, and whoever reads them gets SIGBUS. The handler here
//! puts zeros in their place and notes that the map is broken: the reader goes on, as with any hostile bytes, and what it
//! finds is void. Signals for other addresses go to the handler that was there before.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use memmap2::Mmap;
use nix::errno::Errno;
use nix::libc::{self, c_int, c_void, siginfo_t};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, raise, sigaction};
use nix::unistd::{SysconfVar, sysconf};

/// How many files can be mapped at a time. Each thread of a scan has a few.
const SLOTS: usize = 256;
/// The start of a map that is not there yet, or no longer: no address is in it.
const NOWHERE: usize = usize::MAX;

static MAPS: [Slot; SLOTS] = [const { Slot::free() }; SLOTS];
static HANDLER: OnceLock<Handler> = OnceLock::new();

/// Where a map is. A handler of signals reads it at any time, so it has no locks.
#[derive(Debug)]
struct Slot {
    /// The first address, 0 where the slot is free.
    start: AtomicUsize,
    /// The address after the last page.
    end: AtomicUsize,
    broken: AtomicBool,
}

impl Slot {
    const fn free() -> Slot {
        Slot {
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
        }
    }

    /// Takes a slot that is free, if one is.
    fn take() -> Option<&'static Slot> {
        let take = |slot: &&Slot| {
            slot.start.compare_exchange(0, NOWHERE, Ordering::SeqCst, Ordering::SeqCst).is_ok()
        };
        MAPS.iter().find(take)
    }

    /// Says where the map is.
    fn set(&self, start: usize, end: usize) {
        self.broken.store(false, Ordering::SeqCst);
        self.end.store(end, Ordering::SeqCst);
        self.start.store(start, Ordering::SeqCst);
    }

    fn give_back(&self) {
        self.start.store(NOWHERE, Ordering::SeqCst);
        self.end.store(0, Ordering::SeqCst);
        self.start.store(0, Ordering::SeqCst);
    }

    /// Puts zeros in place of the page at `address` and all that follow, if that is in the map. Async-signal-safe.
    fn replace(&self, address: usize, page: usize) -> bool {
        let (start, end) = (self.start.load(Ordering::SeqCst), self.end.load(Ordering::SeqCst));
        // Another thread may have put another map here in between. The map that is read now stays where it is.
        if !(start..end).contains(&address) || self.start.load(Ordering::SeqCst) != start {
            return false;
        }
        self.broken.store(true, Ordering::SeqCst);
        let first = address & !(page - 1);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
        // SAFETY: whoever reads at `address` has the map, which covers all addresses up to `end`; it has been read-only
        // and stays so. That bytes change under a reader is so with any map of a file.
        let placed =
            unsafe { libc::mmap(first as *mut c_void, end - first, libc::PROT_READ, flags, -1, 0) };
        placed != libc::MAP_FAILED
    }
}

/// A map of a file.
#[derive(Debug)]
pub(super) struct Map {
    slot: &'static Slot,
    map: Mmap,
}

impl Map {
    /// Maps a file that is not empty; `None` where as many are mapped as can be.
    pub(super) fn of(file: &File) -> io::Result<Option<Map>> {
        let handler = Handler::installed()?;
        let Some(slot) = Slot::take() else { return Ok(None) };
        // SAFETY: the map is read-only. Bytes that another process changes under it are read as some bytes or other,
        // which the readers accept; pages that it takes away are replaced by zeros.
        let map = unsafe { Mmap::map(file) }.inspect_err(|_| slot.give_back())?;
        let start = map.as_ptr().addr();
        slot.set(start, start + map.len().next_multiple_of(handler.page));
        Ok(Some(Map { slot, map }))
    }

    /// Whether a part of the file was not there when it was read.
    pub(super) fn is_broken(&self) -> bool {
        self.slot.broken.load(Ordering::SeqCst)
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // Before the addresses can be those of something else.
        self.slot.give_back();
    }
}

impl Deref for Map {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
    }
}

/// What handles SIGBUS.
#[derive(Debug)]
struct Handler {
    /// Bytes of a page.
    page: usize,
    /// What handled it before.
    previous: SigAction,
}

impl Handler {
    /// The handler of this process, installed with the first map.
    fn installed() -> io::Result<&'static Handler> {
        if let Some(handler) = HANDLER.get() {
            return Ok(handler);
        }
        let page = sysconf(SysconfVar::PAGE_SIZE)?.and_then(|size| usize::try_from(size).ok());
        let page = page.filter(|size| size.is_power_of_two()).unwrap_or(4096);
        let flags = SaFlags::SA_SIGINFO | SaFlags::SA_ONSTACK;
        let action = SigAction::new(SigHandler::SigAction(handle), flags, SigSet::empty());
        Ok(HANDLER.get_or_init(|| {
            // SAFETY: `handle` calls async-signal-safe functions only. That SIGBUS exists cannot fail.
            let previous = unsafe { sigaction(Signal::SIGBUS, &action) };
            let default = || SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
            Handler { page, previous: previous.unwrap_or_else(|_| default()) }
        }))
    }
}

/// Handles SIGBUS: an access that a map of ours cannot satisfy is satisfied with zeros.
extern "C" fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let errno = Errno::last_raw();
    // No map is read before the handler is known.
    let Some(handler) = HANDLER.get() else { return default() };
    // SAFETY: the kernel passes what SA_SIGINFO promises; an address where it is the kernel that complains (> 0).
    let address = unsafe { ((*info).si_code > 0).then(|| (*info).si_addr().addr()) };
    let replace = |address| MAPS.iter().any(|slot| slot.replace(address, handler.page));
    if address.is_some_and(replace) {
        Errno::set_raw(errno);
        return;
    }
    match handler.previous.handler() {
        SigHandler::SigAction(previous) => previous(signal, info, context),
        SigHandler::Handler(previous) => previous(signal),
        // What the kernel complains about cannot be ignored.
        SigHandler::SigDfl | SigHandler::SigIgn => default(),
    }
}

/// Ends the process, as SIGBUS does where nothing handles it.
fn default() {
    let action = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
    // SAFETY: nothing is called when the signal comes again, which is when this handler returns.
    let _ = unsafe { sigaction(Signal::SIGBUS, &action) };
    let _ = raise(Signal::SIGBUS);
}
