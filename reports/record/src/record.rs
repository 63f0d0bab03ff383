//! The result of checking one file: an element of `files` in `--format json`, a line of `--format ndjson`, a line of a
//! store.
//!
//! ```
//! use sframe_record::Record;
//!
//! let line = r#"{"type":"file","path":"a.o","status":"checked","code_bytes":8,
//!     "counts":[{"rule":"cfa-mismatch","severity":"error","count":2,"files":1}]}"#;
//! let record = Record::parse(line)?;
//! assert_eq!((record.path.as_str(), record.code_bytes), ("a.o", 8));
//! assert_eq!(record.counts[0].count, 2);
//! # Ok::<(), serde_json::Error>(())
//! ```

use std::os::unix::ffi::OsStrExt;

use serde::{Deserialize, Serialize};
use sframe_validator::finding::{HeaderSummary, UndecidedCause};
use sframe_validator::section::Flags;
use sframe_validator::{Abi, Endian, Version};

use crate::call_sites::CallSites;
use crate::coverage::Coverage;
use crate::elf_type::ElfType;
use crate::finding::Finding;
use crate::forecast::Forecast;
use crate::json::{bytes_of_hex, exact_name, name};
use crate::name::FileName;
use crate::package::Package;
use crate::proofs::Proofs;
use crate::reading::Reading;
use crate::severity::Severity;
use crate::unwind_table::UnwindTable;
use crate::value::{Address, Text, is_zero};

/// The result for one file, or for one member of a package or archive.
///
/// Reading an invalid record returns an error with its line and column: for a wrong type, an unknown status or
/// severity, or a missing path or status.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Record<'r> {
    /// The path as given or found. If it is not valid UTF-8, the other bytes are written as `\xNN`.
    #[serde(borrow)]
    pub path: Text<'r>,
    /// The path's bytes in hexadecimal, if they are not valid UTF-8.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<Text<'r>>,
    /// The path of the file inside the package at `path`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub inside: Option<Text<'r>>,
    /// The bytes of `inside` in hexadecimal, if they are not valid UTF-8.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub inside_hex: Option<Text<'r>>,
    /// The name of the archive member.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub member: Option<Text<'r>>,
    /// The member's name in hexadecimal, if it is not valid UTF-8.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub member_hex: Option<Text<'r>>,
    /// The size and hash of the file.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content<'r>>,
    /// The package that contains it, as stated in the package's metadata.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub package: Option<Package<'r>>,
    /// The programs that produced the file.
    #[serde(borrow, default)]
    pub producers: Vec<Producer<'r>>,
    /// The type of the ELF file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elf_type: Option<ElfType>,
    /// The address where the program starts, if the file has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<Address>,
    /// The build-id in hexadecimal.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub build_id: Option<Text<'r>>,
    /// The outcome of the check.
    pub status: Status,
    /// Why it was not checked, as text for people. For special and unsupported files, the kind, as in
    /// [`KindCount`](crate::KindCount); `empty` for an empty file.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text<'r>>,
    /// The size in bytes of loaded, executable sections.
    #[serde(default)]
    pub code_bytes: u64,
    /// Bytes of code that the functions of the sections describe.
    #[serde(default)]
    pub covered_bytes: u64,
    /// Its SFrame sections.
    #[serde(borrow, default)]
    pub sections: Vec<Section<'r>>,
    /// How often each rule was broken; exact even if `findings` is truncated.
    #[serde(borrow, default)]
    pub counts: Vec<RuleCount<'r>>,
    /// The findings: the first few of each rule, or all.
    #[serde(borrow, default)]
    pub findings: Vec<Finding<'r>>,
    /// The findings that do not count, by the reason for it.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub suppressed: Vec<Suppressed<'r>>,
    /// The checks that were not possible, and why.
    #[serde(borrow, default)]
    pub undecided: Vec<Undecided<'r>>,
    /// What SFrame and the code were compared with, if there was anything: the fields about CFI are about this table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<UnwindTable>,
    /// How much of its code SFrame and CFI describe, if that was requested.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage<'r>>,
    /// What SFrame would cost, if that was requested.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Box<Forecast<'r>>>,
    /// The number of functions with CFI, according to `.eh_frame_hdr`, if the file has no SFrame section.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub functions_without_section: u64,
    /// Whether a file without a section has the kernel's ORC tables.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_orc: bool,
    /// What the machine code proves about its rows, if that was requested.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub proofs: Option<Box<Proofs<'r>>>,
    /// What a stack walker finds after its calls, if that was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_sites: Option<CallSites>,
    /// What consumers do with its sections, for those that were asked about.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<Reading<'r>>,
}

