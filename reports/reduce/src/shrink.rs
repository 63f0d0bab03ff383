//! Makes a value smaller as long as it passes a test (delta debugging).

use std::ops::Range;

/// The smallest value found so far, and the test that it passes.
#[derive(Debug)]
pub struct Shrink<T, S> {
    shows: S,
    smallest: T,
}

impl<T, S: FnMut(&T) -> bool> Shrink<T, S> {
    /// Starts with a value that passes the test.
    pub const fn new(smallest: T, shows: S) -> Shrink<T, S> {
        Shrink { shows, smallest }
    }

    /// The smallest value so far.
    pub const fn smallest(&self) -> &T {
        &self.smallest
    }

    /// The smallest value.
    pub fn into_smallest(self) -> T {
        self.smallest
    }

    /// Takes the candidate if it passes the test. Returns whether it does.
    pub fn try_one(&mut self, candidate: T) -> bool {
        let passes = (self.shows)(&candidate);
        if passes {
            self.smallest = candidate;
        }
        passes
    }

    /// Takes the first of these candidates that passes the test. Returns whether there is one.
    pub fn try_each(&mut self, candidates: impl IntoIterator<Item = T>) -> bool {
        candidates.into_iter().any(|candidate| self.try_one(candidate))
    }

    /// Removes shorter and shorter runs of parts, until each part is needed.
    ///
    /// `count` is the number of parts. `without` is the value without a range of them; `None` if that has no meaning.
    /// Returns whether a part was removed.
    pub fn drop_runs(
        &mut self,
        count: impl Fn(&T) -> usize,
        without: impl Fn(&T, Range<usize>) -> Option<T>,
    ) -> bool {
        let before = count(&self.smallest);
        let mut length = before;
        while length > 0 {
            let mut at = 0;
            let mut dropped = false;
            while at < count(&self.smallest) {
                let end = at.saturating_add(length).min(count(&self.smallest));
                let candidate = without(&self.smallest, at..end);
                if candidate.is_some_and(|candidate| self.try_one(candidate)) {
                    dropped = true;
                } else {
                    at += length;
                }
            }
            length = if length == 1 && dropped { 1 } else { length / 2 };
        }
        count(&self.smallest) < before
    }

    /// Replaces each part by the first of its variants that passes the test: `variants` has the values with the part at an
    /// index replaced, the best first. Returns whether a part was replaced.
    pub fn replace_each<I: IntoIterator<Item = T>>(
        &mut self,
        count: impl Fn(&T) -> usize,
        variants: impl Fn(&T, usize) -> I,
    ) -> bool {
        let mut replaced = false;
        for at in 0..count(&self.smallest) {
            let candidates = variants(&self.smallest, at);
            replaced |= self.try_each(candidates);
        }
        replaced
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(clippy::ptr_arg, reason = "the reducer passes a reference to the value itself")]
    fn without(list: &Vec<u32>, range: Range<usize>) -> Option<Vec<u32>> {
        let mut list = list.clone();
        list.drain(range);
        Some(list)
    }

    #[test]
    fn only_needed_parts_remain() {
        for needed in [&[17][..], &[0, 99], &[3, 4, 5, 60], &[]] {
            let shows = |list: &Vec<u32>| needed.iter().all(|part| list.contains(part));
            let mut shrink = Shrink::new((0..100).collect(), shows);
            shrink.drop_runs(Vec::len, without);
            assert_eq!(shrink.into_smallest(), needed);
        }
    }

    #[test]
    fn few_tests_are_needed_for_few_parts() {
        let mut tests = 0;
        let shows = |list: &Vec<u32>| {
            tests += 1;
            list.contains(&777)
        };
        let mut shrink = Shrink::new((0..1024).collect(), shows);
        shrink.drop_runs(Vec::len, without);
        assert_eq!(shrink.smallest(), &[777]);
        drop(shrink);
        // Two for each halving, and a few for the last part.
        assert!(tests < 40, "{tests} tests");
    }

    #[test]
    fn parts_are_replaced_by_the_first_variant_that_passes() {
        let shows = |list: &Vec<u32>| list.iter().sum::<u32>() >= 10;
        let mut shrink = Shrink::new(vec![9, 9, 9], shows);
        let variants = |list: &Vec<u32>, at: usize| {
            let list = list.clone();
            (0..4).map(move |value| {
                let mut list = list.clone();
                list.splice(at..=at, [value]);
                list
            })
        };
        assert!(shrink.replace_each(Vec::len, variants));
        assert_eq!(shrink.into_smallest(), [0, 1, 9]);
    }
}
