//! The inputs of a check or of a plan.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueHint};

/// The inputs of a check or of a plan.
#[derive(Debug, Args)]
pub(in crate::cli) struct InputArgs {
    /// Files, folders, archives, packages, `**` patterns; `-` for standard input
    ///
    /// Everything in a folder is checked, and every member of an archive or package. `-` checks what standard input contains, which may be any
    /// file.
    #[arg(value_name = "PATH", required_unless_present = "files_from", value_hint = ValueHint::AnyPath)]
    pub(in crate::cli) paths: Vec<OsString>,
    /// Read further paths from a list; `-` for standard input
    ///
    /// Each path is on a line of its own, or followed by a NUL character, as `find -print0` writes them.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "What to check", hide_short_help = true)]
    pub(in crate::cli) files_from: Option<PathBuf>,
    /// Follow symbolic links that lead out of the given folders; without this option they are counted
    #[arg(long, hide_short_help = true, help_heading = "What to check")]
    pub(in crate::cli) follow_links: bool,
}

impl InputArgs {
    /// Whether what standard input contains is an input.
    pub(in crate::cli) fn has_content(&self) -> bool {
        self.paths.iter().any(|path| path == "-")
    }

    /// What a manifest says of them.
    pub(in crate::cli) fn names(&self) -> Vec<OsString> {
        let list = self.files_from.iter().flat_map(|list| ["--files-from".into(), list.into()]);
        self.paths.iter().cloned().chain(list).collect()
    }
}
