//! See [`sframe_fuzz::targets::cfi`].

#![cfg_attr(fuzzing, no_main)]

sframe_fuzz::program!(sframe_fuzz::targets::cfi::run);
