//! The profiles, one file for each consumer.

mod glibc_2_43;
mod java_profiler;
mod libsframe_2_40;
mod libsframe_2_44;
mod libsframe_2_47;
mod linux_arm64_kernel;
mod linux_user_v2;
mod linux_user_v3;
mod llvm_23;
mod mold_3;

use std::fmt;

use crate::consumer::Consumer;
use crate::page::Page;

static PROFILES: [&dyn Consumer; 10] = [
    &glibc_2_43::Glibc,
    &linux_user_v2::LinuxUserV2,
    &linux_user_v3::LinuxUserV3,
    &linux_arm64_kernel::Arm64Kernel,
    &libsframe_2_40::Libsframe,
    &libsframe_2_44::Libsframe,
    &libsframe_2_47::Libsframe,
    &llvm_23::Llvm,
    &mold_3::Mold,
    &java_profiler::JavaProfiler,
];

/// All consumers, in the order of reports.
#[must_use]
pub fn profiles() -> &'static [&'static dyn Consumer] {
    &PROFILES
}

/// The consumers whose names match a pattern: a name, a name with `*` for any characters, or `all`. Names of other releases
/// with the same reader are names of their profile, too.
#[must_use]
pub fn named(pattern: &str) -> Vec<&'static dyn Consumer> {
    let is_named = |page: &Page| {
        pattern == "all" || matches(pattern, page.name) || page.also.contains(&pattern)
    };
    profiles().iter().copied().filter(|consumer| is_named(consumer.page())).collect()
}

/// No consumer has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownConsumer(pub String);

impl std::error::Error for UnknownConsumer {}

impl fmt::Display for UnknownConsumer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_str() {
            "" => f.write_str("the name of a consumer is missing")?,
            name => write!(f, "{name}: no such consumer")?,
        }
        let pages = || profiles().iter().map(|consumer| consumer.page());
        let names: Vec<&str> = pages().map(|page| page.name).collect();
        let others: Vec<&str> = pages().flat_map(|page| page.also).copied().collect();
        write!(f, "; known are all, {}", names.join(", "))?;
        write!(f, "; with the reader of one of these: {}", others.join(", "))
    }
}

/// The consumers in a list of patterns separated by commas, each once, in the order of reports.
///
/// # Errors
/// A pattern matches no consumer.
pub fn select(list: &str) -> Result<Vec<&'static dyn Consumer>, UnknownConsumer> {
    let mut names = Vec::new();
    for pattern in list.split(',').map(str::trim) {
        let found = named(pattern);
        if found.is_empty() {
            return Err(UnknownConsumer(pattern.to_owned()));
        }
        names.extend(found.iter().map(|consumer| consumer.page().name));
    }
    let is_wanted = |consumer: &&dyn Consumer| names.contains(&consumer.page().name);
    Ok(profiles().iter().copied().filter(is_wanted).collect())
}

/// The names in such a list that are those of other releases, and the names of the profiles that answer for them.
#[must_use]
pub fn other_releases(list: &str) -> Vec<(&'static str, &'static Page)> {
    let of = |asked: &str| {
        let pages = profiles().iter().map(|consumer| consumer.page());
        let also = pages.flat_map(|page| page.also.iter().map(move |name| (*name, page)));
        also.filter(|(name, _)| *name == asked).collect::<Vec<_>>()
    };
    list.split(',').map(str::trim).flat_map(of).collect()
}

/// Whether a name matches a pattern in which `*` stands for any characters.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    if !pattern.contains('*') {
        return rest.is_empty();
    }
    let mut last = "";
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
        last = part;
    }
    last.is_empty() || name.ends_with(last)
}
