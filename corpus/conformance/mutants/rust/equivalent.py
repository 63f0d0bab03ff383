"""Mutants of `sframe-validator`'s reader that give the same answers, by reason. The keys are those that `mutate_rust.py`
prints."""

REASONS = {
    "An answer has no places of errors, and no sizes in their messages": [
        "section/header.rs PREAMBLE_SIZE: pub const PREAMBLE_SIZE: u64 = 4; -> pub const PREAMBLE_SIZE: u64 = 3;",
        "section/header.rs PREAMBLE_SIZE: pub const PREAMBLE_SIZE: u64 = 4; -> pub const PREAMBLE_SIZE: u64 = 5;",
        'section/interpret.rs flexible_frame: return Err(Error::new(row.word_offset(0), "sfre_data", ErrorKind::CfaWithoutRegister)); -> return Err(Error::new(row.word_offset(1), "sfre_data", ErrorKind::CfaWithoutRegister));',
        'section/interpret.rs flexible_frame: return Err(Error::new(row.word_offset(2), "sfre_data", ErrorKind::FlexLayout)); -> return Err(Error::new(row.word_offset(1), "sfre_data", ErrorKind::FlexLayout));',
        'section/interpret.rs flexible_frame: return Err(Error::new(row.word_offset(2), "sfre_data", ErrorKind::FlexLayout)); -> return Err(Error::new(row.word_offset(3), "sfre_data", ErrorKind::FlexLayout));',
        "section/interpret.rs flexible_frame: row.word_offset(fp_at.unwrap_or(0)), -> row.word_offset(fp_at.unwrap_or(1)),",
        "section/stored_rows.rs read: self.head(rest).ok_or_else(|| self.truncated(width as u64 + 1))?; -> self.head(rest).ok_or_else(|| self.truncated(width as u64 + 0))?;",
        "section/stored_rows.rs read: self.head(rest).ok_or_else(|| self.truncated(width as u64 + 1))?; -> self.head(rest).ok_or_else(|| self.truncated(width as u64 + 2))?;",
        "section/stored_rows.rs read: self.head(rest).ok_or_else(|| self.truncated(width as u64 + 1))?; -> self.head(rest).ok_or_else(|| self.truncated(width as u64 - 1))?;",
        "section/stored_rows.rs read: self.head(rest).ok_or_else(|| self.truncated(width as u64 + 1))?; -> self.head(rest).ok_or_else(|| self.truncated(width as u64))?;",
        "section/stored_rows.rs read: tail.get(..length).ok_or_else(|| self.truncated(width as u64 + 1 + length as u64))?; -> tail.get(..length).ok_or_else(|| self.truncated(width as u64 + 0 + length as u64))?;",
        "section/stored_rows.rs read: tail.get(..length).ok_or_else(|| self.truncated(width as u64 + 1 + length as u64))?; -> tail.get(..length).ok_or_else(|| self.truncated(width as u64 + 1))?;",
        "section/stored_rows.rs read: tail.get(..length).ok_or_else(|| self.truncated(width as u64 + 1 + length as u64))?; -> tail.get(..length).ok_or_else(|| self.truncated(width as u64 + 2 + length as u64))?;",
        "section/stored_rows.rs read: tail.get(..length).ok_or_else(|| self.truncated(width as u64 + 1 + length as u64))?; -> tail.get(..length).ok_or_else(|| self.truncated(width as u64 + length as u64))?;",
        "section/stored_rows.rs read: tail.get(..length).ok_or_else(|| self.truncated(width as u64 + 1 + length as u64))?; -> tail.get(..length).ok_or_else(|| self.truncated(width as u64 - 1 + length as u64))?;",
    ],
    "The row is then read by the slower function for all kinds of rows, which gives the same": [
        "section/plain.rs plain_rows: if layout.flexible || self.attributes().info.is_pc_mask() { -> if true {",
        "section/plain.rs plain_rows: let rest = rows.clipped(first, first.saturating_add(budget.bytes)); -> let rest = rows.clipped(first, first.saturating_sub(budget.bytes));",
        "section/row.rs LENGTHS: info += 1; -> info += 2;",
        "section/row.rs LENGTHS: let mut info = 0; -> let mut info = 1;",
        "section/row.rs LENGTHS: while info < 256 { -> while info < 255 {",
        "section/row.rs ROOM: const ROOM: usize = 4 + 1 + 8; -> const ROOM: usize = 3 + 1 + 8;",
        "section/row.rs ROOM: const ROOM: usize = 4 + 1 + 8; -> const ROOM: usize = 4 + 0 + 8;",
        "section/row.rs ROOM: const ROOM: usize = 4 + 1 + 8; -> const ROOM: usize = 4 + 1 + 7;",
        "section/row.rs ROOM: const ROOM: usize = 4 + 1 + 8; -> const ROOM: usize = 4 + 1 + 9;",
        "section/row.rs ROOM: const ROOM: usize = 4 + 1 + 8; -> const ROOM: usize = 4 + 1;",
        "section/row.rs ROOM: const ROOM: usize = 4 + 1 + 8; -> const ROOM: usize = 4 + 2 + 8;",
        "section/row.rs ROOM: const ROOM: usize = 4 + 1 + 8; -> const ROOM: usize = 4 + 8;",
        "section/row.rs ROOM: const ROOM: usize = 4 + 1 + 8; -> const ROOM: usize = 4 - 1 + 8;",
        "section/row.rs ROOM: const ROOM: usize = 4 + 1 + 8; -> const ROOM: usize = 5 + 1 + 8;",
        "section/row.rs read: if length > 8 { -> if length > 7 {",
        "section/row.rs read: if length > 8 { -> if length > 9 {",
        "section/row.rs read: if length > 8 { -> if length >= 8 {",
        "section/row.rs read: if length > 8 { -> if true {",
        "section/stored_rows.rs short: let rest = self.bytes.data.get(self.position..).filter(|_| self.remaining > 0)?; -> let rest = self.bytes.data.get(self.position..).filter(|_| self.remaining > 1)?;",
    ],
    "Words beyond the row's count are not used": [
        "section/interpret.rs default_frame: let words = [0, 1, 2].map(|index| row.words.signed(index).unwrap_or(0)); -> let words = [0, 1, 2].map(|index| row.words.signed(index).unwrap_or(1));",
        "section/row.rs signed: _ => [whole([a, b, c, d]), whole([e, f, g, h]), 0], -> _ => [whole([a, b, c, d]), whole([e, f, g, h]), 1],",
    ],
    "The size of a row and the end of an iteration count only for budgets of bytes, which one lookup does not have": [
        "section/row.rs size: self.fre_type.width() as u64 + 1 + self.words.bytes.len() as u64 -> self.fre_type.width() as u64 + 0 + self.words.bytes.len() as u64",
        "section/row.rs size: self.fre_type.width() as u64 + 1 + self.words.bytes.len() as u64 -> self.fre_type.width() as u64 + 1",
        "section/row.rs size: self.fre_type.width() as u64 + 1 + self.words.bytes.len() as u64 -> self.fre_type.width() as u64 + 1 - self.words.bytes.len() as u64",
        "section/row.rs size: self.fre_type.width() as u64 + 1 + self.words.bytes.len() as u64 -> self.fre_type.width() as u64 + 2 + self.words.bytes.len() as u64",
        "section/row.rs size: self.fre_type.width() as u64 + 1 + self.words.bytes.len() as u64 -> self.fre_type.width() as u64 + self.words.bytes.len() as u64",
        "section/row.rs size: self.fre_type.width() as u64 + 1 + self.words.bytes.len() as u64 -> self.fre_type.width() as u64 - 1 + self.words.bytes.len() as u64",
        "section/stored_rows.rs end: self.remaining = 0; -> self.remaining = 1;",
    ],
    "Which of several entries with one start is found is open (docs/ERRATA.md)": [
        "section/lookup.rs search: candidates.skip_while(|entry| entry.size() == 0).take(1).find(|entry| covers(entry, pc)) -> candidates.skip_while(|entry| entry.size() == 0).find(|entry| covers(entry, pc))",
        "section/lookup.rs search: candidates.skip_while(|entry| entry.size() == 0).take(1).find(|entry| covers(entry, pc)) -> candidates.skip_while(|entry| entry.size() == 0).take(2).find(|entry| covers(entry, pc))",
        "section/lookup.rs search: candidates.skip_while(|entry| entry.size() == 0).take(1).find(|entry| covers(entry, pc)) -> candidates.take(1).find(|entry| covers(entry, pc))",
    ],
    "Another search finds the same function, because functions do not overlap": [
        "section/header.rs SORTED: pub const SORTED: u8 = 0x1; -> pub const SORTED: u8 = 0x0;",
        "section/lookup.rs find_function: Starts::Linked if sorted => self.search(pc), -> Starts::Linked if false => self.search(pc),",
        "section/lookup.rs search: let (mut low, mut high) = (0, self.entry_count()); -> let (mut low, mut high) = (1, self.entry_count());",
        "section/lookup.rs search: let middle = low + (high - low) / 2; -> let middle = low + (high - low) / 3;",
    ],
    "A reader may ignore words to which the machine gives no meaning, or refuse the row": [
        "section/interpret.rs max_default_words: 1 + (self.fixed_ra == 0) as u8 + (self.fixed_fp == 0) as u8 -> 2 + (self.fixed_ra == 0) as u8 + (self.fixed_fp == 0) as u8",
    ],
    "A reader may report the bit for signed addresses on machines that do not sign": [
        "section/interpret.rs signature_bit: if self.abi.is_aarch64() { RowInfo::MANGLED_RA } else { 0 } -> if true { RowInfo::MANGLED_RA } else { 0 }",
    ],
    "After the last entry of the table, there is none that can be read either": [
        "section.rs next: if self.next == self.end { -> if false {",
    ],
    "The width of the start field cuts the other bytes off": [
        "section/stored_rows.rs head: let mut field = [0; 4]; -> let mut field = [1; 4];",
    ],
    "Every caller ends with the first error": [
        "section/stored_rows.rs next: self.remaining = if entry.is_ok() { self.remaining - 1 } else { 0 }; -> self.remaining = if entry.is_ok() { self.remaining - 1 } else { 1 };",
        "section/stored_rows.rs next: self.remaining = if entry.is_ok() { self.remaining - 1 } else { 0 }; -> self.remaining = if true { self.remaining - 1 } else { 0 };",
    ],
    "The caller has found that the function covers the PC": [
        "section/lookup.rs find_row: if in_function >= u64::from(self.size()) { -> if false {",
        "section/lookup.rs find_row: if in_function >= u64::from(self.size()) { -> if in_function > u64::from(self.size()) {",
    ],
    "A vector is a linked section, without relocations": [
        "section/function.rs start: .filter(|relocation| relocation.field_offset == offset) -> .filter(|relocation| relocation.field_offset != offset)",
    ],
    "No answer has this field, or version 1 does not record it": [
        "section/function.rs block_attributes: padding: 0, -> padding: 1,",
        "section/function.rs table_attributes: Version::V1 | Version::V3 => (0, 0), -> Version::V1 | Version::V3 => (0, 1),",
        "section/function.rs table_attributes: Version::V1 | Version::V3 => (0, 0), -> Version::V1 | Version::V3 => (1, 0),",
        "section/function.rs table_attributes: Version::V2 => (table.u8(at + 17)?, table.u16(at + 18)?), -> Version::V2 => (table.u8(at + 17)?, table.u16(at + 17)?),",
        "section/function.rs table_attributes: Version::V2 => (table.u8(at + 17)?, table.u16(at + 18)?), -> Version::V2 => (table.u8(at + 17)?, table.u16(at)?),",
        "section/header.rs FRAME_POINTER: pub const FRAME_POINTER: u8 = 0x2; -> pub const FRAME_POINTER: u8 = 0x1;",
        "section/header.rs FRAME_POINTER: pub const FRAME_POINTER: u8 = 0x2; -> pub const FRAME_POINTER: u8 = 0x4;",
    ],
    "A reader may refuse a function with unused bits, or ignore them": [
        "section/function.rs fde_type_code: self.0 & 0x1f -> self.0",
    ],
}

EQUIVALENT = {key: reason for reason, keys in REASONS.items() for key in keys}
