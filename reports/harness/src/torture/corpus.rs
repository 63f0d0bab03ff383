//! The malformed corpus, carried in the program: it has to work where the repository is not.

use include_dir::{Dir, include_dir};

use super::cases::{Case, Kind, of_rule};
use sframe_validator::rules::Rule;

/// `corpus/malformed`, some 100 KB: for each rule a file, and its findings as text. The link beside
/// this package's manifest is followed when it is
/// packed.
static MALFORMED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/malformed");

/// One case for each rule.
pub(super) fn cases() -> Vec<Case> {
    let mut files: Vec<_> = MALFORMED.dirs().flat_map(Dir::files).collect();
    files.sort_by_key(|file| file.path().file_name());
    let case = |file: &include_dir::File<'_>| {
        let rule = Rule::find(file.path().file_stem()?.to_str()?)?;
        Some(of_rule("malformed", Kind::Malformed, rule, file.contents()))
    };
    files.into_iter().filter_map(case).collect()
}
