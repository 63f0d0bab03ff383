//! Imports between the files of a package form no cycles, except between a module and its own children, and top-level
//! modules import only from lower layers.
//!
//! Imports are read from the text: `use` items, and paths in the code that start with `crate`, `super`, `self` or a
//! child module. Importing a name that a module re-exports counts as importing from the module that defines it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use sframe_corpus::repository;

use super::files;

/// The path of a module within its package; empty for `lib.rs`.
type Module = Vec<String>;

/// A module and a name in it.
type Item = (Module, Option<String>);

const PACKAGES: [&str; 23] = [
    "validator",
    "oracle",
    "reports/record",
    "reports/input",
    "reports/store",
    "reports/history",
    "reports/defects",
    "reports/policy",
    "reports/synthesis",
    "reports/repair",
    "reports/link",
    "reports/conformance",
    "reports/consumers",
    "reports/html",
    "reports/harness",
    "reports/reduce",
    "reports/process",
    "reports/scan",
    "reports/render",
    "reports/program",
    "fuzz/mutate",
    "fuzz",
    "corpus",
];

#[test]
fn files_do_not_import_each_other_in_cycles() {
    for package in PACKAGES {
        let graph = Package::read(&repository().join(package).join("src")).graph();
        let cycle = cycle(&graph);
        assert!(
            cycle.is_empty(),
            "{package}/src: these files import each other: move what they share to a file of its own: {}",
            cycle.iter().map(|module| module.join("::")).collect::<Vec<_>>().join(" -> ")
        );
    }
}

/// The layers of a package, which are its top-level modules. Each imports only from those before it.
const LAYERS: [(&str, &[&str]); 7] = [
    (
        "validator",
        &[
            "abi", "text", "unwind", "section", "page", "elf", "finding", "subject", "rules",
            "check", "write",
        ],
    ),
    (
        "oracle",
        &[
            "cfi",
            "orc",
            "witness",
            "code",
            "coverage",
            "compare",
            "rules",
            "account",
            "diff",
            "debug_file",
        ],
    ),
    ("reports/history", &["shape", "report", "changes", "compare", "groups", "identity"]),
    ("reports/harness", &["limited", "torture", "reassemble"]),
    (
        "reports/process",
        &[
            "auxv",
            "build_id",
            "error",
            "files",
            "memory",
            "statement",
            "modules",
            "walk",
            "core_dump",
            "live",
            "ptrace",
            "trace",
        ],
    ),
    (
        "reports/scan",
        &[
            "disassembly",
            "describe",
            "options",
            "order",
            "held",
            "not_comparable",
            "tables",
            "call_sites",
            "elf_file",
            "compare",
            "traits",
            "forecast",
            "readings",
            "useless",
            "piece",
            "verdict",
            "link_inputs",
            "file",
            "package",
            "seen",
            "check",
            "judged",
            "stored",
        ],
    ),
    (
        "reports/render",
        &[
            "near",
            "function_name",
            "why",
            "report",
            "explain",
            "dump",
            "diff",
            "lookup",
            "walk",
            "trace",
            "size",
            "conformance",
        ],
    ),
];

#[test]
fn imports_follow_the_order_of_layers() {
    for (package, layers) in LAYERS {
        let package_files = Package::read(&repository().join(package).join("src"));
        let place = |module: &Module| {
            let layer = module.first()?;
            let place = layers.iter().position(|known| known == layer);
            assert!(place.is_some(), "{package}/src/{layer}: add this module to `LAYERS`");
            place
        };
        package_files.files.keys().for_each(|module| _ = place(module));
        let graph = package_files.graph();
        let wrong = wrong_way(&graph, place);
        assert!(
            wrong.is_empty(),
            "{package}/src: imports from a later layer: move what is needed to an earlier one: {wrong:?}"
        );
    }
}

/// The imports from a later layer.
fn wrong_way(
    graph: &BTreeMap<Module, BTreeSet<Module>>,
    place: impl Fn(&Module) -> Option<usize>,
) -> Vec<(&Module, &Module)> {
    let imports = graph.iter().flat_map(|(from, to)| to.iter().map(move |to| (from, to)));
    imports.filter(|(from, to)| place(from) < place(to)).collect()
}

#[test]
fn an_import_from_a_later_layer_is_found() {
    let module = |name: &str| vec![name.to_owned()];
    let package = Package {
        files: BTreeMap::from([
            (module("reader"), "use crate::rules::Rule;".to_owned()),
            (module("rules"), String::new()),
        ]),
    };
    let place = |module: &Module| ["reader", "rules"].iter().position(|layer| *layer == module[0]);
    assert_eq!(wrong_way(&package.graph(), place), [(&module("reader"), &module("rules"))]);
}

#[test]
fn a_cycle_is_found() {
    let text = |text: &str| text.to_owned();
    let package = Package {
        files: BTreeMap::from([
            (vec![], text("mod a; mod b; mod c;")),
            (vec![text("a")], text("use crate::c::Name;")),
            (vec![text("b")], text("fn f() { super::a::g() }")),
            (vec![text("c")], text("pub use crate::b::{self, Name};")),
        ]),
    };
    // `a` imports a name from `c`, which re-exports it from `b`, and `b` imports from `a`.
    assert_eq!(cycle(&package.graph()).len(), 2);
    let straight = Package {
        files: BTreeMap::from([
            (vec![text("a")], text("mod child; use self::child::Name;")),
            (vec![text("a"), text("child")], text("use super::Other;")),
        ]),
    };
    assert!(cycle(&straight.graph()).is_empty());
}

struct Package {
    files: BTreeMap<Module, String>,
}

