//! What a witness says about a PC.

use core::fmt;

use serde::Serialize;
use sframe_validator::unwind::{Expression, Recovery, Register, Row};

/// A source of unwind rows. A further witness is one more variant, an entry in [`Witness::ALL`], and a source of its
/// rows in `modules/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Witness {
    /// The SFrame section.
    Sframe,
    /// Call frame information: `.eh_frame`, then `.debug_frame`.
    Cfi,
    /// The machine code itself (AMD64, AArch64).
    Code,
}

impl Witness {
    /// All witnesses, in the order in which they are reported.
    pub const ALL: [Witness; 3] = [Witness::Sframe, Witness::Cfi, Witness::Code];

    /// The name in reports for people. In formats for programs, it has an identifier, which does not change.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Witness::Sframe => "SFrame",
            Witness::Cfi => "CFI",
            Witness::Code => "Code",
        }
    }
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The statement of a witness about a PC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The addresses of the function that the witness found: its start, and the end after its last byte.
    pub function: Option<(u64, u64)>,
    /// The row at the PC, or why there is none.
    pub row: Result<Row, Silence>,
    /// Whether the function is a signal frame: the kernel made it to call a signal's handler.
    pub signal: bool,
    /// The rules at the PC that a row cannot express. Only [`Modules::whole_statement`] looks them up.
    ///
    /// [`Modules::whole_statement`]: crate::Modules::whole_statement
    pub further: FurtherRules,
}

/// Rules that CFI has beside its rows.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct FurtherRules {
    /// The rules for registers other than SP, FP and RA. The caller's value of any other register is unknown.
    pub registers: Vec<(Register, Recovery)>,
    /// The operations of the expressions in the row and in these rules.
    pub expressions: Vec<(Expression, Vec<u8>)>,
}

impl FurtherRules {
    /// No rules.
    pub const NONE: FurtherRules = FurtherRules { registers: Vec::new(), expressions: Vec::new() };

    /// The operations of an expression.
    #[must_use]
    pub fn operations(&self, expression: Expression) -> Option<&[u8]> {
        let known = self.expressions.iter().find(|(known, _)| *known == expression);
        known.map(|(_, operations)| operations.as_slice())
    }
}

impl Statement {
    /// A statement without a function.
    #[must_use]
    pub const fn nothing(silence: Silence) -> Statement {
        Statement { function: None, row: Err(silence), signal: false, further: FurtherRules::NONE }
    }

    /// This statement in runtime addresses, for a file that is mapped `bias` bytes above its own addresses.
    #[must_use]
    pub fn moved(mut self, bias: u64) -> Statement {
        let moved = |address: u64| address.wrapping_add(bias);
        self.function = self.function.map(|(start, end)| (moved(start), moved(end)));
        if let Ok(row) = &mut self.row {
            row.start = moved(row.start);
            row.end = moved(row.end);
        }
        self
    }
}

/// Why a witness has no row at a PC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Silence {
    /// Nothing is mapped there.
    Unmapped,
    /// The memory there is not mapped from a file.
    NoFile,
    /// The memory there is not executable.
    NotExecutable,
    /// The mapped file cannot be used: its name and the reason, for people.
    File(String),
    /// The file has no such section.
    NoSection,
    /// No function of the section contains the PC.
    NoFunction,
    /// The function has no row for the PC.
    NoRow,
    /// The machine code does not determine all of the frame at the PC.
    NotDetermined,
    /// The section, the function or its row cannot be read, with the reason.
    Unreadable(String),
}

impl Silence {
    /// Whether something cannot be read. Otherwise it is certain that there is no row.
    #[must_use]
    pub const fn is_undecided(&self) -> bool {
        matches!(self, Silence::File(_) | Silence::Unreadable(_))
    }
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Silence::Unmapped => f.write_str("nothing is mapped at this address"),
            Silence::NoFile => f.write_str("no file is mapped at this address"),
            Silence::NotExecutable => f.write_str("the memory at this address is not executable"),
            Silence::NoSection => f.write_str("the file has no such section"),
            Silence::NoFunction => f.write_str("no function contains this address"),
            Silence::NoRow => f.write_str("the function has no row for this address"),
            Silence::NotDetermined => f.write_str("the code does not determine the frame"),
            Silence::File(reason) | Silence::Unreadable(reason) => f.write_str(reason),
        }
    }
}
