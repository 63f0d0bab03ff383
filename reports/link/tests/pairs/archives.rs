//! Members of archives: the linkers' messages name them in other ways than objects.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use sframe_link::Linker;

use crate::objects::{self, Kind, Machine};
use crate::special::{FIRST, SECOND, differences, input, none, prepare, run};
use crate::{TOOLS, Tool};

/// Every pair of kinds, the second in an archive from which the first pulls it.
#[test]
fn pairs_with_an_archive() {
    let Some((folder, readers)) = prepare("archive-pairs") else { return };
    for kind in Kind::ALL {
        let name = kind.name();
        run(&folder, "2.44", "ar", &["rc", &format!("lib{name}.a"), &format!("second-{name}.o")]);
    }
    let mut faults = Vec::new();
    for tool in &TOOLS {
        for first in Kind::ALL {
            for second in Kind::ALL {
                let pair = [
                    input(format!("first-{}.o", first.name()), FIRST),
                    input(format!("lib{}.a", second.name()), SECOND),
                ];
                faults.extend(differences(tool, &folder, &readers, &["-shared"], &pair));
            }
        }
    }
    none(&faults);
}

/// A source with COMDAT groups, each with some functions. With `file`, the object names its source.
fn groups(groups: usize, functions: usize, file: bool) -> String {
    let mut text = String::new();
    if file {
        text.push_str(".file \"group.c\"\n");
    }
    for group in 0..groups {
        writeln!(text, ".section .text.g{group},\"axG\",@progbits,g{group},comdat").expect("text");
        for function in 0..functions {
            let name = format!("g{group}f{function}");
            writeln!(
                text,
                ".weak {name}\n.type {name},@function\n{name}:\n.cfi_startproc\nnop\nret\n.cfi_endproc\n\
                 .size {name},.-{name}"
            )
            .expect("text");
        }
    }
    text + ".section .note.GNU-stack,\"\",@progbits\n"
}

/// Objects with the same groups, and archives of the second one.
fn make(folder: &Path, kind: Kind, text: &str, name: &str) {
    let source = folder.join("groups.s");
    fs::write(&source, text).expect("written");
    for place in ["a", "b"] {
        let object = folder.join(format!("{place}-{name}.o"));
        objects::assemble(&source, &object, Machine::Amd64, kind).expect("checked");
    }
    run(folder, "2.44", "ar", &["rc", &format!("lib{name}.a"), &format!("b-{name}.o")]);
    run(folder, "2.44", "ar", &["rcT", &format!("libthin-{name}.a"), &format!("b-{name}.o")]);
}

/// The linkers that do not know the section.
fn ignorant() -> impl Iterator<Item = &'static Tool> {
    TOOLS.iter().filter(|tool| matches!(tool.linker, Linker::Gold | Linker::Lld))
}

/// Dropped groups to which one, three or five functions refer: lld lists three places for each.
#[test]
fn dropped_groups_of_members() {
    let Some((folder, readers)) = prepare("archive-groups") else { return };
    let mut faults = Vec::new();
    for kind in [Kind::V1, Kind::V2, Kind::V2PcRelative, Kind::Llvm, Kind::V3] {
        for (functions, file) in [(1, false), (1, true), (3, true), (5, false), (5, true)] {
            let name = format!("{}-{functions}-{file}", kind.name());
            make(&folder, kind, &groups(2, functions, file), &name);
            for tool in ignorant() {
                for second in
                    [format!("b-{name}.o"), format!("lib{name}.a"), format!("libthin-{name}.a")]
                {
                    let inputs = [input(format!("a-{name}.o"), &[]), input(second, &[])];
                    let options = ["-shared", "--whole-archive"];
                    faults.extend(differences(tool, &folder, &readers, &options, &inputs));
                }
            }
        }
    }
    none(&faults);
}

/// lld ends after 20 errors.
#[test]
fn many_dropped_groups() {
    let Some((folder, readers)) = prepare("archive-many") else { return };
    let mut faults = Vec::new();
    for count in [20, 21, 40] {
        let name = format!("many-{count}");
        make(&folder, Kind::V3, &groups(count, 1, true), &name);
        for tool in ignorant() {
            let inputs = [input(format!("a-{name}.o"), &[]), input(format!("lib{name}.a"), &[])];
            let options = ["-shared", "--whole-archive"];
            faults.extend(differences(tool, &folder, &readers, &options, &inputs));
        }
    }
    none(&faults);
}

/// Types that differ, and groups that are dropped, in one link.
#[test]
fn mismatches_and_dropped_groups() {
    let Some((folder, readers)) = prepare("archive-mixed") else { return };
    let mut faults = Vec::new();
    for kind in [Kind::V2, Kind::V3] {
        make(&folder, kind, &groups(2, 2, true), kind.name());
    }
    for tool in &TOOLS {
        let inputs = [input("a-V3.o", &[]), input("libV2.a", &[])];
        let options = ["-shared", "--whole-archive"];
        faults.extend(differences(tool, &folder, &readers, &options, &inputs));
    }
    none(&faults);
}
