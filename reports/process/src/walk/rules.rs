//! The rules of a consumer: how it looks up rows, and when it stops.

/// Which address is looked up for a frame that was left by a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Lookup {
    /// The byte before the return address, which is in the call. After a call that does not return, the return address
    /// itself belongs to another row or to the next function.
    #[default]
    Call,
    /// The return address itself.
    ReturnAddress,
}

/// The frame at which a walk has reached its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LastFrame {
    /// A frame whose return address is undefined.
    #[default]
    RaUndefined,
    /// Such a frame, or one in which FP is 0: programs start with FP 0 (System V ABI for AMD64, 3.4.1; AAPCS64, 6.4.6).
    FpZero,
}

/// What happens to a witness that has no row for a frame, if others have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Gaps {
    /// The witness continues with the caller that the others found.
    #[default]
    Follow,
    /// Its walk ends.
    Stop,
}

/// The rules of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Which address is looked up.
    pub lookup: Lookup,
    /// How the walk ends.
    pub last_frame: LastFrame,
    /// What happens at gaps of one witness.
    pub gaps: Gaps,
    /// The number of bytes to which SP must be aligned in each caller; 1 if any SP is accepted.
    pub sp_alignment: u64,
    /// The number of bits of virtual addresses that are not part of pointer-authentication codes (AArch64).
    pub address_bits: u32,
    /// The largest number of frames.
    pub max_frames: usize,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            lookup: Lookup::Call,
            last_frame: LastFrame::RaUndefined,
            gaps: Gaps::Follow,
            sp_alignment: 1,
            address_bits: 48,
            max_frames: 4096,
        }
    }
}
