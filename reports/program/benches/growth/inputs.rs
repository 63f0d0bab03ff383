//! The inputs, of any size.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sframe_validator::elf::Elf;
use sframe_validator::{Placement, Section};

/// What there are many of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// An object with one section of code for each function, as `-ffunction-sections` makes it.
    Sections,
    /// A library with functions that call each other, with symbols and FDEs.
    Functions,
    /// An object with relocations of calls.
    Relocations,
    /// A library with one CIE for each function.
    Cies,
    /// A library with a name for each of many places in one function.
    Symbols,
    /// A library in which each function has a wrong row.
    Findings,
    /// An archive with members.
    Members,
    /// A folder with files.
    Files,
}

impl Input {
    pub(crate) const ALL: [Input; 8] = [
        Input::Sections,
        Input::Functions,
        Input::Relocations,
        Input::Cies,
        Input::Symbols,
        Input::Findings,
        Input::Members,
        Input::Files,
    ];
    /// Those that are one ELF file.
    pub(crate) const ELF: [Input; 6] = [
        Input::Sections,
        Input::Functions,
        Input::Relocations,
        Input::Cies,
        Input::Symbols,
        Input::Findings,
    ];
    /// Those that a linker takes.
    pub(crate) const OBJECTS: [Input; 3] = [Input::Sections, Input::Relocations, Input::Members];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Input::Sections => "sections",
            Input::Functions => "functions",
            Input::Relocations => "relocs",
            Input::Cies => "cies",
            Input::Symbols => "symbols",
            Input::Findings => "findings",
            Input::Members => "members",
            Input::Files => "files",
        }
    }
}

/// An input that was made.
pub(crate) struct Made {
    pub(crate) file: PathBuf,
    /// The same without a section, for commands that add one.
    pub(crate) bare: PathBuf,
    /// What a scan finds in it.
    pub(crate) records: PathBuf,
}

impl Made {
    pub(crate) fn folder(&self) -> &Path {
        self.records.parent().expect("a folder")
    }
}

/// Makes inputs with GNU tools.
pub(crate) struct Inputs {
    tools: PathBuf,
    folder: PathBuf,
}

impl Inputs {
    /// `None` if the tools are missing, which is said.
    pub(crate) fn find() -> Option<Inputs> {
        let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
        let fetched = || target.join("toolchains");
        let toolchains = std::env::var_os("SFRAME_TOOLCHAINS").map_or_else(fetched, PathBuf::from);
        let tools = toolchains.join("2.47.50/bin");
        if !tools.exists() {
            println!("skipped: no {}; corpus/build fetch 2.47.50 makes it", tools.display());
            return None;
        }
        Some(Inputs { tools, folder: target.join("growth") })
    }

