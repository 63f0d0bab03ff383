//! What SFrame would cost each package of a scan.

use std::cmp::Reverse;

use super::ForecastTotal;
use crate::numbers::{grouped, percent};
use crate::packages::{PackageSum, PackageSums};
use crate::table::{Line, Table};
use crate::text::printable;
use crate::value::Text;

/// The forecasts for the programs and libraries of packages.
pub type PackageForecasts<'r> = PackageSums<'r, ForecastTotal<'r>>;

impl PackageForecasts<'_> {
    /// Which packages a table of at most `listed` is about: `the 20 of 300 packages with the most CFI`.
    #[must_use]
    pub fn subject(&self, listed: usize) -> String {
        self.with_the_most("CFI", listed)
    }

    /// The packages with the most CFI, at most `listed`: the bytes of `.eh_frame` and `.eh_frame_hdr`, and a column for each
    /// encoding with its bytes and their share of the former.
    #[must_use]
    pub fn table(&self, listed: usize) -> Table {
        let encodings = self.encodings();
        let line = |of: &&PackageSum<'_, ForecastTotal<'_>>| {
            let mut cells = vec![grouped(of.total.forecast.sizes.eh_frames())];
            cells.extend(encodings.iter().map(|name| of.cell(name)));
            Line { label: of.label(), is_part: false, cells }
        };
        let mut columns = vec![".eh_frame and .eh_frame_hdr".to_owned()];
        columns.extend(encodings.iter().map(|name| printable(&***name)));
        Table { columns, lines: self.by_size(listed).iter().map(line).collect() }
    }

    /// The bytes of SFrame for the packages of that table in its first encoding; 0 where they are not known.
    #[must_use]
    pub fn costs(&self, listed: usize) -> Vec<u64> {
        let encodings = self.encodings();
        let cost = |of: &&PackageSum<'_, ForecastTotal<'_>>| {
            let mut known = of.total.forecast.known();
            let section = known.find(|section| Some(&&section.encoding) == encodings.first());
            section.map_or(0, |section| section.bytes)
        };
        self.by_size(listed).iter().map(cost).collect()
    }

    /// The encodings that are known for a package, in the order of the packages.
    fn encodings(&self) -> Vec<&Text<'_>> {
        let mut encodings = Vec::new();
        for section in self.packages.iter().flat_map(|of| of.total.forecast.known()) {
            if !encodings.contains(&&section.encoding) {
                encodings.push(&section.encoding);
            }
        }
        encodings
    }

    /// The packages with the most CFI, at most `listed`.
    fn by_size(&self, listed: usize) -> Vec<&PackageSum<'_, ForecastTotal<'_>>> {
        let mut packages: Vec<_> = self.packages.iter().collect();
        packages.sort_by_key(|of| Reverse(of.total.forecast.sizes.eh_frames()));
        packages.truncate(listed);
        packages
    }
}

