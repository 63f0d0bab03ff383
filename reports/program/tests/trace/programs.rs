//! Programs with frames of every kind.
//!
//! The truth about CFI that a compiler has written for the code that it has made is that it is right. SFrame comes from
//! the same directives. The exception is `.plt.got`, for which GNU ld writes wrong SFrame rows
//! (`corpus/differences/ld-plt-got`).

use std::path::{Path, PathBuf};

use sframe_corpus::{folder, golden, tools, tries};

use crate::{Traced, is_permitted, sources, trace};

/// Builds a C or C++ program with an assembler that writes SFrame, and traces it. `None` if that is not possible here.
fn traced(source: &str, toolchain: &str, optimise: &str) -> Option<(Traced, String)> {
    let (name, language) = source.split_once('.').expect("an extension");
    let compiler = if language == "cc" { "g++" } else { "gcc" };
    let tool = tools::toolchain(toolchain)?;
    let folder = folder!(format!("trace-{name}-{toolchain}{}", optimise.replace(' ', "")));
    // Binding the symbols of the C++ library takes a million steps.
    let library = if language == "cc" { "-static-libstdc++ -static-libgcc" } else { "" };
    let command = format!(
        "{compiler} {optimise} {library} -pthread -B{}/ -Wa,--gsframe -o {name} {}",
        tool.display(),
        sources().join(source).display()
    );
    if !is_permitted() || !tools::run(&folder, compiler, &command) {
        return None;
    }
    let traced = trace(&folder, &["--time-limit", "120"], &[&format!("./{name}")]);
    Some((traced, name.to_owned()))
}

/// Checks that no row is wrong except those of `.plt.got`, and that both witnesses describe the program.
fn is_right(traced: &Traced, name: &str) {
    for (file, witness, function, fields, pcs) in traced.wrong() {
        let in_plt_got = witness == "SFrame" && function.starts_with("0x") && pcs == 1;
        assert!(in_plt_got && fields == "CFA RA", "{file}: {witness}: {function}: {fields}");
        let found = traced.witness(name, "SFrame")["functions"][0].clone();
        assert_eq!(found["known"], "ld-plt-got", "{found}");
        let text = &found["example"]["explanation"];
        assert!(text.as_str().expect("text").starts_with("CFA=rsp+16, but it is rsp+8;"), "{text}");
    }
    let (sframe, cfi) = (traced.counts(name, "SFrame"), traced.counts(name, "CFI"));
    assert!(sframe.right > 70 && cfi.right > sframe.right, "{name}: {sframe:?} {cfi:?}");
    let libc = traced.counts("libc.so.6", "CFI");
    assert!(libc.right > 500, "{libc:?}");
}

/// Whether the program ended with the status that it has without being traced.
fn ends_with(traced: &Traced, status: i32) {
    assert_eq!(traced.report["end"], "exited", "{}", traced.report);
    assert_eq!(traced.report["status"], status, "{}", traced.report);
}

#[test]
fn ordinary_frames_are_right() {
    for toolchain in ["2.44", "2.47.50"] {
        for &optimise in tries(&["-O2"][..], &["-O0", "-O2", "-Os"]) {
            let Some((traced, name)) = traced("frames.c", toolchain, optimise) else { return };
            ends_with(&traced, 7);
            is_right(&traced, &name);
            assert_eq!(traced.counts(&name, "CFI").undecided, 0, "{toolchain} {optimise}");
            assert_eq!(traced.counts(&name, "SFrame").undecided, 0, "{toolchain} {optimise}");
            assert_eq!(traced.report["steps_elsewhere"], 0);
        }
    }
}

/// In the frame that has grown since it called `setjmp`, nothing shows where it was left; all others are known again.
#[test]
fn long_jumps_leave_frames() {
    let Some((traced, name)) = traced("jumps.c", "2.44", "-O2") else { return };
    ends_with(&traced, 0);
    is_right(&traced, &name);
    let left = "the frame was left without a return (longjmp, an exception, or a stack switch)";
    assert_eq!(traced.reasons(&name, "CFI"), [left]);
    let reasons = &traced.witness(&name, "CFI")["reasons"];
    assert_eq!(reasons[0]["example"]["symbol"], "grows");
    assert!(traced.counts(&name, "CFI").undecided < 10, "{reasons}");
    // The rows of longjmp itself describe the place to which it jumps.
    let in_libc = traced.reasons("libc.so.6", "CFI");
    let target = "the row describes the place to which the code jumps";
    assert_eq!(in_libc, [left, target]);
}

#[test]
fn exceptions_leave_frames() {
    let Some((traced, name)) = traced("throws.cc", "2.44", "-O2") else { return };
    ends_with(&traced, 0);
    is_right(&traced, &name);
    // The unwinder is in the program. Some code of it runs after it has put the address of the landing pad in place of
    // the return address.
    assert!(traced.counts(&name, "CFI").undecided < 60);
    assert!(traced.counts(&name, "CFI").right > 2000);
}

