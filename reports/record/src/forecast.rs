//! What SFrame would cost a file, and what it would lose.

mod answer;
pub(crate) mod packages;
mod table;

use serde::{Deserialize, Serialize};

use crate::bounded::entry;
use crate::coverage::{Loss, add_losses};
use crate::elf_type::ElfType;
use crate::value::{Text, is_zero};

/// What SFrame would cost a file, or several files, and what it would lose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Forecast<'r> {
    /// The machine: `AMD64`, `AArch64`, `AArch64-BE` or `s390x`; missing in sums.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Text<'r>>,
    /// The type of the ELF file; missing in sums.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elf_type: Option<ElfType>,
    /// Whether `gnu-*` are predictions for a link with `--gc-sections`, in sums of at least one file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub gc_sections: bool,
    /// The number of files with code and without CFI, from which SFrame is made: they would have no section. 0 or 1 in the
    /// record of a file.
    #[serde(skip_serializing_if = "is_zero")]
    pub without_cfi: u64,
    /// The sizes with which the sections are compared.
    pub sizes: Sizes,
    /// A section for each encoding that was asked for.
    #[serde(borrow)]
    pub sections: Vec<Predicted<'r>>,
}

/// Sizes in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Sizes {
    /// The file.
    pub file: u64,
    /// What is loaded from the file; 0 for relocatable objects.
    pub loaded_file: u64,
    /// The memory into which it is loaded, with what is filled with zeros; 0 for relocatable objects.
    pub loaded_memory: u64,
    /// Code.
    pub code: u64,
    /// `.eh_frame`, which is loaded in linked files.
    pub eh_frame: u64,
    /// `.eh_frame_hdr`, which is loaded.
    pub eh_frame_hdr: u64,
    /// `.debug_frame`, compressed or not, which is not loaded.
    #[serde(skip_serializing_if = "is_zero")]
    pub debug_frame: u64,
    /// ORC tables of kernels and modules: `.orc_unwind` and `.orc_unwind_ip`.
    #[serde(skip_serializing_if = "is_zero")]
    pub orc: u64,
    /// The SFrame sections that the file has already.
    pub sframe: u64,
}

/// A section that a producer would write from the file's CFI.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Predicted<'r> {
    /// The encoding: `gnu-2.40`, `gnu-2.44` and `gnu-2.47.50` as GNU as and ld of that release write it; `smallest-v2` and
    /// `smallest-v3` in the fewest bytes that say the same.
    #[serde(borrow)]
    pub encoding: Text<'r>,
    /// The number of files that would have a section: 0 or 1 in the record of a file.
    pub files: u64,
    /// The number of files of which the section is not known: 0 or 1 in the record of a file.
    #[serde(skip_serializing_if = "is_zero")]
    pub unknown: u64,
    /// Why it is not known; in sums, the first of these files and the reason.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text<'r>>,
    /// In sums, the sizes of the files of which the section is not known.
    #[serde(skip_serializing_if = "is_zero")]
    pub without: Sizes,
    /// The size of the section in bytes.
    pub bytes: u64,
    /// These bytes by what they hold.
    pub parts: Parts,
    /// The number of functions that it describes.
    pub functions: u64,
    /// Those with flexible rows (version 3).
    #[serde(skip_serializing_if = "is_zero")]
    pub flexible: u64,
    /// The number of rows.
    pub rows: u64,
    /// Bytes of code that it describes.
    pub described_bytes: u64,
    /// Bytes of attributes and rows that repeat those of another function.
    pub repeated: u64,
    /// The functions that it leaves out, by cause.
    #[serde(borrow)]
    pub losses: Vec<Loss<'r>>,
}

/// Bytes of a section by what they hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Parts {
    /// The header, with the auxiliary header.
    pub header: u64,
    /// The function index.
    pub index: u64,
    /// The attributes before each function's rows (version 3).
    pub attributes: u64,
    /// The start fields of rows.
    pub row_starts: u64,
    /// The info bytes of rows.
    pub row_info: u64,
    /// The data words of rows.
    pub data_words: u64,
    /// Bytes that belong to nothing.
    pub unused: u64,
}

