//! See [`sframe_fuzz::targets::scans`].

#![cfg_attr(fuzzing, no_main)]

sframe_fuzz::program!(sframe_fuzz::targets::scans::run);
