//! Tests of the sweep against a slow look-up of every single PC, on all golden files and on files in which one SFrame
//! byte at a time is changed. Its sums are compared with the executable bytes that the `object` crate counts.

#![allow(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    reason = "a test program: it may panic"
)]

mod common;

use common::{golden_files, members, open};
use object::{Object, ObjectSection};
use sframe_oracle::cfi::{Cfi, RowContext};
use sframe_oracle::compare::{self, Fields, Range, Side, Sums, Totals, Verdict, judge};
use sframe_oracle::witness::Marks;
use sframe_validator::elf::Elf;
use sframe_validator::section::Starts;
use sframe_validator::unwind::{Cfa, CodeAddress, Expression, Frame, Recovery, Register};
use sframe_validator::{Abi, Section, Version};

/// The executable bytes of a file, section by section: index (0 in linked files), address, size.
fn code(data: &[u8]) -> Vec<(u32, u64, u64)> {
    let file = object::File::parse(data).expect("ELF");
    let relocatable = file.kind() == object::ObjectKind::Relocatable;
    let wanted = 0x2 | 0x4; // SHF_ALLOC, SHF_EXECINSTR
    file.sections()
        .filter(|section| match section.flags() {
            object::SectionFlags::Elf { sh_flags, .. } => sh_flags.0 & wanted == wanted,
            _ => false,
        })
        // Only bytes in the file are code, and sections of type SHT_NOBITS have none.
        .filter(|section| {
            let end = section.file_range().and_then(|(offset, size)| offset.checked_add(size));
            end.is_some_and(|end| end <= data.len() as u64)
        })
        .map(|s| (if relocatable { s.index().0 as u32 } else { 0 }, s.address(), s.size()))
        .collect()
}

/// The verdict of looking up one PC; `None` if the look-up cannot read the function's rows.
fn look_up(sections: &[Section<'_>], cfi: &[Cfi<'_>], place: CodeAddress) -> Option<Verdict> {
    let mut sframe = None;
    for section in sections {
        let Some(function) = section.find_function(place).ok()? else { continue };
        if function.num_rows() == 0 && !function.is_outermost() {
            continue;
        }
        // The sweep treats the surroundings of an unreadable row as undecided, but a look-up may succeed there.
        if function.rows().ok()?.any(|row| row.is_err()) {
            return None;
        }
        if let Some(row) = function.find_row(place.address).ok()? {
            let signal = function.is_signal_frame();
            let key_b = function.attributes().info.pauth_key_b();
            sframe = Some((row.frame, Marks { signal, key_b }, section.header().version));
            break;
        }
    }
    let mut in_cfi = None;
    for cfi in cfi {
        let Some(function) = cfi.find(place) else { continue };
        let mut context = RowContext::new(cfi);
        let row = function.rows(&mut context).flatten().find(|row| row.contains(place.address));
        let marks = Marks { signal: function.cie().signal, key_b: function.cie().pauth_key_b };
        in_cfi = Some((row.map(|row| row.frame), marks));
        break;
    }
    let abi = cfi.first().map_or(Abi::Amd64, Cfi::abi);
    Some(match (sframe, in_cfi) {
        (None, None) => Verdict::Neither,
        (None, Some(_)) => Verdict::OnlyCfi,
        (Some(_), None) => Verdict::OnlySframe,
        (Some(_), Some((None, _))) => Verdict::Undecided,
        (Some((frame, marks, version)), Some((Some(row), cfi_marks))) => {
            judge(
                Side { frame: &frame, marks, version: Some(version) },
                Side { frame: &row, marks: cfi_marks, version: None },
                abi,
            )
            .verdict
        }
    })
}

