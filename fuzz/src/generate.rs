//! Sections that are valid by construction. A few bytes of entropy become functions and rows ([`Plan`]), which the
//! validator's own builder converts to a section.
//!
//! Entropy is read in blocks: the first for the section, and one for each function, in which each row has its own
//! place. So changing a byte changes one row, one function, or one property of the section's header, and a longer input
//! yields the same section with more functions. Missing bytes are read as zero.
//!
//! Two things restrict the generator: the caller's [`Configuration`], and a set of features that each input selects. A
//! section with a single feature is therefore as likely as one that mixes everything.

mod frames;
mod functions;
mod warnings;

pub use frames::Kind as FrameKind;
pub use functions::FunctionPlan;
pub use warnings::Warnings;

use arbitrary::{Result, Unstructured};
use sframe_validator::section::FreType;
use sframe_validator::section::{Flags, StartRelocation};
use sframe_validator::unwind::CodeAddress;
use sframe_validator::write::{BuildError, Built, SectionBuilder};
use sframe_validator::{Abi, Endian, Placement, Version};

/// The number of bytes of entropy for the section itself.
pub const HEADER_BLOCK: usize = 32;
/// The number of bytes of entropy for one function.
pub const FUNCTION_BLOCK: usize = functions::HEAD + functions::ROWS * functions::ROW;
/// The maximum number of functions in a section.
const MAX_FUNCTIONS: usize = 64;

/// The features that a section may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// The versions to choose from.
    pub versions: &'static [Version],
    /// The ABIs to choose from. AMD64 replaces s390x in version 1, which does not know it.
    pub abis: &'static [Abi],
    /// Whether legal but unusual features that cause warnings are allowed: gaps, an auxiliary header, empty functions,
    /// unusual frames.
    pub warned: bool,
    /// Whether sections whose byte order is not their ABI's are allowed.
    pub any_endian: bool,
    /// Whether sections of relocatable objects are allowed.
    pub objects: bool,
}

impl Configuration {
    /// Everything that is legal.
    pub const ALL: Configuration = Configuration {
        versions: &Version::ALL,
        abis: &Abi::ALL,
        warned: true,
        any_endian: true,
        objects: true,
    };
    /// Everything that causes no finding above lint level, except findings about the version itself.
    pub const SILENT: Configuration = Configuration { warned: false, ..Configuration::ALL };
    /// The features that linkers write.
    pub const LINKED: Configuration =
        Configuration { any_endian: false, objects: false, ..Configuration::SILENT };
}

/// The set of features that the input selects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Features {
    bits: u16,
    warned: bool,
}

impl Features {
    pub(crate) const FLEXIBLE: u16 = 0x1;
    pub(crate) const SIGNAL: u16 = 0x2;
    pub(crate) const REPEAT: u16 = 0x4;
    pub(crate) const OUTERMOST: u16 = 0x8;
    pub(crate) const WITHOUT_ROWS: u16 = 0x10;
    pub(crate) const LARGE: u16 = 0x20;
    pub(crate) const WIDE: u16 = 0x40;
    pub(crate) const KEY_B: u16 = 0x80;
    /// Gaps, the auxiliary header, and bytes after the rows.
    const SPACE: u16 = 0x100;
    /// Empty functions, rows at the end or at the same place, and functions that start without a row.
    pub(crate) const ODD_PLACES: u16 = 0x200;
    pub(crate) const ODD_FRAMES: u16 = 0x400;
    const CLAIM: u16 = 0x800;
    const UNSORTED: u16 = 0x1000;
    const SECTION_RELATIVE: u16 = 0x2000;
    /// The features that cause a warning at each use.
    const WARNED: u16 =
        Features::SPACE | Features::ODD_PLACES | Features::ODD_FRAMES | Features::CLAIM;

    pub(crate) const fn has(self, feature: u16) -> bool {
        self.bits & feature != 0 && (self.warned || feature & Features::WARNED == 0)
    }

