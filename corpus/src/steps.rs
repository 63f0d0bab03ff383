//! Runs functions of the corpus one instruction at a time under a debugger, and records the registers and the stack. The
//! processor, or qemu for AArch64, is the truth for tests of rows.

use std::ops::Range;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::tools;

/// The number of words of the stack that are recorded, below the CFA.
const WORDS: u64 = 24;
/// The maximum number of instructions of a call, with those of called functions.
const MOST_STEPS: u64 = 300;
/// The number of calls by the programs in `wrong-cfi/caller-MACHINE.s`.
const CALLS: usize = 2;

/// A machine on which programs can be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// AMD64, on this processor.
    Amd64,
    /// AArch64, little-endian, in qemu.
    Aarch64,
}

impl Machine {
    /// The name in the names of tools and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Machine::Amd64 => "x86_64",
            Machine::Aarch64 => "aarch64",
        }
    }

    /// Whether the tools are installed that run programs of the machine. Prints what is missing.
    #[must_use]
    pub fn can_run(self) -> bool {
        let needed: &[&str] = match self {
            Machine::Amd64 => &["gdb"],
            Machine::Aarch64 => &["qemu-aarch64", "gdb-multiarch"],
        };
        let here = cfg!(all(target_arch = "x86_64", target_os = "linux"));
        if !here {
            tools::skipped::note(
                "a processor of the type AMD64 with Linux",
                "the programs are for it",
            );
            return false;
        }
        needed.iter().all(|tool| tools::is_installed(tool))
    }

    /// The registers that functions keep for their callers, by their DWARF numbers, apart from the stack and frame pointers and the
    /// register of the return address; and as gdb writes them. Of vector registers, the lower half is kept.
    #[must_use]
    pub const fn kept(self) -> &'static [(u16, &'static str)] {
        match self {
            Machine::Amd64 => {
                &[(3, "$rbx"), (12, "$r12"), (13, "$r13"), (14, "$r14"), (15, "$r15")]
            }
            Machine::Aarch64 => &[
                (19, "$x19"),
                (20, "$x20"),
                (21, "$x21"),
                (22, "$x22"),
                (23, "$x23"),
                (24, "$x24"),
                (25, "$x25"),
                (26, "$x26"),
                (27, "$x27"),
                (28, "$x28"),
                (72, "$v8.d.u[0]"),
                (73, "$v9.d.u[0]"),
                (74, "$v10.d.u[0]"),
                (75, "$v11.d.u[0]"),
                (76, "$v12.d.u[0]"),
                (77, "$v13.d.u[0]"),
                (78, "$v14.d.u[0]"),
                (79, "$v15.d.u[0]"),
            ],
        }
    }

    /// Other registers in which functions save those, in the same form.
    const fn others(self) -> &'static [(u16, &'static str)] {
        match self {
            Machine::Amd64 => &[(10, "$r10"), (11, "$r11")],
            Machine::Aarch64 => &[(9, "$x9"), (10, "$x10")],
        }
    }

    /// The CFA, the frame pointer and the return address where a function is entered, and the frame pointer and the
    /// register of the return address in general, as gdb writes them.
    const fn expressions(self) -> [&'static str; 5] {
        match self {
            Machine::Amd64 => ["$rsp + 8", "$rbp", "*(unsigned long *)$rsp", "$rbp", "0"],
            Machine::Aarch64 => ["$sp", "$x29", "$x30", "$x29", "$x30"],
        }
    }
}

/// A call of a function.
#[derive(Clone, Debug)]
pub struct Call {
    /// The caller's stack pointer: the CFA.
    pub sp: u64,
    /// The caller's frame pointer.
    pub fp: u64,
    /// The return address.
    pub ra: u64,
    /// The instructions of the function itself, in the order of execution.
    pub steps: Vec<Step>,
}

/// The state before an instruction.
#[derive(Clone, Debug)]
pub struct Step {
    /// The PC, in bytes from the start of the function.
    pub offset: u64,
    /// The stack pointer.
    pub sp: u64,
    /// The frame pointer.
    pub fp: u64,
    /// The register of the return address; 0 if the machine has none.
    pub ra: u64,
    /// Other registers, by their DWARF numbers.
    pub registers: Vec<(u16, u64)>,
    /// The words of the stack that end at the CFA.
    words: Vec<u64>,
}

impl Step {
    /// The value of a register, by its DWARF number, if it is recorded.
    #[must_use]
    pub fn register(&self, register: u16) -> Option<u64> {
        let known = self.registers.iter().find(|(number, _)| *number == register);
        known.map(|(_, value)| *value)
    }
}

impl Call {
    /// The word at an address of the stack. `None` if it is not recorded.
    #[must_use]
    pub fn word(&self, step: &Step, address: u64) -> Option<u64> {
        let first = self.sp.wrapping_sub(WORDS * 8);
        let index = address.wrapping_sub(first);
        let word = step.words.get(usize::try_from(index / 8).ok()?)?;
        index.is_multiple_of(8).then_some(*word)
    }
}

