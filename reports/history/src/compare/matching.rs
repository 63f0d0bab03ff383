//! Matches the findings of the old scan with those of the new scan, for one rule in one file.
//!
//! Exact matches come first, then less and less exact ones; no finding is used twice. Addresses and offsets distinguish
//! findings only if all of them are unchanged. Reports list the first few findings of each rule and count the rest, so
//! a listed finding without a partner is new or fixed only if the other list is complete.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use super::kept::{Item, Name};
use super::names;
use super::strings::{Id, Strings};

/// The findings of one rule in one file of one scan.
#[derive(Default)]
pub(super) struct Listed<'i> {
    /// How often the rule was broken.
    pub(super) count: u64,
    /// The listed findings, by place.
    pub(super) items: Vec<&'i Item>,
}

impl Listed<'_> {
    /// Sorts the findings by place, whatever order they were listed in.
    pub(super) fn sort(&mut self, strings: &Strings) {
        self.items.sort_by_cached_key(|item| {
            let symbol = item.symbol.map(|symbol| strings.text(symbol.text));
            (
                item.section.map(|s| strings.text(s)),
                item.code,
                item.function,
                item.offset,
                item.row,
                symbol,
                strings.text(item.message),
            )
        });
    }

    /// What is known about the findings that are not listed.
    fn unlisted(&self) -> Unlisted {
        let all = self.items.iter().map(|item| item.weight).fold(0, u64::saturating_add);
        let hiding = self.items.iter().filter(|item| item.weight > 1);
        let hiding: HashSet<_> = hiding.map(|item| pattern(item)).collect();
        Unlisted { has_all_patterns: all == self.count, hiding }
    }
}

/// What is known about the findings that are not listed.
struct Unlisted {
    /// Whether each finding is listed or has the pattern of a listed one.
    has_all_patterns: bool,
    /// The patterns of findings that represent others.
    hiding: HashSet<Option<(Id, Id)>>,
}

impl Unlisted {
    /// Whether a finding that is not listed certainly did not occur.
    fn excludes(&self, item: &Item) -> bool {
        let is_hidden = || item.difference.is_none() || self.hiding.contains(&pattern(item));
        self.has_all_patterns && (self.hiding.is_empty() || !is_hidden())
    }
}

/// The result of matching the findings of a rule.
#[derive(Default)]
pub(super) struct Matches<'i> {
    /// The findings of both scans.
    pub(super) pairs: Vec<(&'i Item, &'i Item)>,
    pub(super) fixed: Vec<&'i Item>,
    pub(super) new: Vec<&'i Item>,
    /// Listed findings that may or may not be in the other scan.
    pub(super) undecided_old: u64,
    pub(super) undecided_new: u64,
}

/// Matches the findings of one rule; `sees` states for the old and the new scan whether it could find violations of it.
pub(super) fn match_items<'i>(
    old: &Listed<'i>,
    new: &Listed<'i>,
    sees: [bool; 2],
    strings: &Strings,
) -> Matches<'i> {
    let mut matching = Matching {
        old: old.items.iter().map(|item| Left { item, ambiguous: false }).collect(),
        new: new.items.iter().map(|item| Left { item, ambiguous: false }).collect(),
        pairs: Vec::new(),
    };
    let mut matches = Matches::default();
    [matches.undecided_old, matches.undecided_new] = matching.patterns();
    matching.run(strings);
    matches.pairs = matching.pairs;
    let [of_old, of_new] = [old, new].map(Listed::unlisted);
    for left in matching.old {
        if sees[1] && !left.ambiguous && of_new.excludes(left.item) {
            matches.fixed.push(left.item);
        } else {
            matches.undecided_old += 1;
        }
    }
    for left in matching.new {
        if sees[0] && !left.ambiguous && of_old.excludes(left.item) {
            matches.new.push(left.item);
        } else {
            matches.undecided_new += 1;
        }
    }
    matches
}

/// Whether two matched findings have the same content.
pub(super) fn have_equal_content(old: &Item, new: &Item) -> bool {
    let grouped = old.weight > 1 || new.weight > 1;
    let same = (old.weight, old.shape, old.difference) == (new.weight, new.shape, new.difference);
    // If the first function of a pattern is a different one, so are its numbers.
    same && (grouped && old.symbol != new.symbol || old.differing().eq(new.differing()))
}

