//! What consumers do with the files of a scan, as people read it.

use super::{Outcome, ReadExample, Reading, ReadingTotal};
use crate::numbers::{counted, grouped, percent};
use crate::table::{Line, Table};
use crate::text::printable;

impl Reading<'_> {
    /// Why the consumer does not accept the sections: the reason, or the first example.
    #[must_use]
    pub fn why(&self) -> String {
        let reason = self.reason.as_ref().map(|reason| printable(&**reason));
        reason.or_else(|| self.examples.first().map(ReadExample::line)).unwrap_or_default()
    }
}

impl ReadExample<'_> {
    /// `misread: foo at 0x1000, from 0x1004: RSP+8 ...`.
    #[must_use]
    pub fn line(&self) -> String {
        let function = &self.function;
        let within = function.code_section.as_ref();
        let within = within.map_or(String::new(), |name| format!("{}+", printable(&**name)));
        let start = function.start.map_or(String::new(), |start| format!(" at {within}{start}"));
        let name = match &function.symbol {
            Some(symbol) => printable(&**symbol),
            None => format!("function {}", function.index),
        };
        let from = match function.start {
            Some(start) if start == self.pc => String::new(),
            _ => format!(", from {within}{}", self.pc),
        };
        format!("{}: {name}{start}{from}: {}", printable(&*self.kind), printable(&*self.reason))
    }
}

impl ReadingTotal<'_> {
    /// What the table is about: `2 files with SFrame`.
    #[must_use]
    pub fn subject(totals: &[ReadingTotal<'_>]) -> String {
        let files = totals.iter().map(ReadingTotal::all).max().unwrap_or(0);
        format!("{} with SFrame", counted(files, "file"))
    }

    /// A line for each consumer: the number of files by outcome, and the share of the code for which it finds the
    /// specification's row.
    #[must_use]
    pub fn table(totals: &[ReadingTotal<'_>]) -> Table {
        let has = |outcome: &Outcome| totals.iter().any(|of| of.count(*outcome) > 0);
        let outcomes: Vec<Outcome> = Outcome::ALL.into_iter().filter(has).collect();
        let mut columns: Vec<String> = outcomes.iter().map(|of| of.name().to_owned()).collect();
        columns.push("code with the right row".to_owned());
        let line = |of: &ReadingTotal<'_>| {
            let mut cells: Vec<String> =
                outcomes.iter().map(|outcome| grouped(of.count(*outcome))).collect();
            cells.push(percent(of.bytes.same, of.bytes.total()));
            Line { label: printable(&*of.consumer), is_part: false, cells }
        };
        Table { columns, lines: totals.iter().map(line).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::{ReadBytes, Reading};

    /// Three files, counted by hand.
    #[test]
    fn a_table_has_a_column_for_each_outcome_that_occurs() {
        let mut total = ReadingTotal::of("glibc-2.43");
        for (outcome, same, none) in
            [(Outcome::Accept, 30, 0), (Outcome::Ignore, 0, 50), (Outcome::Accept, 20, 0)]
        {
            total.add(
                "libfoo.so",
                &Reading {
                    consumer: "glibc-2.43".into(),
                    outcome,
                    reason: None,
                    functions: Default::default(),
                    bytes: ReadBytes { same, none, ..ReadBytes::default() },
                    examples: Vec::new(),
                },
            );
        }
        let totals = [total];
        assert_eq!(ReadingTotal::subject(&totals), "3 files with SFrame");
        let table = ReadingTotal::table(&totals);
        assert_eq!(table.columns, ["accept", "ignore", "code with the right row"]);
        assert_eq!(table.lines.first().expect("a line").cells, ["2", "1", "50.0 %"]);
    }
}
