//! Tables of findings and of differences between SFrame and CFI.

use std::borrow::Cow;
use std::fmt::Write as _;

use sframe_record::{
    Compiler, Finding, Instruction, KnownFrame, PrintedFrame, Proof, Side, Similar, Text, Unproven,
};

use super::column::{Cell, Column, ColumnKind, Table};

/// `findings`.
pub(super) enum Findings {}

impl Table for Findings {
    const NAME: &'static str = "findings";
    const ABOUT: &'static str =
        "A violation of a rule. Contains the first few of each file and rule, or all with `--all`.";
    type Row<'r> = Finding<'r>;
    const COLUMNS: &'static [Column<Findings>] = &[
        column(ColumnKind::texts("rule", "name of the rule"), |found| Cell::text(&found.rule)),
        column(ColumnKind::texts("severity", "`error`, `warning` or `lint`"), |found| {
            Cell::text(found.severity.name())
        }),
        column(ColumnKind::texts("rule_group", "group that the rule belongs to"), |found| {
            Cell::text(&found.group)
        }),
        column(ColumnKind::texts("message", "the observed fact, then the rule"), |found| {
            Cell::text(&found.message)
        }),
        column(
            ColumnKind::numbers("section", "", "number of the file's section, from 0").or_null(),
            |found| Cell::optional_number(found.section.map(|section| section as u64)),
        ),
        column(
            ColumnKind::numbers("section_offset", "bytes", "offset from the start of the section")
                .or_null(),
            |found| Cell::optional_number(found.offset),
        ),
        column(
            ColumnKind::numbers(
                "file_offset",
                "bytes",
                "offset from the start of the file or member",
            )
            .or_null(),
            |found| Cell::optional_number(found.file_offset),
        ),
        column(
            ColumnKind::texts("field", "the field's name in the specification").or_null(),
            |found| Cell::optional_text(found.field.as_ref().map(|field| field.name.as_str())),
        ),
        column(ColumnKind::texts("value", "its value").or_null(), |found| {
            Cell::optional_text(found.field.as_ref().map(|field| field.value.as_str()))
        }),
        column(ColumnKind::texts("allowed", "the valid values").or_null(), |found| {
            Cell::optional_text(found.field.as_ref().map(|field| field.allowed.as_str()))
        }),
        column(
            ColumnKind::numbers("function_index", "", "index of the function in its section")
                .or_null(),
            |found| {
                Cell::optional_number(found.function.as_ref().map(|function| function.index.into()))
            },
        ),
        column(ColumnKind::texts("function", "symbol at its start").or_null(), |found| {
            symbol(found)
        }),
        column(
            ColumnKind::texts("function_start", "address, or offset in `code_section`, as `0x...`")
                .or_null(),
            |found| Cell::address(found.function.as_ref().and_then(|function| function.start)),
        ),
        column(
            ColumnKind::numbers("function_size", "bytes", "size of its code").or_null(),
            |found| {
                Cell::optional_number(found.function.as_ref().map(|function| function.size.into()))
            },
        ),
        column(
            ColumnKind::numbers("row", "", "number of the row in the function, from 0").or_null(),
            |found| Cell::optional_number(found.row.map(u64::from)),
        ),
        column(
            ColumnKind::texts("code_start", "first PC of the code, `0x...`").or_null(),
            |found| Cell::address(found.code.as_ref().map(|code| code.start)),
        ),
        column(
            ColumnKind::texts("code_end", "first PC after the code, `0x...`").or_null(),
            |found| Cell::address(found.code.as_ref().map(|code| code.end)),
        ),
        column(
            ColumnKind::texts("code_section", "section of these addresses, in relocatable objects")
                .or_null(),
            code_section,
        ),
        column(
            ColumnKind::texts("elf_section", "ELF section of the code or function, `.plt.got`")
                .or_null(),
            |found| Cell::optional_text(found.elf_section.as_deref()),
        ),
        column(
            ColumnKind::texts("source_file", "source file of the code, as the compiler names it")
                .or_null(),
            |found| Cell::optional_text(found.source.as_ref().map(|of| of.file.as_str())),
        ),
        column(
            ColumnKind::numbers("source_line", "", "line in `source_file`, from 1").or_null(),
            |found| Cell::optional_number(found.source.as_ref().map(|of| of.line.into())),
        ),
        column(
            ColumnKind::texts("known", "known defect of a producer that it is a case of").or_null(),
            |found| Cell::optional_text(found.known.as_deref()),
        ),
        column(
            ColumnKind::texts(
                "owner",
                "who has to act: `yours`, `compiler`, `assembler`, `linker`, `c-runtime` or `unknown`",
            ),
            |found| Cell::text(found.owner.identifier()),
        ),
        column(
            ColumnKind::texts("compiler", "first compiler that may have written the code's CFI")
                .or_null(),
            |found| Cell::optional_text(compiler(found).map(|of| of.name.as_str())),
        ),
        column(ColumnKind::texts("compiler_version", "its version").or_null(), |found| {
            let version = compiler(found).and_then(|of| of.version.as_ref());
            Cell::optional_text(version.map(|version| version.as_str()))
        }),
    ];
}

