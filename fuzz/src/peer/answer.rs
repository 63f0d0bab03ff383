//! libsframe's answer about a section.

use std::str::{FromStr, SplitWhitespace};

/// An answer. `Err` is libsframe's error code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The version of libsframe's interface: 1 in binutils 2.40, 2 in 2.44, 3 in 2.47.50.
    pub api: u8,
    /// ABI, fixed FP offset and fixed RA offset from the header.
    pub header: Option<(u8, i8, i8)>,
    /// The code with which the section was refused.
    pub refused: Option<i32>,
    /// The functions, in the order of the table.
    pub functions: Vec<Result<Function, i32>>,
    /// The rows at the PCs in the request.
    pub found: Vec<Result<Stored, i32>>,
    /// Whether libsframe has written past the end of the buffer for a row.
    pub overrun: bool,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the specification's names")]
pub struct Function {
    pub start: i64,
    pub size: u32,
    pub num_fres: u32,
    pub info: u8,
    pub info2: u8,
    pub rep_size: u8,
    /// The rows up to the first one that cannot be read, then its error.
    pub rows: Vec<Result<Row, i32>>,
}

/// A row as the section stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The start field.
    pub start: u32,
    /// The info byte.
    pub info: u8,
    /// The words' bytes in hexadecimal, little-endian.
    pub words: String,
}

/// A row, and its meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The stored form.
    pub stored: Stored,
    /// The meaning.
    pub meaning: Meaning,
}

/// The meaning of a row; `None` for what it does not define.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "one word each")]
pub struct Meaning {
    /// The CFA's base in default rows: 0 FP, 1 SP.
    pub base: Option<i64>,
    pub cfa: Option<i64>,
    pub fp: Option<i64>,
    pub ra: Option<i64>,
    pub mangled: bool,
    pub undefined: bool,
}

/// The words of a line. Its functions return `None` for an unexpected word.
struct Line<'a>(SplitWhitespace<'a>);

impl<'a> Line<'a> {
    fn number<T: FromStr>(&mut self) -> Option<T> {
        self.0.next()?.parse().ok()
    }

    fn flag(&mut self) -> Option<bool> {
        Some(self.number::<u8>()? != 0)
    }

    /// A number, or a dash for none.
    fn maybe(&mut self) -> Option<Option<i64>> {
        match self.0.next()? {
            "-" => Some(None),
            word => word.parse().ok().map(Some),
        }
    }

    /// Skips the next word if it is this one, and says whether it is.
    fn skip(&mut self, word: &str) -> bool {
        let mut ahead = self.0.clone();
        let there = ahead.next() == Some(word);
        if there {
            self.0 = ahead;
        }
        there
    }

    /// An error's code, or the value that `what` reads.
    fn unless_refused<T>(
        &mut self,
        what: impl FnOnce(&mut Line<'a>) -> Option<T>,
    ) -> Option<Result<T, i32>> {
        if self.skip("refused") { self.number().map(Err) } else { what(self).map(Ok) }
    }

    fn function(&mut self) -> Option<Function> {
        Some(Function {
            start: self.number()?,
            size: self.number()?,
            num_fres: self.number()?,
            info: self.number()?,
            info2: self.number()?,
            rep_size: self.number()?,
            rows: Vec::new(),
        })
    }

    /// A stored row, and whether libsframe wrote past the end of the buffer.
    fn stored(&mut self) -> Option<(Stored, bool)> {
        let (start, info) = (self.number()?, self.number()?);
        let words = self.0.next()?.trim_matches('-').to_owned();
        Some((Stored { start, info, words }, self.skip("overrun")))
    }

    fn row(&mut self) -> Option<(Row, bool)> {
        let (stored, overrun) = self.stored()?;
        let meaning = Meaning {
            base: self.maybe()?,
            cfa: self.maybe()?,
            fp: self.maybe()?,
            ra: self.maybe()?,
            mangled: self.flag()?,
            undefined: self.flag()?,
        };
        Some((Row { stored, meaning }, overrun))
    }
}

impl Answer {
    /// Parses an answer; `None` if the lines are not one.
    #[must_use]
    pub fn parse(lines: &[String]) -> Option<Answer> {
        let mut answer = Answer::default();
        for text in lines {
            answer.line(&mut Line(text.split_whitespace()))?;
        }
        Some(answer)
    }

    fn line(&mut self, line: &mut Line<'_>) -> Option<()> {
        match line.0.next()? {
            "api" => self.api = line.number()?,
            "refused" => self.refused = Some(line.number()?),
            "decoded" => self.header = Some((line.number()?, line.number()?, line.number()?)),
            "function" => self.functions.push(line.unless_refused(Line::function)?),
            "row" => {
                let row = line.unless_refused(Line::row)?;
                let row = row.map(|(row, overrun)| {
                    self.overrun |= overrun;
                    row
                });
                self.functions.last_mut()?.as_mut().ok()?.rows.push(row);
            }
            "at" => {
                let found = line.unless_refused(Line::stored)?;
                self.found.push(found.map(|(stored, overrun)| {
                    self.overrun |= overrun;
                    stored
                }));
            }
            _ => return None,
        }
        Some(())
    }
}
