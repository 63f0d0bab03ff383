//! Walks the stacks of core dumps and of running processes by every witness, and compares the walks frame by frame.

mod answer;
mod error;
mod instruction;
mod shared;
mod text;

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sframe_input::plain_error;
use sframe_process::walk::Rules;
use sframe_process::{CoreDump, Files, Places, Process, Thread, Witness};
use sframe_validator::Abi;

use answer::Walker;
pub use error::WalkError;
use sframe_record::json::{FORMAT, TOOL, Tool, exact_name, name};
use sframe_record::{Address, Instruction, PrintedFrame, Text};
pub use shared::SharedText;
use shared::Texts;
pub use text::write as write_text;

/// The walks; `walk --format json` writes them.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "sframe-check walk"))]
pub struct Walks {
    /// Version of this format: 1.
    pub format: u32,
    /// The program that wrote it.
    pub tool: Tool,
    /// The path of the core dump, as given on the command line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The path's bytes in hexadecimal, if they are not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// The process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The machine.
    pub machine: Abi,
    /// Parts that cannot be read, with the reason.
    pub undecided: Vec<Text<'static>>,
    /// The threads. The first one of a core dump received the signal.
    pub threads: Vec<ThreadWalk>,
}

/// The stack of a thread.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadWalk {
    /// The thread's identifier.
    pub id: u32,
    /// The signal that the thread received when the core dump was written, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<u16>,
    /// How the walks compare.
    pub verdict: WalkVerdict,
    /// The depth of the first frame about whose caller the witnesses disagree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parted: Option<usize>,
    /// The only witness that differs at this frame: the others agree about another caller. A table that differs is wrong,
    /// because the machine code contradicts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alone: Option<Witness>,
    /// The instruction of this frame: the next one in the innermost and in interrupted frames, otherwise the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction: Option<Instruction<'static>>,
    /// The depth of the first frame of which the return address was looked up, as `--lookup return-address` says, although
    /// it belongs to another row or function than the call. The frames after it are wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub astray: Option<usize>,
    /// The number of frames for which at least two witnesses gave the same caller, or none, before the walk goes astray.
    pub compared: usize,
    /// Whether a witness reached the outermost frame.
    pub complete: bool,
    /// The frames, from the innermost one.
    pub frames: Vec<StackLevel>,
}

/// How the walks of a stack compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WalkVerdict {
    /// The witnesses agree about every frame that at least two of them describe.
    Equal,
    /// They gave different callers of a frame.
    Different,
    /// A return address that belongs to another row or function than its call was looked up, and leads to a wrong caller.
    Astray,
    /// They do not disagree, but something cannot be read or decided, or no witness reached the outermost frame.
    Undecided,
}

/// The frames at one depth.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StackLevel {
    /// The depth; the innermost frame has 0.
    pub depth: usize,
    /// One frame for each witness whose walk has not ended. They are the same up to the depth at which witnesses part.
    pub witnesses: Vec<WitnessFrame>,
}

/// A frame in the walk of one witness.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WitnessFrame {
    /// The witness.
    pub witness: Witness,
    /// The PC: that of the next instruction in the innermost and in interrupted frames, otherwise a return address.
    pub pc: Address,
    /// The stack pointer, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sp: Option<Address>,
    /// The frame pointer, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fp: Option<Address>,
    /// The mapped file that contains the PC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<SharedText>,
    /// The address that was looked up, in the file's own addresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_address: Option<Address>,
    /// The symbol at or before the address that was looked up. A name of more than 500 characters is cut, and ends with `…`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<SharedText>,
    /// The offset in bytes from the symbol to the PC, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol_offset: Option<u64>,
    /// The address that was looked up: the PC, or the byte before it.
    pub looked_up: Address,
    /// The start of the function that the witness found there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function_start: Option<Address>,
    /// The row that the witness found there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<WalkRow>,
    /// Whether this is a frame that the kernel made to call a signal's handler. Its caller was interrupted.
    pub signal: bool,
    /// Whether the caller was read from the kernel's frame, because its code was recognised.
    pub by_kernel_frame: bool,
    /// The caller that the witness computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<FrameValues>,
    /// Why the walk cannot continue from here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<SharedText>,
    /// Whether the witness continues with the caller that others found.
    pub follows: bool,
    /// What the witness says about the byte before the return address, if the return address was looked up and leads to
    /// another caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_call: Option<Box<ByCall>>,
}

/// What a witness says about the call before a return address.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ByCall {
    /// The byte before the return address.
    pub looked_up: Address,
    /// That byte's address in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_address: Option<Address>,
    /// The symbol at or before it. A name of more than 500 characters is cut, and ends with `…`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<SharedText>,
    /// The offset in bytes from the symbol to the return address, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol_offset: Option<u64>,
    /// The start of the function that the witness found there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function_start: Option<Address>,
    /// The row that the witness found there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<WalkRow>,
    /// The caller that the witness computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<FrameValues>,
    /// Why the walk cannot continue from here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<SharedText>,
}