    pub(crate) const fn warned(self) -> bool {
        self.warned
    }
}

/// A section to be built.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The version.
    pub version: Version,
    /// The ABI.
    pub abi: Abi,
    /// The byte order.
    pub endian: Endian,
    /// The section's address; 0 in an object.
    pub address: u64,
    /// Whether this is a section of a relocatable object.
    pub object: bool,
    /// `SFRAME_F_FDE_SORTED`.
    pub sorted: bool,
    /// `SFRAME_F_FDE_FUNC_START_PCREL`.
    pub pcrel: bool,
    /// `SFRAME_F_FRAME_POINTER`.
    pub claim: bool,
    /// The auxiliary header.
    pub auxiliary: Vec<u8>,
    /// Bytes between the header and the function table.
    pub gap_before_functions: Vec<u8>,
    /// Bytes between the function table and the rows.
    pub gap_before_rows: Vec<u8>,
    /// Bytes after the last row that `sfh_fre_len` includes.
    pub unused_rows: Vec<u8>,
    /// Bytes after the rows.
    pub trailing: Vec<u8>,
    /// The functions, ordered by address and without overlaps.
    pub functions: Vec<FunctionPlan>,
    /// Whether rows may have unusual frames.
    pub odd_frames: bool,
}

impl Plan {
    /// The plan that `entropy` encodes. Any bytes are valid.
    #[must_use]
    pub fn new(entropy: &[u8], configuration: &Configuration) -> Plan {
        let (head, rest) = entropy.split_at(entropy.len().min(HEADER_BLOCK));
        let (mut plan, features, mut end) =
            header(&mut Unstructured::new(head), configuration).expect("never runs out");
        for block in rest.chunks(FUNCTION_BLOCK).take(MAX_FUNCTIONS) {
            let Some(function) = functions::plan(block, &plan, features, end) else { break };
            end = function.start + u64::from(function.size);
            plan.functions.push(function);
        }
        plan
    }

    /// The section's flags.
    #[must_use]
    pub fn flags(&self) -> u8 {
        let bits = [
            (self.sorted, Flags::SORTED),
            (self.pcrel, Flags::PCREL),
            (self.claim, Flags::FRAME_POINTER),
        ];
        bits.iter().filter(|(set, _)| *set).fold(0, |flags, (_, bit)| flags | bit)
    }

    /// The builder of the section.
    #[must_use]
    pub fn builder(&self) -> SectionBuilder {
        let mut builder = SectionBuilder::new(self.version, self.abi);
        builder.address(self.address).endian(self.endian).with(|fields| {
            fields.header.flags = self.flags();
            fields.auxiliary = self.auxiliary.clone();
            fields.gap_before_functions = self.gap_before_functions.clone();
            fields.gap_before_rows = self.gap_before_rows.clone();
            fields.unused_rows = self.unused_rows.clone();
            fields.trailing = self.trailing.clone();
        });
        if self.object {
            builder.relocatable();
        }
        for position in self.stored_order() {
            builder.function(self.functions[position].builder());
        }
        builder
    }

    /// The functions' positions in the order of the table.
    #[must_use]
    pub fn stored_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.functions.len()).collect();
        if !self.sorted {
            // Any order other than the sorted one will do.
            let middle = order.len() / 2;
            order.rotate_left(middle);
        }
        order
    }

    /// The section.
    ///
    /// # Errors
    /// There are none for a plan from [`Plan::new`], whose content can always be written.
    pub fn build(&self) -> Result<Built, BuildError> {
        self.builder().build()
    }

    /// The relocations of an object's start fields.
    #[must_use]
    pub fn relocations(&self, built: &Built) -> Vec<StartRelocation> {
        let target =
            |position: &usize| CodeAddress { section: 1, address: self.functions[*position].start };
        let order = self.stored_order();
        let targets = order.iter().map(target);
        let relocation =
            |(field_offset, target)| StartRelocation { field_offset, target: Some(target) };
        built.start_fields.iter().copied().zip(targets).map(relocation).collect()
    }

    /// Where the section is, with the relocations from [`Plan::relocations`].
    #[must_use]
    pub fn placement<'a>(&self, relocations: &'a [StartRelocation]) -> Placement<'a> {
        let placement = match self.object {
            true => Placement::relocated(relocations),
            false => Placement::at(self.address),
        };
        placement.with_endian(Some(self.endian))
    }

    /// The range of code from the start of the first function to the end of the last.
    #[must_use]
    pub fn code(&self) -> (u64, u64) {
        let start = self.functions.first().map_or(self.address + 0x1000, |first| first.start);
        let end = self.functions.last().map_or(start, |last| last.start + u64::from(last.size));
        (start, end)
    }
}

