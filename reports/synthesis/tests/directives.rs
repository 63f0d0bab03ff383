//! Forecasts for CFI that compilers rarely write: each function is assembled by every release, and the forecast from its
//! CFI alone is compared with the section that GNU as writes.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use std::fmt::Write;

use common::assembler::{Assembler, assemblers};
use common::random::{Random, function};
use sframe_synthesis::Release;
use sframe_validator::Abi;

/// Functions that every release assembles: directives without `.cfi_`, where `n` is an instruction, and SP, FP and RA
/// stand for the machine's registers. `simple` comes first.
const EVERY: [&str; 62] = [
    "n;def_cfa_offset 16;n;def_cfa_register 3;adjust_cfa_offset 8000;n;def_cfa_register SP;def_cfa_offset 16032;n",
    "n;def_cfa_register 3;n;def_cfa_offset 16;n",
    "n;def_cfa_register 3;def_cfa FP,16;n",
    "n;offset FP,-16;n;undefined FP;n",
    "n;undefined FP;n;offset FP,-16;n",
    "n;offset FP,-1024;n;offset RA,-136;n",
    "n;offset RA,-136;n;offset RA,-8;n",
    "n;offset RA,-72000;def_cfa_offset 32768;n;def_cfa_offset 128;n",
    "n;offset FP,-16;offset RA,-8;n;undefined RA;n;restore FP;n;restore RA;n;same_value RA;n",
    "n;undefined RA;n;offset RA,-8;n;def_cfa_offset 16;n",
    "n;undefined RA;n;offset RA,-16;n",
    "n;undefined RA;n;register RA,3;n",
    "n;undefined RA;n;remember_state;n;restore RA;n;restore_state;n",
    "n;remember_state;n;undefined RA;n;restore_state;n",
    "n;negate_ra;n;undefined RA;n;negate_ra;n;restore RA;n",
    "undefined RA;n",
    "remember_state;n",
    "n;remember_state;n",
    "simple;n",
    "simple;long;n",
    "signal;long;val_offset FP,0;n",
    "signal;n;offset FP,-16;n",
    "simple;n;adjust_cfa_offset 16;n",
    "simple;n;def_cfa 3,8;n",
    "simple;def_cfa SP,8;n",
    "simple;n;def_cfa SP,8;n",
    "simple;n;def_cfa SP,160;n;def_cfa_offset 176;n",
    "simple;n;offset FP,-16;n",
    "simple;n;offset RA,-16;n",
    "simple;n;offset FP,-16;offset RA,-8;n;def_cfa SP,0;n",
    "simple;n;undefined 3;n",
    "simple;n;undefined RA;n",
    "simple;remember_state;n;def_cfa SP,8;n",
    "return_column 3;n",
    "n;register FP,3;same_value FP;n",
    "n;register FP,3;n;offset FP,-16;n;restore FP;n",
    "n;register RA,3;n;same_value RA;n",
    "n;register RA,3;n;restore RA;n;def_cfa_offset 176;n",
    "n;register 3,10;n;register SP,16;n",
    "n;register RA,RA;n;register FP,FP;n",
    "n;def_cfa 31,8;n;def_cfa 32,8;n",
    "n;remember_state;n;def_cfa 3,168;n;restore_state;n",
    "n;val_offset SP,0;n",
    "n;val_offset SP,-160;n",
    "n;val_offset SP,-16;n",
    "n;val_offset FP,0;n",
    "n;val_offset RA,0;n",
    "n;offset FP,0;n;offset RA,0;n;def_cfa_offset 168;n",
    "n;register FP,17;offset RA,0;n;offset FP,0;n",
    "n;def_cfa_offset 156;n;def_cfa_offset 167;n",
    "n;escape 0;n",
    "n;offset 3,-16;n;escape 0,0;offset 3,-24;n",
    "n;escape 0x2e,0x10;n",
    "n;def_cfa_register FP;escape 0x2e,0x10;n;def_cfa_register SP;n",
    "n;escape 0x2e,0;n",
    "n;label inside;n;def_cfa_offset 16;n",
    "n;escape 0x05,3,2;n",
    "n;escape 0x06,3;n",
    "n;escape 0x11,3,2;n",
    "n;escape 0x2f,3,2;n",
    "n;escape 0x15,3,2;n",
    "n;offset 3,-16;n;offset 3,16;n;restore 3;n;val_offset 3,16;n;val_offset 3,-16;n",
];

/// Functions on which the older releases stop with an internal error.
const LATEST: [&str; 9] = [
    "restore FP;n;adjust_cfa_offset 8;n",
    "def_cfa_offset 16;def_cfa_register FP;n",
    "simple;n;def_cfa_register FP;n;def_cfa_offset 16;n",
    "simple;n;restore FP;n",
    "simple;n;register FP,3;n;def_cfa_register SP;n;def_cfa_offset 32;n",
    "n;escape 0x10,FP,2,0x76,0;n;offset FP,-16;n",
    "n;escape 0x10,FP,2,0x73,8;n",
    "n;escape 0x10,3,2,0x76,0;n;escape 0x10,FP,3,0x76,0x80,1;n",
    "n;escape 0x0f,3,0x76,8,6;n;def_cfa_offset 32;n;def_cfa_register SP;n",
];

