//! Whether the linker makes stubs (PLT).

use super::Loader;
use crate::options::Output;

impl Loader<'_> {
    /// Whether some code calls a function that may be in another module.
    pub(super) fn calls_stubs(&self) -> bool {
        let options = &self.arguments.options;
        let copied = self.loaded.inputs.iter().filter(|input| input.is_copied());
        let mut calls = copied.flat_map(|input| &input.calls);
        calls.any(|name| match options.output {
            Output::Relocatable | Output::Static => false,
            Output::Shared => {
                let is_own = options.symbolic && self.own.contains(name);
                !self.hidden.contains(name) && !is_own
            }
            // Everything else that is defined is in a shared object.
            Output::Program => self.defined.contains(name) && !self.own.contains(name),
        })
    }
}
