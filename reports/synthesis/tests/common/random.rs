//! Random functions with CFI directives, of few kinds each.

use std::fmt::Write;

use sframe_validator::Abi;

/// Random numbers (SplitMix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn below(&mut self, limit: i64) -> i64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 1).cast_signed() % limit
    }

    fn one_in(&mut self, limit: i64) -> bool {
        self.below(limit) == 0
    }

    fn choose<T: Copy>(&mut self, from: &[T]) -> T {
        let index = usize::try_from(self.below(from.len() as i64)).expect("not negative");
        *from.get(index).expect("an index")
    }
}

/// Registers that SFrame does not have, the last of which needs two bytes in a control word.
const fn others(abi: Abi) -> [u32; 9] {
    match abi {
        Abi::Amd64 => [3, 0, 10, 11, 12, 13, 1, 2, 40],
        Abi::S390x => [6, 7, 10, 12, 13, 0, 17, 18, 24],
        Abi::Aarch64Big | Abi::Aarch64Little => [19, 20, 9, 0, 28, 10, 16, 8, 72],
    }
}

const KINDS: [&str; 16] = [
    "def_cfa",
    "def_cfa_register",
    "def_cfa_offset",
    "adjust_cfa_offset",
    "offset",
    "offset",
    "rel_offset",
    "restore",
    "remember_state",
    "restore_state",
    "undefined",
    "same_value",
    "register",
    "val_offset",
    "negate_ra_state",
    "escape",
];

struct Maker<'r> {
    random: &'r mut Random,
    abi: Abi,
    /// Whether offsets need more than a byte.
    is_large: bool,
    depth: u32,
}

/// The source of a function, whose name has the number.
pub fn function(random: &mut Random, abi: Abi, number: u64) -> String {
    let simple = if random.one_in(12) { " simple" } else { "" };
    let mut text = format!("\t.text\nf{number}:\n\t.cfi_startproc{simple}\n");
    let mut line = |line: &str| writeln!(text, "\t{line}").expect("to memory");
    if random.one_in(20) {
        line(".cfi_signal_frame");
    }
    if abi.is_aarch64() && random.one_in(10) {
        line(".cfi_b_key_frame");
    }
    if random.one_in(50) {
        line(".cfi_return_column 3");
    }
    let kinds: Vec<&str> = (0..2 + random.below(6)).map(|_| random.choose(&KINDS)).collect();
    let is_large = random.one_in(8);
    let unit = i64::from(abi.instruction_alignment());
    let mut maker = Maker { random, abi, is_large, depth: 0 };
    for _ in 0..1 + maker.random.below(14) {
        if maker.random.below(5) < 2 {
            let units = maker.random.choose(&[1, 1, 1, 2, 3, 40, 64, 300]);
            line(&format!(".zero {}", units * unit));
            continue;
        }
        let kind = maker.random.choose(&kinds);
        if let Some(operands) = maker.operands(kind) {
            line(&format!(".cfi_{kind} {operands}"));
        }
    }
    if !maker.random.one_in(10) {
        line(&format!(".zero {unit}"));
    }
    line(".cfi_endproc");
    text
}

impl Maker<'_> {
    fn base(&mut self) -> u32 {
        let (sp, fp) = (self.abi.sp().0, self.abi.fp().0);
        let other = self.random.choose(&others(self.abi));
        self.random.choose(&[sp, sp, sp, fp, fp, fp, other])
    }

    fn register(&mut self) -> u32 {
        let [sp, fp, ra] = [self.abi.sp().0, self.abi.fp().0, self.abi.ra().0];
        let other = self.random.choose(&others(self.abi));
        self.random.choose(&[fp, fp, fp, ra, ra, ra, sp, other, other])
    }

    fn slot(&mut self) -> i64 {
        let slots =
            if self.is_large { self.random.choose(&[20, 200, 5000, 1_000_000]) } else { 20 };
        8 * (self.random.below(slots + 3) - slots)
    }

    /// Not negative: CFI has a negative offset of the CFA only in units of 8.
    fn cfa(&mut self) -> i64 {
        if self.is_large {
            self.slot().abs()
        } else if self.random.one_in(20) {
            self.random.below(300)
        } else {
            160 + 8 * self.random.below(24)
        }
    }

    /// `None` if the directive is for another machine or has no meaning here.
    fn operands(&mut self, kind: &str) -> Option<String> {
        Some(match kind {
            "def_cfa" => format!("{}, {}", self.base(), self.cfa()),
            "def_cfa_register" => self.base().to_string(),
            "def_cfa_offset" => self.cfa().to_string(),
            "adjust_cfa_offset" => (8 * self.random.below(5)).to_string(),
            "offset" | "val_offset" => format!("{}, {}", self.register(), self.slot()),
            "rel_offset" => format!("{}, {}", self.register(), 8 * self.random.below(10)),
            "restore" | "undefined" | "same_value" => self.register().to_string(),
            "register" => format!("{}, {}", self.register(), self.register()),
            "remember_state" => {
                self.depth += 1;
                String::new()
            }
            "restore_state" => {
                self.depth = self.depth.checked_sub(1)?;
                String::new()
            }
            "negate_ra_state" if self.abi.is_aarch64() => String::new(),
            "escape" => self.escape(),
            _ => return None,
        })
    }

    /// An instruction that has no directive: it cannot be distinguished from one.
    fn escape(&mut self) -> String {
        let (register, offset) = (self.register(), self.random.below(128));
        let base = 0x70 + self.base().min(31);
        match self.random.below(8) {
            0 => "0x2e, 0x10".to_owned(),
            1 => "0x2e, 0".to_owned(),
            2 | 3 => format!("0x10, {register}, 2, {base}, {offset}"),
            4 => format!("0x10, {register}, 3, {base}, {}, 1", offset | 0x80),
            5 => format!("0x0f, 3, {base}, {offset}, 6"),
            6 => format!("0x16, {register}, 2, {base}, {offset}"),
            _ => format!("0x0f, 2, {base}, {offset}"),
        }
    }
}
