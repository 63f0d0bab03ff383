//! The malformed corpus. It is part of the program, which has to work without the repository.

use include_dir::{Dir, include_dir};
use sframe_validator::rules::Rule;

use super::file::of_rule;
use crate::torture::case::{Case, Kind};

/// `corpus/malformed`, some 100 KB: for each rule a file, and its findings as text. `cargo package` follows the link to it
/// beside this package's manifest.
static MALFORMED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/malformed");

/// One case for each rule.
pub(super) fn cases() -> Vec<Case> {
    let mut files: Vec<_> = MALFORMED.dirs().flat_map(Dir::files).collect();
    files.sort_by_key(|file| file.path().file_name());
    let case = |file: &include_dir::File<'_>| {
        let rule = Rule::find(file.path().file_stem()?.to_str()?)?;
        of_rule("malformed", Kind::Malformed, rule, file.contents())
    };
    files.into_iter().filter_map(case).collect()
}
