//! The proof of what the machine code says about a PC: a way from an entry of the function, instruction by instruction.

use std::io::{self, Write};

use anstyle::Style;
use serde::Serialize;
use sframe_oracle::code::{Arrival, EntryKind, Function, Program, WayStep};
use sframe_oracle::rules::CATALOGUE;
use sframe_record::numbers::grouped;
use sframe_record::{Address, Instruction, KnownFrame, Text, Wrong};
use sframe_scan::describe::{Names, instruction_at};
use sframe_validator::Abi;
use sframe_validator::elf::Elf;
use sframe_validator::unwind::{CodeAddress, Named, Register};

use super::CodeStatement;

const DIM: Style = Style::new().dimmed();
/// Runs of more instructions than this that change nothing are counted in text, not listed.
const MOST_LISTED: usize = 4;

/// The proof of what the machine code says about a PC.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Why {
    /// The instructions on one of the shortest ways from an entry of the function to the PC, which is in the last one. Empty if no
    /// way with at most 16,384 instructions is known.
    pub way: Vec<WhyStep>,
    /// What is not known at the PC, and where it was lost.
    pub lost: Vec<Lost>,
    /// The clauses of specifications by which a statement is wrong, if the code proves one wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clause: Option<&'static str>,
}

/// An instruction on the way.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WhyStep {
    /// Its section; only in relocatable objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code_section: Option<Text<'static>>,
    /// The instruction.
    pub instruction: Instruction<'static>,
    /// How control comes to it.
    pub arrival: ArrivalKind,
    /// The number of known ways in which control comes to it. What is not the same on all of them is not known.
    pub ways: usize,
    /// What is known before it.
    pub code: CodeStatement,
    /// The registers that were asked about, and how each is recovered, if that is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub registers: Vec<KnownRegister>,
}

/// How a register is recovered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KnownRegister {
    /// The machine's name of the register.
    pub name: Text<'static>,
    /// The rule, such as `*(CFA-16)`. Absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Text<'static>>,
}

/// How control comes to an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ArrivalKind {
    /// Calls from other functions lead to it, or it is the start of a function that other files may call.
    Call,
    /// Calls within the function lead to it.
    LocalCall,
    /// A signal handler returns to it.
    SignalReturn,
    /// It is taken for an entry, although nothing is known to call it.
    Presumed,
    /// After the instruction before it.
    Following,
    /// By a jump.
    Jump,
    /// By an exception that passes a call.
    Exception,
}

/// Something that is not known at the PC.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lost {
    /// `CFA`, `RA`, `FP` or the name of a register.
    pub what: Text<'static>,
    /// The instruction on the way before which it is not known any more; absent if it is known nowhere on the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Address>,
    /// Whether several ways join there, so that it was lost because they differ; else the instruction before it changed it.
    pub is_join: bool,
}

impl From<Arrival> for ArrivalKind {
    fn from(arrival: Arrival) -> ArrivalKind {
        match arrival {
            Arrival::Entry(EntryKind::Call) => ArrivalKind::Call,
            Arrival::Entry(EntryKind::LocalCall) => ArrivalKind::LocalCall,
            Arrival::Entry(EntryKind::SignalReturn) => ArrivalKind::SignalReturn,
            Arrival::Entry(EntryKind::Presumed) => ArrivalKind::Presumed,
            Arrival::Following => ArrivalKind::Following,
            Arrival::Jump => ArrivalKind::Jump,
            Arrival::Exception => ArrivalKind::Exception,
        }
    }
}

/// Finds the proof at an address of `function`.
pub(super) fn find<'e>(
    elf: &Elf<'_>,
    abi: Abi,
    names: &mut Names<'_, '_>,
    (code, function): (&Program<'e>, &mut Function<'e>),
    (address, registers): (u64, &[Register]),
) -> Why {
    let way = code.way_to(function, address, registers).unwrap_or_default();
    let lost = lost(abi, &way, registers);
    let step = |step: WayStep| {
        let place: CodeAddress = step.place;
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
            code: CodeStatement {
                known: KnownFrame::new(abi, &step.row),
                ra_signed: step.row.ra.is_some() && step.row.ra_signed,
            },
            registers: recovered
                .map(|(register, rule)| KnownRegister {
                    name: Named(abi, *register).to_string().into(),
                    rule: rule.map(|rule| Named(abi, rule).to_string().into()),
                })
                .collect(),
        }
    };
    Why { way: way.into_iter().map(step).collect(), lost, clause: None }
}

