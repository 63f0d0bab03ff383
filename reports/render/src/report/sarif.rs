//! SARIF 2.1.0, for services that show findings beside code.
//!
//! Binaries have byte regions and logical locations. Where debugging information has the line of the source, it is a location, too: the
//! first one of a finding that the author of the source can mend. No line numbers are invented. Results are written file by file, so
//! that memory does not grow with their number.

use std::io::{self, Write};

use serde::Serialize;
use sframe_history::{FileIdentity, Identity, Root};
use sframe_record::json::{TOOL, write};
use sframe_record::{
    Events, Finding, ForecastTotal, Origin, Owner, PackageForecasts, Pages, ReadingTotal, Record,
    Severity, SourceLine, Summary, Wrong, catalogue, with_ruling,
};
use sframe_validator::rules;

use super::Renderer;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Writes a SARIF log with one run.
#[derive(Debug)]
pub struct Sarif<W> {
    out: W,
    /// Write suppressed findings as well, with the reason. Some services show them like others.
    suppressed: bool,
    any: bool,
    notifications: Vec<Notification>,
    /// The folder that the paths in fingerprints are relative to.
    root: Root,
    pages: Option<Pages>,
    /// The identity of the current file, once it has a finding.
    file: Option<FileIdentity>,
}

/// The maximum number of notifications: files that cannot be read, and parts that are undecided.
const NOTIFICATIONS: usize = 1_000;

impl<W: Write> Sarif<W> {
    /// A renderer that writes to `out`, without suppressed findings; nothing before the first result. The paths in
    /// fingerprints are relative to `root`. Rules link to their pages, if their address is given.
    pub fn new(out: W, root: Root, pages: Option<Pages>) -> Sarif<W> {
        let (suppressed, any) = (false, false);
        Sarif { out, suppressed, any, notifications: Vec::new(), root, pages, file: None }
    }

    /// Writes suppressed findings as well.
    #[must_use]
    pub fn with_suppressed(self) -> Sarif<W> {
        Sarif { suppressed: true, ..self }
    }

    /// Writes the beginning of the document.
    fn start(&mut self) -> io::Result<()> {
        let out = &mut self.out;
        write!(out, "{{\"$schema\":\"{SCHEMA}\",\"version\":\"2.1.0\",\"runs\":[{{\"tool\":")?;
        write(&mut *out, &Tool { driver: Driver::this(self.pages.as_ref()) })?;
        out.write_all(b",\"results\":[")
    }

    fn result(
        &mut self,
        record: &Record<'_>,
        finding: &Finding<'_>,
        suppressed: Option<&str>,
    ) -> io::Result<()> {
        let separator: &[u8] = if self.any { b",\n" } else { b"\n" };
        if !std::mem::replace(&mut self.any, true) {
            self.start()?;
        }
        self.out.write_all(separator)?;
        let file = self.file.get_or_insert_with(|| self.root.file(record));
        let identity = Identity::of(file, finding);
        write(&mut self.out, &SarifResult::of(record, finding, identity, suppressed))
    }

    fn notify(&mut self, record: &Record<'_>) {
        let left = record.undecided.iter().map(|undecided| undecided.reason.to_string());
        let own = record.reason.as_ref().filter(|_| {
            matches!(
                record.status,
                sframe_record::Status::Unreadable | sframe_record::Status::Crashed
            )
        });
        for text in own.map(ToString::to_string).into_iter().chain(left) {
            if self.notifications.len() < NOTIFICATIONS {
                self.notifications.push(Notification {
                    level: Level::Warning,
                    message: Message { text: format!("{}: {text}", record.name()) },
                    locations: vec![Location::of_file(record)],
                });
            }
        }
    }
}

impl<W: Write> Events for Sarif<W> {
    fn begin(&mut self, _: &Record<'_>) -> io::Result<()> {
        self.file = None;
        Ok(())
    }

    fn finding(&mut self, head: &Record<'_>, finding: &Finding<'_>) -> io::Result<()> {
        self.result(head, finding, None)
    }

    fn end(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.notify(record);
        let suppressed = if self.suppressed { record.suppressed.as_slice() } else { &[] };
        for suppressed in suppressed {
            for finding in &suppressed.findings {
                self.result(record, finding, Some(&suppressed.reason))?;
            }
        }
        Ok(())
    }
}