impl Record<'static> {
    /// A record with nothing but a status; the name is still missing.
    #[must_use]
    pub fn new(status: Status) -> Record<'static> {
        Record {
            path: Text::default(),
            path_hex: None,
            inside: None,
            inside_hex: None,
            member: None,
            member_hex: None,
            content: None,
            package: None,
            producers: Vec::new(),
            elf_type: None,
            entry: None,
            build_id: None,
            status,
            reason: None,
            code_bytes: 0,
            covered_bytes: 0,
            sections: Vec::new(),
            counts: Vec::new(),
            findings: Vec::new(),
            suppressed: Vec::new(),
            undecided: Vec::new(),
            table: None,
            coverage: None,
            forecast: None,
            functions_without_section: 0,
            has_orc: false,
            proofs: None,
            call_sites: None,
            readings: Vec::new(),
        }
    }

    /// A record with a status and the reason for it.
    #[must_use]
    pub fn because(status: Status, reason: impl Into<Text<'static>>) -> Record<'static> {
        Record { reason: Some(reason.into()), ..Record::new(status) }
    }

    /// This record with the file's name.
    #[must_use]
    pub fn named(self, file: &FileName) -> Record<'static> {
        let path = file.path.as_os_str().as_bytes();
        let text = |bytes: &Option<Vec<u8>>| bytes.as_deref().map(|bytes| name(bytes).into());
        let hex = |bytes: &Option<Vec<u8>>| bytes.as_deref().and_then(exact_name).map(Text::from);
        Record {
            path: name(path).into(),
            path_hex: exact_name(path).map(Text::from),
            inside: text(&file.inside),
            inside_hex: hex(&file.inside),
            member: text(&file.member),
            member_hex: hex(&file.member),
            ..self
        }
    }
}

impl<'r> Record<'r> {
    /// `package.deb!usr/lib/lib.a(member.o)`, safe to print.
    #[must_use]
    pub fn name(&self) -> String {
        let mut name = self.path.to_string();
        if let Some(inside) = &self.inside {
            name.push('!');
            name.push_str(&inside.to_string());
        }
        if let Some(member) = &self.member {
            name.push_str(&format!("({member})"));
        }
        name
    }

    /// The bytes of its path, as the system has them.
    #[must_use]
    pub fn path_bytes(&self) -> Vec<u8> {
        let exact = self.path_hex.as_deref().and_then(bytes_of_hex);
        exact.unwrap_or_else(|| self.path.as_str().as_bytes().to_vec())
    }

    /// Parses one line, or one element of a document's `files`.
    ///
    /// # Errors
    /// Returns an error with line and column if the text is not JSON or not a record of a file.
    pub fn parse(line: &'r str) -> Result<Record<'r>, serde_json::Error> {
        serde_json::from_str(line)
    }
}

/// The outcome of checking a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It has SFrame sections, and they were checked.
    Checked,
    /// The combined members of an archive.
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
    /// The checker crashed on it, or was stopped at a limit.
    Crashed,
}

/// The size and hash of a file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Content<'r> {
    /// The size in bytes.
    pub size: u64,
    /// Their BLAKE3 hash, 64 hexadecimal digits.
    #[serde(borrow)]
    pub hash: Text<'r>,
}

/// A program that produced the file, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Producer<'r> {
    /// `compiler`, `assembler`, `linker` or `other`.
    #[serde(borrow)]
    pub kind: Text<'r>,
    /// Its name, such as `GCC`.
    #[serde(borrow)]
    pub name: Text<'r>,
    /// Its version, if the file states one.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Text<'r>>,
    /// The text in the file, verbatim.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Text<'r>>,
}

impl Producer<'_> {
    /// The kind of compilers.
    pub const COMPILER: &'static str = "compiler";
    /// The kind of assemblers.
    pub const ASSEMBLER: &'static str = "assembler";
    /// The kind of linkers.
    pub const LINKER: &'static str = "linker";

    /// Whether it compiled a part of the file.
    #[must_use]
    pub fn is_compiler(&self) -> bool {
        self.kind.as_str() == Producer::COMPILER
    }

    /// Whether it linked the file.
    #[must_use]
    pub fn is_linker(&self) -> bool {
        self.kind.as_str() == Producer::LINKER
    }
}

