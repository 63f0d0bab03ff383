//! The code where a program starts, which comes from the C library's and the compiler's start files.

/// The functions of glibc's and GCC's start files that have CFI.
const START_FILES: [&str; 4] =
    ["_start", "_dl_relocate_static_pie", "__libc_csu_init", "__libc_csu_fini"];

/// Whether a function is one of the start files, by its address and the symbol at its start. `entry` is where the program
/// starts, 0 if that is unknown.
pub(crate) fn is_of_start_files(entry: u64, start: u64, symbol: Option<&[u8]>) -> bool {
    let is_named = |symbol| START_FILES.iter().any(|name| name.as_bytes() == symbol);
    entry != 0 && start == entry || symbol.is_some_and(is_named)
}
