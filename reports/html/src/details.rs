//! The details of files, which the page reads when a file is opened: sections, producers, coverage, and the evidence of
//! findings. They are embedded in chunks with a table of strings each.

use std::io;

use serde::Serialize;
use sframe_record::{
    Coverage, ElfType, Finding, FunctionPlace, Record, Section, UnwindTable, demangle,
};

use crate::embed;
use crate::evidence::{Evidence, MOST, evidence};
use crate::strings::Strings;

/// The size of a chunk in bytes, about. Reading one takes some milliseconds.
const CHUNK: usize = 256 << 10;

/// The maximum size of all details in bytes. Browsers still open a page of this size at once.
const MOST_BYTES: usize = 48 << 20;

/// Collects the details of files.
#[derive(Debug, Default)]
pub(crate) struct Details {
    /// Complete chunks as JSON, and the number of the first file in each.
    chunks: Vec<(u32, String)>,
    strings: Strings,
    /// The files of the current chunk as JSON, separated by commas, and their number.
    files: String,
    open: u32,
    /// The size of the current chunk, and of all complete ones.
    size: usize,
    complete: usize,
    /// The number of files with details so far.
    count: u32,
    /// Files and findings without details, and texts that are not complete.
    pub(crate) left_out: u64,
    cut: u64,
}

