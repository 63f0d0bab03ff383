//! What a person should know about each cause.

use super::Cause;

/// What a person should know about a cause of lost coverage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CausePage {
    /// What the function's CFI has.
    pub summary: &'static str,
    /// Where it costs coverage: versions, machines and assemblers. Observed with GNU as 2.40, 2.44 and 2.47.50 and with
    /// LLVM 23.
    pub applies: &'static str,
    /// What to do, or why nothing can be done.
    pub remedy: &'static str,
}

const FORMAT_CANNOT: &str =
    "nothing, unless the code can do without it: the format cannot express it";

impl Cause {
    /// What a person should know about it.
    #[must_use]
    pub const fn page(self) -> CausePage {
        match self {
            Cause::Plt => CausePage {
                summary: "a linker made the code: its stubs have CFI, but no SFrame",
                applies: "AArch64; mold and lld on every machine; .iplt with every linker",
                remedy: "nothing: it is the linker's work; few samples hit stubs",
            },
            Cause::ZeroSize => CausePage {
                summary: "the function has no bytes",
                applies: "LLVM",
                remedy: "nothing: no PC is lost",
            },
            Cause::ReturnColumn => CausePage {
                summary: "the return address is not in the ABI's column: the CIE names another register for it",
                applies: "every version and assembler",
                remedy: "leave out .cfi_return_column if the code returns through the usual register",
            },
            Cause::NoInitialRules => CausePage {
                summary: "the CIE has no rule for the CFA, as after .cfi_startproc simple",
                applies: "GNU as up to 2.44; later ones write an entry without rows, which reads as an outermost frame",
                remedy: "leave out `simple`, or write .cfi_def_cfa as the first directive and use an assembler that accepts it",
            },
            Cause::RaSignWithPc => CausePage {
                summary: "the return address is signed together with the PC (negate_ra_state_with_pc, PAuth_LR)",
                applies: "AArch64, every version",
                remedy: "compile without -mbranch-protection=pac-ret+pc if stack traces through SFrame matter more",
            },
            Cause::CfaRegister => CausePage {
                summary: "the CFA is counted from a register other than SP and FP, as in functions that realign the stack through R10",
                applies: "versions 1 and 2; version 3 on AArch64; LLVM. Version 3 on AMD64 can express it",
                remedy: "assemble with GNU as 2.46 or later (version 3) on AMD64; elsewhere nothing, unless the stack need not be realigned",
            },
            Cause::CfaExpression => CausePage {
                summary: "the CFA is an expression, or is loaded from memory",
                applies: "versions 1 and 2; version 3 unless the expression loads from a register plus an offset",
                remedy: FORMAT_CANNOT,
            },
            Cause::RaExpression => CausePage {
                summary: "the return address is found by an expression, or relative to a register",
                applies: "every version; version 3 can express some",
                remedy: FORMAT_CANNOT,
            },
            Cause::FpExpression => CausePage {
                summary: "the caller's FP is found by an expression, or relative to a register, as after a realigned prologue",
                applies: "every version; version 3 can express some",
                remedy: "assemble with GNU as 2.46 or later (version 3)",
            },
            Cause::RegisterSave => CausePage {
                summary: "RA or FP is saved in another register",
                applies: "versions 1 and 2; version 3 on AArch64",
                remedy: "assemble with GNU as 2.46 or later (version 3) on AMD64",
            },
            Cause::SpSave => CausePage {
                summary: "SP is saved in another register (.cfi_register), as in functions that switch stacks",
                applies: "GNU as 2.46 and later (version 3) on AMD64 and AArch64; earlier ones describe the function, and ignore the rule",
                remedy: "leave out .cfi_register of SP where the CFA is the caller's SP anyway; elsewhere nothing: the format has no rule for SP",
            },
            Cause::ValueOffset => CausePage {
                summary: "the value of SP, FP or RA is the CFA plus an offset (.cfi_val_offset)",
                applies: "every version",
                remedy: FORMAT_CANNOT,
            },
            Cause::UndefinedFp => CausePage {
                summary: "the caller's FP or SP is undefined: the function has overwritten it without saving it",
                applies: "version 3; earlier versions describe the function as if FP were unchanged, which is wrong",
                remedy: "save FP in the function, if its callers use it",
            },
            Cause::FpWithoutRa => CausePage {
                summary: "FP is saved on the stack, and RA is not",
                applies: "AArch64, versions 2 and 3",
                remedy: "save x29 and x30 as a pair",
            },
            Cause::ArgsSize => CausePage {
                summary: "CFI has GNU_args_size (.cfi_escape 0x2e), which compilers write where exceptions may pass a call whose arguments were pushed",
                applies: "GNU as up to 2.44, always; later ones and LLVM if the CFA is not counted from FP, and later ones from 128 bytes on",
                remedy: "compile with -maccumulate-outgoing-args, or with a frame pointer (-fno-omit-frame-pointer) for GNU as 2.46 and later or LLVM",
            },
            Cause::UnsupportedEscape => CausePage {
                summary: "CFI has an instruction that only .cfi_escape or .cfi_window_save makes, and that the assembler refuses: an expression for a register, or GNU_window_save",
                applies: "GNU as up to 2.44: every .cfi_escape; later ones: an expression for SP, the value of a register as an expression, GNU_window_save",
                remedy: "write a directive that SFrame has; GNU as 2.46 and later accept the place of a register as a register plus an offset from -64 to 63",
            },
            Cause::RememberFirst => CausePage {
                summary: "CFI remembers a state before there is another row",
                applies: "GNU as up to 2.44, LLVM",
                remedy: "leave out .cfi_remember_state where nothing has changed yet, or use a later GNU as",
            },
            Cause::OffsetRange => CausePage {
                summary: "an offset does not fit in a data word of 32 bits, or of the size that the machine's encoding has",
                applies: "every version",
                remedy: "make the frame smaller: allocate large arrays elsewhere",
            },
            Cause::RowLimit => CausePage {
                summary: "the function has more rows than the version can count (65,535 in version 3)",
                applies: "version 3",
                remedy: "split the function, or assemble version 2",
            },
            Cause::Unreadable => CausePage {
                summary: "the CFI of the function cannot be read, so that the cause is unknown",
                applies: "every version",
                remedy: "see the findings about the CFI",
            },
            Cause::CfaExpressionForm => CausePage {
                summary: "the CFA is an expression whose value SFrame can express, in a form that assemblers do not accept",
                applies: "GNU as 2.46 and later",
                remedy: "write the expression as a register plus an offset, or as a load from it",
            },
            Cause::ExpressionForm => CausePage {
                summary: "the rule of a register is an expression other than a register plus a one-byte offset, also if SFrame does not have the register",
                applies: "GNU as 2.46 and later",
                remedy: "leave out rules for registers that no caller needs, or write them with directives",
            },
            Cause::OtherRegisterSave => CausePage {
                summary: "a register that SFrame does not have is saved in another one (.cfi_register)",
                applies: "GNU as 2.40, without a message",
                remedy: "use a later assembler",
            },
            Cause::Label => CausePage {
                summary: "the source has .cfi_label among the function's directives: there is a symbol in the section of CFI",
                applies: "GNU as, 2.40 without a message; LLVM accepts it",
                remedy: "leave out .cfi_label",
            },
            Cause::Escape => CausePage {
                summary: "CFI has an instruction that only .cfi_escape makes. SFrame could express it, so the escape has something else that the assembler refuses, such as a second instruction",
                applies: "GNU as 2.46 and later, LLVM",
                remedy: "write one .cfi_escape for each instruction, and directives for the instructions that have them",
            },
            Cause::Rewritten => CausePage {
                summary: "BOLT has rewritten the file after its section was made, and moved the function",
                applies: "every version: BOLT writes .eh_frame anew, and no SFrame (LLVM 19)",
                remedy: "make the section anew: `sframe-check synthesize --replace`",
            },
            Cause::Hidden => CausePage {
                summary: "the section has an entry for the function, but a search finds a later one that has the same start and no bytes",
                applies: "GNU ld: functions without code, such as empty cold parts (function-hidden)",
                remedy: "link with mold, or leave out functions without code",
            },
            Cause::Unexplained => CausePage {
                summary: "the function's CFI does not show why SFrame lacks it",
                applies: "every version; it is the finding unexplained-loss",
                remedy: "see `sframe-check explain unexplained-loss`",
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cause;

    #[test]
    fn every_page_is_filled() {
        for cause in Cause::ALL {
            let page = cause.page();
            for text in [page.summary, page.applies, page.remedy] {
                assert!(!text.is_empty() && !text.ends_with('.'), "{}: {text}", cause.name());
            }
        }
    }
}
