//! The pages of consumers.

use sframe_consumers::Page as Profile;

use super::page::{Kind, Page};

pub(super) fn page(profile: &Profile) -> Page {
    let Profile { name, also, title, versions, source, without_row, .. } = *profile;
    let numbers: Vec<String> = profile.reads.iter().map(|number| format!("V{number}")).collect();
    let machines: Vec<&str> = profile.machines.iter().map(|machine| machine.name()).collect();
    let reads = format!("{} on {}", numbers.join(", "), machines.join(", "));
    let rules = profile.statements.iter();
    let rules =
        rules.map(|of| format!("{}: {} ({})", of.subject.heading(), of.text, of.basis.mark()));
    let faults = profile.faults.iter();
    let faults = faults.map(|of| format!("{}: {} ({})", of.versions, of.text, of.basis.mark()));
    let advice = profile.producers.iter().map(|advice| (*advice).to_owned());
    Page::new(Kind::Consumer, name, "consumer".to_owned(), title.to_owned())
        .text("covers", "Covers", versions.to_owned())
        .text("other-names", "Other names for --for", also.join(", "))
        .text("reads", "Reads", reads)
        .text("without-row", "Without a row", without_row.to_owned())
        .text("source", "Read in", source.to_owned())
        .list("rules", "Rules", rules)
        .list("faults", "Known faults", faults)
        .list("remedy", "What to do", advice)
}
