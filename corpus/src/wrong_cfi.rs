//! The list `wrong-cfi/WRONG.tsv`: ranges of PCs in the files of `wrong-cfi/` with what CFI says about them, and what is true.

use std::fs;
use std::ops::Range;

use crate::steps::{Call, Step};

/// A line of the list, for one of its files.
#[derive(Clone, Debug)]
pub struct Wrong {
    /// The path relative to `wrong-cfi/`.
    pub file: String,
    /// The function, or the section if no function contains the range.
    pub function: String,
    /// The range, in bytes from the start of the function or section. Only PCs where an instruction starts count.
    pub range: Range<u64>,
    /// The row of CFI.
    pub cfi: Rules,
    /// What is true: computed by hand, from the instructions.
    pub truth: Rules,
    /// Whether the code witness proves that CFI is wrong. Otherwise it is undecided.
    pub is_proven: bool,
    /// Who made the CFI: `assembly` for directives written by hand, or a program.
    pub wrong: String,
    /// The folder with the proof.
    pub note: String,
}

/// A row: where the CFA, the return address and the caller's frame pointer are. Written as readelf prints it, as in
/// `rsp+16 c-8 u`, and with `signed` after it if the return address is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Whether the CFA is counted from the frame pointer, instead of from the stack pointer.
    pub from_fp: bool,
    /// The distance of the CFA from that register, in bytes.
    pub offset: i64,
    /// The return address.
    pub ra: Place,
    /// The caller's frame pointer.
    pub fp: Place,
    /// Whether the return address is signed.
    pub ra_signed: bool,
}

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In its own register.
    Unchanged,
    /// In memory, at this distance from the CFA, in bytes.
    AtCfa(i64),
    /// Nowhere in the frame: written `lost`.
    Lost,
}

/// The caller's registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The stack pointer before the call: the CFA.
    pub sp: u64,
    /// The frame pointer; `None` if it is lost.
    pub fp: Option<u64>,
    /// The return address.
    pub ra: u64,
}

/// The bits of an address in the programs of the tests. A signature is in the bits above them.
const ADDRESS: u64 = (1 << 48) - 1;

impl Rules {
    fn parse(text: &str) -> Rules {
        let words: Vec<&str> = text.split(' ').collect();
        let [cfa, ra, fp, ref rest @ ..] = words[..] else { panic!("{text}: three rules") };
        assert!(matches!(rest, [] | ["signed"]), "{text}: {rest:?}");
        let (register, offset) = cfa.split_once('+').expect("a register and an offset");
        let from_fp = match register {
            "rbp" | "x29" => true,
            "rsp" | "sp" => false,
            _ => panic!("{text}: {register}"),
        };
        let place = |text: &str| match text.strip_prefix('c') {
            Some(offset) => Place::AtCfa(offset.parse().expect("an offset")),
            None if text == "u" => Place::Unchanged,
            None if text == "lost" => Place::Lost,
            None => panic!("{text}: neither an offset nor `u` nor `lost`"),
        };
        let offset = offset.parse().expect("an offset");
        Rules { from_fp, offset, ra: place(ra), fp: place(fp), ra_signed: !rest.is_empty() }
    }

    /// The caller's registers that the row gives at a step of a call. `None` if it reads memory outside of the recorded
    /// part of the stack, or if the return address is lost.
    #[must_use]
    pub fn recover(&self, call: &Call, step: &Step) -> Option<Caller> {
        let base = if self.from_fp { step.fp } else { step.sp };
        let sp = base.wrapping_add_signed(self.offset);
        let value = |place: Place, register: u64| match place {
            Place::Unchanged => Some(Some(register)),
            Place::AtCfa(offset) => call.word(step, sp.wrapping_add_signed(offset)).map(Some),
            Place::Lost => Some(None),
        };
        let (ra, fp) = (value(self.ra, step.ra)??, value(self.fp, step.fp)?);
        let ra = if self.ra_signed { ra & ADDRESS } else { ra };
        Some(Caller { sp, fp, ra })
    }
}

/// The lines of the list, one for each of their files.
#[must_use]
pub fn list() -> Vec<Wrong> {
    let path = crate::corpus().join("wrong-cfi/WRONG.tsv");
    let text = fs::read_to_string(path).expect("the list");
    let mut lines = text.lines();
    let columns = "files\tfunction\trange\tcfi\ttruth\tcode\twrong\tnote";
    assert_eq!(lines.next(), Some(columns), "columns");
    lines.flat_map(parse).collect()
}

fn parse(line: &str) -> Vec<Wrong> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [files, function, range, cfi, truth, code, wrong, note] = columns[..] else {
        panic!("eight columns: {line}")
    };
    let number = |text: &str| {
        let digits = text.strip_prefix("0x").expect("a hexadecimal number");
        u64::from_str_radix(digits, 16).expect("a hexadecimal number")
    };
    let (start, end) = range.split_once("..").expect("a range");
    let (folder, names) = files.split_once('/').expect("a folder");
    let names = names.trim_matches(['{', '}']).split(',');
    let of_file = |name: &str| Wrong {
        file: format!("{folder}/{name}"),
        function: function.to_owned(),
        range: number(start)..number(end),
        cfi: Rules::parse(cfi),
        truth: Rules::parse(truth),
        is_proven: match code {
            "proves" => true,
            "open" => false,
            _ => panic!("{line}: {code}"),
        },
        wrong: wrong.to_owned(),
        note: note.to_owned(),
    };
    names.map(of_file).collect()
}
