//! Memory maps that survive truncation of the mapped file.
//!
//! If a file shrinks, the pages past its new end are gone, and reading them raises SIGBUS. The handler in this module
//! maps zeros in their place and marks the map as broken. The reader continues, as it does with any malformed bytes,
//! and its findings are discarded. Signals for other addresses are passed to the previously installed handler.

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

/// The maximum number of maps at a time. Each scanning thread uses a few.
const SLOTS: usize = 256;
/// The start of a map that is not yet, or no longer, usable: it contains no address.
const NOWHERE: usize = usize::MAX;

static MAPS: [Slot; SLOTS] = [const { Slot::free() }; SLOTS];
static HANDLER: OnceLock<Handler> = OnceLock::new();

/// The address range of a map. The signal handler may read it at any time, so there are no locks.
#[derive(Debug)]
struct Slot {
    /// The first address; 0 if the slot is free.
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

    /// Claims a free slot, if there is one.
    fn take() -> Option<&'static Slot> {
        let take = |slot: &&Slot| {
            slot.start.compare_exchange(0, NOWHERE, Ordering::SeqCst, Ordering::SeqCst).is_ok()
        };
        MAPS.iter().find(take)
    }

    /// Sets the address range of the map.
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

    /// Maps zeros in place of the page at `address` and all pages after it, if this map contains the address.
    /// Async-signal-safe.
    fn replace(&self, address: usize, page: usize) -> bool {
        let (start, end) = (self.start.load(Ordering::SeqCst), self.end.load(Ordering::SeqCst));
        // Another thread may have reused this slot between the two loads. The map that is being read cannot move.
        if !(start..end).contains(&address) || self.start.load(Ordering::SeqCst) != start {
            return false;
        }
        self.broken.store(true, Ordering::SeqCst);
        let first = address & !(page - 1);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
        // SAFETY: the thread that reads at `address` holds the map, which covers all addresses up to `end`. The map was
        // read-only and stays so. Its bytes may change while they are read, as with any file mapping.
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
    /// Maps a non-empty file; `None` if the maximum number of files is already mapped.
    pub(super) fn of(file: &File) -> io::Result<Option<Map>> {
        let handler = Handler::installed()?;
        let Some(slot) = Slot::take() else { return Ok(None) };
        // SAFETY: the map is read-only. Bytes that another process changes are read as arbitrary bytes, which the
        // readers accept; pages that are truncated away are replaced by zeros.
        let map = unsafe { Mmap::map(file) }.inspect_err(|_| slot.give_back())?;
        let start = map.as_ptr().addr();
        slot.set(start, start + map.len().next_multiple_of(handler.page));
        Ok(Some(Map { slot, map }))
    }

    /// Whether a part of the file was missing when it was read.
    pub(super) fn is_broken(&self) -> bool {
        self.slot.broken.load(Ordering::SeqCst)
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // Free the slot before the addresses can be reused for something else.
        self.slot.give_back();
    }
}

impl Deref for Map {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
    }
}

/// The SIGBUS handler.
#[derive(Debug)]
struct Handler {
    /// The page size in bytes.
    page: usize,
    /// The action that was installed before.
    previous: SigAction,
}

impl Handler {
    /// The handler of this process; installed when the first file is mapped.
    fn installed() -> io::Result<&'static Handler> {
        if let Some(handler) = HANDLER.get() {
            return Ok(handler);
        }
        let page = sysconf(SysconfVar::PAGE_SIZE)?.and_then(|size| usize::try_from(size).ok());
        let page = page.filter(|size| size.is_power_of_two()).unwrap_or(4096);
        let flags = SaFlags::SA_SIGINFO | SaFlags::SA_ONSTACK;
        let action = SigAction::new(SigHandler::SigAction(handle), flags, SigSet::empty());
        Ok(HANDLER.get_or_init(|| {
            // SAFETY: `handle` calls only async-signal-safe functions. `sigaction` cannot fail for a signal that
            // exists.
            let previous = unsafe { sigaction(Signal::SIGBUS, &action) };
            let default = || SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
            Handler { page, previous: previous.unwrap_or_else(|_| default()) }
        }))
    }
}

/// Handles SIGBUS: if the address is in one of our maps, the missing pages become zeros.
extern "C" fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let errno = Errno::last_raw();
    // No map is read before the handler is stored.
    let Some(handler) = HANDLER.get() else { return default() };
    // SAFETY: the kernel passes the siginfo that SA_SIGINFO promises. It contains an address if the kernel raised the
    // signal (`si_code` > 0).
    let address = unsafe { ((*info).si_code > 0).then(|| (*info).si_addr().addr()) };
    let replace = |address| MAPS.iter().any(|slot| slot.replace(address, handler.page));
    if address.is_some_and(replace) {
        Errno::set_raw(errno);
        return;
    }
    match handler.previous.handler() {
        SigHandler::SigAction(previous) => previous(signal, info, context),
        SigHandler::Handler(previous) => previous(signal),
        // A SIGBUS that the kernel raises cannot be ignored.
        SigHandler::SigDfl | SigHandler::SigIgn => default(),
    }
}

/// Ends the process as an unhandled SIGBUS does.
fn default() {
    let action = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
    // SAFETY: this restores the default action. The signal is delivered again when the handler returns.
    let _ = unsafe { sigaction(Signal::SIGBUS, &action) };
    let _ = raise(Signal::SIGBUS);
}
