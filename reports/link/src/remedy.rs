//! What to do about the outcome of a link.

use serde::{Deserialize, Serialize};

use crate::input::{Input, InputKind, MemberName, SectionType, Sframe};
use crate::linker::Linker;
use crate::model::{Fate, Link, Outcome, Prediction, with_long_starts};
use crate::obstacle::{Obstacle, ObstacleKind};

/// The number of inputs that a remedy lists by name.
const LISTED: usize = 20;

/// Something that changes the outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
        Outcome::Unknown => return of_unknown(link),
        Outcome::Merged | Outcome::NoSframe => return remedies,
        Outcome::Dropped if link.options.discard_sframe || link.options.script_discards => {
            return remedies;
        }
        Outcome::Copied if prediction.fates.contains(&Fate::First) => {
            return remedies;
        }
        Outcome::Moved => {
            return vec![Remedy {
                text: "give .sframe an output section of its name in the linker script, before any pattern that matches it"
                    .to_owned(),
                commands: vec![".sframe : { *(.sframe) }".to_owned()],
            }];
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

/// The remedies if a linker that was not observed fails because of the relocation of version 3.
fn of_unknown(link: &Link<'_>) -> Vec<Remedy> {
    let inputs: Vec<&Input> = with_long_starts(link).collect();
    if inputs.is_empty() || link.linker != Linker::Other {
        return Vec::new();
    }
    another_linker(link).into_iter().chain([remove(&inputs)]).collect()
}

/// The remedies for inputs with which the link fails.
pub(crate) fn of_obstacles(obstacles: &[Obstacle]) -> Vec<Remedy> {
    let named = |fits: fn(&Obstacle) -> bool| {
        let names: Vec<&str> = obstacles
            .iter()
            .filter(|found| fits(found))
            .map(|found| found.input.as_str())
            .collect();
        (!names.is_empty()).then(|| listed(&names))
    };
    let missing = named(|found| found.kind.is_missing() && found.kind != ObstacleKind::NoLibrary);
    let libraries = named(|found| found.kind == ObstacleKind::NoLibrary);
    let archives = named(|found| found.kind == ObstacleKind::NoIndex);
    let truncated = named(|found| found.kind == ObstacleKind::TruncatedMember);
    let foreign = named(|found| found.kind == ObstacleKind::OtherMachine);
    let options = named(|found| found.kind == ObstacleKind::UnknownOption);
    let scripts = named(|found| found.kind == ObstacleKind::UnknownCommand);
    let roots = named(|found| found.kind == ObstacleKind::NoRoot);
    let others = named(|found| {
        let kind = found.kind;
        let has_own = matches!(
            kind,
            ObstacleKind::NoIndex
                | ObstacleKind::TruncatedMember
                | ObstacleKind::OtherMachine
                | ObstacleKind::UnknownOption
                | ObstacleKind::UnknownCommand
                | ObstacleKind::NoRoot
        );
        !kind.is_missing() && !has_own
    });
    let remedies = [
        options.map(|names| {
            format!("leave out {names}; objcopy --remove-section .sframe removes the section from the inputs or from the output")
        }),
        scripts.map(|names| format!("link without {names}, or with GNU ld, gold or lld")),
        roots.map(|names| format!("name a symbol of the inputs with -e or -u, or leave out {names}")),
        missing.map(|names| format!("build {names} first, or correct the path")),
        libraries.map(|names| format!("install the library of {names}, or add its folder with -L")),
        archives.map(|names| format!("make the index: ranlib {names}")),
        truncated.map(|names| format!("make the archive of {names} again: its end is missing")),
        foreign.map(|names| {
            format!("build {names} for the machine of the first input, or link with the driver and linker of its own")
        }),
        others.map(|names| format!("replace {names} with an object, or leave it out")),
        Some(
            "then audit the link again: SFrame is not judged before all inputs are there"
                .to_owned(),
        ),
    ];
    remedies.into_iter().flatten().map(Remedy::new).collect()
}

/// The inputs whose SFrame this linker cannot merge.
pub(crate) fn offenders<'a>(link: &Link<'a>) -> Vec<&'a Input> {
    let with = |input: &&Input| input.is_copied() && input.section().is_some();
    let inputs = link.inputs.iter().filter(with);
    let merges =
        |input: &&Input| input.section().is_some_and(|section| merges(link.linker, section));
    inputs.filter(|input| !merges(input)).collect()
}

/// Whether a linker merges a section.
fn merges(linker: Linker, section: &Sframe) -> bool {
    let Some(version) = section.version() else { return false };
    let usable = section.relocated || section.functions == 0;
    usable
        && linker.writes() == Some(version)
        && match linker {
            Linker::Ld244 => !section.is_pc_relative() && !section.row_after_end,
            Linker::Ld240 => !section.row_after_end,
            Linker::Ld247 => section.section_type == SectionType::GnuSframe,
            _ => true,
        }
}

/// Linkers that merge the SFrame of all inputs.
fn another_linker(link: &Link<'_>) -> Option<Remedy> {
    let all = |linker: &&Linker| {
        let prediction = Link { linker: **linker, ..*link }.predict();
        let is_sound = prediction.status == Some(0) && prediction.notes.is_empty();
        **linker != link.linker && is_sound && prediction.outcome == Outcome::Merged
    };
    let names: Vec<String> =
        Linker::MODELLED.iter().filter(all).map(|linker| named(*linker)).collect();
    let merge = if names.len() == 1 { "merges" } else { "merge" };
    (!names.is_empty()).then(|| {
        let names = names.join(" or ");
        Remedy::new(format!("link with {names}, which {merge} these sections"))
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
        .filter(|input| matches!(input.kind, InputKind::Object | InputKind::Compiled))
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
    let names = listed(&names);
    let startup = offenders.iter().filter(|input| input.kind == InputKind::Startup).count();
    let text = match startup {
        0 => format!("remove the section from {names} (the commands change these files)"),
        all if all == offenders.len() => {
            format!("remove the section from copies of {names}, and link with the copies")
        }
        _ => format!(
            "remove the section from {names} (the commands change these files, except startup objects)"
        ),
    };
    Remedy { text, commands: offenders.iter().take(LISTED).map(|input| removal(input)).collect() }
}

fn removal(input: &Input) -> String {
    let name = quoted(&input.name);
    match (input.kind, &input.member) {
        (_, Some(MemberName { file: Some(file), .. })) => {
            format!("objcopy --remove-section .sframe {}", quoted(file))
        }
        (InputKind::Member, Some(MemberName { archive, member, .. })) => {
            let (archive, member) = (quoted(archive), quoted(member));
            format!(
                "ar x {archive} {member} && objcopy --remove-section .sframe {member} && ar r {archive} {member}"
            )
        }
        (InputKind::Startup, _) => {
            let copy = quoted(input.name.rsplit('/').next().unwrap_or_default());
            format!("objcopy --remove-section .sframe {name} {copy} (and link with cc -B.)")
        }
        (InputKind::Compiled, _) => format!(
            "cc -c {name} -o object.o && objcopy --remove-section .sframe object.o (and link object.o instead)"
        ),
        _ => format!("objcopy --remove-section .sframe {name}"),
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
