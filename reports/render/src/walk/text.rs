//! Walks for people.

mod explanation;

use std::collections::BTreeSet;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use sframe_process::Witness;

use crate::function_name::at_offset;

use super::{StackLevel, ThreadWalk, WalkVerdict, Walks, WitnessFrame};
use explanation::{write_astray, write_parting};
use sframe_record::text::{column_width, printable};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const DIFFERENT: Style = AnsiColor::Red.on_default().bold();

/// Writes the walks, separated by empty lines.
///
/// # Errors
/// Returns an error if writing fails.
pub fn write(out: &mut dyn Write, walks: &Walks) -> io::Result<()> {
    for reason in &walks.undecided {
        writeln!(out, "undecided: {reason}")?;
    }
    for (number, thread) in walks.threads.iter().enumerate() {
        if number > 0 || !walks.undecided.is_empty() {
            writeln!(out)?;
        }
        write_thread(out, thread)?;
    }
    Ok(())
}

fn write_thread(out: &mut dyn Write, thread: &ThreadWalk) -> io::Result<()> {
    write!(out, "{BOLD}thread {}{BOLD:#}", thread.id)?;
    if let Some(signal) = thread.signal {
        write!(out, ", signal {signal}")?;
    }
    writeln!(out)?;
    let together = thread.parted.map_or(thread.frames.len(), |depth| depth + 1);
    let (together, alone) = thread.frames.split_at(together.min(thread.frames.len()));
    let mut lines: Vec<Line> = together.iter().filter_map(Line::of).collect();
    once(&mut lines);
    let widths = Widths::of(&lines);
    write_lines(out, &lines, &widths)?;
    if let Some(level) = thread.astray.and_then(|depth| together.get(depth)) {
        write_astray(out, level)?;
    }
    if let Some(last) = together.last().filter(|_| thread.parted.is_some()) {
        write_parting(out, thread, last)?;
        for witness in Witness::ALL {
            write_alone(out, witness, alone)?;
        }
    }
    write_end(out, thread)
}

/// The largest number of equal lines that are written, and of lines before and after those that are left out.
const MOST_EQUAL: usize = 3;
const MOST_LINES: (usize, usize) = (64, 16);

/// Writes the lines: of many equal ones, and of very many, only the first and last.
fn write_lines(out: &mut dyn Write, lines: &[Line], widths: &Widths) -> io::Result<()> {
    let mut kept: Vec<&Line> = Vec::new();
    for run in lines.chunk_by(Line::recurs) {
        let most = if run.len() > MOST_EQUAL + 1 { MOST_EQUAL } else { run.len() };
        kept.extend(run.iter().take(most));
    }
    let (before, after) = MOST_LINES;
    let end = kept.len().saturating_sub(after).max(before);
    let mut next = 0;
    for line in kept.iter().take(before).chain(kept.iter().skip(end)) {
        match line.depth.saturating_sub(next) {
            0 => {}
            1 => writeln!(out, "  {DIM}...  1 frame is not shown{DIM:#}")?,
            left_out => writeln!(out, "  {DIM}...  {left_out} frames are not shown{DIM:#}")?,
        }
        next = line.depth + 1;
        line.write(out, widths)?;
    }
    match lines.len().saturating_sub(next) {
        0 => Ok(()),
        left_out => writeln!(out, "  {DIM}...  {left_out} frames are not shown{DIM:#}"),
    }
}

/// Keeps only the first of equal notes about the frames of one file: the columns show the rest.
fn once(lines: &mut [Line]) {
    let mut seen = BTreeSet::new();
    let most = lines.len().saturating_sub(1);
    for line in lines.iter_mut().take(most) {
        let file = &line.file;
        line.notes.retain(|note| !note.is_gap || seen.insert((file.clone(), note.text.clone())));
    }
}

/// A remark after a frame.
#[derive(PartialEq, Eq)]
struct Note {
    text: String,
    /// Whether it states why a witness has no row.
    is_gap: bool,
}

/// A frame that all witnesses have reached, and what each says about its caller.
struct Line {
    depth: usize,
    pc: String,
    place: String,
    file: String,
    marks: Vec<&'static str>,
    notes: Vec<Note>,
}

impl Line {
    fn of(level: &StackLevel) -> Option<Line> {
        let first = level.witnesses.first()?;
        let mark = |witness: Witness| {
            let found = level.witnesses.iter().find(|frame| frame.witness == witness);
            match found {
                Some(frame) if frame.caller.is_some() || frame.row.is_some() => witness.name(),
                _ => "-",
            }
        };
        let mut notes = Vec::new();
        let mut note = |text: String, is_gap| notes.push(Note { text, is_gap });
        if first.signal {
            note("signal frame".to_owned(), false);
        }
        if level.witnesses.iter().any(|frame| frame.by_kernel_frame) {
            note("recognised by its code".to_owned(), false);
        }
        if let Some(note_of_call) = explanation::astray(level) {
            note(note_of_call.to_owned(), false);
        }
        let reasons: Vec<Option<&str>> =
            level.witnesses.iter().map(|frame| frame.end.as_deref()).collect();
        match reasons.first() {
            Some(Some(reason)) if reasons.iter().all(|other| *other == Some(*reason)) => {
                note((*reason).to_owned(), false);
            }
            _ => {
                for frame in &level.witnesses {
                    if let Some(end) = &frame.end {
                        note(format!("{}: {end}", frame.witness), frame.follows);
                    }
                }
            }
        }
        Some(Line {
            depth: level.depth,
            pc: first.pc.to_string(),
            place: place(first),
            file: file_name(first),
            marks: Witness::ALL.map(mark).to_vec(),
            notes,
        })
    }

