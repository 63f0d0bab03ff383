//! Stripped programs, whose symbols and CFI are in separate debug files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sframe_corpus::{folder, tools};

use super::cores::{build, core_by_gdb, has_tools};
use super::live::Running;
use super::{frames, gdb, walk};

/// The program is static, so that all its files are one. Its CFI, apart from that of the C library, is in `.debug_frame`.
const OPTIONS: [&str; 5] =
    ["-O1", "-static", "-g", "-fno-asynchronous-unwind-tables", "-fno-dwarf2-cfi-asm"];

fn objcopy(arguments: &[&str]) {
    let output = Command::new("objcopy").args(arguments).output().expect("objcopy runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A stripped program, its debug file, and a core dump.
struct Stripped {
    program: PathBuf,
    debug: PathBuf,
    core: PathBuf,
}

impl Stripped {
    /// `options` are the compiler's, `packing` those of objcopy for the debug file.
    fn new(folder: &Path, options: &[&str], packing: &[&str]) -> Option<Stripped> {
        if !["objcopy", "readelf"].into_iter().all(tools::is_installed) {
            return None;
        }
        let options = [OPTIONS.as_slice(), options].concat();
        let program = build(folder, "2.44", &options)?;
        let debug = folder.join("stacks.debug");
        let (file, separate) = (text(&program), text(&debug));
        objcopy(&[&["--only-keep-debug"], packing, &[&file, &separate]].concat());
        objcopy(&["--strip-all", &format!("--add-gnu-debuglink={separate}"), &file]);
        let core = core_by_gdb(&program, "leaf");
        Some(Stripped { program, debug, core })
    }

    /// The walk of the only thread, with further arguments.
    fn walk(&self, arguments: &[&str]) -> (i32, Value) {
        let mut all = vec![self.core.to_str().expect("text")];
        all.extend_from_slice(arguments);
        walk(self.program.parent().expect("a folder"), &all)
    }

    /// The build-id, in hexadecimal.
    fn build_id(&self) -> String {
        let output = Command::new("readelf").arg("-n").arg(&self.program).output();
        let text = String::from_utf8(output.expect("readelf runs").stdout).expect("text");
        let (_, id) = text.split_once("Build ID: ").expect("a build-id");
        id.split_whitespace().next().expect("a build-id").to_owned()
    }
}

fn text(path: &Path) -> String {
    path.to_str().expect("text").to_owned()
}

/// The names of the functions in a walk.
fn names(walks: &Value) -> Vec<String> {
    let levels = walks["threads"][0]["frames"].as_array().expect("frames").iter();
    levels.map(|level| level["witnesses"][1]["symbol"].as_str().unwrap_or("?").to_owned()).collect()
}

/// The functions of the program itself.
const OWN: [&str; 6] = ["leaf", "recurse", "recurse", "recurse", "recurse", "main"];

#[test]
fn a_debug_file_is_found_by_build_id_below_the_sysroot() {
    for (number, packing) in
        [&["--compress-debug-sections=zlib"][..], &["--decompress-debug-sections"]]
            .iter()
            .enumerate()
    {
        let folder = folder!(&format!("walk-debug-{number}"));
        if !has_tools() {
            return;
        }
        let Some(stripped) = Stripped::new(&folder, &["-Wl,--build-id"], packing) else { return };
        let root = folder.join("root");
        let id = stripped.build_id();
        let named = root.join("usr/lib/debug/.build-id").join(&id[..2]);
        fs::create_dir_all(&named).expect("a folder");
        let below = root.join(stripped.program.strip_prefix("/").expect("an absolute path"));
        fs::create_dir_all(below.parent().expect("a folder")).expect("a folder");
        fs::copy(&stripped.program, below).expect("a copy");
        // Elsewhere it is not found: neither by its name beside the program nor by the build-id.
        let moved = named.join(format!("{}.debug", &id[2..]));
        fs::rename(&stripped.debug, &moved).expect("a debug file");
        let (_, without) = stripped.walk(&[]);
        assert_eq!(names(&without)[0], "?");

        let (status, walks) = stripped.walk(&["--sysroot", root.to_str().expect("text")]);
        let folder = root.join("usr/lib/debug");
        let expected = gdb::names("gdb", &folder, &stripped.program, &stripped.core);
        assert_eq!(expected[..6], OWN);
        assert_eq!(names(&walks), expected);
        // The functions have no CFI but that in the debug file.
        fs::rename(&moved, &stripped.debug).expect("where gdb finds it");
        let backtrace = gdb::backtraces("gdb", &stripped.program, &stripped.core).remove(0).1;
        assert_eq!((status, frames(&walks["threads"][0], "cfi")), (0, backtrace.clone()));
        for level in 0..6 {
            let cfi = &walks["threads"][0]["frames"][level]["witnesses"][1];
            assert!(cfi["row"].is_object(), "{cfi}");
        }
        println!("{} frames", backtrace.len());
    }
}

#[test]
fn a_debug_file_is_found_by_its_link() {
    let folder = folder!("walk-debug-link");
    if !has_tools() {
        return;
    }
    let Some(stripped) = Stripped::new(&folder, &["-Wl,--build-id=none"], &[]) else { return };
    let (status, walks) = stripped.walk(&[]);
    let expected = gdb::names("gdb", &folder, &stripped.program, &stripped.core);
    assert_eq!((status, &names(&walks)), (0, &expected));
    assert_eq!(expected[..6], OWN);
    let hidden = folder.join(".debug");
    fs::create_dir_all(&hidden).expect("a folder");
    fs::rename(&stripped.debug, hidden.join("stacks.debug")).expect("a debug file");
    assert_eq!(names(&stripped.walk(&[]).1), expected);

    // A file with the right name that is another one is refused, and the report says so.
    let debug = hidden.join("stacks.debug");
    let mut bytes = fs::read(&debug).expect("readable");
    *bytes.last_mut().expect("bytes") ^= 1;
    fs::write(&debug, bytes).expect("written");
    let (status, walks) = stripped.walk(&[]);
    let reason = walks["undecided"][0].as_str().expect("a reason");
    assert!(reason.contains("stacks.debug is not its debug file: its checksum is"), "{reason}");
    assert_eq!((status, names(&walks)[0].as_str()), (2, "?"));
}

/// Rows and names are those below the sysroot, although they come from another folder, in which a core dump's file is found, and a process's.
#[test]
fn a_debug_file_is_found_below_a_given_folder() {
    let folder = folder!("walk-debug-dir");
    if !has_tools() {
        return;
    }
    let Some(stripped) = Stripped::new(&folder, &["-Wl,--build-id"], &[]) else { return };
    let id = stripped.build_id();
    let debug = folder.join("debug");
    let named = debug.join(".build-id").join(&id[..2]);
    fs::create_dir_all(&named).expect("a folder");
    fs::rename(&stripped.debug, named.join(format!("{}.debug", &id[2..]))).expect("moved");
    assert_eq!(names(&stripped.walk(&[]).1)[0], "?");

    let option = ["--debug-dir", debug.to_str().expect("text")];
    let (status, walks) = stripped.walk(&option);
    let expected = gdb::names("gdb", &debug, &stripped.program, &stripped.core);
    assert_eq!((status, &names(&walks)), (0, &expected));
    assert_eq!(expected[..6], OWN);
    assert!(
        (0..6).all(|level| {
            walks["threads"][0]["frames"][level]["witnesses"][1]["row"].is_object()
        })
    );

    let running = Running::waiting(&stripped.program);
    let pid = running.id().to_string();
    let names_of =
        |arguments: &[&str]| names(&walk(&folder, &[&["--pid", &pid], arguments].concat()).1);
    assert!(!names_of(&[]).contains(&"wait_for_ever".to_owned()));
    let found = names_of(&option);
    assert_eq!(found.iter().filter(|name| *name == "wait_for_ever").count(), 6, "{found:?}");
    assert!(found.contains(&"main".to_owned()), "{found:?}");
}
