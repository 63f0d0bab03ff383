use crate::finding::HeaderSummary;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};

pub(super) static RULE: Rule = Rule {
    name: "mixed-inputs",
    group: Group::Relocations,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "inputs of one link agree in version, ABI, fixed offsets and the PC-relative flag",
        consequence: "GNU ld since 2.46 and mold leave out inputs that do not match. GNU ld up to \
                      2.44 fails the link or writes no section. The functions of some or all \
                      inputs are lost.",
        remedy: "Assemble all inputs with the same assembler.",
        source: "observed: GNU ld 2.44 and 2.47, mold 3.0",
        example: "an archive of a version 2 object and a version 3 object",
    },
};

pub(super) fn check(inputs: &[(&str, HeaderSummary)], report: &mut Reporter<'_>) {
    let Some(((first, header), others)) = inputs.split_first() else { return };
    for (name, other) in others {
        let differs = if other.version != header.version {
            "versions"
        } else if other.abi != header.abi || other.endian != header.endian {
            "ABIs"
        } else if other.fixed_fp_offset != header.fixed_fp_offset
            || other.fixed_ra_offset != header.fixed_ra_offset
        {
            "fixed offsets"
        } else if other.flags.pcrel() != header.flags.pcrel() {
            "ways to count start fields"
        } else {
            continue;
        };
        report.file(format_args!(
            "the sections of {first} and {name} have different {differs}: one link cannot \
             merge them"
        ));
    }
}
