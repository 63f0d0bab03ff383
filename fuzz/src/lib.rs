//! Structure-aware fuzzing of the formats that this project reads: SFrame sections, ELF files, call frame information,
//! packages and stores.
//!
//! Each target in [`targets`] is an ordinary function of bytes that panics if a guarantee is violated. `cargo +nightly
//! fuzz run TARGET` runs it under libFuzzer; `cargo test` runs it on a limited number of inputs and on the checked-in
//! corpus; and its program runs it on files given by name:
//!
//! ```text
//! cargo run --release -p sframe-fuzz --bin bytes -- crash-0123 corpus/malformed/*/*.sframe
//! ```
//!
//! Unlike the libraries that it tests, this crate may panic: that is how it reports violations.

#![forbid(unsafe_code)]

pub mod assembler;
pub mod detection;
pub mod generate;
pub mod peer;
pub mod program;
pub mod seeds;
pub mod standalone;
pub mod targets;
pub mod twin;
pub mod view;

/// The program of a target. Under libFuzzer, this is the function that libFuzzer calls; otherwise, a `main` that runs
/// the target on files and seeded inputs ([`standalone::main`]). With `mutator`, inputs are sections or files, and are
/// mutated with knowledge of their structure ([`sframe_mutate::in_place`]).
#[macro_export]
macro_rules! program {
    ($run:path, mutator) => {
        #[cfg(fuzzing)]
        ::libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
            ::sframe_mutate::in_place(data, size, most, seed)
                .unwrap_or_else(|| ::libfuzzer_sys::fuzzer_mutate(data, size, most))
        });

        $crate::program!($run);
    };
    ($run:path) => {
        #[cfg(fuzzing)]
        ::libfuzzer_sys::fuzz_target!(|data: &[u8]| $run(data));

        #[cfg(not(fuzzing))]
        fn main() -> ::std::process::ExitCode {
            $crate::standalone::main($run)
        }
    };
}
