//! Core dumps made by hand from the layouts in Linux's headers: their content, and damage at every place.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod linked;

use sframe_process::walk::Memory;
use sframe_process::{CoreDump, Files, Places, Silence, Witness};
use sframe_validator::Abi;
use sframe_validator::unwind::Register;

const EM_X86_64: u16 = 62;
const EM_AARCH64: u16 = 183;
const EM_S390: u16 = 22;

/// Writes integers in a byte order.
struct Writer {
    bytes: Vec<u8>,
    big: bool,
}

impl Writer {
    fn new(big: bool) -> Writer {
        Writer { bytes: Vec::new(), big }
    }

    fn u16(&mut self, value: u16) -> &mut Writer {
        let bytes = if self.big { value.to_be_bytes() } else { value.to_le_bytes() };
        self.bytes.extend(bytes);
        self
    }

    fn u32(&mut self, value: u32) -> &mut Writer {
        let bytes = if self.big { value.to_be_bytes() } else { value.to_le_bytes() };
        self.bytes.extend(bytes);
        self
    }

    fn u64(&mut self, value: u64) -> &mut Writer {
        let bytes = if self.big { value.to_be_bytes() } else { value.to_le_bytes() };
        self.bytes.extend(bytes);
        self
    }

    fn note(&mut self, name: &str, kind: u32, description: &[u8]) {
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).expect("short");
        let name = [name.as_bytes(), &[0]].concat();
        self.u32(length(&name)).u32(length(description)).u32(kind);
        for part in [&name, description] {
            self.bytes.extend(part);
            self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        }
    }
}

/// `struct elf_prstatus`: siginfo and the current signal, pending and held signals, four identifiers, four times, the
/// registers, and `fpvalid`.
fn prstatus(big: bool, signal: u16, thread: u32, registers: &[u64]) -> Vec<u8> {
    let mut note = Writer::new(big);
    note.u32(signal.into()).u32(0).u32(0).u16(signal).u16(0).u64(0).u64(0);
    note.u32(thread).u32(1).u32(1).u32(1);
    (0..8).for_each(|_| _ = note.u64(0));
    registers.iter().for_each(|value| _ = note.u64(*value));
    note.u32(1).u32(0);
    note.bytes
}

/// The note of mapped files, with pages of 4096 bytes.
fn files(big: bool, entries: &[(u64, u64, u64, &str)]) -> Vec<u8> {
    let mut note = Writer::new(big);
    note.u64(entries.len() as u64).u64(4096);
    for (start, end, page, _) in entries {
        note.u64(*start).u64(*end).u64(*page);
    }
    for (.., name) in entries {
        note.bytes.extend([name.as_bytes(), &[0]].concat());
    }
    note.bytes
}

