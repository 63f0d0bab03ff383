//! The options of a scan: what it checks and reports, and its limits.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sframe_oracle::rules::{
    SECTION_MISSING, SFRAME_CONTRADICTS_CODE, USELESS_SECTION, WRONG_FRAME_AFTER_CALL,
};
use sframe_validator::check::Options;
use sframe_validator::finding::Report;
use sframe_validator::rules::{Group, Rule, Severity};

use sframe_consumers::Consumer;
use sframe_input::{DebugPackages, Debuginfod, package::Limits};
use sframe_input::{MemberCount, RawOptions};
use sframe_record::catalogue;
use sframe_synthesis::Encoding;

/// The default number of bytes for records that wait for earlier ones.
const WAITING: usize = 16 << 20;
/// The default number of bytes for records that may be needed again.
const REMEMBERED: usize = 32 << 20;

/// The tables that SFrame sections are compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Against {
    /// Call frame information, if a file has any, or else the Linux kernel's ORC tables.
    #[default]
    Any,
    /// Call frame information; a file without it is undecided.
    Cfi,
    /// ORC tables; a file without them is undecided.
    Orc,
    /// Machine code.
    Code,
    /// Nothing.
    None,
}

/// The options of a scan.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// The validator's options.
    pub validator: Options,
    /// If set, every file is a bare section with these properties.
    pub raw: Option<RawOptions>,
    /// Report only findings of these rules; an empty list selects all rules.
    pub only: Vec<&'static Rule>,
    /// Do not report findings of these rules.
    pub ignore: Vec<&'static Rule>,
    /// The tables that sections are compared with.
    pub against: Against,
    /// Compare sections and CFI with machine code as well, in every file.
    pub thorough: bool,
    /// Add proofs to the findings that the machine code decides.
    pub why: bool,
    /// Take the code of all files for built without a red zone.
    pub no_red_zone: bool,
    /// Take the directives for right where a row is the one that an assembler makes of them, even if the code refutes them.
    pub by_directives: bool,
    /// Look up return addresses as well, in every file.
    pub call_sites: bool,
    /// Report the coverage of files without a section too.
    pub coverage: bool,
    /// Name the example functions in the coverage of files without a section. This requires reading the symbols of every
    /// file.
    pub named_examples: bool,
    /// The folders that are searched for separate debug files.
    pub debug_dirs: Vec<PathBuf>,
    /// Packages of separate debug files.
    pub debug_packages: Option<Arc<DebugPackages>>,
    /// Servers that are asked for debug files that are in no folder and no package.
    pub debuginfod: Option<Arc<Debuginfod>>,
    /// The encodings for which a forecast is made.
    pub forecast: Vec<Encoding>,
    /// Whether forecasts are for links with `--gc-sections`.
    pub gc_sections: bool,
    /// The consumers whose readings of each file are reported.
    pub consumers: Vec<&'static dyn Consumer>,
    /// Report files that have code and no SFrame section.
    pub require_section: bool,
    /// Ends the scan once it is set. Inputs that were not begun are not reported; a package is reported up to the point
    /// that was reached.
    pub stop: Option<Arc<AtomicBool>>,
    /// Hash every ELF file, for [`Record::content`](sframe_record::Record::content).
    pub hash: bool,
    /// Report the producers of each file, also of those without findings.
    pub producers: bool,
    /// The limits of unpacking.
    pub limits: Limits,
    /// The number of bytes for records that wait for those of earlier inputs.
    pub waiting: usize,
    /// The number of bytes for records of files whose bytes may occur again.
    pub remembered: usize,
}

impl Default for CheckOptions {
    /// The options of a scan without any on the command line.
    fn default() -> CheckOptions {
        CheckOptions {
            validator: Options::default(),
            raw: None,
            only: Vec::new(),
            ignore: Vec::new(),
            against: Against::default(),
            thorough: false,
            why: false,
            no_red_zone: false,
            by_directives: false,
            call_sites: false,
            coverage: false,
            named_examples: false,
            debug_dirs: Vec::new(),
            debug_packages: None,
            debuginfod: None,
            forecast: Vec::new(),
            gc_sections: false,
            consumers: Vec::new(),
            require_section: false,
            stop: None,
            hash: false,
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

    /// Whether findings of a rule are needed: they are wanted, or they decide whether a section is useless.
    pub(super) fn looks_for(&self, rule: &'static Rule) -> bool {
        self.wants(rule) || self.checks(USELESS_SECTION)
    }

    /// Whether a file's debug file may be beside it, so that its path matters.
    pub(super) fn looks_beside_files(&self) -> bool {
        !self.debug_dirs.is_empty() || self.debuginfod.is_some()
    }

    /// Whether SFrame is compared with CFI or ORC.
    pub(super) const fn compares_with_tables(&self) -> bool {
        !matches!(self.against, Against::None | Against::Code)
    }

    /// The names of the rules that a scan with these options does not check.
    pub(super) fn unchecked(&self) -> BTreeSet<&'static str> {
        let unchecked = catalogue::all().filter(|rule| !self.checks(rule));
        unchecked.map(|rule| rule.name).collect()
    }

    pub(super) fn checks(&self, rule: &'static Rule) -> bool {
        let with = self.against;
        let is_possible = match rule.group {
            _ if rule == SECTION_MISSING => self.require_section,
            _ if rule == WRONG_FRAME_AFTER_CALL => self.call_sites,
            _ if rule == SFRAME_CONTRADICTS_CODE => self.thorough || with == Against::Code,
            Group::Code => self.thorough,
            Group::Comparison => self.compares_with_tables(),
            Group::Cfi => with != Against::None,
            _ => rule.severity > Severity::Lint || self.validator.pedantic,
        };
        is_possible && self.wants(rule)
    }

    /// Whether the scan must end.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// A count of the members of one input.
    pub(super) fn member_count(&self) -> MemberCount {
        self.limits.member_count()
    }

    /// Removes what nobody asked for and no other finding needs.
    pub(super) fn select(&self, report: &mut Report) {
        report.findings.retain(|finding| self.looks_for(finding.rule));
        report.counts.retain(|(rule, _)| self.looks_for(rule));
    }

    /// Whether the rule with this name is wanted.
    pub(super) fn wants_name(&self, rule: &str) -> bool {
        catalogue::find(rule).is_none_or(|rule| self.wants(rule))
    }
}
