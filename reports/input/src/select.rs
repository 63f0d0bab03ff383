//! Resolves command-line arguments to files, in order: paths, folders, patterns, standard input, lists.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::PathBuf;

use super::found::{Input, classify, plain_error};
use super::stdin;
use super::walk::{Links, Walk, is_pattern};

/// The inputs that command-line arguments name. An iterator that walks folders lazily.
#[derive(Debug)]
pub struct Selection {
    words: std::vec::IntoIter<Word>,
    walk: Option<Walk>,
    links: Links,
}

/// A path or pattern to resolve.
#[derive(Debug)]
enum Word {
    /// From the command line: a path or, if no such file exists, a pattern.
    Argument(OsString),
    /// From a list: always a path, whatever characters it has.
    Listed(OsString),
    /// `-` on the command line.
    StandardInput,
}

impl Selection {
    /// The inputs of `arguments`, and then those at the paths of a list. The argument `-` is the content of standard input.
    #[must_use]
    pub fn new(arguments: &[OsString], list: Vec<OsString>) -> Selection {
        let word = |argument: &OsString| match argument {
            dash if dash == "-" => Word::StandardInput,
            _ => Word::Argument(argument.clone()),
        };
        let words = arguments.iter().map(word).chain(list.into_iter().map(Word::Listed));
        let words = words.collect::<Vec<_>>().into_iter();
        Selection { words, walk: None, links: Links::within(arguments) }
    }

    /// Also follows symbolic links that lead out of the named folders. Links given as arguments are always followed.
    #[must_use]
    pub fn following_links(self) -> Selection {
        Selection { links: Links::All, ..self }
    }

    fn start(&mut self, word: Word) -> Option<Input> {
        let (name, pattern) = match word {
            Word::Argument(name) => (name, true),
            Word::Listed(name) => (name, false),
            Word::StandardInput => {
                return Some(match stdin::read() {
                    Ok(content) => Input::Content(stdin::NAME.into(), content),
                    Err(error) => Input::Unreadable(stdin::NAME.into(), plain_error(&error)),
                });
            }
        };
        let path = PathBuf::from(&name);
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => {
                self.walk = Some(Walk::tree(path, self.links.clone()));
                None
            }
            Ok(metadata) => Some(classify(path, metadata.file_type())),
            // Only a path that does not exist can be a pattern.
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && pattern && is_pattern(&name) =>
            {
                match Walk::pattern(&name, self.links.clone()) {
                    Ok(walk) => {
                        self.walk = Some(walk);
                        None
                    }
                    Err(error) => Some(Input::Unreadable(path, error.to_string())),
                }
            }
            Err(error) => Some(Input::Unreadable(path, plain_error(&error))),
        }
    }
}

impl Iterator for Selection {
    type Item = Input;

    fn next(&mut self) -> Option<Input> {
        loop {
            if let Some(walk) = &mut self.walk {
                match walk.next() {
                    Some(input) => return Some(input),
                    None => self.walk = None,
                }
            }
            let word = self.words.next()?;
            if let Some(input) = self.start(word) {
                return Some(input);
            }
        }
    }
}
