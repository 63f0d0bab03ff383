//! Finds the inputs of a link: files, libraries, scripts, and the members that are pulled out of archives.

mod archive;
mod lazy;
mod machine;
mod names;
mod refused;
mod stubs;
mod used;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use sframe_input::FileBytes;
use sframe_record::text::printable_path;

use crate::arguments::{Arguments, Item, Mode};
use crate::input::{Input, InputKind};
use crate::linker::Linker;
use crate::object::{Object, Refusal, Symbols};
use crate::obstacle::{Obstacle, ObstacleKind};
use crate::script::{self, Part};
use archive::Archive;
use lazy::{Lazy, roots};
use machine::Machine;

/// How deep scripts may name scripts.
const DEEPEST: u32 = 8;
/// How often an archive or a group of archives is searched, and how many files scripts may name in all.
const ROUNDS: usize = 200;
const NAMED: usize = 1_000;
/// How many bytes of scripts are read in all.
const SCRIPTS: usize = 4 << 20;
/// The largest number of inputs, and of faults that are listed.
const MOST: usize = 1_000_000;
const MOST_FAULTS: usize = 1_000;

/// The inputs of a link.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) inputs: Vec<Input>,
    /// Inputs with which the link fails.
    pub(crate) obstacles: Vec<Obstacle>,
    /// What could not be found or read.
    pub(crate) faults: Vec<String>,
    /// Some code calls a function that may be in another module, so that the linker makes stubs.
    pub(crate) calls_stubs: bool,
    /// Whether `--gc-sections` keeps some code that SFrame of version 3 describes, if that is known.
    pub(crate) keeps_described: Option<bool>,
}

/// Loads the inputs that a command line names. `folders` are the linker's own library folders, if they are known, `names`
/// other names of files for people.
pub(crate) fn load(
    linker: Linker,
    arguments: &Arguments,
    folders: Option<&[PathBuf]>,
    names: HashMap<PathBuf, String>,
) -> Loaded {
    let mut loader = Loader {
        names,
        knows_folders: folders.is_some(),
        ..Loader::new(linker, arguments, folders.unwrap_or_default())
    };
    loader.unopened_arguments();
    loader.choose_machine();
    for item in &arguments.items {
        loader.item(item, 0);
    }
    if linker == Linker::Lld {
        loader.need_roots();
    }
    if linker == Linker::Mold {
        loader.mark();
    }
    loader.collect();
    loader.look_for_entry();
    loader.loaded.calls_stubs = loader.calls_stubs();
    loader.loaded.keeps_described = loader.keeps_described();
    loader.loaded
}

struct Loader<'a> {
    linker: Linker,
    arguments: &'a Arguments,
    folders: Vec<PathBuf>,
    names: HashMap<PathBuf, String>,
    loaded: Loaded,
    archives: Vec<Archive>,
    /// The machine of the first input, and the name of that input.
    machine: Option<(Machine, String)>,
    /// Definitions that can still be used, for linkers that remember them.
    lazy: HashMap<Vec<u8>, Lazy>,
    /// The archives of each open group, by number.
    groups: Vec<Vec<usize>>,
    defined: HashSet<Vec<u8>>,
    /// Defined by objects whose content is copied, and those of them that no other module can replace.
    own: HashSet<Vec<u8>>,
    hidden: HashSet<Vec<u8>>,
    needed: HashSet<Vec<u8>>,
    /// lld and gold: names to which objects refer, only weakly or not.
    weak: HashSet<Vec<u8>>,
    strong: HashSet<Vec<u8>>,
    /// Needed since the last search of an archive.
    fresh: Vec<Vec<u8>>,
    /// mold pulls in members: what they define no longer changes its choice.
    is_marking: bool,
    /// All folders in which the linker looks for libraries are known.
    knows_folders: bool,
    /// The scripts that are being read, each named by the one before it.
    scripts: Vec<PathBuf>,
    /// The number of files that scripts named.
    files_named: usize,
    script_bytes: usize,
    used: used::Remembered,
}

