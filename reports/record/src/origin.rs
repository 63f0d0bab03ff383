//! What code was made from: assembly, or the source of a compiled language.

use serde::{Deserialize, Serialize};

use crate::value::Text;

/// What the code of a finding was made from, as far as its file shows it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Origin<'r> {
    /// Who wrote its CFI directives.
    pub kind: OriginKind,
    /// What shows that.
    pub shown_by: ShownBy,
    /// The compiler. If only `.comment` shows it, any of these.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub compilers: Vec<Compiler<'r>>,
}

/// Who wrote the CFI directives of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OriginKind {
    /// The author of the assembly.
    Assembly,
    /// A compiler.
    Compiled,
}

/// What shows the origin of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ShownBy {
    /// The language and the producer of the code's unit in DWARF.
    Unit,
    /// The name of the code's source file in the line table of DWARF.
    SourceFile,
    /// The names of source files in the symbol table of a relocatable object.
    FileSymbol,
    /// Compilers name themselves and the source file, and this relocatable object contains neither name.
    NoCompiler,
    /// The names of compilers in `.comment`. A linked file may contain assembly as well.
    Comment,
}

/// A compiler.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Compiler<'r> {
    /// Its name: `GCC`.
    #[serde(borrow)]
    pub name: Text<'r>,
    /// Its version, if the file states one.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Text<'r>>,
}

impl std::fmt::Display for Compiler<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.version {
            Some(version) => write!(f, "{} {version}", self.name),
            None => write!(f, "{}", self.name),
        }
    }
}

impl Origin<'_> {
    /// The number of compilers that are named in a sentence.
    const NAMED: usize = 3;

    /// The compiler's name and version, or those of all that it may be: `GCC 12.2.0 or rustc 1.75.0`. `None` if no name is known.
    #[must_use]
    pub fn compiler(&self) -> Option<String> {
        let mut names: Vec<String> =
            self.compilers.iter().take(Self::NAMED).map(Compiler::to_string).collect();
        if self.compilers.len() > Self::NAMED {
            names.push("others".to_owned());
        }
        (!names.is_empty()).then(|| names.join(" or "))
    }

    /// A copy that borrows from no line.
    #[must_use]
    pub fn owned(&self) -> Origin<'static> {
        let owned = |of: &Compiler<'_>| Compiler {
            name: of.name.clone().into_owned(),
            version: of.version.as_ref().map(|version| version.clone().into_owned()),
        };
        let compilers = self.compilers.iter().map(owned).collect();
        Origin { kind: self.kind, shown_by: self.shown_by, compilers }
    }
}