impl<W: Write> Renderer for Sarif<W> {
    fn finish(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        self.notifications.extend(summary.failed_gates.iter().map(|gate| Notification {
            level: if gate.undecided { Level::Warning } else { Level::Error },
            message: Message { text: gate.message.to_string() },
            locations: Vec::new(),
        }));
        let invocation = Invocation {
            execution_successful: !summary.is_incomplete() && summary.failed_gates.is_empty(),
            tool_execution_notifications: std::mem::take(&mut self.notifications),
        };
        if !self.any {
            self.start()?;
        }
        self.out.write_all(b"\n],\"invocations\":")?;
        write(&mut self.out, &[invocation])?;
        let properties = RunProperties {
            forecast: summary.forecast.as_ref(),
            forecast_objects: summary.forecast_objects.as_ref(),
            forecast_packages: summary.forecast_packages.as_ref(),
            readings: &summary.readings,
        };
        if !properties.is_empty() {
            self.out.write_all(b",\"properties\":")?;
            write(&mut self.out, &properties)?;
        }
        self.out.write_all(b"}]}\n")?;
        self.out.flush()
    }
}

/// The property bag of a run.
#[derive(Serialize)]
struct RunProperties<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    forecast: Option<&'r ForecastTotal<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    forecast_objects: Option<&'r ForecastTotal<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    forecast_packages: Option<&'r PackageForecasts<'r>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    readings: &'r [ReadingTotal<'r>],
}

impl RunProperties<'_> {
    /// Whether there is nothing to say. Forecasts of packages are part of the others.
    const fn is_empty(&self) -> bool {
        self.forecast.is_none() && self.forecast_objects.is_none() && self.readings.is_empty()
    }
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    semantic_version: &'static str,
    rules: Vec<Rule>,
}

impl Driver {
    /// This program with all its rules: services show help for those that are broken.
    fn this(pages: Option<&Pages>) -> Driver {
        let rules = catalogue::all().map(|rule| Rule::of(rule, pages)).collect();
        Driver { name: TOOL.name, semantic_version: TOOL.version, rules }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    short_description: Message,
    full_description: Message,
    help: Message,
    #[serde(skip_serializing_if = "Option::is_none")]
    help_uri: Option<String>,
    default_configuration: Configuration,
    properties: RuleProperties,
}

impl Rule {
    fn of(rule: &rules::Rule, pages: Option<&Pages>) -> Rule {
        let page = &rule.page;
        let message = |text: &str| Message { text: text.to_owned() };
        Rule {
            id: rule.name,
            short_description: message(page.summary),
            full_description: message(page.consequence),
            help: Message { text: format!("{}\n\nSource: {}", page.remedy, page.source) },
            help_uri: pages.map(|pages| pages.of_rule(rule.name)),
            default_configuration: Configuration { level: Level::of(rule.severity.into()) },
            properties: RuleProperties { tags: [rule.group.name()] },
        }
    }
}

#[derive(Serialize)]
struct Configuration {
    level: Level,
}

#[derive(Serialize)]
struct RuleProperties {
    tags: [&'static str; 1],
}

#[derive(Debug, Serialize)]
struct Message {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult {
    rule_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule_index: Option<usize>,
    level: Level,
    message: Message,
    locations: [Location; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    related_locations: Option<[Location; 1]>,
    partial_fingerprints: Fingerprints,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressions: Vec<Suppression>,
    properties: Properties,
}

impl SarifResult {
    fn of(
        record: &Record<'_>,
        finding: &Finding<'_>,
        identity: Identity,
        suppressed: Option<&str>,
    ) -> SarifResult {
        let index = catalogue::position(&finding.rule);
        let known = finding.known.as_ref().map(ToString::to_string);
        let about = known.as_ref().map(|known| format!(" (known: {known})"));
        let others = finding.weight().saturating_sub(1);
        let others = match others {
            0 => String::new(),
            number => format!(", and in {number} more functions"),
        };
        let about = about.unwrap_or_default();
        let compiler = finding.owner_in_words().filter(|_| finding.owner == Owner::Compiler);
        let compiler = compiler.map_or(String::new(), |owner| format!("; owner: {owner}"));
        let message = format!("{}{others}{about}{compiler}", finding.advice());
        let ruling = finding.ruling(record.table);
        let difference = finding.difference.as_ref();
        let wrong = difference.and_then(|of| of.ruling.as_ref()).map(|ruling| ruling.wrong);
        let mut location = Location::of(record, finding);
        let mut related = finding.source.as_ref().map(Location::of_source);
        if let Some(source) = related.as_mut().filter(|_| finding.is_for_author()) {
            core::mem::swap(&mut location, source);
            core::mem::swap(&mut location.logical_locations, &mut source.logical_locations);
        }
        SarifResult {
            rule_id: finding.rule.to_string(),
            rule_index: Some(index).filter(|index| *index != usize::MAX),
            level: Level::of(finding.severity),
            message: Message { text: with_ruling(&message, ruling.as_deref()) },
            locations: [location],
            related_locations: related.map(|related| [related]),
            partial_fingerprints: Fingerprints { identity: identity.to_string() },
            suppressions: suppressed
                .map(|reason| Suppression { kind: "external", justification: reason.to_owned() })
                .into_iter()
                .collect(),
            properties: Properties {
                owner: finding.owner,
                origin: finding.origin.as_deref().map(Origin::owned),
                known,
                wrong,
                elf_section: finding.elf_section.as_ref().map(ToString::to_string),
            },
        }
    }
}

#[derive(Serialize)]
struct Fingerprints {
    #[serde(rename = "sframeCheckIdentity/v1")]
    identity: String,
}

#[derive(Serialize)]
struct Suppression {
    kind: &'static str,
    justification: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Properties {
    owner: Owner,
    /// What the code was made from: the compiler with its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<Origin<'static>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<String>,
    /// Which of SFrame and CFI is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    wrong: Option<Wrong>,
    #[serde(skip_serializing_if = "Option::is_none")]
    elf_section: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<LogicalLocation>,
}

impl Location {
    fn of_file(record: &Record<'_>) -> Location {
        Location {
            physical_location: PhysicalLocation {
                artifact_location: ArtifactLocation { uri: uri(&record.path_bytes()) },
                region: None,
            },
            logical_locations: Vec::new(),
        }
    }

