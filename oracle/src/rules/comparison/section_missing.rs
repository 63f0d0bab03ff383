//! `section-missing`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "section-missing",
    group: Group::Comparison,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a file with code has an SFrame section; only with --require-section",
        consequence: "Walkers that use SFrame find nothing in the file: stack traces end there, or fall back to \
                      another method.",
        remedy: "Assemble with --gsframe (-Wa,--gsframe for a compiler), and look for a linker that drops the \
                 section: --gc-sections of GNU ld up to 2.44, of lld and of gold does.",
        source: "a requirement of the person who checks, not of the specification",
        example: "a library that was built without -Wa,--gsframe",
    },
};