impl PackageSum<'_, ForecastTotal<'_>> {
    fn cell(&self, encoding: &Text<'_>) -> String {
        let forecast = &self.total.forecast;
        match forecast.known().find(|section| section.encoding == *encoding) {
            None if forecast.without_cfi > 0 => "no CFI".to_owned(),
            None => "not known".to_owned(),
            Some(section) => {
                let whole = forecast.sizes.eh_frames().saturating_sub(section.without.eh_frames());
                format!("{} ({})", grouped(section.bytes), percent(section.bytes, whole))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::packages::MOST_PACKAGES;
    use crate::{Record, Summary};

    fn summary(lines: &[&str]) -> Summary<'static> {
        let mut summary = Summary::default();
        for line in lines {
            summary.add(&Record::parse(line).expect("a record"));
        }
        summary
    }

    /// The expected sums were added up by hand. The second file of `a` has no forecast in one encoding, so that its CFI does
    /// not count in that column's share: 30 of 60 bytes.
    #[test]
    fn a_package_has_the_sums_of_its_files() {
        let summary = summary(&[
            r#"{"path":"a.deb","inside":"x.so","status":"no-section","package":{"name":"a","version":"1"},
                "forecast":{"elf_type":"shared","sizes":{"eh_frame":50,"eh_frame_hdr":10},"sections":[
                {"encoding":"gnu-2.44","files":1,"bytes":30},{"encoding":"smallest-v3","files":1,"bytes":20,
                "losses":[{"cause":"plt","functions":2,"bytes":4,"examples":[{"start":"0x10","size":4}]}]}]}}"#,
            r#"{"path":"b.rpm","inside":"z","status":"no-section",
                "forecast":{"sizes":{"eh_frame":400},"sections":[{"encoding":"gnu-2.44","files":1,"bytes":100},
                {"encoding":"smallest-v3","unknown":1,"reason":"damaged"}]}}"#,
            r#"{"path":"a.deb","inside":"y.so","status":"no-section","package":{"name":"a","version":"1"},
                "forecast":{"sizes":{"eh_frame":40},"sections":[{"encoding":"gnu-2.44","unknown":1},
                {"encoding":"smallest-v3","files":1,"bytes":30}]}}"#,
            r#"{"path":"a.deb","inside":"y.so","status":"no-section","package":{"name":"a","version":"2"},
                "forecast":{"sizes":{"eh_frame":5},"sections":[{"encoding":"gnu-2.44","files":1,"bytes":1},
                {"encoding":"smallest-v3","files":1,"bytes":1}]}}"#,
            r#"{"path":"alone.so","status":"no-section",
                "forecast":{"sizes":{"eh_frame":70},"sections":[{"encoding":"gnu-2.44","files":1,"bytes":7}]}}"#,
            r#"{"path":"a.deb","inside":"x.o","status":"no-section","package":{"name":"a","version":"1"},
                "forecast":{"elf_type":"relocatable","sizes":{"eh_frame":1000},"sections":[]}}"#,
        ]);
        let forecasts = summary.forecast_packages.as_ref().expect("packages");
        let named: Vec<_> = (forecasts.packages.iter())
            .map(|of| (of.package.as_str(), of.version.as_deref(), of.total.files))
            .collect();
        assert_eq!(named, [("a", Some("1"), 2), ("a", Some("2"), 1), ("b.rpm", None, 1)]);
        let loss = forecasts.packages.first().and_then(|of| {
            let loss = of.total.forecast.sections.get(1)?.losses.first()?;
            Some((loss.functions, loss.examples.first()?.file.as_deref()?.to_owned()))
        });
        assert_eq!(loss, Some((2, "a.deb!x.so".to_owned())));
        let table = forecasts.table(2);
        assert_eq!(table.columns, [".eh_frame and .eh_frame_hdr", "gnu-2.44", "smallest-v3"]);
        let subjects = [2, 3].map(|listed| forecasts.subject(listed));
        assert_eq!(subjects, ["the 2 of 3 packages with the most CFI", "each of 3 packages"]);
        assert_eq!(forecasts.costs(2), [100, 30]);
        let lines: Vec<_> =
            table.lines.iter().map(|of| (of.label.as_str(), of.cells.join(" | "))).collect();
        let wanted = [
            ("b.rpm", "400 | 100 (25.0 %) | not known".to_owned()),
            ("a 1", "100 | 30 (50.0 %) | 50 (50.0 %)".to_owned()),
        ];
        assert_eq!(lines, wanted);
    }

    #[test]
    fn the_number_of_packages_is_bounded() {
        let most = MOST_PACKAGES as u64;
        let lines: Vec<String> = (0..most + 2)
            .map(|number| {
                format!(
                    r#"{{"path":"{number}.deb","inside":"x","status":"no-section","forecast":{{"sizes":{{"file":1}}}}}}"#
                )
            })
            .collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let summary = summary(&lines);
        let packages = summary.forecast_packages.as_ref().expect("packages");
        assert_eq!((packages.packages.len(), packages.other_files), (MOST_PACKAGES, 2));
        assert_eq!(packages.subject(20), "the 20 of the first 10,000 packages with the most CFI");
        let total = summary.forecast.as_ref().expect("a total");
        assert_eq!(total.forecast.sizes.file, most + 2);
    }
}
