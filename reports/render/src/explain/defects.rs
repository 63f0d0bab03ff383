//! The pages of known defects.

use std::io::{self, Write};

use sframe_defects::{Defect, Producer};
use sframe_record::{Owner, Weight};

use super::BOLD;
use super::page::{Kind, Page};
use super::rules::sentence;
use crate::report::wrap;

pub(super) fn page(defect: &Defect) -> Page {
    let owner = match defect.owner {
        Owner::Unknown => "",
        Owner::Yours => "Yours",
        Owner::Compiler => "The compiler's authors",
        Owner::Assembler => "The assembler's authors",
        Owner::Linker => "The linker's authors",
        Owner::CRuntime => "The C library's authors",
    };
    let counts = match (defect.is_recognised(), defect.hides_functions) {
        (true, true) => "like other findings of its rule; --known allow leaves it out",
        (true, false) => {
            "as a warning; --known deny counts it like other findings of its rule, --known allow leaves it out"
        }
        (false, _) => "",
    };
    let input = match defect.input {
        "" => sentence(defect.without_input),
        input => input.to_owned(),
    };
    let about = format!("known defect: {}", defect.affected());
    let page = Page {
        owner: Some(defect.owner),
        consequence: Some(defect.weight),
        ..Page::new(Kind::KnownDefect, defect.id, about, sentence(defect.title))
    };
    page.text("effect", "What goes wrong", sentence(defect.effect))
        .text("consequence", "Consequence", sentence(&consequence(defect)))
        .text("remedy", "What to do", sentence(defect.workaround))
        .text("recognised", "How it is recognised", sentence(defect.recognised))
        .text("counts", "How it counts", sentence(counts))
        .text("owner", "Who can mend it", owner.to_owned())
        .text("upstream", "Upstream", defect.upstream.to_owned())
        .text("report", "Report", defect.pages.join(", "))
        .text("input", "Smallest input", input)
}

/// How much of a section it spoils, in words.
fn consequence(defect: &Defect) -> String {
    let more = match (defect.weight, defect.is_recognised()) {
        (Weight::Harmless, _) => ": no row of a section is wrong or missing because of it",
        (Weight::Partial, true) => {
            ". Where it leaves readers at most 5 % of a section, useless-section reports that"
        }
        (Weight::Partial, false) => "",
        (Weight::Useless, true) => ": readers find no right row, which useless-section reports",
        (Weight::Useless, false) => ": readers find no row",
    };
    format!("{}{more}", defect.consequence())
}

/// The known defects of a producer, or of all.
pub(super) fn of(producer: Option<&Producer>) -> impl Iterator<Item = &'static Defect> {
    sframe_defects::all().filter(move |defect| producer.is_none_or(|producer| producer.has(defect)))
}

/// Lists the known defects of a producer, or of all: the identifier, who has it, and what it is.
pub(super) fn list(
    out: &mut dyn Write,
    producer: Option<&Producer>,
    width: Option<usize>,
) -> io::Result<()> {
    let (seen, unseen): (Vec<&Defect>, Vec<&Defect>) =
        of(producer).partition(|defect| defect.is_recognised());
    let sets = [
        ("Recognised in files", seen),
        ("Known by messages and crashes, or by what is missing", unseen),
    ];
    let mut is_first = true;
    for (title, defects) in sets.into_iter().filter(|(_, defects)| !defects.is_empty()) {
        if !std::mem::take(&mut is_first) {
            writeln!(out)?;
        }
        writeln!(out, "{BOLD}{title}{BOLD:#}")?;
        for defect in defects {
            writeln!(out, "  {BOLD}{}{BOLD:#} ({})", defect.id, defect.affected())?;
            writeln!(out, "    {}", wrap(defect.title, 4, width))?;
            writeln!(out, "    {}", wrap(&defect.consequence().to_string(), 6, width))?;
            if producer.is_some() {
                writeln!(out, "    what to do: {}", wrap(defect.workaround, 6, width))?;
            }
        }
    }
    if is_first {
        writeln!(out, "no defects of this version are known")?;
    }
    Ok(())
}
