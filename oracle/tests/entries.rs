//! Tests with entries written by hand: versions, both DWARF formats, augmentations, pointer encodings (LSB 10.6, DWARF
//! 5 6.4.1, 7.24), and the effect of each malformed entry.

#![allow(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    reason = "a test program: it may panic"
)]

use sframe_oracle::cfi::{Cfi, CfiErrorKind, Kind, RowContext};
use sframe_validator::Abi;
use sframe_validator::unwind::CodeAddress;

/// The address of the section.
const ADDRESS: u64 = 0x8000;

/// An entry of 32-bit DWARF: its length and its bytes.
fn entry(id: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = (body.len() as u32 + 4).to_le_bytes().to_vec();
    bytes.extend(id.to_le_bytes());
    bytes.extend(body);
    bytes
}

/// A CIE of `.eh_frame`, version 1: code 1, data -8, column 16, CFA = SP + 8.
fn cie(augmentation: &[u8], data: &[u8]) -> Vec<u8> {
    let mut body = vec![1];
    body.extend(augmentation);
    body.extend([0, 1, 0x78, 16]);
    if augmentation.first() == Some(&b'z') {
        body.push(data.len() as u8);
    }
    body.extend(data);
    body.extend([0x0c, 7, 8]);
    entry(0, &body)
}

/// Appends an FDE of the CIE at offset 0.
fn fde(mut section: Vec<u8>, body: &[u8]) -> Vec<u8> {
    let id = section.len() as u32 + 4;
    section.extend(entry(id, body));
    section
}

fn read(section: &[u8]) -> Cfi<'_> {
    Cfi::from_bytes(section, Kind::EhFrame, ADDRESS, Abi::Amd64)
}

fn kinds(cfi: &Cfi<'_>) -> Vec<(u64, CfiErrorKind)> {
    cfi.defects().iter().map(|defect| (defect.offset, defect.kind)).collect()
}

/// The start and size of the only function.
fn range(cfi: &Cfi<'_>) -> (u64, u64) {
    assert_eq!((cfi.len(), kinds(cfi)), (1, vec![]));
    let fde = cfi.functions().next().expect("one");
    (fde.start().address, fde.size())
}

#[test]
fn pointer_encodings() {
    // The FDE's start field is 8 bytes after the start of the FDE.
    let at = |section: &[u8]| ADDRESS + section.len() as u64 + 8;
    let head = |encoding: u8| cie(b"zR", &[encoding]);
    let pc = at(&head(0));
    let cases: [(u8, &[u8], u64, u64); 13] = [
        (0x00, &[0, 0x10, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0], 0x1000, 9),
        (0x01, &[0x80, 0x20, 9], 0x1000, 9), // uleb128
        (0x02, &[0, 0x10, 9, 0], 0x1000, 9), // udata2
        (0x03, &[0, 0x10, 0, 0, 9, 0, 0, 0], 0x1000, 9), // udata4
        (0x04, &[0, 0x10, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0], 0x1000, 9),
        (0x09, &[0x80, 0xa0, 0, 9], 0x1000, 9), // sleb128
        (0x0a, &[0, 0x10, 9, 0], 0x1000, 9),    // sdata2
        (0x0b, &[0, 0x10, 0, 0, 9, 0, 0, 0], 0x1000, 9), // sdata4
        (0x0c, &[0, 0x10, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0], 0x1000, 9),
        (0x1a, &[0xf0, 0xff, 9, 0], pc - 16, 9), // pcrel sdata2
        (0x1b, &[0xf0, 0xff, 0xff, 0xff, 9, 0, 0, 0], pc - 16, 9), // pcrel sdata4
        (
            0x1c,
            &[0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 9, 0, 0, 0, 0, 0, 0, 0],
            pc - 16,
            9,
        ),
        (0x19, &[0x70, 9], pc - 16, 9), // pcrel sleb128
    ];
    for (encoding, fields, start, size) in cases {
        let section = fde(head(encoding), &[fields, &[0]].concat());
        assert_eq!(range(&read(&section)), (start, size), "{encoding:#x}");
    }
}