/// The details of a file. Strings are positions in the chunk's table.
#[derive(Debug, Serialize)]
struct File {
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<(u64, u32)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    package: Vec<(&'static str, u32)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    elf_type: Option<ElfType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    build_id: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    producers: Vec<(u32, u32)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sections: Vec<SectionRow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    undecided: Vec<(Option<usize>, u32)>,
    /// Rule, severity, count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    counts: Vec<(u32, u8, u64)>,
    /// Rule, reason, number.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressed: Vec<(u32, u32, u64)>,
    /// `CFI` or `ORC`.
    table: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<CoverageRows>,
    /// How much the machine code proves, a sentence for each witness.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    proofs: Vec<u32>,
    /// What a stack walker finds after calls, a sentence for each witness.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calls: Vec<u32>,
    /// The evidence of the file's listed findings, in their order.
    findings: Vec<Evidence>,
}

/// Name, format, address, offset in the file, size, functions, rows.
type SectionRow = (u32, u32, String, u64, u64, u64, u64);

/// Functions without any entry: their number, bytes, and the size and place of the largest.
type WithoutEntry = (u64, u64, Vec<(u64, u32)>);

#[derive(Debug, Serialize)]
struct CoverageRows {
    /// Equal, limited, different, only CFI, only SFrame, neither, undecided.
    bytes: [u64; 7],
    /// Both, partly, only CFI, only SFrame.
    functions: [u64; 4],
    /// Cause, functions, bytes, examples.
    losses: Vec<(u32, u64, u64, Vec<u32>)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    without: Option<WithoutEntry>,
    /// Field, functions, bytes.
    limits: Vec<(u32, u64, u64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    debug_file: Option<u32>,
}

impl Details {
    /// Adds the details of a file with its `findings`. Returns its position, or `None` if the page is full.
    pub(crate) fn add(
        &mut self,
        record: &Record<'_>,
        findings: &[Finding<'_>],
    ) -> io::Result<Option<u32>> {
        if self.complete.saturating_add(self.size) > MOST_BYTES {
            self.left_out = self.left_out.saturating_add(1);
            return Ok(None);
        }
        let before = self.strings.bytes();
        let file = file(&mut self.strings, record, findings);
        let json = embed::text(&file)?;
        let strings = self.strings.bytes().saturating_sub(before);
        self.size = self.size.saturating_add(json.len()).saturating_add(strings);
        if self.open > 0 {
            self.files.push(',');
        }
        self.files.push_str(&json);
        self.open = self.open.saturating_add(1);
        let place = self.count;
        self.count = self.count.saturating_add(1);
        if self.size > CHUNK {
            self.close()?;
        }
        Ok(Some(place))
    }

    fn close(&mut self) -> io::Result<()> {
        let first = self.count.saturating_sub(self.open);
        let json = format!(
            "{{\"strings\":{},\"files\":[{}]}}",
            embed::text(self.strings.all())?,
            self.files
        );
        self.complete = self.complete.saturating_add(json.len());
        self.chunks.push((first, json));
        self.cut = self.cut.saturating_add(self.strings.cut);
        self.strings = Strings::default();
        (self.open, self.size) = (0, 0);
        self.files.clear();
        Ok(())
    }

    /// The number of texts that are not complete.
    pub(crate) const fn cut(&self) -> u64 {
        self.cut.saturating_add(self.strings.cut)
    }

    /// The chunks as JSON, each with the number of its first file.
    pub(crate) fn finish(mut self) -> io::Result<Vec<(u32, String)>> {
        if !self.files.is_empty() {
            self.close()?;
        }
        Ok(self.chunks)
    }
}

fn file(strings: &mut Strings, record: &Record<'_>, findings: &[Finding<'_>]) -> File {
    let mut package = Vec::new();
    if let Some(of) = &record.package {
        let fields = [
            ("name", Some(&of.name)),
            ("version", of.version.as_ref()),
            ("architecture", of.architecture.as_ref()),
            ("source", of.source.as_ref()),
        ];
        let known = fields.into_iter().filter_map(|(name, text)| Some((name, text?)));
        package.extend(known.map(|(name, text)| (name, strings.of(text))));
    }
    let producers = record.producers.iter().take(MOST).map(|producer| {
        let version = producer.version.as_ref().map(|v| format!(" {}", v.as_str()));
        let name = format!("{}{}", producer.name.as_str(), version.unwrap_or_default());
        (strings.of(&producer.kind), strings.of(&name))
    });
    let producers = producers.collect();
    let counts = record.counts.iter().take(MOST);
    let counts = counts.map(|of| (strings.of(&of.rule), of.severity as u8, of.count)).collect();
    let suppressed = record.suppressed.iter().take(MOST);
    let suppressed = suppressed.map(|of| (strings.of(&of.rule), strings.of(&of.reason), of.count));
    let suppressed = suppressed.collect();
    let undecided = record.undecided.iter().take(MOST);
    let undecided = undecided.map(|of| (of.section, strings.of(&of.reason))).collect();
    let table = UnwindTable::noun_of(record.table);
    let proofs = record.proofs.as_ref().map(|proofs| {
        let mut all = proofs.sentences(table);
        all.extend(proofs.undecided_sentences(table));
        all
    });
    let proofs = proofs.unwrap_or_default();
    let proofs = proofs.iter().map(|sentence| strings.of(sentence)).collect();
    let calls = record.call_sites.map(|sites| sites.sentences(table)).unwrap_or_default();
    let calls = calls.iter().map(|sentence| strings.of(sentence)).collect();
    File {
        reason: record.reason.as_ref().map(|reason| strings.of(reason)),
        content: record.content.as_ref().map(|of| (of.size, strings.of(&of.hash))),
        package,
        elf_type: record.elf_type,
        build_id: record.build_id.as_ref().map(|id| strings.of(id)),
        producers,
        sections: record.sections.iter().take(MOST).map(|of| section(strings, of)).collect(),
        undecided,
        counts,
        suppressed,
        table,
        coverage: record.coverage.as_ref().map(|of| coverage(strings, of)),
        proofs,
        calls,
        findings: findings.iter().map(|finding| evidence(strings, finding, table)).collect(),
    }
}

/// `V3 AMD64`.
pub(crate) fn format_of(section: &Section<'_>) -> String {
    match &section.header {
        Some(header) => {
            let machine = header.abi.as_ref().map_or("unknown ABI", |abi| abi.as_str());
            format!("V{} {machine}", header.version)
        }
        None => "unreadable header".to_owned(),
    }
}

fn section(strings: &mut Strings, section: &Section<'_>) -> SectionRow {
    let (name, format) = (strings.of(&section.name), strings.of(&format_of(section)));
    let (address, offset) = (section.address.to_string(), section.file_offset);
    (name, format, address, offset, section.size, section.functions, section.rows)
}

fn coverage(strings: &mut Strings, of: &Coverage<'_>) -> CoverageRows {
    let (bytes, functions) = (&of.bytes, &of.functions);
    let losses = of.losses.iter().take(MOST).map(|loss| {
        let examples = loss.examples.iter().take(MOST).map(|of| strings.of(&example(of)));
        let examples = examples.collect();
        (strings.of(&loss.cause), loss.functions, loss.bytes, examples)
    });
    let losses = losses.collect();
    let without = of.without_entry.as_ref().filter(|without| without.functions > 0);
    let without = without.map(|without| {
        let largest = without.largest.iter().take(MOST);
        let largest = largest.map(|of| (of.size, strings.of(&example(of)))).collect();
        (without.functions, without.bytes, largest)
    });
    let limits = of.limits.iter().take(MOST);
    let limits = limits.map(|of| (strings.of(&of.field), of.functions, of.bytes)).collect();
    CoverageRows {
        bytes: [
            bytes.equal,
            bytes.limited,
            bytes.different,
            bytes.only_cfi,
            bytes.only_sframe,
            bytes.neither,
            bytes.undecided,
        ],
        functions: [functions.both, functions.partly, functions.only_cfi, functions.only_sframe],
        losses,
        without,
        limits,
        debug_file: of.debug_file.as_ref().map(|path| strings.of(path)),
    }
}

/// `foo at 0x1000, foo.s:12`.
fn example(of: &FunctionPlace<'_>) -> String {
    let section = of.code_section.as_ref().map_or(String::new(), |name| format!("{}+", &**name));
    let source = of.source.as_ref();
    let source = source.map_or(String::new(), |line| format!(", {}:{}", &*line.file, line.line));
    let place = format!("{section}{}{source}", of.start);
    match (&of.symbol, of.symbol_offset) {
        (Some(symbol), Some(offset)) if offset > 0 => {
            format!("{}+{offset:#x} at {place}", demangle(symbol))
        }
        (Some(symbol), _) => format!("{} at {place}", demangle(symbol)),
        (None, _) => place,
    }
}
