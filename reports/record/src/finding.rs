//! Findings, with the tables of rows for those where SFrame and CFI differ.

mod owned;

use serde::{Deserialize, Serialize};
use sframe_validator::rules::Group;

use crate::consequence::Consequence;
use crate::frame::PrintedFrame;
use crate::instruction::Instruction;
use crate::origin::{Origin, ShownBy};
use crate::owner::Owner;
use crate::ruling::Ruling;
use crate::severity::Severity;
use crate::unwind_table::UnwindTable;
use crate::value::{Address, Text};
use crate::why::Why;

/// A violation of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding<'r> {
    /// The rule's name.
    #[serde(borrow)]
    pub rule: Text<'r>,
    /// How serious the violation is.
    pub severity: Severity,
    /// The group that the rule belongs to.
    #[serde(borrow, default)]
    pub group: Text<'r>,
    /// The known defect of a producer that the finding is a case of: an identifier that `explain` knows.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub known: Option<Text<'r>>,
    /// What that defect does to the readers of the section, or what all known defects of the section do together.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub consequence: Option<Box<Consequence<'r>>>,
    /// Who has to act.
    #[serde(default, skip_serializing_if = "Owner::is_unknown")]
    pub owner: Owner,
    /// What the code was made from, if the owner depends on that.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Box<Origin<'r>>>,
    /// The observed fact, then the rule.
    #[serde(borrow, default)]
    pub message: Text<'r>,
    /// What to do about this finding, where that is more than the page of its rule says.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Text<'r>>,
    /// The position of the section in the file's `sections`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<usize>,
    /// Offset in bytes from the start of the section.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Offset in bytes from the start of the file, or of the archive member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_offset: Option<u64>,
    /// The field and its value.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub field: Option<Box<Field<'r>>>,
    /// The function it is about.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub function: Option<Box<Function<'r>>>,
    /// The number of the row in its function, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<u32>,
    /// The range of code, if the finding is about a part of a function, or about code that no function of the section
    /// describes.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Box<Code<'r>>>,
    /// The ELF section that contains the code or function, such as `.plt.got`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub elf_section: Option<Text<'r>>,
    /// The source line of the code, if the file has lines.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceLine<'r>>,
    /// The section's bytes around the defect, split into fields.
    #[serde(borrow, default)]
    pub context: Vec<Part<'r>>,
    /// The rows of both tables, if SFrame and CFI differ.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Box<Difference<'r>>>,
    /// The proof that the machine code gives, if it was asked for (`--why`) and the code decides. A way of more than 100 instructions
    /// lacks its middle.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Box<Why<'r>>>,
}

impl Finding<'_> {
    /// The group of its rule; `None` if this version does not know it.
    #[must_use]
    pub fn rule_group(&self) -> Option<Group> {
        Group::ALL.into_iter().find(|group| group.name() == self.group.as_str())
    }
}

impl Finding<'static> {
    /// A finding about a whole file.
    #[must_use]
    pub fn about_file(
        rule: Text<'static>,
        severity: Severity,
        group: &'static str,
        message: String,
    ) -> Finding<'static> {
        Finding {
            rule,
            severity,
            group: group.into(),
            known: None,
            consequence: None,
            owner: Owner::Unknown,
            origin: None,
            message: message.into(),
            remedy: None,
            section: None,
            offset: None,
            file_offset: None,
            field: None,
            function: None,
            row: None,
            code: None,
            elf_section: None,
            source: None,
            context: Vec::new(),
            difference: None,
            why: None,
        }
    }
}

impl Finding<'_> {
    /// Who is wrong and the instruction that proves it, as a sentence: `SFrame is wrong: before ...`. `None` if nothing is known
    /// about that. `table` is what SFrame was compared with.
    #[must_use]
    pub fn ruling(&self, table: Option<UnwindTable>) -> Option<String> {
        let ruling = self.difference.as_ref()?.ruling.as_ref()?;
        Some(ruling.sentence(UnwindTable::noun_of(table)))
    }

    /// Who has to act, a compiler with its name and version. `None` if it is unknown.
    #[must_use]
    pub fn owner_in_words(&self) -> Option<String> {
        let origin = self.origin.as_deref();
        match (self.owner, origin.and_then(Origin::compiler)) {
            (Owner::Unknown, _) => None,
            (Owner::Compiler, Some(compiler)) => {
                let is_guess = origin.is_some_and(|origin| origin.shown_by == ShownBy::Comment);
                let unless = match is_guess {
                    true => ", which .comment names; assembly is yours",
                    false => "; inline assembly is yours",
                };
                Some(format!("compiler ({compiler}{unless})"))
            }
            (owner, _) => Some(owner.name().to_owned()),
        }
    }

    /// The message, and what to do if the finding has its own remedy.
    #[must_use]
    pub fn advice(&self) -> String {
        match &self.remedy {
            Some(remedy) => format!("{}; what to do: {remedy}", self.message),
            None => self.message.to_string(),
        }
    }

    /// Whether the author of the source, which may be assembly, can mend it; so it seems if nobody else is known to be at fault.
    #[must_use]
    pub fn is_for_author(&self) -> bool {
        matches!(self.owner, Owner::Yours | Owner::Unknown) && self.known.is_none()
    }

    /// The number of findings of its rule that it represents: itself plus those of other functions with the same
    /// pattern; 0 if its function has been counted already.
    #[must_use]
    pub fn weight(&self) -> u64 {
        match &self.difference {
            Some(difference) if difference.repeats => 0,
            Some(difference) => difference.elsewhere().saturating_add(1),
            None => 1,
        }
    }
}

