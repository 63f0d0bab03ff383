//! The figures of a forecast as people read them.

use super::{Forecast, Predicted};
use crate::numbers::{grouped, percent};
use crate::table::{Line, Table};
use crate::text::printable;

impl Forecast<'_> {
    /// The figures, with a column for each encoding of which something is known.
    #[must_use]
    pub fn table(&self) -> Table {
        let known = |of: &&Predicted<'_>| of.unknown == 0 || of.files > 0;
        let sections = self.sections.iter().filter(known).cloned().collect();
        let forecast = &Forecast { sections, sizes: self.sizes, ..Forecast::default() };
        let mut table = Table {
            columns: forecast.sections.iter().map(|of| printable(&*of.encoding)).collect(),
            lines: Vec::new(),
        };
        table.sizes(forecast);
        table.parts(forecast);
        table.described(forecast);
        table.losses(forecast);
        let is_unknown = forecast.sections.iter().any(|of| of.unknown > 0);
        if is_unknown {
            table.add(forecast, "files without a forecast", false, |of| grouped(of.unknown));
        }
        table
    }
}

impl Table {
    fn add(
        &mut self,
        forecast: &Forecast<'_>,
        label: impl Into<String>,
        is_part: bool,
        cell: impl Fn(&Predicted<'_>) -> String,
    ) {
        let cells = forecast.sections.iter().map(cell).collect();
        self.lines.push(Line { label: label.into(), is_part, cells });
    }

    fn sizes(&mut self, forecast: &Forecast<'_>) {
        let sizes = &forecast.sizes;
        self.add(forecast, "bytes", false, |of| grouped(of.bytes));
        let wholes = [
            (sizes.eh_frames(), ".eh_frame and .eh_frame_hdr"),
            (sizes.debug_frame, ".debug_frame, which is not loaded"),
            (sizes.file, "the files"),
            (sizes.loaded_file, "what is loaded from them"),
            (sizes.loaded_memory, "the memory that they take"),
            (sizes.sframe, "the sections that they have"),
        ];
        for (whole, what) in wholes.into_iter().filter(|(whole, _)| *whole > 0) {
            let label = format!("of {what}, {}", grouped(whole));
            self.add(forecast, label, true, |of| share(of, of.bytes, whole));
        }
    }

    fn described(&mut self, forecast: &Forecast<'_>) {
        let code = forecast.sizes.code;
        self.add(forecast, "bytes of code with entries", false, |of| grouped(of.described_bytes));
        if code > 0 {
            let label = format!("of all code, {}", grouped(code));
            self.add(forecast, label, true, |of| share(of, of.described_bytes, code));
        }
        self.add(forecast, "functions", false, |of| grouped(of.functions));
        self.add(forecast, "rows", false, |of| grouped(of.rows));
    }

    fn parts(&mut self, forecast: &Forecast<'_>) {
        let named = Predicted::default().parts.named();
        for (place, (name, _)) in named.into_iter().enumerate() {
            let bytes = |of: &Predicted<'_>| of.parts.named().get(place).map_or(0, |part| part.1);
            if forecast.sections.iter().any(|of| bytes(of) > 0) {
                self.add(forecast, format!("in {name}"), true, |of| grouped(bytes(of)));
            }
        }
    }

    fn losses(&mut self, forecast: &Forecast<'_>) {
        self.add(forecast, "functions left out", false, |of| grouped(of.lost()));
        let mut causes: Vec<&str> = Vec::new();
        for loss in forecast.sections.iter().flat_map(|of| &of.losses) {
            if !causes.contains(&&*loss.cause) {
                causes.push(&loss.cause);
            }
        }
        for cause in causes {
            self.add(forecast, printable(cause), true, |of| {
                let lost = of.losses.iter().find(|loss| &*loss.cause == cause);
                grouped(lost.map_or(0, |loss| loss.functions))
            });
        }
    }
}

/// A percentage of what all files have; `?` if the forecast does not include all of them.
fn share(of: &Predicted<'_>, number: u64, whole: u64) -> String {
    if of.unknown > 0 { "?".to_owned() } else { percent(number, whole) }
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

    #[test]
    fn there_are_no_percentages_of_files_without_a_forecast() {
        let forecast = r#"{"sizes":{"file":1000},"sections":[
            {"encoding":"gnu-2.40","unknown":2},
            {"encoding":"gnu-2.44","files":1,"unknown":1,"bytes":180}]}"#;
        let forecast: Forecast<'_> = serde_json::from_str(forecast).expect("a forecast");
        let table = forecast.table();
        assert_eq!(table.columns, ["gnu-2.44"]);
        let shares = table.lines.iter().filter(|line| line.label.starts_with("of the files"));
        assert!(shares.map(|line| &line.cells[..]).eq([["?".to_owned()]]));
    }
}
