//! Call-site tables written by hand, as the C++ ABI for Itanium describes them ("Exception Handling Tables"): which calls have
//! landing pads, whatever the encoding, and the sizes of arguments (`DW_CFA_GNU_args_size`).

use sframe_oracle::cfi::{Cfi, Kind, LandingPad};
use sframe_validator::Abi;
use sframe_validator::unwind::CodeAddress;

/// `.eh_frame` with a function of 0x100 bytes at 0x1000 whose table is at 0x9000: a CIE with version 1, the augmentation "zL",
/// code 1, data -8 and column 16, and its FDE.
fn section(instructions: &[u8]) -> Vec<u8> {
    let cie = b"\x01zL\0\x01\x78\x10\x01\0\x0c\x07\x08";
    let mut body = [0x1000_u64, 0x100].map(u64::to_le_bytes).concat();
    body.push(8);
    body.extend(0x9000_u64.to_le_bytes());
    body.extend(instructions);
    let mut bytes = entry(0, cie);
    // From the field to the start of the section.
    let distance = u32::try_from(bytes.len() + 4).expect("small");
    bytes.extend(entry(distance, &body));
    bytes
}

fn entry(id: u32, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).expect("small");
    [&length.to_le_bytes(), &id.to_le_bytes(), body].concat()
}

fn pads(table: &[u8], most: usize) -> Vec<(u64, u64, u64)> {
    let section = section(&[]);
    let cfi = Cfi::from_bytes(&section, Kind::EhFrame, 0x8000, Abi::Amd64);
    let function = cfi.functions().next().expect("one");
    assert_eq!(
        (cfi.defects(), function.lsda()),
        ([].as_slice(), Some(CodeAddress::absolute(0x9000)))
    );
    let pads = function.landing_pads(table, most).into_iter();
    pads.map(|LandingPad { start, end, pad }| (start, end, pad)).collect()
}

/// Three calls in uleb128: at 0x10 with a pad at 0x80, at 0x20 without one, and 0x30 to 0x37 with a pad at 0x90.
const SITES: [u8; 12] = [0x10, 5, 0x80, 0x01, 0, 0x20, 5, 0, 0, 0x30, 7, 0x90];

/// The call-site table after a header: its encoding, its size, and its sites.
fn table(header: &[u8]) -> Vec<u8> {
    // The last pad is 0x90 in uleb128, and has no action.
    let sites = [SITES.as_slice(), &[0x01, 0]].concat();
    let size = u8::try_from(sites.len()).expect("small");
    [header, &[0x01, size], &sites].concat()
}

#[test]
fn landing_pads_are_relative_to_the_function() {
    // Neither a base of landing pads nor types.
    let table = table(&[0xff, 0xff]);
    let first = (0x1010, 0x1015, 0x1080);
    assert_eq!(pads(&table, 100), [first, (0x1030, 0x1037, 0x1090)]);
    // Functions may share a table, so the number of sites is limited.
    assert_eq!(pads(&table, 2), [first]);
    // The last site is cut off.
    assert_eq!(pads(table.get(..table.len() - 3).expect("long"), 100), []);
}

#[test]
fn types_are_skipped() {
    // Types of 4 bytes, relative to their place. They end 0x200 bytes after the field.
    assert_eq!(pads(&table(&[0xff, 0x1b, 0x80, 0x04]), 100).len(), 2);
}

#[test]
fn landing_pads_may_have_another_base() {
    // In 4 bytes, and as an address, relative to nothing.
    let bases: [&[u8]; 2] = [b"\x03\0\x70\0\0\xff", b"\0\0\x70\0\0\0\0\0\0\xff"];
    for base in bases {
        let expected = [(0x1010, 0x1015, 0x7080), (0x1030, 0x1037, 0x7090)];
        assert_eq!(pads(&table(base), 100), expected);
    }
    // Relative to its place, which compilers do not write.
    assert_eq!(pads(&table(b"\x1b\0\x70\0\0\xff"), 100), []);
}

#[test]
fn arguments_have_sizes_from_an_address_on() {
    // DW_CFA_advance_loc 4, DW_CFA_GNU_args_size 16, DW_CFA_advance_loc1 0x50, DW_CFA_GNU_args_size 0, DW_CFA_set_loc 0x10f0,
    // DW_CFA_GNU_args_size 8
    let set = b"\x44\x2e\x10\x02\x50\x2e\0\x01\xf0\x10\0\0\0\0\0\0\x2e\x08";
    let section = section(set);
    let cfi = Cfi::from_bytes(&section, Kind::EhFrame, 0x8000, Abi::Amd64);
    let function = cfi.functions().next().expect("one");
    assert_eq!(function.argument_sizes(), [(0x1004, 16), (0x1054, 0), (0x10f0, 8)]);
}
