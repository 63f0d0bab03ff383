//! The headers of a core dump.
//!
//! gdb writes section headers at its end. A truncated dump has lost them, but they are not needed.

use object::Endianness;
use object::elf::{ET_CORE, FileHeader64};
use object::read::elf::{FileHeader, ProgramHeader};
use sframe_validator::Abi;
use sframe_validator::elf::{EM_AARCH64, EM_S390, EM_X86_64, Elf, PT_LOAD, PT_NOTE, Segment};

use super::error::CoreDumpError;

/// The machine, and where memory and notes are.
pub(super) struct Headers {
    pub(super) abi: Abi,
    /// The segments of memory, by address.
    pub(super) loads: Vec<Segment>,
    /// The segments with notes.
    pub(super) notes: Vec<Segment>,
}

impl Headers {
    /// Reads the headers.
    ///
    /// # Errors
    /// Returns an error if the file is not a core dump, or is one of an unknown machine.
    pub(super) fn read(data: &[u8]) -> Result<Headers, CoreDumpError> {
        if !Elf::is_elf(data) {
            return Err(CoreDumpError::NotElf);
        }
        let header =
            FileHeader64::<Endianness>::parse(data).map_err(|_| CoreDumpError::NotElf64)?;
        let endian = header.endian()?;
        if header.e_type(endian) != ET_CORE {
            return Err(CoreDumpError::NotCore);
        }
        let abi = match (header.e_machine(endian).0, header.is_big_endian()) {
            (EM_X86_64, false) => Abi::Amd64,
            (EM_AARCH64, false) => Abi::Aarch64Little,
            (EM_AARCH64, true) => Abi::Aarch64Big,
            (EM_S390, true) => Abi::S390x,
            _ => return Err(CoreDumpError::UnknownMachine),
        };
        let headers = header.program_headers(endian, data)?;
        let (mut loads, mut notes) = (Vec::new(), Vec::new());
        for header in headers {
            let segment = Segment {
                p_type: header.p_type(endian).0,
                flags: header.p_flags(endian).0,
                offset: header.p_offset(endian),
                address: header.p_vaddr(endian),
                file_size: header.p_filesz(endian),
                memory_size: header.p_memsz(endian),
            };
            match segment.p_type {
                PT_LOAD => loads.push(segment),
                PT_NOTE => notes.push(segment),
                _ => {}
            }
        }
        loads.sort_by_key(|segment| segment.address);
        Ok(Headers { abi, loads, notes })
    }
}

/// The bytes of a segment, as far as the file contains them.
pub(super) fn content<'s>(data: &'s [u8], segment: &Segment) -> &'s [u8] {
    let rest = usize::try_from(segment.offset).ok().and_then(|start| data.get(start..));
    let rest = rest.unwrap_or_default();
    let size = usize::try_from(segment.file_size).unwrap_or(usize::MAX);
    rest.get(..size).unwrap_or(rest)
}
