//! See [`sframe_fuzz::targets::files`].

#![cfg_attr(fuzzing, no_main)]

sframe_fuzz::program!(sframe_fuzz::targets::files::run, mutator);
