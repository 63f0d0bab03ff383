//! Inputs derived from a number. They are always the same, so that tests can be repeated.

/// A sequence of numbers that is determined by a seed (SplitMix64).
#[derive(Clone, Debug)]
pub struct Seeded(u64);

impl Seeded {
    /// The sequence for a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Seeded {
        Seeded(seed)
    }

    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which must not be 0.
    pub const fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// `length` bytes.
    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| (self.next() >> 56) as u8).collect()
    }

    /// `bytes` with a few of them changed, or truncated, like the output of a fuzzer without knowledge of the
    /// structure.
    pub fn damaged(&mut self, bytes: &[u8]) -> Vec<u8> {
        const TELLING: [u8; 8] = [0, 1, 2, 0x10, 0x7f, 0x80, 0xfe, 0xff];
        let mut bytes = bytes.to_vec();
        for _ in 0..1 + self.below(8) {
            let Some(last) = bytes.len().checked_sub(1) else { break };
            let at = self.below(last + 1);
            match self.below(8) {
                0 => bytes.truncate(at),
                1..=3 => bytes[at] ^= 1 << self.below(8),
                4..=5 => bytes[at] = TELLING[self.below(TELLING.len())],
                _ => bytes[at] = self.next() as u8,
            }
        }
        bytes
    }
}
