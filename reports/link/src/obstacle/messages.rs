//! The messages of linkers about inputs with which the link fails.

use super::{Obstacle, ObstacleKind as Kind};
use crate::input::MemberName;
use crate::linker::Linker;

/// The name of an input, in parts if it is a member of an archive.
#[derive(Clone, Copy)]
pub(super) struct Name<'a> {
    input: &'a str,
    archive: &'a str,
    member: &'a str,
}

impl<'a> Name<'a> {
    /// The name of an input that is in no archive.
    pub(super) const fn of(input: &'a str) -> Name<'a> {
        Name { input, archive: input, member: input }
    }

    pub(super) const fn of_member(name: &'a MemberName) -> Name<'a> {
        let MemberName { printed, archive, member, .. } = name;
        Name { input: printed.as_str(), archive: archive.as_str(), member: member.as_str() }
    }
}

/// What a linker prints about an input; `None` if it was not observed. `reason` is the system's reason, or the input with
/// which this one does not agree.
pub(super) fn message(linker: Linker, kind: Kind, name: Name<'_>, reason: &str) -> Option<String> {
    match linker {
        // It depends on the machines that the linker was built for.
        _ if kind == Kind::OtherMachine && (linker.is_gnu_ld() || linker == Linker::Gold) => None,
        Linker::Ld240 | Linker::Ld244 | Linker::Ld247 => Some(gnu_ld(kind, name.input, reason)),
        Linker::Gold => Some(gold(kind, name, reason)),
        Linker::Lld => Some(lld(kind, name, reason)),
        Linker::Mold => Some(mold(kind, name, reason)),
        Linker::Wild | Linker::Other => None,
    }
}

fn gnu_ld(kind: Kind, input: &str, reason: &str) -> String {
    match kind {
        Kind::Unopened => format!("cannot find {input}: {reason}"),
        Kind::NoResponse => format!("cannot find @{input}: {reason}"),
        Kind::NoLibrary | Kind::NotFound => {
            format!("cannot find {input}: No such file or directory")
        }
        Kind::NoScript => format!("cannot open linker script file {input}: {reason}"),
        Kind::NoMember => format!("{input}: error opening thin archive member: {reason}"),
        Kind::Folder => format!("cannot find {input}: file format not recognized"),
        Kind::Text => format!("{input}: file format not recognized; treating as linker script"),
        Kind::Executable => format!("cannot use executable file '{input}' as input to a link"),
        Kind::MemberNotElf | Kind::TruncatedMember => {
            format!("member {input} in archive is not an object")
        }
        Kind::NoIndex => {
            format!("{input}: error adding symbols: archive has no index; run ranlib to add one")
        }
        Kind::UnknownOption if input.starts_with("--") => format!("unrecognized option '{input}'"),
        Kind::UnknownOption => format!("unrecognised option: {input}"),
        Kind::NoRoot => {
            format!("{input} requires a defined symbol root specified by -e or -u")
        }
        Kind::Empty
        | Kind::OtherText
        | Kind::NotElf
        | Kind::TruncatedHeader
        | Kind::Truncated
        | Kind::OtherMachine
        | Kind::OtherType
        | Kind::UnknownCommand => {
            format!("{input}: file not recognized: file format not recognized")
        }
    }
}

fn gold(kind: Kind, name: Name<'_>, reason: &str) -> String {
    let Name { input, member, .. } = name;
    match kind {
        Kind::Unopened | Kind::NoScript => format!("error: cannot open {input}: {reason}"),
        Kind::NoResponse => format!("error: cannot open @{input}: {reason}"),
        Kind::NoMember => format!("error: cannot open {member}: {reason}"),
        Kind::NoLibrary | Kind::NotFound => {
            // -l:file
            format!("error: cannot find {}", input.strip_prefix("-l:").unwrap_or(input))
        }
        Kind::Folder => format!("fatal error: {input}: pread failed: Is a directory"),
        Kind::Empty => format!("error: {input}: file is empty"),
        Kind::Text | Kind::OtherText | Kind::UnknownCommand => {
            format!("error: {input}: not an object or archive")
        }
        Kind::NotElf => format!("error: {input}:1:1: invalid character"),
        Kind::TruncatedHeader => format!("error: {input}: ELF file too short"),
        Kind::Truncated | Kind::TruncatedMember => "internal error in find_view".to_owned(),
        Kind::Executable | Kind::OtherType | Kind::OtherMachine => {
            format!("error: {input}: unsupported ELF file type")
        }
        Kind::MemberNotElf => format!("member {member} at"),
        Kind::NoIndex => "no archive symbol table (run ranlib)".to_owned(),
        Kind::UnknownOption | Kind::NoRoot => format!("{input}: unknown option"),
    }
}

fn lld(kind: Kind, name: Name<'_>, reason: &str) -> String {
    let Name { input, archive, member } = name;
    match kind {
        Kind::Unopened => format!("error: cannot open {input}: {reason}"),
        Kind::NoResponse => format!("error: cannot open @{input}: {reason}"),
        Kind::NoLibrary => format!("error: unable to find library {input}"),
        Kind::NotFound => format!("unable to find {input}"),
        Kind::NoScript => format!("error: cannot find linker script {input}"),
        Kind::NoMember => {
            format!(
                "error: {archive}: could not get the buffer for a child of the archive: '{member}': {reason}"
            )
        }
        Kind::Folder => format!("error: cannot open {input}: Is a directory"),
        Kind::Text | Kind::OtherText | Kind::NotElf | Kind::UnknownCommand => {
            "unknown directive".to_owned()
        }
        Kind::UnknownOption | Kind::NoRoot => format!("error: unknown argument '{input}'"),
        Kind::TruncatedHeader => format!("error: {input}: corrupted ELF file: file is too short"),
        Kind::Truncated => format!("error: {input}: "),
        Kind::MemberNotElf => format!("error: {input}: not an ELF file"),
        Kind::TruncatedMember => {
            format!("error: {archive}: Archive::children failed: truncated or malformed archive")
        }
        Kind::OtherMachine => format!("error: {input} is incompatible with {reason}"),
        Kind::Empty | Kind::Executable | Kind::OtherType | Kind::NoIndex => {
            format!("error: {input}: unknown file type")
        }
    }
}

fn mold(kind: Kind, name: Name<'_>, reason: &str) -> String {
    let Name { input, member, .. } = name;
    match kind {
        Kind::Unopened | Kind::NoScript | Kind::NoResponse => {
            format!("fatal: cannot open {input}: {reason}")
        }
        Kind::NoMember => format!("fatal: cannot open {member}: {reason}"),
        Kind::NoLibrary | Kind::NotFound => {
            format!("library not found: {}", input.strip_prefix("-l").unwrap_or(input))
        }
        Kind::Folder => format!("fatal: {input}: mmap failed: No such device"),
        Kind::Text => "unknown linker script token".to_owned(),
        Kind::UnknownCommand => format!("fatal: {input}:"),
        Kind::UnknownOption | Kind::NoRoot => {
            format!("fatal: unknown command line option: {input}")
        }
        Kind::OtherText => format!("fatal: {input}:"),
        Kind::TruncatedHeader => format!("fatal: {input}: unknown machine type"),
        Kind::Truncated => format!("fatal: {input}: e_shoff or e_shnum corrupted"),
        Kind::TruncatedMember => {
            format!("fatal: {member}: e_shoff or e_shnum corrupted")
        }
        Kind::OtherMachine => format!("fatal: {member}: incompatible file type"),
        Kind::Empty
        | Kind::NotElf
        | Kind::Executable
        | Kind::OtherType
        | Kind::NoIndex
        | Kind::MemberNotElf => {
            format!("fatal: {input}: unknown file type")
        }
    }
}

/// The messages that a linker prints about these inputs: it ends at the first fatal one. mold reads inputs in parallel, and
/// prints one of the messages.
pub(crate) fn printed(linker: Linker, obstacles: &[Obstacle]) -> Vec<String> {
    let mut printed = Vec::new();
    for obstacle in reported(linker, obstacles) {
        printed.extend(obstacle.message.clone());
        if is_fatal(linker, obstacle.kind) {
            break;
        }
    }
    printed
}

/// The inputs that a linker reports, in its order. Response files are read before everything else.
fn reported(linker: Linker, obstacles: &[Obstacle]) -> Vec<&Obstacle> {
    let (response, others): (Vec<&Obstacle>, Vec<&Obstacle>) =
        obstacles.iter().partition(|obstacle| obstacle.kind == Kind::NoResponse);
    let is_option = |obstacle: &&Obstacle| obstacle.kind == Kind::UnknownOption;
    if let Some(option) = obstacles.iter().find(is_option) {
        return vec![option];
    }
    match linker {
        Linker::Mold if !response.is_empty() => response,
        Linker::Lld => {
            // After another error, it does not report scripts.
            let later = others.iter().skip(usize::from(response.is_empty()));
            let later = later.filter(|obstacle| !is_script_of_lld(obstacle.kind));
            let first = others.first().filter(|_| response.is_empty());
            response.into_iter().chain(first.copied()).chain(later.copied()).collect()
        }
        Linker::Ld240 | Linker::Ld244 | Linker::Ld247 => {
            // It opens all inputs before it refuses programs.
            let is_program = |obstacle: &&Obstacle| obstacle.kind == Kind::Executable;
            let (programs, early): (Vec<_>, Vec<_>) =
                response.into_iter().chain(others).partition(is_program);
            if early.is_empty() { programs } else { early }
        }
        _ => response.into_iter().chain(others).collect(),
    }
}

const fn is_script_of_lld(kind: Kind) -> bool {
    matches!(kind, Kind::Text | Kind::OtherText | Kind::NotElf | Kind::NotFound)
}

const fn is_fatal(linker: Linker, kind: Kind) -> bool {
    match linker {
        Linker::Lld | Linker::Mold => false,
        Linker::Gold => {
            matches!(kind, Kind::Truncated | Kind::TruncatedMember | Kind::Folder)
        }
        _ => matches!(kind, Kind::NoScript) || !(kind.is_missing() || matches!(kind, Kind::Folder)),
    }
}
