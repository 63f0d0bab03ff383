//! Reads bytes, applies the rules and looks up rows. Nothing panics, the work is limited by the bytes, and different
//! ways to read the same place give the same result.

use sframe_validator::check::{Checker, Options};
use sframe_validator::finding::Report;
use sframe_validator::section::Function;
use sframe_validator::unwind::CodeAddress;
use sframe_validator::{Abi, Endian, Placement, Section};

/// The number of functions to look up. A look-up takes linear time in the function's rows, so looking up all functions
/// would not be linear in the section.
const LOOKED_UP: usize = 16;

/// Reads `data` as a section in every possible way.
///
/// # Panics
/// Panics if the reader or the rules violate a guarantee.
pub fn run(data: &[u8]) {
    let placements = [
        Placement::at(0),
        Placement::at(u64::MAX - 64).with_endian(Some(Endian::Big)),
        Placement::at(0x4000).with_endian(Some(Endian::Little)).with_abi(Some(Abi::S390x)),
        Placement::relocated(&[]),
    ];
    for placement in placements {
        if let Ok(section) = Section::parse(data, placement) {
            walk(&section);
            look_up(&section);
        }
        let options = Options { pedantic: true, ..Options::default() };
        bounded(&Checker::new(&options).section(data, placement), data.len());
    }
    shortcuts(data);
}

/// Reads every function and row once.
fn walk(section: &Section<'_>) {
    let mut budget = section.row_budget();
    let (mut functions, mut rows) = (0_usize, 0_usize);
    for function in section.functions() {
        functions += 1;
        let Ok(function) = function else { continue };
        let Ok(read) = function.rows_within(&mut budget) else { continue };
        for row in read.flatten() {
            assert!(row.start <= row.end, "{row:x?}");
            rows += 1;
        }
    }
    // The smallest entry has 16 bytes and the smallest row 2. The last item may be an error.
    assert!(functions <= section.data().len() / 16 + 1, "{functions} functions");
    assert!(rows <= section.data().len() / 2, "{rows} rows");
}

/// Looks up the first functions by their own PCs and those around them.
fn look_up(section: &Section<'_>) {
    for function in section.functions().flatten().take(LOOKED_UP) {
        let Ok(start) = function.start() else { continue };
        let size = u64::from(function.size());
        for offset in [0, 1, size / 2, size.wrapping_sub(1), size, u64::MAX] {
            let pc = start.address.wrapping_add(offset);
            let found = section.find_function(CodeAddress { address: pc, ..start });
            if let Ok(Some(found)) = &found {
                assert!(covers(found, pc), "{pc:#x}: {found:?}");
            }
            if let Ok(Some((found, row))) = section.find(pc) {
                assert!(covers(&found, pc), "{pc:#x}: {found:?}");
                // If addresses wrap, the range cannot express this.
                assert!(row.contains(pc) || row.end == u64::MAX || wraps(&found), "{row:x?}");
            }
        }
    }
}

fn covers(function: &Function<'_>, pc: u64) -> bool {
    function.start().is_ok_and(|start| pc.wrapping_sub(start.address) < function.size().into())
}

fn wraps(function: &Function<'_>) -> bool {
    let start = function.start().map_or(0, |start| start.address);
    start.checked_add(function.size().into()).is_none()
}

/// Applies the rules with and without their shortcuts, which must give the same findings.
fn shortcuts(data: &[u8]) {
    let thorough = Options { thorough: true, ..Options::default() };
    let quick = Checker::default().section(data, Placement::at(0));
    let thorough = Checker::new(&thorough).section(data, Placement::at(0));
    assert_eq!(quick.counts, thorough.counts);
    bounded(&quick, data.len());
}

/// Checks that a report is no longer than requested, and refers to places inside the section.
fn bounded(report: &Report, size: usize) {
    let keep = Options::default().keep;
    for (rule, _) in &report.counts {
        let others = report.findings.iter().filter(|finding| finding.rule == *rule).skip(1);
        assert!(keep.has_room(others.count() as u64), "{}", rule.name);
    }
    for finding in &report.findings {
        assert!(finding.bytes.start <= finding.bytes.end, "{finding:?}");
        assert!(finding.bytes.end <= size as u64, "{finding:?}");
        assert!(!finding.message.is_empty());
    }
}
