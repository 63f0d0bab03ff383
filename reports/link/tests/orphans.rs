//! GNU ld 2.47.50 with a script that has no place for `.sframe`: it appends sections of the old type beside its own for stubs,
//! without a message or a program header, and merges those of the new type. `readelf` prints what the real link made.

use std::ffi::OsString;
use std::fs;
use std::process::Command;

use sframe_corpus::{corpus, folder, tools};
use sframe_link::{Audit, Linker, SectionType};

#[test]
fn sections_of_the_old_type_are_appended() {
    let folder = folder!("orphans");
    let Some(tools) = tools::toolchain("2.47.50") else { return };
    let script = folder.join("script.lds");
    fs::write(&script, "SECTIONS { .text : { *(.text) } }\n").expect("written");
    for (release, name, expected) in [
        ("2.44", "PROGBITS", SectionType::Progbits),
        ("2.47.50", "GNU_SFRAME", SectionType::GnuSframe),
    ] {
        let object = corpus().join(format!("golden/{release}/x86_64/leaf.o"));
        let arguments: Vec<OsString> =
            vec!["-shared".into(), "-T".into(), script.clone().into(), object.into()];
        let mut command = Command::new(tools.join("ld.bfd"));
        let output = command.args(&arguments).arg("-o").arg(folder.join("out")).output();
        let output = output.expect("the linker runs");
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !printed.contains(".sframe"), "{release}: {printed}");
        let mut readelf = Command::new(tools.join("readelf"));
        let listed = readelf.args(["-SlW"]).arg(folder.join("out")).output().expect("it runs");
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        let section = listed.lines().find(|line| line.contains(" .sframe ")).expect("a section");
        assert!(section.contains(name), "{release}: {section}");
        let has_segment = listed.lines().any(|line| line.trim_start().starts_with("GNU_SFRAME"));
        let prediction = Audit::of_inputs(Linker::Ld247, &arguments).prediction;
        let types: Vec<SectionType> =
            prediction.sections.iter().map(|section| section.section_type).collect();
        assert_eq!((types, prediction.status), (vec![expected], Some(0)), "{release}");
        assert_eq!(prediction.segment, has_segment, "{release}");
        assert_eq!(prediction.messages, [""; 0], "{release}");
    }
}

/// A section without bytes is left out, unless sections are not laid out (`-r`).
#[test]
fn empty_sections_remain_in_relocatable_output_alone() {
    let folder = folder!("empty-orphans");
    let Some(tools) = tools::toolchain("2.47.50") else { return };
    let (script, source, object) =
        (folder.join("script.lds"), folder.join("empty.s"), folder.join("empty.o"));
    fs::write(&script, "SECTIONS { .text : { *(.text) } }\n").expect("written");
    fs::write(&source, "nop\n.section .sframe,\"a\",@0x6ffffff4\n").expect("written");
    let status = Command::new(tools.join("as")).arg(&source).arg("-o").arg(&object).status();
    assert!(status.expect("the assembler runs").success());
    for (output, remains) in [("-shared", false), ("-static", false), ("-r", true)] {
        let arguments: Vec<OsString> =
            vec![output.into(), "-T".into(), script.clone().into(), object.clone().into()];
        let out = folder.join("out");
        let status =
            Command::new(tools.join("ld.bfd")).args(&arguments).arg("-o").arg(&out).status();
        assert!(status.expect("the linker runs").success(), "{output}");
        let listed = Command::new(tools.join("readelf")).arg("-SW").arg(&out).output();
        let listed = String::from_utf8_lossy(&listed.expect("it runs").stdout).into_owned();
        assert_eq!(listed.contains(" .sframe "), remains, "{output}: {listed}");
        let prediction = Audit::of_inputs(Linker::Ld247, &arguments).prediction;
        assert_eq!(prediction.sections.len(), usize::from(remains), "{output}");
    }
}
