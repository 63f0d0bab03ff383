//! The folder that the paths in identities are relative to.

use std::fs;
use std::path::{Component, Path, PathBuf};

use sframe_record::Record;

use super::FileIdentity;
use crate::compare::names::{self, Versions};

/// The name of what was read from standard input, which is in no folder.
const STANDARD_INPUT: &str = "standard input";

/// The folder that the paths in identities are relative to, so that neither the place of a checkout nor the working folder
/// makes a difference. By default there is none, and paths are as they were typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Root(Option<Folder>);

/// A folder, and the working folder in which paths were typed. Both are absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Folder {
    path: PathBuf,
    /// The path of the folder without links, if it exists.
    real: Option<PathBuf>,
    working: PathBuf,
}

impl Root {
    /// Paths are relative to `folder`. Both were typed in the working folder `working`.
    ///
    /// ```
    /// use std::path::Path;
    /// use sframe_history::Root;
    ///
    /// let root = Root::of(Path::new("/home/me/project"), Path::new("/home/me/project/build"));
    /// assert_eq!(root.relative("./a.o"), "build/a.o");
    /// assert_eq!(root.relative("../src/../a.o"), "a.o");
    /// assert_eq!(root.relative("/home/me/project/build/a.o"), "build/a.o");
    /// assert_eq!(root.relative("/home/me/other/a.o"), "../other/a.o");
    /// // Nothing but `/` contains both.
    /// assert_eq!(root.relative("/usr/lib/a.o"), "/usr/lib/a.o");
    /// ```
    #[must_use]
    pub fn of(folder: &Path, working: &Path) -> Root {
        let path = plain(&working.join(folder));
        let real = fs::canonicalize(&path).ok();
        Root(Some(Folder { path, real, working: working.to_owned() }))
    }

    /// Whether paths are as they were typed.
    #[must_use]
    pub const fn is_as_typed(&self) -> bool {
        self.0.is_none()
    }

    /// The identity of the file that `record` describes: its package's name instead of its package's path, if it has one.
    #[must_use]
    pub fn file(&self, record: &Record<'_>) -> FileIdentity {
        let without = |name: &str| names::path(name, Versions::LeaveOut);
        let (outer, shown) = match (&record.package, &record.inside) {
            (Some(package), Some(_)) => {
                let name = package.name.as_str().to_owned();
                (name.clone(), name)
            }
            _ => {
                let path = self.relative(&record.path);
                (without(&path), path)
            }
        };
        let inside = record.inside.as_deref().map(|inside| inside.trim_start_matches("./"));
        let member = record.member.as_deref();
        let within = inside.map(without).unwrap_or_default();
        let hashed = format!("{outer}!{within}({})", member.unwrap_or_default());
        let inside = inside.map(|inside| format!("!{inside}")).unwrap_or_default();
        let member = member.map(|member| format!("({member})")).unwrap_or_default();
        FileIdentity { hashed, shown: format!("{shown}{inside}{member}") }
    }

    /// The path as identities contain it.
    #[must_use]
    pub fn relative(&self, path: &str) -> String {
        let is_address = path.contains("://") || path == STANDARD_INPUT;
        match &self.0 {
            Some(folder) if !is_address => folder.relative(path),
            _ => path.trim_start_matches("./").to_owned(),
        }
    }
}

impl Folder {
    fn relative(&self, path: &str) -> String {
        let path = plain(&self.working.join(path));
        let below = path.strip_prefix(&self.path).ok().map(text);
        // A link may lead into the folder.
        let real = || {
            let folder = fs::canonicalize(path.parent()?).ok()?;
            let path = folder.join(path.file_name()?);
            path.strip_prefix(self.real.as_ref()?).ok().map(text)
        };
        let name = below.or_else(real).or_else(|| self.beside(&path));
        name.unwrap_or_else(|| text(&path))
    }

    /// The way from the folder to a path outside it; `None` if no folder but `/` contains both.
    fn beside(&self, path: &Path) -> Option<String> {
        let own: Vec<Component<'_>> = self.path.components().collect();
        let others: Vec<Component<'_>> = path.components().collect();
        let common = own.iter().zip(&others).take_while(|(own, other)| own == other).count();
        let is_near = own.iter().take(common).any(|part| matches!(part, Component::Normal(_)));
        let up = own.iter().skip(common).map(|_| Component::ParentDir);
        let down = others.iter().skip(common).copied();
        is_near.then(|| text(&up.chain(down).collect::<PathBuf>()))
    }
}

/// An absolute path without `.` and `..`, as it is written.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn root(folder: &str, working: &str) -> Root {
        Root::of(Path::new(folder), Path::new(working))
    }

    #[test]
    fn a_checkout_in_another_folder_has_the_same_paths() {
        for place in ["/home/a/x", "/srv/jobs/17/x", "/x"] {
            let build = format!("{place}/build");
            let absolute = format!("{place}/build/a.o");
            // The baseline is in the checkout, or in a folder of it.
            for (working, typed) in [
                (place, "build/a.o"),
                (place, absolute.as_str()),
                (build.as_str(), "a.o"),
                ("/", absolute.get(1..).expect("absolute")),
            ] {
                assert_eq!(root(place, working).relative(typed), "build/a.o", "{working} {typed}");
                let ci = root(&format!("{place}/ci"), working);
                assert_eq!(ci.relative(typed), "../build/a.o", "{working} {typed}");
            }
        }
    }

    #[test]
    fn names_that_are_no_paths_stay() {
        let root = root("/x", "/x/y");
        for name in ["standard input", "https://example.org/pool/a.deb"] {
            assert_eq!(root.relative(name), name);
        }
        assert_eq!(Root::default().relative("./y/../a.o"), "y/../a.o");
    }

    #[test]
    fn a_link_leads_into_the_folder() {
        let room = tempfile::tempdir().expect("a folder");
        let (folder, link) = (room.path().join("checkout"), room.path().join("far/link"));
        fs::create_dir_all(folder.join("build")).expect("writable");
        fs::create_dir_all(room.path().join("far")).expect("writable");
        symlink(&folder, &link).expect("writable");
        let typed = link.join("build/a.o");
        assert_eq!(Root::of(&folder, room.path()).relative(&text(&typed)), "build/a.o");
        assert_eq!(Root::of(&link, room.path()).relative(&text(&typed)), "build/a.o");
        let other = folder.join("build/a.o");
        assert_eq!(Root::of(&link, room.path()).relative(&text(&other)), "build/a.o");
    }
}
