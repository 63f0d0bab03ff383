//! Archives (`.a`): their members, and the files that thin archives name.

use std::path::{Path, PathBuf};

use object::read::archive::ArchiveFile;

/// One member of an archive.
#[derive(Debug)]
pub struct Member<'a> {
    /// The name's bytes, as stored.
    pub name: Vec<u8>,
    /// Where its bytes are.
    pub content: Content<'a>,
    /// Where they start in the archive, if that is where they are.
    pub start: u64,
}

/// Where a member's bytes are.
#[derive(Debug)]
pub enum Content<'a> {
    /// In the archive.
    Bytes(&'a [u8]),
    /// In a file of its own, which a thin archive names; relative to the archive's folder.
    File(PathBuf),
    /// Nowhere that could be found; why.
    Damaged(String),
}

/// Whether `data` starts as an archive does.
#[must_use]
pub fn is_archive(data: &[u8]) -> bool {
    data.starts_with(b"!<arch>\n") || data.starts_with(b"!<thin>\n")
}

/// The members of the archive at `path`, in stored order, without its symbol and name tables. A
/// member that cannot be read is [`Content::Damaged`]; behind a damaged header nothing can be
/// found, so it is the last one.
///
/// # Errors
/// Where the archive as a whole cannot be read: why.
pub fn members<'a>(path: &Path, data: &'a [u8]) -> Result<Vec<Member<'a>>, String> {
    let archive = ArchiveFile::parse(data).map_err(|error| error.to_string())?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut members = Vec::new();
    for member in archive.members() {
        let member = match member {
            Ok(member) => member,
            Err(error) => {
                let content = Content::Damaged(error.to_string());
                members.push(Member { name: b"?".to_vec(), content, start: 0 });
                break;
            }
        };
        let content = if archive.is_thin() {
            Content::File(folder.join(sframe_record::text::path_of(member.name())))
        } else {
            match member.data(data) {
                Ok(bytes) => Content::Bytes(bytes),
                Err(error) => Content::Damaged(error.to_string()),
            }
        };
        let (start, _) = member.file_range();
        members.push(Member { name: member.name().to_vec(), content, start });
    }
    Ok(members)
}
