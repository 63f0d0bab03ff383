//! What an input of a link carries: its code, and its SFrame sections.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An object, archive member or shared object that takes part in the link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Input {
    /// Its name, as the linker prints it: the path, and `archive.a(member.o)` of a member. That of a compiled object is its
    /// source.
    pub name: String,
    /// The parts of the name of a member.
    #[serde(skip)]
    pub member: Option<MemberName>,
    /// How it gets into the link.
    pub kind: InputKind,
    /// The symbol for which a member is pulled in.
    pub pulled_by: Option<String>,
    /// `AMD64`, `AArch64`, `s390x` or the number of `e_machine`.
    pub machine: String,
    /// Whether its data is big-endian.
    pub big_endian: bool,
    /// The compilers and assemblers that `.comment` names.
    pub producers: Vec<String>,
    /// Bytes of code; those of [`Input::groups`] are included.
    pub code: u64,
    /// Its SFrame sections. More than one is unusual.
    pub sframe: Vec<Sframe>,
    /// The source that its symbols name, which lld prints.
    #[serde(skip)]
    pub source: Option<String>,
    /// Its COMDAT groups with code: the linker keeps one group of a name.
    pub groups: Vec<Group>,
    /// Global functions that its code calls through the PLT, if they may be defined elsewhere at run time.
    #[serde(skip)]
    pub calls: Vec<Vec<u8>>,
    /// A section of code that is not aligned to instructions, which the linker may put where none can be.
    #[serde(skip)]
    pub unaligned: Option<String>,
    /// Why a part of it could not be read.
    pub faults: Vec<String>,
}

/// The name of a member of an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemberName {
    /// The name, as the linker prints it.
    pub printed: String,
    /// The archive, as the linker prints it.
    pub archive: String,
    /// The member in the archive, or its file if the archive is thin, as the linker prints it.
    pub member: String,
    /// The file of a member of a thin archive.
    pub file: Option<String>,
}

impl fmt::Display for MemberName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.printed)
    }
}

/// How an input gets into a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum InputKind {
    /// An object that the command names.
    #[default]
    Object,
    /// An object that the audited command compiles.
    Compiled,
    /// A startup object of the C library or compiler (`crt1.o` and others).
    Startup,
    /// An object in an archive.
    Member,
    /// A shared object: nothing of its content gets into the output.
    Shared,
    /// Compiler bitcode, which becomes code during the link.
    Bitcode,
}

/// An SFrame section of an input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sframe {
    /// `sh_type`.
    pub section_type: SectionType,
    /// `sh_size`.
    pub size: u64,
    /// `sh_addralign`.
    pub alignment: u64,
    /// The header's fields; `None` if there is no header with the magic number.
    pub header: Option<Header>,
    /// The functions that it describes.
    pub functions: u64,
    /// The bytes of code that they take.
    pub described: u64,
    /// Whether its start fields have relocations, without which no linker can use it.
    pub relocated: bool,
    /// Whether a function with code has a row at or after its end.
    pub row_after_end: bool,
    /// What GNU ld 2.44 makes of it, if it misreads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misread: Option<Misread>,
    /// Why the section, or a part of it, cannot be read.
    pub fault: Option<String>,
}

/// How GNU ld 2.44 reads a big-endian section of version 1: it takes the entry of each function for three bytes longer than it is
/// (observed).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Misread {
    /// It refuses the section, as one of an unknown version: there is one function, which it can read.
    Refused,
    /// It looks for the rows of the second function far outside the section, and crashes.
    Crashes,
    /// The second function has no rows, or a place for them that may be read in another way.
    Undecided,
}

/// The type of a section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SectionType {
    /// `SHT_PROGBITS`, as GNU as wrote until 2.44.
    #[default]
    #[serde(rename = "PROGBITS")]
    Progbits,
    /// `SHT_GNU_SFRAME`, as GNU as from 2.45 on and LLVM write.
    #[serde(rename = "GNU_SFRAME")]
    GnuSframe,
    /// Another type.
    #[serde(untagged)]
    Other(u32),
}

