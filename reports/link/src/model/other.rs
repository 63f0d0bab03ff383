//! Linkers whose treatment of SFrame was not observed. Some do not know the relocation of version 3, and refuse startup
//! objects of the C library that have it.

use super::{Link, Prediction};
use crate::input::Input;

/// The number of inputs that are listed.
const LISTED: usize = 3;

pub(super) fn predict(link: &Link<'_>) -> Prediction {
    let inputs: Vec<&Input> = with_long_starts(link).collect();
    let Some(relocation) = inputs.first().and_then(|input| relocation(input)) else {
        return Prediction::default();
    };
    let names: Vec<&str> = inputs.iter().take(LISTED).map(|input| input.name.as_str()).collect();
    let more = match inputs.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let notes = vec![
        format!(
            "the link fails if this linker does not know {relocation}, the relocation of SFrame version 3, which the .sframe \
             of {}{more} has",
            names.join(", ")
        ),
        "explained by: sframe-check explain pc64-in-sframe".to_owned(),
    ];
    Prediction { notes, ..Prediction::default() }
}

/// The inputs with version 3, whose start fields have 8 bytes.
pub(crate) fn with_long_starts<'a>(link: &Link<'a>) -> impl Iterator<Item = &'a Input> {
    let copied = link.inputs.iter().filter(|input| input.is_copied());
    copied.filter(|input| {
        let section = input.section().filter(|section| section.relocated);
        section.is_some_and(|section| section.version() == Some(3)) && relocation(input).is_some()
    })
}

/// The relocation of a start field of 8 bytes.
fn relocation(input: &Input) -> Option<&'static str> {
    match input.machine.as_str() {
        "AMD64" => Some("R_X86_64_PC64"),
        "AArch64" => Some("R_AARCH64_PREL64"),
        "s390x" => Some("R_390_PC64"),
        _ => None,
    }
}