/// The common properties of findings with one pattern.
fn pattern(item: &Item) -> Option<(Id, Id)> {
    Some((item.difference?, item.shape))
}

/// A finding without a partner so far.
#[derive(Clone, Copy)]
struct Left<'i> {
    item: &'i Item,
    /// Other findings look like it, so that it is unknown which of them is left.
    ambiguous: bool,
}

/// How many findings with the same key are paired.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Take {
    /// As many as both sides have, in the order of places: they are interchangeable.
    Common,
    /// As many as both sides have, but it is unknown which ones are left.
    CommonOfMany,
    /// All, if both sides have the same number.
    Equal,
    /// One, if each side has exactly one.
    Single,
}

struct Matching<'i> {
    old: Vec<Left<'i>>,
    new: Vec<Left<'i>>,
    pairs: Vec<(&'i Item, &'i Item)>,
}

impl<'i> Matching<'i> {
    fn run(&mut self, strings: &Strings) {
        // Findings that have not moved.
        self.by(Take::Common, |item| {
            let place = (item.function, item.code, item.offset, item.index, item.row);
            Some((place, item.symbol, item.message, item.field, item.shape))
        });
        // Nor has what they are about, but another version of the program words it in another way.
        self.by(Take::Common, |item| {
            let place = item.code.map(|(start, _)| start).or(item.offset)?;
            let place = (place, item.function, item.index, item.row);
            Some((place, item.symbol, item.field, item.difference, item.shape))
        });
        let named = |item: &Item| item.symbol.map(|symbol| (symbol, item.symbol_offset));
        self.by(Take::Common, |item| {
            Some((named(item)?, item.relative(), item.row, item.difference, item.shape))
        });
        self.by(Take::Common, |item| Some((named(item)?, item.difference, item.shape)));
        let field = |item: &Item| item.field.map(|(name, _)| name);
        self.by(Take::Equal, |item| Some((named(item)?, field(item), item.difference.is_some())));
        let symbols = Symbols::of(&self.old, &self.new, strings);
        self.by(Take::Equal, |item| Some((symbols.of_copy(item)?, item.difference, item.shape)));
        self.without_symbols();
        self.stripped();
    }

    /// Reports that do not list all findings represent differences with the same pattern by one of them. Compares how
    /// many there are, regardless of which function represents them. Returns, for each scan, how many are omitted
    /// because one scan lists some of a pattern and the other all.
    fn patterns(&mut self) -> [u64; 2] {
        let mut buckets: HashMap<_, Pattern> = HashMap::new();
        for (place, left) in self.old.iter().enumerate() {
            let Some(pattern) = pattern(left.item) else { continue };
            buckets.entry(pattern).or_default().add(0, place, left.item);
        }
        for (place, left) in self.new.iter().enumerate() {
            let Some(pattern) = pattern(left.item) else { continue };
            buckets.entry(pattern).or_default().add(1, place, left.item);
        }
        let mut undecided = [0, 0];
        let (mut taken_old, mut taken_new) = (Vec::new(), Vec::new());
        for Pattern { places: [old, new], weights, grouped } in buckets.into_values() {
            if !grouped || old.is_empty() || new.is_empty() {
                continue;
            }
            if let ([one], [other]) = (old.as_slice(), new.as_slice()) {
                let items = self.old.get(*one).zip(self.new.get(*other));
                self.pairs.extend(items.map(|(one, other)| (one.item, other.item)));
            } else if weights[0] != weights[1] {
                undecided[0] += old.len() as u64;
                undecided[1] += new.len() as u64;
            }
            taken_old.extend(old);
            taken_new.extend(new);
        }
        remove(&mut self.old, taken_old);
        remove(&mut self.new, taken_new);
        undecided
    }

    /// Matches functions without a symbol by size and defect, and findings that are about no function by the field.
    fn without_symbols(&mut self) {
        let unnamed = |item: &Item| item.symbol.is_none().then_some(item.section);
        self.by(Take::CommonOfMany, |item| {
            let function = (item.function_size, item.relative(), item.row);
            Some((unnamed(item)?, function, item.field, item.difference, item.shape))
        });
        self.by(Take::Equal, |item| Some((unnamed(item)?, item.difference, item.shape)));
        self.by(Take::CommonOfMany, |item| Some((unnamed(item)?, item.difference, item.shape)));
        self.by(Take::Single, |item| {
            let whole = item.index.is_none() && item.code.is_none();
            Some((unnamed(item).filter(|_| whole)?, item.field.map(|(name, _)| name)))
        });
    }

