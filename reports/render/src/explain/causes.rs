//! The pages of causes of lost coverage.

use std::io::{self, Write};

use sframe_oracle::coverage::Cause;

use super::rules::sentence;
use super::{BOLD, parts};
use crate::report::wrap;

pub(super) fn page(out: &mut dyn Write, cause: Cause, width: Option<usize>) -> io::Result<()> {
    let page = cause.page();
    let name = match cause {
        Cause::Unexplained => "none, or unexplained",
        cause => cause.name(),
    };
    writeln!(out, "{BOLD}{name}{BOLD:#} (cause of lost coverage)\n")?;
    writeln!(out, "  {}", wrap(&sentence(page.summary), 2, width))?;
    let pages = [
        (
            "What goes wrong",
            "SFrame does not describe the function: stack traces through it end, or fall back."
                .to_owned(),
        ),
        ("Where", sentence(page.applies)),
        ("What to do", sentence(page.remedy)),
    ];
    parts(out, &pages, width)
}
