//! Functions whose addresses are in data.

use sframe_validator::unwind::CodeAddress;

use super::super::image::Image;
use super::super::pointers::{Pointer, WORD, addresses};

/// The starts of the functions whose addresses are in data; ordered. Where adjacent words point to the middle of functions as
/// well, they are a jump table, which may lead to fragments of functions. Words that point to code of no known function do not
/// count: `.init_array` has such pointers, and is next to other data.
pub(super) fn pointers(image: &Image<'_>) -> Vec<u64> {
    let functions = image.functions();
    let (Some(first), Some(last)) = (functions.first(), functions.last()) else {
        return Vec::new();
    };
    let is_code = |word: u64| (first.start.address..=last.start.address).contains(&word);
    let mut found: Vec<u64> = Vec::new();
    let (mut first, mut is_table, mut end) = (0, false, None);
    for Pointer { place, target } in addresses(image.elf(), is_code) {
        if end != Some(place) {
            (first, is_table) = (found.len(), false);
        }
        end = place.checked_add(WORD);
        let start = CodeAddress::absolute(target);
        if image.find(start).is_none() {
            continue;
        }
        if !image.starts_at(start) {
            is_table = true;
            found.truncate(first);
        } else if !is_table {
            found.push(target);
        }
    }
    found.sort();
    found.dedup();
    found
}