/// A core dump with these notes, and memory: address, flags, bytes, and size in memory.
fn core(machine: u16, big: bool, notes: &Writer, memory: &[(u64, u32, &[u8], u64)]) -> Vec<u8> {
    let mut file = Writer::new(big);
    file.bytes.extend([0x7f, b'E', b'L', b'F', 2, 1 + u8::from(big), 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let count = u16::try_from(memory.len() + 1).expect("few");
    file.u16(4).u16(machine).u32(1).u64(0).u64(64).u64(0).u32(0);
    file.u16(64).u16(56).u16(count).u16(64).u16(0).u16(0);
    let mut offset = 64 + 56 * u64::from(count);
    let size = notes.bytes.len() as u64;
    file.u32(4).u32(0).u64(offset).u64(0).u64(0).u64(size).u64(0).u64(4);
    offset += size;
    for (address, flags, bytes, in_memory) in memory {
        let size = bytes.len() as u64;
        file.u32(1).u32(*flags).u64(offset).u64(*address).u64(0).u64(size).u64(*in_memory).u64(1);
        offset += size;
    }
    file.bytes.extend(&notes.bytes);
    memory.iter().for_each(|(_, _, bytes, _)| file.bytes.extend(*bytes));
    file.bytes
}

/// Two threads, a program that does not exist, and a stack of 32 bytes.
fn amd64() -> Vec<u8> {
    let mut notes = Writer::new(false);
    let registers: Vec<u64> = (100..127).collect();
    notes.note("CORE", 1, &prstatus(false, 11, 4711, &registers));
    notes.note("CORE", 1, &prstatus(false, 11, 4712, &registers));
    notes.note(
        "CORE",
        0x4649_4c45,
        &files(false, &[(0x40_0000, 0x40_2000, 1, "/absent/\x1b[31mprogram")]),
    );
    let stack: Vec<u8> = (0..32).collect();
    core(EM_X86_64, false, &notes, &[(0x40_0000, 5, &[], 0x2000), (0x7000, 6, &stack, 32)])
}

#[test]
fn registers_memory_and_files_are_read() {
    let (data, files) = (amd64(), Files::default());
    let mut dump = CoreDump::read(&data, &files, &Places::default()).expect("a core dump");
    assert_eq!((dump.abi, &dump.problems), (Abi::Amd64, &Vec::new()));
    let threads: Vec<_> = dump.threads.iter().map(|t| (t.id, t.signal, t.frame.pc)).collect();
    // struct user_regs_struct: r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp.
    assert_eq!(threads, [(4711, 11, 116), (4712, 0, 116)]);
    let values = (0..17).map(|number| dump.threads[0].frame.registers.get(Register(number)));
    // ax, dx, cx, bx, si, di, bp, sp, r8 to r15; 16 is not a register.
    let expected = [110, 112, 111, 105, 113, 114, 104, 119, 109, 108, 107, 106, 103, 102, 101, 100];
    let expected: Vec<Option<u64>> = expected.into_iter().map(Some).chain([None]).collect();
    assert_eq!(values.collect::<Vec<_>>(), expected);
    let word = |address| dump.memory.word(Abi::Amd64, address);
    assert_eq!(word(0x7000), Some(0x0706_0504_0302_0100));
    assert_eq!(word(0x7018), Some(0x1f1e_1d1c_1b1a_1918));
    assert_eq!((word(0x7019), word(0x6fff), word(0x40_0000)), (None, None, None));
    let mapping = *dump.modules.mapping(0x40_1fff).expect("a mapping");
    let (file, offset) = mapping.file.expect("a file");
    assert!(mapping.executable && offset == 0x1000);
    assert_eq!(dump.modules.name(file), b"/absent/\x1b[31mprogram");
    let silence = dump.modules.statement(Witness::Cfi, 0x40_0010).row.expect_err("no file");
    // The name cannot steer a terminal.
    let reason = r"/absent/\x1b[31mprogram cannot be used: No such file or directory";
    assert_eq!(silence, Silence::File(reason.to_owned()));
    let stack = dump.modules.statement(Witness::Cfi, 0x7010).row.expect_err("no code");
    assert_eq!(stack, Silence::NotExecutable);
}

/// Memory that was not dumped is read from the file, which a page of changed memory interrupts.
#[test]
fn undumped_memory_is_read_from_files() {
    let folder = sframe_corpus::folder!("core-files");
    let contents: Vec<u8> = (0..=255).cycle().take(0x3000).collect();
    std::fs::write(folder.join("data"), &contents).expect("written");
    let name = folder.join("data");
    let mut notes = Writer::new(false);
    let path = name.to_str().expect("text");
    notes.note("CORE", 0x4649_4c45, &files(false, &[(0x10_0000, 0x10_2000, 1, path)]));
    let changed = [0xee; 0x1000];
    let memory: [(u64, u32, &[u8], u64); 2] =
        [(0x10_0000, 4, &[], 0x1000), (0x10_1000, 6, &changed, 0x1000)];
    let (data, files) = (core(EM_X86_64, false, &notes, &memory), Files::default());
    let dump = CoreDump::read(&data, &files, &Places::default()).expect("a core dump");
    let word = |address| dump.memory.word(Abi::Amd64, address);
    assert_eq!(word(0x10_0002), Some(0x0908_0706_0504_0302));
    assert_eq!(word(0x10_0ffc), Some(0xeeee_eeee_fffe_fdfc));
    assert_eq!(word(0x10_1ffc), None);
    // Below another root folder there is no such file.
    let places = Places { sysroot: Some(folder.join("root")), ..Places::default() };
    let dump = CoreDump::read(&data, &files, &places).expect("a core dump");
    assert_eq!(dump.memory.word(Abi::Amd64, 0x10_0002), None);
}

/// A dump without the note of mapped files, as qemu writes it, of an executable whose code starts within a page, as LLD
/// places it: the file is found at each of its addresses.
#[test]
fn an_executable_is_mapped_in_whole_pages() {
    let mut elf = Writer::new(false);
    elf.bytes.extend([0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    // An ELF header, and a program header: flags, offset, addresses, sizes, alignment.
    elf.u16(2).u16(EM_X86_64).u32(1).u64(0x20_1234).u64(64).u64(0).u32(0);
    elf.u16(64).u16(56).u16(1).u16(64).u16(0).u16(0);
    elf.u32(1).u32(5).u64(0x234).u64(0x20_1234).u64(0x20_1234).u64(16).u64(16).u64(0x1000);
    elf.bytes.resize(0x234, 0);
    elf.bytes.extend(0..16);
    let exe = sframe_corpus::folder!("core-dump-exe").join("exe");
    std::fs::write(&exe, &elf.bytes).expect("written");
    let mut notes = Writer::new(false);
    notes.note("CORE", 1, &prstatus(false, 11, 1, &[0; 27]));
    let data = core(EM_X86_64, false, &notes, &[(0x20_1000, 5, &[], 0x1000)]);
    let (files, places) = (Files::default(), Places { exe: Some(exe), ..Places::default() });
    let mut dump = CoreDump::read(&data, &files, &places).expect("a core dump");
    assert_eq!(dump.modules.place(0x20_1238).map(|place| place.address), Ok(0x20_1238));
    assert_eq!(dump.memory.word(Abi::Amd64, 0x20_1234), Some(0x0706_0504_0302_0100));
}

/// The registers of the other machines: `struct user_pt_regs` has x0 to x30, SP, PC and PSTATE; `s390_regs` has the PSW's
/// mask and address, then r0 to r15.
#[test]
fn registers_of_other_machines_are_read() {
    let registers: Vec<u64> = (100..134).collect();
    let files = Files::default();
    for (machine, big, abi) in [
        (EM_AARCH64, false, Abi::Aarch64Little),
        (EM_AARCH64, true, Abi::Aarch64Big),
        (EM_S390, true, Abi::S390x),
    ] {
        let mut notes = Writer::new(big);
        notes.note("CORE", 1, &prstatus(big, 6, 77, &registers));
        // On s390x, a control register and padding precede f0 to f15.
        let mut floating = Writer::new(big);
        (0..17).for_each(|number| _ = floating.u64(200 + number));
        notes.note("CORE", 2, &floating.bytes);
        // Codes in bits 48 to 54.
        let mut mask = Writer::new(big);
        mask.u64(0x007f_0000_0000_0000).u64(0x007f_0000_0000_0000);
        notes.note("LINUX", 0x406, &mask.bytes);
        let data = core(machine, big, &notes, &[]);
        let dump = CoreDump::read(&data, &files, &Places::default()).expect("a core dump");
        assert_eq!((dump.abi, dump.address_bits), (abi, Some(48)));
        let thread = dump.threads[0];
        let frame = (thread.frame.pc, thread.frame.sp(abi), thread.frame.fp(abi));
        let expected = if abi == Abi::S390x { (101, 117, 113) } else { (132, 131, 129) };
        assert_eq!((thread.id, thread.signal), (77, 6));
        if abi == Abi::S390x {
            for (number, name) in (16..32).map(|n| (n, abi.register_name(Register(n)))) {
                let stored: u64 = name.expect("a name")[1..].parse().expect("a number");
                assert_eq!(thread.frame.registers.get(Register(number)), Some(201 + stored));
            }
        }
        assert_eq!(frame, (expected.0, Some(expected.1), Some(expected.2)), "{abi}");
    }
}

/// Reads a damaged core dump, and looks at everything in it.
fn survives(data: &[u8], places: &Places) -> bool {
    let files = Files::default();
    let Ok(mut dump) = CoreDump::read(data, &files, places) else { return false };
    for thread in &dump.threads {
        dump.modules.statement(Witness::Sframe, thread.frame.pc);
        let _ = dump.memory.word(dump.abi, thread.frame.pc);
    }
    for mapping in dump.modules.mappings().to_vec() {
        for address in [mapping.start, mapping.end.wrapping_sub(1), mapping.end] {
            dump.modules.statement(Witness::Cfi, address);
            let _ = dump.memory.word(dump.abi, address);
        }
    }
    true
}

#[test]
fn damage_at_every_place_is_survived() {
    let (sound, places) = (amd64(), Places::default());
    assert!(survives(&sound, &places));
    let truncated = (0..sound.len()).filter(|length| survives(&sound[..*length], &places)).count();
    // Without the three program headers, there is nothing to read.
    assert_eq!(truncated, sound.len() - (64 + 3 * 56));
    let mut read = 0;
    for place in 0..sound.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut damaged = sound.clone();
            damaged[place] = value;
            read += usize::from(survives(&damaged, &places));
        }
    }
    assert!(read > sound.len() * 4, "{read} of {}", sound.len() * 5);
    // Counts and sizes of which no memory could be reserved.
    for place in (0..sound.len() - 8).step_by(4) {
        for value in [u64::MAX, 1 << 63, 1 << 40, u64::from(u32::MAX)] {
            let mut damaged = sound.clone();
            damaged[place..place + 8].copy_from_slice(&value.to_le_bytes());
            survives(&damaged, &places);
        }
    }
}
