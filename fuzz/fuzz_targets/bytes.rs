//! See [`sframe_fuzz::targets::bytes`].

#![cfg_attr(fuzzing, no_main)]

sframe_fuzz::program!(sframe_fuzz::targets::bytes::run, mutator);