/// The clauses by which the statement of the `wrong` witness is wrong, or a rule for another register.
pub(super) fn clause(wrong: Option<Wrong>, has_wrong_rule: bool) -> Option<&'static str> {
    let name = match wrong {
        Some(Wrong::Inherited | Wrong::Both) => "inherited-error",
        Some(Wrong::Cfi) => "cfi-contradicts-code",
        Some(Wrong::Sframe) => "sframe-contradicts-code",
        _ if has_wrong_rule => "register-contradicts-code",
        _ => return None,
    };
    CATALOGUE.iter().find(|rule| rule.name == name).map(|rule| rule.page.source)
}

/// What is not known at the end of a way.
fn lost(abi: Abi, way: &[WayStep], registers: &[Register]) -> Vec<Lost> {
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

/// Writes the proof for people.
pub(super) fn write(out: &mut dyn Write, why: &Why) -> io::Result<()> {
    if why.way.is_empty() {
        return writeln!(out, "  why: no way of at most 16,384 instructions is known");
    }
    writeln!(
        out,
        "  why: the way from an entry of the function, and what is known before each instruction"
    )?;
    let address = |step: &WhyStep| match &step.code_section {
        Some(section) => format!("{section}+{}", step.instruction.address),
        None => step.instruction.address.to_string(),
    };
    let widest = |text: &dyn Fn(&WhyStep) -> usize| why.way.iter().map(text).max().unwrap_or(0);
    let address_width = widest(&|step| address(step).len());
    let text_width = widest(&|step| step.instruction.text.len()).min(40);
    let mut shown: Option<String> = None;
    let mut quiet: Vec<String> = Vec::new();
    for (index, step) in why.way.iter().enumerate() {
        let state = state(step);
        let is_changed = shown.as_ref() != Some(&state);
        let arrival = arrival(step);
        let text: &str = &step.instruction.text;
        let line = format!("    {:address_width$}  {text:text_width$}", address(step));
        let is_last = index.saturating_add(1) == why.way.len();
        if !is_changed && arrival.is_none() && !is_last {
            quiet.push(line);
            continue;
        }
        write_quiet(out, &mut quiet)?;
        write!(out, "{line}  {}", if is_changed || is_last { &state } else { "" })?;
        match arrival {
            Some(arrival) => writeln!(out, "  {DIM}{arrival}{DIM:#}")?,
            None => writeln!(out)?,
        }
        shown = Some(state);
    }
    for Lost { what, at, is_join } in &why.lost {
        match (at, is_join) {
            (Some(at), true) => {
                writeln!(
                    out,
                    "    {what} is not known from {at} on, where ways join that differ in it"
                )?;
            }
            (Some(at), false) => {
                writeln!(
                    out,
                    "    {what} is not known from {at} on: the instruction before it changes it"
                )?;
            }
            (None, _) => writeln!(out, "    {what} is known nowhere on this way")?,
        }
    }
    if let Some(clause) = why.clause {
        writeln!(out, "    decided by {clause}")?;
    }
    Ok(())
}

/// Writes lines about instructions that change nothing, or how many there are.
fn write_quiet(out: &mut dyn Write, lines: &mut Vec<String>) -> io::Result<()> {
    if lines.len() > MOST_LISTED {
        let count = grouped(lines.len() as u64);
        writeln!(out, "    {DIM}... {count} instructions that do not change this{DIM:#}")?;
    } else {
        for line in lines.iter() {
            writeln!(out, "{}", line.trim_end())?;
        }
    }
    lines.clear();
    Ok(())
}

/// What is known before an instruction, in words.
fn state(step: &WhyStep) -> String {
    let part = |part: &Option<Text<'_>>| part.as_deref().unwrap_or("?").to_owned();
    let KnownFrame { cfa, ra, fp } = &step.code.known;
    let signed = if step.code.ra_signed { " signed" } else { "" };
    let mut text = format!("CFA={} RA={}{signed} FP={}", part(cfa), part(ra), part(fp));
    for KnownRegister { name, rule } in &step.registers {
        text.push_str(&format!(" {name}={}", part(rule)));
    }
    text
}

/// How control comes to an instruction, if it is not after the one before it alone.
fn arrival(step: &WhyStep) -> Option<String> {
    let how = match step.arrival {
        ArrivalKind::Call => Some("entered by calls"),
        ArrivalKind::LocalCall => Some("entered by calls within the function"),
        ArrivalKind::SignalReturn => Some("entered by the return of a signal handler"),
        ArrivalKind::Presumed => Some("taken for the start of a function that is called"),
        ArrivalKind::Jump => Some("after a jump"),
        ArrivalKind::Exception => Some("after an exception that passes the call"),
        ArrivalKind::Following => None,
    };
    let joins = (step.ways > 1).then(|| format!("{} ways join", step.ways));
    match (how, joins) {
        (Some(how), Some(joins)) => Some(format!("{how}; {joins}")),
        (how, joins) => how.map(str::to_owned).or(joins),
    }
}