/// A field in the section's bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Part<'r> {
    /// Offset in bytes from the start of the section.
    pub offset: u64,
    /// The stored bytes in hexadecimal.
    #[serde(borrow)]
    pub bytes: Text<'r>,
    /// The name of the field; empty for bytes that belong to no field.
    #[serde(borrow)]
    pub name: Text<'r>,
    /// The meaning of the bytes.
    #[serde(borrow)]
    pub value: Text<'r>,
    /// Whether this field contains the defect.
    pub blamed: bool,
}

/// A field with an invalid value.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Field<'r> {
    /// The field's name in the specification.
    #[serde(borrow)]
    pub name: Text<'r>,
    /// The value.
    #[serde(borrow, default)]
    pub value: Text<'r>,
    /// The valid values.
    #[serde(borrow, default)]
    pub allowed: Text<'r>,
}

/// The function that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Function<'r> {
    /// Its index in the table of functions, from 0.
    #[serde(default)]
    pub index: u32,
    /// The start address, or the offset in `code_section`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Address>,
    /// The section that contains it; only in relocatable objects.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub code_section: Option<Text<'r>>,
    /// Size in bytes of code.
    #[serde(default)]
    pub size: u32,
    /// The symbol at its start.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<Text<'r>>,
    /// The symbol's name in hexadecimal, if it is not valid UTF-8.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub symbol_hex: Option<Text<'r>>,
    /// Offset in bytes from the start of the symbol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol_offset: Option<u64>,
}

/// A line of source code.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceLine<'r> {
    /// The path of the file, as the compiler recorded it.
    #[serde(borrow)]
    pub file: Text<'r>,
    /// The number of the line, from 1.
    pub line: u32,
}

/// A range of code.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Code<'r> {
    /// The first PC: an address, or an offset in `code_section`.
    pub start: Address,
    /// The first PC after the range.
    pub end: Address,
    /// The section that contains it; only in relocatable objects.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub code_section: Option<Text<'r>>,
    /// The symbol that the code belongs to; if the finding has a `function`, the symbol at its start.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<Text<'r>>,
    /// The symbol's name in hexadecimal, if it is not valid UTF-8.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub symbol_hex: Option<Text<'r>>,
    /// Offset in bytes from the start of the symbol, if the finding has no `function`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol_offset: Option<u64>,
}

/// The rows of SFrame and CFI around code where they differ, or where the machine code proves one of them wrong.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference<'r> {
    /// The values that differ: `cfa`, `ra`, `fp`, `ra-signing`, `undefined-ra`, `signal`.
    #[serde(borrow, default)]
    pub fields: Vec<Text<'r>>,
    /// The rows of both tables around the range, by PC.
    #[serde(borrow, default)]
    pub table: Vec<TableLine<'r>>,
    /// The table was truncated: it has further rows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// The instructions of the range; if it is long, the first few.
    #[serde(borrow, default)]
    pub instructions: Vec<Instruction<'r>>,
    /// The last call frame instructions that apply to the range, and those before it that they depend on.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub directives: Vec<Directive<'r>>,
    /// Which of both is wrong. Absent in reports of older versions, and where two files are compared.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub ruling: Option<Ruling<'r>>,
    /// The first PC at which both rows are valid, if the finding's range starts later: who is wrong is decided for parts of
    /// the rows' range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_from: Option<Address>,
    /// How often the same pattern (fields, registers and distance) occurs elsewhere. Absent if each range is listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similar: Option<Similar>,
    /// Whether the pattern occurs earlier in this function, so that this range is not counted again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeats: bool,
}

impl Difference<'_> {
    /// The number of other functions with the same pattern, which are not listed.
    #[must_use]
    pub fn elsewhere(&self) -> u64 {
        self.similar.map_or(0, |similar| similar.functions)
    }
}

/// A row of one table, or of both.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableLine<'r> {
    /// Which table contains it.
    pub side: Side,
    /// The first PC.
    pub start: Address,
    /// How the frame is recovered.
    #[serde(borrow, flatten)]
    pub frame: PrintedFrame<Text<'r>>,
}

/// Which of two tables contains a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Both tables.
    Both,
    /// Only the SFrame table.
    Sframe,
    /// Only the CFI table.
    Cfi,
    /// Only the first file's table, when two files are compared.
    First,
    /// Only the second file's table.
    Second,
}

impl Side {
    /// The mark of a row in a merged table.
    #[must_use]
    pub const fn mark(self) -> char {
        match self {
            Side::Both => ' ',
            Side::Sframe | Side::First => '-',
            Side::Cfi | Side::Second => '+',
        }
    }

    /// The meaning of the marks of rows: `- SFrame, + CFI`. Where both tables say the same, there are none; where one table is
    /// compared with the code, only its mark occurs.
    #[must_use]
    pub fn legend(sides: impl IntoIterator<Item = Side>, first: &str, second: &str) -> String {
        let (mut in_first, mut in_second) = (false, false);
        for side in sides {
            in_first |= matches!(side, Side::Sframe | Side::First);
            in_second |= matches!(side, Side::Cfi | Side::Second);
        }
        match (in_first, in_second) {
            (true, true) => format!("- {first}, + {second}"),
            (true, false) => format!("- {first}"),
            (false, true) => format!("+ {second}"),
            (false, false) => format!("{first} and {second}"),
        }
    }
}

/// A call frame instruction.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Directive<'r> {
    /// The first PC to which it applies.
    pub address: Address,
    /// Its name without `DW_CFA_`, and the register that it is about: `def_cfa_offset`, `offset rbp`, `restore ra`.
    #[serde(borrow)]
    pub text: Text<'r>,
}

/// Further occurrences of a pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Similar {
    /// The number of other functions.
    pub functions: u64,
    /// The number of other ranges of PCs.
    pub ranges: u64,
    /// The size of these ranges in bytes.
    pub bytes: u64,
}
