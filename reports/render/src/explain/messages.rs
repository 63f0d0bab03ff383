//! The pages of messages that linkers print.

use std::io::{self, Write};

use sframe_link::messages::{Message, Seen};

use super::rules::sentence;
use super::{BOLD, parts};
use crate::report::wrap;

pub(super) fn page(out: &mut dyn Write, message: &Message, width: Option<usize>) -> io::Result<()> {
    writeln!(out, "{BOLD}{}{BOLD:#} (message of {})\n", message.id, message.linkers)?;
    writeln!(out, "  {}", wrap(message.pattern, 2, width))?;
    let seen = match message.seen {
        Seen::Tested => "in links that the project's tests do",
        Seen::InProgram => "in the linker's program; no input that causes it is known here",
        Seen::Reported => "in reports of others; that linker was not run here",
    };
    let pages = [
        ("What it means", sentence(message.meaning)),
        ("What to do", sentence(message.remedy)),
        ("Where it was seen", sentence(seen)),
    ];
    parts(out, &pages, width)
}
