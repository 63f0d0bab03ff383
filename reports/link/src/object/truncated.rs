//! Files whose end is missing.

use crate::obstacle::ObstacleKind;

/// The size of an ELF header.
const HEADER: usize = 64;

/// How a file is truncated that has the start of an ELF header for 64 bits; `None` if the header and the table of sections
/// are there.
pub(super) fn kind(data: &[u8]) -> Option<ObstacleKind> {
    if !data.starts_with(b"\x7fELF\x02") {
        return None;
    }
    match table_end(data) {
        None => Some(ObstacleKind::TruncatedHeader),
        Some(end) => (end > data.len() as u64).then_some(ObstacleKind::Truncated),
    }
}

/// Where the table of sections ends; `None` if the header is not complete.
fn table_end(data: &[u8]) -> Option<u64> {
    let header = data.get(..HEADER)?;
    let is_big = header.get(5) == Some(&2);
    let short = |offset: usize| -> Option<u64> {
        let bytes: [u8; 2] = header.get(offset..offset.checked_add(2)?)?.try_into().ok()?;
        Some(if is_big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) }.into())
    };
    let bytes: [u8; 8] = header.get(40..48)?.try_into().ok()?;
    let start = if is_big { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) };
    if start == 0 {
        return Some(0);
    }
    let (size, count) = (short(58)?, short(60)?);
    // With 0, the first entry has the number.
    Some(start.saturating_add(size.saturating_mul(count.max(1))))
}
