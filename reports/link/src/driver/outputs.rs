//! The files that a driver's commands write: they go to a temporary folder.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use sframe_record::text::printable;

use super::DriverError;

/// Extensions of sources.
const SOURCES: [&str; 19] = [
    "c", "i", "cc", "cp", "cxx", "cpp", "CPP", "c++", "C", "ii", "m", "mm", "s", "S", "f", "f90",
    "d", "go", "adb",
];
/// Options of compilers whose values are names of files that they do not read.
const OTHERS: [&str; 3] = ["-o", "-dumpbase", "-main-file-name"];

/// Options of compilers and assemblers whose value, the next word, is a file to write beside the object.
const SEPARATE: [&str; 16] = [
    "-MF",
    "-MD",
    "-MMD",
    "--MD",
    "-aux-info",
    "-auxbase",
    "-auxbase-strip",
    "-dependency-file",
    "-dependency-dot",
    "-stack-usage-file",
    "-split-dwarf-output",
    "-coverage-notes-file",
    "-opt-record-file",
    "-serialize-diagnostic-file",
    "-diagnostic-log-file",
    "-header-include-file",
];
/// Options that end with `=` and the name of such a file, by their start.
const JOINED: [&str; 15] = [
    "-a",
    "-coverage-notes-file",
    "-fdump-",
    "-fopt-info",
    "-fprofile-note",
    "-fdeps-file",
    "-fmodule-output",
    "-fmodules-cache-path",
    "-ftime-trace",
    "-foptimization-record-file",
    "-info-output-file",
    "-pass-remarks-output",
    "-time-trace-file",
    "-time",
    "--MD",
];
/// Options that make a compiler write files whose names nothing can change, by their start.
const REFUSED: [&str; 6] = [
    "-fdump-ada-spec",
    "-fmodules-ts",
    "-fmodule-header",
    "-fdoc",
    "-Xf",
    "-fdiagnostics-add-output",
];
/// The compilers of GCC, which write dumps to the folder that `-dumpdir` names.
const GCC: [&str; 8] = ["cc1", "cc1plus", "cc1obj", "cc1objplus", "f951", "d21", "go1", "lto1"];
/// The compiler of Ada, which writes a file for its library into the current folder.
const ADA: &str = "gnat1";

/// Where the commands write.
pub(super) struct Outputs<'a> {
    folder: &'a Path,
    /// The places of the files that later commands read, by their names in the driver's commands.
    places: HashMap<String, String>,
    /// The source of each of them.
    sources: HashMap<String, String>,
    /// The number of files that no command reads.
    aside: usize,
}

