//! Linker scripts that keep, move or discard the section.

use std::fs;
use std::path::Path;

use super::Case;
use crate::random::entropy::Entropy;

/// Scripts, by name.
const SCRIPTS: [(&str, &str); 12] = [
    ("kept", "SECTIONS { .text : { *(.text*) } .sframe : { *(.sframe) } .data : { *(.data*) } }"),
    ("kept-all", "SECTIONS { .text : { *(.text .text.*) } .sframe : { *(.sframe) *(.sframe.*) } }"),
    ("keep", "SECTIONS { .text : { *(.text .text.*) } .sframe : { KEEP(*(.sframe)) } }"),
    ("orphan", "SECTIONS { .text : { *(.text .text.*) } .data : { *(.data) } }"),
    (
        "moved",
        "SECTIONS { .text : { *(.text*) } .rodata : { *(.rodata* .eh_frame .sframe) } .data : { *(.data* .got*) } }",
    ),
    ("own-name", "SECTIONS { .text : { *(.text .text.*) } .stack_trace : { *(.sframe) } }"),
    ("glob", "SECTIONS { .text : { *(.text .text.*) } .rest : { *(.sf*) } }"),
    (
        "after",
        "SECTIONS { .text : { *(.text*) } .sframe : { *(.sframe) } .rodata : { *(.rodata* .sframe) } }",
    ),
    (
        "discarded",
        "SECTIONS { .text : { *(.text*) } /DISCARD/ : { *(.sframe) *(.eh_frame) *(.note*) } }",
    ),
    ("discarded-glob", "SECTIONS { /DISCARD/ : { *(.sframe*) } .text : { *(.text*) } }"),
    (
        "discarded-late",
        "SECTIONS { .text : { *(.text*) } .x : { *(.sframe) } /DISCARD/ : { *(.sframe) } }",
    ),
    ("symbols", "PROVIDE ( fn_nothing = 0 );"),
];

/// Sometimes adds a script (`-T`).
pub(super) fn add(case: &mut Case, folder: &Path, entropy: &mut Entropy) {
    // With a script, the headers may be in no segment, of which position-independent programs complain.
    if !entropy.chance(1, 5) || case.arguments.iter().any(|argument| argument == "-pie") {
        return;
    }
    let (name, text) = *entropy.pick(&SCRIPTS);
    let file = format!("{name}.lds");
    fs::write(folder.join(&file), text).expect("written");
    case.arguments.extend(["-T".to_owned(), file]);
}
