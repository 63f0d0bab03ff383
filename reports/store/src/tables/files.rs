//! Tables about whole files: the files, their counts of broken rules, and the programs that produced them.

use sframe_record::Record;
use sframe_record::{
    CallSites, CoveredFunctions, Header, Producer, ProofBytes, Proofs, RuleCount, Section,
    Severity, SiteCounts, Status, UnwindTable, Verdicts, WithoutEntry,
};

use super::column::{Cell, Column, ColumnKind, Table};

/// `files`.
pub(super) enum Files {}

impl Table for Files {
    const NAME: &'static str = "files";
    const ABOUT: &'static str = "A file, or a member of a package or archive, that has a record.";
    type Row<'r> = Record<'r>;
    const COLUMNS: &'static [Column<Files>] = &[
        column(
            ColumnKind::texts("path_hex", "bytes of `path` in hexadecimal, if they are not UTF-8")
                .or_null(),
            |file| Cell::optional_text(file.path_hex.as_deref()),
        ),
        column(
            ColumnKind::texts(
                "inside_hex",
                "bytes of `inside` in hexadecimal, if they are not UTF-8",
            )
            .or_null(),
            |file| Cell::optional_text(file.inside_hex.as_deref()),
        ),
        column(
            ColumnKind::texts(
                "member_hex",
                "bytes of `member` in hexadecimal, if they are not UTF-8",
            )
            .or_null(),
            |file| Cell::optional_text(file.member_hex.as_deref()),
        ),
        column(
            ColumnKind::texts(
                "status",
                "`checked`, `archive` (its members taken together), `no-section`, `unsupported`, \
                 `not-elf`, `special`, `unreadable`, or `crashed`",
            ),
            |file| Cell::text(status(file.status)),
        ),
        column(
            ColumnKind::texts("reason", "why it was not checked, or its kind of file").or_null(),
            |file| Cell::optional_text(file.reason.as_deref()),
        ),
        column(
            ColumnKind::texts("hash", "BLAKE3 of its bytes, 64 hexadecimal digits").or_null(),
            |file| Cell::optional_text(file.content.as_ref().map(|content| content.hash.as_str())),
        ),
        column(ColumnKind::numbers("size", "bytes", "size of the file").or_null(), |file| {
            Cell::optional_number(file.content.as_ref().map(|content| content.size))
        }),
        column(
            ColumnKind::numbers("code_bytes", "bytes", "size of loaded, executable sections"),
            |file| Cell::Number(file.code_bytes),
        ),
        column(
            ColumnKind::numbers("covered_bytes", "bytes", "code that SFrame functions describe"),
            |file| Cell::Number(file.covered_bytes),
        ),
        column(
            ColumnKind::numbers("sframe_sections", "", "number of `.sframe` sections"),
            |file| Cell::Number(file.sections.len() as u64),
        ),
        column(ColumnKind::numbers("sframe_bytes", "bytes", "size of these sections"), |file| {
            sum(file, |section| section.size)
        }),
        column(
            ColumnKind::numbers("sframe_version", "", "format version of the first section")
                .or_null(),
            |file| Cell::optional_number(header(file).map(|header| u64::from(header.version))),
        ),
        column(
            ColumnKind::texts(
                "abi",
                "`AMD64`, `AArch64`, `AArch64-BE` or `s390x`, from the first section",
            )
            .or_null(),
            |file| Cell::optional_text(header(file).and_then(|header| header.abi.as_deref())),
        ),
        column(ColumnKind::numbers("functions", "", "number of functions read"), |file| {
            sum(file, |section| section.functions)
        }),
        column(ColumnKind::numbers("rows", "", "number of rows read"), |file| {
            sum(file, |section| section.rows)
        }),
        column(
            ColumnKind::texts(
                "compared_with",
                "`cfi`, or `orc` if the columns about CFI are about the Linux kernel's ORC tables",
            )
            .or_null(),
            |file| Cell::optional_text(file.table.map(UnwindTable::name)),
        ),
        column(
            ColumnKind::numbers("equal_bytes", "bytes", "code where SFrame and CFI agree")
                .or_null(),
            |file| bytes(file, |of| of.equal),
        ),
        column(
            ColumnKind::numbers(
                "limited_bytes",
                "bytes",
                "code where they agree as far as the version can express",
            )
            .or_null(),
            |file| bytes(file, |of| of.limited),
        ),
        column(
            ColumnKind::numbers("different_bytes", "bytes", "code where they differ").or_null(),
            |file| bytes(file, |of| of.different),
        ),
        column(
            ColumnKind::numbers("only_cfi_bytes", "bytes", "code that only CFI describes")
                .or_null(),
            |file| bytes(file, |of| of.only_cfi),
        ),
        column(
            ColumnKind::numbers("only_sframe_bytes", "bytes", "code that only SFrame describes")
                .or_null(),
            |file| bytes(file, |of| of.only_sframe),
        ),
        column(
            ColumnKind::numbers("neither_bytes", "bytes", "code that neither describes").or_null(),
            |file| bytes(file, |of| of.neither),
        ),
        column(
            ColumnKind::numbers(
                "functions_without_entry",
                "",
                "number of functions that neither describes",
            )
            .or_null(),
            |file| without_entry(file, |of| of.functions),
        ),
        column(
            ColumnKind::numbers("without_entry_bytes", "bytes", "size of these functions")
                .or_null(),
            |file| without_entry(file, |of| of.bytes),
        ),
        column(
            ColumnKind::numbers("undecided_bytes", "bytes", "code that could not be compared")
                .or_null(),
            |file| bytes(file, |of| of.undecided),
        ),
        column(
            ColumnKind::numbers(
                "sframe_proven_bytes",
                "bytes",
                "code whose SFrame rows the machine code proves right",
            )
            .or_null(),
            |file| proven(file, |of| of.sframe.as_ref(), |of| of.proven),
        ),
        column(
            ColumnKind::numbers(
                "sframe_refuted_bytes",
                "bytes",
                "code whose SFrame rows the machine code proves wrong",
            )
            .or_null(),
            |file| proven(file, |of| of.sframe.as_ref(), |of| of.refuted),
        ),
        column(
            ColumnKind::numbers(
                "cfi_proven_bytes",
                "bytes",
                "code whose CFI the machine code proves right",
            )
            .or_null(),
            |file| proven(file, |of| of.cfi.as_ref(), |of| of.proven),
        ),
        column(
            ColumnKind::numbers(
                "cfi_refuted_bytes",
                "bytes",
                "code whose CFI the machine code proves wrong",
            )
            .or_null(),
            |file| proven(file, |of| of.cfi.as_ref(), |of| of.refuted),
        ),
        column(
            ColumnKind::numbers("sframe_calls", "", "calls that SFrame describes").or_null(),
            |file| calls(file, |of| of.sframe, SiteCounts::total),
        ),
        column(
            ColumnKind::numbers(
                "sframe_calls_outside",
                "",
                "calls whose return address is outside of their SFrame row",
            )
            .or_null(),
            |file| calls(file, |of| of.sframe, SiteCounts::affected),
        ),
        column(
            ColumnKind::numbers("cfi_calls", "", "calls that CFI describes").or_null(),
            |file| calls(file, |of| of.cfi, SiteCounts::total),
        ),
        column(
            ColumnKind::numbers(
                "cfi_calls_outside",
                "",
                "calls whose return address is outside of their row in CFI",
            )
            .or_null(),
            |file| calls(file, |of| of.cfi, SiteCounts::affected),
        ),
        column(
            ColumnKind::numbers(
                "both_functions",
                "",
                "functions that both SFrame and CFI describe",
            )
            .or_null(),
            |file| functions(file, |of| of.both),
        ),
        column(
            ColumnKind::numbers(
                "partly_functions",
                "",
                "functions that CFI describes completely and SFrame partly",
            )
            .or_null(),
            |file| functions(file, |of| of.partly),
        ),
        column(
            ColumnKind::numbers("only_cfi_functions", "", "functions that only CFI describes")
                .or_null(),
            |file| functions(file, |of| of.only_cfi),
        ),
        column(
            ColumnKind::numbers(
                "only_sframe_functions",
                "",
                "functions that only SFrame describes",
            )
            .or_null(),
            |file| functions(file, |of| of.only_sframe),
        ),
        column(ColumnKind::numbers("errors", "", "findings of severity error"), |file| {
            found(file, Severity::Error)
        }),
        column(ColumnKind::numbers("warnings", "", "findings of severity warning"), |file| {
            found(file, Severity::Warning)
        }),
        column(
            ColumnKind::numbers("lints", "", "findings of severity lint, if requested"),
            |file| found(file, Severity::Lint),
        ),
        column(
            ColumnKind::numbers("undecided", "", "number of checks that were not possible"),
            |file| Cell::Number(file.undecided.len() as u64),
        ),
        column(
            ColumnKind::texts("debug_file", "separate debug file from which CFI was also read")
                .or_null(),
            |file| {
                Cell::optional_text(file.coverage.as_ref().and_then(|of| of.debug_file.as_deref()))
            },
        ),
        column(ColumnKind::texts("build_id", "build-id, in hexadecimal").or_null(), |file| {
            Cell::optional_text(file.build_id.as_deref())
        }),
    ];
}

