//! Stacks on which the witnesses part, and rules of consumers that lead to wrong frames.

use std::path::PathBuf;

use serde_json::Value;
use sframe_corpus::{folder, program};

use super::cores::{build, core_by_gdb, has_tools};
use super::{FrameAt, frames, gdb, walk};

/// A core dump, and gdb's frames.
fn core(name: &str, what: &str) -> Option<(PathBuf, String, Vec<FrameAt>)> {
    let folder = folder!(name);
    if !has_tools() {
        return None;
    }
    let program = build(&folder, "2.47.50", &["-O1", "-fno-omit-frame-pointer"])?;
    let core = core_by_gdb(&program, what);
    let expected = gdb::backtraces("gdb", &program, &core).remove(0).1;
    Some((folder, core.to_str().expect("text").to_owned(), expected))
}

/// GNU as writes CFA = rbp+8 for a function in which the CFA is rbp+16: there SFrame finds the saved FP instead of the
/// return address.
#[test]
fn the_first_different_frame_is_explained() {
    let Some((folder, core, expected)) = core("walk-misread", "misread") else { return };
    let (status, walks) = walk(&folder, &[&core]);
    assert_eq!(status, 1);
    let thread = &walks["threads"][0];
    assert_eq!((&thread["verdict"], &thread["parted"]), (&"different".into(), &1.into()));
    assert_eq!(frames(thread, "cfi"), expected);
    // The innermost frame, and this one, where CFI and the machine code agree.
    assert_eq!((&thread["compared"], &thread["alone"]), (&2.into(), &"sframe".into()));
    // objdump shows the call at misread+4.
    let text = thread["instruction"]["text"].as_str().expect("text");
    assert!(text.starts_with("call 0x"), "{text}");
    let witnesses = thread["frames"][1]["witnesses"].as_array().expect("witnesses");
    let [sframe, cfi, code] = &witnesses[..] else { panic!("{witnesses:?}") };
    // The machine code says that SFrame is wrong.
    assert_eq!(
        (&code["row"]["cfa"], &code["caller"]["pc"]),
        (&"rsp+16".into(), &cfi["caller"]["pc"])
    );
    assert_eq!((&sframe["symbol"], &sframe["symbol_offset"]), (&"misread".into(), &9.into()));
    let cfas = [sframe, cfi].map(|frame| frame["row"]["cfa"].clone());
    assert_eq!(cfas, [Value::from("rbp+8"), "rbp+16".into()]);
    assert_eq!(cfi["caller"]["pc"], expected[2].pc);
    // The compiler keeps a frame pointer in `main`, whose value SFrame takes for the return address.
    assert_eq!(sframe["caller"]["pc"], cfi["caller"]["fp"]);
    let last = frames(thread, "sframe").last().cloned().expect("a frame");
    assert_eq!(sframe["caller"]["pc"], last.pc);
    let run = program::run(&folder, &["walk", core.as_str()]);
    assert_eq!(run.status, 1);
    let (pc, sp) = (&last.pc, &last.sp);
    for part in [
        "  they part at #1, about its caller:\n".to_owned(),
        format!(": {text}\n"),
        "    SFrame is wrong: CFI and the machine code find the same caller\n".to_owned(),
        "; two witnesses or more agree about the callers of 2; only SFrame differs at #1"
            .to_owned(),
        format!("            caller PC={pc}  SP={sp}  FP="),
        format!(
            "  SFrame goes on to\n    #2  {pc}  ?  ?  the memory at this address is not executable\n"
        ),
        "  CFI goes on to\n    #2  ".to_owned(),
    ] {
        assert!(run.text.contains(&part), "{part}\n{}", run.text);
    }
}