    /// If one side has a symbol and the other does not, the file may have been stripped.
    fn stripped(&mut self) {
        let shapes = |left: &[Left<'_>], named: bool| -> HashSet<_> {
            let of = left.iter().filter(|left| left.item.symbol.is_some() == named);
            of.map(|left| (left.item.difference, left.item.shape)).collect()
        };
        for named in [true, false] {
            let (old, new) = (shapes(&self.old, named), shapes(&self.new, !named));
            for (side, named) in [(&mut self.old, named), (&mut self.new, !named)] {
                for left in side.iter_mut().filter(|left| left.item.symbol.is_some() == named) {
                    let shape = (left.item.difference, left.item.shape);
                    left.ambiguous |= old.contains(&shape) && new.contains(&shape);
                }
            }
        }
    }

    /// Pairs findings with the same key.
    fn by<K: Hash + Eq>(&mut self, take: Take, key: impl Fn(&Item) -> Option<K>) {
        if self.old.is_empty() || self.new.is_empty() {
            return;
        }
        let mut buckets: HashMap<K, [Vec<usize>; 2]> = HashMap::new();
        for (place, left) in self.old.iter().enumerate() {
            if let Some(key) = key(left.item) {
                buckets.entry(key).or_default()[0].push(place);
            }
        }
        for (place, left) in self.new.iter().enumerate() {
            if let Some(bucket) = key(left.item).and_then(|key| buckets.get_mut(&key)) {
                bucket[1].push(place);
            }
        }
        let (mut taken_old, mut taken_new) = (Vec::new(), Vec::new());
        for [old, new] in buckets.into_values().filter(|[_, new]| !new.is_empty()) {
            let equal = old.len() == new.len();
            let pairs = match take {
                Take::Common | Take::CommonOfMany => old.len().min(new.len()),
                Take::Equal if equal => old.len(),
                Take::Single if equal && old.len() == 1 => 1,
                Take::Equal | Take::Single => 0,
            };
            if take == Take::CommonOfMany && !equal {
                mark(&mut self.old, &old);
                mark(&mut self.new, &new);
            }
            for (&one, &other) in old.iter().zip(&new).take(pairs) {
                let items = self.old.get(one).zip(self.new.get(other));
                self.pairs.extend(items.map(|(one, other)| (one.item, other.item)));
                taken_old.push(one);
                taken_new.push(other);
            }
        }
        remove(&mut self.old, taken_old);
        remove(&mut self.new, taken_new);
    }
}

/// The findings of one pattern in both scans.
#[derive(Default)]
struct Pattern {
    places: [Vec<usize>; 2],
    weights: [u64; 2],
    grouped: bool,
}

impl Pattern {
    fn add(&mut self, side: usize, place: usize, item: &Item) {
        if let Some((places, weight)) = self.places.get_mut(side).zip(self.weights.get_mut(side)) {
            places.push(place);
            *weight = weight.saturating_add(item.weight);
        }
        self.grouped |= item.weight > 1;
    }
}

fn mark(left: &mut [Left<'_>], places: &[usize]) {
    for place in places {
        left.get_mut(*place).into_iter().for_each(|left| left.ambiguous = true);
    }
}

fn remove(left: &mut Vec<Left<'_>>, mut taken: Vec<usize>) {
    taken.sort_unstable();
    let mut taken = taken.into_iter().peekable();
    let mut place = 0;
    left.retain(|_| {
        let gone = taken.next_if_eq(&place).is_some();
        place += 1;
        !gone
    });
}

/// The symbols of unmatched findings, without the numbers of copies.
struct Symbols(HashMap<Name, String>);

impl Symbols {
    fn of(old: &[Left<'_>], new: &[Left<'_>], strings: &Strings) -> Symbols {
        let names = old.iter().chain(new).filter_map(|left| left.item.symbol);
        Symbols(names.map(|name| (name, names::symbol(strings.text(name.text)))).collect())
    }

    fn of_copy(&self, item: &Item) -> Option<&str> {
        self.0.get(&item.symbol?).map(String::as_str)
    }
}