const fn column(
    what: ColumnKind,
    cell: for<'c, 'r> fn(&'c Record<'r>) -> Cell<'c>,
) -> Column<Files> {
    Column { what, cell }
}

/// The identifier of a status in records.
const fn status(status: Status) -> &'static str {
    match status {
        Status::Checked => "checked",
        Status::Archive => "archive",
        Status::NoSection => "no-section",
        Status::Unsupported => "unsupported",
        Status::NotElf => "not-elf",
        Status::Special => "special",
        Status::Unreadable => "unreadable",
        Status::Crashed => "crashed",
    }
}

/// The header of the first section, if it can be read.
fn header<'c, 'r>(file: &'c Record<'r>) -> Option<&'c Header<'r>> {
    file.sections.first()?.header.as_ref()
}

fn sum<'c>(file: &'c Record<'_>, of: fn(&Section<'_>) -> u64) -> Cell<'c> {
    Cell::Number(file.sections.iter().map(of).fold(0, u64::saturating_add))
}

/// Bytes of code with a verdict; null if the file was not compared.
fn bytes<'c>(file: &'c Record<'_>, of: fn(&Verdicts) -> u64) -> Cell<'c> {
    Cell::optional_number(file.coverage.as_ref().map(|coverage| of(&coverage.bytes)))
}

