//! The names of functions that never return, for calls of functions in other files. Of functions in the same file, the code
//! itself says whether they return.

/// Functions of the C library and of its start code (ISO C, POSIX, LSB 5.0, glibc, musl), the psABI's unwinder, the C++ ABI
/// (Itanium C++ ABI, 2.4 and 2.5), and the kernel of Linux as far as modules call it (`tools/objtool/noreturns.h`). Ordered.
const NAMES: [&[u8]; 52] = [
    b"_Exit",
    b"_Unwind_Resume",
    b"_ZSt9terminatev",
    b"__assert",
    b"__assert2",
    b"__assert_fail",
    b"__assert_perror_fail",
    b"__chk_fail",
    b"__cxa_bad_cast",
    b"__cxa_bad_typeid",
    b"__cxa_call_terminate",
    b"__cxa_call_unexpected",
    b"__cxa_deleted_virtual",
    b"__cxa_end_cleanup",
    b"__cxa_pure_virtual",
    b"__cxa_rethrow",
    b"__cxa_throw",
    b"__cxa_throw_bad_array_length",
    b"__cxa_throw_bad_array_new_length",
    b"__fortify_chk_fail",
    b"__fortify_fail",
    b"__fortify_panic",
    b"__libc_fatal",
    b"__libc_start_main",
    b"__longjmp_chk",
    b"__module_put_and_kthread_exit",
    b"__stack_chk_fail",
    b"__stack_chk_fail_local",
    b"__ubsan_handle_builtin_unreachable",
    b"__ubsan_handle_missing_return",
    b"_exit",
    b"_longjmp",
    b"abort",
    b"do_exit",
    b"errx",
    b"exit",
    b"fortify_panic",
    b"g_assertion_message",
    b"g_assertion_message_expr",
    b"kthread_complete_and_exit",
    b"kthread_exit",
    b"kunit_try_catch_throw",
    b"longjmp",
    b"panic",
    b"pthread_exit",
    b"quick_exit",
    b"rust_begin_unwind",
    b"siglongjmp",
    b"thrd_exit",
    b"usercopy_abort",
    b"verr",
    b"verrx",
];

/// How the mangled names of functions that panic or exit in Rust's core and standard libraries start; they end in a hash.
const RUST_PANICS: [&[u8]; 12] = [
    b"_ZN3std7process4exit17h",
    b"_ZN3std7process5abort17h",
    b"_ZN3std9panicking20rust_panic_with_hook17h",
    b"_ZN4core5slice5index",
    b"_ZN4core6option13expect_failed17h",
    b"_ZN4core6option13unwrap_failed17h",
    b"_ZN4core6result13unwrap_failed17h",
    b"_ZN4core9panicking",
    b"_ZN5alloc5alloc18handle_alloc_error17h",
    b"_ZN5alloc7raw_vec12handle_error17h",
    b"_ZN5alloc7raw_vec17capacity_overflow17h",
    b"_ZN3std9panicking11begin_panic17h",
];

/// The number of bytes of a name that matter: those of longer ones start as they do.
pub(super) const LONGEST_NAME: usize = 128;

/// Whether the function with this name never returns, in whichever file it is.
pub(super) fn never_returns(name: &[u8]) -> bool {
    NAMES.binary_search(&name).is_ok() || is_throw(name) || is_panic(name)
}

/// `std::__throw_*`: `_ZSt`, the length of the name, and the name.
fn is_throw(name: &[u8]) -> bool {
    let Some(rest) = name.strip_prefix(b"_ZSt") else { return false };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && rest.get(digits..).is_some_and(|name| name.starts_with(b"__throw_"))
}

/// What never returns of Rust's libraries. Functions of `core::slice::index` do so if their name says that they fail.
fn is_panic(name: &[u8]) -> bool {
    const INDEX: &[u8] = b"_ZN4core5slice5index";
    let is_failure = || name.windows(5).any(|piece| piece == b"_fail");
    RUST_PANICS.iter().any(|start| name.starts_with(start))
        && (!name.starts_with(INDEX) || is_failure())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ordered() {
        assert!(NAMES.is_sorted());
    }

    /// The declarations of these functions in public headers, and their mangled names by `c++filt`.
    #[test]
    fn only_what_is_declared_to_never_return_is_known() {
        for name in [
            b"abort".as_slice(),
            b"_Unwind_Resume",
            b"_ZSt20__throw_length_errorPKc",
            b"_ZN4core9panicking5panic17h0123456789abcdefE",
            b"_ZN4core5slice5index26slice_start_index_len_fail17h0123456789abcdefE",
        ] {
            assert!(never_returns(name), "{}", name.escape_ascii());
        }
        for name in [
            b"".as_slice(),
            b"abort2",
            b"_Unwind_Resume_or_Rethrow",
            b"_ZSt__throw",
            b"_ZSt4moveIRiEONSt16remove_referenceIT_E4typeEOS2_",
            b"_ZN4core5slice5index16into_range_valid17h0123456789abcdefE",
            b"_ZN3std9panicking11panic_count17is_zero_slow_path17h0123456789abcdefE",
        ] {
            assert!(!never_returns(name), "{}", name.escape_ascii());
        }
    }
}
