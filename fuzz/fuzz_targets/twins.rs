//! See [`sframe_fuzz::targets::twins`].

#![cfg_attr(fuzzing, no_main)]

sframe_fuzz::program!(sframe_fuzz::targets::twins::run);
