//! A forecast in one sentence.

use super::{Forecast, ForecastTotal, Predicted};
use crate::numbers::{percent, size};
use crate::text::printable;

/// What a forecast is about, in words.
#[derive(Clone, Copy)]
struct Subject {
    whole: &'static str,
    whose: &'static str,
    has: &'static str,
}

const FILE: Subject = Subject { whole: "the file", whose: "its", has: "the file has" };
const FILES: Subject = Subject { whole: "the files", whose: "their", has: "these files have" };

impl Forecast<'_> {
    /// `SFrame would add 10.8 MB, 8.4 % to the files, and describe 94.0 % of their code; as .eh_frame: 11.2 MB, 8.7 %, and
    /// 97.1 % (gnu-2.44)`, for the first encoding of which something is known, as far as it is known; `None` if nothing is.
    #[must_use]
    pub fn answer(&self) -> Option<String> {
        self.sentence(if self.elf_type.is_some() { FILE } else { FILES })
    }

    fn sentence(&self, of: Subject) -> Option<String> {
        let Some(section) = self.known().next() else { return self.lack(of) };
        let Predicted { without, bytes, described_bytes, .. } = section;
        let file = self.sizes.file.saturating_sub(without.file);
        let code = self.sizes.code.saturating_sub(without.code);
        let frames = self.sizes.eh_frames().saturating_sub(without.eh_frames());
        let Subject { whole, whose, .. } = of;
        let described = percent(*described_bytes, code);
        let added = format!("{}, {} to {whole}", size(*bytes), percent(*bytes, file));
        let today = match frames {
            0 => String::new(),
            frames => {
                let with_cfi = described_bytes.saturating_add(section.lost_bytes());
                // Linkers that collect sections lose functions that are in no list.
                let is_all = !self.gc_sections && *bytes > 0 && code > 0;
                let share = is_all.then(|| format!(", and {}", percent(with_cfi, code)));
                let (size, of) = (size(frames), percent(frames, file));
                format!("; as .eh_frame: {size}, {of}{}", share.unwrap_or_default())
            }
        };
        let encoding = printable(&*section.encoding);
        Some(format!(
            "SFrame would add {added}, and describe {described} of {whose} code{today} ({encoding})"
        ))
    }

    /// Why files without CFI would have no section, and what can serve.
    fn lack(&self, of: Subject) -> Option<String> {
        if self.without_cfi == 0 {
            return None;
        }
        // The code witness reads that of AMD64 and AArch64.
        let is_read = self.machine.as_deref() != Some("s390x");
        let from_code = is_read
            .then_some("; `sframe-check synthesize --from code` makes a section from machine code");
        let by_orc =
            (self.sizes.orc > 0).then_some(", and `--against orc` compares it with the ORC tables");
        Some(format!(
            "SFrame is made from CFI, and {} none{}{}",
            of.has,
            from_code.unwrap_or_default(),
            by_orc.unwrap_or_default()
        ))
    }
}

impl ForecastTotal<'_> {
    /// The answer for all files, as that of [`Forecast::answer`].
    #[must_use]
    pub fn answer(&self) -> Option<String> {
        self.forecast.sentence(if self.files == 1 { FILE } else { FILES })
    }
}

#[cfg(test)]
mod tests {
    use crate::Forecast;

    /// The shares were computed by hand.
    #[test]
    fn the_answer_is_about_the_first_encoding_that_is_known() {
        let forecast = r#"{"sizes":{"file":20000,"code":4000,"eh_frame":1500,"eh_frame_hdr":500},"sections":[
            {"encoding":"gnu-2.40","unknown":1},
            {"encoding":"gnu-2.44","files":1,"bytes":1600,"described_bytes":3000,
             "losses":[{"cause":"cfa-register","functions":2,"bytes":100}]}]}"#;
        let forecast: Forecast<'_> = serde_json::from_str(forecast).expect("a forecast");
        assert_eq!(
            forecast.answer().as_deref(),
            Some(
                "SFrame would add 1.6 KB, 8.0 % to the files, and describe 75.0 % of their code; \
                 as .eh_frame: 2.0 KB, 10.0 %, and 77.5 % (gnu-2.44)"
            )
        );
        assert_eq!(Forecast::default().answer(), None);
    }
}
