//! Removes and simplifies parts of inputs as long as they show the finding.

use super::tester::Tester;
use super::{Outcome, Reduced};
use crate::assembler::NoObject;
use crate::error::ReduceError;
use crate::inputs::Inputs;
use crate::linker::NO_LIBRARIES;
use crate::shrink::Shrink;
use crate::simpler::{spelled, variants};
use crate::source::{Code, Function, Part};

/// The most times that all parts are tried again.
const ROUNDS: usize = 8;

pub(super) fn minimize(tester: &Tester<'_>, inputs: Inputs) -> Result<Outcome, ReduceError> {
    let directives_before = inputs.directives();
    let mut shrink = Shrink::new(inputs, |inputs: &Inputs| tester.shows(inputs));
    drop_functions(&mut shrink);
    // Sources can be joined if no two functions have the same name.
    plain_names(&mut shrink);
    join_sources(&mut shrink);
    drop_options(&mut shrink);
    plain_code(&mut shrink);
    let mut settled = false;
    for _ in 0..ROUNDS {
        settled = !round(&mut shrink);
        if settled {
            break;
        }
    }
    plain_references(&mut shrink);
    spell(&mut shrink);
    let inputs = shrink.into_smallest();
    if let Some(error) = tester.failure() {
        return Err(error.into());
    }
    if (tester.task.stop)() {
        return Ok(Outcome::Stopped);
    }
    let (record, made) = tester.examine(&inputs).map_err(|why| match why {
        NoObject::Refused(message) => ReduceError::Refused(message),
        NoObject::NotRun(error) => error.into(),
    })?;
    let finding = tester.find(&record);
    let finding = finding.ok_or(ReduceError::Unsteady)?;
    Ok(Outcome::Reduced(Box::new(Reduced {
        inputs,
        made,
        record,
        finding,
        directives_before,
        runs: tester.runs(),
        is_smallest: settled && !tester.used_up(),
    })))
}

/// Fewer objects: functions go into the source before theirs.
fn join_sources<S: FnMut(&Inputs) -> bool>(shrink: &mut Shrink<Inputs, S>) -> bool {
    let mut joined = false;
    for number in (1..shrink.smallest().sources.len()).rev() {
        let candidate = shrink.smallest().with_joined(number);
        joined |= candidate.is_some_and(|candidate| shrink.try_one(candidate));
    }
    joined
}

/// The first option decides what is made, and `-nostdlib` means less, not more.
fn drop_options<S: FnMut(&Inputs) -> bool>(shrink: &mut Shrink<Inputs, S>) {
    for number in (1..shrink.smallest().options.len()).rev() {
        if shrink.smallest().options.get(number).is_some_and(|option| option == NO_LIBRARIES) {
            continue;
        }
        let candidate = shrink.smallest().without_option(number);
        let _ = candidate.map(|candidate| shrink.try_one(candidate));
    }
}

/// Tries all parts once. Returns whether the source has become smaller.
fn round<S: FnMut(&Inputs) -> bool>(shrink: &mut Shrink<Inputs, S>) -> bool {
    let mut changed = drop_functions(shrink);
    for number in 0..shrink.smallest().count() {
        let parts = |inputs: &Inputs| inputs.functions().nth(number).map_or(0, |f| f.parts.len());
        let function: Option<&Function> = shrink.smallest().functions().nth(number);
        let had_code = function.is_some_and(|function| has_code(&function.parts));
        changed |= shrink.drop_runs(parts, |inputs, range| {
            let mut parts = inputs.functions().nth(number)?.parts.clone();
            parts.drain(range);
            // A function without code is a case of its own.
            (had_code == has_code(&parts)).then(|| inputs.with_parts(number, parts))
        });
        changed |= shrink.replace_each(parts, |inputs, at| {
            let function = inputs.functions().nth(number);
            let part = function.and_then(|function| function.parts.get(at));
            let simpler = part.zip(inputs.abi()).map_or(Vec::new(), |(of, abi)| variants(of, abi));
            let inputs = inputs.clone();
            simpler.into_iter().filter_map(move |part| {
                let mut parts = inputs.functions().nth(number)?.parts.clone();
                *parts.get_mut(at)? = part;
                Some(inputs.with_parts(number, parts))
            })
        });
        let mut plain = shrink.smallest().clone();
        let function = plain.functions_mut().nth(number);
        let was_simple = function.is_some_and(|function| std::mem::take(&mut function.simple));
        changed |= was_simple && shrink.try_one(plain);
    }
    changed
}

