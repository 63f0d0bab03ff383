"""Mutants of the reader that behave like it wherever a text says anything, by reason. The keys are those that `mutate.py` prints."""

REASONS = {
    "The value has one byte, which has no order": [
        "Section.__init__: self.order -> 'little' if self.order == 'big' else 'big'",
        "Section.read_header: self.order -> 'little' if self.order == 'big' else 'big'",
        "Section.stored_rows #2: self.order -> 'little' if self.order == 'big' else 'big'",
    ],
    "No function or stack extends over the end of the address space": [
        "Section.function: (self.address + base + read(0, width, True)) % ADDRESSES -> self.address + base + read(0, width, True)",
        "Section.find: (pc - function['start']) % ADDRESSES -> pc - function['start']",
        "Walk.value: ((cfa if base == 'cfa' else self.registers[base]) + offset) % ADDRESSES -> (cfa if base == 'cfa' else self.registers[base]) + offset",
    ],
    "Version 1 does not record the size of blocks, so that readers may use any": [
        "Section.function #4: 0 -> 1",
        "Section.function #4: 0 -> -1",
    ],
    "A reader may refuse a function with unused bits, or ignore them": [
        "Section.row_frames: function['info2'] & 31 -> function['info2']",
        "Section.find: function['info2'] & 31 -> function['info2']",
        "Section.find: 31 -> 32",
        "Reader.describe: function['info2'] & 31 -> function['info2']",
    ],
    "The byte has 8 bits, so that the shift leaves one": ["Section.is_signed: info >> 7 & 1 -> info >> 7"],
    "The bit for signed addresses has no meaning on machines other than AArch64, and readers may report it": [
        "Section.is_signed: self.abi in AARCH64 and info >> 7 & 1 == 1 -> info >> 7 & 1 == 1",
    ],
    "A reader may ignore words to which the machine gives no meaning, or refuse the row": [
        "Section.default: not self.fixed_fp and rest -> rest",
        "Section.default #2: rest.pop(0) -> rest.pop()",
        "Section.default #3: 0 -> -1",
        "Section.default: raise Refused(f'{len(words)} words') -> pass",
    ],
    "Version 1 does not define rows without words": [
        "Section.without_words: 1 -> 0",
        "Section.without_words: raise Refused('a row without words') -> pass",
    ],
    "A flexible function without rows may be an outermost frame, or none": [
        "Section.find: self.version == 3 and function['count'] == 0 and (function['info2'] & 31 == 0)"
        " -> self.version == 3 and function['count'] == 0",
        "Section.find: 31 -> 30",
    ],
    "No text limits the length of a walk; that of a vector has at most six frames": [
        "Walk: 64 -> 65",
        "Walk: 64 -> 63",
        "Walk.run: len(frames) < self.LONGEST -> len(frames) <= self.LONGEST",
    ],
    "All addresses in a walk are aligned": ["Walk.load: 8 -> 7"],
    "No text says that a walker looks up the byte before a return address, with or without signal frames": [
        "Walk.run: self.pc - is_call -> self.pc",
        "Walk.run: self.section.version == 3 and function['info'] & 128 -> self.section.version == 3 or function['info'] & 128",
        "Walk.run: self.section.version == 3 and function['info'] & 128 -> function['info'] & 128",
        "Walk.run: self.section.version == 3 and function['info'] & 128 -> self.section.version == 3",
        "Walk.run: function['info'] & 128 -> function['info']",
        "Walk.run: 128 -> 129",
    ],
}

REASONS["A reader may compare sizes first, or refuse what is outside where it reads it"] = [
    "Section.find_tables: rows + self.header['fre_len'] -> rows - self.header['fre_len']",
    "Section.find_tables: rows + self.header['fre_len'] -> rows",
    "Section.find_tables: rows + self.header['fre_len'] -> self.header['fre_len']",
    "Section.find_tables: raise Refused('rows outside the section') -> pass",
]

EQUIVALENT = {key: reason for reason, keys in REASONS.items() for key in keys}
