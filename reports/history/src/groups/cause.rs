//! The common properties of findings with one cause, and what is reported about them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::instructions;
use super::{Example, MOST, RootCause};
use crate::changes::FileName;
use crate::shape;
use sframe_record::{Difference, Finding, Owner, Record, Severity, UnwindTable, Wrong};

/// The number of examples kept for a cause.
const EXAMPLES: usize = 3;

/// The name of the rules beyond the maximum number of causes, taken together.
const OTHERS: &str = "other rules";

/// The common properties of findings with one cause.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) rule: String,
    pub(super) severity: Severity,
    /// Shared by the causes of a file.
    producers: Arc<[String]>,
    shape: String,
    instructions: Vec<String>,
    known: Option<String>,
    wrong: Option<Wrong>,
    owner: Owner,
    compiler: Option<String>,
    unlisted: bool,
}

/// The findings with one cause.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) findings: u64,
    functions: u64,
    files: u64,
    packages: HashSet<String>,
    /// The first few by name and place, sorted.
    examples: Vec<Example>,
}

impl Findings {
    /// Adds other findings with the same cause.
    pub(super) fn add(&mut self, other: Findings) {
        self.findings = self.findings.saturating_add(other.findings);
        self.functions = self.functions.saturating_add(other.functions);
        self.files = self.files.saturating_add(other.files);
        self.packages.extend(other.packages);
        for example in other.examples {
            self.keep(example);
        }
    }

    fn keep(&mut self, example: Example) {
        if let Err(place) = self.examples.binary_search(&example)
            && place < EXAMPLES
        {
            self.examples.insert(place, example);
            self.examples.truncate(EXAMPLES);
        }
    }

    pub(super) fn into_cause(self, key: Key) -> RootCause {
        RootCause {
            rule: key.rule,
            severity: key.severity,
            producers: key.producers.to_vec(),
            shape: key.shape,
            instructions: key.instructions,
            known: key.known,
            wrong: key.wrong,
            owner: key.owner,
            compiler: key.compiler,
            unlisted: key.unlisted,
            findings: self.findings,
            functions: self.functions,
            files: self.files,
            packages: self.packages.len() as u64,
            examples: self.examples,
        }
    }
}

impl Key {
    /// The cause shared by all findings of the severity beyond the maximum number of causes.
    pub(super) fn without_rule(self) -> Key {
        let key = self.without_shape();
        let (rule, owner) = (OTHERS.to_owned(), Owner::Unknown);
        Key { rule, known: None, wrong: None, owner, compiler: None, ..key }
    }

    /// The cause shared by all findings of the rule that are only counted.
    pub(super) fn without_shape(self) -> Key {
        let (producers, shape, instructions) = (Arc::default(), String::new(), Vec::new());
        Key { producers, shape, instructions, unlisted: true, ..self }
    }
}

/// The findings of one file by cause.
#[derive(Debug)]
pub(super) struct FileCauses {
    file: Arc<FileName>,
    producers: Arc<[String]>,
    causes: HashMap<Key, (Findings, HashSet<u64>)>,
    /// The findings by rule and known defect.
    listed: HashMap<(String, Option<String>), u64>,
}

impl FileCauses {
    pub(super) fn of(head: &Record<'_>) -> FileCauses {
        let (file, producers) = (FileName::of(head).into(), producers(head).into());
        FileCauses { file, producers, causes: HashMap::new(), listed: HashMap::new() }
    }

    pub(super) fn add(&mut self, head: &Record<'_>, finding: &Finding<'_>) {
        let similar = finding.difference.as_deref().map_or(0, Difference::elsewhere);
        // Others of the pattern of a trait's case may be no cases. Those that are counted are added at the end.
        let (weight, similar) = match is_trait(finding) {
            true => (finding.weight().min(1), 0),
            false => (finding.weight(), similar),
        };
        let rule = (finding.rule.to_string(), finding.known.as_ref().map(ToString::to_string));
        let of_rule = self.listed.entry(rule).or_default();
        *of_rule = of_rule.saturating_add(weight);
        let key = key(finding, &self.producers, head.table);
        let is_known = self.causes.len() < MOST || self.causes.contains_key(&key);
        let key = if is_known { key } else { key.without_shape() };
        let (findings, functions) = self.causes.entry(key).or_default();
        functions.extend(function(finding));
        findings.findings = findings.findings.saturating_add(weight);
        findings.functions = findings.functions.saturating_add(similar);
        findings.keep(example(finding, &self.file, head.table));
    }

