//! The JSON formats: one type for each object, from which the schemas in `schema/` are made.
//!
//! Addresses are strings, `"0x401000"`: a JSON number loses the low bits of a kernel's addresses
//! in many readers. Offsets and counts are numbers. A name that is not valid UTF-8 is given twice:
//! readable, with `\xNN` for the bytes that are not text, and exact, as hexadecimal digits.

mod coverage;
mod findings;

pub use coverage::{
    Coverage, CoverageTotal, CoveredFunctions, FunctionPlace, Limit, Loss, Verdicts,
};
pub use findings::Findings;

use schemars::JsonSchema;
use serde::Serialize;
use sframe_record::json::Tool;

/// `--format json`: the whole scan as one document.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "sframe-check report")]
pub struct Document<'c> {
    /// Version of this format: 1.
    pub format: u32,
    /// The program that wrote it.
    pub tool: Tool,
    /// One for each file and archive member, in input order.
    pub files: Vec<File<'c>>,
    /// The scan in numbers.
    pub summary: Summary,
}

/// `--format ndjson`: one of these on each line. The summary is the last line.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
#[schemars(title = "sframe-check report line")]
pub enum Line<'c> {
    /// One file or archive member.
    File(Box<File<'c>>),
    /// The scan in numbers.
    Summary(Box<SummaryLine>),
}

/// The last line.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SummaryLine {
    /// Version of this format: 1.
    pub format: u32,
    /// The program that wrote it.
    pub tool: Tool,
    /// The numbers.
    #[serde(flatten)]
    pub summary: Summary,
}

/// One file, or one member of a package or archive.
#[derive(Debug, Serialize, JsonSchema)]
pub struct File<'c> {
    /// The path as it was given or found.
    pub path: String,
    /// The path's bytes in hexadecimal, where they are not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// The path of the file in the package at `path`, without `./` at the start; behind a
    /// package's own path and a `!`, where one package is inside another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inside: Option<String>,
    /// That path in hexadecimal, where it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inside_hex: Option<String>,
    /// The member of the archive there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// The member's name in hexadecimal, where it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member_hex: Option<String>,
    /// The file's bytes, where results are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
    /// The package it is in, where that says so itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<Package>,
    /// What made the file, as far as its `.comment` section and its notes say so.
    pub producers: Vec<Producer>,
    /// What became of it.
    pub status: Status,
    /// Why it was not checked, or which kind of file it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Bytes of loaded, executable sections.
    pub code_bytes: u64,
    /// Bytes of code that functions of the sections describe.
    pub covered_bytes: u64,
    /// Its SFrame sections.
    pub sections: Vec<Section>,
    /// How often each rule was broken.
    pub counts: Vec<RuleCount>,
    /// The findings, of each rule the first few, or all with `--all`.
    pub findings: Findings<'c>,
    /// What was not checked, and why.
    pub undecided: Vec<Undecided>,
    /// What SFrame and CFI describe of its code, where that was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
}

/// The bytes of a file or member.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Content {
    /// How many.
    pub size: u64,
    /// Their BLAKE3 hash, 64 hexadecimal digits.
    pub hash: String,
}

/// What a package says of itself.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The architecture, in its distribution's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
    /// The source package, where the package names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// A program that had a part in making a file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Producer {
    /// `compiler`, `assembler`, `linker` or `other`.
    pub kind: &'static str,
    /// Its name: `GCC`.
    pub name: String,
    /// Its version, where it says one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What it has left in the file: `GCC: (Debian 12.2.0-14) 12.2.0`.
    pub text: String,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It has SFrame sections, and they were checked.
    Checked,
    /// The members of an archive taken together; each has a report of its own besides. Only where
    /// there is something to say.
    Archive,
    /// An ELF file without an SFrame section.
    NoSection,
    /// An ELF file of a kind that SFrame is not defined for.
    Unsupported,
    /// Not an ELF file, or empty.
    NotElf,
    /// Not a regular file.
    Special,
    /// It could not be read, or is a damaged ELF file.
    Unreadable,
    /// Its checker has died: a defect of the program.
    Crashed,
}

/// An SFrame section.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Section {
    /// Index in the section header table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// Its name.
    pub name: String,
    /// Its address, `0x...`.
    pub address: String,
    /// Offset of its first byte in the file.
    pub file_offset: u64,
    /// Bytes.
    pub size: u64,
    /// What its header says, where it can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<Header>,
    /// Functions that were read.
    pub functions: u64,
    /// Rows that were read.
    pub rows: u64,
    /// Bytes of code that its functions describe.
    pub covered_bytes: u64,
}

/// The header, as far as it says what the section is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Header {
    /// 1, 2 or 3.
    pub version: u8,
    /// `sfp_flags`.
    pub flags: u8,
    /// `AMD64`, `AArch64`, `AArch64-BE` or `s390x`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abi: Option<&'static str>,
    /// `little` or `big`.
    pub endian: &'static str,
}

/// How often a rule was broken.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RuleCount {
    /// The rule's name.
    pub rule: &'static str,
    /// `error`, `warning` or `lint`.
    pub severity: &'static str,
    /// How often.
    pub count: u64,
    /// In how many files; of one file's counts always 1.
    pub files: u64,
}

/// A rule that is broken at a place.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Finding {
    /// The rule's name; `sframe-check explain` has its page.
    pub rule: &'static str,
    /// `error`, `warning` or `lint`.
    pub severity: &'static str,
    /// What the rule is about.
    pub group: &'static str,
    /// The fact, then the rule.
    pub message: String,
    /// Position in the file's `sections`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<usize>,
    /// Bytes from the start of the section.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Bytes from the start of the file, or of the member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_offset: Option<u64>,
    /// The field and its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<Field>,
    /// The function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<Function>,
    /// The row's number in its function, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<u32>,
    /// The code, where the finding is about less than a function, or about no function of the
    /// section.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// The section's bytes around the defect, cut into fields.
    pub context: Vec<Part>,
    /// Both tables of rows, where SFrame and CFI differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
}

