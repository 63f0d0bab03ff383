//! What to do about the outcome of a link.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::driver::COMPILED;
use crate::input::{Input, InputKind, Sframe};
use crate::linker::Linker;
use crate::model::{Fate, Link, Outcome, Prediction};

/// The number of inputs that a remedy lists by name.
const LISTED: usize = 20;

/// Something that changes the outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Remedy {
    /// What to do.
    pub text: String,
    /// Commands that do it.
    pub commands: Vec<String>,
}

impl Remedy {
    fn new(text: impl Into<String>) -> Remedy {
        Remedy { text: text.into(), commands: Vec::new() }
    }
}

/// The remedies for a prediction, the best one first.
pub(crate) fn remedies(link: &Link<'_>, prediction: &Prediction) -> Vec<Remedy> {
    let mut remedies = Vec::new();
    match prediction.outcome {
        Outcome::Merged | Outcome::NoSframe | Outcome::Unknown => return remedies,
        Outcome::Dropped if link.options.discard_sframe || link.options.script_discards => {
            return remedies;
        }
        Outcome::Copied if prediction.fates.contains(&Fate::First) => {
            return remedies;
        }
        _ => {}
    }
    let is_collected = prediction.outcome == Outcome::Dropped && link.options.gc_sections;
    if is_collected {
        remedies.push(Remedy::new(
            "link without --gc-sections: this linker takes .sframe for an unused section",
        ));
    }
    if prediction.outcome == Outcome::Fails && link.options.fatal_warnings {
        remedies.push(Remedy::new("link without --fatal-warnings: the messages count as warnings"));
    }
    remedies.extend(another_linker(link));
    let offenders = offenders(link);
    if !is_collected && !offenders.is_empty() {
        remedies.extend(assemble(link, &offenders));
        remedies.push(remove(&offenders));
    }
    if link.linker == Linker::Ld247 {
        remedies.push(Remedy {
            text: "leave all SFrame out of the output; an empty section remains".to_owned(),
            commands: vec!["cc ... -Wl,--discard-sframe".to_owned()],
        });
    }
    remedies
}

/// The inputs whose SFrame this linker cannot merge.
fn offenders<'a>(link: &Link<'a>) -> Vec<&'a Input> {
    let with = |input: &&Input| input.is_copied() && input.section().is_some();
    let inputs = link.inputs.iter().filter(with);
    let merges =
        |input: &&Input| input.section().is_some_and(|section| merges(link.linker, section));
    inputs.filter(|input| !merges(input)).collect()
}

/// Whether a linker merges a section.
fn merges(linker: Linker, section: &Sframe) -> bool {
    let usable = section.relocated || section.functions == 0;
    usable
        && section.version() == linker.writes()
        && match linker {
            Linker::Ld244 => !section.is_pc_relative() && !section.row_after_end,
            Linker::Ld240 => !section.row_after_end,
            _ => true,
        }
}

/// Linkers that merge the SFrame of all inputs.
fn another_linker(link: &Link<'_>) -> Option<Remedy> {
    let sections: Vec<&Sframe> =
        link.inputs.iter().filter(|input| input.is_copied()).filter_map(Input::section).collect();
    let all = |linker: &&Linker| {
        **linker != link.linker && sections.iter().all(|section| merges(**linker, section))
    };
    let names: Vec<String> =
        Linker::MODELLED.iter().filter(all).map(|linker| named(*linker)).collect();
    (!sections.is_empty() && !names.is_empty()).then(|| {
        Remedy::new(format!("link with {}, which merges these sections", names.join(" or ")))
    })
}

fn named(linker: Linker) -> String {
    match linker {
        Linker::Ld244 => "GNU ld 2.41 to 2.44",
        Linker::Ld247 => "GNU ld 2.46 or later",
        Linker::Mold => "mold 3 (-fuse-ld=mold)",
        other => other.title(),
    }
    .to_owned()
}

fn assemble(link: &Link<'_>, offenders: &[&Input]) -> Option<Remedy> {
    let own: Vec<&str> = offenders
        .iter()
        .filter(|input| input.kind == InputKind::Object)
        .map(|input| input.name.as_str())
        .collect();
    let assembler = match link.linker.writes()? {
        1 => "GNU as 2.40",
        2 => "GNU as 2.41 to 2.44",
        _ => "GNU as 2.46 or later",
    };
    let text = format!("assemble {} with {assembler}, or without SFrame", listed(&own));
    let commands = vec![
        "cc -c ... -Wa,--gsframe=no (GNU as 2.46 or later), or without -Wa,--gsframe".to_owned(),
    ];
    (!own.is_empty()).then_some(Remedy { text, commands })
}

fn remove(offenders: &[&Input]) -> Remedy {
    let names: Vec<&str> = offenders.iter().map(|input| input.name.as_str()).collect();
    Remedy {
        text: format!(
            "remove the section from {} (the commands change these files, except startup objects)",
            listed(&names)
        ),
        commands: offenders.iter().take(LISTED).map(|input| removal(input)).collect(),
    }
}

fn removal(input: &Input) -> String {
    let member = input.name.strip_suffix(')').and_then(|name| name.rsplit_once('('));
    match member.filter(|_| input.kind == InputKind::Member) {
        Some((archive, member)) => {
            let (archive, member) = (quoted(archive), quoted(member));
            format!(
                "ar x {archive} {member} && objcopy --remove-section .sframe {member} && ar r {archive} {member}"
            )
        }
        None if input.kind == InputKind::Startup => {
            let (file, name) = (&input.name, input.name.rsplit('/').next().unwrap_or_default());
            let (file, name) = (quoted(file), quoted(name));
            format!("objcopy --remove-section .sframe {file} {name} (and link with cc -B.)")
        }
        None => match input.name.strip_suffix(COMPILED) {
            Some(source) => {
                let source = quoted(source);
                format!(
                    "cc -c {source} -o object.o && objcopy --remove-section .sframe object.o (and link object.o instead)"
                )
            }
            None => format!("objcopy --remove-section .sframe {}", quoted(&input.name)),
        },
    }
}

fn quoted(text: &str) -> String {
    shlex::try_quote(text).map_or_else(|_| text.to_owned(), Into::into)
}

fn listed(names: &[&str]) -> String {
    let shown = names.get(..LISTED.min(names.len())).unwrap_or_default();
    match names.len().saturating_sub(shown.len()) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
