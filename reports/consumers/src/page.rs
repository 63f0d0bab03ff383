//! What is known about a consumer, for people: rules, faults by version, and what a producer can do.

use sframe_validator::Abi;

/// A consumer's description.
#[derive(Debug)]
pub struct Page {
    /// The name, as in `linux-user-v3`.
    pub name: &'static str,
    /// The names of other releases with the same reader, for which the profile answers.
    pub also: &'static [&'static str],
    /// What it is, in a few words.
    pub title: &'static str,
    /// The releases or snapshots that behave like this.
    pub versions: &'static str,
    /// The files that were read, with their release or commit.
    pub source: &'static str,
    /// The versions of the format that it reads.
    pub reads: &'static [u8],
    /// The machines for which it exists.
    pub machines: &'static [Abi],
    /// What it does at a PC without a row.
    pub without_row: &'static str,
    /// Whether it looks up the byte before a return address; `None` if it does not walk stacks.
    pub subtracts_one: Option<bool>,
    /// Whether an error in a function or a row is reported. Others go on as without a row.
    pub reports_errors: bool,
    /// Its rules.
    pub statements: &'static [Statement],
    /// Its known faults.
    pub faults: &'static [Fault],
    /// What a producer can do so that this consumer reads the section.
    pub producers: &'static [&'static str],
}

/// What a statement is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// Versions and flags.
    Versions,
    /// Tests of other header fields.
    Header,
    /// Tests that reads stay inside the section.
    Bounds,
    /// The order of functions and rows.
    Order,
    /// Finding the function and the row.
    Lookup,
    /// Decoding a row.
    Decoding,
    /// Limits on the CFA and FP.
    Limits,
    /// The end of the stack.
    EndOfStack,
    /// Whether one is subtracted from return addresses.
    ReturnAddress,
}

impl Subject {
    /// The heading.
    #[must_use]
    pub const fn heading(self) -> &'static str {
        match self {
            Subject::Versions => "versions and flags",
            Subject::Header => "header",
            Subject::Bounds => "bounds",
            Subject::Order => "order",
            Subject::Lookup => "lookup",
            Subject::Decoding => "decoding",
            Subject::Limits => "limits on CFA and FP",
            Subject::EndOfStack => "end of the stack",
            Subject::ReturnAddress => "return addresses",
        }
    }
}

/// How a statement is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The consumer's code was run, and the profile agrees with it.
    Proved,
    /// The consumer's source was read.
    ByReading,
}

impl Basis {
    /// The mark.
    #[must_use]
    pub const fn mark(self) -> &'static str {
        match self {
            Basis::Proved => "proved",
            Basis::ByReading => "by reading",
        }
    }
}

/// A rule of a consumer.
#[derive(Clone, Copy, Debug)]
pub struct Statement {
    /// What it is about.
    pub subject: Subject,
    /// How it is known.
    pub basis: Basis,
    /// The rule.
    pub text: &'static str,
}

impl Statement {
    pub(crate) const fn proved(subject: Subject, text: &'static str) -> Statement {
        Statement { subject, basis: Basis::Proved, text }
    }

    pub(crate) const fn by_reading(subject: Subject, text: &'static str) -> Statement {
        Statement { subject, basis: Basis::ByReading, text }
    }
}

/// A known fault of a consumer.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// The releases or snapshots that have it.
    pub versions: &'static str,
    /// How it is known.
    pub basis: Basis,
    /// The fault and its consequence.
    pub text: &'static str,
}

impl Fault {
    pub(crate) const fn proved(versions: &'static str, text: &'static str) -> Fault {
        Fault { versions, basis: Basis::Proved, text }
    }

    pub(crate) const fn by_reading(versions: &'static str, text: &'static str) -> Fault {
        Fault { versions, basis: Basis::ByReading, text }
    }
}
