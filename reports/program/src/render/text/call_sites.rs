//! What a stack walker finds after the calls of all files.

use sframe_record::numbers::{counted, grouped, percent};
use sframe_record::{CallSiteTotal, SiteCounts};

/// One line about return addresses that are not in the row of their call. `noun` is what people call the tables that SFrame
/// was compared with.
pub(super) fn in_short(total: &CallSiteTotal, noun: &str) -> String {
    let of = |name: &str, sites: &SiteCounts| {
        let share = percent(sites.affected(), sites.total());
        let mut parts = vec![format!("{share} of {} in {name}", grouped(sites.total()))];
        let others = [
            (sites.other_function, "with the frame of the next function"),
            (sites.other_row, "with another frame of the function"),
            (sites.nothing, "without a row"),
            (sites.same_elsewhere, "with an equal frame of the next function"),
            (sites.unreadable, "unreadable"),
        ];
        let some = others.into_iter().filter(|(number, _)| *number > 0);
        parts.extend(some.map(|(number, what)| format!("{} {what}", grouped(number))));
        parts.join(", ")
    };
    let sframe = total.sites.sframe.as_ref().map(|sites| of("SFrame", sites));
    let cfi = total.sites.cfi.as_ref().map(|sites| of(noun, sites));
    let parts: Vec<String> = [sframe, cfi].into_iter().flatten().collect();
    let nothing = || "there are no calls".to_owned();
    let sites = if parts.is_empty() { nothing() } else { parts.join("; ") };
    let files = counted(total.files, "file");
    format!("return addresses of {files} that are outside of their call's row: {sites}")
}
