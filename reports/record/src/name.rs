//! The name of a file, wherever it is.

use std::path::{Component, Path, PathBuf};

use crate::text::path_of;

/// A file, or one inside a package, an archive, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName {
    /// The file.
    pub path: PathBuf,
    /// The path of the file in the package, where the file is one; with a `!` after each package,
    /// where one is inside another.
    pub inside: Option<Vec<u8>>,
    /// The member's name, where that is an archive.
    pub member: Option<Vec<u8>>,
}

impl FileName {
    /// The name of a file as such.
    #[must_use]
    pub const fn file(path: PathBuf) -> FileName {
        FileName { path, inside: None, member: None }
    }

    /// The name of the member `name` of the archive that this names.
    #[must_use]
    pub fn member_of(&self, name: Vec<u8>) -> FileName {
        FileName { member: Some(name), ..self.clone() }
    }

    /// Where the file is, or would be where its package is installed.
    #[must_use]
    pub fn installed(&self) -> PathBuf {
        let Some(inside) = &self.inside else { return self.path.clone() };
        let path = inside.rsplit(|byte| *byte == b'!').next().unwrap_or_default();
        // What leads out of the package leads nowhere.
        let parts = path_of(path).components().filter(|part| matches!(part, Component::Normal(_)));
        Path::new("/").join(parts.collect::<PathBuf>())
    }
}