/// Where the instructions are that a run records.
#[derive(Clone, Debug)]
pub enum Code {
    /// A function of a program, with its size in bytes.
    Function(String, u64),
    /// A stub of a shared object, by its addresses, and the address at which the kernel would start the object. The stub
    /// is entered as if it were called.
    Stub(Range<u64>, u64),
}

/// Runs a program, and records each call of a function of it.
#[must_use]
pub fn run(machine: Machine, folder: &Path, program: &str, code: &Code) -> Vec<Call> {
    let script = folder.join("steps.gdb");
    std::fs::write(&script, commands(machine, code)).expect("the script can be written");
    let (debugger, qemu) = match machine {
        Machine::Amd64 => ("gdb", None),
        Machine::Aarch64 => ("gdb-multiarch", Some(start_qemu(folder, program))),
    };
    // A debugger that waits for a program that has ended waits for ever.
    let mut limited = Command::new("timeout");
    limited.args(["60", debugger, "-nx", "-batch", "-iex", "set debuginfod enabled off", "-x"]);
    limited.arg(&script).arg(program).current_dir(folder);
    let output = limited.output().expect("the debugger runs");
    if let Some(mut qemu) = qemu {
        let _ = qemu.kill();
        let _ = qemu.wait();
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let calls = parse(&text);
    let expected = if matches!(code, Code::Function(..)) { CALLS } else { 1 };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(calls.len(), expected, "{program}: {text}\n{errors}");
    calls
}

/// The commands for gdb.
fn commands(machine: Machine, code: &Code) -> String {
    let [cfa, caller_fp, return_address, fp, ra] = machine.expressions();
    let start = match machine {
        Machine::Amd64 => "starti",
        Machine::Aarch64 => "target remote steps.socket",
    };
    // A stub is three instructions, and continues anywhere.
    let (enter, size, most, calls) = match code {
        Code::Function(name, size) => {
            let enter = format!("break *{name}\ncontinue\nset $start = (unsigned long)&{name}");
            (enter, *size, MOST_STEPS, CALLS)
        }
        Code::Stub(range, entry) => {
            let enter = format!(
                "set $start = (unsigned long)$pc - {entry} + {}\nset $pc = $start",
                range.start
            );
            (enter, range.end - range.start, 3, 1)
        }
    };
    let first = WORDS * 8;
    let registers = || machine.kept().iter().chain(machine.others());
    let formats: String = registers().map(|(number, _)| format!(" {number}=%lx")).collect();
    let values: String = registers().map(|(_, name)| format!(", {name}")).collect();
    let mut script = format!(
        "set confirm off\nset pagination off\nset width 0\n\
         define record\n\
         set $cfa = {cfa}\nset $return = {return_address}\nset $left = {most}\n\
         printf \"call %lx %lx %lx\\n\", $cfa, {caller_fp}, $return\n\
         while $left > 0 && $pc != $return\n\
         if (unsigned long)$pc >= $start && (unsigned long)$pc < $start + {size}\n\
         printf \"step %lx %lx %lx %lx{formats}\\n\", (unsigned long)$pc - $start, $sp, {fp}, {ra}{values}\n\
         x/{WORDS}gx $cfa - {first}\n\
         end\n\
         stepi\nset $left = $left - 1\nend\nend\n\
         {start}\n{enter}\nrecord\n"
    );
    for _ in 1..calls {
        script.push_str("continue\nrecord\n");
    }
    script.push_str("kill\n");
    script
}

/// Starts a program in qemu, which waits for a debugger at `steps.socket`.
fn start_qemu(folder: &Path, program: &str) -> Child {
    let socket = folder.join("steps.socket");
    let _ = std::fs::remove_file(&socket);
    let mut qemu = Command::new("qemu-aarch64");
    qemu.args(["-g", "steps.socket", program]).current_dir(folder);
    let child = qemu.stdin(Stdio::null()).spawn().expect("qemu starts");
    let limit = Instant::now() + Duration::from_secs(30);
    while !socket.exists() {
        assert!(Instant::now() < limit, "qemu opens no socket");
        sleep(Duration::from_millis(10));
    }
    child
}

fn parse(text: &str) -> Vec<Call> {
    let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16);
    let mut calls: Vec<Call> = Vec::new();
    for line in text.lines() {
        let numbers = || line.split_whitespace().skip(1).map_while(|word| number(word).ok());
        let numbers: Vec<u64> = numbers().collect();
        if line.starts_with("call ") {
            let [sp, fp, ra] = numbers[..] else { panic!("{line}") };
            calls.push(Call { sp, fp, ra, steps: Vec::new() });
        } else if line.starts_with("step ") {
            let [offset, sp, fp, ra] = numbers[..] else { panic!("{line}") };
            let named = line.split_whitespace().filter_map(|word| word.split_once('='));
            let of = |(name, value): (&str, &str)| Some((name.parse().ok()?, number(value).ok()?));
            let registers = named.map(|it| of(it).expect("a register")).collect();
            let steps = &mut calls.last_mut().expect("a call").steps;
            steps.push(Step { offset, sp, fp, ra, registers, words: Vec::new() });
        } else if line.starts_with("0x") && line.contains(":\t") {
            let step = calls.last_mut().and_then(|call| call.steps.last_mut());
            step.expect("a step").words.extend(numbers);
        }
    }
    calls
}