impl SectionType {
    /// The name in messages and tables.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            SectionType::Progbits => "PROGBITS".to_owned(),
            SectionType::GnuSframe => "GNU_SFRAME".to_owned(),
            SectionType::Other(number) => format!("{number:#x}"),
        }
    }
}

/// The fields of an SFrame header that linkers look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Header {
    /// `sfp_version`.
    pub version: u8,
    /// `sfp_flags`.
    pub flags: u8,
    /// `SFRAME_F_FDE_SORTED` is set.
    pub sorted: bool,
    /// `SFRAME_F_FRAME_POINTER` is set.
    pub frame_pointer: bool,
    /// `SFRAME_F_FDE_FUNC_START_PCREL` is set.
    pub pc_relative: bool,
    /// `sfh_abi_arch`.
    pub abi: u8,
    /// The magic number is in the other byte order than the file.
    pub swapped: bool,
}

/// A COMDAT group with code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Group {
    /// The name by which groups of several inputs are the same.
    pub signature: String,
    /// The name of its first section of code.
    pub section: String,
    /// Bytes of code.
    pub code: u64,
    /// Functions that SFrame describes.
    pub functions: u64,
    /// The bytes of code that they take.
    pub described: u64,
    /// Where SFrame refers to its sections.
    #[serde(skip)]
    pub references: Vec<References>,
}

/// The places in an SFrame section that refer to one section of code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct References {
    /// The name of the section of code.
    pub section: String,
    /// Offsets in the SFrame section.
    pub places: Vec<u64>,
}

impl Sframe {
    /// The version in the header.
    #[must_use]
    pub fn version(&self) -> Option<u8> {
        self.header.map(|header| header.version)
    }

    /// Whether starts count from their own field, so that a linker that knows nothing of SFrame sets them right.
    #[must_use]
    pub fn is_pc_relative(&self) -> bool {
        self.header.is_some_and(|header| header.pc_relative)
    }

    /// The assemblers that write such a section, as far as the section shows them.
    #[must_use]
    pub fn assembler(&self) -> &'static str {
        match (self.version(), self.section_type, self.is_pc_relative()) {
            (Some(1), ..) => "GNU as 2.40",
            (Some(2), SectionType::Progbits, false) => "GNU as 2.41 to 2.44",
            (Some(2), SectionType::GnuSframe, true) => "LLVM or GNU as 2.45",
            (Some(3), ..) => "GNU as 2.46 or later",
            _ => "an unknown assembler",
        }
    }

    /// `V2, PC-relative, GNU_SFRAME`.
    #[must_use]
    pub fn title(&self) -> String {
        let mut words = match self.header {
            Some(header) => vec![format!("V{}", header.version)],
            None if self.size == 0 => vec!["empty".to_owned()],
            None => vec!["unreadable".to_owned()],
        };
        if let Some(header) = self.header {
            let flags = [
                (header.sorted, "sorted"),
                (header.frame_pointer, "frame pointers"),
                (header.pc_relative, "PC-relative"),
            ];
            words.extend(flags.iter().filter(|(set, _)| *set).map(|(_, name)| (*name).to_owned()));
        }
        words.push(self.section_type.name());
        words.join(", ")
    }
}

impl Input {
    /// The number of functions that its SFrame sections describe.
    #[must_use]
    pub fn functions(&self) -> u64 {
        self.sframe.iter().map(|section| section.functions).sum()
    }

    /// The bytes of code that its SFrame sections describe.
    #[must_use]
    pub fn described(&self) -> u64 {
        let described = self.sframe.iter().map(|section| section.described);
        described.fold(0, u64::saturating_add).min(self.code)
    }

    /// Whether its content gets into the output.
    #[must_use]
    pub const fn is_copied(&self) -> bool {
        !matches!(self.kind, InputKind::Shared)
    }
}
