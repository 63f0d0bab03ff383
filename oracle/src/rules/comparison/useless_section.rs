//! `useless-section`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "useless-section",
    group: Group::Comparison,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "known defects leave the readers of a section more than 5 % of the code that it describes",
        consequence: "Profilers and kernels find wrong rows or none: stack traces end in the file, or show functions \
                      that were never called. A row counts as right if CFI agrees with it and its function starts \
                      where the section says. Rows that CFI does not describe have the benefit of the doubt.",
        remedy: "The finding says what to do: most often, link with GNU ld or mold, or remove the section from the \
                 inputs with objcopy --remove-section .sframe. To accept such files, allow or suppress useless-section; \
                 allowing the known defect itself, or --known allow, is not enough.",
        source: "a judgement of this program: the known defects and the comparison with CFI",
        example: "a program of objects that GNU as 2.44 made and lld linked: no function starts where the section says",
    },
};
