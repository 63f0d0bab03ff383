//! Writes one table's part of a shard.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use sframe_record::Record;

use super::TABLES_FORMAT;
use super::column::{Cell, ColumnKind, Of, PLACE, Table};
use crate::ContentHash;
use crate::error::{Error, Result};

/// The limits of a row group, in rows and in bytes of values: a row group is held in memory.
const GROUP_ROWS: usize = 1 << 16;
const GROUP_BYTES: usize = 16 << 20;

/// Writes the rows of one table.
pub(super) struct TableWriter<T: Table> {
    path: PathBuf,
    file: SerializedFileWriter<BufWriter<File>>,
    columns: Vec<Values>,
    rows: usize,
    bytes: usize,
    of: std::marker::PhantomData<T>,
}

/// The values of a column in a row group in Parquet's encoding: the present values, and for each row or list element
/// its definition level and repetition level.
struct Values {
    of: Of,
    nullable: bool,
    numbers: Vec<i64>,
    texts: Vec<ByteArray>,
    defined: Vec<i16>,
    repeated: Vec<i16>,
}

impl<T: Table> TableWriter<T> {
    pub(super) fn start(file: File, path: PathBuf, manifest: ContentHash) -> Result<Self> {
        let kinds = || {
            let own = T::COLUMNS.iter().map(|column| column.what);
            PLACE.iter().map(|column| column.what).chain(own)
        };
        let schema = kinds().map(|kind| field(kind).map(Arc::new)).collect::<ParquetResult<_>>();
        let schema =
            schema.and_then(|fields| Type::group_type_builder(T::NAME).with_fields(fields).build());
        let file = schema.and_then(|schema| {
            let properties = Arc::new(properties(manifest));
            SerializedFileWriter::new(BufWriter::new(file), Arc::new(schema), properties)
        });
        let file = file.map_err(failed(&path))?;
        let columns = kinds().map(Values::new).collect();
        Ok(TableWriter { path, file, columns, rows: 0, bytes: 0, of: std::marker::PhantomData })
    }

    /// Adds a row for the record with this number in the store.
    pub(super) fn row(&mut self, number: u64, record: &Record<'_>, row: &T::Row<'_>) -> Result<()> {
        let place = PLACE.iter().map(|column| (column.cell)(number, record));
        let cells = place.chain(T::COLUMNS.iter().map(|column| (column.cell)(row)));
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            self.bytes += column.push(cell);
        }
        self.rows += 1;
        if self.rows == GROUP_ROWS || self.bytes >= GROUP_BYTES {
            self.end_group()?;
        }
        Ok(())
    }

    fn end_group(&mut self) -> Result<()> {
        let write = |file: &mut SerializedFileWriter<_>, columns: &mut [Values]| {
            let mut group = file.next_row_group()?;
            columns.iter_mut().try_for_each(|column| column.write(&mut group))?;
            group.close().map(drop)
        };
        (self.rows, self.bytes) = (0, 0);
        write(&mut self.file, &mut self.columns).map_err(failed(&self.path))
    }

    /// Writes the last row group and syncs the file.
    pub(super) fn finish(mut self) -> Result<()> {
        if self.rows > 0 {
            self.end_group()?;
        }
        let file = self.file.into_inner().map_err(failed(&self.path))?;
        let synced = file.into_inner().map_err(|error| error.into_error());
        synced.and_then(|file| file.sync_all()).map_err(Error::io("write", &self.path))
    }
}

impl Values {
    fn new(kind: ColumnKind) -> Values {
        let ColumnKind { of, nullable, .. } = kind;
        let (numbers, texts, defined, repeated) = <(Vec<_>, Vec<_>, Vec<_>, Vec<_>)>::default();
        Values { of, nullable, numbers, texts, defined, repeated }
    }

    /// Adds the value of a row; returns its size in bytes.
    fn push(&mut self, cell: Cell<'_>) -> usize {
        match cell {
            Cell::Null => self.defined.push(0),
            Cell::Number(number) => {
                self.defined.push(1);
                self.numbers.push(i64::try_from(number).unwrap_or(i64::MAX));
            }
            Cell::Text(text) => {
                self.defined.push(1);
                self.texts.push(ByteArray::from(text.as_ref()));
                return size_of::<ByteArray>() + text.len();
            }
            Cell::List(list) => {
                // An empty list is a row with a lower definition level.
                self.defined
                    .resize(self.defined.len() + list.len().max(1), i16::from(!list.is_empty()));
                self.repeated.push(0);
                self.repeated.resize(self.defined.len(), 1);
                self.texts.extend(list.iter().map(|text| ByteArray::from(text.as_ref())));
                return list.iter().map(|text| size_of::<ByteArray>() + text.len()).sum();
            }
        }
        size_of::<i64>()
    }

    /// Writes the values to the next column of a row group, and clears them.
    fn write(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, BufWriter<File>>,
    ) -> ParquetResult<()> {
        let missing = || ParquetError::General("the schema has fewer columns".to_owned());
        let mut column = group.next_column()?.ok_or_else(missing)?;
        let defined = (self.nullable || self.of == Of::Lists).then_some(&*self.defined);
        match self.of {
            Of::Numbers => {
                column.typed::<Int64Type>().write_batch(&self.numbers, defined, None)?;
            }
            Of::Texts => {
                column.typed::<ByteArrayType>().write_batch(&self.texts, defined, None)?;
            }
            Of::Lists => {
                let repeated = Some(&*self.repeated);
                column.typed::<ByteArrayType>().write_batch(&self.texts, defined, repeated)?;
            }
        }
        self.numbers.clear();
        self.texts.clear();
        self.defined.clear();
        self.repeated.clear();
        column.close()
    }
}

fn properties(manifest: ContentHash) -> WriterProperties {
    let about = |key: &str, value: String| KeyValue::new(format!("sframe-store.{key}"), value);
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_key_value_metadata(Some(vec![
            about("tables", TABLES_FORMAT.to_string()),
            about("manifest", manifest.to_string()),
        ]))
        .build()
}

/// The schema of a column.
fn field(kind: ColumnKind) -> ParquetResult<Type> {
    let ColumnKind { name, of, nullable, .. } = kind;
    let repetition = if nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let text = |name, repetition| {
        Type::primitive_type_builder(name, Physical::BYTE_ARRAY)
            .with_repetition(repetition)
            .with_logical_type(Some(LogicalType::String))
            .build()
    };
    match of {
        Of::Numbers => {
            Type::primitive_type_builder(name, Physical::INT64).with_repetition(repetition).build()
        }
        Of::Texts => text(name, repetition),
        // Three levels, as Parquet's LogicalTypes.md defines under "Lists".
        Of::Lists => {
            let element = Arc::new(text("element", Repetition::REQUIRED)?);
            let list = Type::group_type_builder("list")
                .with_repetition(Repetition::REPEATED)
                .with_fields(vec![element])
                .build()?;
            Type::group_type_builder(name)
                .with_repetition(repetition)
                .with_logical_type(Some(LogicalType::List))
                .with_fields(vec![Arc::new(list)])
                .build()
        }
    }
}

/// Parquet's errors are reported as I/O errors: the rows fit the schema, so only writing can fail.
fn failed(path: &std::path::Path) -> impl FnOnce(ParquetError) -> Error {
    let path = path.to_owned();
    move |error| {
        let source = match error {
            ParquetError::External(error) => match error.downcast::<std::io::Error>() {
                Ok(error) => *error,
                Err(error) => std::io::Error::other(error),
            },
            error => std::io::Error::other(error),
        };
        Error::Io { action: "write", path, source }
    }
}
