//! The sources of random inputs.

use std::fmt::Write as _;

use super::case::Machine;

/// What an object has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Functions with CFI.
    Plain,
    /// Each function is in a section of its own.
    Split,
    /// A function has a rule that starts at its end.
    RowAtEnd,
    /// A function has no bytes.
    NoBytes,
    /// A COMDAT group that all objects of this shape have, and a function of its own.
    Group,
    /// A function without CFI.
    NoCfi,
    /// Data alone.
    Data,
    /// An SFrame section without bytes.
    Empty,
    /// An SFrame section without the magic number.
    Damaged,
}

impl Shape {
    pub(super) const USUAL: [Shape; 3] = [Shape::Plain, Shape::Plain, Shape::Split];
    pub(super) const ODD: [Shape; 7] = [
        Shape::RowAtEnd,
        Shape::NoBytes,
        Shape::Group,
        Shape::NoCfi,
        Shape::Data,
        Shape::Empty,
        Shape::Damaged,
    ];

    /// The functions of an object, as far as SFrame describes them.
    pub(super) fn functions(self, stem: &str) -> Vec<String> {
        let both = || vec![format!("fn_{stem}_0"), format!("fn_{stem}_1")];
        match self {
            Shape::Plain | Shape::Split | Shape::RowAtEnd | Shape::NoBytes => both(),
            // The group is that of the first object that has it, whose SFrame decides.
            Shape::Group => vec![format!("fn_{stem}_0")],
            Shape::NoCfi | Shape::Data | Shape::Empty | Shape::Damaged => Vec::new(),
        }
    }
}

/// The source of an object whose first function calls `callee`, if there is one.
pub(super) fn source(stem: &str, shape: Shape, callee: Option<&str>, machine: Machine) -> String {
    let mut text = String::new();
    match shape {
        Shape::Data => writeln!(text, " .data\n .globl data_{stem}\ndata_{stem}: .long 1"),
        Shape::NoCfi => {
            let code = without_cfi(callee, machine);
            writeln!(text, " .text\n .globl fn_{stem}_0\nfn_{stem}_0:\n{code}")
        }
        Shape::Empty | Shape::Damaged => {
            let bytes = if shape == Shape::Empty { "" } else { " .fill 28, 1, 0x11\n" };
            let code = without_cfi(callee, machine);
            writeln!(
                text,
                " .section .sframe,\"a\",%0x6ffffff4\n{bytes} .text\n .globl fn_{stem}_0\nfn_{stem}_0:\n{code}"
            )
        }
        Shape::Group => {
            let (own, shared) = (code(callee, machine), code(None, machine));
            let own = function(&format!("fn_{stem}_0"), ".globl", " .text", &own, "");
            let section = " .section .text.group,\"axG\",%progbits,group,comdat";
            let section = format!("{section}{}", alignment(machine));
            let shared = function("group", ".weak", &section, &shared, "");
            write!(text, "{own}{shared}")
        }
        Shape::Plain | Shape::Split | Shape::RowAtEnd | Shape::NoBytes => {
            let codes = [code(callee, machine), code(None, machine)];
            for (number, code) in codes.iter().enumerate() {
                let name = format!("fn_{stem}_{number}");
                let section = match shape {
                    Shape::Split => {
                        format!(" .section .text.{name},\"ax\",%progbits{}", alignment(machine))
                    }
                    _ => " .text".to_owned(),
                };
                let is_last = number == 1;
                if is_last && shape == Shape::NoBytes {
                    let name = format!("empty_{stem}");
                    text.push_str(&function(&name, ".globl", &section, "", ""));
                }
                let end = match is_last && shape == Shape::RowAtEnd {
                    true => " .cfi_def_cfa_offset 176\n",
                    false => "",
                };
                text.push_str(&function(&name, ".globl", &section, code, end));
            }
            Ok(())
        }
    }
    .expect("a string");
    text + " .section .note.GNU-stack,\"\",%progbits\n"
}

/// The alignment of code in a section other than `.text`, which GNU as leaves to others on s390x.
const fn alignment(machine: Machine) -> &'static str {
    match machine {
        Machine::S390x => "\n .balign 2",
        Machine::Amd64 | Machine::Aarch64 => "",
    }
}

/// A function with CFI. `end` are directives after its last instruction.
fn function(name: &str, binding: &str, section: &str, code: &str, end: &str) -> String {
    format!(
        "{section}\n {binding} {name}\n .type {name},%function\n{name}:\n .cfi_startproc\n{code}{end} .cfi_endproc\n \
         .size {name},.-{name}\n"
    )
}

/// The instructions of a function without CFI.
fn without_cfi(callee: Option<&str>, machine: Machine) -> String {
    let code = code(callee, machine);
    let lines = code.lines().filter(|line| !line.contains(".cfi"));
    lines.map(|line| format!("{line}\n")).collect()
}

/// The instructions of a function.
fn code(callee: Option<&str>, machine: Machine) -> String {
    let (call, push, pop) = match machine {
        Machine::Amd64 => (
            "call",
            " push %rbp\n .cfi_def_cfa_offset 16\n .cfi_offset 6,-16\n",
            " pop %rbp\n .cfi_def_cfa 7,8\n ret\n",
        ),
        Machine::Aarch64 => (
            "bl",
            " stp x29,x30,[sp,-16]!\n .cfi_def_cfa_offset 16\n .cfi_offset 29,-16\n .cfi_offset 30,-8\n",
            " ldp x29,x30,[sp],16\n .cfi_restore 30\n .cfi_restore 29\n .cfi_def_cfa_offset 0\n ret\n",
        ),
        Machine::S390x => (
            "brasl %r14,",
            " stg %r14,112(%r15)\n .cfi_offset 14,-48\n lay %r15,-160(%r15)\n .cfi_def_cfa_offset 320\n",
            " lg %r14,272(%r15)\n .cfi_restore 14\n lay %r15,160(%r15)\n .cfi_def_cfa_offset 160\n br %r14\n",
        ),
    };
    let plt = if machine == Machine::Aarch64 { "" } else { "@PLT" };
    let call = callee.map(|callee| format!(" {call} {callee}{plt}\n")).unwrap_or_default();
    format!("{push}{call}{pop}")
}
