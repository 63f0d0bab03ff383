//! The auxiliary vector, which the kernel passes to a program (getauxval(3)).

use sframe_validator::Endian;

/// The address of the executable's program headers.
pub(crate) const AT_PHDR: u64 = 3;
/// The address at which the executable starts.
pub(crate) const AT_ENTRY: u64 = 9;
/// The address of the vDSO.
pub(crate) const AT_SYSINFO_EHDR: u64 = 33;

/// The auxiliary vector of a 64-bit program: keys and values.
#[derive(Clone, Debug, Default)]
pub(crate) struct AuxiliaryVector(Vec<(u64, u64)>);

impl AuxiliaryVector {
    /// Reads the entries. An incomplete one at the end is left out.
    pub(crate) fn parse(bytes: &[u8], endian: Endian) -> AuxiliaryVector {
        let (words, _) = bytes.as_chunks::<8>();
        let word = |bytes: &[u8; 8]| match endian {
            Endian::Little => u64::from_le_bytes(*bytes),
            Endian::Big => u64::from_be_bytes(*bytes),
        };
        let (pairs, _) = words.as_chunks::<2>();
        AuxiliaryVector(pairs.iter().map(|[key, value]| (word(key), word(value))).collect())
    }

    /// The value of the first entry with this key.
    pub(crate) fn get(&self, key: u64) -> Option<u64> {
        self.0.iter().find(|(found, _)| *found == key).map(|(_, value)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_in_both_byte_orders() {
        let words = [AT_PHDR, AT_ENTRY, AT_ENTRY, 0x1234, AT_SYSINFO_EHDR];
        let little: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let big: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        for (bytes, endian) in [(little, Endian::Little), (big, Endian::Big)] {
            let vector = AuxiliaryVector::parse(&bytes, endian);
            assert_eq!(vector.get(AT_PHDR), Some(AT_ENTRY));
            assert_eq!(vector.get(AT_ENTRY), Some(0x1234));
            assert_eq!(vector.get(AT_SYSINFO_EHDR), None);
        }
    }
}