/// Functions that neither describes; null if they were not looked for.
fn without_entry<'c>(file: &'c Record<'_>, of: fn(&WithoutEntry<'_>) -> u64) -> Cell<'c> {
    let coverage = file.coverage.as_ref();
    let found = coverage.and_then(|coverage| coverage.without_entry.as_ref());
    Cell::optional_number(found.map(of))
}

/// Bytes of code about whose rows the machine code proves something; null if it was not asked, or if there are no rows.
fn proven<'c>(
    file: &'c Record<'_>,
    witness: for<'p, 'r> fn(&'p Proofs<'r>) -> Option<&'p ProofBytes<'r>>,
    of: fn(&ProofBytes<'_>) -> u64,
) -> Cell<'c> {
    let proofs = file.proofs.as_deref().and_then(witness);
    Cell::optional_number(proofs.map(of))
}

/// The number of certain calls; null if they were not examined, or if there are none.
fn calls<'c>(
    file: &'c Record<'_>,
    witness: fn(&CallSites) -> Option<SiteCounts>,
    of: fn(&SiteCounts) -> u64,
) -> Cell<'c> {
    let sites = file.call_sites.as_ref().and_then(witness);
    Cell::optional_number(sites.as_ref().map(of))
}

/// The number of functions described by certain sections; null if the file was not compared.
fn functions<'c>(file: &'c Record<'_>, of: fn(&CoveredFunctions) -> u64) -> Cell<'c> {
    Cell::optional_number(file.coverage.as_ref().map(|coverage| of(&coverage.functions)))
}

fn found<'c>(file: &'c Record<'_>, severity: Severity) -> Cell<'c> {
    let counts = file.counts.iter().filter(|count| count.severity == severity);
    Cell::Number(counts.map(|count| count.count).fold(0, u64::saturating_add))
}

/// `counts`.
pub(super) enum Counts {}

impl Table for Counts {
    const NAME: &'static str = "counts";
    const ABOUT: &'static str =
        "How often a file breaks a rule. Exact even where `findings` contains only the first few.";
    type Row<'r> = RuleCount<'r>;
    const COLUMNS: &'static [Column<Counts>] = &[
        Column {
            what: ColumnKind::texts("rule", "name of the rule"),
            cell: |of| Cell::text(&of.rule),
        },
        Column {
            what: ColumnKind::texts("severity", "`error`, `warning` or `lint`"),
            cell: |of| Cell::text(of.severity.name()),
        },
        Column {
            what: ColumnKind::numbers("count", "", "how often the file breaks the rule"),
            cell: |of| Cell::Number(of.count),
        },
        Column {
            what: ColumnKind::texts("known", "known defect of a producer that these are cases of")
                .or_null(),
            cell: |of| Cell::optional_text(of.known.as_deref()),
        },
    ];
}

/// `producers`.
pub(super) enum Producers {}

impl Table for Producers {
    const NAME: &'static str = "producers";
    const ABOUT: &'static str =
        "A compiler, assembler or linker that produced a file, according to the file.";
    type Row<'r> = Producer<'r>;
    const COLUMNS: &'static [Column<Producers>] = &[
        Column {
            what: ColumnKind::texts("kind", "`compiler`, `assembler`, `linker` or `other`"),
            cell: |made| Cell::text(&made.kind),
        },
        Column {
            what: ColumnKind::texts("producer", "its name, such as `GCC`"),
            cell: |made| Cell::text(&made.name),
        },
        Column {
            what: ColumnKind::texts("producer_version", "its version").or_null(),
            cell: |made| Cell::optional_text(made.version.as_deref()),
        },
        Column {
            what: ColumnKind::texts("text", "text in the file, verbatim").or_null(),
            cell: |made| Cell::optional_text(made.text.as_deref()),
        },
    ];
}
