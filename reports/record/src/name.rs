//! The name of a checked file, including its location in packages and archives.

use std::path::{Component, Path, PathBuf};

use crate::text::path_of;

/// A file, or one inside a package, an archive, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName {
    /// The file.
    pub path: PathBuf,
    /// The path of the file inside the package, if the file is a package. In nested packages, `!` follows the path of
    /// each inner package.
    pub inside: Option<Vec<u8>>,
    /// The name of the archive member, if that is an archive.
    pub member: Option<Vec<u8>>,
}

impl FileName {
    /// The name of a file that is not in a package or archive.
    #[must_use]
    pub const fn file(path: PathBuf) -> FileName {
        FileName { path, inside: None, member: None }
    }

    /// The name of the member `name` in the archive with this name.
    #[must_use]
    pub fn member_of(&self, name: Vec<u8>) -> FileName {
        FileName { member: Some(name), ..self.clone() }
    }

    /// The path of the file, or the path it would have if its package were installed.
    #[must_use]
    pub fn installed(&self) -> PathBuf {
        let Some(inside) = &self.inside else { return self.path.clone() };
        let path = inside.rsplit(|byte| *byte == b'!').next().unwrap_or_default();
        // Components that lead out of the package are dropped.
        let parts = path_of(path).components().filter(|part| matches!(part, Component::Normal(_)));
        Path::new("/").join(parts.collect::<PathBuf>())
    }
}
