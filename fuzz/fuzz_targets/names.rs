//! See [`sframe_fuzz::targets::names`].

#![cfg_attr(fuzzing, no_main)]

sframe_fuzz::program!(sframe_fuzz::targets::names::run);
