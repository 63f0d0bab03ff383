//! What SFrame would cost, and what it would leave out.

use sframe_record::{ElfType, Forecast, FunctionPlace, Loss, Predicted};

use super::column::{Cell, Column, ColumnKind, Table};

/// `forecasts`.
pub(super) enum Forecasts {}

/// A predicted section, with the sizes of its file.
pub(super) struct Row<'r> {
    forecast: &'r Forecast<'r>,
    section: &'r Predicted<'r>,
}

/// The rows of a file's forecast.
pub(super) fn rows<'r>(forecast: &'r Forecast<'r>) -> impl Iterator<Item = Row<'r>> {
    forecast.sections.iter().map(|section| Row { forecast, section })
}

impl Table for Forecasts {
    const NAME: &'static str = "forecasts";
    const ABOUT: &'static str = "An SFrame section that a file would have in one encoding, with the sizes to which it is compared: what `--forecast` predicts.";
    type Row<'r> = Row<'r>;
    const COLUMNS: &'static [Column<Forecasts>] = &[
        column(ColumnKind::texts("encoding", "`gnu-2.44`, `smallest-v3` and others"), |row| {
            Cell::text(&row.section.encoding)
        }),
        column(ColumnKind::texts("machine", "`AMD64`, `AArch64`, `AArch64-BE` or `s390x`").or_null(), |row| {
            Cell::optional_text(row.forecast.machine.as_deref())
        }),
        column(
            ColumnKind::texts(
                "elf_type",
                "`relocatable`, `executable`, `shared` or `other`; programs and libraries were made from relocatable \
                 files, so their sizes are not added",
            )
            .or_null(),
            |row| Cell::optional_text(row.forecast.elf_type.map(name_of)),
        ),
        column(ColumnKind::texts("reason", "why the section is not known").or_null(), |row| {
            Cell::optional_text(row.section.reason.as_deref())
        }),
        bytes("section_bytes", "size of the section; 0 if there would be none", |row| {
            Cell::Number(row.section.bytes)
        }),
        bytes("header_bytes", "its header", |row| Cell::Number(row.section.parts.header)),
        bytes("index_bytes", "its function index", |row| Cell::Number(row.section.parts.index)),
        bytes("attribute_bytes", "its attributes (version 3)", |row| {
            Cell::Number(row.section.parts.attributes)
        }),
        bytes("row_start_bytes", "the start fields of its rows", |row| {
            Cell::Number(row.section.parts.row_starts)
        }),
        bytes("row_info_bytes", "the info bytes of its rows", |row| {
            Cell::Number(row.section.parts.row_info)
        }),
        bytes("data_word_bytes", "the data words of its rows", |row| {
            Cell::Number(row.section.parts.data_words)
        }),
        bytes(
            "repeated_bytes",
            "attributes and rows that repeat those of another function",
            |row| Cell::Number(row.section.repeated),
        ),
        number("functions", "functions that it describes", |row| {
            Cell::Number(row.section.functions)
        }),
        number("flexible_functions", "those with flexible rows (version 3)", |row| {
            Cell::Number(row.section.flexible)
        }),
        number("rows", "its rows", |row| Cell::Number(row.section.rows)),
        bytes("described_bytes", "code that it describes", |row| {
            Cell::Number(row.section.described_bytes)
        }),
        number("lost_functions", "functions that it leaves out", |row| {
            Cell::Number(row.section.lost())
        }),
        bytes("lost_bytes", "code of these functions", |row| {
            Cell::Number(row.section.lost_bytes())
        }),
        bytes("file_bytes", "size of the file", |row| Cell::Number(row.forecast.sizes.file)),
        bytes("loaded_bytes", "what is loaded from it", |row| Cell::Number(row.forecast.sizes.loaded_file)),
        bytes("memory_bytes", "memory into which it is loaded", |row| {
            Cell::Number(row.forecast.sizes.loaded_memory)
        }),
        bytes("code_bytes", "its code", |row| Cell::Number(row.forecast.sizes.code)),
        bytes("eh_frame_bytes", "its `.eh_frame`, which linked files load", |row| Cell::Number(row.forecast.sizes.eh_frame)),
        bytes("eh_frame_hdr_bytes", "its `.eh_frame_hdr`, which is loaded", |row| {
            Cell::Number(row.forecast.sizes.eh_frame_hdr)
        }),
        bytes("debug_frame_bytes", "its `.debug_frame`, which is not loaded", |row| {
            Cell::Number(row.forecast.sizes.debug_frame)
        }),
        bytes("sframe_bytes", "SFrame sections that it has already", |row| {
            Cell::Number(row.forecast.sizes.sframe)
        }),
    ];
}