fn has_code(parts: &[Part]) -> bool {
    parts.iter().any(|part| matches!(part, Part::Code(_)))
}

fn drop_functions<S: FnMut(&Inputs) -> bool>(shrink: &mut Shrink<Inputs, S>) -> bool {
    shrink.drop_runs(Inputs::count, |inputs, range| inputs.without_functions(&range))
}

/// Short names, one section, and no symbol table beyond labels; each of them, if not all at once.
fn plain_names<S: FnMut(&Inputs) -> bool>(shrink: &mut Shrink<Inputs, S>) {
    type Change = fn(&mut Inputs);
    let labels: Change = |inputs| {
        // The last one is most often that of the finding.
        for (number, function) in inputs.functions_mut().rev().enumerate() {
            function.label = match number {
                0 => "f".to_owned(),
                1 => "g".to_owned(),
                before => format!("g{before}"),
            };
        }
    };
    let sections: Change = |inputs| {
        inputs.functions_mut().for_each(|function| function.section = ".text".to_owned());
    };
    let types: Change =
        |inputs| inputs.functions_mut().for_each(|function| function.is_typed = false);
    let changes = [labels, sections, types];
    let mut all = shrink.smallest().clone();
    changes.iter().for_each(|change| change(&mut all));
    if shrink.try_one(all) {
        return;
    }
    for change in changes {
        let mut candidate = shrink.smallest().clone();
        change(&mut candidate);
        shrink.try_one(candidate);
    }
}

/// One function of another file instead of several.
fn plain_references<S: FnMut(&Inputs) -> bool>(shrink: &mut Shrink<Inputs, S>) {
    let mut inputs = shrink.smallest().clone();
    for part in inputs.functions_mut().flat_map(|function| &mut function.parts) {
        if let Part::Code(Code::Reference(reference)) = part
            && let Some(plain) = reference.plain()
        {
            *reference = plain;
        }
    }
    shrink.try_one(inputs);
}

/// Code without a meaning, of the smallest size or else of the same.
fn plain_code<S: FnMut(&Inputs) -> bool>(shrink: &mut Shrink<Inputs, S>) {
    let Some(abi) = shrink.smallest().abi() else { return };
    let with = |inputs: &Inputs, plain: &dyn Fn(&Code) -> Code| {
        let mut inputs = inputs.clone();
        for part in inputs.functions_mut().flat_map(|function| &mut function.parts) {
            if let Part::Code(code) = part
                && !matches!(code, Code::Reference(_))
            {
                *code = plain(code);
            }
        }
        inputs
    };
    let inputs = shrink.smallest().clone();
    let nops = with(&inputs, &|_| Code::Nop);
    let blanks = with(&inputs, &|code| Code::Blank(code.size(abi)));
    shrink.try_each([nops, blanks]);
}

/// Names of registers instead of numbers, in as many directives as possible.
fn spell<S: FnMut(&Inputs) -> bool>(shrink: &mut Shrink<Inputs, S>) {
    let spell = |part: &mut Part, abi| {
        if let Part::Directive(directive) = part
            && let Some(spelled) = spelled(directive, abi)
        {
            *directive = spelled;
        }
    };
    let mut all = shrink.smallest().clone();
    let Some(abi) = all.abi() else { return };
    all.functions_mut().flat_map(|function| &mut function.parts).for_each(|p| spell(p, abi));
    if shrink.try_one(all) {
        return;
    }
    for number in 0..shrink.smallest().count() {
        let parts = |inputs: &Inputs| inputs.functions().nth(number).map_or(0, |f| f.parts.len());
        shrink.replace_each(parts, |inputs, at| {
            let mut inputs = inputs.clone();
            let part = inputs.functions_mut().nth(number).and_then(|f| f.parts.get_mut(at));
            part.into_iter().for_each(|part| spell(part, abi));
            [inputs]
        });
    }
}