#[test]
fn signals_interrupt_frames() {
    let Some((traced, name)) = traced("signals.c", "2.44", "-O2") else { return };
    ends_with(&traced, 0);
    is_right(&traced, &name);
    assert_eq!(traced.reasons(&name, "CFI"), [""; 0]);
    // The code that handlers return to has CFI, which says that the interrupted code is its caller.
    let trampoline = traced.reasons("libc.so.6", "CFI");
    assert!(!trampoline.iter().any(|reason| reason.contains("expression")), "{trampoline:?}");
}

#[test]
fn threads_have_their_own_stacks() {
    let Some((traced, name)) = traced("threads.c", "2.44", "-O2") else { return };
    ends_with(&traced, 0);
    is_right(&traced, &name);
    assert_eq!(traced.report["threads"], 5);
    assert_eq!(traced.report["processes"], 1);
    assert_eq!(traced.reasons(&name, "CFI"), [""; 0]);
}

/// `fork`, `vfork` and `posix_spawn` make processes; `execl` replaces three of the four.
#[test]
fn children_are_traced() {
    let Some((traced, name)) = traced("children.c", "2.44", "-O2") else { return };
    ends_with(&traced, 5);
    is_right(&traced, &name);
    assert_eq!(traced.report["processes"], 4);
    assert_eq!(traced.reasons(&name, "CFI"), [""; 0]);
}

/// Code on a stack that was switched to is undecided until it calls something, and never wrong.
#[test]
fn other_stacks_are_undecided() {
    for optimise in ["-O0", "-O2"] {
        let Some((traced, name)) = traced("stacks.c", "2.44", optimise) else { return };
        ends_with(&traced, 0);
        is_right(&traced, &name);
        let counts = traced.counts(&name, "CFI");
        assert!(counts.undecided > 10 && counts.right > counts.undecided, "{counts:?}");
        let reasons = traced.reasons(&name, "CFI");
        assert!(reasons.iter().all(|reason| reason.contains("switch")), "{reasons:?}");
    }
}

/// Code in anonymous memory is not checked, code that is not the file's is undecided, and the second library is in the
/// place of the first one.
#[test]
fn code_can_change() {
    let folder = folder!("trace-changes");
    let source = sources().join("changes.c");
    let library = |name: &str, value: u32| {
        let options = "gcc -O2 -fPIC -shared -Wl,-z,noseparate-code";
        let source = source.display();
        format!("{options} -DNAME={name} -DVALUE={value} -o {name}.so {source}")
    };
    let program = format!("gcc -O2 -o changes {} -ldl", source.display());
    let command = [library("one", 10), library("two", 20), program].join(" && ");
    if !is_permitted() || !tools::run(&folder, "gcc", &command) {
        return;
    }
    let traced = trace(&folder, &[], &["./changes"]);
    ends_with(&traced, 0);
    assert_eq!(traced.wrong(), []);
    // Two instructions in anonymous memory.
    assert_eq!(traced.report["steps_elsewhere"], 2);
    let changed = "the code in memory is not that of the file";
    assert_eq!(traced.reasons("changes", "CFI"), [changed]);
    // The instruction that was changed, and not the one after it.
    let reason = &traced.witness("changes", "CFI")["reasons"][0];
    assert_eq!((&reason["pcs"], &reason["example"]["symbol"]), (&1.into(), &"patched".into()));
    for library in ["one.so", "two.so"] {
        assert!(traced.counts(library, "CFI").right >= 2, "{library}");
    }
}

/// Assembles and links a source, as a program with the same name.
fn assembled(folder: &Path, name: &str, options: &str) -> Option<Traced> {
    let tool = tools::toolchain("2.44")?;
    let command = format!(
        "'{0}/as' --gsframe {options} -o {name}.o {1}.s && '{0}/ld' -o {name} {name}.o",
        tool.display(),
        sources().join(name).display()
    );
    let is_built = is_permitted() && tools::run(folder, "sh", &command);
    is_built.then(|| trace(folder, &[], &[&format!("./{name}")]))
}

