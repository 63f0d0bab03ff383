//! Findings that outlive the line that they were read from.

use super::{Code, Difference, Directive, Field, Finding, Function, Part, SourceLine, TableLine};
use crate::instruction::Instruction;
use crate::ruling::{Proof, Ruling};
use crate::value::Text;

impl Finding<'_> {
    /// A copy that borrows from no line.
    #[must_use]
    pub fn owned(&self) -> Finding<'static> {
        let Finding { severity, owner, section, offset, file_offset, row, .. } = *self;
        Finding {
            rule: text(&self.rule),
            severity,
            group: text(&self.group),
            known: maybe(&self.known),
            consequence: self.consequence.as_deref().map(|of| Box::new(of.owned())),
            owner,
            origin: self.origin.as_deref().map(|of| Box::new(of.owned())),
            message: text(&self.message),
            remedy: maybe(&self.remedy),
            section,
            offset,
            file_offset,
            field: self.field.as_deref().map(|of| Box::new(field(of))),
            function: self.function.as_deref().map(|of| Box::new(function(of))),
            row,
            code: self.code.as_deref().map(|of| Box::new(code(of))),
            elf_section: maybe(&self.elf_section),
            source: self.source.as_ref().map(SourceLine::owned),
            context: self.context.iter().map(part).collect(),
            difference: self.difference.as_deref().map(|of| Box::new(difference(of))),
            why: self.why.as_deref().map(|of| Box::new(of.owned())),
        }
    }
}

impl SourceLine<'_> {
    /// A copy that borrows from no line.
    pub(crate) fn owned(&self) -> SourceLine<'static> {
        SourceLine { file: text(&self.file), line: self.line }
    }
}

fn text(of: &Text<'_>) -> Text<'static> {
    of.clone().into_owned()
}

fn maybe(of: &Option<Text<'_>>) -> Option<Text<'static>> {
    of.as_ref().map(text)
}

fn field(of: &Field<'_>) -> Field<'static> {
    Field { name: text(&of.name), value: text(&of.value), allowed: text(&of.allowed) }
}

fn function(of: &Function<'_>) -> Function<'static> {
    Function {
        code_section: maybe(&of.code_section),
        symbol: maybe(&of.symbol),
        symbol_hex: maybe(&of.symbol_hex),
        ..*of
    }
}

fn code(of: &Code<'_>) -> Code<'static> {
    Code {
        code_section: maybe(&of.code_section),
        symbol: maybe(&of.symbol),
        symbol_hex: maybe(&of.symbol_hex),
        ..*of
    }
}

fn part(of: &Part<'_>) -> Part<'static> {
    Part { bytes: text(&of.bytes), name: text(&of.name), value: text(&of.value), ..*of }
}

fn difference(of: &Difference<'_>) -> Difference<'static> {
    Difference {
        fields: of.fields.iter().map(text).collect(),
        table: of.table.iter().map(line).collect(),
        instructions: of.instructions.iter().map(instruction).collect(),
        directives: of.directives.iter().map(directive).collect(),
        ruling: of.ruling.as_ref().map(ruling),
        ..*of
    }
}

fn line(of: &TableLine<'_>) -> TableLine<'static> {
    TableLine { frame: of.frame.as_ref().map(text), ..*of }
}

fn instruction(of: &Instruction<'_>) -> Instruction<'static> {
    Instruction { bytes: text(&of.bytes), text: text(&of.text), ..*of }
}

fn directive(of: &Directive<'_>) -> Directive<'static> {
    Directive { text: text(&of.text), ..*of }
}

fn ruling(of: &Ruling<'_>) -> Ruling<'static> {
    Ruling {
        proof: of.proof.as_ref().map(|of| Proof {
            change: of.change.as_ref().map(instruction),
            instruction: instruction(&of.instruction),
            known: of.known.owned(),
            ..*of
        }),
        ..*of
    }
}
