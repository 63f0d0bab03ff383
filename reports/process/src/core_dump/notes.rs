//! The notes of a core dump.
//!
//! The layouts of the structures are those of Linux: `struct elf_prstatus` (include/linux/elfcore.h), with registers in
//! the order of `struct user_regs_struct` (arch/x86/include/asm/user_64.h), `struct user_pt_regs`
//! (arch/arm64/include/uapi/asm/ptrace.h) and `s390_regs` (arch/s390/include/uapi/asm/ptrace.h); the file note is described
//! in fs/binfmt_elf.c.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use object::Endianness;
use object::elf::FileHeader64;
use object::read::elf::NoteIterator;
use sframe_validator::elf::Segment;
use sframe_validator::unwind::Register;
use sframe_validator::{Abi, Endian};

use super::Thread;
use super::error::NotesDefect;
use super::headers::content;
use crate::auxv::AuxiliaryVector;
use crate::walk::{Cursor, Registers};

const NT_PRSTATUS: u32 = 1;
const NT_FPREGSET: u32 = 2;
const NT_AUXV: u32 = 6;
const NT_FILE: u32 = 0x4649_4c45;
const NT_ARM_PAC_MASK: u32 = 0x406;

/// Places in `struct elf_prstatus`.
const CURRENT_SIGNAL: usize = 12;
const THREAD_ID: usize = 32;
const REGISTERS: usize = 112;

/// The notes that are needed for walks.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    pub(super) threads: Vec<Thread>,
    pub(super) files: Vec<FileRange>,
    pub(super) address_bits: Option<u32>,
    pub(super) auxv: AuxiliaryVector,
}

/// A part of a file that was mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileRange {
    pub(super) start: u64,
    pub(super) end: u64,
    /// The offset in the file, in bytes.
    pub(super) offset: u64,
    pub(super) name: Vec<u8>,
}

impl FileRange {
    pub(super) fn path(&self) -> PathBuf {
        OsStr::from_bytes(&self.name).into()
    }
}

impl Notes {
    /// Reads the notes in some segments of a dump.
    pub(super) fn read(
        data: &[u8],
        segments: &[Segment],
        abi: Abi,
        problems: &mut Vec<String>,
    ) -> Notes {
        let mut notes = Notes::default();
        // Segments of a sound dump do not overlap; many that do must not multiply the work.
        let mut left = data.len();
        for segment in segments {
            let bytes = content(data, segment);
            let Some(rest) = left.checked_sub(bytes.len()) else {
                problems.push(NotesDefect::Overlap.to_string());
                break;
            };
            left = rest;
            let mut result = notes.read_all(bytes, abi);
            if (bytes.len() as u64) < segment.file_size {
                result = result.and(Err(NotesDefect::Truncated));
            }
            if let Err(defect) = result {
                problems.push(defect.to_string());
            }
        }
        notes
    }

