//! Finds the inputs of a link: files, libraries, scripts, and the members that are pulled out of archives.

mod archive;
mod names;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use sframe_input::FileBytes;
use sframe_record::text::printable_path;

use crate::arguments::{Arguments, Item, Mode};
use crate::input::{Input, InputKind};
use crate::linker::Linker;
use crate::object::{Object, Symbols};
use crate::options::Output;
use crate::script::{self, Part};
use archive::Archive;

/// How deep scripts may name scripts.
const DEEPEST: u32 = 8;
/// The largest number of inputs, and of faults that are listed.
const MOST: usize = 1_000_000;
const MOST_FAULTS: usize = 1_000;

/// The inputs of a link.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) inputs: Vec<Input>,
    /// What could not be found or read.
    pub(crate) faults: Vec<String>,
    /// Some code calls a function that may be in another module, so that the linker makes stubs.
    pub(crate) calls_stubs: bool,
}

/// Loads the inputs that a command line names. `folders` are the linker's own library folders.
pub(crate) fn load(linker: Linker, arguments: &Arguments, folders: &[PathBuf]) -> Loaded {
    let mut loader = Loader::new(linker, arguments, folders);
    for item in &arguments.items {
        loader.item(item, 0);
    }
    loader.loaded.calls_stubs = loader.calls_stubs();
    loader.loaded
}

struct Loader<'a> {
    linker: Linker,
    arguments: &'a Arguments,
    folders: Vec<PathBuf>,
    loaded: Loaded,
    archives: Vec<Archive>,
    /// Members of archives that can still be pulled in, for linkers that remember them.
    lazy: HashMap<Vec<u8>, (usize, usize)>,
    /// The archives of each open group, by number.
    groups: Vec<Vec<usize>>,
    defined: HashSet<Vec<u8>>,
    /// Defined by objects whose content is copied, and those of them that no other module can replace.
    own: HashSet<Vec<u8>>,
    hidden: HashSet<Vec<u8>>,
    needed: HashSet<Vec<u8>>,
    /// Needed since the last search of an archive.
    fresh: Vec<Vec<u8>>,
}

impl<'a> Loader<'a> {
    fn new(linker: Linker, arguments: &'a Arguments, folders: &[PathBuf]) -> Loader<'a> {
        let all = arguments.folders.iter().chain(folders);
        let sysroot = &arguments.sysroot;
        Loader {
            linker,
            arguments,
            folders: all.map(|folder| names::below(sysroot, folder)).collect(),
            loaded: Loaded { faults: arguments.faults.clone(), ..Loaded::default() },
            archives: Vec::new(),
            lazy: HashMap::new(),
            groups: Vec::new(),
            defined: arguments.defined.iter().cloned().collect(),
            own: HashSet::new(),
            hidden: HashSet::new(),
            needed: arguments.needed.iter().cloned().collect(),
            fresh: Vec::new(),
        }
    }

    fn fault(&mut self, fault: String) {
        if self.loaded.faults.len() < MOST_FAULTS {
            self.loaded.faults.push(fault);
        }
    }

    fn item(&mut self, item: &Item, depth: u32) {
        match item {
            Item::File(path, mode) => self.file(path, *mode, depth),
            Item::Library(name, mode) => match names::library(&self.folders, name, *mode) {
                Some(path) => self.file(&path, *mode, depth),
                None => self.fault(format!("-l{} is not found", printable_path(Path::new(name)))),
            },
            Item::StartGroup => self.groups.push(Vec::new()),
            Item::EndGroup => self.end_group(),
        }
    }

    /// Searches the archives of a group until nothing is needed from them.
    fn end_group(&mut self) {
        let group = self.groups.pop().unwrap_or_default();
        loop {
            let before = self.loaded.inputs.len();
            for &archive in &group {
                self.search(archive);
            }
            if self.loaded.inputs.len() == before {
                return;
            }
        }
    }

    fn file(&mut self, path: &Path, mode: Mode, depth: u32) {
        let bytes = match FileBytes::open(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                return self.fault(format!("{}: {error}", printable_path(path)));
            }
        };
        if sframe_input::archive::is_archive(&bytes) {
            return self.archive(path, bytes, mode);
        }
        if script::is_script(&bytes) {
            let text = str::from_utf8(&bytes).unwrap_or_default().to_owned();
            return self.script(path, &text, mode, depth);
        }
        match Object::read(&printable_path(path), &bytes) {
            Ok(object) => self.object(path, object, mode),
            Err(error) => self.fault(format!("{}: {error}", printable_path(path))),
        }
    }

    fn object(&mut self, path: &Path, mut object: Object, mode: Mode) {
        if mode.just_symbols {
            return self.define(&object.symbols);
        }
        if object.input.kind == InputKind::Shared {
            let is_needed = object.symbols.defined.iter().any(|name| self.needed.contains(name));
            if mode.as_needed && !is_needed && self.linker.is_gnu_ld() {
                return;
            }
        } else if object.input.kind == InputKind::Object && names::is_startup(path) {
            object.input.kind = InputKind::Startup;
        }
        self.add(object);
        self.pull_lazy();
    }