/// The sweep's verdict for each PC of `code`, and its sums.
fn sweep(
    elf: &Elf<'_>,
    sections: &[Section<'_>],
    cfi: &[Cfi<'_>],
    code: &[(u32, u64, u64)],
) -> (Vec<Vec<Verdict>>, Totals) {
    let mut verdicts: Vec<Vec<Verdict>> =
        code.iter().map(|(_, _, size)| vec![Verdict::Equal; *size as usize]).collect();
    let mut last = CodeAddress::absolute(0);
    let totals = compare::compare(elf, sections, cfi, |range: &Range<'_>| {
        let start = CodeAddress { section: range.section, address: range.start };
        assert!(start >= last && range.start < range.end, "in order");
        last = CodeAddress { section: range.section, address: range.end };
        assert_ne!(range.verdict, Verdict::Equal);
        for pc in range.start..range.end {
            let inside = |(section, address, size): &(u32, u64, u64)| {
                *section == range.section && pc >= *address && pc - address < *size
            };
            let number = code.iter().position(inside).expect("in code");
            verdicts[number][(pc - code[number].1) as usize] = range.verdict;
        }
    });
    (verdicts, totals)
}

/// Compares the sweep with the look-ups, and returns the sums and the number of PCs that a look-up decided. In `sound`
/// files, the sweep decides every PC that a look-up decides.
fn check(data: &[u8], sound: bool) -> (Sums, u64) {
    let code = code(data);
    open(data, |elf, sections, cfi| {
        let orderly = orderly(sections);
        let (verdicts, totals) = sweep(elf, sections, cfi, &code);
        let sums = totals.bytes;
        assert_eq!(sums.total(), code.iter().map(|(_, _, size)| size).sum::<u64>());
        let mut counted = Sums::default();
        let mut decided = 0;
        for ((section, address, _), verdicts) in code.iter().zip(&verdicts) {
            for (offset, verdict) in verdicts.iter().enumerate() {
                let place = CodeAddress { section: *section, address: address + offset as u64 };
                let sum = match verdict {
                    Verdict::Equal => &mut counted.equal,
                    Verdict::Limited(_) => &mut counted.limited,
                    Verdict::Different(_) => &mut counted.different,
                    Verdict::OnlyCfi => &mut counted.only_cfi,
                    Verdict::OnlySframe => &mut counted.only_sframe,
                    Verdict::Neither => &mut counted.neither,
                    Verdict::Undecided => &mut counted.undecided,
                };
                *sum += 1;
                if !orderly {
                    continue;
                }
                match look_up(sections, cfi, place) {
                    // After a changed byte, functions may share rows, which uses up the budget.
                    Some(_) if !sound && *verdict == Verdict::Undecided => {}
                    // A function whose start is unknown may describe the place.
                    Some(Verdict::OnlyCfi)
                        if totals.functions.unplaced > 0 && *verdict == Verdict::Undecided => {}
                    Some(expected) => {
                        assert_eq!(*verdict, expected, "{place:x?}");
                        decided += 1;
                    }
                    // A look-up fails at a truncated row, but the sweep still knows from its start where the preceding
                    // row ends.
                    None => {}
                }
            }
        }
        assert_eq!(sums, counted);
        // In damaged files, the sweep may run out of the budget for rows that functions share.
        if sound {
            same_at_single_places(elf, sections, cfi, &code, &verdicts);
        }
        (sums, decided)
    })
}

/// Looks up single places in descending order, with gaps between them, and one that nothing describes.
fn same_at_single_places(
    elf: &Elf<'_>,
    sections: &[Section<'_>],
    cfi: &[Cfi<'_>],
    code: &[(u32, u64, u64)],
    verdicts: &[Vec<Verdict>],
) {
    let mut wanted = vec![(CodeAddress { section: 9_999, address: 0 }, Verdict::Neither)];
    for ((section, address, _), verdicts) in code.iter().zip(verdicts).rev() {
        let pieces = verdicts.iter().enumerate().rev().step_by(3);
        wanted.extend(pieces.map(|(offset, verdict)| {
            let place = CodeAddress { section: *section, address: address + offset as u64 };
            (place, *verdict)
        }));
    }
    let places: Vec<_> = wanted.iter().map(|(place, _)| *place).collect();
    let found = compare::look_up(elf, sections, cfi, &places);
    for ((place, verdict), found) in wanted.iter().zip(&found) {
        assert_eq!(found.map(|range| range.verdict), Some(*verdict), "{place:x?}");
        let here = |range: Range<'_>| (range.start..range.end).contains(&place.address);
        assert!(found.is_some_and(here), "{place:x?}");
    }
}

/// Whether a binary search and the sweep find the same functions. This requires that tables are sorted if the flag says
/// so, and that functions do not overlap.
fn orderly(sections: &[Section<'_>]) -> bool {
    sections.iter().all(|section| {
        let ranges: Vec<_> = section
            .entries()
            .filter_map(|e| Some((e.start().ok()?.address, u64::from(e.size()))))
            .collect();
        let linked = matches!(section.placement().starts, Starts::Linked);
        !linked || ranges.windows(2).all(|w| w[0].0.saturating_add(w[0].1) <= w[1].0)
    })
}

#[test]
fn golden_files_by_every_pc() {
    let mut total = Sums::default();
    let mut files = 0;
    for path in golden_files() {
        let data = std::fs::read(&path).expect("readable");
        for member in members(&data) {
            let (sums, _) = std::panic::catch_unwind(|| check(member, true))
                .unwrap_or_else(|_| panic!("{}", path.display()));
            total.equal += sums.equal;
            total.different += sums.different;
            total.limited += sums.limited;
            total.only_cfi += sums.only_cfi;
            total.undecided += sums.undecided;
            files += 1;
        }
    }
    println!("{files} files: {total:?}");
    assert!(total.equal > 50_000, "{total:?}");
}

/// Changes one byte of the SFrame section at a time. Every change of the values that a PC recovers must be reported at
/// that PC.
#[test]
fn perturbations_are_reported_at_their_place() {
    for name in ["2.44/x86_64/handwritten.so", "2.47.50/aarch64/pauth.so", "2.47.50/s390x/throw.so"]
    {
        let data = common::golden(name);
        let (offset, size) = open(&data, |elf, _, _| {
            let header = elf.sframe_sections().next().copied().expect("one");
            (header.offset as usize, header.size as usize)
        });
        let (baseline, _) = check(&data, true);
        let (mut reported, mut silent, mut pcs) = (0, 0, 0);
        for at in offset..offset + size {
            for change in [1_u8, 0x10, 0x80] {
                let mut changed = data.clone();
                changed[at] ^= change;
                let usable =
                    open(&changed, |_, sections, _| !sections.is_empty() && orderly(sections));
                if !usable {
                    continue;
                }
                let (sums, decided) = std::panic::catch_unwind(|| check(&changed, false))
                    .unwrap_or_else(|_| panic!("{name}: byte {:#x} ^ {change:#x}", at - offset));
                if sums == baseline {
                    silent += 1
                } else {
                    reported += 1
                }
                pcs += decided;
            }
        }
        println!("{name}: {reported} reported, {silent} change no sum, {pcs} PCs compared");
        assert!(reported > silent, "{name}: {reported} {silent}");
    }
}

const SP: Register = Register(7);

fn plain() -> Frame {
    Frame {
        cfa: Cfa::RegisterOffset { register: SP, offset: 8 },
        ra: Recovery::AtCfa(-8),
        fp: Recovery::Unchanged,
        ra_signed: false,
    }
}

fn judged(sframe: Frame, cfi: Frame, version: Version, abi: Abi) -> Verdict {
    let side = |frame, version| Side { frame, marks: Marks::default(), version };
    judge(side(&sframe, Some(version)), side(&cfi, None), abi).verdict
}

#[test]
fn each_field_is_reported() {
    let base = plain();
    let cases = [
        (Frame { cfa: Cfa::RegisterOffset { register: SP, offset: 16 }, ..base }, Fields::CFA),
        (
            Frame { cfa: Cfa::RegisterOffset { register: Register(6), offset: 8 }, ..base },
            Fields::CFA,
        ),
        (Frame { cfa: Cfa::Dereference { register: SP, offset: 8 }, ..base }, Fields::CFA),
        (Frame { ra: Recovery::AtCfa(-16), ..base }, Fields::RA),
        (Frame { fp: Recovery::AtCfa(-16), ..base }, Fields::FP),
        (Frame { ra_signed: true, ..base }, Fields::RA_SIGNING),
        (Frame { ra: Recovery::Undefined, ..base }, Fields::UNDEFINED_RA),
    ];
    for (changed, field) in cases {
        let verdict = Verdict::Different(field);
        assert_eq!(judged(changed, base, Version::V3, Abi::Aarch64Little), verdict);
        assert_eq!(judged(base, changed, Version::V3, Abi::Aarch64Little), verdict);
    }
    assert_eq!(judged(base, base, Version::V3, Abi::Amd64), Verdict::Equal);
}

/// `.cfi_register` with one register twice: GNU as 2.47.50 names it in a flexible row, and CFI calls it unchanged.
#[test]
fn a_value_in_its_own_register_is_unchanged() {
    let abi = Abi::S390x;
    let base = Frame { ra: Recovery::Unchanged, fp: Recovery::Unchanged, ..plain() };
    let within = |register, offset| Recovery::RegisterOffset { register, offset };
    let named = Frame { ra: within(abi.ra(), 0), fp: within(abi.fp(), 0), ..base };
    assert_eq!(judged(named, base, Version::V3, abi), Verdict::Equal);
    assert_eq!(judged(base, named, Version::V3, abi), Verdict::Equal);
    for other in [within(abi.ra(), 8), within(abi.fp(), 0), Recovery::AtCfa(0)] {
        let verdict = Verdict::Different(Fields::RA);
        assert_eq!(judged(Frame { ra: other, ..base }, base, Version::V3, abi), verdict);
    }
}

#[test]
fn properties_that_a_version_cannot_express_are_limits() {
    let outermost = Frame { ra: Recovery::Undefined, ..plain() };
    let limit = Verdict::Limited(Fields::UNDEFINED_RA);
    assert_eq!(judged(plain(), outermost, Version::V1, Abi::Amd64), limit);
    assert_eq!(judged(plain(), outermost, Version::V2, Abi::Amd64), limit);
    // If the outermost frame has other rules too, they are compared. The frame without a rule for the CFA has none.
    let other = Frame { cfa: Cfa::RegisterOffset { register: SP, offset: 16 }, ..outermost };
    assert_eq!(judged(plain(), other, Version::V2, Abi::Amd64), Verdict::Different(Fields::CFA));
    assert_eq!(judged(plain(), Frame::OUTERMOST, Version::V2, Abi::Amd64), limit);
    // An outermost frame has no caller, so its other rules do not matter.
    assert_eq!(judged(Frame::OUTERMOST, outermost, Version::V3, Abi::Amd64), Verdict::Equal);
    let signal = |version, in_sframe, in_cfi| {
        let frame = plain();
        let marks = |signal| Marks { signal, key_b: false };
        let sframe = Side { frame: &frame, marks: marks(in_sframe), version: Some(version) };
        let cfi = Side { frame: &frame, marks: marks(in_cfi), version: None };
        judge(sframe, cfi, Abi::Amd64).verdict
    };
    assert_eq!(signal(Version::V2, false, true), Verdict::Limited(Fields::SIGNAL));
    assert_eq!(signal(Version::V3, false, true), Verdict::Different(Fields::SIGNAL));
    assert_eq!(signal(Version::V3, true, false), Verdict::Different(Fields::SIGNAL));
    assert_eq!(signal(Version::V3, true, true), Verdict::Equal);
}

/// `format`: the key matters only while the return address is signed, and only on AArch64.
#[test]
fn keys_are_compared_where_the_return_address_is_signed() {
    let key = |signed, in_sframe, in_cfi, abi| {
        let frame = Frame { ra_signed: signed, ..plain() };
        let side = |key_b, version| {
            let marks = Marks { signal: false, key_b };
            Side { frame: &frame, marks, version }
        };
        judge(side(in_sframe, Some(Version::V3)), side(in_cfi, None), abi).verdict
    };
    let different = Verdict::Different(Fields::RA_SIGNING);
    for (one, other) in [(false, true), (true, false)] {
        assert_eq!(key(true, one, other, Abi::Aarch64Little), different);
        assert_eq!(key(false, one, other, Abi::Aarch64Little), Verdict::Equal);
        assert_eq!(key(true, one, other, Abi::Amd64), Verdict::Equal);
    }
    assert_eq!(key(true, true, true, Abi::Aarch64Little), Verdict::Equal);
}

/// The verdict on two rules for the same field if the CFI's CFA or the rule itself is an expression, whose value is
/// unknown.
#[test]
fn an_expression_makes_only_its_field_undecided() {
    let unknown = Expression { offset: 0, length: 4 };
    let base = plain();
    let judged = |sframe, cfi| {
        let side = |frame, version| Side { frame, marks: Marks::default(), version };
        let judgement = judge(side(&sframe, Some(Version::V3)), side(&cfi, None), Abi::Amd64);
        (judgement.verdict, judgement.undecided)
    };
    let (none, undecided) = (Fields::default(), Verdict::Undecided);
    let ra = Frame { ra: Recovery::Expression(unknown), ..base };
    assert_eq!(judged(base, ra), (undecided, Fields::RA));
    let fp = Frame { fp: Recovery::AtExpression(unknown), ..base };
    assert_eq!(judged(base, fp), (undecided, Fields::FP));
    let cfa = Frame { cfa: Cfa::Expression(unknown), ..base };
    assert_eq!(judged(base, cfa), (undecided, Fields::CFA));
    // A difference in another field is still reported.
    let other = Frame { cfa: Cfa::RegisterOffset { register: SP, offset: 16 }, ..ra };
    assert_eq!(judged(base, other), (Verdict::Different(Fields::CFA), Fields::RA));
    // Unchanged and saved are different rules, independent of the CFA.
    let saved = Frame { fp: Recovery::AtCfa(-16), ..cfa };
    assert_eq!(judged(base, saved), (Verdict::Different(Fields::FP), Fields::CFA));
    // A distance of 8 from the CFA differs from one of 16, so one of the two fields differs.
    let further = Frame { ra: Recovery::AtCfa(-16), ..cfa };
    assert_eq!(judged(base, further), (Verdict::Different(Fields::RA), Fields::CFA));
    // The slot at FP may be the slot at CFA - 16.
    let at_fp = Recovery::AtRegister { register: Register(6), offset: 0 };
    let sframe = Frame { fp: Recovery::AtCfa(-16), ..base };
    let in_cfi = Frame { fp: at_fp, ..cfa };
    assert_eq!(judged(sframe, in_cfi), (undecided, Fields::CFA.with(Fields::FP)));
    assert_eq!(judged(sframe, Frame { fp: at_fp, ..base }).1, none);
}
