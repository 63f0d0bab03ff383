//! libsframe in a linker: an input's functions are read by index, and nothing is looked up.

use sframe_validator::Placement;
use sframe_validator::section::Section;
use sframe_validator::unwind::Frame;

use super::{Library, Release};
use crate::answer::{Answer, Found, Stop};
use crate::consumer::{Lookups, Opening, Places, Reader};
use crate::index::Index;
use crate::input::Input;
use crate::rows::{Rows, Step, Work};
use crate::table::{Extent, NO_FUNCTION, places};

/// An input of a link. Relocations say where its functions are.
struct Inputs<'a> {
    library: Library<'a>,
    functions: Vec<Option<Copied>>,
    index: Index,
}

/// A function that the linker copies.
#[derive(Clone, Copy)]
struct Copied {
    extent: Extent,
    /// It has no rows, and that means something.
    is_outermost: bool,
}

/// What a release does with an input of a link.
pub(crate) fn open_input<'a>(input: &Input<'a>, release: Release) -> Opening<'a> {
    match super::open(input, release) {
        Ok(library) => Opening::Accept(Box::new(Inputs::of(input, library))),
        Err(stop) => stop.into(),
    }
}

impl<'a> Inputs<'a> {
    fn of(input: &Input<'_>, library: Library<'a>) -> Inputs<'a> {
        let mut functions = vec![None; usize::try_from(library.count()).unwrap_or(0)];
        let placement = Placement::at(input.address).with_abi(Some(input.machine));
        let section = Section::parse(input.bytes, placement);
        for function in section.iter().flat_map(Section::functions).flatten() {
            let slot = usize::try_from(function.index()).ok();
            if let Some(slot) = slot.and_then(|slot| functions.get_mut(slot))
                && let Ok(start) = function.start()
                && let Ok(entry) = library.entry(function.index())
            {
                let extent = Extent { start: start.address, ..library.extent(0, &entry) };
                *slot = Some(Copied { extent, is_outermost: function.is_outermost() });
            }
        }
        let starts = functions.iter().zip(0..);
        let starts = starts.filter_map(|(of, index)| Some(((*of)?.extent.start, index)));
        let index = Index::of(starts);
        Inputs { library, functions, index }
    }

    fn rows(&self, index: u32, of: &Copied, work: &Work) -> Rows {
        if of.is_outermost {
            let mut rows = Rows::default();
            rows.push(Step { start: 0, end: 0, frame: Ok(Frame::OUTERMOST) });
            return rows;
        }
        self.library.entry(index).map_or_else(Rows::failed, |entry| self.library.rows(&entry, work))
    }

    fn function(&self, index: u32) -> Option<Copied> {
        *self.functions.get(usize::try_from(index).ok()?)?
    }
}

impl Reader for Inputs<'_> {
    fn places(&self) -> Places {
        let work = Work::of_kept(self.library.data.len());
        let all = self.functions.iter().zip(0..);
        let functions = all.filter_map(|(of, index)| {
            let of = (*of)?;
            Some((of.extent, self.rows(index, &of, &work)))
        });
        let list = places(functions);
        Places { list, is_complete: !work.is_spent(), ..Places::default() }
    }

    fn lookups(&self) -> Box<dyn Lookups + '_> {
        let work = Work::of(self.library.data.len());
        Box::new(InputLookups { inputs: self, work, last: None })
    }
}

/// Lookups in what the linker copies.
struct InputLookups<'i, 'a> {
    inputs: &'i Inputs<'a>,
    work: Work,
    /// The rows of the function that was found last.
    last: Option<(u32, Rows)>,
}

impl InputLookups<'_, '_> {
    fn find(&self, pc: u64) -> Result<(u32, Copied, u32), Stop> {
        let index = self.inputs.index.find(pc)?;
        let of = self.inputs.function(index).ok_or(NO_FUNCTION)?;
        let offset = u32::try_from(pc.wrapping_sub(of.extent.start)).unwrap_or(u32::MAX);
        if offset >= of.extent.size { Err(NO_FUNCTION) } else { Ok((index, of, offset)) }
    }
}

impl Lookups for InputLookups<'_, '_> {
    fn answer(&mut self, pc: u64) -> Answer {
        let (index, of, offset) = self.find(pc)?;
        if self.last.as_ref().is_none_or(|(at, _)| *at != index) {
            self.last = Some((index, self.inputs.rows(index, &of, &self.work)));
        }
        let rows = self.last.as_ref().map(|(_, rows)| rows).ok_or(NO_FUNCTION)?;
        let Extent { start, block, .. } = of.extent;
        let masked = offset.checked_rem(u32::from(block)).unwrap_or(offset);
        Ok(Found { function: index, start, frame: rows.before_next(masked)? })
    }

    fn period(&mut self, pc: u64) -> u64 {
        self.find(pc).map_or(1, |(_, of, _)| of.extent.period())
    }
}