/// The forecast for several files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForecastTotal<'r> {
    /// The number of files.
    pub files: u64,
    /// The sums over these files.
    #[serde(borrow, flatten)]
    pub forecast: Forecast<'r>,
}

impl Sizes {
    /// The CFI that loaded programs carry for unwinding: `.eh_frame` and `.eh_frame_hdr`.
    #[must_use]
    pub const fn eh_frames(&self) -> u64 {
        self.eh_frame.saturating_add(self.eh_frame_hdr)
    }

    fn add(&mut self, other: &Sizes) {
        for (sum, number) in [
            (&mut self.file, other.file),
            (&mut self.loaded_file, other.loaded_file),
            (&mut self.loaded_memory, other.loaded_memory),
            (&mut self.code, other.code),
            (&mut self.eh_frame, other.eh_frame),
            (&mut self.eh_frame_hdr, other.eh_frame_hdr),
            (&mut self.debug_frame, other.debug_frame),
            (&mut self.orc, other.orc),
            (&mut self.sframe, other.sframe),
        ] {
            *sum = sum.saturating_add(number);
        }
    }
}

impl Parts {
    /// The parts with their names.
    #[must_use]
    pub const fn named(&self) -> [(&'static str, u64); 7] {
        [
            ("header", self.header),
            ("index", self.index),
            ("attributes", self.attributes),
            ("row starts", self.row_starts),
            ("row info", self.row_info),
            ("data words", self.data_words),
            ("unused", self.unused),
        ]
    }

    /// Adds the bytes of another section.
    pub fn add(&mut self, other: &Parts) {
        for (sum, number) in [
            (&mut self.header, other.header),
            (&mut self.index, other.index),
            (&mut self.attributes, other.attributes),
            (&mut self.row_starts, other.row_starts),
            (&mut self.row_info, other.row_info),
            (&mut self.data_words, other.data_words),
            (&mut self.unused, other.unused),
        ] {
            *sum = sum.saturating_add(number);
        }
    }
}

impl Predicted<'_> {
    /// The number of functions that are left out.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.losses.iter().map(|loss| loss.functions).fold(0, u64::saturating_add)
    }

    /// The bytes of code in functions that are left out.
    #[must_use]
    pub fn lost_bytes(&self) -> u64 {
        self.losses.iter().map(|loss| loss.bytes).fold(0, u64::saturating_add)
    }

    /// Adds the section of the file with these sizes and this name.
    fn add(&mut self, other: &Predicted<'_>, sizes: &Sizes, name: &dyn Fn() -> String) {
        if other.unknown > 0 {
            self.without.add(sizes);
            if let (None, Some(reason)) = (&self.reason, &other.reason) {
                self.reason = Some(format!("{}: {reason}", name()).into());
            }
        }
        for (sum, number) in [
            (&mut self.files, other.files),
            (&mut self.unknown, other.unknown),
            (&mut self.bytes, other.bytes),
            (&mut self.functions, other.functions),
            (&mut self.flexible, other.flexible),
            (&mut self.rows, other.rows),
            (&mut self.described_bytes, other.described_bytes),
            (&mut self.repeated, other.repeated),
        ] {
            *sum = sum.saturating_add(number);
        }
        self.parts.add(&other.parts);
        add_losses(&mut self.losses, &other.losses, name);
    }
}

impl<'r> Forecast<'r> {
    /// The sections of which something is known.
    pub(crate) fn known(&self) -> impl Iterator<Item = &Predicted<'r>> + Clone {
        let lacking = self.without_cfi;
        self.sections.iter().filter(move |of| of.files > 0 || of.unknown == 0 && lacking == 0)
    }

    /// Whether nothing is known of any section: CFI cannot be read, or there is none.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.known().next().is_none()
    }

    /// What a file does not show, and `gnu-*` depend on: how it was linked. `None` if there is nothing to say.
    #[must_use]
    pub fn caveat(&self) -> Option<&'static str> {
        let is_known = |of: &&Predicted<'_>| of.unknown == 0;
        let mut names = self.known().filter(is_known).map(|of| &*of.encoding);
        let is_older = names.clone().any(|name| matches!(name, "gnu-2.40" | "gnu-2.44"));
        let is_gnu = names.any(|name| name.starts_with("gnu-"));
        is_gnu.then_some(match (self.gc_sections, is_older) {
            (true, true) => "gnu-*: with --gc-sections, GNU ld up to 2.44 writes no section, 2.47.50 no stubs",
            (true, false) => "gnu-2.47.50: linked with --gc-sections, so that stubs have no entries",
            (false, true) => "gnu-*: without --gc-sections (rustc uses it), with which GNU ld up to 2.44 writes none",
            (false, false) => "gnu-2.47.50: linked without --gc-sections, with which stubs have no entries",
        })
    }

    /// Whether the file is a relocatable object, from which a library or program may have been made.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.elf_type == Some(ElfType::Relocatable)
    }
}

