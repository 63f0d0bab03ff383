//! Whether `--gc-sections` keeps code that SFrame of version 3 describes. It keeps what can be reached from a few symbols and
//! sections.
//!
//! What mold keeps without a use was observed (3.0.0), with some doubt: the answer is known if code is reached from what it
//! keeps for sure, or is not reached from all that it may keep.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::Loader;
use super::lazy::ENTRY;
use crate::input::InputKind;
use crate::object::{Kept, Object, Target, Uses};
use crate::options::Output;

/// The section of an object: both numbers.
type Place = (usize, usize);

/// Symbols that run before and after a program.
const AROUND: [&[u8]; 2] = [b"_init", b"_fini"];

/// What the loader remembers of inputs for `--gc-sections`.
#[derive(Default)]
pub(super) struct Remembered {
    objects: Vec<Uses>,
    /// Symbols of shared objects, which may use those of the program.
    shared: Vec<Vec<u8>>,
    /// Something is not known of an object.
    is_incomplete: bool,
    /// A script chooses what is exported.
    has_versions: bool,
}

impl Remembered {
    pub(super) fn add_script(&mut self, text: &str) {
        self.has_versions |= text.contains("VERSION");
    }

    pub(super) fn add(&mut self, object: &mut Object) {
        if object.input.kind == InputKind::Shared {
            let symbols = &object.symbols;
            let names = symbols.defined.iter().chain(&symbols.needed);
            self.shared.extend(names.chain(&symbols.weakly_needed).cloned());
            return;
        }
        match object.uses.take() {
            Some(uses) => self.objects.push(uses),
            None => self.is_incomplete = true,
        }
    }
}

impl Loader<'_> {
    /// Whether some code is kept that SFrame of version 3 describes; `None` if that is not known.
    pub(super) fn keeps_described(&self) -> Option<bool> {
        let arguments = self.arguments;
        let options = &arguments.options;
        if !options.gc_sections || options.output == Output::Relocatable {
            return Some(true);
        }
        let is_renamed = !arguments.wrapped.is_empty() || !arguments.defined.is_empty();
        if self.used.is_incomplete || is_renamed || arguments.folds {
            return None;
        }
        let graph = Graph::of(&self.used.objects);
        let has_default_exports =
            !arguments.chooses_symbols && !self.used.has_versions && arguments.scripts.is_empty();
        let mut roots: Vec<Place> = graph.kept(|kept| kept == Kept::Always);
        let is_shared = options.output == Output::Shared;
        let default = Some(ENTRY).filter(|_| !is_shared);
        let entry = arguments.entries.last().map(Vec::as_slice).or(default);
        for name in entry.into_iter().chain(arguments.needed.iter().map(Vec::as_slice)) {
            roots.extend(graph.definition(name));
        }
        if is_shared && has_default_exports {
            roots.extend(graph.exported());
        }
        if graph.reaches_described(roots.clone(), |name| graph.definition(name)) {
            return Some(true);
        }
        roots.extend(graph.kept(|kept| kept != Kept::No));
        let tables = self.used.objects.iter().enumerate();
        for (object, target) in
            tables.flat_map(|(object, uses)| uses.of_tables.iter().map(move |of| (object, of)))
        {
            match target {
                Target::Section(section) => roots.push((object, *section)),
                Target::Name(name) => roots.extend(graph.definitions(name)),
            }
        }
        let entries = arguments.entries.iter().chain(&arguments.needed).chain(&self.used.shared);
        let names = entries.map(Vec::as_slice).chain(AROUND).chain([ENTRY]);
        roots.extend(names.flat_map(|name| graph.definitions(name)));
        let is_reached = graph.reaches_described(roots, |name| graph.definitions(name));
        (!is_reached && has_default_exports).then_some(false)
    }
}

/// The sections of all objects, without those of groups that an earlier object has.
struct Graph<'a> {
    objects: &'a [Uses],
    dropped: HashSet<Place>,
    /// The definitions of each symbol, and whether they are weak.
    definitions: HashMap<&'a [u8], Vec<(Option<Place>, bool)>>,
}

impl<'a> Graph<'a> {
    fn of(objects: &'a [Uses]) -> Graph<'a> {
        let (mut seen, mut dropped) = (HashSet::new(), HashSet::new());
        for (object, uses) in objects.iter().enumerate() {
            for (name, sections) in &uses.groups {
                if !seen.insert(&**name) {
                    dropped.extend(sections.iter().map(|section| (object, *section)));
                }
            }
        }
        let mut graph = Graph { objects, dropped, definitions: HashMap::new() };
        for (object, uses) in objects.iter().enumerate() {
            for definition in &uses.definitions {
                let place = definition.section.map(|section| (object, section));
                if !place.is_some_and(|place| graph.dropped.contains(&place)) {
                    let known = graph.definitions.entry(&definition.name).or_default();
                    known.push((place, definition.weak));
                }
            }
        }
        graph
    }

    fn all(&self) -> impl Iterator<Item = (Place, &'a crate::object::Used)> {
        let objects = self.objects.iter().enumerate();
        let all = objects.flat_map(|(object, uses)| {
            uses.sections.iter().map(move |(section, used)| ((object, *section), used))
        });
        all.filter(|(place, _)| !self.dropped.contains(place))
    }

    fn kept(&self, is_kept: impl Fn(Kept) -> bool) -> Vec<Place> {
        self.all().filter(|(_, used)| is_kept(used.kept)).map(|(place, _)| place).collect()
    }

    /// The sections with symbols that a shared object exports.
    fn exported(&self) -> Vec<Place> {
        let objects = self.objects.iter().enumerate();
        let exported = objects.flat_map(|(object, uses)| {
            let definitions = uses.definitions.iter().filter(|definition| definition.exported);
            definitions.filter_map(move |definition| Some((object, definition.section?)))
        });
        exported.filter(|place| !self.dropped.contains(place)).collect()
    }

    /// All places where a symbol is defined.
    fn definitions(&self, name: &[u8]) -> Vec<Place> {
        let found = self.definitions.get(name).map(Vec::as_slice).unwrap_or_default();
        found.iter().filter_map(|(place, _)| *place).collect()
    }

    /// The place of the definition that is certainly used: the only one, or the only one that is not weak.
    fn definition(&self, name: &[u8]) -> Vec<Place> {
        let found = self.definitions.get(name).map(Vec::as_slice).unwrap_or_default();
        let strong: Vec<_> = found.iter().filter(|(_, weak)| !weak).collect();
        match (strong.as_slice(), found) {
            ([(place, _)], _) | ([], [(place, _)]) => place.iter().copied().collect(),
            _ => Vec::new(),
        }
    }

    /// Whether a section that SFrame describes can be reached from others.
    fn reaches_described(
        &self,
        mut next: Vec<Place>,
        resolve: impl Fn(&[u8]) -> Vec<Place>,
    ) -> bool {
        let mut seen: HashSet<Place> = HashSet::new();
        let mut names: BTreeSet<&[u8]> = BTreeSet::new();
        while let Some(place) = next.pop() {
            if self.dropped.contains(&place) || !seen.insert(place) {
                continue;
            }
            let (object, section) = place;
            let uses = self.objects.get(object);
            let Some(used) = uses.and_then(|uses| uses.sections.get(&section)) else { continue };
            if used.described {
                return true;
            }
            for target in &used.targets {
                match target {
                    Target::Section(section) => next.push((object, *section)),
                    Target::Name(name) if names.insert(name) => next.extend(resolve(name)),
                    Target::Name(_) => {}
                }
            }
        }
        false
    }
}