    fn read_all(&mut self, data: &[u8], abi: Abi) -> Result<(), NotesDefect> {
        let endian = match abi.endian() {
            Endian::Little => Endianness::Little,
            Endian::Big => Endianness::Big,
        };
        let mut notes = NoteIterator::<FileHeader64<Endianness>>::new(endian, 4, data)?;
        while let Some(note) = notes.next()? {
            let fields = Fields { bytes: note.desc(), endian: abi.endian() };
            match (note.name(), note.n_type(endian).0) {
                (b"CORE", NT_PRSTATUS) => {
                    let thread = fields.thread(abi).ok_or(NotesDefect::Registers)?;
                    self.threads.push(thread);
                }
                // Leaf functions of s390x save registers in floating-point registers.
                (b"CORE", NT_FPREGSET) if abi == Abi::S390x => {
                    if let Some(thread) = self.threads.last_mut() {
                        fields.floating_point(&mut thread.frame.registers);
                    }
                }
                (b"CORE", NT_FILE) => {
                    let before = self.files.len();
                    fields.files(&mut self.files).ok_or(NotesDefect::Files)?;
                    // A second list would multiply the work.
                    if before > 0 {
                        return Err(NotesDefect::TwoLists);
                    }
                }
                (b"CORE", NT_AUXV) => {
                    self.auxv = AuxiliaryVector::parse(fields.bytes, fields.endian);
                }
                (b"LINUX", NT_ARM_PAC_MASK) => {
                    // The masks of data and of instructions; 0 if no codes are used.
                    let mask = fields.word(8).filter(|mask| *mask != 0);
                    self.address_bits = mask.map(u64::trailing_zeros).or(self.address_bits);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The fields of a note.
#[derive(Clone, Copy)]
struct Fields<'n> {
    bytes: &'n [u8],
    endian: Endian,
}

impl Fields<'_> {
    fn word(&self, offset: usize) -> Option<u64> {
        let bytes = *self.bytes.get(offset..)?.first_chunk()?;
        Some(match self.endian {
            Endian::Little => u64::from_le_bytes(bytes),
            Endian::Big => u64::from_be_bytes(bytes),
        })
    }

    fn half(&self, offset: usize) -> Option<u32> {
        let bytes = *self.bytes.get(offset..)?.first_chunk()?;
        Some(match self.endian {
            Endian::Little => u32::from_le_bytes(bytes),
            Endian::Big => u32::from_be_bytes(bytes),
        })
    }

    fn short(&self, offset: usize) -> Option<u16> {
        let bytes = *self.bytes.get(offset..)?.first_chunk()?;
        Some(match self.endian {
            Endian::Little => u16::from_le_bytes(bytes),
            Endian::Big => u16::from_be_bytes(bytes),
        })
    }

    fn thread(&self, abi: Abi) -> Option<Thread> {
        let registers = Fields { bytes: self.bytes.get(REGISTERS..)?, ..*self };
        Some(Thread {
            id: self.half(THREAD_ID)?,
            signal: self.short(CURRENT_SIGNAL)?,
            frame: registers.frame(abi)?,
        })
    }

    /// The innermost frame, from the registers as the kernel stores them.
    fn frame(&self, abi: Abi) -> Option<Cursor> {
        let at = |number: usize| self.word(number * 8);
        let all = |numbers: &[usize]| numbers.iter().map(|number| at(*number)).collect();
        let (pc, values): (usize, Option<Vec<u64>>) = match abi {
            // rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15, in the order of DWARF numbers.
            Abi::Amd64 => (16, all(&[10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0])),
            // x0 to x30 and SP, then PC.
            Abi::Aarch64Little | Abi::Aarch64Big => (32, (0..32).map(at).collect()),
            // The PSW's mask and address, then r0 to r15.
            Abi::S390x => (1, (2..18).map(at).collect()),
        };
        Some(Cursor::innermost(at(pc)?, Registers::of(&values?)))
    }

    /// Adds the floating-point registers of s390x: `s390_fp_regs` has the control register and padding, then f0 to f15.
    /// Their DWARF numbers are in another order (ELF ABI s390x, "DWARF register number mapping").
    fn floating_point(&self, registers: &mut Registers) {
        let order = [0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15];
        for (number, stored) in (16..).zip(order) {
            registers.set(Register(number), self.word(8 + stored * 8));
        }
    }

    /// Adds the entries of a file note: their number and the size of pages, for each entry its start, its end and its
    /// place in pages, then all names.
    fn files(&self, files: &mut Vec<FileRange>) -> Option<()> {
        let count = usize::try_from(self.word(0)?).ok()?;
        let page = self.word(8)?;
        let names = self.bytes.get(count.checked_mul(24)?.checked_add(16)?..)?;
        let mut names = names.split(|byte| *byte == 0);
        for number in 0..count {
            let entry = 16 + number * 24;
            let range = FileRange {
                start: self.word(entry)?,
                end: self.word(entry + 8)?,
                offset: self.word(entry + 16)?.checked_mul(page)?,
                name: names.next()?.to_vec(),
            };
            if range.start < range.end {
                files.push(range);
            }
        }
        Some(())
    }
}
