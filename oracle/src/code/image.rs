//! The image: a file's functions, their code, and the data around them.

use std::borrow::Cow;

use sframe_validator::Abi;
use sframe_validator::elf::{Elf, ElfKind, ElfSection};
use sframe_validator::unwind::{Cfa, CodeAddress, Frame, Recovery};

use super::address_set::AddressSet;
use super::context::{Exceptions, Fragment};
use super::effect::{ControlFlow, Effect, Preview};
use super::imports::NoReturnImports;
use super::jump_table::number_of;
use super::machine::Machine;
use super::relocation::CodeRelocations;
use crate::cfi::{Cfi, Fde, LandingPad, RowContext};
use crate::witness::CodeRange;

/// The maximum number of rows that are read to find the one at a symbol: functions have few, and files can have many
/// symbols.
const MAX_ROWS: usize = 64;

/// A file and its functions.
#[derive(Debug)]
pub(super) struct Image<'e> {
    elf: Cow<'e, Elf<'e>>,
    cfi: Cow<'e, [Cfi<'e>]>,
    functions: Vec<CodeRange>,
    /// The addresses at which they start.
    starts: AddressSet,
    relocations: CodeRelocations,
    /// Nothing in a relocatable object.
    imports: NoReturnImports,
    /// In a relocatable object, an address for each section, by index, so that places in different sections have different
    /// addresses. Empty for a linked file.
    bases: Vec<u64>,
    is_kernel: bool,
}

