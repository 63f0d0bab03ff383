//! `assemblers --seeded COUNT [--seed NUMBER] [--as NAME]... [--keep FOLDER]` runs COUNT random programs through every
//! assembler of the fetched toolchains, or through those whose path contains a NAME. Failures are reduced and counted.
//! New ones are printed, and written to FOLDER. The exit status is 1 if there are any.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use sframe_fuzz::assembler::{
    Assembler, assemblers, examine, known, known_at_once, program, reduce, signature,
};
use sframe_fuzz::program::Program;
use sframe_harness::limited::watch_if_asked;
use sframe_mutate::Seeded;

/// The command-line arguments.
struct Arguments {
    count: u64,
    seed: u64,
    names: Vec<String>,
    keep: Option<PathBuf>,
}

/// A kind of symptom: how often it was seen, and the smallest program that shows it.
struct Kind {
    count: u64,
    text: String,
    case: Option<&'static str>,
}

fn main() -> ExitCode {
    if let Some(status) = watch_if_asked() {
        return status;
    }
    let arguments = match arguments() {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(3);
        }
    };
    let wanted = |assembler: &Assembler| {
        let path = assembler.path.to_string_lossy();
        arguments.names.is_empty() || arguments.names.iter().any(|name| path.contains(&**name))
    };
    let own = std::env::current_exe().expect("a program has a path");
    let mut news = 0;
    for assembler in assemblers(&own).into_iter().filter(wanted) {
        let mut kinds = kinds(&assembler, &arguments).into_iter().collect::<Vec<_>>();
        kinds.sort_by_key(|(_, kind)| (kind.case.is_none(), kind.case, u64::MAX - kind.count));
        println!("{} {:?}", assembler.name, assembler.abi);
        for (name, kind) in kinds {
            println!("{:6} {name}", kind.count);
            if kind.case.is_none() {
                news += 1;
                println!("NEWS, the smallest program:\n{}", kind.text);
                keep(&arguments, &assembler, news, &name, &kind.text);
            }
        }
    }
    if news == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn arguments() -> Result<Arguments, String> {
    let mut found = Arguments { count: 100, seed: 1, names: Vec::new(), keep: None };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments.next().ok_or(format!("{argument} needs a value"))?;
        let number = || value.parse().map_err(|_| format!("{argument} needs a number"));
        match argument.as_str() {
            "--seeded" => found.count = number()?,
            "--seed" => found.seed = number()?,
            "--as" => found.names.push(value),
            "--keep" => found.keep = Some(value.into()),
            _ => return Err(format!("{argument} is not known")),
        }
    }
    Ok(found)
}

/// All failures of an assembler, by symptom and case, or by the instructions of the reduced program.
fn kinds(assembler: &Assembler, arguments: &Arguments) -> BTreeMap<String, Kind> {
    let mut random = Seeded::new(arguments.seed);
    let mut kinds: BTreeMap<String, Kind> = BTreeMap::new();
    for _ in 0..arguments.count {
        let program = program(assembler.abi, &mut random);
        for (number, symptoms) in examine(assembler, &program).into_iter().enumerate() {
            for symptom in symptoms {
                let (name, kind) = judge(assembler, &program, number, &symptom);
                kinds.entry(name).or_insert(kind).count += 1;
            }
        }
    }
    kinds
}

/// The name of a symptom that function `number` shows, and the known defect that causes it.
fn judge(assembler: &Assembler, program: &Program, number: usize, symptom: &str) -> (String, Kind) {
    let refused = symptom.starts_with("refused").then_some("a directive that it does not know");
    let at_once = || known_at_once(assembler, &program.functions[number], symptom);
    if let Some(case) = refused.or_else(at_once) {
        let kind = Kind { count: 0, text: String::new(), case: Some(case) };
        return (format!("{symptom} | {case}"), kind);
    }
    let smallest = reduce(assembler, program, number, symptom);
    let case = known(assembler, &smallest, symptom);
    let consists_of = signature(&smallest);
    let name = format!("{symptom} | {}", case.unwrap_or(&consists_of));
    (name, Kind { count: 0, text: smallest.assembly(), case })
}

/// Writes a program that shows a new defect.
fn keep(arguments: &Arguments, assembler: &Assembler, number: u32, name: &str, text: &str) {
    let Some(folder) = &arguments.keep else { return };
    let path = folder.join(format!("{}-{:?}-{number}.s", assembler.name, assembler.abi));
    let comment = if assembler.abi.is_aarch64() { "//" } else { "#" };
    std::fs::write(path, format!("{comment} {} {name}\n{text}", assembler.name))
        .expect("disk space");
}
