//! Definitions that linkers remember: members that are pulled in once something needs them.

use std::collections::HashSet;

use sframe_record::text::printable;

use super::{Archive, Loader};
use crate::arguments::Arguments;
use crate::linker::Linker;
use crate::object::Symbols;
use crate::obstacle::ObstacleKind;
use crate::options::Output;

const SCRIPT_ROOT: &str = "with -r --gc-sections, GNU ld needs the symbol of -e or -u, or one that the linker script names: whether \
                           the script does is not looked at";

/// The symbol at which a program starts, if no other one is named.
pub(super) const ENTRY: &[u8] = b"_start";

/// A definition outside the objects that are part of the link.
#[derive(Clone, Copy)]
pub(super) struct Lazy {
    pub(super) weak: bool,
    /// The archive and the member; `None` if it is in a shared object.
    pub(super) place: Option<(usize, usize)>,
}

/// The symbols that the command line needs. Observed: with `-r`, gold pulls in no member for the entry.
pub(super) fn roots(linker: Linker, arguments: &Arguments) -> impl Iterator<Item = &Vec<u8>> {
    let is_relocatable = arguments.options.output == Output::Relocatable;
    let is_used = !(is_relocatable && linker == Linker::Gold);
    arguments.needed.iter().chain(arguments.entries.iter().filter(move |_| is_used))
}

impl Loader<'_> {
    /// Observed: with `-r --gc-sections`, GNU ld needs a root that an input defines. A script may name one.
    pub(super) fn collect(&mut self) {
        let Arguments { options, needed, entries, scripts, .. } = self.arguments;
        let mut roots = needed.iter().chain(entries.last());
        let is_without = options.output == Output::Relocatable
            && options.gc_sections
            && !roots.any(|root| self.defined.contains(root));
        let is_gnu_ld = self.linker.is_gnu_ld();
        if !is_without || !self.loaded.obstacles.is_empty() {
            return;
        }
        match scripts.is_empty() {
            true => self.refused(ObstacleKind::NoRoot, "--gc-sections"),
            false if is_gnu_ld => self.fault(SCRIPT_ROOT.to_owned()),
            false => {}
        }
    }

    /// Linkers warn of an entry that no input defines, which ends the link with `--fatal-warnings`. Observed: gold and mold do
    /// only in programs, gold looks for no other entry than that of
    /// `-e`, and mold knows no addresses as entries.
    pub(super) fn look_for_entry(&mut self) {
        let Arguments { options, entries, .. } = self.arguments;
        let is_program = matches!(options.output, Output::Program | Output::Static);
        let (of_option, of_default) = match self.linker {
            Linker::Ld240 | Linker::Ld244 | Linker::Ld247 | Linker::Lld => (true, is_program),
            Linker::Gold => (is_program, false),
            Linker::Mold => (is_program, is_program),
            Linker::Wild | Linker::Other => (false, false),
        };
        let named = entries.last().map(Vec::as_slice);
        let (entry, is_wanted) = match named {
            Some(entry) => (entry, of_option),
            None => (ENTRY, of_default),
        };
        let is_digit = entry.first().is_some_and(u8::is_ascii_digit);
        let is_address = is_digit && self.linker != Linker::Mold;
        let is_defined = self.defined.contains(entry) || self.own.contains(entry);
        if options.fatal_warnings && is_wanted && !is_address && !is_defined {
            let entry = printable(entry);
            self.fault(format!(
                "no input defines the entry {entry}, of which the linker warns, and --fatal-warnings makes that an error"
            ));
        }
    }

    /// lld pulls in members for the symbols of `-e` and `-u` after all others.
    pub(super) fn need_roots(&mut self) {
        for name in roots(self.linker, self.arguments) {
            if !self.defined.contains(name) && self.needed.insert(name.clone()) {
                self.fresh.push(name.clone());
            }
        }
        self.pull_lazy();
    }

    pub(super) fn remember_shared(&mut self, symbols: &Symbols) {
        let weak: HashSet<&Vec<u8>> = symbols.weak.iter().collect();
        for name in &symbols.defined {
            self.lazy_definition(name, Lazy { weak: weak.contains(name), place: None });
        }
    }

    /// mold prefers definitions that are not weak, also in later archives. lld takes the first one.
    pub(super) fn remember(&mut self, archive: &Archive, number: usize) {
        let (of_mold, of_lld) = (self.linker == Linker::Mold, self.linker == Linker::Lld);
        let strong = archive.strong().iter().filter(|_| of_mold).map(|found| (found, false));
        let any =
            archive.index().iter().filter(|_| of_mold || of_lld).map(|found| (found, of_mold));
        for ((name, &member), weak) in strong.chain(any) {
            self.lazy_definition(name, Lazy { weak, place: Some((number, member)) });
        }
    }

    fn lazy_definition(&mut self, name: &[u8], lazy: Lazy) {
        match self.lazy.get_mut(name) {
            Some(known) if known.weak && !lazy.weak => *known = lazy,
            Some(_) => {}
            None => {
                self.lazy.insert(name.to_vec(), lazy);
            }
        }
    }

    /// lld pulls in a remembered member as soon as something needs it, before it reads on.
    pub(super) fn pull_lazy(&mut self) {
        if self.linker == Linker::Lld {
            self.pull_remembered();
        }
    }

    /// mold looks for what is needed once it has seen all inputs.
    pub(super) fn mark(&mut self) {
        self.is_marking = true;
        self.fresh = self.needed.iter().cloned().collect();
        self.fresh.sort_unstable();
        self.pull_remembered();
        let shared = self.lazy.iter().filter(|(_, lazy)| lazy.place.is_none());
        self.defined.extend(shared.map(|(name, _)| name.clone()));
    }

    /// Pulls in remembered members for what has come to be needed, and for what they need.
    fn pull_remembered(&mut self) {
        let mut stack = std::mem::take(&mut self.fresh);
        stack.reverse();
        while let Some(name) = stack.pop() {
            // mold chose the definition before members brought others.
            let wanted = self.linker == Linker::Mold || self.needed.contains(&name);
            let lazy = self.lazy.get(&name).filter(|_| wanted);
            if let Some((archive, member)) = lazy.and_then(|lazy| lazy.place) {
                self.pull(archive, member, Some(&name));
                stack.extend(std::mem::take(&mut self.fresh).into_iter().rev());
            }
        }
    }
}
