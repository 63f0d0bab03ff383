//! The figures of a forecast as people read them.

use super::{Forecast, Predicted, Sizes};
use crate::numbers::{grouped, percent};
use crate::table::{Line, Table};
use crate::text::printable;

/// One of the sizes with which sections are compared.
type Measure = fn(&Sizes) -> u64;

/// How many figures are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// All.
    Full,
    /// Those that fit a screen, with at most so many causes of loss.
    Screen { causes: usize },
}

impl Forecast<'_> {
    /// The figures, with a column for each encoding of which something is known.
    #[must_use]
    pub fn table(&self) -> Table {
        self.figures(Detail::Full)
    }

    /// The figures that fit a screen, with at most `causes` of loss.
    #[must_use]
    pub fn table_in_short(&self, causes: usize) -> Table {
        self.figures(Detail::Screen { causes })
    }

    fn figures(&self, detail: Detail) -> Table {
        let sections = self.known().cloned().collect();
        let forecast = &Forecast {
            sections,
            sizes: self.sizes,
            elf_type: self.elf_type,
            without_cfi: self.without_cfi,
            ..Forecast::default()
        };
        if forecast.sections.is_empty() {
            return Table::default();
        }
        let mut table = Table {
            columns: forecast.sections.iter().map(|of| printable(&*of.encoding)).collect(),
            lines: Vec::new(),
        };
        table.sizes(forecast, detail);
        if detail == Detail::Full {
            table.parts(forecast);
        }
        table.described(forecast);
        let causes = match detail {
            Detail::Full => usize::MAX,
            Detail::Screen { causes } => causes,
        };
        table.losses(forecast, causes);
        let is_unknown = forecast.sections.iter().any(|of| of.unknown > 0);
        if is_unknown {
            table.add(forecast, "files without a forecast", |of| grouped(of.unknown));
        }
        if forecast.without_cfi > 0 {
            let lacking = grouped(forecast.without_cfi);
            table.add(forecast, "files without CFI, and so without a section", |_| lacking.clone());
        }
        table
    }
}

