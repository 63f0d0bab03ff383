//! See [`sframe_fuzz::targets::generated`].

#![cfg_attr(fuzzing, no_main)]

sframe_fuzz::program!(sframe_fuzz::targets::generated::run);