#[test]
fn aligned_pointers_are_padded() {
    let head = cie(b"zR", &[0x50]);
    let field = ADDRESS + head.len() as u64 + 8;
    let padding = (8 - field % 8) % 8;
    assert_ne!(padding, 0);
    let mut body = vec![0xcc; padding as usize];
    body.extend([0, 0x10, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(range(&read(&fde(head, &body))), (0x1000, 9));
}

#[test]
fn encodings_without_an_address() {
    for (encoding, kind) in [
        (0xff, CfiErrorKind::PointerEncoding(0xff)),
        (0x05, CfiErrorKind::PointerEncoding(0x05)),
        (0x9b, CfiErrorKind::IndirectPointer(0x9b)),
        (0x2b, CfiErrorKind::PointerEncoding(0x2b)), // textrel, and no .text is known
        (0x3b, CfiErrorKind::PointerEncoding(0x3b)), // datarel
        (0x4b, CfiErrorKind::PointerEncoding(0x4b)), // funcrel
    ] {
        let head = cie(b"zR", &[encoding]);
        let at = head.len() as u64 + 8;
        let section = fde(head, &[0, 0x10, 0, 0, 9, 0, 0, 0, 0]);
        assert_eq!(kinds(&read(&section)), [(at, kind)], "{encoding:#x}");
    }
}

#[test]
fn augmentations() {
    let plain = [0, 0x10, 0, 0, 9, 0, 0, 0, 0];
    let signal = fde(cie(b"zRS", &[0x03]), &plain);
    assert!(read(&signal).cies()[0].signal);
    let key_b = fde(cie(b"zRBG", &[0x03]), &plain);
    let cfi = read(&key_b);
    assert!(cfi.cies()[0].pauth_key_b && cfi.cies()[0].tagged && !cfi.cies()[0].signal);
    assert_eq!(range(&cfi), (0x1000, 9));
    // The personality (udata4) precedes the encoding, and the encoding of the LSDA follows it. The FDE has 4 bytes of
    // augmentation data of its own.
    let full = fde(
        cie(b"zPLR", &[0x03, 1, 2, 3, 4, 0x03, 0x03]),
        &[0, 0x10, 0, 0, 9, 0, 0, 0, 4, 5, 6, 7, 8, 0x0e, 16],
    );
    assert_eq!(range(&read(&full)), (0x1000, 9));
    // A personality that is omitted has no bytes.
    let omitted = fde(cie(b"zPR", &[0xff, 0x03]), &plain);
    assert_eq!(range(&read(&omitted)), (0x1000, 9));
    // gcc 2's "eh": a pointer follows the string.
    let mut body = b"\x01eh\0\x11\x22\x33\x44\x55\x66\x77\x88".to_vec();
    body.extend([1, 0x78, 16, 0x0c, 7, 8]);
    let old = fde(entry(0, &body), &[0, 0x10, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0]);
    let cfi = read(&old);
    assert_eq!(range(&cfi), (0x1000, 9));
    assert_eq!(cfi.cies()[0].data_alignment_factor, -8);
}

#[test]
fn unknown_augmentations_affect_only_their_functions() {
    let cases = [(&b"zX"[..], b'X'), (b"R", b'R'), (b"RzS", b'R'), (b"Sz", b'z'), (b"L", b'L')];
    for (augmentation, letter) in cases {
        let mut section = fde(cie(augmentation, &[0]), &[0; 16]);
        // Valid entries follow.
        let at = section.len() as u32;
        section.extend(cie(b"zR", &[0x03]));
        let id = section.len() as u32 + 4 - at;
        section.extend(entry(id, &[0, 0x10, 0, 0, 9, 0, 0, 0, 0]));
        let cfi = read(&section);
        let found: Vec<_> = kinds(&cfi).into_iter().map(|(_, kind)| kind).collect();
        assert_eq!(found, [CfiErrorKind::Augmentation(letter), CfiErrorKind::UnreadableCie(0)]);
        assert_eq!(cfi.len(), 1);
    }
}

/// A `.debug_frame` section: an FDE precedes its CIE, to which it refers by offset.
fn debug_frame(dwarf64: bool, version: u8) -> Vec<u8> {
    let frame = |id: u64, body: &[u8]| {
        let mut bytes = Vec::new();
        if dwarf64 {
            bytes.extend(u32::MAX.to_le_bytes());
            bytes.extend((body.len() as u64 + 8).to_le_bytes());
            bytes.extend(id.to_le_bytes());
        } else {
            bytes.extend((body.len() as u32 + 4).to_le_bytes());
            bytes.extend((id as u32).to_le_bytes());
        }
        bytes.extend(body);
        bytes
    };
    let mut body = vec![version, 0];
    if version == 4 {
        body.extend([8, 2]); // address size, segment selector size
    }
    body.extend([1, 0x78]);
    // The column is a byte in version 1, and LEB128 in later versions: 16 in two bytes.
    body.extend(if version == 1 { &[16][..] } else { &[0x90, 0] });
    body.extend([0x0c, 7, 8]);
    let cie = frame(u64::MAX, &body);
    let mut fde = if version == 4 { vec![0xaa, 0xbb] } else { vec![] };
    fde.extend([0, 0x10, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0x42, 0x0e, 16]);
    let head = if dwarf64 { 20 } else { 8 };
    [frame((fde.len() + head) as u64, &fde), cie].concat()
}

#[test]
fn debug_frame_of_each_version_and_format() {
    for version in [1, 3, 4] {
        for dwarf64 in [false, true] {
            let section = debug_frame(dwarf64, version);
            let cfi = Cfi::from_bytes(&section, Kind::DebugFrame, 0, Abi::Amd64);
            assert_eq!(range(&cfi), (0x1000, 9), "{version} {dwarf64}");
            let mut context = RowContext::new(&cfi);
            let fde = cfi.functions().next().expect("one");
            assert_eq!(fde.cie().return_address.0, 16);
            assert_eq!(fde.rows(&mut context).flatten().count(), 2);
        }
    }
    let section = debug_frame(false, 2);
    let cfi = Cfi::from_bytes(&section, Kind::DebugFrame, 0, Abi::Amd64);
    assert_eq!(kinds(&cfi)[0].1, CfiErrorKind::CieVersion(2));
}

/// One function precedes its CIE, and one follows it: both are in the order of the file.
#[test]
fn functions_before_their_cie_keep_their_place() {
    let range = |start: u64| [start.to_le_bytes(), 9_u64.to_le_bytes()].concat();
    let first = entry(24, &range(0x1000));
    let cie = entry(u32::MAX, &[1, 0, 1, 0x78, 16, 0x0c, 7, 8]);
    let section = [first, cie, entry(24, &range(0x2000))].concat();
    let cfi = Cfi::from_bytes(&section, Kind::DebugFrame, 0, Abi::Amd64);
    let functions: Vec<_> = cfi.functions().map(|f| (f.offset(), f.start().address)).collect();
    assert_eq!((functions, kinds(&cfi)), (vec![(0, 0x1000), (40, 0x2000)], vec![]));
}

/// Zeros that pad the section are not an entry; other bytes are one that is cut off.
#[test]
fn bytes_after_the_last_entry() {
    let section = fde(cie(b"zR", &[0x03]), &[0, 0x10, 0, 0, 9, 0, 0, 0, 0]);
    for padding in [&[0][..], &[0, 0], &[0, 0, 0], &[0, 0, 0, 0], &[0; 8]] {
        assert_eq!(range(&read(&[&section, padding].concat())), (0x1000, 9));
    }
    let at = section.len() as u64;
    for rest in [&[1][..], &[0, 1], &[0, 0, 1], &[0xff, 0xff, 0xff, 0xff, 0]] {
        let section = [&section, rest].concat();
        assert_eq!(kinds(&read(&section)), [(at, CfiErrorKind::Truncated)], "{rest:x?}");
    }
    // An entry that is too short for its id does not end the section.
    let section = [&[2, 0, 0, 0, 9, 9], section.as_slice()].concat();
    let cfi = read(&section);
    assert_eq!((kinds(&cfi), cfi.len()), (vec![(0, CfiErrorKind::Truncated)], 1));
}

#[test]
fn the_first_thousand_defects_are_listed() {
    let mut section = cie(b"zR", &[0x03]);
    for _ in 0..1500 {
        section = fde(section, &[0, 0x10, 0, 0, 0, 0, 0, 0, 0]);
    }
    section.extend([1, 0, 0]);
    let cfi = read(&section);
    // The last bytes are found before the order of the functions is examined.
    assert_eq!(cfi.defects().len(), 1000);
    let counts: Vec<_> = cfi.defect_counts().iter().map(|c| (c.first.kind, c.count)).collect();
    assert_eq!(counts, [(CfiErrorKind::Truncated, 1), (CfiErrorKind::EmptyRange, 1500)]);
}

/// In version 4, the CIE states the sizes of addresses and of segment selectors, which precede a function's start. The
/// fields are at 10 and 11; an error is found after both.
#[test]
fn sizes_of_addresses_and_segments() {
    let sized = |address: u8, segment: u8| {
        let mut section = entry(u32::MAX, &[4, 0, address, segment, 1, 0x78, 16, 0x0c, 7, 8]);
        let selector = vec![0xaa; segment.into()];
        let field = |value: u64| value.to_le_bytes()[..usize::from(address.min(8))].to_vec();
        section.extend(entry(0, &[selector, field(0x1000), field(9)].concat()));
        section
    };
    let read = |section: &[u8]| {
        let cfi = Cfi::from_bytes(section, Kind::DebugFrame, 0, Abi::Amd64);
        let functions = cfi.functions().map(|f| (f.start().address, f.size()));
        (functions.collect::<Vec<_>>(), kinds(&cfi).first().copied())
    };
    for (address, segment) in [(2, 0), (4, 0), (8, 0), (4, 2), (2, 8), (8, 8)] {
        assert_eq!(
            read(&sized(address, segment)),
            (vec![(0x1000, 9)], None),
            "{address} {segment}"
        );
    }
    for (address, segment, wrong) in [(1, 0, 1), (3, 0, 3), (16, 0, 16), (8, 9, 9), (8, 16, 16)] {
        let error = Some((12, CfiErrorKind::AddressSize(wrong)));
        assert_eq!(read(&sized(address, segment)), (vec![], error), "{address} {segment}");
    }
}

#[test]
fn eh_frame_in_64_bit_dwarf() {
    // LSB: the length has 8 more bytes, and the CIE pointer has 4.
    let mut section = cie(b"zR", &[0x03]);
    let body = [0, 0x10, 0, 0, 9, 0, 0, 0, 0];
    section.extend(u32::MAX.to_le_bytes());
    section.extend((body.len() as u64 + 4).to_le_bytes());
    section.extend((section.len() as u32).to_le_bytes());
    section.extend(body);
    assert_eq!(range(&read(&section)), (0x1000, 9));
}

#[test]
fn malformed_entries_have_names_and_places() {
    let head = cie(b"zR", &[0x03]);
    let size = head.len() as u64;
    let body = [0, 0x10, 0, 0, 9, 0, 0, 0, 0];
    // A CIE pointer to the middle of the CIE, and one to a place before the section.
    let section = [head.clone(), entry(size as u32 + 3, &body)].concat();
    assert_eq!(kinds(&read(&section)), [(size + 4, CfiErrorKind::BadCiePointer(1))]);
    let section = [head.clone(), entry(0x1000, &body)].concat();
    let before = (size + 4).wrapping_sub(0x1000);
    assert_eq!(kinds(&read(&section)), [(size + 4, CfiErrorKind::BadCiePointer(before))]);
    // A length past the section's end, and a reserved one.
    for length in [0x1000_u32, 0xffff_fff0] {
        let mut section = fde(head.clone(), &body);
        let at = section.len() as u64;
        section.extend(length.to_le_bytes());
        section.push(1);
        let kind = CfiErrorKind::EntryLength { length: length.into(), available: 1 };
        let cfi = read(&section);
        assert_eq!((kinds(&cfi), cfi.len()), (vec![(at, kind)], 1));
    }
    // A range that ends past the address space.
    let wide = cie(b"zR", &[0x04]);
    let at = wide.len() as u64 + 16;
    let section = fde(wide, &[0xff; 17]);
    assert_eq!(kinds(&read(&section)), [(at, CfiErrorKind::AddressOverflow)]);
    // Entries after the terminator are read and reported.
    let mut section = head.clone();
    section.extend([0; 4]);
    let at = section.len() as u64;
    let cfi_bytes = fde(section, &body);
    let cfi = read(&cfi_bytes);
    assert_eq!((kinds(&cfi), cfi.len()), (vec![(at, CfiErrorKind::EntriesAfterTerminator)], 1));
}

#[test]
fn order_overlaps_and_lookup() {
    let function = |section, start: u8, size: u8| fde(section, &[start, 0, 0, 0, size, 0, 0, 0, 0]);
    let mut section = cie(b"zR", &[0x03]);
    let mut offsets = Vec::new();
    for (start, size) in [(0x40, 0x10), (0x10, 0x10), (0x20, 0x08), (0x44, 0x20), (0x30, 0)] {
        offsets.push(section.len() as u64);
        section = function(section, start, size);
    }
    let cfi = read(&section);
    let starts = |functions: Vec<u64>| functions;
    assert_eq!(
        starts(cfi.functions().map(|f| f.start().address).collect()),
        [0x40, 0x10, 0x20, 0x44, 0x30]
    );
    assert_eq!(
        starts(cfi.sorted().map(|f| f.start().address).collect()),
        [0x10, 0x20, 0x30, 0x40, 0x44]
    );
    assert_eq!(
        kinds(&cfi),
        [(offsets[4], CfiErrorKind::EmptyRange), (offsets[3], CfiErrorKind::Overlap(offsets[0]))]
    );
    let find = |address| cfi.find(CodeAddress::absolute(address)).map(|f| f.offset());
    assert_eq!(find(0x0f), None);
    assert_eq!(find(0x10), Some(offsets[1]));
    assert_eq!(find(0x27), Some(offsets[2]));
    assert_eq!(find(0x28), None);
    assert_eq!(find(0x48), Some(offsets[3]));
}

#[test]
fn truncated_and_changed_sections_cause_no_panic() {
    let section = fde(fde(cie(b"zPLR", &[0x03, 1, 2, 3, 4, 0x03, 0x1b]), &[9; 24]), &[1; 12]);
    let section = [section, debug_frame(true, 4), debug_frame(false, 3)].concat();
    for kind in [Kind::EhFrame, Kind::DebugFrame] {
        for abi in Abi::ALL {
            let walk = |bytes: &[u8]| {
                let cfi = Cfi::from_bytes(bytes, kind, 0, abi);
                let mut context = RowContext::new(&cfi);
                cfi.sorted().map(|fde| fde.rows(&mut context).take(1000).count()).sum::<usize>()
            };
            for cut in 0..section.len() {
                walk(&section[..cut]);
                for value in [0, 1, 0x0f, 0x7f, 0x80, 0xff] {
                    let mut changed = section.clone();
                    changed[cut] = value;
                    walk(&changed);
                }
            }
        }
    }
}

/// A look-up finds the function that starts last at or before the place, if it reaches that far. If several have the
/// same start, it finds the largest. Functions without bytes never hide others, in any stored order.
#[test]
fn look_ups_among_functions_that_overlap() {
    let ranges = [
        (0x00, 0x20), // 0 has
        (0x08, 0x10), // 1 in it
        (0x30, 0x50), // 2 ends in
        (0x40, 0x60), // 3
        (0x70, 0x78), // 4 is the beginning of
        (0x70, 0x80), // 5
        (0x90, 0xa0), // 6 has
        (0x98, 0x98), // 7, which is empty
    ];
    let found = [
        (0x00, 0x08, Some(0)),
        (0x08, 0x10, Some(1)),
        (0x10, 0x30, None),
        (0x30, 0x40, Some(2)),
        (0x40, 0x60, Some(3)),
        (0x60, 0x70, None),
        (0x70, 0x80, Some(5)),
        (0x80, 0x90, None),
        (0x90, 0xa0, Some(6)),
        (0xa0, 0xb0, None),
    ];
    for stored in [[0, 1, 2, 3, 4, 5, 6, 7], [5, 1, 4, 0, 3, 7, 2, 6]] {
        let mut section = cie(b"", &[]);
        let mut offsets = Vec::new();
        for number in stored {
            let (start, end): (u64, u64) = ranges[number];
            offsets.push(section.len() as u64);
            section = fde(section, &[start.to_le_bytes(), (end - start).to_le_bytes()].concat());
        }
        let cfi = read(&section);
        for (start, end, number) in found {
            for pc in start..end {
                let function = cfi.find(CodeAddress::absolute(pc));
                let place = function.and_then(|f| offsets.iter().position(|o| *o == f.offset()));
                assert_eq!(place.map(|place| stored[place]), number, "{pc:#x} {stored:?}");
            }
        }
    }
}