impl Outputs<'_> {
    pub(super) fn new(folder: &Path) -> Outputs<'_> {
        Outputs { folder, places: HashMap::new(), sources: HashMap::new(), aside: 0 }
    }

    /// What people call the temporary files: the sources that they are made of.
    pub(super) fn named(&self) -> HashMap<PathBuf, String> {
        let named = self.sources.iter().filter_map(|(name, source)| {
            let place = self.places.get(name)?;
            Some((PathBuf::from(place), printable(source)))
        });
        named.collect()
    }

    /// The source of what a command writes: that of the temporary file that it reads, or the last source that it names.
    fn source(&self, command: &[String]) -> Option<String> {
        let pairs = command.windows(2);
        let read =
            pairs.filter(|pair| pair.first().is_some_and(|word| !OTHERS.contains(&word.as_str())));
        let words = read.filter_map(|pair| pair.get(1));
        let earlier = words.clone().find_map(|word| self.sources.get(word));
        earlier.or_else(|| words.rev().find(|word| is_source(word))).cloned()
    }

    /// A word of a command, with the place of the file that it names.
    pub(super) fn word(&self, word: &str) -> String {
        self.places.get(word).cloned().unwrap_or_else(|| word.to_owned())
    }

    /// The command, with all that it writes in the folder.
    ///
    /// # Errors
    /// [`DriverError::SideOutput`] if the command writes a file whose place cannot be chosen.
    pub(super) fn redirected(&mut self, command: &[String]) -> Result<Vec<String>, DriverError> {
        let (program, arguments) = command.split_first().ok_or(DriverError::Empty)?;
        let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
        let source = self.source(command);
        let is_refused = |word: &&String| REFUSED.iter().any(|start| word.starts_with(start));
        if let Some(word) = arguments.iter().find(is_refused) {
            return Err(DriverError::SideOutput(printable(word)));
        }
        if name == ADA {
            return Err(DriverError::SideOutput("compiling Ada".to_owned()));
        }
        let mut words = vec![program.clone()];
        let mut rest = arguments.iter();
        while let Some(word) = rest.next() {
            words.push(self.argument(word));
            let Some(value) = (match word.as_str() {
                "-o" => rest.next().map(|output| self.output(output, source.as_deref())),
                "-dumpdir" => rest.next().map(|prefix| self.aside(prefix)),
                // A folder in it would come before that of `-dumpdir`.
                "-dumpbase" => rest.next().map(|base| file_name(base)),
                "--extract-dwo" => {
                    words.extend(rest.next().map(|object| self.word(object)));
                    rest.next().map(|output| self.aside(output))
                }
                separate if SEPARATE.contains(&separate) => {
                    rest.next().map(|output| self.aside(output))
                }
                _ => None,
            }) else {
                continue;
            };
            words.push(value);
        }
        if GCC.contains(&name.as_ref()) && !words.iter().any(|word| word == "-dumpdir") {
            words.extend(["-dumpdir".to_owned(), self.aside("")]);
        }
        if name == "f951" {
            // Fortran's modules, which the next source may read.
            words.retain(|word| !word.starts_with("-J"));
            words.push(format!("-J{}", self.folder.display()));
        }
        Ok(words)
    }

    /// A word that is no value of the word before it.
    fn argument(&mut self, word: &str) -> String {
        let joined = word.split_once('=').filter(|(option, _)| {
            JOINED.iter().any(|start| option.starts_with(start)) && !option.contains('/')
        });
        if let Some((option, output)) = joined {
            return format!("{option}={}", self.aside(output));
        }
        let output = word.strip_prefix("-MF").filter(|output| !output.is_empty());
        if let Some(output) = output {
            return format!("-MF{}", self.aside(output));
        }
        self.word(word)
    }

    /// The place of a file that later commands may read.
    fn output(&mut self, output: &str, source: Option<&str>) -> String {
        if is_no_file(output) {
            return output.to_owned();
        }
        if let Some(source) = source {
            // gcc uses a name again for the assembly of the next source.
            self.sources.insert(output.to_owned(), source.to_owned());
        }
        let place = self.folder.join(format!("{}-{}", self.places.len(), file_name(output)));
        let place = place.to_string_lossy().into_owned();
        self.places.entry(output.to_owned()).or_insert(place).clone()
    }

    /// The place of a file, or of files with a prefix, that no command reads.
    fn aside(&mut self, output: &str) -> String {
        if is_no_file(output) {
            return output.to_owned();
        }
        self.aside += 1;
        let place = self.folder.join(format!("aside-{}-{}", self.aside, file_name(output)));
        place.to_string_lossy().into_owned()
    }
}

/// Whether the name of an output is that of a stream or a device.
fn is_no_file(output: &str) -> bool {
    matches!(output, "-" | "stdout" | "stderr") || output.starts_with("/dev/")
}

fn file_name(path: &str) -> String {
    Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn is_source(word: &str) -> bool {
    let extension = Path::new(word).extension().and_then(std::ffi::OsStr::to_str);
    !word.starts_with('-') && extension.is_some_and(|of| SOURCES.contains(&of))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn temporary_files_are_renamed_throughout() {
        let mut outputs = Outputs::new(Path::new("/t"));
        let mut run =
            |text: &str| outputs.redirected(&words(text)).map(|words| words.join(" ")).ok();
        assert_eq!(run("clang a.c -o /tmp/x.s").as_deref(), Some("clang a.c -o /t/0-x.s"));
        assert_eq!(run("as -o /tmp/x.o /tmp/x.s").as_deref(), Some("as -o /t/1-x.o /t/0-x.s"));
        assert_eq!(outputs.word("/tmp/x.o"), "/t/1-x.o");
        let named = |place: &str| outputs.named().get(Path::new(place)).cloned();
        assert_eq!(named("/t/1-x.o").as_deref(), Some("a.c"));
    }

    /// Files that `clang -cc1` writes by name (clang 19, `-###`); gcc is run in `reports/program/tests/side_outputs.rs`.
    #[test]
    fn clang_writes_beside_the_object_only_into_the_folder() {
        let mut outputs = Outputs::new(Path::new("/t"));
        let command = "clang -cc1 -dependency-file a.d -stack-usage-file a.su -split-dwarf-file prog-a.dwo \
                       -split-dwarf-output prog-a.dwo -coverage-notes-file=/home/a.gcno -ftime-trace=a.json \
                       -opt-record-file a.yaml -o /tmp/a.o a.c";
        let words = outputs.redirected(&words(command)).expect("all are known");
        // The object contains the first of these names; nothing is written there.
        let kept: Vec<&String> = words.iter().filter(|word| word.contains("a.")).collect();
        let outside = kept.iter().filter(|word| !word.contains("/t/"));
        let outside: Vec<&str> = outside.map(|word| word.as_str()).collect();
        assert_eq!(outside, ["prog-a.dwo", "a.c"]);
    }
}