impl Table {
    fn add(
        &mut self,
        forecast: &Forecast<'_>,
        label: impl Into<String>,
        cell: impl Fn(&Predicted<'_>) -> String,
    ) {
        let cells = forecast.sections.iter().map(cell).collect();
        self.lines.push(Line { label: label.into(), is_part: false, cells });
    }

    /// Adds a line about a part of what the line before is about.
    fn add_part(
        &mut self,
        forecast: &Forecast<'_>,
        label: impl Into<String>,
        cell: impl Fn(&Predicted<'_>) -> String,
    ) {
        self.add(forecast, label, cell);
        self.lines.last_mut().into_iter().for_each(|line| line.is_part = true);
    }

    fn sizes(&mut self, forecast: &Forecast<'_>, detail: Detail) {
        self.add(forecast, "bytes", |of| grouped(of.bytes));
        // Some files have the sections of the last two, others do not: in sums, these are no measure.
        let is_file = forecast.elf_type.is_some();
        let wholes: [(Measure, &str, &str); 7] = [
            (Sizes::eh_frames, ".eh_frame and .eh_frame_hdr", ".eh_frame and .eh_frame_hdr"),
            (|sizes| sizes.file, "the file", "the files"),
            (|sizes| sizes.loaded_file, "what is loaded from it", "what is loaded from them"),
            (|sizes| sizes.loaded_memory, "the memory that it takes", "the memory that they take"),
            (|sizes| sizes.debug_frame, ".debug_frame, which is not loaded", ""),
            (|sizes| sizes.orc, "its ORC tables", ""),
            (|sizes| sizes.sframe, "the section that it has", ""),
        ];
        // On a screen, what the memory takes is left out: it is nearly the same as what is loaded.
        let on_screen = |place: usize| detail == Detail::Full || place != 3;
        let wholes = wholes.into_iter().enumerate().filter(|(place, _)| on_screen(*place));
        for (_, (measure, of_file, of_files)) in wholes {
            let what = if is_file { of_file } else { of_files };
            self.shares(forecast, what, measure, |of| of.bytes);
        }
    }

    /// Shares of what the files have. A column leaves out files of which the section is not known.
    fn shares(
        &mut self,
        forecast: &Forecast<'_>,
        what: &str,
        measure: Measure,
        number: impl Fn(&Predicted<'_>) -> u64,
    ) {
        let whole = measure(&forecast.sizes);
        if whole == 0 || what.is_empty() {
            return;
        }
        self.add_part(forecast, format!("of {what}, {}", grouped(whole)), |of| {
            percent(number(of), whole.saturating_sub(measure(&of.without)))
        });
    }

    fn described(&mut self, forecast: &Forecast<'_>) {
        self.add(forecast, "bytes of code with entries", |of| grouped(of.described_bytes));
        self.shares(forecast, "all code", |sizes| sizes.code, |of| of.described_bytes);
        self.add(forecast, "functions", |of| grouped(of.functions));
        self.add(forecast, "rows", |of| grouped(of.rows));
    }

    fn parts(&mut self, forecast: &Forecast<'_>) {
        let named = Predicted::default().parts.named();
        for (place, (name, _)) in named.into_iter().enumerate() {
            let bytes = |of: &Predicted<'_>| of.parts.named().get(place).map_or(0, |part| part.1);
            if forecast.sections.iter().any(|of| bytes(of) > 0) {
                self.add_part(forecast, format!("in {name}"), |of| grouped(bytes(of)));
            }
        }
    }

    fn losses(&mut self, forecast: &Forecast<'_>, most: usize) {
        self.add(forecast, "functions left out", |of| grouped(of.lost()));
        let mut causes: Vec<&str> = Vec::new();
        for loss in forecast.sections.iter().flat_map(|of| &of.losses) {
            if !causes.contains(&&*loss.cause) {
                causes.push(&loss.cause);
            }
        }
        let lost = |of: &Predicted<'_>, cause: &str| {
            let lost = of.losses.iter().find(|loss| &*loss.cause == cause);
            lost.map_or(0, |loss| loss.functions)
        };
        // One line for the rest takes no more room than the last cause.
        let shown = if causes.len() > most { most.saturating_sub(1) } else { causes.len() };
        let (causes, others) = causes.split_at_checked(shown).unwrap_or_default();
        for cause in causes {
            self.add_part(forecast, printable(*cause), |of| grouped(lost(of, cause)));
        }
        if !others.is_empty() && most > 0 {
            let sum = |of: &Predicted<'_>| {
                others.iter().map(|cause| lost(of, cause)).fold(0, u64::saturating_add)
            };
            self.add_part(forecast, format!("{} other causes", others.len()), |of| {
                grouped(sum(of))
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Forecast;

    /// The expected values are those of the forecast, and percentages computed by hand.
    #[test]
    fn a_table_has_a_column_for_each_encoding() {
        let forecast = r#"{"sizes":{"file":1000,"code":400,"eh_frame":150,"eh_frame_hdr":50},"sections":[
            {"encoding":"gnu-2.44","files":1,"bytes":180,"described_bytes":300,"functions":5,"rows":9,
             "parts":{"header":28,"index":100,"row_starts":20,"row_info":12,"data_words":20},
             "losses":[{"cause":"cfa-register","functions":2,"bytes":100}]},
            {"encoding":"smallest-v3","files":1,"bytes":150,"described_bytes":400,"functions":7,"rows":9}]}"#;
        let forecast: Forecast<'_> = serde_json::from_str(forecast).expect("a forecast");
        let table = forecast.table();
        assert_eq!(table.columns, ["gnu-2.44", "smallest-v3"]);
        let line = |label: &str| {
            let line = table.lines.iter().find(|line| line.label == label);
            line.unwrap_or_else(|| panic!("{label}")).cells.join(" | ")
        };
        assert_eq!(line("of .eh_frame and .eh_frame_hdr, 200"), "90.0 % | 75.0 %");
        assert_eq!(line("of the files, 1,000"), "18.0 % | 15.0 %");
        assert_eq!(line("of all code, 400"), "75.0 % | 100.0 %");
        assert_eq!(line("in index"), "100 | 0");
        assert_eq!(line("functions left out"), "2 | 0");
        assert_eq!(line("cfa-register"), "2 | 0");
        let has = |label: &str| table.lines.iter().any(|line| line.label.contains(label));
        assert!(!has("loaded") && !has("attributes") && !has("without"));
    }

    /// A column has shares of the files of which its section is known: of 1,000 bytes of files, 400 belong to another one.
    #[test]
    fn shares_leave_out_files_without_a_forecast() {
        let forecast = r#"{"sizes":{"file":1000,"code":80,"debug_frame":5,"sframe":6},"sections":[
            {"encoding":"gnu-2.40","unknown":2},
            {"encoding":"gnu-2.44","files":1,"unknown":1,"bytes":180,"described_bytes":30,"without":{"file":400,"code":20}},
            {"encoding":"smallest-v3","files":2,"bytes":250,"described_bytes":40}]}"#;
        let forecast: Forecast<'_> = serde_json::from_str(forecast).expect("a forecast");
        let table = forecast.table();
        assert_eq!(table.columns, ["gnu-2.44", "smallest-v3"]);
        let line = |label: &str| table.lines.iter().find(|line| line.label.starts_with(label));
        let cells = |label: &str| line(label).map(|line| line.cells.join(" | "));
        assert_eq!(cells("of the files, 1,000").as_deref(), Some("30.0 % | 25.0 %"));
        assert_eq!(cells("of all code, 80").as_deref(), Some("50.0 % | 50.0 %"));
        assert_eq!(cells("files without a forecast").as_deref(), Some("1 | 0"));
        assert!(line("of .debug_frame").is_none() && line("of the section").is_none());
    }
}
