//! The command line of `repo`.

use std::ffi::OsString;

use clap::{Args, ValueHint};

use super::policy::{GateArgs, PolicyArgs};
use super::{OutputArgs, ResourceArgs, WhatArgs};

pub(in crate::cli) const HELP: &str = "\
A repository is a folder or an address with an index of packages:
  Debian   Packages (a flat one, as dpkg-scanpackages makes it), or
           dists/SUITE/COMPONENT/binary-MACHINE/Packages; either may be compressed
  rpm-md   repodata/repomd.xml, as in Fedora and openSUSE
  Alpine   APKINDEX.tar.gz, also in the folder of a machine
  Arch     NAME.db, which may be named itself: https://arch.example.org/core/os/x86_64/core.db
Each package is read once, as a stream, and must have the size and checksum in its index. Signatures \
are not checked. http: and https: addresses need a program that was built with the feature http.

Examples:
  The libraries of a local mirror:
      sframe-check repo --suite trixie --section '*libs' /srv/mirror/debian
  The packages that a build made:
      dpkg-scanpackages . > Packages && sframe-check repo .
      createrepo_c . && sframe-check repo .
  Keep the results of a mirror's packages for amd64:
      sframe-check repo --list --architecture amd64 /srv/mirror/debian | sframe-check --store night --files-from -
  One source's packages on a server:
      sframe-check repo --suite sid --component main --architecture amd64 --name 'libssl*' \\
          https://debian.example.org/debian";

/// `repo`.
#[derive(Debug, Args)]
pub(in crate::cli) struct RepoArgs {
    /// A folder, a database of pacman, or a file:, http: or https: URL
    #[arg(value_name = "PATH-or-URL", value_hint = ValueHint::DirPath)]
    pub(in crate::cli) repository: OsString,

    /// Only packages whose name matches, such as 'lib*'
    #[arg(long, value_name = "GLOB", help_heading = "Which packages")]
    pub(in crate::cli) name: Vec<String>,
    /// Only packages whose section matches, such as libs or '*/libs'; with rpm-md and Arch, whose group
    /// matches
    #[arg(long, value_name = "GLOB", help_heading = "Which packages")]
    pub(in crate::cli) section: Vec<String>,
    /// Only packages of this size or more: in bytes, or followed by K, M or G (1024, 1024², 1024³)
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "0", help_heading = "Which packages")]
    pub(in crate::cli) min_size: u64,
    /// Only packages of this size or less
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = "Which packages")]
    pub(in crate::cli) max_size: Option<u64>,
    /// Only packages for this machine, such as amd64 or x86_64, or for all; separate several by commas
    #[arg(long, value_name = "MACHINE", value_delimiter = ',', help_heading = "Which packages")]
    pub(in crate::cli) architecture: Vec<String>,
    /// Only this suite of a Debian repository, such as trixie; without this option, all suites of a
    /// folder
    #[arg(long, value_delimiter = ',', help_heading = "Which packages")]
    pub(in crate::cli) suite: Vec<String>,
    /// Only this component of a Debian repository, such as main
    #[arg(long, value_delimiter = ',', help_heading = "Which packages")]
    pub(in crate::cli) component: Vec<String>,

    #[command(flatten)]
    pub(in crate::cli) what: WhatArgs,
    #[command(flatten)]
    pub(in crate::cli) output: OutputArgs,
    #[command(flatten)]
    pub(in crate::cli) policy: PolicyArgs,
    #[command(flatten)]
    pub(in crate::cli) gates: GateArgs,

    /// Check nothing: print the packages' paths, each followed by a NUL character, for a scan to read
    /// from standard input
    #[arg(long, conflicts_with_all = ["format", "coverage", "verbose"], help_heading = "Output")]
    pub(in crate::cli) list: bool,
    #[command(flatten)]
    pub(in crate::cli) resources: ResourceArgs,
}

/// Parses a number of bytes, which may be followed by `K`, `M` or `G`.
pub(in crate::cli) fn size(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'K' | b'k') => (text.get(..text.len() - 1), 10),
        Some(b'M' | b'm') => (text.get(..text.len() - 1), 20),
        Some(b'G' | b'g') => (text.get(..text.len() - 1), 30),
        _ => (Some(text), 0),
    };
    let number = digits.and_then(|digits| digits.parse::<u64>().ok());
    let bytes = number.and_then(|number| number.checked_mul(1 << shift));
    bytes.ok_or_else(|| "write 4096, 500K, 10M or 2G".to_owned())
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("4096"), Ok(4096));
        assert_eq!(size("3K"), Ok(3072));
        assert_eq!(size("2g"), Ok(2_147_483_648));
        for wrong in ["", "K", "-1", "1.5M", "99999999999G"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
