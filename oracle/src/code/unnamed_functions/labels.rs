//! Labels whose addresses are in data or in code, as functions' are.
//!
//! Compilers put the address of a label where a program computes a jump: GCC's labels as values. No boundary of functions has jumps
//! across it, but for calls in tail position, which lead to a start. So where code after a place jumps into the middle of the
//! function before it, or the other way around, both are one function; and where a function with a computed jump contains the
//! address of a place after it, the jump may lead there.

use std::collections::{BTreeMap, BTreeSet};

use super::region::{Before, Mark, Region};
use crate::code::effect::{ControlFlow, Decoder};
use crate::code::machine::Machine;

/// What joins the code after one start with that after another one.
struct Crossing {
    /// The numbers of both starts, in ascending order.
    between: (usize, usize),
    /// Where control has to come from the start before it, for this to count.
    condition: Condition,
}

/// A condition for a crossing.
enum Condition {
    /// None: there is a jump to a place before a label of the same function.
    None,
    /// Control comes to an address: there is a jump to it, and it is not a start.
    Reaches { to: u64, is_in_the_middle: bool },
    /// Control comes to a computed jump: there is the address of the other start.
    JumpsIndirectly,
}

/// Those of the `inferred` starts in a region that are labels. `starts` has all starts of the region, in ascending order, and
/// `known` the labels that were found before.
pub(super) fn labels<'e>(
    (region, machine): (&Region<'e>, Machine),
    starts: &[u64],
    (inferred, known): (&BTreeSet<u64>, &BTreeSet<u64>),
    decoder: &mut impl Decoder<'e>,
) -> Vec<u64> {
    if starts.iter().all(|start| !inferred.contains(start)) {
        return Vec::new();
    }
    // The number of starts up to each that are certain.
    let certain = starts.iter().scan(0_usize, |count, start| {
        *count = count.saturating_add(usize::from(!inferred.contains(start)));
        Some(*count)
    });
    let certain: Vec<usize> = certain.collect();
    // Where ranges of joined starts begin and end: each has the starts after its first one.
    let mut changes: BTreeMap<usize, isize> = BTreeMap::new();
    let mut change = |after: usize, by: isize| {
        let depth = changes.entry(after.saturating_add(1)).or_default();
        *depth = depth.saturating_add(by);
    };
    for (function, crossings) in crossings((region, machine), (starts, known), decoder) {
        let reached = Reached::from(region, starts, function, decoder);
        for Crossing { between: (first, last), condition } in crossings {
            if certain.get(first) == certain.get(last) && reached.meets(&condition) {
                change(first, 1);
                change(last, -1);
            }
        }
    }
    let mut depth = 0_isize;
    let is_joined = |(number, start): (usize, &u64)| {
        depth = depth.saturating_add(changes.get(&number).copied().unwrap_or_default());
        (depth > 0).then_some(*start)
    };
    starts.iter().enumerate().filter_map(is_joined).collect()
}

/// The crossings of reached code, by the number of the start before the code that has to be reached.
fn crossings<'e>(
    (region, machine): (&Region<'e>, Machine),
    (starts, known): (&[u64], &BTreeSet<u64>),
    decoder: &mut impl Decoder<'e>,
) -> BTreeMap<usize, Vec<Crossing>> {
    let number_of = |address: u64| {
        let is_inside = address < region.range.end;
        let after = starts.partition_point(|start| *start <= address);
        after.checked_sub(1).filter(|_| is_inside)
    };
    let mut found: BTreeMap<usize, Vec<Crossing>> = BTreeMap::new();
    for (offset, mark) in region.marks() {
        if !matches!(mark, Mark::Continues | Mark::Ends) {
            continue;
        }
        let address = region.address(offset);
        let (Some(from), Some(preview)) =
            (number_of(address), decoder.preview(region.code, offset, address))
        else {
            continue;
        };
        let (to, is_jump) = match (preview.next, preview.refers) {
            (ControlFlow::Jump(to) | ControlFlow::Branch(to, _), _) => (to, true),
            (_, Some(to)) => (to, false),
            _ => continue,
        };
        let Some(into) = number_of(to).filter(|into| *into != from) else { continue };
        let between = (from.min(into), from.max(into));
        match (is_jump, starts.get(into) == Some(&to)) {
            (true, false) => {
                let end = starts.get(into.saturating_add(1)).copied();
                let after = to..end.unwrap_or(region.range.end);
                let condition = match known.range(after).next() {
                    Some(_) => Condition::None,
                    None => {
                        let is_in_the_middle = region.before(to, machine) != Before::Ends;
                        Condition::Reaches { to, is_in_the_middle }
                    }
                };
                found.entry(into).or_default().push(Crossing { between, condition });
            }
            (false, true) if from < into => {
                let condition = Condition::JumpsIndirectly;
                found.entry(from).or_default().push(Crossing { between, condition });
            }
            _ => {}
        }
    }
    found
}

/// Where control comes from a start, before the next one.
#[derive(Default)]
struct Reached {
    instructions: BTreeSet<u64>,
    /// There is a jump to an address in a register among them: it may lead to any of the other instructions.
    has_indirect_jump: bool,
}

impl Reached {
    fn from<'e>(
        region: &Region<'e>,
        starts: &[u64],
        function: usize,
        decoder: &mut impl Decoder<'e>,
    ) -> Reached {
        let mut reached = Reached::default();
        let Some(start) = starts.get(function).copied() else { return reached };
        let end = starts.get(function.saturating_add(1)).copied().unwrap_or(region.range.end);
        let mut waiting = vec![start];
        while let Some(address) = waiting.pop() {
            if !(start..end).contains(&address) || !reached.instructions.insert(address) {
                continue;
            }
            let Some(offset) = region.offset(address) else { continue };
            let Some(preview) = decoder.preview(region.code, offset, address) else { continue };
            let next = address.saturating_add(u64::from(preview.length));
            match preview.next {
                ControlFlow::Jump(to) | ControlFlow::Branch(to, _) => waiting.push(to),
                ControlFlow::Indirect(_) => reached.has_indirect_jump = true,
                _ => {}
            }
            if !Mark::of(preview.next, next).ends() {
                waiting.push(next);
            }
        }
        reached
    }

    fn meets(&self, condition: &Condition) -> bool {
        match condition {
            // A place to which control does not come from before it may be a function of its own.
            Condition::Reaches { to, is_in_the_middle } => {
                self.has_indirect_jump && *is_in_the_middle || self.instructions.contains(to)
            }
            Condition::None => true,
            Condition::JumpsIndirectly => self.has_indirect_jump,
        }
    }
}