/// An SFrame section.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Section<'r> {
    /// The index in the section header table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// Its name.
    #[serde(borrow, default)]
    pub name: Text<'r>,
    /// Its address.
    #[serde(default)]
    pub address: Address,
    /// The offset of its first byte in the file.
    #[serde(default)]
    pub file_offset: u64,
    /// The size in bytes.
    #[serde(default)]
    pub size: u64,
    /// The contents of its header, if that can be read.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub header: Option<Header<'r>>,
    /// The number of functions read.
    #[serde(default)]
    pub functions: u64,
    /// The number of rows read.
    #[serde(default)]
    pub rows: u64,
    /// The number of bytes of code that its functions describe.
    #[serde(default)]
    pub covered_bytes: u64,
}

/// The fields of the header that identify the section's format.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Header<'r> {
    /// 1, 2 or 3.
    pub version: u8,
    /// `sfp_flags`.
    #[serde(default)]
    pub flags: u8,
    /// `AMD64`, `AArch64`, `AArch64-BE` or `s390x`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub abi: Option<Text<'r>>,
    /// `little` or `big`.
    #[serde(borrow, default)]
    pub endian: Text<'r>,
    /// `sfh_cfa_fixed_fp_offset`; 0 if rows state where FP is.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fixed_fp_offset: i8,
    /// `sfh_cfa_fixed_ra_offset`; 0 if rows state where RA is.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fixed_ra_offset: i8,
}

impl Header<'_> {
    /// The record of a header.
    #[must_use]
    pub fn of(header: &HeaderSummary) -> Header<'static> {
        Header {
            version: header.version.number(),
            flags: header.flags.0,
            abi: header.abi.map(|abi| abi.name().into()),
            endian: match header.endian {
                Endian::Little => "little",
                Endian::Big => "big",
            }
            .into(),
            fixed_fp_offset: header.fixed_fp_offset,
            fixed_ra_offset: header.fixed_ra_offset,
        }
    }
}

impl Header<'_> {
    /// The header that this describes; `None` if the version is unknown.
    #[must_use]
    pub fn summary(&self) -> Option<HeaderSummary> {
        let abi = self.abi.as_ref();
        Some(HeaderSummary {
            version: Version::from_number(self.version)?,
            flags: Flags(self.flags),
            abi: abi.and_then(|name| ABIS.into_iter().find(|abi| abi.name() == name.as_str())),
            endian: if &*self.endian == "big" { Endian::Big } else { Endian::Little },
            fixed_fp_offset: self.fixed_fp_offset,
            fixed_ra_offset: self.fixed_ra_offset,
        })
    }
}

const ABIS: [Abi; 4] = [Abi::Amd64, Abi::Aarch64Little, Abi::Aarch64Big, Abi::S390x];

/// How often a rule was broken.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuleCount<'r> {
    /// The rule's name.
    #[serde(borrow)]
    pub rule: Text<'r>,
    /// How serious a violation is.
    pub severity: Severity,
    /// How often it was broken. A difference counts once per function.
    pub count: u64,
    /// The number of files that break it; always 1 in the record of a file.
    #[serde(default = "one")]
    pub files: u64,
    /// The known defect of a producer that these findings are cases of.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub known: Option<Text<'r>>,
}

/// Findings that do not count, for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Suppressed<'r> {
    /// The rule.
    #[serde(borrow)]
    pub rule: Text<'r>,
    /// Why they do not count.
    #[serde(borrow)]
    pub reason: Text<'r>,
    /// Their number.
    pub count: u64,
    /// The first few of them.
    #[serde(borrow, default)]
    pub findings: Vec<Finding<'r>>,
}

const fn one() -> u64 {
    1
}

fn is_unknown(cause: &UndecidedCause) -> bool {
    *cause == UndecidedCause::Unknown
}

/// A check that was not possible.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Undecided<'r> {
    /// The position of the section in the file's `sections`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<usize>,
    /// Why.
    #[serde(default, skip_serializing_if = "is_unknown")]
    pub cause: UndecidedCause,
    /// What was not checked, and why, for people.
    #[serde(borrow, default)]
    pub reason: Text<'r>,
}