impl<'e> Image<'e> {
    /// A file with its functions, which must be ordered and without overlaps, and its imports.
    pub(super) fn of(
        elf: Cow<'e, Elf<'e>>,
        cfi: Cow<'e, [Cfi<'e>]>,
        functions: Vec<CodeRange>,
        (machine, imports): (Machine, NoReturnImports),
    ) -> Image<'e> {
        let relocations = CodeRelocations::of(&elf, machine.conventions());
        let functions = if relocations.is_some() { functions } else { Vec::new() };
        let relocations = relocations.unwrap_or_default();
        let bases = if elf.kind() == ElfKind::Relocatable { bases(&elf) } else { Vec::new() };
        let starts = functions.iter().map(|function| flat(&bases, function.start)).collect();
        let is_kernel = elf.is_kernel();
        let starts = AddressSet::of(starts);
        Image { elf, cfi, functions, starts, relocations, imports, bases, is_kernel }
    }

    pub(super) fn elf(&self) -> &Elf<'e> {
        &self.elf
    }

    pub(super) fn functions(&self) -> &[CodeRange] {
        &self.functions
    }

    /// Whether the file is a Linux kernel, or a module of one.
    pub(super) const fn is_kernel(&self) -> bool {
        self.is_kernel
    }

    /// The address of a place, different from those of places in other sections.
    pub(super) fn flat(&self, place: CodeAddress) -> u64 {
        flat(&self.bases, place)
    }

    /// The place at such an address.
    pub(super) fn place(&self, address: u64) -> CodeAddress {
        if self.bases.is_empty() {
            return CodeAddress::absolute(address);
        }
        let after = self.bases.partition_point(|base| *base <= address);
        let last = after.checked_sub(1).and_then(|last| Some((last, self.bases.get(last)?)));
        last.map_or(CodeAddress::absolute(address), |(section, base)| CodeAddress {
            section: u32::try_from(section).unwrap_or(u32::MAX),
            address: address - base,
        })
    }

    /// The index of the function that contains a place.
    pub(super) fn find(&self, place: CodeAddress) -> Option<usize> {
        let index = self.starts.up_to(self.flat(place)).checked_sub(1)?;
        let function = self.functions.get(index)?;
        let is_inside = function.start.section == place.section && place.address < function.end;
        is_inside.then_some(index)
    }

    /// Whether a function starts at a place.
    pub(super) fn starts_at(&self, place: CodeAddress) -> bool {
        self.find(place)
            .and_then(|index| self.functions.get(index))
            .is_some_and(|f| f.start == place)
    }

    /// The code of a function.
    pub(super) fn fragment(&self, index: usize) -> Option<Fragment<'e>> {
        let function = self.functions.get(index)?;
        let code = self.elf.code_bytes(function.start, function.bytes())?;
        Some(Fragment { start: self.flat(function.start), code })
    }

    /// The content of the section around an [address](Image::flat), from that address on.
    pub(super) fn bytes_from(&self, address: u64) -> Option<&'e [u8]> {
        let (section, from) = match self.bases.is_empty() {
            true => {
                let section = self.elf.loaded_section_at(address)?;
                (section, address.checked_sub(section.address)?)
            }
            false => {
                let place = self.place(address);
                (self.elf.section(place.section).filter(|it| it.is_loaded())?, place.address)
            }
        };
        self.elf.section_data(section).ok()?.get(usize::try_from(from).ok()?..)
    }

    /// The number in bytes of data at an address, or the one that the linker will put there; `None` if that is not known.
    pub(super) fn number(&self, address: u64, bytes: &[u8]) -> Option<u64> {
        if self.bases.is_empty() {
            return number_of(bytes);
        }
        self.relocations.data().number(self.place(address), bytes, |place| self.flat(place))
    }

    /// The address of a place in a relocatable object, if its section has room for it. The end of a section is a place, too.
    fn address_of(&self, place: CodeAddress) -> Option<u64> {
        let section = self.elf.section(place.section).filter(|section| section.is_loaded())?;
        let size = self.elf.section_data(section).ok()?.len() as u64;
        (place.address <= size).then(|| self.flat(place))
    }

    /// Whether CFI marks the function at a place as a signal frame.
    pub(super) fn is_signal_frame(&self, place: CodeAddress) -> bool {
        let function = self.cfi.iter().find_map(|cfi| cfi.find(place));
        function.is_some_and(|function| function.cie().signal)
    }

    /// Whether CFI says that the code at a symbol is entered with the frame of another function: the CFA there is not relative
    /// to SP. Such code saves or restores registers for others, and is entered by jumps.
    pub(super) fn is_part_of_others(&self, start: CodeAddress) -> bool {
        match self.frame_at_start(start) {
            Some((Frame { cfa: Cfa::RegisterOffset { register, .. }, .. }, abi)) => {
                register != abi.sp()
            }
            _ => false,
        }
    }

    /// Whether CFI says that a function is entered by a call.
    pub(super) fn starts_as_called(&self, start: CodeAddress) -> bool {
        let frame = self.frame_at_start(start);
        frame.is_some_and(|(frame, abi)| frame == frame_of_call(abi))
    }

    /// What CFI says at the start of a function, and the machine. Objtool follows the code of fragments of functions as
    /// well as we do, so what ORC says there is no further evidence.
    fn frame_at_start(&self, start: CodeAddress) -> Option<(Frame, Abi)> {
        self.cfi.iter().filter(|cfi| cfi.kind().is_some()).find_map(|cfi| {
            let mut context = RowContext::new(cfi);
            let mut rows = cfi.find(start)?.rows(&mut context).take(MAX_ROWS).flatten();
            Some((rows.find(|row| row.contains(start.address))?.frame, cfi.abi()))
        })
    }

    /// The exceptional edges in a fragment that starts at a place.
    pub(super) fn exceptions(&self, start: CodeAddress, fragment: &Fragment<'_>) -> Exceptions {
        self.landing_pads(start, fragment).map_or_else(Exceptions::default, |(function, pads)| {
            let base = self.flat(CodeAddress { address: 0, ..start });
            let flat = |address: u64| address.wrapping_add(base);
            let pad = |it: LandingPad| LandingPad {
                start: flat(it.start),
                end: flat(it.end),
                pad: flat(it.pad),
            };
            let arguments = function.argument_sizes().into_iter();
            let arguments = arguments.map(|(address, size)| (flat(address), size)).collect();
            Exceptions { pads: pads.into_iter().map(pad).collect(), arguments }
        })
    }

    /// The landing pads of a fragment that starts at a place, if there are any, and what CFI says about that place.
    pub(super) fn landing_pads(
        &self,
        start: CodeAddress,
        fragment: &Fragment<'_>,
    ) -> Option<(Fde<'_>, Vec<LandingPad>)> {
        // A function has at most as many calls as bytes.
        let most = fragment.code.len();
        let found = self.cfi.iter().find_map(|cfi| {
            let function = cfi.find(start)?;
            let data = self.bytes_from(self.flat(function.lsda()?))?;
            let pads = function.landing_pads(data, most);
            Some((function, pads))
        });
        found.filter(|(_, pads)| !pads.is_empty())
    }

    /// Where control goes after the instruction of `length` bytes at an [address](Image::flat), if imported functions may not
    /// return. In a relocatable object, relocations determine it, and change the effects.
    #[inline(always)]
    pub(super) fn relocate(
        &self,
        address: u64,
        length: u8,
        next: ControlFlow,
        effects: &mut [Effect],
    ) -> ControlFlow {
        if self.bases.is_empty() {
            return self.imports.next(next);
        }
        let place = self.place(address);
        self.relocations.relocate(place, length, effects, |place| self.address_of(place));
        self.relocations.next(place, length, next, |place| self.flat(place))
    }

    /// The [address](Image::flat) of code or data that an instruction contains.
    pub(super) fn reference(&self, place: CodeAddress, preview: &Preview) -> Option<u64> {
        if self.bases.is_empty() {
            return preview.refers;
        }
        match self.relocations.target(place, preview.length) {
            Some(_) => {
                let to = self.relocations.reference(place, preview.length)?;
                self.address_of(to)
            }
            None => Some(self.flat(CodeAddress { address: preview.refers?, ..place })),
        }
    }

    /// How the file calls functions of other files that never return.
    pub(super) const fn no_return_imports(&self) -> &NoReturnImports {
        &self.imports
    }

    /// The relocations of the code.
    pub(super) const fn relocations(&self) -> &CodeRelocations {
        &self.relocations
    }
}

/// The frame at the entry of a function.
fn frame_of_call(abi: Abi) -> Frame {
    let pushed = abi.fixed_ra_offset();
    let ra = if pushed == 0 { Recovery::Unchanged } else { Recovery::AtCfa(pushed.into()) };
    let cfa = Cfa::RegisterOffset { register: abi.sp(), offset: -i64::from(pushed) };
    Frame { cfa, ra, fp: Recovery::Unchanged, ra_signed: false }
}

/// The address of a place, different from those of places in sections with other bases.
fn flat(bases: &[u64], place: CodeAddress) -> u64 {
    let base = usize::try_from(place.section).ok().and_then(|section| bases.get(section));
    place.address.wrapping_add(base.copied().unwrap_or(0))
}

/// An address for each section. The gaps are larger than any distance in an instruction that is not relocated.
fn bases(elf: &Elf<'_>) -> Vec<u64> {
    const GAP: u64 = 1 << 16;
    let (mut next, most) = (0_u64, elf.data().len() as u64);
    let base = |section: &ElfSection<'_>| {
        let base = next;
        let size = if section.is_loaded() { section.size.min(most) } else { 0 };
        next = next.saturating_add(size).saturating_add(GAP);
        base
    };
    elf.sections().iter().map(base).collect()
}