/// A retpoline calls its own code. There, GCC's CFI describes the frame of the retpoline, not that of this call.
#[test]
fn local_calls_have_two_frames() {
    for toolchain in ["2.44", "2.47.50"] {
        let options = "-O2 -mindirect-branch=thunk";
        let Some((traced, name)) = traced("thunks.c", toolchain, options) else { return };
        ends_with(&traced, 3);
        let thunk = |function: &str| function.contains("indirect_thunk");
        let in_plt_got = |wrong: &(_, String, String, _, u64)| wrong.1 == "SFrame" && wrong.4 == 1;
        for wrong in traced.wrong() {
            assert!(in_plt_got(&wrong) && !thunk(&wrong.2), "{toolchain}: {wrong:?}");
        }
        for witness in ["SFrame", "CFI"] {
            assert_eq!(traced.reasons(&name, witness), [""; 0], "{toolchain} {witness}");
        }
    }
    let Some(right) = assembled(&folder!("trace-local"), "local", "") else { return };
    let left = "the code has no caller to compare the row with";
    for witness in ["SFrame", "CFI"] {
        assert!(right.reasons("local", witness).iter().all(|reason| reason == left), "{witness}");
    }
    // SFrame of version 2 cannot express that `_start` has no caller.
    assert_eq!((right.wrong(), right.status), (vec![], 2));
    let folder = folder!("trace-local-wrong");
    let Some(wrong) = assembled(&folder, "local", "--defsym WRONG=1") else { return };
    let row = |witness: &str| {
        let [file, witness, name, fields] =
            ["local", witness, "jumps", "CFA RA"].map(str::to_owned);
        (file, witness, name, fields, 2)
    };
    assert_eq!(wrong.wrong(), [row("SFrame"), row("CFI")]);
    // The return address is replaced before the last instruction.
    let overwritten = "the return address is no longer where the call has put it";
    assert_eq!(wrong.reasons("local", "CFI"), [overwritten]);
}

/// The offsets are those of the directives that `wrong.s` leaves out.
#[test]
fn wrong_rows_are_found() {
    let Some(perturbed) = assembled(&folder!("trace-wrong"), "wrong", "--defsym WRONG=1") else {
        return;
    };
    let wrong = perturbed.wrong();
    let of = |witness: &str| -> Vec<(String, String, u64)> {
        let of_it = wrong.iter().filter(|(_, found, ..)| found == witness);
        of_it.map(|(_, _, name, fields, pcs)| (name.clone(), fields.clone(), *pcs)).collect()
    };
    let row = |name: &str, fields: &str| (name.to_owned(), fields.to_owned(), 2);
    let cfa = row("cfa", "CFA RA");
    assert_eq!(
        of("CFI"),
        [
            cfa.clone(),
            row("ra", "RA"),
            row("fp", "FP"),
            row("ends", "outermost"),
            row("expression", "RA")
        ]
    );
    // SFrame has no row for RA elsewhere, and says nothing for a function whose RA is undefined.
    assert!(of("SFrame").contains(&cfa), "{wrong:?}");
    assert!(of("SFrame").iter().all(|(name, ..)| name == "cfa" || name == "fp"), "{wrong:?}");
    let functions = &perturbed.witness("wrong", "CFI")["functions"];
    let example = &functions[0]["example"];
    assert_eq!(example["symbol_offset"], 3);
    assert_eq!(example["instruction"]["text"], "nop");
    let text = example["explanation"].as_str().expect("text");
    assert!(text.starts_with("CFA=rsp+16, but it is rsp+24; RA=*(CFA-8) is therefore "), "{text}");
    let text = functions[2]["example"]["explanation"].as_str().expect("text");
    assert_eq!(text, "FP=unchanged is 0x5, not 0x1234");
    assert_eq!(perturbed.status, 1);

    let Some(plain) = assembled(&folder!("trace-right"), "wrong", "") else { return };
    assert_eq!(plain.wrong(), []);
    assert_eq!(plain.report["steps"], perturbed.report["steps"]);
    let overwritten = "the return address is no longer where the call has put it";
    let left = "the frame was left without a return (longjmp, an exception, or a stack switch)";
    assert_eq!(plain.reasons("wrong", "CFI"), [left, overwritten]);
    assert_eq!(plain.status, 2);
}

/// Most of them run until they are stopped, because nothing in them ends a program. Some linkers make sections whose
/// rows are wrong: the check, which executes nothing, finds errors in these files.
#[test]
fn golden_programs_are_right() {
    if !is_permitted() {
        return;
    }
    let is_program = |path: &PathBuf| {
        let path = path.to_string_lossy();
        // Others need a loader at a path that no system has.
        path.contains("/x86_64/") && !path.contains("pie")
    };
    let folder = folder!("trace-golden");
    let (mut traced, mut right) = (0, 0);
    for program in golden(&["exe"]).into_iter().filter(is_program) {
        let text = program.to_str().expect("UTF-8");
        let found = trace(&folder, &["--max-steps", "5000"], &[text]);
        let wrong = found.wrong();
        assert!(wrong.iter().all(|(_, witness, ..)| witness == "SFrame"), "{text}: {wrong:?}");
        if !wrong.is_empty() {
            let checked = sframe_corpus::program::run(&folder, &["-q", "--known", "deny", text]);
            assert_eq!(checked.status, 1, "{text}: {wrong:?}");
            continue;
        }
        right += 1;
        let name = program.file_name().expect("a name").to_str().expect("UTF-8");
        for witness in ["SFrame", "CFI"] {
            if found.witness(name, witness).is_null() {
                continue;
            }
            let no_caller = "the code has no caller to compare the row with";
            let reasons = found.reasons(name, witness);
            assert!(reasons.iter().all(|reason| reason == no_caller), "{text}: {reasons:?}");
            traced += found.counts(name, witness).right;
        }
    }
    assert!(traced > 1000 && right > 20, "{traced} {right}");
}
