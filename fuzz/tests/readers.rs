//! Tests of the interface to libsframe, with a section written by hand from the specification, and a section that
//! crashes libsframe.
//!
//! These tests need libsframe 2.44, which `corpus/build` unpacks. Without it, they print a message.

use std::path::PathBuf;

use sframe_corpus::tools;
use sframe_fuzz::peer::{Answer, Failure, Function, Meaning, Peer, Row, Stored, libraries};

/// libsframe from binutils 2.44.
fn peer() -> Option<Peer> {
    let library = libraries().into_iter().find(|path| path.ends_with("libsframe.so.1"));
    if library.is_none() {
        tools::missing("libsframe 2.44", "corpus/build fetch 2.44");
    }
    Some(Peer::new(PathBuf::from(env!("CARGO_BIN_EXE_ask-libsframe")), library?))
}

/// Version 2, AMD64, sorted: a function of 16 bytes, at 0x100 bytes after the section, with two rows.
#[rustfmt::skip]
const SECTION: [u8; 55] = [
    0xe2, 0xde, 2, 0x01, 3, 0, 0xf8, 0, 1, 0, 0, 0, 2, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0,
    0x00, 1, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0,
    0, 0x03, 8,
    4, 0x04, 16, 0xf0,
];

fn row(start: u32, info: u8, words: &str, meaning: (i64, i64, Option<i64>)) -> Row {
    let (base, cfa, fp) = meaning;
    let meaning = Meaning {
        base: Some(base),
        cfa: Some(cfa),
        fp,
        ra: Some(-8),
        mangled: false,
        undefined: false,
    };
    Row { stored: Stored { start, info, words: words.to_owned() }, meaning }
}

fn expected() -> Answer {
    let rows = [row(0, 0x03, "08", (1, 8, None)), row(4, 0x04, "10f0", (0, 16, Some(-16)))];
    Answer {
        api: 2,
        header: Some((3, 0, -8)),
        refused: None,
        functions: vec![Ok(Function {
            start: 0x100,
            size: 16,
            num_fres: 2,
            info: 0,
            info2: 0,
            rep_size: 0,
            rows: rows.iter().cloned().map(Ok).collect(),
        })],
        found: vec![Ok(rows[0].stored.clone()), Ok(rows[1].stored.clone()), Err(-1)],
        overrun: false,
    }
}

#[test]
fn answers_are_parsed() {
    let Some(mut peer) = peer() else { return };
    let answer = peer.ask(&SECTION, &[0x103, 0x104, 0xff]);
    assert_eq!(answer, Ok(expected()));
    let mut refused = SECTION;
    refused[0] = 0;
    let answer = peer.ask(&refused, &[]).expect("survives");
    // SFRAME_ERR_BUF_INVAL.
    assert_eq!((answer.refused, answer.functions), (Some(2003), Vec::new()));
}

#[test]
fn the_next_section_is_read_after_a_crash() {
    let Some(mut peer) = peer() else { return };
    let mut deadly = sframe_corpus::read("regressions/libsframe-copies-rows-past-section.sframe");
    // Make it version 2, without the PC-relative flag, which 2.44 does not know.
    deadly[2..4].copy_from_slice(&[2, 1]);
    for _ in 0..2 {
        assert_eq!(peer.ask(&deadly, &[]), Err(Failure::Crashed(11)));
        assert_eq!(peer.ask(&SECTION, &[0x103, 0x104, 0xff]), Ok(expected()));
    }
}