/// A range of code.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Code {
    /// The first PC, `0x...`: an address, or an offset in `code_section`.
    pub start: String,
    /// The first PC behind, `0x...`.
    pub end: String,
    /// The section it is in, in relocatable objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code_section: Option<String>,
    /// The symbol of the code; where the finding has a `function`, the one at its start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// The symbol's name in hexadecimal, where it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol_hex: Option<String>,
}

/// What SFrame and CFI say around code at which they differ.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Difference {
    /// What differs: `cfa`, `ra`, `fp`, `ra-signing`, `undefined-ra`, `signal`.
    pub fields: Vec<&'static str>,
    /// Both tables of rows around the range, by PC.
    pub table: Vec<TableLine>,
    /// The range's instructions, of AMD64 and AArch64; of a long range the first ones.
    pub instructions: Vec<Instruction>,
    /// Where the same pattern shows as well: the same fields, registers and distance. Absent with
    /// `--all`, which lists each range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similar: Option<Similar>,
    /// With `--all`: the function shows the same pattern before, and counts have it once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeats: bool,
}

/// A row of one table or of both.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TableLine {
    /// Who says it: `both`, or one of the sides, here `sframe` or `cfi`.
    pub side: &'static str,
    /// The first PC, `0x...`.
    pub start: String,
    /// The canonical frame address, such as `rsp+16`.
    pub cfa: String,
    /// The return address, such as `*(CFA-8)`.
    pub ra: String,
    /// The caller's frame pointer.
    pub fp: String,
    /// The return address is signed.
    pub ra_signed: bool,
}

/// A machine instruction.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Instruction {
    /// Its address, `0x...`.
    pub address: String,
    /// Its bytes in hexadecimal.
    pub bytes: String,
    /// The instruction as an assembler takes it.
    pub text: String,
}

/// Other places of the same pattern.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Similar {
    /// Other functions.
    pub functions: u64,
    /// Other ranges of PCs.
    pub ranges: u64,
    /// Bytes of these.
    pub bytes: u64,
}

/// A field that holds a value it must not hold.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Field {
    /// The specification's name.
    pub name: &'static str,
    /// The value.
    pub value: String,
    /// The values that would be right.
    pub allowed: String,
}

/// The function a finding is about.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Function {
    /// Its place in the table, from 0.
    pub index: u32,
    /// Where it starts, `0x...`: an address, or an offset in `code_section`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The section it is in, in relocatable objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code_section: Option<String>,
    /// Bytes of code.
    pub size: u32,
    /// The symbol at its start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// The symbol's name in hexadecimal, where it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol_hex: Option<String>,
    /// Bytes from the symbol's start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol_offset: Option<u64>,
}

/// One field of the section's bytes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Part {
    /// Bytes from the start of the section.
    pub offset: u64,
    /// The stored bytes in hexadecimal.
    pub bytes: String,
    /// The field's name, empty for bytes that are no field.
    pub name: &'static str,
    /// What the bytes say.
    pub value: String,
    /// Whether the defect is here.
    pub blamed: bool,
}

/// Something that was not checked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Undecided {
    /// Position in the file's `sections`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<usize>,
    /// What, and why.
    pub reason: String,
}

/// The scan in numbers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Summary {
    /// Everything that was met: files, members of archives, special files.
    pub inputs: u64,
    /// ELF files and bare sections that were checked.
    pub checked: u64,
    /// Those of them that have an SFrame section.
    pub with_section: u64,
    /// Files that are no ELF files.
    pub not_elf: u64,
    /// ELF files of kinds that SFrame is not defined for.
    pub unsupported: Vec<KindCount>,
    /// What is not a regular file.
    pub special: Vec<KindCount>,
    /// What could not be read.
    pub unreadable: u64,
    /// Files at which their checker has died.
    pub crashed: u64,
    /// Sections by version and machine.
    pub sections: Vec<SectionCount>,
    /// Functions that were read.
    pub functions: u64,
    /// Rows that were read.
    pub rows: u64,
    /// Bytes of executable code in all checked files.
    pub code_bytes: u64,
    /// Bytes of executable code in checked files with a section.
    pub code_bytes_with_section: u64,
    /// Bytes of code that functions describe.
    pub covered_bytes: u64,
    /// Findings of rules of severity error.
    pub errors: u64,
    /// Findings of rules of severity warning.
    pub warnings: u64,
    /// Findings of rules of severity lint.
    pub lints: u64,
    /// What was left undecided.
    pub undecided: u64,
    /// The coverage of files with a section that were compared with CFI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared: Option<CoverageTotal>,
    /// The coverage of files without a section, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_section: Option<CoverageTotal>,
    /// By rule, in the catalogue's order.
    pub rules: Vec<RuleCount>,
}

/// How many of a kind.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KindCount {
    /// Which kind.
    pub kind: String,
    /// How many.
    pub count: u64,
}

/// How many sections of a version and machine.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SectionCount {
    /// `V1`, `V2`, `V3`, or `unreadable header`.
    pub version: String,
    /// The machine; empty where the header cannot be read.
    pub machine: String,
    /// How many.
    pub count: u64,
}

/// The schema of `--format json`.
#[must_use]
pub fn document_schema() -> schemars::Schema {
    schemars::schema_for!(Document<'static>)
}

/// The schema of a line of `--format ndjson`.
#[must_use]
pub fn line_schema() -> schemars::Schema {
    schemars::schema_for!(Line<'static>)
}
