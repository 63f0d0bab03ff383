//! See [`sframe_fuzz::targets::headers`].

#![cfg_attr(fuzzing, no_main)]

sframe_fuzz::program!(sframe_fuzz::targets::headers::run);
