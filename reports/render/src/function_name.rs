//! The names of functions in text for people, as their source has them. JSON has the symbols.

use sframe_record::demangle;
use sframe_record::text::printable;

/// A symbol's name, safe to print; the bytes may be any.
pub(crate) fn source_name(symbol: &[u8]) -> String {
    std::str::from_utf8(symbol).map_or_else(|_| printable(symbol), demangle)
}

/// The place so many bytes after the start of a symbol, such as `f(int)+0x4`.
pub(crate) fn at_offset(symbol: &str, offset: Option<u64>) -> String {
    let name = source_name(symbol.as_bytes());
    match offset {
        None | Some(0) => name,
        Some(offset) => format!("{name}+{offset:#x}"),
    }
}
