//! Call frame information as a witness.

mod lookup;
mod stream;
use sframe_validator::unwind::{CodeAddress, Row};

use super::{Left, Marks, Says, Shared, Witness};
use crate::cfi::{Cfi, CfiError, Cie, Fde, RowContext, Rows};
use stream::Stream;

pub(crate) use lookup::{Found, Lookup};

/// The CFI sections of a file as one witness: the first of them that describes a place is used.
///
/// Rows are made only if another witness has rows to compare with.
pub(crate) struct CfiWitness<'c, 'x> {
    streams: Vec<Stream<'c, 'x>>,
    /// The number of the stream that describes the place entered last.
    speaker: Option<usize>,
    /// Whether that stream's row at the address has been read.
    is_read: bool,
}

impl<'c, 'x> CfiWitness<'c, 'x> {
    /// A witness for sections in the order of [`Cfi::load_all`], with a context for each.
    pub(crate) fn new(cfi: &'c [Cfi<'c>], contexts: &'x mut [RowContext]) -> CfiWitness<'c, 'x> {
        let streams = cfi.iter().zip(contexts).map(|(cfi, context)| Stream::new(cfi, context));
        CfiWitness { streams: streams.collect(), speaker: None, is_read: false }
    }

    /// Passes over so many functions of each section: they describe nothing that is read.
    pub(crate) fn starting_at(mut self, passed: &[usize]) -> CfiWitness<'c, 'x> {
        for (stream, passed) in self.streams.iter_mut().zip(passed) {
            stream.pass(*passed);
        }
        self
    }

    #[inline(always)]
    fn stream(&self) -> Option<&Stream<'c, 'x>> {
        self.streams.get(self.speaker?)
    }

    #[inline(always)]
    fn stream_mut(&mut self) -> Option<&mut Stream<'c, 'x>> {
        self.streams.get_mut(self.speaker?)
    }

    /// The marks of the function at the place.
    #[inline]
    pub(crate) fn marks(&self) -> Marks {
        self.stream().map(Stream::marks).unwrap_or_default()
    }

    /// Whether the function at the place starts at `start`, the place entered last, and `test` accepts its instructions.
    /// If so, it counts as read; otherwise nothing of it does.
    #[inline]
    pub(crate) fn all_over(
        &mut self,
        start: CodeAddress,
        test: impl FnOnce(&mut Rows<'c, 'x>) -> bool,
    ) -> bool {
        self.stream_mut().is_some_and(|stream| stream.all_over(start, test))
    }
}

impl Marks {
    /// The marks that an FDE inherits from its CIE.
    #[inline]
    pub(crate) const fn of_cie(cie: &Cie) -> Marks {
        Marks { signal: cie.signal, key_b: cie.pauth_key_b }
    }
}

impl<'c> Witness for CfiWitness<'c, '_> {
    type Function = Fde<'c>;
    type Row = Row;
    type Error = CfiError;

    #[inline]
    fn enter(&mut self, place: CodeAddress, left: &mut impl FnMut(Left<Fde<'c>, CfiError>)) -> u64 {
        let mut until = u64::MAX;
        self.speaker = None;
        for (number, stream) in self.streams.iter_mut().enumerate() {
            match stream.enter(place, left) {
                Ok(limit) => {
                    self.speaker = Some(number);
                    return until.min(limit);
                }
                Err(limit) => until = until.min(limit),
            }
        }
        until
    }

    #[inline]
    fn describes(&self) -> bool {
        self.speaker.is_some()
    }

    #[inline]
    fn read(&mut self, address: u64) -> u64 {
        self.is_read = true;
        self.stream_mut().map_or(u64::MAX, |stream| stream.read(address))
    }

    #[inline]
    fn skip(&mut self, _address: u64) -> u64 {
        self.is_read = false;
        u64::MAX
    }

    #[inline]
    fn says(&self) -> Says<'_, Fde<'c>, Row> {
        let Some((function, row)) = self.stream().and_then(Stream::says) else {
            return Says::Nothing;
        };
        match row {
            _ if !self.is_read => Says::Unread(function),
            Some(row) => Says::Row(function, row),
            None => Says::Unreadable(function),
        }
    }

    #[inline]
    fn note(&mut self, shared: Shared) {
        if let Some(stream) = self.stream_mut() {
            stream.note(shared);
        }
    }

    fn finish(&mut self, left: &mut impl FnMut(Left<Fde<'c>, CfiError>)) {
        for stream in &mut self.streams {
            stream.leave(left);
        }
    }
}
