//! Forecasts of many files in several encodings at once.
//!
//! Nearly all functions of a system have the pattern of an earlier one ([`crate::pattern`]): in the libraries of a
//! Debian system, 44,000 patterns of a million functions. What becomes of them is known without evaluating their
//! instructions again.

use sframe_oracle::cfi::{Cfi, Cie, Fde, RowContext};
use sframe_validator::elf::Elf;
use sframe_validator::section::FreType;

use crate::forecast::Forecast;
use crate::model::Losses;
use crate::pattern::{CiePattern, Pattern};
use crate::patterns::{Outcome, Patterns, Shape, Visited};
use crate::place::Place;
use crate::source::Source;
use crate::synthesis::{Encoding, Functions, Plan, SynthesisError};
use crate::tally::{Tally, hash_starts};

/// Makes forecasts of one file after the other, and remembers patterns of functions in at most some 20 MB.
///
/// The forecasts are those of [`forecast`](crate::forecast()).
#[derive(Clone, Debug)]
pub struct Forecaster {
    encodings: Vec<Encoding>,
    gc_sections: bool,
    patterns: Patterns,
    pattern: Pattern,
    visited: Vec<Visited>,
}

impl Forecaster {
    /// Forecasts in these encodings.
    #[must_use]
    pub fn new(encodings: &[Encoding]) -> Forecaster {
        Forecaster {
            encodings: encodings.to_vec(),
            gc_sections: false,
            patterns: Patterns::new(),
            pattern: Pattern::default(),
            visited: Vec::new(),
        }
    }

    /// Forecasts for files that GNU ld links with `--gc-sections`, or without.
    #[must_use]
    pub const fn with_gc_sections(mut self, gc_sections: bool) -> Forecaster {
        self.gc_sections = gc_sections;
        self
    }

    /// Whether forecasts are for links with `--gc-sections`.
    #[must_use]
    pub const fn gc_sections(&self) -> bool {
        self.gc_sections
    }

    /// The encodings.
    #[must_use]
    pub fn encodings(&self) -> &[Encoding] {
        &self.encodings
    }

    /// Predicts the sections that a file with this CFI, in the order of [`Cfi::load_all`], would have, one for each
    /// encoding.
    pub fn forecast(
        &mut self,
        elf: &Elf<'_>,
        cfi: &[Cfi<'_>],
    ) -> Vec<Result<Forecast, SynthesisError>> {
        let Some(source) = Source::new(elf, cfi) else {
            return self.encodings.iter().map(|_| Err(SynthesisError::Machine)).collect();
        };
        let place = Place::of(elf);
        let plans = self.encodings.iter().map(|&encoding| Plan::new(&source, encoding, place));
        let plans: Vec<Result<Plan<'_, '_, '_>, SynthesisError>> = plans.collect();
        let mut sections = Sections {
            source: &source,
            made: plans.iter().map(|plan| plan.as_ref().ok().map(Making::of)).collect(),
            patterns: &mut self.patterns,
            pattern: &mut self.pattern,
            visited: &mut self.visited,
            latest: None,
        };
        source.each_with(plans.len(), |fde, contexts| sections.visit(fde, contexts));
        let made = sections.made.into_iter().zip(plans).zip(&self.encodings);
        made.map(|((made, plan), encoding)| match (made, plan) {
            (Some(mut made), _) => {
                let tally = &mut made.tally;
                let is_collected = self.gc_sections && place != Place::Relocatable;
                if !is_collected {
                    let passed = tally.functions();
                    made.functions.finish(passed, &made.losses, &mut |function, measured| {
                        tally.add(&function, &measured);
                    });
                }
                let mut forecast = Forecast::new(elf, *encoding, made.tally, made.losses.sorted());
                if is_collected {
                    forecast.collect_sections();
                }
                Ok(forecast)
            }
            (None, plan) => Err(plan.err().unwrap_or(SynthesisError::Machine)),
        })
        .collect()
    }
}

/// A section being made.
struct Making<'s, 'e, 'c> {
    functions: Functions<'s, 'e, 'c>,
    tally: Tally,
    losses: Losses,
}