    fn script(&mut self, path: &Path, text: &str, mode: Mode, depth: u32) {
        let parts = script::parts(text);
        if depth >= DEEPEST || parts.is_empty() {
            return self.fault(format!("{}: it names no inputs", printable_path(path)));
        }
        for part in parts {
            match part {
                Part::StartGroup => self.groups.push(Vec::new()),
                Part::EndGroup => self.end_group(),
                Part::Folder(folder) => {
                    let folder = names::below(&self.arguments.sysroot, Path::new(&folder));
                    self.folders.push(folder);
                }
                Part::Input { name, as_needed } => {
                    let mode = Mode { as_needed: mode.as_needed || as_needed, ..mode };
                    self.named(path, &name, mode, depth.saturating_add(1));
                }
            }
        }
    }

    /// An input that a script names.
    fn named(&mut self, script: &Path, name: &str, mode: Mode, depth: u32) {
        if let Some(library) = name.strip_prefix("-l") {
            return self.item(&Item::Library(library.into(), mode), depth);
        }
        let found =
            names::in_script(&self.arguments.sysroot, &self.folders, script, Path::new(name));
        match found {
            Some(path) => self.file(&path, mode, depth),
            None => {
                let script = printable_path(script);
                self.fault(format!(
                    "{}, which {script} names, is not found",
                    printable_path(Path::new(name))
                ));
            }
        }
    }

    fn archive(&mut self, path: &Path, bytes: FileBytes, mode: Mode) {
        let archive = Archive::open(path, bytes, &mut self.loaded.faults);
        let number = self.archives.len();
        let members = archive.members();
        if self.linker.remembers_archives() {
            for (name, &member) in archive.index() {
                self.lazy.entry(name.clone()).or_insert((number, member));
            }
        }
        self.archives.push(archive);
        if mode.whole_archive {
            for member in 0..members {
                self.pull(number, member, None);
            }
            return self.pull_lazy();
        }
        if let Some(group) = self.groups.last_mut() {
            group.push(number);
        }
        self.search(number);
        self.pull_lazy();
    }

    /// Pulls in the members of an archive that define what is needed, and those that these need.
    fn search(&mut self, number: usize) {
        let Some(archive) = self.archives.get(number) else { return };
        let mut wanted = archive.wanted(self.needed.iter());
        self.fresh.clear();
        while !wanted.is_empty() {
            for (member, name) in std::mem::take(&mut wanted) {
                if self.needed.contains(&name) {
                    self.pull(number, member, Some(&name));
                }
            }
            let fresh = std::mem::take(&mut self.fresh);
            if let Some(archive) = self.archives.get(number) {
                wanted = archive.wanted(fresh.iter());
            }
        }
    }

    /// Pulls in remembered members for what has come to be needed.
    fn pull_lazy(&mut self) {
        while self.linker.remembers_archives() && !self.fresh.is_empty() {
            let mut wanted = BTreeMap::new();
            for name in std::mem::take(&mut self.fresh) {
                if let Some(&place) = self.lazy.get(&name).filter(|_| self.needed.contains(&name)) {
                    wanted.entry(place).or_insert(name);
                }
            }
            for ((archive, member), name) in wanted {
                if self.needed.contains(&name) {
                    self.pull(archive, member, Some(&name));
                }
            }
        }
        self.fresh.clear();
    }

    fn pull(&mut self, archive: usize, member: usize, needed: Option<&[u8]>) {
        let Some(archive) = self.archives.get_mut(archive) else { return };
        let Some(read) = archive.pull(member) else { return };
        match read {
            Ok(mut object) => {
                object.input.kind = match object.input.kind {
                    InputKind::Object => InputKind::Member,
                    other => other,
                };
                object.input.pulled_by = needed.map(sframe_record::text::printable);
                self.add(object);
            }
            Err(fault) => self.fault(fault),
        }
    }

    fn add(&mut self, object: Object) {
        if self.loaded.inputs.len() >= MOST {
            return self.fault(format!("there are more than {MOST} inputs"));
        }
        self.define(&object.symbols);
        if object.input.is_copied() {
            self.own.extend(object.symbols.defined.iter().cloned());
            self.hidden.extend(object.symbols.hidden.iter().cloned());
        }
        for name in &object.symbols.needed {
            let name = names::wrapped(&self.arguments.wrapped, name);
            if !self.defined.contains(&name) && self.needed.insert(name.clone()) {
                self.fresh.push(name);
            }
        }
        self.loaded.inputs.push(object.input);
    }

    fn calls_stubs(&self) -> bool {
        let options = &self.arguments.options;
        let copied = self.loaded.inputs.iter().filter(|input| input.is_copied());
        let mut calls = copied.flat_map(|input| &input.calls);
        calls.any(|name| match options.output {
            Output::Relocatable | Output::Static => false,
            Output::Shared => {
                !self.hidden.contains(name) && !(options.symbolic && self.own.contains(name))
            }
            // Everything else that is defined is in a shared object.
            Output::Program => self.defined.contains(name) && !self.own.contains(name),
        })
    }

    fn define(&mut self, symbols: &Symbols) {
        for name in &symbols.defined {
            self.needed.remove(name);
            self.defined.insert(name.clone());
        }
    }
}
