//! Finds the functions that may refer to some addresses, by the bytes of their code.

use core::ops::Range;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::super::image::Image;
use super::super::machine::Machine;

/// The functions whose instructions may contain an [address](Image::flat) in a range: at least all that do, in order. The threads
/// of the current `rayon` pool share the work.
pub(super) fn functions_with(
    image: &Image<'_>,
    machine: Machine,
    targets: &Range<u64>,
) -> Vec<usize> {
    let may_refer = |number: &usize| {
        let fragment = image.fragment(*number);
        fragment.is_some_and(|it| machine.may_refer(it.code, it.start, targets))
    };
    (0..image.functions().len()).into_par_iter().filter(may_refer).collect()
}
