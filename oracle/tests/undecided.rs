//! Tests of code that is undecided because the section does not record where a function is, or how its rows repeat.

#![allow(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    reason = "a test program: it may panic"
)]

mod common;

use common::{ALL, counts, golden, of_file, open};
use sframe_oracle::account::account;
use sframe_oracle::coverage::Cause;

/// Each relocation of the section is moved by 4 bytes, into the middle of its field. The place of its function is then
/// unknown, and no other function is affected.
#[test]
fn functions_with_unknown_starts_are_not_also_lost() {
    let data = golden("2.47.50/x86_64/cfi.o");
    let (table, sizes, before) = open(&data, |elf, sections, cfi| {
        let table = elf.sections().iter().find(|s| s.name == b".rela.sframe").expect("one");
        let sizes: Vec<_> = sections[0].entries().map(|entry| u64::from(entry.size())).collect();
        (table.offset as usize, sizes, account(elf, sections, cfi, &ALL).counts)
    });
    for (index, size) in sizes.iter().enumerate() {
        let mut data = data.clone();
        data[table + 24 * index] += 4;
        open(&data, |elf, sections, cfi| {
            let account = account(elf, sections, cfi, &ALL);
            assert_eq!(counts(&account).get("unexplained-loss"), None, "{index}");
            let count = |counts: &[(_, u64)]| counts.iter().map(|(_, n)| n).sum::<u64>();
            assert!(count(&account.counts) <= count(&before));
            // The reasons why a function is not in SFrame do not depend on the place of its entry.
            let lost: u64 = account.losses.iter().map(|loss| loss.bytes).sum();
            assert_eq!(account.sums.undecided + lost, *size, "{index}: {:?}", account.sums);
            let functions: u64 = account.losses.iter().map(|loss| loss.functions).sum();
            assert_eq!(account.functions.only_cfi + account.functions.partly, functions);
            let plural = if *size == 1 { "" } else { "s" };
            let reason = format!(
                "not compared with CFI: the start of 1 function is not known, which may describe 1 \
                 function of CFI, {size} byte{plural}"
            );
            let reported = account.undecided.iter().any(|undecided| undecided.reason == reason);
            assert_eq!(reported, lost == 0, "{:?}", account.undecided);
        });
    }
    assert!(sizes.len() > 5);
    // `corpus/differences/relocations-left-behind`: `ld -r` makes such objects.
    of_file("2.44/x86_64/relocatable.o", &ALL, |account| {
        assert_eq!(counts(account).get("unexplained-loss"), None);
        assert!(
            account.sums.undecided > 0
                && account.losses.iter().all(|l| l.cause != Cause::Unexplained)
        );
    });
}

/// Version 1 does not record the block size of a stub's rows. The CFI of the PLT refutes every size except 16, which ld
/// 2.44 records in version 2 for the same inputs. For stubs with `endbr64` (`plt-ibt`), it refutes every size:
/// `corpus/differences/ld-plt-sec`.
#[test]
fn repeated_blocks_of_version_1_are_decided_by_cfi() {
    let names = ["comdat.so", "outermost.so", "plt-now.so", "plt-pie.exe", "plt.so", "shared.so"];
    for name in names.into_iter().chain(["throw.so"]) {
        of_file(&format!("2.40/x86_64/{name}"), &ALL, |account| {
            assert_eq!(account.undecided, [], "{name}");
            assert_eq!((account.sums.undecided, account.sums.different), (0, 0), "{name}");
        });
    }
    let data = golden("2.40/x86_64/plt.so");
    let place = open(&data, |elf, sections, cfi| {
        // Without CFI, 12, 24 and 48 are equally possible.
        assert_eq!(account(elf, sections, &[], &ALL).sums.undecided, 48);
        let header = elf.sframe_sections().next().expect("one");
        let blocks = sections[0].functions().flatten().find(|f| f.attributes().info.is_pc_mask());
        let rows = blocks.expect("objdump marks one").frame_row_entries().expect("readable");
        let second = rows.flatten().nth(1).expect("two");
        assert_eq!((second.start, cfi.len()), (11, 1));
        (header.offset + second.offset) as usize
    });
    // A row that starts late is wrong for every block size.
    let mut data = data;
    data[place] += 1;
    open(&data, |elf, sections, cfi| {
        assert_eq!(account(elf, sections, cfi, &ALL).sums.undecided, 48);
    });
}
