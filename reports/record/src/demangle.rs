//! The names of C++ and Rust functions as their source has them.

use std::fmt::{self, Write};

use crate::text::printable;
use cpp_demangle::{DemangleOptions, Symbol};

/// The maximum number of bytes of a name: a short symbol can stand for an arbitrarily long one.
const LONGEST: usize = 500;

/// The name that a symbol was made from, such as `f(int)` for `_Z1fi`, safe to print; the symbol itself if it is no mangled name, or if the name is
/// too long.
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

/// The text that `write` writes; `None` if it fails or is too long.
fn bounded(write: impl FnOnce(&mut Bounded) -> fmt::Result) -> Option<String> {
    let mut out = Bounded(String::new());
    write(&mut out).ok().map(|()| out.0)
}

/// Text of limited length.
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len().saturating_add(text.len()) > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
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

    #[test]
    fn long_names_stay_symbols() {
        let symbol = format!("_Z1f{}", "St6vectorIiE".repeat(100));
        assert_eq!(demangle(&symbol), symbol);
        // Each level doubles the name.
        let nested = format!("_Z1fSt4pairIiiE{}", "S_IS0_S0_E".repeat(40));
        assert!(demangle(&nested).len() < 1000);
    }
}