/// The result of the first block: the plan without functions, and the place where they may start.
fn header(
    input: &mut Unstructured<'_>,
    configuration: &Configuration,
) -> Result<(Plan, Features, u64)> {
    let version = *input.choose(configuration.versions)?;
    let abi = match *input.choose(configuration.abis)? {
        Abi::S390x if version == Version::V1 => Abi::Amd64,
        abi => abi,
    };
    let features = Features { bits: input.arbitrary()?, warned: configuration.warned };
    let object = input.ratio(1, 8)? && configuration.objects;
    let other_endian = input.ratio(1, 4)? && configuration.any_endian;
    let endian = match (abi.endian(), other_endian) {
        (Endian::Little, false) | (Endian::Big, true) => Endian::Little,
        (Endian::Big, false) | (Endian::Little, true) => Endian::Big,
    };
    let address = match input.int_in_range(0..=3)? {
        _ if object => 0,
        0 => 0x4000,
        1 => 0,
        2 => 0x7fff_f7a0_0000 + u64::from(input.arbitrary::<u16>()?) * 8,
        _ => 0xffff_ffff_8000_0000,
    };
    let code = match object {
        true => 0,
        false => code_start(input, version, address)?,
    };
    let mut space = |most: usize| -> Result<Vec<u8>> {
        let length = input.int_in_range(0..=2 * most)?.saturating_sub(most);
        let filler = if input.arbitrary()? { 0xff } else { 0 };
        Ok(vec![filler; if features.has(Features::SPACE) { length } else { 0 }])
    };
    let plan = Plan {
        version,
        abi,
        endian,
        address,
        object,
        // A linker's table is sorted. The table of an object, or of appended objects, is not.
        sorted: !(object || configuration.objects && features.has(Features::UNSORTED)),
        pcrel: match version {
            Version::V1 => false,
            Version::V2 => !features.has(Features::SECTION_RELATIVE),
            Version::V3 => true,
        },
        claim: version < Version::V3 && features.has(Features::CLAIM),
        auxiliary: space(12)?,
        gap_before_functions: space(6)?,
        gap_before_rows: space(6)?,
        unused_rows: space(4)?,
        trailing: space(9)?,
        functions: Vec::new(),
        odd_frames: features.warned,
    };
    Ok((plan, features, code))
}

/// The place where the first function of a linked file may start: near the section or far from it.
fn code_start(input: &mut Unstructured<'_>, version: Version, address: u64) -> Result<u64> {
    let distance = u64::from(input.arbitrary::<u16>()?) << 4;
    Ok(match input.int_in_range(0..=3)? {
        0 => address + 0x1_0000 + distance,
        1 => address.saturating_sub(0x400_0000),
        // This is out of reach for 32 bits.
        2 if version == Version::V3 && address < 1 << 63 => address + (distance << 20),
        2 => address + 0x3000_0000 + distance,
        _ => address + 0x1000,
    })
}

/// The widest of several FRE types, by number.
fn fre_type(number: u8) -> FreType {
    match number % 4 {
        0 | 1 => FreType::Addr1,
        2 => FreType::Addr2,
        _ => FreType::Addr4,
    }
}
