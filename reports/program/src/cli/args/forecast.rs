//! The command line of forecasts.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use sframe_synthesis::Encoding;
use sframe_validator::Version;

use super::inputs::InputArgs;
use super::unpack::UnpackArgs;
use super::{OutputArgs, ResourceArgs};
use sframe_scan::describe::forecast::encoding_name;

pub(in crate::cli) const FORECAST_HELP: &str = "\
Sections are made in memory from each file's CFI. The predictions gnu-* say what GNU as and ld of that release would have \
written, had every object been assembled with --gsframe: 2.40 writes version 1, 2.44 version 2, and 2.47.50 version 3. The \
encodings smallest-* are the fewest bytes that say the same as the CFI. Without --encoding, the forecast is gnu-2.47.50. `explain CAUSE` has a page for each cause of loss.

A file does not show whether it was linked with --gc-sections, as rustc does and many builds in C. GNU ld 2.40 and 2.44 then \
discard every .sframe section, and 2.47.50 writes no entries for its stubs: ask for that with --gc-sections.

To keep the results, or to check as well: sframe-check --forecast --store DIR PATH...

Exit status:
  0  every file was read, and at least one encoding has a forecast for each
  2  a file could not be read, no encoding has a forecast for every file, or there was nothing to forecast
  3  wrong usage, or the program itself failed";

/// `forecast`.
#[derive(Debug, Args)]
pub(in crate::cli) struct ForecastArgs {
    /// What the sections are made like
    #[arg(long, value_name = "ENCODING", value_parser = encoding(), value_delimiter = ',', default_values = DEFAULT, help_heading = "What to predict")]
    pub(in crate::cli) encoding: Vec<Encoding>,
    /// Predict links with ld --gc-sections, which rustc uses: GNU ld 2.40 and 2.44 then write no section
    #[arg(long, help_heading = "What to predict")]
    pub(in crate::cli) gc_sections: bool,
    #[command(flatten)]
    pub(in crate::cli) inputs: InputArgs,
    #[command(flatten)]
    pub(in crate::cli) unpack: UnpackArgs,
    #[command(flatten)]
    pub(in crate::cli) output: OutputArgs,
    #[command(flatten)]
    pub(in crate::cli) resources: ResourceArgs,
}

/// The encoding of a forecast for which none is named: the newest version, which all machines have.
pub(in crate::cli) const DEFAULT: [&str; 1] = ["gnu-2.47.50"];

/// The encodings that people choose from. Nobody writes new sections of version 1, so its smallest form is left out.
fn offered() -> impl Iterator<Item = Encoding> {
    Encoding::ALL.into_iter().filter(|encoding| *encoding != Encoding::Smallest(Version::V1))
}

/// Parses the name of an encoding. Shells complete it.
pub(in crate::cli) fn encoding() -> impl TypedValueParser<Value = Encoding> {
    let names = PossibleValuesParser::new(offered().map(encoding_name));
    names.try_map(|name| offered().find(|of| encoding_name(*of) == name).ok_or("no such encoding"))
}