/// The numbers of SP, FP and RA, and the size of an instruction.
const fn numbers(abi: Abi) -> ([u32; 3], u32) {
    ([abi.sp().0, abi.fp().0, abi.ra().0], abi.instruction_alignment())
}

/// The source of a function.
fn source(number: usize, directives: &str, abi: Abi) -> String {
    let ([sp, fp, ra], size) = numbers(abi);
    let mut words = directives.split(';').peekable();
    let simple = words.next_if_eq(&"simple").map_or("", |_| " simple");
    let mut text = format!("\t.text\nf{number}:\n\t.cfi_startproc{simple}\n");
    for word in words {
        let word = word.replace("SP", &sp.to_string());
        let word = word.replace("FP", &fp.to_string()).replace("RA", &ra.to_string());
        let line = match &*word {
            "n" => format!(".zero {size}"),
            "long" => ".zero 300".to_owned(),
            "signal" => ".cfi_signal_frame".to_owned(),
            "negate_ra" if abi.is_aarch64() => ".cfi_negate_ra_state".to_owned(),
            "negate_ra" => continue,
            word => format!(".cfi_{word}"),
        };
        writeln!(text, "\t{line}").expect("to memory");
    }
    text + "\t.cfi_endproc\n"
}

fn check(assembler: &Assembler, directives: &[&str]) {
    let abi = assembler.abi;
    // Registers that other machines have.
    let is_there = |directives: &&&str| abi != Abi::S390x || !directives.contains("def_cfa 3");
    let all = directives.iter().filter(is_there).enumerate();
    let text: String = all.map(|(number, directives)| source(number, directives, abi)).collect();
    let name = assembler.name();
    let compared = assembler.difference(&text).expect("assembled");
    let functions = compared.unwrap_or_else(|different| panic!("{name}: {different}\n{text}"));
    assert!(functions >= directives.len() / 4, "{name}: {functions} functions");
    // Alone, a function has a CIE of its own.
    for (number, directives) in directives.iter().filter(is_there).enumerate().step_by(5) {
        let text = source(number, directives, abi);
        let compared = assembler.difference(&text).expect("assembled");
        compared.unwrap_or_else(|different| panic!("{name}: {different}\n{text}"));
    }
}

#[test]
fn rare_directives_are_translated_as_by_each_release() {
    let folder = sframe_corpus::folder!("directives");
    for assembler in assemblers(&folder) {
        check(&assembler, &EVERY);
        if assembler.release == Release::V2_47_50 {
            check(&assembler, &LATEST);
        }
    }
}

/// Functions without a byte, in a file without code; and CFI in a section that is not executable.
#[test]
fn functions_need_no_code() {
    let folder = sframe_corpus::folder!("no-code");
    let empty = "f:\t.cfi_startproc\n\t.cfi_endproc\n";
    let elsewhere = "\t.section .rodata\nf:\t.cfi_startproc\n\t.zero 8\n\t.cfi_endproc\n";
    for assembler in assemblers(&folder) {
        for text in [empty, elsewhere] {
            assert_eq!(
                assembler.difference(text),
                Some(Ok(usize::from(text == elsewhere))),
                "{text}"
            );
        }
    }
}

/// The number of random functions in a file.
const TOGETHER: usize = 8;

/// `SFRAME_FUNCTIONS` is the number for each assembler, and `SFRAME_SEED` the first of the numbers from which they are
/// made.
#[test]
fn random_functions_are_translated_as_by_each_release() {
    let folder = sframe_corpus::folder!("random");
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (count, seed) =
        (number("SFRAME_FUNCTIONS").unwrap_or(24), number("SFRAME_SEED").unwrap_or(1));
    for assembler in assemblers(&folder) {
        let (mut compared, mut refused, mut different) = (0, 0, Vec::new());
        let functions: Vec<String> = (seed..seed + count)
            .map(|seed| function(&mut Random::new(seed), assembler.abi, seed))
            .collect();
        for together in functions.chunks(TOGETHER) {
            let mut outcomes = vec![(together.concat(), assembler.difference(&together.concat()))];
            if outcomes[0].1.is_none() {
                let alone = |text: &String| (text.clone(), assembler.difference(text));
                outcomes = together.iter().map(alone).collect();
            }
            for (text, outcome) in outcomes {
                match outcome {
                    None => refused += 1,
                    Some(Ok(_)) => compared += text.matches(".cfi_startproc").count(),
                    Some(Err(found)) => different.push(format!("{found}\n{text}")),
                }
            }
        }
        let name = assembler.name();
        println!("{name}: {compared} functions as forecast, {refused} refused by the assembler");
        assert!(different.is_empty(), "{name}: {}", different.join("\n"));
        assert!(compared * 2 > functions.len(), "{name}: {compared}");
    }
}
