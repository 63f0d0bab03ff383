//! CFI written by hand.

#![allow(clippy::cast_possible_truncation, reason = "short entries")]

/// An entry of `.eh_frame`.
pub fn entry(id: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = (body.len() as u32 + 4).to_le_bytes().to_vec();
    bytes.extend(id.to_le_bytes());
    bytes.extend(body);
    bytes
}

/// A CIE (code 1, data -8, column 16, CFA = SP + 8), and an FDE for each range and program.
pub fn eh_frame(functions: &[(u64, u64, &[u8])]) -> Vec<u8> {
    let mut bytes = entry(0, &[1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1]);
    for (start, size, program) in functions {
        let body = [&start.to_le_bytes(), &size.to_le_bytes(), *program].concat();
        bytes.extend(entry(bytes.len() as u32 + 4, &body));
    }
    bytes
}