impl ForecastTotal<'_> {
    /// Adds the forecast for the file with this name.
    pub fn add(&mut self, file: &Forecast<'_>, name: &dyn Fn() -> String) {
        self.files = self.files.saturating_add(1);
        self.forecast.gc_sections |= file.gc_sections;
        let lacking = &mut self.forecast.without_cfi;
        *lacking = lacking.saturating_add(file.without_cfi);
        self.forecast.sizes.add(&file.sizes);
        let sections = &mut self.forecast.sections;
        for section in &file.sections {
            let place = sections.iter().position(|known| known.encoding == section.encoding);
            let place = place.ok_or(sections.len());
            let new = || Predicted {
                encoding: section.encoding.clone().into_owned(),
                ..Predicted::default()
            };
            if let Some(sum) = entry(sections, place, new) {
                sum.add(section, &file.sizes, name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Forecast, ForecastTotal};

    /// The expected sums were added up by hand.
    #[test]
    fn a_total_is_the_sum_by_encoding() {
        let files = [
            r#"{"elf_type":"shared","sizes":{"file":100,"eh_frame":30,"eh_frame_hdr":12},"sections":[
                {"encoding":"gnu-2.44","files":1,"bytes":40,"parts":{"header":28,"index":12},"functions":1,
                 "losses":[{"cause":"cfa-register","functions":2,"bytes":9,"examples":[{"start":"0x10","size":9}]}]},
                {"encoding":"smallest-v3","files":1,"bytes":35}]}"#,
            r#"{"sizes":{"file":18446744073709551615,"eh_frame":5},"sections":[
                {"encoding":"smallest-v3","unknown":1,"reason":"damaged"},
                {"encoding":"gnu-2.44","files":1,"bytes":2,"losses":[
                 {"cause":"plt","functions":1,"bytes":1},
                 {"cause":"cfa-register","functions":1,"bytes":1,"examples":[{"start":"0x20","size":1}]}]}]}"#,
        ];
        let mut total = ForecastTotal::default();
        for (file, name) in files.into_iter().zip(["a.so", "b.so"]) {
            let forecast: Forecast<'_> = serde_json::from_str(file).expect("a forecast");
            total.add(&forecast, &|| name.to_owned());
        }
        assert_eq!((total.files, total.forecast.sizes.eh_frames()), (2, 47));
        assert_eq!(total.forecast.sizes.file, u64::MAX);
        let [gnu, smallest] = &total.forecast.sections[..] else { panic!("two encodings") };
        assert_eq!((gnu.encoding.as_str(), gnu.files, gnu.bytes), ("gnu-2.44", 2, 42));
        assert_eq!((gnu.parts.header, gnu.parts.index), (28, 12));
        assert_eq!((gnu.lost(), gnu.lost_bytes()), (4, 11));
        let causes: Vec<_> = gnu.losses.iter().map(|loss| loss.cause.as_str()).collect();
        assert_eq!(causes, ["plt", "cfa-register"], "in the order of the oracle");
        let examples = gnu.losses.iter().flat_map(|loss| &loss.examples);
        let examples: Vec<_> = examples.map(|of| (of.file.as_deref(), of.start.0)).collect();
        assert_eq!(examples, [(Some("a.so"), 0x10)]);
        assert_eq!((smallest.files, smallest.unknown, smallest.bytes), (1, 1, 35));
        assert_eq!(smallest.reason.as_deref(), Some("b.so: damaged"));
        assert_eq!((smallest.without.eh_frame, gnu.without.eh_frame), (5, 0));
    }
}
