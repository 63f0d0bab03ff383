//! A table of figures as people read them, for renderers of every format.

/// A table: a label and a value for each column in every line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The titles of the columns.
    pub columns: Vec<String>,
    /// The lines.
    pub lines: Vec<Line>,
}

/// A line of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What it is about.
    pub label: String,
    /// Whether it is a detail, which is indented below the figure that it belongs to.
    pub is_part: bool,
    /// A value for each column.
    pub cells: Vec<String>,
}
