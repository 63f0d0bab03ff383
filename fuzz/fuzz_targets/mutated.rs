//! See [`sframe_fuzz::targets::mutated`].

#![cfg_attr(fuzzing, no_main)]

sframe_fuzz::program!(sframe_fuzz::targets::mutated::run);