/// A row, with runtime addresses and the machine's names of registers.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WalkRow {
    /// The first PC of the row.
    pub start: Address,
    /// The first PC after the row.
    pub end: Address,
    /// How the frame is recovered.
    #[serde(flatten)]
    pub frame: PrintedFrame<SharedText>,
}

/// The values of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FrameValues {
    /// The PC.
    pub pc: Address,
    /// The stack pointer, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sp: Option<Address>,
    /// The frame pointer, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fp: Option<Address>,
}

/// Writes the walks as one JSON document.
///
/// # Errors
/// Returns an error if writing fails.
pub fn write_json(out: &mut dyn Write, walks: &Walks) -> io::Result<()> {
    sframe_record::json::write(&mut *out, walks)?;
    writeln!(out)?;
    out.flush()
}

/// The schema of the document.
#[must_use]
#[cfg(feature = "schema")]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Walks)
}

impl Walks {
    /// Whether witnesses disagree about a stack, or the rules lead astray from it.
    #[must_use]
    pub fn is_different(&self) -> bool {
        let parts = |verdict| matches!(verdict, WalkVerdict::Different | WalkVerdict::Astray);
        self.threads.iter().any(|thread| parts(thread.verdict))
    }

    /// Whether something could not be read or decided, or nothing could be compared.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        let open = |thread: &ThreadWalk| thread.verdict == WalkVerdict::Undecided;
        !self.undecided.is_empty() || self.compared() == 0 || self.threads.iter().any(open)
    }

    /// The number of frames about whose callers at least two witnesses agree.
    #[must_use]
    pub fn compared(&self) -> usize {
        self.threads.iter().map(|thread| thread.compared).sum()
    }
}

/// Walks the stacks in a core dump: of one thread, if it is given, otherwise of all.
///
/// # Errors
/// Why the core dump cannot be read or does not have the thread.
pub fn walk_core(
    path: &Path,
    places: &Places,
    thread: Option<u32>,
    rules: &Rules,
) -> Result<Walks, WalkError> {
    let files = Files::default();
    let unreadable = |error: std::io::Error| WalkError::unreadable(plain_error(&error));
    let bytes = files.open(path).map_err(unreadable)?;
    let dump = CoreDump::read(bytes, &files, places).map_err(WalkError::unreadable)?;
    let CoreDump { abi, threads, address_bits, mut modules, memory, mut problems } = dump;
    let rules = Rules { address_bits: address_bits.unwrap_or(rules.address_bits), ..*rules };
    let mut walker = Walker {
        abi,
        rules: &rules,
        modules: &mut modules,
        memory: &memory,
        texts: Texts::default(),
    };
    let threads = walker.threads(&chosen(threads, thread)?);
    // A server that has failed is the reason for each file that it was needed for.
    for refused in modules.refused_debug_files().map(ToString::to_string) {
        if !problems.contains(&refused) {
            problems.push(refused);
        }
    }
    files.intact().map_err(WalkError::unreadable)?;
    Ok(Walks {
        format: FORMAT,
        tool: TOOL,
        path: Some(name(path.as_os_str().as_bytes())),
        path_hex: exact_name(path.as_os_str().as_bytes()),
        pid: None,
        machine: abi,
        undecided: problems.into_iter().map(Text::from).collect(),
        threads,
    })
}

/// Walks the stacks of a running process, which is stopped meanwhile. Separate debug files are looked for in `debug_dirs`
/// before the usual folder.
///
/// # Errors
/// Why the process cannot be stopped or does not have the thread.
pub fn walk_process(
    pid: u32,
    debug_dirs: &[PathBuf],
    thread: Option<u32>,
    rules: &Rules,
) -> Result<Walks, WalkError> {
    let files = Files::default();
    let mut process = Process::stop(pid, &files, debug_dirs).map_err(WalkError::unreadable)?;
    let threads = chosen(std::mem::take(&mut process.threads), thread)?;
    let abi = process.abi;
    let (modules, memory) = (&mut process.modules, &process.memory);
    let threads = Walker { abi, rules, modules, memory, texts: Texts::default() }.threads(&threads);
    let mut problems = std::mem::take(&mut process.problems);
    problems.extend(process.modules.refused_debug_files().map(ToString::to_string));
    drop(process);
    files.intact().map_err(WalkError::unreadable)?;
    Ok(Walks {
        format: FORMAT,
        tool: TOOL,
        path: None,
        path_hex: None,
        pid: Some(pid),
        machine: abi,
        undecided: problems.into_iter().map(Text::from).collect(),
        threads,
    })
}

fn chosen(threads: Vec<Thread>, wanted: Option<u32>) -> Result<Vec<Thread>, WalkError> {
    let Some(wanted) = wanted else { return Ok(threads) };
    let known = threads.iter().take(16).map(|thread| thread.id).collect();
    let found: Vec<Thread> = threads.into_iter().filter(|thread| thread.id == wanted).collect();
    if found.is_empty() {
        return Err(WalkError::NoThread { wanted, known });
    }
    Ok(found)
}