/// After a call that does not return, the return address belongs to the next function. A consumer that looks it up
/// finds the wrong row: both witnesses lead it to the same wrong frame.
#[test]
fn a_return_address_is_not_in_the_call() {
    let Some((folder, core, expected)) = core("walk-last-call", "last-call") else { return };
    let (status, walks) = walk(&folder, &[&core]);
    assert_eq!((status, frames(&walks["threads"][0], "sframe")), (0, expected.clone()));
    let (status, walks) = walk(&folder, &["--lookup", "return-address", &core]);
    let thread = &walks["threads"][0];
    let found = frames(thread, "sframe");
    // The row of the next function says CFA = SP+8, where the frame has 32 bytes.
    let number = |text: &str| u64::from_str_radix(&text[2..], 16).expect("hexadecimal");
    assert_eq!(found[..2], expected[..2]);
    assert_eq!(number(&found[2].sp), number(&expected[1].sp) + 8);
    assert_eq!(number(&expected[2].sp), number(&expected[1].sp) + 32);
    let witnesses = thread["frames"][1]["witnesses"].as_array().expect("witnesses");
    let names: Vec<&Value> = witnesses.iter().map(|frame| &frame["witness"]).collect();
    assert_eq!(names, ["sframe", "cfi", "code"]);
    for frame in witnesses {
        assert_eq!((&frame["symbol"], &frame["looked_up"]), (&"comes_after".into(), &frame["pc"]));
        // By the byte before it, every witness finds gdb's next frame.
        let by_call = &frame["by_call"];
        assert_eq!(by_call["symbol"], "ends_with_call");
        let caller = &by_call["caller"];
        assert_eq!(
            (&caller["pc"], &caller["sp"]),
            (&expected[2].pc.clone().into(), &expected[2].sp.clone().into())
        );
    }
    // All witnesses agree about a frame that does not exist: that is no agreement.
    assert_eq!((status, &thread["verdict"], &thread["astray"]), (1, &"astray".into(), &1.into()));
    assert_eq!((&thread["compared"], &thread["complete"]), (&1.into(), &false.into()));
    let run = program::run(&folder, &["walk", "--lookup", "return-address", &core]);
    for part in [
        "the return address belongs to another function than the call\n".to_owned(),
        format!("    looked up {}, the return address: comes_after, 0x", expected[1].pc),
        "    the byte before it is in the call: ends_with_call+0x8, 0x".to_owned(),
        format!("            caller PC={}  SP={}", expected[2].pc, expected[2].sp),
        "; the witnesses agree about the callers of 1, then the walk goes astray".to_owned(),
    ] {
        assert!(run.text.contains(&part), "{part}\n{}", run.text);
    }
}

/// Where the row of the return address has the same frame as that of the call, a consumer that looks up the return
/// address is right.
#[test]
fn most_return_addresses_have_the_frame_of_the_call() {
    let Some((folder, core, expected)) = core("walk-by-address", "leaf") else { return };
    let (status, walks) = walk(&folder, &["--lookup", "return-address", &core]);
    let thread = &walks["threads"][0];
    assert_eq!((status, frames(thread, "cfi")), (0, expected));
    assert!(!walks.to_string().contains("by_call"), "{walks}");
}

/// libc has no SFrame section: without the help of CFI, the walk ends in its first frame.
#[test]
fn rules_of_consumers_end_walks() {
    let Some((folder, core, expected)) = core("walk-gap", "handler") else { return };
    let (status, walks) = walk(&folder, &["--gaps", "stop", &core]);
    let thread = &walks["threads"][0];
    assert_eq!((status, frames(thread, "cfi")), (0, expected.clone()));
    let found = frames(thread, "sframe");
    assert!(found.len() < expected.len() && found.len() > 6);
    assert_eq!(found, expected[..found.len()]);
    let level = &thread["frames"][found.len() - 1];
    assert_eq!(level["witnesses"][0]["end"], "the file has no such section");
    assert!(level["witnesses"][0]["file"].as_str().expect("a file").contains("libc"));
    let (status, walks) = walk(&folder, &["--sp-alignment", "4096", &core]);
    let first = &walks["threads"][0]["frames"][0]["witnesses"][0]["end"];
    let reason = format!("SP of the caller, {}, is not aligned to 4096 bytes", expected[1].sp);
    assert_eq!((status, first), (2, &reason.into()));
    // The psABI aligns SP to 16 bytes at calls.
    let (status, walks) = walk(&folder, &["--sp-alignment", "16", &core]);
    assert_eq!((status, frames(&walks["threads"][0], "cfi")), (0, expected.clone()));
    let (status, walks) = walk(&folder, &["--max-frames", "5", &core]);
    let found = frames(&walks["threads"][0], "cfi");
    assert_eq!((status, found), (2, expected[..5].to_vec()));
    let last = &walks["threads"][0]["frames"][4]["witnesses"][1]["end"];
    assert_eq!(last, "the walk is limited to 5 frames (--max-frames)");
}
