//! The options of a linker's command line that matter for SFrame.

use serde::{Deserialize, Serialize};

/// What a link makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Output {
    /// A program that may use shared objects.
    #[default]
    Program,
    /// A program without shared objects (`-static`).
    Static,
    /// A shared object (`-shared`).
    Shared,
    /// A relocatable object (`-r`).
    Relocatable,
}

/// The options of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Options {
    /// What the link makes.
    pub output: Output,
    /// `-pie`.
    pub pie: bool,
    /// `--discard-sframe` (GNU ld 2.46 and later).
    pub discard_sframe: bool,
    /// `--gc-sections`.
    pub gc_sections: bool,
    /// `--fatal-warnings`.
    pub fatal_warnings: bool,
    /// `--no-ld-generated-unwind-info`.
    pub no_stub_unwind_info: bool,
    /// `-Bsymbolic` or `-Bsymbolic-functions`: calls within a shared object need no stubs.
    pub symbolic: bool,
    /// `--wild-experimental-sframe`.
    #[serde(default)]
    pub wild_experimental: bool,
    /// A linker script discards `.sframe`.
    pub script_discards: bool,
    /// The output section into which a linker script puts `.sframe`, if it is another one.
    #[serde(default)]
    pub script_moves: Option<Moved>,
    /// A linker script replaces the default one, and does not name `.sframe`.
    #[serde(default)]
    pub script_orphans: bool,
    /// A linker script has an output section `.sframe` with the inputs' sections of this name.
    #[serde(default)]
    pub script_names: bool,
    /// Some code calls a function that may be in another module, so that the linker makes stubs (PLT).
    pub calls_stubs: bool,
    /// Whether `--gc-sections` keeps some code that SFrame of version 3 describes. `None` if that is not known.
    #[serde(skip)]
    pub keeps_described: Option<bool>,
}

/// The output section into which a linker script puts `.sframe`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Moved {
    /// Its name.
    pub output: String,
    /// The script puts no other sections there.
    pub alone: bool,
}
