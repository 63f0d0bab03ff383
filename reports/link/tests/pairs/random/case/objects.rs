//! Objects of every kind of assembler.

use std::fs;
use std::path::Path;

use sframe_link::Linker;

use super::Machine;
use crate::objects::{self, Kind, set_header};
use crate::random::entropy::Entropy;
use crate::random::sources::{self, Shape};

pub(super) struct Object {
    pub(super) stem: String,
    pub(super) shape: Shape,
    pub(super) callee: Option<String>,
    pub(super) kind: Kind,
    pub(super) machine: Machine,
}

impl Object {
    /// The functions that its SFrame describes. LLVM describes none for machines other than AMD64.
    pub(super) fn functions(&self) -> Vec<String> {
        let is_described = match self.kind {
            Kind::None => false,
            Kind::Llvm => self.machine == Machine::Amd64,
            _ => true,
        };
        if is_described { self.shape.functions(&self.stem) } else { Vec::new() }
    }
}

/// The kinds for a machine; most of them are of the linker's own version.
pub(super) fn kinds(linker: Linker, machine: Machine) -> &'static [Kind] {
    use Kind::{Llvm, None, V1, V2, V2PcRelative, V3};
    match (machine, linker) {
        (Machine::S390x, _) => &[None, V3, V3],
        (Machine::Amd64, Linker::Ld240) => &[None, V1, V1, V1, V2, V2PcRelative, Llvm, V3],
        (Machine::Amd64, Linker::Ld244) => &[None, V1, V2, V2, V2, V2PcRelative, Llvm, V3],
        (Machine::Amd64, _) => &[None, V1, V2, V2PcRelative, Llvm, V3, V3, V3],
        (Machine::Aarch64, Linker::Ld240) => &[None, V1, V1, V2, V2PcRelative, V3],
        (Machine::Aarch64, Linker::Ld244) => &[None, V1, V2, V2, V2PcRelative, V3],
        (Machine::Aarch64, _) => &[None, V1, V2, V2PcRelative, V3, V3],
    }
}

/// Assembles an object, and sometimes changes a byte of its header.
pub(super) fn assemble(folder: &Path, object: &Object, entropy: &mut Entropy) -> Vec<u8> {
    let Object { stem, shape, callee, kind, machine } = object;
    let source = folder.join(format!("{stem}.s"));
    let text = sources::source(stem, *shape, callee.as_deref(), *machine);
    fs::write(&source, text).expect("written");
    let made = folder.join("made.o");
    // A section of their own is all that they have.
    let is_own = matches!(shape, Shape::Empty | Shape::Damaged | Shape::Data | Shape::NoCfi);
    let kind = if is_own { Kind::None } else { *kind };
    objects::assemble_for(&source, &made, machine.name(), kind).expect("checked");
    let has_header = kind != Kind::None;
    if has_header && entropy.chance(1, 30) {
        let (field, value) = *entropy.pick(&[(4, 2), (4, 1), (3, 0x84), (3, 0), (2, 9), (0, 0)]);
        set_header(&made, &made, field, value);
    }
    fs::read(&made).expect("an object")
}