impl Package {
    fn read(source: &Path) -> Package {
        let mut paths = Vec::new();
        files(source, "rs", &mut paths);
        let mut files = BTreeMap::new();
        for path in paths {
            let relative = path.strip_prefix(source).expect("below it").with_extension("");
            let mut module: Module =
                relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            if module.last().is_some_and(|last| last == "mod" || last == "lib") {
                module.pop();
            }
            if !module.iter().any(|part| part == "tests") {
                files.insert(module, code(&fs::read_to_string(&path).expect("text")));
            }
        }
        Package { files }
    }

    /// The files that each file imports from.
    fn graph(&self) -> BTreeMap<Module, BTreeSet<Module>> {
        let mut exports: BTreeMap<Item, Item> = BTreeMap::new();
        let mut uses: Vec<(Module, Item)> = Vec::new();
        for (module, text) in &self.files {
            let mut rest = String::new();
            for (number, statement) in text.split(';').enumerate() {
                let Some((before, tree)) = use_item(statement) else {
                    rest.push_str(if number > 0 { ";" } else { "" });
                    rest.push_str(statement);
                    continue;
                };
                rest.push_str(before);
                let public = before.trim_end().ends_with("pub") || before.trim_end().ends_with(')');
                for path in expanded(tree) {
                    let Some(item) = self.resolved(module, &path) else { continue };
                    if let (true, Some(name)) = (public, &item.1) {
                        exports.insert((module.clone(), Some(name.clone())), item.clone());
                    }
                    uses.push((module.clone(), item));
                }
            }
            let items = paths(&rest).into_iter().filter_map(|path| self.resolved(module, &path));
            uses.extend(items.map(|item| (module.clone(), item)));
        }
        let mut graph: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
        for (module, mut item) in uses {
            for _ in 0..10 {
                match exports.get(&item) {
                    Some(further) => item = further.clone(),
                    None => break,
                }
            }
            let target = item.0;
            let related = target.starts_with(&module) || module.starts_with(&target);
            if !related {
                graph.entry(module).or_default().insert(target);
            }
        }
        graph
    }

    /// The file that a path refers to, and the name in it.
    fn resolved(&self, module: &Module, path: &str) -> Option<Item> {
        let mut parts = path.split("::").map(str::trim).peekable();
        let mut base = match *parts.peek()? {
            "crate" => {
                parts.next();
                Vec::new()
            }
            "self" => {
                parts.next();
                module.clone()
            }
            "super" => {
                let mut base = module.clone();
                while parts.next_if_eq(&"super").is_some() {
                    base.pop();
                }
                base
            }
            first => {
                let child = [module.as_slice(), &[first.to_owned()]].concat();
                self.files.contains_key(&child).then(|| module.clone())?
            }
        };
        loop {
            let Some(part) = parts.peek() else { return Some((base, None)) };
            let child = [base.as_slice(), &[(*part).to_owned()]].concat();
            if !self.files.contains_key(&child) {
                return Some((base, Some((*part).to_owned())));
            }
            base = child;
            parts.next();
        }
    }
}

/// A file's code without comments, string literals and unit tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let mut out = String::new();
    for line in text.lines() {
        let mut quoted = false;
        let mut last = ' ';
        for character in line.chars() {
            match character {
                '"' if last != '\\' && last != '\'' => quoted = !quoted,
                '/' if last == '/' && !quoted => {
                    out.pop();
                    break;
                }
                _ if quoted => {}
                _ => out.push(character),
            }
            last = character;
        }
        out.push('\n');
    }
    out
}

/// Splits a statement that ends in `use TREE` into the text before it and the tree.
fn use_item(statement: &str) -> Option<(&str, &str)> {
    let place = statement.rfind("use ")?;
    let (before, tree) = statement.split_at(place);
    let alone = before.chars().next_back().is_none_or(char::is_whitespace);
    let tree = tree.strip_prefix("use ")?;
    // Text with these characters is code, not the tree of a `use` item.
    (alone && !tree.contains(['(', '=', '<'])).then_some((before, tree))
}

/// Expands `a::{b, c::d}` to `a::b` and `a::c::d`.
fn expanded(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((front, rest)) = tree.split_once('{') else {
        return vec![tree.split(" as ").next().unwrap_or_default().trim().to_owned()];
    };
    let inside = rest.rsplit_once('}').map_or(rest, |(inside, _)| inside);
    let (mut found, mut depth, mut start) = (Vec::new(), 0, 0);
    for (place, character) in inside.char_indices().chain([(inside.len(), ',')]) {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let part = inside[start..place].trim();
                if !part.is_empty() {
                    found.extend(
                        expanded(part).iter().map(|path| format!("{}{path}", front.trim())),
                    );
                }
                start = place + 1;
            }
            _ => {}
        }
    }
    found
}

/// The paths in the code that have at least two parts.
fn paths(code: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let words = code.split(|c: char| !is_part(c)).filter(|word| word.contains("::"));
    words.map(|word| word.trim_matches(':').to_owned()).collect()
}

/// The modules of an import cycle, or nothing if there is none.
fn cycle(graph: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<Module> {
    for start in graph.keys() {
        let mut seen = BTreeSet::new();
        let mut stack = vec![vec![start.clone()]];
        while let Some(path) = stack.pop() {
            for next in graph.get(&path[path.len() - 1]).into_iter().flatten() {
                if next == start {
                    return path;
                }
                if seen.insert(next.clone()) {
                    stack.push([path.as_slice(), std::slice::from_ref(next)].concat());
                }
            }
        }
    }
    Vec::new()
}
