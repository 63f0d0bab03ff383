//! The releases whose sections are predicted.

use sframe_validator::{Abi, Version};

/// A release of GNU binutils, one for each version of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Release {
    /// 2.40, which writes version 1.
    V2_40,
    /// 2.44, which writes version 2 with start fields relative to the section.
    V2_44,
    /// 2.47.50, which writes version 3.
    V2_47_50,
}

impl Release {
    /// Every release, oldest first.
    pub const ALL: [Release; 3] = [Release::V2_40, Release::V2_44, Release::V2_47_50];

    /// The format's version that it writes.
    #[must_use]
    pub const fn version(self) -> Version {
        match self {
            Release::V2_40 => Version::V1,
            Release::V2_44 => Version::V2,
            Release::V2_47_50 => Version::V3,
        }
    }

    /// Its number: `2.40`, `2.44` or `2.47.50`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Release::V2_40 => "2.40",
            Release::V2_44 => "2.44",
            Release::V2_47_50 => "2.47.50",
        }
    }

    /// Whether it writes SFrame for the machine.
    #[must_use]
    pub const fn supports(self, abi: Abi) -> bool {
        !matches!((self, abi), (Release::V2_40 | Release::V2_44, Abi::S390x))
    }
}
