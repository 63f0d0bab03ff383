//! Jump tables: arrays of code addresses or of distances from an address in the code. They give indirect jumps their edges.

use super::context::FileContext;
use super::effect::Extension;
use super::value::AbstractValue;

/// The maximum number of elements of a table.
const MAX_ELEMENTS: u32 = 4096;
/// The maximum size of a table in bytes.
pub(super) const LARGEST_TABLE: u64 = MAX_ELEMENTS as u64 * 8;
/// The maximum number of tables of a function.
const MAX_TABLES: usize = 4096;

/// A jump table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct JumpTable {
    /// The address of the first element.
    address: u64,
    /// The size of an element in bytes.
    size: u8,
    extension: Extension,
    /// The maximum index, if a comparison or the size of the index limits it.
    most: Option<u32>,
    /// The elements are distances from here, in units of `1 << shift` bytes.
    base: Option<(u64, u8)>,
}

/// The jump tables of a function. Abstract values refer to them by their numbers.
#[derive(Debug, Default)]
pub(super) struct JumpTables(Vec<JumpTable>);

impl JumpTables {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn number(&mut self, table: JumpTable) -> Option<u32> {
        let number = self.0.iter().position(|known| *known == table).or_else(|| {
            self.0.push(table);
            (self.0.len() <= MAX_TABLES).then(|| self.0.len() - 1)
        });
        u32::try_from(number?).ok()
    }

    /// The value of an element of an array of numbers.
    pub(super) fn element(
        &mut self,
        address: u64,
        size: u8,
        extension: Extension,
        most: Option<u32>,
    ) -> AbstractValue {
        let table = JumpTable { address, size, extension, most, base: None };
        match self.number(table) {
            // Elements of 8 bytes are addresses.
            Some(number) if size == 8 => AbstractValue::Target(number),
            Some(number) => AbstractValue::Element(number),
            None => AbstractValue::Unknown,
        }
    }

    /// An element of 4 bytes, extended with its sign.
    pub(super) fn extended(&mut self, element: u32) -> AbstractValue {
        let table = usize::try_from(element).ok().and_then(|number| self.0.get(number));
        let signed = table
            .filter(|table| table.size == 4)
            .map(|table| JumpTable { extension: Extension::Sign, ..*table });
        signed
            .and_then(|table| self.number(table))
            .map_or(AbstractValue::Unknown, AbstractValue::Element)
    }

    /// The address at a distance from `base` that an element contains.
    pub(super) fn target(
        &mut self,
        element: u32,
        base: u64,
        shift: u8,
        extension: Extension,
    ) -> AbstractValue {
        let Some(table) = usize::try_from(element).ok().and_then(|number| self.0.get(number))
        else {
            return AbstractValue::Unknown;
        };
        let extension = match extension {
            Extension::Sign => Extension::Sign,
            Extension::Zero => table.extension,
        };
        let table = JumpTable { base: Some((base, shift)), extension, ..*table };
        self.number(table).map_or(AbstractValue::Unknown, AbstractValue::Target)
    }

    /// Whether a table has a single element: a pointer at a fixed address, such as an entry of the GOT. Its target is
    /// another function.
    pub(super) fn is_pointer(&self, number: u32) -> bool {
        let table = usize::try_from(number).ok().and_then(|number| self.0.get(number));
        table.is_some_and(|table| table.most == Some(0))
    }

    /// The targets of a table. `context` has its bytes; `is_inside` accepts a target in the function. If the
    /// index is limited, code that the function shares or keeps elsewhere is accepted, too. The table ends before the next
    /// place that an instruction of the file refers to and, if nothing limits the index, at the first element that is not
    /// accepted. `None` if an element within the limit cannot be read or is not accepted. LLVM lets the cases that cannot occur
    /// lead to the end of the function: these have no target.
    pub(super) fn targets<'a>(
        &self,
        number: u32,
        context: &impl FileContext<'a>,
        is_inside: impl Fn(u64) -> bool,
    ) -> Option<Vec<u64>> {
        let table = self.0.get(usize::try_from(number).ok()?)?;
        let room = context.next_referenced(table.address).saturating_sub(table.address);
        let room = u32::try_from(room / u64::from(table.size.max(1))).unwrap_or(u32::MAX);
        // A mask may allow more than the table has.
        let most = table.most.map_or(u32::MAX, |most| most.saturating_add(1));
        let count = room.min(most).min(MAX_ELEMENTS);
        // An index of one byte limits nothing: a `switch` need not have a case for each of its values. After a table of small
        // elements, nearly everything would be accepted.
        let is_byte = table.most == Some(u32::from(u8::MAX)) && table.size >= 4;
        let is_limited = table.most.is_some() && !is_byte;
        let is_code = |target: &u64| {
            is_inside(*target) || is_limited && context.is_presumed_fragment(*target)
        };
        let is_end = |target: u64| target.checked_sub(1).is_some_and(&is_inside);
        let mut targets = Vec::new();
        let size = usize::from(table.size);
        // Usually all of it is in one section.
        let whole = usize::try_from(count).ok().and_then(|count| count.checked_mul(size));
        let whole = whole.and_then(|whole| context.read(table.address, whole));
        let mut elements = whole.unwrap_or_default().chunks_exact(size.max(1));
        for index in 0..count {
            let element = table.address.wrapping_add(u64::from(index) * u64::from(table.size));
            let bytes = elements.next().or_else(|| context.read(element, size));
            let number = bytes.and_then(|bytes| context.number(element, bytes));
            let target = number.and_then(|number| table.target(number));
            match target {
                Some(target) if is_code(&target) => targets.push(target),
                Some(target) if is_end(target) => {}
                _ if is_limited => return None,
                _ => break,
            }
        }
        targets.sort_unstable();
        targets.dedup();
        (!targets.is_empty()).then_some(targets)
    }
}

impl JumpTable {
    /// The target that an element with this content has.
    fn target(&self, number: u64) -> Option<u64> {
        let unused = 64_u32.checked_sub(u32::from(self.size) * 8).filter(|bits| *bits < 64)?;
        let number = match self.extension {
            Extension::Sign => (number.cast_signed() << unused >> unused).cast_unsigned(),
            Extension::Zero => number << unused >> unused,
        };
        Some(match self.base {
            Some((base, shift)) => base.wrapping_add(number << shift.min(63)),
            None => number,
        })
    }
}

/// The number in the bytes of an element of a linked file. Code of AMD64 and AArch64 is little-endian, and so are its tables.
pub(super) fn number_of(bytes: &[u8]) -> Option<u64> {
    let mut whole = [0; 8];
    whole.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(u64::from_le_bytes(whole))
}