const fn column(
    what: ColumnKind,
    cell: for<'c, 'r> fn(&'c Finding<'r>) -> Cell<'c>,
) -> Column<Findings> {
    Column { what, cell }
}

fn compiler<'c, 'r>(found: &'c Finding<'r>) -> Option<&'c Compiler<'r>> {
    found.origin.as_ref()?.compilers.first()
}

/// The symbol of the function, or of the code if the finding has no function.
fn symbol<'c>(found: &'c Finding<'_>) -> Cell<'c> {
    let of_function = found.function.as_ref().and_then(|function| function.symbol.as_deref());
    let of_code = found.code.as_ref().and_then(|code| code.symbol.as_deref());
    Cell::optional_text(of_function.or(of_code))
}

fn code_section<'c>(found: &'c Finding<'_>) -> Cell<'c> {
    let function = found.function.as_ref().and_then(|function| function.code_section.as_deref());
    let code = found.code.as_ref().and_then(|code| code.code_section.as_deref());
    Cell::optional_text(code.or(function))
}

/// `differences`.
pub(super) enum Differences {}

/// A finding together with its difference.
pub(super) struct Difference<'r> {
    pub(super) finding: &'r Finding<'r>,
    pub(super) difference: &'r sframe_record::Difference<'r>,
}

impl Table for Differences {
    const NAME: &'static str = "differences";
    const ABOUT: &'static str = "Code where SFrame and CFI differ, or where the machine code proves one of them wrong. Each difference is also a finding.";
    type Row<'r> = Difference<'r>;
    const COLUMNS: &'static [Column<Differences>] = &[
        difference(ColumnKind::texts("rule", "name of the finding's rule"), |of| {
            Cell::text(&of.finding.rule)
        }),
        difference(
            ColumnKind::lists(
                "fields",
                "values that differ: `cfa`, `ra`, `fp`, `ra-signing`, `undefined-ra`, `signal`",
            ),
            |of| {
                let fields = of.difference.fields.iter();
                Cell::List(fields.map(|field| field.as_str().into()).collect())
            },
        ),
        difference(ColumnKind::texts("function", "symbol of the code").or_null(), |of| {
            symbol(of.finding)
        }),
        difference(ColumnKind::texts("code_start", "first PC, `0x...`").or_null(), |of| {
            Cell::address(of.finding.code.as_ref().map(|code| code.start))
        }),
        difference(
            ColumnKind::texts("code_end", "first PC after the code, `0x...`").or_null(),
            |of| Cell::address(of.finding.code.as_ref().map(|code| code.end)),
        ),
        difference(
            ColumnKind::texts("code_section", "section of these addresses, in relocatable objects")
                .or_null(),
            |of| code_section(of.finding),
        ),
        difference(
            ColumnKind::texts(
                "sframe_rows",
                "SFrame's rows around the code, one per line: PC, CFA, RA, FP, and `signed` if RA is signed",
            ),
            |of| rows(of, Side::Sframe),
        ),
        difference(ColumnKind::texts("cfi_rows", "CFI's rows in the same format"), |of| {
            rows(of, Side::Cfi)
        }),
        difference(
            ColumnKind::texts(
                "instructions",
                "the code, one instruction per line; the first few if it is long",
            ),
            instructions,
        ),
        difference(
            ColumnKind::texts(
                "wrong",
                "who is wrong, as far as the machine code proves it: `sframe`, `cfi`, `both`, `inherited` (CFI, and SFrame says the same), `neither` (they say the same), `undecided`; null in reports of older versions",
            )
            .or_null(),
            |of| Cell::optional_text(of.difference.ruling.as_ref().map(|ruling| ruling.wrong.name())),
        ),
        difference(
            ColumnKind::texts(
                "why_undecided",
                "why the machine code does not decide, by a name that `sframe-check explain` explains: `no-path`, `indirect-jump`, `paths-disagree` ...",
            )
            .or_null(),
            |of| {
                let ruling = of.difference.ruling.as_ref();
                Cell::optional_text(ruling.and_then(|ruling| ruling.undecided).map(Unproven::name))
            },
        ),
        difference(
            ColumnKind::texts(
                "proof",
                "what the machine code says: PC, instruction, CFA, RA, FP; `unknown` for what it does not determine",
            )
            .or_null(),
            |of| {
                let proof = of.difference.ruling.as_ref().and_then(|ruling| ruling.proof.as_ref());
                proof.map_or(Cell::Null, |proof| Cell::Text(Cow::Owned(proof_text(proof))))
            },
        ),
        difference(
            ColumnKind::texts(
                "change",
                "the instruction that changed the frame last: PC, instruction; null if it is not in the code right before",
            )
            .or_null(),
            |of| {
                let proof = of.difference.ruling.as_ref().and_then(|ruling| ruling.proof.as_ref());
                let change = proof.and_then(|proof| proof.change.as_ref());
                change.map_or(Cell::Null, |change| Cell::Text(Cow::Owned(instruction(change))))
            },
        ),
        difference(
            ColumnKind::numbers(
                "similar_functions",
                "",
                "number of other functions with the same pattern; null if each range is listed",
            )
            .or_null(),
            |of| similar(of, |similar| similar.functions),
        ),
        difference(
            ColumnKind::numbers("similar_ranges", "", "number of other ranges with the pattern")
                .or_null(),
            |of| similar(of, |similar| similar.ranges),
        ),
        difference(
            ColumnKind::numbers("similar_bytes", "bytes", "size of these ranges").or_null(),
            |of| similar(of, |similar| similar.bytes),
        ),
    ];
}