/// The sections of a file, one for each encoding that exists for the machine.
struct Sections<'m, 's, 'e, 'c> {
    source: &'s Source<'e, 'c>,
    made: Vec<Option<Making<'s, 'e, 'c>>>,
    patterns: &'m mut Patterns,
    pattern: &'m mut Pattern,
    visited: &'m mut Vec<Visited>,
    /// The CIE of the latest function, the number of its pattern, and the registers that its rows show.
    latest: Option<(&'c Cie, Option<(u32, u32)>)>,
}

impl<'c> Sections<'_, '_, '_, 'c> {
    fn visit(&mut self, fde: &Fde<'c>, contexts: &mut [RowContext]) {
        if self.source.labels.are_in(fde) || !self.read_pattern(fde) {
            return self.visit_directly(fde, contexts);
        }
        match self.patterns.find(&self.pattern.key) {
            Some(outcomes) => {
                let places = &self.pattern.places;
                let mut starts = Starts { patterns: self.patterns, places, latest: None };
                for (made, outcome) in self.made.iter_mut().flatten().zip(outcomes) {
                    made.add(fde, outcome, &mut starts);
                }
            }
            None => self.learn(fde, contexts),
        }
    }

    /// Reads a function's pattern. Returns whether it has one.
    fn read_pattern(&mut self, fde: &Fde<'c>) -> bool {
        let cie = match self.latest {
            Some((cie, number)) if core::ptr::eq(cie, fde.cie()) => number,
            _ => {
                let pattern = CiePattern::of(fde.cfi(), fde.cie());
                let number = pattern.and_then(|pattern| {
                    let registers = pattern.registers();
                    Some((self.patterns.cie(pattern)?, registers))
                });
                self.latest = Some((fde.cie(), number));
                number
            }
        };
        let Some((cie, registers)) = cie else { return false };
        !self.source.may_be_stub(fde.start()) && self.pattern.read(fde, cie, registers)
    }

    fn visit_directly(&mut self, fde: &Fde<'c>, contexts: &mut [RowContext]) {
        for (made, context) in self.made.iter_mut().zip(contexts) {
            let Some(made) = made else { continue };
            let tally = &mut made.tally;
            made.functions.visit((fde, context), &mut made.losses, &mut |function, measured| {
                tally.add(&function, &measured);
            });
        }
    }

    /// Visits a function whose pattern is new, and remembers what becomes of it.
    fn learn(&mut self, fde: &Fde<'c>, contexts: &mut [RowContext]) {
        self.visited.clear();
        for (made, context) in self.made.iter_mut().zip(contexts) {
            let Some(made) = made else { continue };
            let mut losses = Losses::default();
            let mut visited = Visited::default();
            let tally = &mut made.tally;
            made.functions.visit((fde, context), &mut losses, &mut |function, measured| {
                let frames = tally.add(&function, &measured);
                visited.found = Some((function, measured, frames));
            });
            visited.lost = losses.first();
            if let Some(cause) = visited.lost {
                made.losses.add(cause, fde.start(), fde.size());
            }
            self.visited.push(visited);
        }
        self.patterns.add(&self.pattern.key, &self.pattern.places, self.visited);
    }
}

impl<'s, 'e, 'c> Making<'s, 'e, 'c> {
    fn of(plan: &Plan<'s, 'e, 'c>) -> Making<'s, 'e, 'c> {
        Making {
            functions: plan.functions(),
            tally: Tally::new(plan.form),
            losses: Losses::default(),
        }
    }

    /// Adds a function whose pattern is known.
    fn add(&mut self, fde: &Fde<'_>, outcome: &Outcome, starts: &mut Starts<'_>) {
        if let Some(cause) = outcome.lost {
            self.losses.add(cause, fde.start(), fde.size());
        }
        // A function with a pattern has a size of 32 bits.
        let size = u32::try_from(fde.size()).unwrap_or(u32::MAX);
        if let Some(shape) = &outcome.shape {
            let mut measured = shape.measured;
            let (hash, width) = starts.of(shape, size);
            measured.starts = measured.rows * width;
            self.tally.add_shape(size, shape, &measured, hash);
        }
    }
}

/// The starts of a function's rows.
struct Starts<'p> {
    patterns: &'p Patterns,
    /// Where the function's advances arrive.
    places: &'p [u32],
    /// The latest result, which nearly always fits the next encoding.
    latest: Option<(crate::patterns::Span, (u64, u64))>,
}

impl Starts<'_> {
    /// A hash of the starts, and the width of their fields in bytes, in a function of `size` bytes.
    fn of(&mut self, shape: &Shape, size: u32) -> (u64, u64) {
        let place = |index: &u16| self.places.get(usize::from(*index)).copied().unwrap_or(0);
        let starts = self.patterns.starts(shape.starts);
        let greatest = if shape.by_size { size } else { starts.last().map_or(0, place) };
        let width = FreType::for_start(greatest).width() as u64;
        if let Some((span, result)) = self.latest
            && (span, width) == (shape.starts, result.1)
        {
            return result;
        }
        let hash = hash_starts(starts.iter().map(|index| place(index).into()), width);
        self.latest = Some((shape.starts, (hash, width)));
        (hash, width)
    }
}