    fn of_source(source: &SourceLine<'_>) -> Location {
        Location {
            physical_location: PhysicalLocation {
                artifact_location: ArtifactLocation { uri: uri(source.file.as_str().as_bytes()) },
                region: Some(Region::Line { start_line: source.line }),
            },
            logical_locations: Vec::new(),
        }
    }

    fn of(record: &Record<'_>, finding: &Finding<'_>) -> Location {
        // Offsets are those in a member of an archive or package, not in the file that contains it.
        let is_whole_file = record.inside.is_none() && record.member.is_none();
        let blamed = finding.context.iter().filter(|part| part.blamed);
        let bytes = blamed.map(|part| part.bytes.len() as u64 / 2).fold(0, u64::saturating_add);
        let region = finding.file_offset.filter(|_| is_whole_file).map(|byte_offset| {
            Region::Bytes { byte_offset, byte_length: Some(bytes).filter(|bytes| *bytes > 0) }
        });
        let mut location = Location::of_file(record);
        location.physical_location.region = region;
        location.logical_locations = logical(record, finding);
        location
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Debug, Serialize)]
struct ArtifactLocation {
    uri: String,
}

#[derive(Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum Region {
    Bytes {
        byte_offset: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        byte_length: Option<u64>,
    },
    Line {
        start_line: u32,
    },
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    fully_qualified_name: String,
    kind: LogicalKind,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
enum LogicalKind {
    Function,
    /// A member of an archive or package.
    Module,
}

/// The function, or the member of an archive or package.
fn logical(record: &Record<'_>, finding: &Finding<'_>) -> Vec<LogicalLocation> {
    let function = finding.function.as_ref().and_then(|of| of.symbol.as_ref());
    let symbol = function.or_else(|| finding.code.as_ref().and_then(|of| of.symbol.as_ref()));
    let start = finding.code.as_ref().map(|code| code.start);
    let start = start.or_else(|| finding.function.as_ref().and_then(|of| of.start));
    let place = start.map(|start| format!("{:#x}", start.0));
    let name = symbol.map(ToString::to_string).or(place);
    let is_member = record.inside.is_some() || record.member.is_some();
    let kind = if name.is_some() { LogicalKind::Function } else { LogicalKind::Module };
    if name.is_none() && !is_member {
        return Vec::new();
    }
    let fully_qualified_name = match &name {
        Some(name) => format!("{}:{name}", record.name()),
        None => record.name(),
    };
    vec![LogicalLocation { name, fully_qualified_name, kind }]
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
    tool_execution_notifications: Vec<Notification>,
}

#[derive(Debug, Serialize)]
struct Notification {
    level: Level,
    message: Message,
    locations: Vec<Location>,
}

/// The level of a result or notification.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Level {
    Error,
    Warning,
    Note,
}

impl Level {
    const fn of(severity: Severity) -> Level {
        match severity {
            Severity::Error => Level::Error,
            Severity::Warning => Level::Warning,
            Severity::Lint => Level::Note,
        }
    }
}

/// A path as a URI, or as a relative reference (RFC 3986): bytes other than unreserved characters and slashes are escaped.
fn uri(path: &[u8]) -> String {
    let mut uri = if path.starts_with(b"/") { "file://".to_owned() } else { String::new() };
    for byte in path.strip_prefix(b"./").unwrap_or(path) {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(*byte));
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn paths_become_references() {
        assert_eq!(uri(b"./build/a b:c.so"), "build/a%20b%3Ac.so");
        assert_eq!(uri("/usr/lib/é".as_bytes()), "file:///usr/lib/%C3%A9");
        assert_eq!(uri(b"\xff\xfe.so"), "%FF%FE.so");
    }
}
