//! The command line of bare sections: bytes without an ELF file around them.

use clap::{Args, ValueEnum};
use sframe_validator::{Abi, Endian};

use sframe_input::RawOptions;

/// Bytes without an ELF file around them.
#[derive(Debug, Args)]
pub(in crate::cli) struct RawArgs {
    /// Each file is one bare section
    #[arg(long, help_heading = "Bare sections", hide_short_help = true)]
    raw: bool,
    /// The section's address
    #[arg(long, requires = "raw", value_name = "ADDRESS", value_parser = number, default_value = "0", help_heading = "Bare sections", hide_short_help = true)]
    address: u64,
    /// The section is from a linked file: apply the rules of linked files
    #[arg(long, requires = "raw", help_heading = "Bare sections", hide_short_help = true)]
    linked: bool,
    /// Override the machine that the header names
    #[arg(
        long,
        requires = "raw",
        value_enum,
        help_heading = "Bare sections",
        hide_short_help = true
    )]
    machine: Option<Machine>,
    /// Override the byte order that the magic number shows
    #[arg(
        long,
        requires = "raw",
        value_name = "ORDER",
        value_enum,
        help_heading = "Bare sections",
        hide_short_help = true
    )]
    endian: Option<ByteOrder>,
}

impl RawArgs {
    /// How to read bare sections; `None` if the files are not bare sections.
    pub(in crate::cli) fn options(&self) -> Option<RawOptions> {
        self.raw.then(|| RawOptions {
            address: self.address,
            linked: self.linked,
            abi: self.machine.map(|machine| match machine {
                Machine::Amd64 => Abi::Amd64,
                Machine::Aarch64 => Abi::Aarch64Little,
                Machine::Aarch64Be => Abi::Aarch64Big,
                Machine::S390x => Abi::S390x,
            }),
            endian: self.endian.map(|order| match order {
                ByteOrder::Little => Endian::Little,
                ByteOrder::Big => Endian::Big,
            }),
        })
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Machine {
    #[value(alias = "x86-64", alias = "x86_64")]
    Amd64,
    Aarch64,
    Aarch64Be,
    S390x,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ByteOrder {
    Little,
    Big,
}

/// Decimal, or hexadecimal after `0x`.
pub(in crate::cli) fn number(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|error| format!("{error}; write 4096 or 0x1000"))
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_are_decimal_or_hexadecimal() {
        assert_eq!(number("0x7f00"), Ok(0x7f00));
        assert_eq!(number("12"), Ok(12));
        assert!(number("0x").is_err());
        assert!(number("-1").is_err());
    }
}