/// `forecast_losses`.
pub(super) enum ForecastLosses {}

/// The functions that a predicted section leaves out for one cause.
pub(super) struct LossRow<'r> {
    section: &'r Predicted<'r>,
    loss: &'r Loss<'r>,
}

impl LossRow<'_> {
    fn example(&self) -> Option<&FunctionPlace<'_>> {
        self.loss.examples.first()
    }
}

/// The losses of a file's forecast.
pub(super) fn losses<'r>(forecast: &'r Forecast<'r>) -> impl Iterator<Item = LossRow<'r>> {
    let of = |section: &'r Predicted<'r>| {
        section.losses.iter().map(move |loss| LossRow { section, loss })
    };
    forecast.sections.iter().flat_map(of)
}

impl Table for ForecastLosses {
    const NAME: &'static str = "forecast_losses";
    const ABOUT: &'static str =
        "Functions that a section in `forecasts` would leave out, by cause.";
    type Row<'r> = LossRow<'r>;
    const COLUMNS: &'static [Column<ForecastLosses>] = &[
        Column {
            what: ColumnKind::texts("encoding", "as in `forecasts`"),
            cell: |row| Cell::text(&row.section.encoding),
        },
        Column {
            what: ColumnKind::texts("cause", "the cause, which `explain` knows"),
            cell: |row| Cell::text(&row.loss.cause),
        },
        Column {
            what: ColumnKind::numbers("functions", "", "number of functions"),
            cell: |row| Cell::Number(row.loss.functions),
        },
        Column {
            what: ColumnKind::numbers("bytes", "bytes", "code of these functions"),
            cell: |row| Cell::Number(row.loss.bytes),
        },
        Column {
            what: ColumnKind::texts("example_symbol", "the symbol of the first one").or_null(),
            cell: |row| Cell::optional_text(row.example().and_then(|of| of.symbol.as_deref())),
        },
        Column {
            what: ColumnKind::texts(
                "example_section",
                "the section that contains it; only in relocatable files",
            )
            .or_null(),
            cell: |row| {
                Cell::optional_text(row.example().and_then(|of| of.code_section.as_deref()))
            },
        },
        Column {
            what: ColumnKind::texts("example_start", "where it starts").or_null(),
            cell: |row| Cell::address(row.example().map(|of| of.start)),
        },
        Column {
            what: ColumnKind::numbers("example_bytes", "bytes", "its code; 0 for `zero-size`")
                .or_null(),
            cell: |row| Cell::optional_number(row.example().map(|of| of.size)),
        },
    ];
}

const fn name_of(elf_type: ElfType) -> &'static str {
    match elf_type {
        ElfType::Relocatable => "relocatable",
        ElfType::Executable => "executable",
        ElfType::Shared => "shared",
        ElfType::Other => "other",
    }
}

const fn column(
    what: ColumnKind,
    cell: for<'c, 'r> fn(&'c Row<'r>) -> Cell<'c>,
) -> Column<Forecasts> {
    Column { what, cell }
}

const fn bytes(
    name: &'static str,
    meaning: &'static str,
    cell: for<'c, 'r> fn(&'c Row<'r>) -> Cell<'c>,
) -> Column<Forecasts> {
    Column { what: ColumnKind::numbers(name, "bytes", meaning), cell }
}

const fn number(
    name: &'static str,
    meaning: &'static str,
    cell: for<'c, 'r> fn(&'c Row<'r>) -> Cell<'c>,
) -> Column<Forecasts> {
    Column { what: ColumnKind::numbers(name, "", meaning), cell }
}
