//! The kinds of indexes.

/// A kind of index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Debian's `Packages`.
    Packages,
    /// The `repodata/repomd.xml` of an rpm-md repository.
    Repomd,
    /// Alpine's `APKINDEX.tar.gz`.
    Apkindex,
    /// A database of pacman.
    Database,
}

impl Kind {
    /// What a repository with such an index is called, with an article.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Kind::Packages => "a Debian repository",
            Kind::Repomd => "an rpm-md repository",
            Kind::Apkindex => "an Alpine repository",
            Kind::Database => "an Arch repository",
        }
    }
}
