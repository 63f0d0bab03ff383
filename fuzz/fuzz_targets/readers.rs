//! See [`sframe_fuzz::targets::readers`].

#![cfg_attr(fuzzing, no_main)]

sframe_fuzz::program!(sframe_fuzz::targets::readers::run, mutator);
