//! Functions whose rows repeat block by block (PC type MASK): the linker's stubs.

use super::context::{Check, FileKind};
use super::{Abis, Group, Rule, Severity, Versions};
use crate::section::{FunctionField, FunctionInfo};

pub(super) static REPEAT_SIZE_ZERO: Rule = Rule {
    name: "repeat-size-zero",
    group: Group::Functions,
    severity: Severity::Error,
    versions: Versions::SINCE_2,
    abis: Abis::ALL,
    summary: "rows that repeat block by block have a block size",
    consequence: "Look-ups divide by the block size: libsframe, glibc and the kernel divide by zero.",
    remedy: "Write the size of one block, such as 16 for AMD64's PLT entries.",
    source: "V3 2.3.2, 2.3.3.1",
    example: "a function of PC type MASK with block size 0",
    check: Check::Attributes(|function, report| {
        let Some(readable) = function.readable() else { return };
        let attributes = readable.attributes();
        if attributes.info.is_pc_mask() && attributes.rep_size == 0 {
            report.field(
                function.field(FunctionField::RepSize),
                0,
                "at least 1",
                format_args!("the rows repeat, but the size of the repeated block is 0"),
            );
        }
    }),
};

pub(super) static REPEAT_SIZE_UNUSED: Rule = Rule {
    name: "repeat-size-unused",
    group: Group::Functions,
    severity: Severity::Lint,
    versions: Versions::SINCE_2,
    abis: Abis::ALL,
    summary: "functions whose rows do not repeat have no block size",
    consequence: "None: readers look at the size only where rows repeat.",
    remedy: "Write 0.",
    source: "V3 2.3.2; observed: GNU ld 2.44 writes 16 for the first PLT entry",
    example: "a function of PC type INC with block size 16",
    check: Check::Attributes(|function, report| {
        let Some(readable) = function.readable() else { return };
        let attributes = readable.attributes();
        if !attributes.info.is_pc_mask() && attributes.rep_size != 0 {
            report.field(
                function.field(FunctionField::RepSize),
                attributes.rep_size,
                "0",
                format_args!("a block size is given, though the function's rows do not repeat"),
            );
        }
    }),
};

pub(super) static REPEAT_SIZE_MULTIPLE: Rule = Rule {
    name: "repeat-size-multiple",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::SINCE_2,
    abis: Abis::ALL,
    summary: "a function whose rows repeat is a whole number of blocks long",
    consequence: "The last block is cut: the function's size or the block size is wrong.",
    remedy: "Correct sfde_func_size or the block size.",
    source: "V3 2.3.3.1",
    example: "a function of 40 bytes whose rows repeat every 16",
    check: Check::Attributes(|function, report| {
        let Some(readable) = function.readable() else { return };
        let Ok(Some(block)) = readable.repeat_size() else { return };
        if readable.size() % u32::from(block) != 0 {
            report.field(
                function.field(FunctionField::Size),
                readable.size(),
                format_args!("a multiple of {block}"),
                format_args!(
                    "the function is {} bytes long, no whole number of blocks of {block}",
                    readable.size()
                ),
            );
        }
    }),
};

pub(super) static REPEAT_START_ALIGNMENT: Rule = Rule {
    name: "repeat-start-alignment",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::SINCE_2,
    abis: Abis::ALL,
    summary: "a function whose rows repeat starts at a multiple of the block size",
    consequence: "The specification takes the PC modulo the block size, libsframe and the kernel \
                  the PC's offset in the function: only for such a start they agree.",
    remedy: "Align the stub section to the block size.",
    source: "V3 2.3.3.1 against libsframe 2.47 and the kernel's patches",
    example: "a function at 0x1008 whose rows repeat every 16 bytes",
    check: Check::Attributes(|function, report| {
        let (Some(readable), Ok(start)) = (function.readable(), function.start) else { return };
        let Ok(Some(block)) = readable.repeat_size() else { return };
        let linked = function.whole.kind == FileKind::Linked;
        if linked && !start.address.is_multiple_of(u64::from(block)) {
            report.field(
                function.field(FunctionField::Start),
                format_args!("{:#x}", start.address),
                format_args!("a multiple of {block}"),
                format_args!(
                    "the function's rows repeat every {block} bytes, but it starts at {:#x}",
                    start.address
                ),
            );
        }
    }),
};

pub(super) static REPEAT_SIZE_UNUSUAL: Rule = Rule {
    name: "repeat-size-unusual",
    group: Group::Functions,
    severity: Severity::Lint,
    versions: Versions::SINCE_2,
    abis: Abis::ALL,
    summary: "a repeated block is 8, 16 or 32 bytes long, as PLT entries are",
    consequence: "The block size is none that a linker's stubs have.",
    remedy: "Check the size against the stub's instructions.",
    source: "observed: GNU ld",
    example: "a function whose rows repeat every 12 bytes",
    check: Check::Attributes(|function, report| {
        let Some(readable) = function.readable() else { return };
        let Ok(Some(block)) = readable.repeat_size() else { return };
        if !matches!(block, 8 | 16 | 32) {
            report.field(
                function.field(FunctionField::RepSize),
                block,
                "8, 16 or 32",
                format_args!("the repeated block is {block} bytes long"),
            );
        }
    }),
};

pub(super) static REPEAT_IN_OBJECT: Rule = Rule {
    name: "repeat-in-object",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "in relocatable objects no function's rows repeat",
    consequence: "Repeated blocks are for the stubs that a linker makes; assemblers never write \
                  them.",
    remedy: "Write rows of PC type INC.",
    source: "observed: GNU as and LLVM",
    example: "an object with a function of PC type MASK",
    check: Check::Attributes(|function, report| {
        let Some(readable) = function.readable() else { return };
        let info = readable.attributes().info;
        if function.whole.kind == FileKind::Relocatable && info.is_pc_mask() {
            report.field(
                function.field(FunctionField::Info),
                format_args!("{:#04x}", info.0),
                format_args!("bit {:#04x} clear", FunctionInfo::PC_MASK),
                format_args!("the rows of a function in a relocatable object repeat"),
            );
        }
    }),
};