const fn difference(
    what: ColumnKind,
    cell: for<'c, 'r> fn(&'c Difference<'r>) -> Cell<'c>,
) -> Column<Differences> {
    Column { what, cell }
}

fn similar<'c>(of: &'c Difference<'_>, number: fn(&Similar) -> u64) -> Cell<'c> {
    Cell::optional_number(of.difference.similar.as_ref().map(number))
}

/// The rows of one side, including those that both sides have.
fn rows<'c>(of: &'c Difference<'_>, side: Side) -> Cell<'c> {
    let mut text = String::new();
    for row in of.difference.table.iter().filter(|row| row.side == side || row.side == Side::Both) {
        let PrintedFrame { cfa, ra, fp, ra_signed } = &row.frame;
        let (start, signed) = (row.start.0, if *ra_signed { "  signed" } else { "" });
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{start:#x}  {cfa}  {ra}  {fp}{signed}");
    }
    Cell::Text(Cow::Owned(text))
}

fn proof_text(proof: &Proof<'_>) -> String {
    let Proof { change: _, instruction: before, known, ra_signed } = proof;
    let KnownFrame { cfa, ra, fp } = known;
    let part = |part: &Option<Text<'_>>| part.as_deref().unwrap_or("unknown").to_owned();
    let (cfa, ra, fp) = (part(cfa), part(ra), part(fp));
    let signed = if *ra_signed { "  signed" } else { "" };
    format!("{}  {cfa}  {ra}  {fp}{signed}", instruction(before))
}

fn instruction(Instruction { address, text, .. }: &Instruction<'_>) -> String {
    format!("{:#x}  {text}", address.0)
}

fn instructions<'c>(of: &'c Difference<'_>) -> Cell<'c> {
    let mut text = String::new();
    for one in &of.difference.instructions {
        text.push_str(&instruction(one));
        text.push('\n');
    }
    Cell::Text(Cow::Owned(text))
}
