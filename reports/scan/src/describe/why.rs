//! The proof of what the machine code says about a PC: a way from an entry of the function, instruction by instruction.

use sframe_oracle::code::{Function, IncomingEdge, Program, ProvenRow, WayStep};
use sframe_oracle::rules::{CATALOGUE, REGISTER_CONTRADICTS_CODE};
use sframe_record::{
    Address, CodeStatement, Instruction, JoinedWay, KnownRegister, Lost, Text, Why, WhyStep, Wrong,
};
use sframe_validator::Abi;
use sframe_validator::elf::Elf;
use sframe_validator::unwind::{Named, Recovery, Register};

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
    let asked = Asked { abi, registers };
    let mut lost = asked.lost(&way);
    for (part, lost) in &mut lost {
        if lost.is_join
            && let Some(at) = lost.at
        {
            let edges = code.edges_to(function, at.0, registers);
            lost.ways = asked.ways(*part, &edges, names);
        }
    }
    let lost = lost.into_iter().map(|(_, lost)| lost).collect();
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

/// The maximum number of ways that are named where several join.
const MOST_JOINED: usize = 4;

/// What a proof is about.
struct Asked<'r> {
    abi: Abi,
    registers: &'r [Register],
}

/// A part of the frame, or the register with this number in the list of those that were asked about.
#[derive(Clone, Copy)]
enum Part {
    Cfa,
    Ra,
    Fp,
    Register(usize),
}

impl Asked<'_> {
    /// What is not known at the end of a way.
    fn lost(&self, way: &[WayStep]) -> Vec<(Part, Lost<'static>)> {
        let registers = (0..self.registers.len()).map(Part::Register);
        let parts = [Part::Cfa, Part::Ra, Part::Fp].into_iter().chain(registers);
        let is_known = |step: &WayStep, part| self.rule(part, &step.row, &step.registers).is_some();
        let find = |part: Part| {
            if way.last().is_none_or(|step| is_known(step, part)) {
                return None;
            }
            let after = way.iter().rposition(|step| is_known(step, part));
            let step = after.and_then(|known| way.get(known.saturating_add(1)));
            let lost = Lost {
                what: self.name(part).into(),
                at: step.map(|step| Address(step.place.address)),
                is_join: step.is_some_and(|step| step.ways > 1),
                ways: Vec::new(),
            };
            Some((part, lost))
        };
        parts.filter_map(find).collect()
    }

    /// The first way with each rule for a part.
    fn ways(
        &self,
        part: Part,
        edges: &[IncomingEdge],
        names: &Names<'_, '_>,
    ) -> Vec<JoinedWay<'static>> {
        let mut ways: Vec<JoinedWay<'static>> = Vec::new();
        for edge in edges {
            let rule = self.rule(part, &edge.row, &edge.registers).map(Text::from);
            if ways.len() < MOST_JOINED && ways.iter().all(|known| known.rule != rule) {
                ways.push(JoinedWay {
                    code_section: names.section(edge.from).map(Text::from),
                    from: Address(edge.from.address),
                    rule,
                });
            }
        }
        // A loop on which it is not known any more does not disagree by itself.
        if ways.iter().filter(|way| way.rule.is_some()).count() > 1 {
            ways.retain(|way| way.rule.is_some());
        }
        ways
    }

    /// How a part is recovered, if it is known.
    fn rule(&self, part: Part, row: &ProvenRow, registers: &[Option<Recovery>]) -> Option<String> {
        let Asked { abi, .. } = *self;
        let recovery = |rule: Option<Recovery>| rule.map(|rule| Named(abi, rule).to_string());
        match part {
            Part::Cfa => row.cfa.map(|cfa| Named(abi, cfa).to_string()),
            Part::Ra => recovery(row.ra),
            Part::Fp => recovery(row.fp),
            Part::Register(index) => recovery(registers.get(index).copied().flatten()),
        }
    }

    fn name(&self, part: Part) -> String {
        match part {
            Part::Cfa => "CFA".to_owned(),
            Part::Ra => "RA".to_owned(),
            Part::Fp => "FP".to_owned(),
            Part::Register(index) => {
                let register = self.registers.get(index);
                register.map_or_else(String::new, |it| Named(self.abi, *it).to_string())
            }
        }
    }
}
