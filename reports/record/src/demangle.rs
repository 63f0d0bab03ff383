//! The names of C++ and Rust functions as their source has them.

use std::fmt::{self, Write};

use crate::text::printable;
use cpp_demangle::{DemangleOptions, Symbol};

/// The maximum number of bytes of a name, of which the beginning is shown: a short symbol can stand for an arbitrarily long one.
const LONGEST: usize = 500;

/// Which names functions have where people read about them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SymbolNames {
    /// Those of the symbol table.
    #[default]
    Mangled,
    /// Those that C++ and Rust functions have in their source.
    Demangled,
}

impl SymbolNames {
    /// The name of a symbol, safe to print.
    #[must_use]
    pub fn printed(self, symbol: &str) -> String {
        match self {
            SymbolNames::Mangled => printable(symbol),
            SymbolNames::Demangled => demangle(symbol),
        }
    }
}

/// The name that a symbol was made from, such as `f(int)` for `_Z1fi`, safe to print; the symbol itself if it is no mangled name. A name of more than
/// 500 bytes is cut, and ends with `…`.
#[must_use]
pub fn demangle(symbol: &str) -> String {
    let rust = rustc_demangle::try_demangle(symbol).ok();
    let rust = rust.and_then(|name| bounded(|out| write!(out, "{name:#}")));
    let cpp = || {
        let symbol = Some(symbol).filter(|symbol| symbol.starts_with("_Z"))?;
        let name = Symbol::new(symbol).ok()?;
        let options = DemangleOptions::new().recursion_limit(200);
        bounded(|out| name.structured_demangle(out, &options))
    };
    printable(rust.or_else(cpp).unwrap_or_else(|| symbol.to_owned()))
}

/// The text that `write` writes, or its beginning; `None` if it fails.
fn bounded(write: impl FnOnce(&mut Bounded) -> fmt::Result) -> Option<String> {
    let mut out = Bounded::default();
    match write(&mut out) {
        Ok(()) => Some(out.text),
        Err(_) if out.is_cut => Some(out.text + "…"),
        Err(_) => None,
    }
}

/// Text of limited length.
#[derive(Default)]
struct Bounded {
    text: String,
    is_cut: bool,
}

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let fits = |character: &(usize, char)| {
            let end = character.0.saturating_add(character.1.len_utf8());
            self.text.len().saturating_add(end) <= LONGEST
        };
        let part: String = text.char_indices().take_while(fits).map(|(_, of)| of).collect();
        self.text.push_str(&part);
        self.is_cut = part.len() < text.len();
        if self.is_cut { Err(fmt::Error) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::demangle;

    /// What `c++filt` prints, and the names in the source of Rust's standard library.
    #[test]
    fn names_are_those_of_the_source() {
        for (symbol, name) in [
            ("_Z6secondi", "second(int)"),
            (
                "_ZNSt6vectorIiSaIiEE9push_backERKi",
                "std::vector<int, std::allocator<int> >::push_back(int const&)",
            ),
            ("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"),
            ("_RNvCs15kBYyAo9fc_7mycrate7example", "mycrate::example"),
            ("main", "main"),
            ("_Z", "_Z"),
            ("", ""),
        ] {
            assert_eq!(demangle(symbol), name);
        }
    }

    /// `c++filt` prints 1,241 characters for the whole name.
    #[test]
    fn long_names_are_cut() {
        let symbol = format!("_Z1fSt6vectorIiSaIiEE{}", "S1_".repeat(30));
        let name = demangle(&symbol);
        let start = "f(std::vector<int, std::allocator<int> >, std::vector<int,";
        assert!(name.starts_with(start), "{name}");
        assert_eq!((name.len(), name.ends_with('…')), (500 + '…'.len_utf8(), true));
        // Each level doubles the name.
        let nested = format!("_Z1fSt4pairIiiE{}", "S_IS0_S0_E".repeat(40));
        assert!(demangle(&nested).len() < 1000);
    }
}