impl<'a> Loader<'a> {
    fn new(linker: Linker, arguments: &'a Arguments, folders: &[PathBuf]) -> Loader<'a> {
        let all = arguments.folders.iter().chain(folders);
        let sysroot = &arguments.sysroot;
        let needed = match linker {
            // It looks for them once it has read all inputs.
            Linker::Lld => HashSet::new(),
            _ => roots(linker, arguments).cloned().collect(),
        };
        Loader {
            linker,
            arguments,
            folders: all.map(|folder| names::below(sysroot, folder)).collect(),
            names: HashMap::new(),
            loaded: Loaded { faults: arguments.faults.clone(), ..Loaded::default() },
            archives: Vec::new(),
            machine: None,
            lazy: HashMap::new(),
            groups: Vec::new(),
            defined: arguments.defined.iter().cloned().collect(),
            own: HashSet::new(),
            weak: HashSet::new(),
            strong: HashSet::new(),
            hidden: HashSet::new(),
            needed,
            fresh: Vec::new(),
            is_marking: false,
            knows_folders: false,
            scripts: Vec::new(),
            files_named: 0,
            script_bytes: 0,
            used: used::Remembered::default(),
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
            Item::Library(name, mode) => self.library(name, *mode, depth),
            Item::StartGroup => self.groups.push(Vec::new()),
            Item::EndGroup => self.end_group(),
        }
    }

    /// Searches the archives of a group until nothing is needed from them.
    fn end_group(&mut self) {
        let group = self.groups.pop().unwrap_or_default();
        // Linkers that remember archives need no groups.
        for _ in 0..ROUNDS {
            if self.linker.remembers_archives() {
                return;
            }
            let before = self.loaded.inputs.len();
            for &archive in &group {
                self.search(archive);
            }
            if self.loaded.inputs.len() == before {
                return;
            }
        }
        self.fault(format!("a group of archives is searched {ROUNDS} times, and no further"));
    }

    fn file(&mut self, path: &Path, mode: Mode, depth: u32) {
        let bytes = match FileBytes::open(path) {
            Ok(bytes) => bytes,
            Err(error) => return self.unopened(ObstacleKind::Unopened, path, &error),
        };
        if mode.binary {
            return;
        }
        if bytes.is_empty() {
            return self.refused(ObstacleKind::Empty, &printable_path(path));
        }
        if sframe_input::archive::is_archive(&bytes) {
            return self.archive(path, bytes, mode);
        }
        if script::is_script(&bytes) {
            self.script_bytes = self.script_bytes.saturating_add(bytes.len());
            if self.script_bytes > SCRIPTS {
                return self.fault(format!("linker scripts have more than {SCRIPTS} bytes"));
            }
            let text = str::from_utf8(&bytes).unwrap_or_default().to_owned();
            if !script::begins(&text) {
                return self.refused(ObstacleKind::of_text(&text), &printable_path(path));
            }
            return self.script(path, &text, mode, depth);
        }
        let (is_compiled, name) = (self.names.contains_key(path), self.called(path));
        if self.is_foreign(&name, Machine::of(&bytes)) {
            return;
        }
        match Object::read(&name, &bytes, &self.arguments.options) {
            Ok(mut object) => {
                if is_compiled && object.input.kind == InputKind::Object {
                    object.input.kind = InputKind::Compiled;
                }
                self.object(path, object, mode);
            }
            Err(Refusal::Obstacle(ObstacleKind::Executable)) if mode.just_symbols => {}
            Err(refusal) => self.unread(refusal, &name),
        }
    }

    fn object(&mut self, path: &Path, mut object: Object, mode: Mode) {
        if mode.just_symbols {
            return self.define(&object.symbols);
        }
        if object.is_program && self.linker.is_gnu_ld() {
            return self.refused(ObstacleKind::Executable, &object.input.name);
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
        self.used.add_script(text);
        self.scripts.push(path.to_owned());
        for part in parts {
            if self.files_named > NAMED {
                break;
            }
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
        self.scripts.pop();
    }

    /// An input that a script names.
    fn named(&mut self, script: &Path, name: &str, mode: Mode, depth: u32) {
        self.files_named = self.files_named.saturating_add(1);
        if self.files_named > NAMED {
            return self.fault(format!("linker scripts name more than {NAMED} files"));
        }
        if let Some(library) = name.strip_prefix("-l") {
            return self.item(&Item::Library(library.into(), mode), depth);
        }
        let (sysroot, folders) = (&self.arguments.sysroot, &self.folders);
        let found = names::in_script(self.linker, sysroot, folders, script, Path::new(name));
        match found {
            Some(path) => self.file(&path, mode, depth),
            None => self.not_found(script, Path::new(name)),
        }
    }

    fn archive(&mut self, path: &Path, bytes: FileBytes, mode: Mode) {
        let archive = Archive::open(self.linker, path, bytes, &mut self.loaded.faults);
        for (name, error) in archive.unopened() {
            self.no_member(name, error, mode);
        }
        for name in archive.truncated() {
            self.truncated_member(name, mode);
        }
        if !archive.has_index() && !mode.whole_archive {
            self.refused(ObstacleKind::NoIndex, &printable_path(path));
        }
        let number = self.archives.len();
        let members = archive.members();
        self.remember(&archive, number);
        self.archives.push(archive);
        self.foreign_members(number);
        if mode.whole_archive {
            for member in 0..members {
                self.pull(number, member, None);
                self.pull_lazy();
            }
            return;
        }
        if let Some(group) = self.groups.last_mut() {
            group.push(number);
        }
        match self.linker {
            // What is needed already comes from this archive.
            Linker::Lld => {
                self.fresh = self.needed_from(number);
                self.pull_lazy();
            }
            // It chooses members once it has seen all inputs.
            Linker::Mold => {}
            _ => self.search(number),
        }
    }

    /// What an archive defines of what is needed, in the order of its members.
    fn needed_from(&self, number: usize) -> Vec<Vec<u8>> {
        let archive = self.archives.get(number);
        let wanted = archive.map(|archive| archive.wanted(self.needed.iter()));
        wanted.unwrap_or_default().into_values().collect()
    }

    /// Pulls in the members of an archive that define what is needed, and those that these need: in the order of the
    /// archive's symbols, again and again.
    fn search(&mut self, number: usize) {
        let Some(archive) = self.archives.get(number) else { return };
        let symbols = archive.symbols();
        for _ in 0..ROUNDS {
            let before = self.loaded.inputs.len();
            for (name, member) in symbols.iter() {
                if self.needed.contains(name) {
                    self.pull(number, *member, Some(name));
                }
            }
            if self.loaded.inputs.len() == before {
                return;
            }
        }
        self.fault(format!("an archive is searched {ROUNDS} times, and no further"));
    }

    fn pull(&mut self, archive: usize, member: usize, needed: Option<&[u8]>) {
        if self.is_foreign_member(archive, member) {
            return;
        }
        let options = &self.arguments.options;
        let Some(archive) = self.archives.get_mut(archive) else { return };
        let Some(read) = archive.pull(member, options) else { return };
        match read {
            Ok(mut object) => {
                object.input.kind = match object.input.kind {
                    InputKind::Object => InputKind::Member,
                    other => other,
                };
                object.input.pulled_by = needed.map(sframe_record::text::printable);
                self.add(object);
            }
            Err((name, Refusal::Obstacle(ObstacleKind::NotElf))) if needed.is_none() => {
                self.refused_member(ObstacleKind::MemberNotElf, &name);
            }
            Err((name, refusal)) => self.fault(format!("{name}: {refusal}")),
        }
    }

    fn add(&mut self, mut object: Object) {
        if self.loaded.inputs.len() >= MOST {
            return self.fault(format!("there are more than {MOST} inputs"));
        }
        let is_shared = object.input.kind == InputKind::Shared;
        if is_shared && self.linker == Linker::Lld {
            // What a shared object needs comes first in its table of symbols.
            self.need(&object);
            self.pull_lazy();
        }
        if is_shared && self.linker == Linker::Mold {
            self.remember_shared(&object.symbols);
        } else if !self.is_marking {
            self.define(&object.symbols);
        }
        if !is_shared {
            self.own.extend(object.symbols.defined.iter().cloned());
            self.hidden.extend(object.symbols.hidden.iter().cloned());
        }
        self.need(&object);
        if self.arguments.options.gc_sections {
            self.used.add(&mut object);
        }
        self.loaded.inputs.push(object.input);
    }

    fn need(&mut self, object: &Object) {
        let is_shared = object.input.kind == InputKind::Shared;
        for name in &object.symbols.needed {
            let name = names::wrapped(&self.arguments.wrapped, name);
            let is_weak = is_shared && self.weak.contains(&name) && !self.lazy.contains_key(&name);
            if is_weak || self.defined.contains(&name) {
                continue;
            }
            if !is_shared {
                self.weak.remove(&name);
                self.strong.insert(name.clone());
            }
            if self.needed.insert(name.clone()) {
                self.fresh.push(name);
            }
        }
        if matches!(self.linker, Linker::Lld | Linker::Gold) && !is_shared {
            self.need_weakly(&object.symbols.weakly_needed);
        }
    }

    /// In lld and gold, weak references of objects count more than other ones of shared objects.
    fn need_weakly(&mut self, names: &[Vec<u8>]) {
        for name in names.iter().filter(|name| !self.strong.contains(*name)) {
            if self.linker == Linker::Lld {
                self.needed.remove(name);
            }
            if !self.needed.contains(name) {
                self.weak.insert(name.clone());
            }
        }
    }

    fn define(&mut self, symbols: &Symbols) {
        for name in &symbols.defined {
            self.needed.remove(name);
            self.defined.insert(name.clone());
        }
    }
}
