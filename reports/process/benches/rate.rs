//! The steps per second of a trace, compared with a loop that only steps the program and reads its registers.
//!
//!     cargo bench -p sframe-process --bench rate [-- PROGRAM ARGS]
//!
//! Both take turns in one run, on one processor, because the machine's speed changes. The program must have one thread.
//! The benchmark fails if the trace has less than two thirds of the rate.

use std::process::ExitCode;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn main() -> ExitCode {
    use std::ffi::OsString;
    use std::sync::Arc;

    use sframe_process::trace::{TraceOptions, bare_steps, trace};

    // Cargo adds `--bench`. With `--test`, as for other benchmarks: does it run at all?
    let is_test = std::env::args_os().any(|word| word == "--test");
    let is_own = |word: &OsString| word == "--bench" || word == "--test";
    let mut words = std::env::args_os().skip(1).filter(|word| !is_own(word));
    let program = words.next().unwrap_or_else(|| "find".into());
    let mut arguments: Vec<OsString> = words.collect();
    if program == "find" && arguments.is_empty() {
        arguments = ["/usr/lib", "-name", "no such file"].map(OsString::from).into();
    }
    let options = TraceOptions {
        program,
        arguments,
        max_steps: Some(if is_test { 10_000 } else { 400_000 }),
        time_limit: None,
        from_entry: false,
        pin: true,
        known: |_| None,
        interrupted: Arc::default(),
    };
    let rate = |steps: u64, seconds: f64| steps as f64 / seconds;
    let mut ratios = Vec::new();
    for round in 1..=if is_test { 1 } else { 7 } {
        let measured = bare_steps(&options).and_then(|bare| {
            let traced = trace(&options, &mut |_| {})?;
            Ok((bare, traced))
        });
        let ((steps, time), traced) = match measured {
            Ok(measured) => measured,
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::FAILURE;
            }
        };
        let bare = rate(steps, time.as_secs_f64());
        let traced = rate(traced.steps, traced.elapsed.as_secs_f64());
        println!("round {round}: bare {bare:.0}/s, trace {traced:.0}/s, {:.2}", traced / bare);
        ratios.push(traced / bare);
    }
    ratios.sort_by(f64::total_cmp);
    let median = ratios.get(ratios.len() / 2).copied().unwrap_or_default();
    println!("median: {median:.2} of the bare loop's rate");
    if median < 2.0 / 3.0 && !is_test { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn main() -> ExitCode {
    eprintln!("programs can be traced only on AMD64 Linux");
    ExitCode::SUCCESS
}
