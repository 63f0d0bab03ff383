use super::{slots, sp_based};
use crate::abi::Abi;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;

pub(super) static RULE: Rule = Rule {
    name: "slot-outside-frame",
    group: Group::Content,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the stack slots of RA and FP are in the function's own frame",
        consequence: "A reader loads a register from the caller's frame, from RA's own slot, or \
                      from below the stack pointer, where signal handlers write.",
        remedy: "Check the CFI of hand-written code.",
        source: "the machines' ELF ABIs: AMD64 has RA at CFA - 8 and a red zone of 128 bytes, \
                 s390x a register save area of 160 bytes below the CFA. Kernels have no red zone, nor has \
                 other code with `--no-red-zone`",
        example: "an AMD64 row with FP at CFA + 16",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    let (most, red_zone) = match row.layout.abi {
        Abi::Amd64 if row.red_zone => (-16, 128),
        Abi::Amd64 => (-16, 0),
        Abi::S390x | Abi::Aarch64Big | Abi::Aarch64Little => (-8, 0),
    };
    let least = match row.layout.abi {
        // The caller provides the save area, which ends 160 bytes above the callee's SP at its entry. The callee's own
        // frame is below it.
        Abi::S390x => sp_based(row).map(|offset| -offset.max(160)),
        _ => sp_based(row).map(|offset| -offset - red_zone),
    };
    let doubt = report.doubt;
    for (name, index, offset) in slots(row) {
        let below = least.is_some_and(|least| offset < least);
        // On AMD64, RA has a slot of its own, directly below the CFA.
        let most = if name == "RA" { -8 } else { most };
        // A separate rule covers odd words on s390x in version 3.
        let register = row.layout.abi == Abi::S390x && offset & 1 != 0;
        if (offset > most || below) && !register {
            // Signal handlers write there, whatever CFI says.
            report.doubt = doubt.filter(|_| !below);
            report.field(
                row.word(index),
                offset,
                match least {
                    Some(least) if least > most => "no slot, because the frame has none".into(),
                    Some(least) => alloc::format!("{least} to {most}"),
                    None => alloc::format!("at most {most}"),
                },
                format_args!("row {} puts {name} at CFA{offset:+}, outside the frame", row.index),
            );
        }
    }
}
