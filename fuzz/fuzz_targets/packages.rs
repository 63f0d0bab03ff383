//! See [`sframe_fuzz::targets::packages`].

#![cfg_attr(fuzzing, no_main)]

sframe_fuzz::program!(sframe_fuzz::targets::packages::run);
