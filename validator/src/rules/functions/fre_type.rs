use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::{FreType, FunctionField};
use crate::subject::FunctionContext;
use crate::subject::shape::FunctionShape;

pub(super) static RULE: Rule = Rule {
    name: "fre-type",
    group: Group::Functions,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the FRE type is 0, 1 or 2",
        consequence: "The width of the rows' start fields is unknown, so no row can be read; \
                      readelf aborts.",
        remedy: "Write 0 (ADDR1), 1 (ADDR2) or 2 (ADDR4).",
        source: "V3 2.3.3.3; observed: readelf 2.47",
        example: "a function of FRE type 3",
    },
};

pub(super) fn check(
    shape: &FunctionShape,
    function: &FunctionContext<'_>,
    report: &mut Reporter<'_>,
) {
    let Some(attributes) = shape.attributes else { return };
    let info = attributes.info;
    if FreType::from_code(info.fre_type_code()).is_none() {
        report.field(
            function.field(FunctionField::Info),
            format_args!("{:#04x}", info.0),
            "0, 1 or 2 in bits 0 to 3",
            format_args!("the FRE type is {}, which does not exist", info.fre_type_code()),
        );
    }
}