    /// Whether the next line is the same, as in a recursion.
    fn recurs(&self, next: &Line) -> bool {
        self.pc == next.pc && self.marks == next.marks && self.notes == next.notes
    }

    fn write(&self, out: &mut dyn Write, widths: &Widths) -> io::Result<()> {
        let Line { depth, pc, place, file, .. } = self;
        let (depth_width, pc_width) = (widths.depth, widths.pc);
        let (place_width, file_width) = (widths.place, widths.file);
        let number = format!("#{depth}");
        write!(
            out,
            "  {number:depth_width$}  {pc:pc_width$}  {place:place_width$}  {file:file_width$}"
        )?;
        for (mark, witness) in self.marks.iter().zip(Witness::ALL) {
            let width = witness.name().len();
            write!(out, "  {mark:width$}")?;
        }
        let notes: Vec<&str> = self.notes.iter().map(|note| note.text.as_str()).collect();
        if !notes.is_empty() {
            write!(out, "  {DIM}{}{DIM:#}", notes.join("; "))?;
        }
        writeln!(out)
    }
}

struct Widths {
    depth: usize,
    pc: usize,
    place: usize,
    file: usize,
}

impl Widths {
    fn of(lines: &[Line]) -> Widths {
        let deepest = lines.iter().map(|line| line.depth).max().unwrap_or(0);
        Widths {
            depth: deepest.to_string().len() + 1,
            pc: column_width(lines.iter().map(|line| &line.pc)),
            place: column_width(lines.iter().map(|line| &line.place)),
            file: column_width(lines.iter().map(|line| &line.file)),
        }
    }
}

fn place(frame: &WitnessFrame) -> String {
    let symbol = frame.symbol.as_ref();
    symbol.map_or_else(|| "?".to_owned(), |symbol| at_offset(symbol, frame.symbol_offset))
}

/// The name of the file without its folder.
fn file_name(frame: &WitnessFrame) -> String {
    let file = frame.file.as_deref().unwrap_or("?");
    printable(file.rsplit('/').next().unwrap_or(file))
}

/// The frames of one witness after the witnesses have parted.
fn write_alone(out: &mut dyn Write, witness: Witness, levels: &[StackLevel]) -> io::Result<()> {
    let own =
        |level: &StackLevel| level.witnesses.iter().position(|frame| frame.witness == witness);
    if levels.first().and_then(own).is_none() {
        return writeln!(out, "  {witness} goes no further");
    }
    writeln!(out, "  {witness} goes on to")?;
    for level in levels {
        let frame = level.witnesses.iter().find(|frame| frame.witness == witness);
        let Some(frame) = frame else { break };
        let (depth, pc) = (level.depth, frame.pc);
        write!(out, "    #{depth}  {pc}  {}  {}", place(frame), file_name(frame))?;
        let astray = frame.by_call.as_ref().map(|_| "the return address is not in the call's row");
        let notes: Vec<&str> = astray.into_iter().chain(frame.end.as_deref()).collect();
        match notes.is_empty() {
            false => writeln!(out, "  {DIM}{}{DIM:#}", notes.join("; "))?,
            true => writeln!(out)?,
        }
    }
    Ok(())
}

fn write_end(out: &mut dyn Write, thread: &ThreadWalk) -> io::Result<()> {
    let frames = match thread.frames.len() {
        1 => "1 frame".to_owned(),
        number => format!("{number} frames"),
    };
    let agree = match (thread.compared, thread.alone.is_some()) {
        (0, _) => "no caller was found by two witnesses".to_owned(),
        (compared, false) => format!("the witnesses agree about the callers of {compared}"),
        (compared, true) => {
            format!("two witnesses or more agree about the callers of {compared}")
        }
    };
    let open = if thread.complete { "" } else { "; no witness reached the outermost frame" };
    match thread.verdict {
        WalkVerdict::Equal => writeln!(out, "  {frames}; {agree}{open}"),
        WalkVerdict::Different => {
            let depth = thread.parted.unwrap_or_default();
            match thread.alone {
                Some(witness) => {
                    write!(
                        out,
                        "  {frames}; {agree}; {DIFFERENT}only {witness} differs{DIFFERENT:#} at #{depth}"
                    )?;
                }
                None => {
                    write!(out, "  {frames}; {agree}, then they {DIFFERENT}differ{DIFFERENT:#}")?
                }
            }
            writeln!(out, "{open}")
        }
        WalkVerdict::Astray => {
            writeln!(
                out,
                "  {frames}; {agree}, then the walk {DIFFERENT}goes astray{DIFFERENT:#}{open}"
            )
        }
        WalkVerdict::Undecided => writeln!(out, "  undecided: {frames}; {agree}{open}"),
    }
}
