//! The proof of what the machine code says about a PC: a way from an entry of the function, instruction by instruction.

use sframe_oracle::code::{Function, Program, WayStep};
use sframe_oracle::rules::{CATALOGUE, REGISTER_CONTRADICTS_CODE};
use sframe_record::{
    Address, CodeStatement, Instruction, KnownRegister, Lost, Text, Why, WhyStep, Wrong,
};
use sframe_validator::Abi;
use sframe_validator::elf::Elf;
use sframe_validator::unwind::{Named, Register};

use super::instructions::instruction_at;
use super::names::Names;

/// Finds the proof at an address of `function`, also for some registers.
pub fn why<'e>(
    elf: &Elf<'_>,
    abi: Abi,
    names: &Names<'_, '_>,
    (code, function): (&Program<'e>, &mut Function<'e>),
    (address, registers): (u64, &[Register]),
) -> Why<'static> {
    let way = code.way_to(function, address, registers).unwrap_or_default();
    let lost = lost(abi, &way, registers);
    let step = |step: WayStep| {
        let place = step.place;
        let recovered = registers.iter().zip(&step.registers);
        WhyStep {
            code_section: names.section(place).map(Text::from),
            instruction: instruction_at(elf, abi, place, place).unwrap_or(Instruction {
                address: Address(place.address),
                bytes: Text::default(),
                text: Text::default(),
            }),
            arrival: step.arrival.into(),
            ways: step.ways,
            code: CodeStatement::new(abi, &step.row),
            registers: recovered
                .map(|(register, rule)| KnownRegister {
                    name: Named(abi, *register).to_string().into(),
                    rule: rule.map(|rule| Named(abi, rule).to_string().into()),
                })
                .collect(),
        }
    };
    Why { way: way.into_iter().map(step).collect(), left_out: None, lost, clause: None }
}

/// The clauses by which the statement of the `wrong` witness is wrong.
#[must_use]
pub fn clause_against(wrong: Wrong) -> Option<Text<'static>> {
    let name = match wrong {
        Wrong::Inherited | Wrong::Both => "inherited-error",
        Wrong::Cfi => "cfi-contradicts-code",
        Wrong::Sframe => "sframe-contradicts-code",
        Wrong::Neither | Wrong::Undecided => return None,
    };
    CATALOGUE.iter().find(|rule| rule.name == name).map(|rule| rule.page.source.into())
}

/// The clauses by which a rule of CFI for a callee-saved register is wrong.
#[must_use]
pub fn clause_about_registers() -> Text<'static> {
    REGISTER_CONTRADICTS_CODE.page.source.into()
}

/// What is not known at the end of a way.
fn lost(abi: Abi, way: &[WayStep], registers: &[Register]) -> Vec<Lost<'static>> {
    let find = |what: String, is_known: &dyn Fn(&WayStep) -> bool| {
        if way.last().is_none_or(is_known) {
            return None;
        }
        let after = way.iter().rposition(is_known);
        let step = after.and_then(|known| way.get(known.saturating_add(1)));
        Some(Lost {
            what: what.into(),
            at: step.map(|step| Address(step.place.address)),
            is_join: step.is_some_and(|step| step.ways > 1),
        })
    };
    let mut lost = vec![
        find("CFA".to_owned(), &|step| step.row.cfa.is_some()),
        find("RA".to_owned(), &|step| step.row.ra.is_some()),
        find("FP".to_owned(), &|step| step.row.fp.is_some()),
    ];
    for (index, register) in registers.iter().enumerate() {
        let is_known =
            |step: &WayStep| step.registers.get(index).is_some_and(|rule| rule.is_some());
        lost.push(find(Named(abi, *register).to_string(), &is_known));
    }
    lost.into_iter().flatten().collect()
}