    /// The causes, with those of findings that `record` counts and that were not added.
    pub(super) fn finish(self, record: &Record<'_>) -> HashMap<Key, Findings> {
        let FileCauses { file, producers, causes, listed } = self;
        let with_functions = |(key, (mut findings, functions)): (Key, (Findings, HashSet<u64>))| {
            findings.functions = findings.functions.saturating_add(functions.len() as u64);
            (key, findings)
        };
        let mut causes: HashMap<Key, Findings> = causes.into_iter().map(with_functions).collect();
        for count in &record.counts {
            let of_rule = (count.rule.to_string(), count.known.as_ref().map(ToString::to_string));
            let of_rule = listed.get(&of_rule).copied().unwrap_or(0);
            let unlisted = count.count.saturating_sub(of_rule);
            if unlisted == 0 {
                continue;
            }
            let key = Key {
                rule: count.rule.as_str().to_owned(),
                severity: count.severity,
                producers: Arc::clone(&producers),
                shape: String::new(),
                instructions: Vec::new(),
                known: count.known.as_deref().map(str::to_owned),
                wrong: None,
                owner: Owner::Unknown,
                compiler: None,
                unlisted: true,
            };
            let of_trait = causes.keys().find(|of| {
                of.owner == Owner::Compiler
                    && of.known.is_some()
                    && (&of.rule, &of.known) == (&key.rule, &key.known)
            });
            if let Some(of_trait) = of_trait.cloned() {
                let findings = causes.entry(of_trait).or_default();
                findings.findings = findings.findings.saturating_add(unlisted);
                // Each is in a function of its own.
                findings.functions = findings.functions.saturating_add(unlisted);
                continue;
            }
            let is_known = causes.len() < MOST || causes.contains_key(&key);
            let key = if is_known { key } else { key.without_rule() };
            let findings = causes.entry(key).or_default();
            findings.findings = findings.findings.saturating_add(unlisted);
            findings.keep(Example {
                file: Arc::clone(&file),
                symbol: None,
                symbol_hex: None,
                address: None,
                message: String::new(),
                ruling: None,
            });
        }
        let package = package(record);
        for findings in causes.values_mut() {
            findings.files = 1;
            findings.packages.extend(package.clone());
        }
        causes
    }
}

fn key(finding: &Finding<'_>, producers: &Arc<[String]>, table: Option<UnwindTable>) -> Key {
    let difference = finding.difference.as_ref();
    let code = difference.map(|difference| difference.instructions.as_slice());
    let ruling = difference.and_then(|difference| difference.ruling.as_ref());
    if is_trait(finding) {
        return Key {
            rule: finding.rule.as_str().to_owned(),
            severity: finding.severity,
            producers: Arc::clone(producers),
            shape: String::new(),
            instructions: Vec::new(),
            known: finding.known.as_deref().map(str::to_owned),
            wrong: ruling.map(|ruling| ruling.wrong),
            owner: finding.owner,
            compiler: compiler(finding),
            unlisted: false,
        };
    }
    Key {
        rule: finding.rule.as_str().to_owned(),
        severity: finding.severity,
        producers: Arc::clone(producers),
        shape: shape::beside(finding, UnwindTable::noun_of(table)),
        instructions: instructions::pattern(code.unwrap_or_default()),
        known: finding.known.as_deref().map(str::to_owned),
        wrong: ruling.map(|ruling| ruling.wrong),
        owner: finding.owner,
        compiler: compiler(finding),
        unlisted: false,
    }
}

/// Whether a finding is a case of a compiler's trait, which is one cause, whatever the frames of the functions are.
fn is_trait(finding: &Finding<'_>) -> bool {
    finding.known.is_some() && finding.owner == Owner::Compiler
}

/// The compiler that has to act.
fn compiler(finding: &Finding<'_>) -> Option<String> {
    let origin = finding.origin.as_ref().filter(|_| finding.owner == Owner::Compiler);
    origin.and_then(|origin| origin.compiler())
}

/// A number that identifies the function that a finding is about.
fn function(finding: &Finding<'_>) -> Option<u64> {
    let index = finding.function.as_ref().map(|function| u64::from(function.index));
    index.or_else(|| finding.code.as_ref().map(|code| code.start.0))
}

/// The assemblers, since they create the rows; if none are known, the compilers; otherwise all producers.
fn producers(record: &Record<'_>) -> Vec<String> {
    let of_kind = |kind: Option<&str>| -> Vec<String> {
        let selected = record.producers.iter().filter(|p| kind.is_none_or(|kind| *p.kind == *kind));
        let mut names: Vec<String> = selected
            .map(|producer| match &producer.version {
                Some(version) => format!("{} {version}", producer.name),
                None => producer.name.as_str().to_owned(),
            })
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    let kinds = [Some("assembler"), Some("compiler"), None];
    kinds.into_iter().map(of_kind).find(|names| !names.is_empty()).unwrap_or_default()
}

/// The package: its name, or the path of its file.
fn package(record: &Record<'_>) -> Option<String> {
    let own = record.package.as_ref().map(|package| package.name.as_str().to_owned());
    own.or_else(|| record.inside.as_ref().map(|_| record.path.as_str().to_owned()))
}

fn example(finding: &Finding<'_>, file: &Arc<FileName>, table: Option<UnwindTable>) -> Example {
    let function = finding.function.as_ref();
    let code = finding.code.as_ref();
    let symbol = function.and_then(|f| f.symbol.as_ref()).or(code.and_then(|c| c.symbol.as_ref()));
    let hex = function.and_then(|f| f.symbol_hex.as_ref());
    let hex = hex.or(code.and_then(|c| c.symbol_hex.as_ref()));
    let start = code.map(|code| code.start).or(function.and_then(|function| function.start));
    Example {
        file: Arc::clone(file),
        symbol: symbol.map(ToString::to_string),
        symbol_hex: hex.map(ToString::to_string),
        address: start.map(|start| format!("{:#x}", start.0)),
        message: finding.advice(),
        ruling: finding.ruling(table),
    }
}
