//! What a scan checks, what of it is reported, and what it may take.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sframe_validator::check::Options;
use sframe_validator::finding::Report;
use sframe_validator::rules::Rule;

use sframe_input::{DebugPackages, package::Limits};
use sframe_input::{MemberCount, RawOptions};

/// Bytes of memory for reports that wait, where nothing else is asked for.
const WAITING: usize = 16 << 20;
/// Bytes of memory for reports that may be wanted again, where nothing else is asked for.
const REMEMBERED: usize = 32 << 20;

/// What SFrame sections are compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Against {
    /// Call frame information, where a file has any.
    #[default]
    CfiIfAny,
    /// Call frame information; a file without any is undecided.
    Cfi,
    /// Nothing.
    None,
}

/// What to check, and what of it to report.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// The validator's options.
    pub validator: Options,
    /// Every file is one bare section.
    pub raw: Option<RawOptions>,
    /// Only findings of these rules; empty for all.
    pub only: Vec<&'static Rule>,
    /// No findings of these rules.
    pub ignore: Vec<&'static Rule>,
    /// What sections are compared with.
    pub against: Against,
    /// Tell the coverage of files without a section, too.
    pub coverage: bool,
    /// Name the functions that are examples of what files without a section could not describe. It
    /// takes reading the symbols of every file.
    pub named_examples: bool,
    /// Where separate debug files are looked for; nowhere, where this is empty.
    pub debug_dirs: Vec<PathBuf>,
    /// Packages of separate debug files.
    pub debug_packages: Option<Arc<DebugPackages>>,
    /// Ends the scan early once it is set: what has not been begun is not reported, a package as far as it
    /// has been read.
    pub stop: Option<Arc<AtomicBool>>,
    /// Hash every ELF file, for [`Record::content`](sframe_record::Record::content).
    pub hash: bool,
    /// Report every finding, not only those that are kept.
    pub all: bool,
    /// Tell what made each file.
    pub producers: bool,
    /// What unpacking may cost.
    pub limits: Limits,
    /// Bytes of memory for reports that wait for those of earlier inputs.
    pub waiting: usize,
    /// Bytes of memory for what is known of files whose bytes may come again.
    pub remembered: usize,
}

impl Default for CheckOptions {
    /// Everything that a plain scan does.
    fn default() -> CheckOptions {
        CheckOptions {
            validator: Options::default(),
            raw: None,
            only: Vec::new(),
            ignore: Vec::new(),
            against: Against::default(),
            coverage: false,
            named_examples: false,
            debug_dirs: Vec::new(),
            debug_packages: None,
            stop: None,
            hash: false,
            all: false,
            producers: false,
            limits: Limits::default(),
            waiting: WAITING,
            remembered: REMEMBERED,
        }
    }
}

impl CheckOptions {
    pub(super) fn wants(&self, rule: &'static Rule) -> bool {
        (self.only.is_empty() || self.only.contains(&rule)) && !self.ignore.contains(&rule)
    }

    /// Whether the scan is to end.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// A count of the members of one input.
    pub(super) fn member_count(&self) -> MemberCount {
        self.limits.member_count()
    }

    pub(super) fn select(&self, report: &mut Report) {
        report.findings.retain(|finding| self.wants(finding.rule));
        report.counts.retain(|(rule, _)| self.wants(rule));
    }
}
