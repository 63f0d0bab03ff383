//! What a stack walker finds after the calls of each package of a scan.

use std::cmp::Reverse;

use super::{CallSiteTotal, CallSites, SiteCounts};
use crate::numbers::{grouped, percent};
use crate::packages::{PackageSum, PackageSums};
use crate::table::{Line, Table};

/// The call sites of packages.
pub type PackageCallSites<'r> = PackageSums<'r, CallSiteTotal>;

impl PackageCallSites<'_> {
    /// Which packages a table of at most `listed` is about: `the 20 of 300 packages with the most wrong frames`.
    #[must_use]
    pub fn subject(&self, listed: usize) -> String {
        self.with_the_most("wrong frames", listed)
    }

    /// The packages with the most wrong frames, at most `listed`. For each witness that describes any call: the calls, those
    /// whose row is not found, and those with a wrong frame. `noun` is what people call the table that SFrame was compared with.
    #[must_use]
    pub fn table(&self, listed: usize, noun: &str) -> Table {
        type Of = fn(&CallSites) -> Option<SiteCounts>;
        let witnesses: [(&str, Of); 2] = [("SFrame", |of| of.sframe), (noun, |of| of.cfi)];
        let some = witnesses
            .into_iter()
            .filter(|(_, of)| self.packages.iter().any(|known| of(&known.total.sites).is_some()));
        let witnesses: Vec<(&str, Of)> = some.collect();
        let mut columns = Vec::new();
        for (name, _) in &witnesses {
            columns.push(format!("{name}: calls"));
            columns.push("row not found".to_owned());
            columns.push("wrong frame".to_owned());
        }
        let mut packages: Vec<&PackageSum<'_, CallSiteTotal>> = self.packages.iter().collect();
        packages.sort_by_key(|of| Reverse(wrong_frames(&of.total.sites)));
        let line = |of: &&PackageSum<'_, CallSiteTotal>| {
            let cells = witnesses.iter().flat_map(|(_, counts)| cells(counts(&of.total.sites)));
            Line { label: of.label(), is_part: false, cells: cells.collect() }
        };
        Table { columns, lines: packages.iter().take(listed).map(line).collect() }
    }
}

/// The calls of a witness, those whose row is not found with their share, and those with a wrong frame.
fn cells(counts: Option<SiteCounts>) -> [String; 3] {
    let Some(counts) = counts else { return ["0".to_owned(), String::new(), String::new()] };
    let share = percent(counts.affected(), counts.total());
    [
        grouped(counts.total()),
        format!("{} ({share})", grouped(counts.affected())),
        grouped(counts.wrong_frame()),
    ]
}

/// In SFrame or, if it describes no call, in CFI.
fn wrong_frames(sites: &CallSites) -> u64 {
    sites.sframe.or(sites.cfi).map_or(0, |counts| counts.wrong_frame())
}

#[cfg(test)]
mod tests {
    use crate::{Record, Summary};

    fn summary(lines: &[&str]) -> Summary<'static> {
        let mut summary = Summary::default();
        for line in lines {
            summary.add(&Record::parse(line).expect("a record"));
        }
        summary
    }

    /// The expected sums were added up by hand.
    #[test]
    fn a_package_has_the_sums_of_its_files() {
        let summary = summary(&[
            r#"{"path":"a.deb","inside":"x.so","status":"no-section","package":{"name":"a","version":"1"},
                "call_sites":{"cfi":{"same":90,"nothing":8,"other_row":1,"other_function":1}}}"#,
            r#"{"path":"a.deb","inside":"y.so","status":"no-section","package":{"name":"a","version":"1"},
                "call_sites":{"cfi":{"same":99,"same_elsewhere":1}}}"#,
            r#"{"path":"b.rpm","inside":"z","status":"checked",
                "call_sites":{"sframe":{"same":5,"other_row":5},"cfi":{"same":10}}}"#,
            r#"{"path":"alone.so","status":"no-section","call_sites":{"cfi":{"same":1000}}}"#,
        ]);
        let packages = summary.several_call_site_packages().expect("packages");
        let subjects = [1, 2].map(|listed| packages.subject(listed));
        assert_eq!(
            subjects,
            ["the 1 of 2 packages with the most wrong frames", "each of 2 packages"]
        );
        let table = packages.table(2, "CFI");
        let titles = ["calls", "row not found", "wrong frame"];
        let [calls, not_found, wrong] = titles;
        let (sframe, cfi) = (format!("SFrame: {calls}"), format!("CFI: {calls}"));
        assert_eq!(table.columns, [&sframe, not_found, wrong, &cfi, not_found, wrong]);
        let lines: Vec<_> =
            table.lines.iter().map(|of| (of.label.as_str(), of.cells.join(" | "))).collect();
        let wanted = [
            ("b.rpm", "10 | 5 (50.0 %) | 5 | 10 | 0 (0.0 %) | 0".to_owned()),
            ("a 1", "0 |  |  | 200 | 11 (5.5 %) | 2".to_owned()),
        ];
        assert_eq!(lines, wanted);
        assert_eq!(summary.call_sites.expect("a total").files, 4);
    }
}
