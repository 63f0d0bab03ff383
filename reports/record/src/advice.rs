//! What else the program can do with the files of a scan, in sentences with commands between backquotes.

use crate::numbers::{counted, grouped};
use crate::summary::Summary;

/// How machines are called whose code can be compared with tables.
const WITH_CODE: [&str; 2] = ["AMD64", "AArch64"];

/// Whether no file has a section, and nothing else was asked for.
#[must_use]
pub fn has_nothing_to_check(summary: &Summary<'_>) -> bool {
    let is_bare = summary.with_section == 0 && summary.code_bytes > 0;
    is_bare && summary.proofs.is_none() && summary.worst().is_none()
}

/// What files without SFrame have, what SFrame would bring and cost, and what can be checked today: a line each.
#[must_use]
pub fn without_sections(summary: &Summary<'_>) -> Vec<String> {
    let (files, have, whose) = match summary.checked {
        1 => ("the file", "has", "its"),
        _ => ("the files", "have", "their"),
    };
    let code = counted(summary.code_bytes, "byte");
    let nothing = format!("nothing to check: {files} {have} {code} of code, and no SFrame section");
    let functions = match summary.functions_without_section {
        0 => format!("{whose} functions"),
        number => format!("about {}", counted(number, "function")),
    };
    let forecast = format!(
        "with SFrame, profilers could walk the stacks of {functions}: `sframe-check forecast PATH...` says how many, \
         and at what cost"
    );
    // Kernels and modules have no CFI, from which forecasts are made.
    let are_kernels = summary.orc_without_section == summary.checked;
    let forecast = (summary.forecasts().is_empty() && !are_kernels).then_some(forecast);
    let today = match summary.orc_without_section {
        0 => format!(
            "today, `sframe-check --thorough PATH...` checks the CFI of {files} by {whose} machine code"
        ),
        kernels => {
            let have = match (summary.checked, kernels) {
                (1, _) => "it has".to_owned(),
                (all, some) if all == some => "they have".to_owned(),
                (_, 1) => "one of them has".to_owned(),
                (_, some) => format!("{} of them have", grouped(some)),
            };
            format!(
                "Linux unwinds by ORC, whose tables {have}: `sframe-check --thorough PATH...` checks them by the machine code; \
                 once there is a section, `--against orc` compares it with them"
            )
        }
    };
    [nothing].into_iter().chain(forecast).chain([today]).collect()
}

/// What SFrame would cost, where most files have none.
#[must_use]
pub fn forecast(summary: &Summary<'_>) -> Option<String> {
    let without = summary.checked.saturating_sub(summary.with_section);
    let is_wanted = without > summary.with_section && summary.functions_without_section > 0;
    let (all, functions) =
        (grouped(summary.checked), counted(summary.functions_without_section, "function"));
    (is_wanted && summary.forecasts().is_empty()).then(|| {
        format!(
            "{} of {all} files have no SFrame section: `sframe-check forecast PATH...` says how many of their about \
             {functions} it could describe, and at what cost",
            grouped(without)
        )
    })
}

/// How to check more of files with SFrame in which nothing was found, if there is more.
#[must_use]
pub fn thorough(summary: &Summary<'_>) -> Option<String> {
    let has_code = |machine: &str| WITH_CODE.iter().any(|known| machine.starts_with(known));
    let can_compare = summary.sections.iter().any(|count| has_code(&count.machine));
    let has_tables = summary.with_cfi > 0 || summary.with_orc > 0;
    let found_nothing = summary.worst().is_none() && summary.undecided == 0;
    let is_wanted = found_nothing && summary.proofs.is_none();
    let noun = summary.tables();
    (is_wanted && can_compare && has_tables && summary.code_bytes > 0)
        .then(|| format!("`--thorough` compares SFrame and {noun} with the machine code, too"))
}

/// What to do after a scan in which nothing was found. There is always something.
#[must_use]
pub fn after_nothing(summary: &Summary<'_>) -> Vec<String> {
    if has_nothing_to_check(summary) {
        return without_sections(summary);
    }
    let lines: Vec<String> = thorough(summary).into_iter().chain(forecast(summary)).collect();
    match lines.is_empty() {
        true => vec!["`sframe-check compare OLD NEW` says what the next scan changes".to_owned()],
        false => lines,
    }
}
