//! Assembly source: functions with `.cfi_` directives and code.

use std::fmt::{self, Write as _};

use sframe_validator::Abi;

/// A function of another file.
pub(crate) const CALLED: &str = "called";

/// Assembly source for one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The machine.
    pub abi: Abi,
    /// The functions, in order.
    pub functions: Vec<Function>,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The label at its start.
    pub label: String,
    /// The name of the section that it is in.
    pub section: String,
    /// Whether the label has the type of functions, and a size.
    pub is_typed: bool,
    /// `.cfi_startproc simple`: the machine's state at entry is not implied.
    pub simple: bool,
    /// Everything between `.cfi_startproc` and `.cfi_endproc`.
    pub parts: Vec<Part>,
}

/// A part of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Code.
    Code(Code),
    /// A directive.
    Directive(Directive),
}

/// Machine code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// These bytes.
    Bytes(Vec<u8>),
    /// One instruction without an effect.
    Nop,
    /// A number of bytes, without a meaning.
    Blank(u64),
    /// An instruction that uses a function of another file, so that the linker makes a stub for it.
    Reference(Reference),
}

/// How an instruction uses a function of another file, and the name of that function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// Calls it.
    Call(&'static str),
    /// Loads its address from the global offset table.
    Address(&'static str),
}

/// A directive with its operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// The name, with the full stop.
    pub name: String,
    /// The operands, separated by commas.
    pub operands: Vec<String>,
}

impl Code {
    /// The number of bytes.
    #[must_use]
    pub fn size(&self, abi: Abi) -> u64 {
        match self {
            Code::Bytes(bytes) => bytes.len() as u64,
            Code::Nop => abi.instruction_alignment().into(),
            Code::Blank(size) => *size,
            Code::Reference(reference) => reference.size(abi),
        }
    }
}

impl Reference {
    /// A reference of this kind to the first of the functions that are called; `None` if it is that one.
    pub(crate) fn plain(&self) -> Option<Reference> {
        let plain = match self {
            Reference::Call(_) => Reference::Call(CALLED),
            Reference::Address(_) => Reference::Address(CALLED),
        };
        (plain != *self).then_some(plain)
    }

    fn size(&self, abi: Abi) -> u64 {
        match (self, abi) {
            (Reference::Call(_), Abi::Amd64) => 5,
            (Reference::Address(_), Abi::Amd64) => 7,
            (Reference::Call(_), Abi::Aarch64Little | Abi::Aarch64Big) => 4,
            (Reference::Address(_), Abi::Aarch64Little | Abi::Aarch64Big) => 8,
            (_, Abi::S390x) => 6,
        }
    }

    fn write(&self, abi: Abi, text: &mut String) {
        let _ = match (self, abi) {
            (Reference::Call(name), Abi::Amd64) => writeln!(text, "\tcall {name}@PLT"),
            (Reference::Call(name), Abi::S390x) => writeln!(text, "\tbrasl %r14, {name}@PLT"),
            (Reference::Call(name), _) => writeln!(text, "\tbl {name}"),
            (Reference::Address(name), Abi::Amd64) => {
                writeln!(text, "\tmov {name}@GOTPCREL(%rip), %rax")
            }
            (Reference::Address(name), Abi::S390x) => writeln!(text, "\tlgrl %r1, {name}@GOTENT"),
            (Reference::Address(name), _) => {
                writeln!(text, "\tadrp x0, :got:{name}\n\tldr x0, [x0, :got_lo12:{name}]")
            }
        };
    }
}

impl Directive {
    /// Reads a directive, such as `.cfi_offset 6, -16`.
    #[must_use]
    pub fn parse(text: &str) -> Directive {
        let (name, operands) = text.trim().split_once([' ', '\t']).unwrap_or((text.trim(), ""));
        let operands = operands.split(',').map(str::trim).filter(|operand| !operand.is_empty());
        Directive { name: name.to_owned(), operands: operands.map(str::to_owned).collect() }
    }
}

impl fmt::Display for Directive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if !self.operands.is_empty() {
            write!(f, " {}", self.operands.join(", "))?;
        }
        Ok(())
    }
}

impl Function {
    /// The number of its `.cfi_` directives, without those that begin and end it.
    #[must_use]
    pub fn directives(&self) -> usize {
        self.parts.iter().filter(|part| matches!(part, Part::Directive(_))).count()
    }
}

impl Source {
    /// The number of `.cfi_` directives, without those that begin and end functions.
    #[must_use]
    pub fn directives(&self) -> usize {
        self.functions.iter().map(Function::directives).sum()
    }

    /// The text for an assembler.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut section = ".text";
        for function in &self.functions {
            if function.section != section {
                section = &function.section;
                let _ = match section {
                    ".text" => writeln!(text, "\t.text"),
                    name => writeln!(text, "\t.section {name},\"ax\",@progbits"),
                };
            }
            function.write(self.abi, &mut text);
        }
        text
    }
}

impl Function {
    fn write(&self, abi: Abi, text: &mut String) {
        let Function { label, is_typed, simple, parts, .. } = self;
        if *is_typed {
            let _ = writeln!(text, "\t.type {label}, @function");
        }
        let _ = writeln!(text, "{label}:");
        text.push_str(if *simple { "\t.cfi_startproc simple\n" } else { "\t.cfi_startproc\n" });
        for part in parts {
            match part {
                Part::Code(code) => code.write(abi, text),
                Part::Directive(directive) => {
                    let _ = writeln!(text, "\t{directive}");
                }
            }
        }
        text.push_str("\t.cfi_endproc\n");
        if *is_typed {
            let _ = writeln!(text, "\t.size {label}, .-{label}");
        }
    }
}

impl Code {
    fn write(&self, abi: Abi, text: &mut String) {
        match self {
            // The shortest one, of two bytes.
            Code::Nop if abi == Abi::S390x => text.push_str("\tnopr\n"),
            Code::Nop => text.push_str("\tnop\n"),
            Code::Blank(size) => {
                let _ = writeln!(text, "\t.skip {size}");
            }
            Code::Reference(reference) => reference.write(abi, text),
            Code::Bytes(bytes) => {
                for line in bytes.chunks(16) {
                    let bytes: Vec<String> =
                        line.iter().map(|byte| format!("{byte:#04x}")).collect();
                    let _ = writeln!(text, "\t.byte {}", bytes.join(", "));
                }
            }
        }
    }
}
