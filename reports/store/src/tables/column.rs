//! Definitions of columns, from which both the schema of the files and their documentation are made.

use std::borrow::Cow;

use sframe_record::Address;
use sframe_record::Record;

/// A table.
pub(super) trait Table: Sized + 'static {
    /// The name of its folder below `tables/`.
    const NAME: &'static str;
    /// What a row contains, for the documentation.
    const ABOUT: &'static str;
    /// The data from which a row is made, besides the record.
    type Row<'r>;
    /// Its own columns, which follow those in [`PLACE`].
    const COLUMNS: &'static [Column<Self>];
}

/// A column of a single table.
pub(super) struct Column<T: Table> {
    pub(super) what: ColumnKind,
    pub(super) cell: for<'c, 'r> fn(&'c T::Row<'r>) -> Cell<'c>,
}

/// A column that all tables have: it identifies the file.
pub(super) struct PlaceColumn {
    pub(super) what: ColumnKind,
    pub(super) cell: for<'c, 'r> fn(u64, &'c Record<'r>) -> Cell<'c>,
}

/// The definition of a column in any table.
#[derive(Clone, Copy)]
pub(super) struct ColumnKind {
    pub(super) name: &'static str,
    pub(super) of: Of,
    /// Whether values may be missing.
    pub(super) nullable: bool,
    /// The unit of its numbers; empty if they have none.
    pub(super) unit: &'static str,
    pub(super) meaning: &'static str,
}

/// The type of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// Signed 64-bit integers, because SQL subtracts them well. A number above 2^63-1, which only a malicious file
    /// contains, is stored as 2^63-1.
    Numbers,
    Texts,
    /// A list of strings, which may be empty.
    Lists,
}

/// A value.
pub(super) enum Cell<'c> {
    Null,
    Number(u64),
    Text(Cow<'c, str>),
    List(Vec<Cow<'c, str>>),
}

impl<'c> Cell<'c> {
    pub(super) fn text(text: &'c str) -> Cell<'c> {
        Cell::Text(Cow::Borrowed(text))
    }

    pub(super) fn optional_text<T: AsRef<str> + ?Sized>(text: Option<&'c T>) -> Cell<'c> {
        text.map_or(Cell::Null, |text| Cell::text(text.as_ref()))
    }

    pub(super) fn optional_number(number: Option<u64>) -> Cell<'c> {
        number.map_or(Cell::Null, Cell::Number)
    }

    pub(super) fn address(address: Option<Address>) -> Cell<'c> {
        address.map_or(Cell::Null, |Address(address)| Cell::Text(format!("{address:#x}").into()))
    }
}

impl ColumnKind {
    pub(super) const fn numbers(
        name: &'static str,
        unit: &'static str,
        meaning: &'static str,
    ) -> ColumnKind {
        ColumnKind { name, of: Of::Numbers, nullable: false, unit, meaning }
    }

    pub(super) const fn texts(name: &'static str, meaning: &'static str) -> ColumnKind {
        ColumnKind { name, of: Of::Texts, nullable: false, unit: "", meaning }
    }

    pub(super) const fn lists(name: &'static str, meaning: &'static str) -> ColumnKind {
        ColumnKind { name, of: Of::Lists, nullable: false, unit: "", meaning }
    }

    pub(super) const fn or_null(self) -> ColumnKind {
        ColumnKind { nullable: true, ..self }
    }
}

/// The columns that each table starts with, so that queries about packages need no join.
pub(super) const PLACE: &[PlaceColumn] = &[
    PlaceColumn {
        what: ColumnKind::numbers(
            "file",
            "",
            "number of the record in the store, from 0: the same in all tables",
        ),
        cell: |number, _| Cell::Number(number),
    },
    PlaceColumn {
        what: ColumnKind::texts("package", "name of the package it is in").or_null(),
        cell: |_, record| Cell::optional_text(record.package.as_ref().map(|of| of.name.as_str())),
    },
    PlaceColumn {
        what: ColumnKind::texts("version", "version of the package").or_null(),
        cell: |_, record| {
            Cell::optional_text(record.package.as_ref().and_then(|of| of.version.as_deref()))
        },
    },
    PlaceColumn {
        what: ColumnKind::texts(
            "architecture",
            "architecture of the package, in the distribution's term",
        )
        .or_null(),
        cell: |_, record| {
            Cell::optional_text(record.package.as_ref().and_then(|of| of.architecture.as_deref()))
        },
    },
    PlaceColumn {
        what: ColumnKind::texts("source", "source package that the package is built from")
            .or_null(),
        cell: |_, record| {
            Cell::optional_text(record.package.as_ref().and_then(|of| of.source.as_deref()))
        },
    },
    PlaceColumn {
        what: ColumnKind::texts(
            "path",
            "path as given or found; bytes that are not UTF-8 are written as `\\xNN`",
        ),
        cell: |_, record| Cell::text(&record.path),
    },
    PlaceColumn {
        what: ColumnKind::texts("inside", "path of the file inside the package at `path`")
            .or_null(),
        cell: |_, record| Cell::optional_text(record.inside.as_deref()),
    },
    PlaceColumn {
        what: ColumnKind::texts("member", "name of the archive member").or_null(),
        cell: |_, record| Cell::optional_text(record.member.as_deref()),
    },
];
