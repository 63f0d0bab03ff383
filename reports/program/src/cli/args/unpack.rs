//! The options that limit the unpacking of packages.

use std::ffi::OsString;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueHint};
use sframe_input::package::{Limits, Remedies};

use super::named;

/// What unpacking may cost.
#[derive(Debug, Args)]
pub(in crate::cli) struct LimitArgs {
    /// The largest ELF file to unpack; it is held in memory
    #[arg(long, value_name = "MIB", default_value_t = Limits::default().member_size >> 20, help_heading = "Packages", hide_short_help = true)]
    max_member_size: u64,
    /// How much to unpack from one package
    #[arg(long, value_name = "MIB", default_value_t = Limits::default().unpacked_size >> 20, help_heading = "Packages", hide_short_help = true)]
    max_unpacked_size: u64,
    /// How much to unpack from one package, as a multiple of its size; the first 256 MiB are free
    #[arg(long, value_name = "N", default_value_t = Limits::default().ratio, help_heading = "Packages", hide_short_help = true)]
    max_ratio: u64,
    /// How many containers and compressions to unpack inside each other; 0 to unpack nothing
    #[arg(long, value_name = "N", default_value_t = Limits::default().depth, value_parser = clap::value_parser!(u32).range(..=64), help_heading = "Packages", hide_short_help = true)]
    max_depth: u32,
}

/// How packages are unpacked.
#[derive(Debug, Args)]
pub(in crate::cli) struct UnpackArgs {
    #[command(flatten)]
    pub(in crate::cli) limits: LimitArgs,
    /// Packages of separate debug files (-dbgsym, -debuginfo, -debug), or folders of such packages; the
    /// .debug_frame in them is matched by build-id
    #[arg(long, value_name = "PATH", value_parser = OsStringValueParser::new().try_map(named), value_hint = ValueHint::AnyPath, help_heading = "Packages", hide_short_help = true)]
    pub(in crate::cli) debug_packages: Vec<OsString>,
}

impl LimitArgs {
    /// The limits that these are.
    pub(in crate::cli) fn limits(&self) -> Limits {
        Limits {
            member_size: self.max_member_size.saturating_mul(1 << 20),
            unpacked_size: self.max_unpacked_size.saturating_mul(1 << 20),
            ratio: self.max_ratio,
            depth: self.max_depth,
            remedies: Remedies {
                member_size: "--max-member-size",
                held: "--memory-limit",
                unpacked_size: "--max-unpacked-size",
                ratio: "--max-ratio",
                depth: "--max-depth",
            },
            ..Limits::default()
        }
    }
}