    pub(crate) fn make(&self, input: Input, size: usize) -> Made {
        let folder = self.folder.join(format!("{}-{size}", input.name()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        let (file, bare) = match input {
            Input::Sections | Input::Relocations => {
                (self.object(&folder, input, size, true), self.object(&folder, input, size, false))
            }
            Input::Functions | Input::Cies | Input::Symbols => (
                self.library(&folder, input, size, true),
                self.library(&folder, input, size, false),
            ),
            Input::Findings => {
                let file = self.library(&folder, input, size, true);
                spoil(&file);
                (file, self.library(&folder, input, size, false))
            }
            Input::Members | Input::Files => {
                let file = self.many(&folder, input, size);
                (file.clone(), file)
            }
        };
        let records = folder.join("records");
        let output = Command::new(super::program())
            .args(["--format", "ndjson", "--all"])
            .arg(&file)
            .output()
            .expect("it runs");
        fs::write(&records, output.stdout).expect("disk space");
        Made { file, bare, records }
    }

    /// Runs a tool in a folder.
    fn run(&self, folder: &Path, tool: &str, arguments: &[&str]) {
        let mut command = Command::new(self.tools.join(tool));
        let command = command.current_dir(folder).args(arguments).stderr(Stdio::null());
        assert!(command.status().expect("it runs").success(), "{tool} {arguments:?}");
    }

    fn object(&self, folder: &Path, input: Input, size: usize, sframe: bool) -> PathBuf {
        let name = if sframe { "with" } else { "without" };
        fs::write(folder.join("in.s"), source(input, size)).expect("disk space");
        let flag = if sframe { "--gsframe" } else { "--gsframe=no" };
        self.run(folder, "as", &[flag, "in.s", "-o", &format!("{name}.o")]);
        folder.join(format!("{name}.o"))
    }

    fn library(&self, folder: &Path, input: Input, size: usize, sframe: bool) -> PathBuf {
        let object = self.object(folder, input, size, sframe);
        let library = object.with_extension("so");
        let [object, library_name] = [&object, &library].map(|path| path.to_string_lossy());
        self.run(folder, "ld", &["-shared", "-z", "notext", &object, "-o", &library_name]);
        library
    }

    /// Copies of an object, in an archive or in a folder.
    fn many(&self, folder: &Path, input: Input, size: usize) -> PathBuf {
        let object = self.object(folder, Input::Functions, 3, true);
        let files = folder.join("files");
        fs::create_dir(&files).expect("a folder");
        let mut script = String::from("create all.a\n");
        for number in 0..size {
            fs::copy(&object, files.join(format!("{number}.o"))).expect("disk space");
            writeln!(script, "addmod files/{number}.o").expect("memory");
        }
        if input == Input::Files {
            return files;
        }
        script.push_str("save\nend\n");
        fs::write(folder.join("script"), script).expect("disk space");
        let script = fs::File::open(folder.join("script")).expect("readable");
        let mut archiver = Command::new(self.tools.join("ar"));
        let archiver = archiver.arg("-M").current_dir(folder).stdin(script).status();
        assert!(archiver.expect("it runs").success());
        fs::remove_dir_all(&files).expect("a folder");
        folder.join("all.a")
    }
}

/// The source of a file with as many of what the input has.
fn source(input: Input, size: usize) -> String {
    let mut text = String::from(".text\n");
    for number in 0..size {
        let next = (number * 7 + 1) % size;
        let section = format!(".section .text.f{number},\"ax\",@progbits\n");
        let section = if input == Input::Sections { section.as_str() } else { "" };
        let start = match input {
            // The first instructions of a function are those of its CIE, if it begins without any.
            Input::Cies => format!(
                ".cfi_startproc simple\n.cfi_def_cfa 7,8\n.cfi_offset 16,-8\n.cfi_offset 12,-{}",
                16 + 8 * number
            ),
            Input::Symbols if number > 0 => String::new(),
            _ => ".cfi_startproc".to_owned(),
        };
        let code = match input {
            Input::Symbols => "nop".to_owned(),
            _ => format!(
                "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6,-16\ncall f{next}\npop %rbp\n.cfi_def_cfa_offset 8\nret"
            ),
        };
        let end = match input {
            Input::Symbols if number + 1 < size => "",
            _ => ".cfi_endproc\n",
        };
        let name = format!(".globl f{number}\n.type f{number},@function\nf{number}:\n");
        writeln!(text, "{section}{name}{start}\n{code}\n{end}.size f{number},.-f{number}")
            .expect("memory");
    }
    text
}

/// Makes the CFA of each function's first row wrong.
fn spoil(path: &Path) {
    let mut file = fs::read(path).expect("readable");
    let elf = Elf::parse(&file).expect("an ELF file");
    let header = *elf.sframe_sections().next().expect("a section");
    let bytes = elf.section_data(&header).expect("its bytes");
    let section = Section::parse(bytes, Placement::at(header.address)).expect("a section");
    // Attributes of 5 bytes, and a row: a start of one byte, an info byte, and the CFA's offset.
    let offset = |rows: u64| usize::try_from(header.offset + rows + 5 + 2).expect("64 bits");
    let words: Vec<usize> = section.entries().map(|entry| offset(entry.rows_offset())).collect();
    for at in words {
        if let Some(byte) = file.get_mut(at) {
            *byte = byte.wrapping_add(8);
        }
    }
    fs::write(path, file).expect("disk space");
}
