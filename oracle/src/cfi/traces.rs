//! Facts stated by instructions that no row shows.

/// A set of facts stated by a function's instructions that leave no trace in its rows, but keep producers from writing
/// SFrame for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Traces(u16);

impl Traces {
    /// `negate_ra_state_with_pc`.
    pub(crate) const SIGN_WITH_PC: Traces = Traces(1);
    /// `val_offset` of SP, FP or RA, even if revoked before the row ends.
    pub(crate) const VALUE_OFFSET: Traces = Traces(2);
    /// SP is undefined.
    pub(crate) const UNDEFINED_SP: Traces = Traces(4);
    /// SP is saved in another register.
    pub(crate) const SAVED_SP: Traces = Traces(8);
    /// `GNU_window_save`, `val_expression`, or `expression` of SP.
    pub(crate) const ESCAPE: Traces = Traces(16);
    /// `remember_state` before the first advance.
    pub(crate) const REMEMBER_AT_START: Traces = Traces(32);
    /// `remember_state` before a rule that is compared has changed.
    pub(crate) const REMEMBER_FIRST: Traces = Traces(64);
    /// An expression of any kind, including those for registers that are not tracked.
    pub(crate) const EXPRESSION: Traces = Traces(128);
    /// `GNU_args_size`.
    pub(crate) const ARGS_SIZE: Traces = Traces(256);
    /// `GNU_args_size` where the CFA is not based on FP, or of 128 bytes and more.
    pub(crate) const LARGE_ARGS_SIZE: Traces = Traces(512);

    pub(crate) const fn contains(self, other: Traces) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) const fn add(&mut self, other: Traces) {
        self.0 |= other.0;
    }
}

#[cfg(test)]
mod tests {
    use super::Traces;

    #[test]
    fn a_trace_stays_however_often_it_is_added() {
        let all = [
            Traces::SIGN_WITH_PC,
            Traces::VALUE_OFFSET,
            Traces::UNDEFINED_SP,
            Traces::SAVED_SP,
            Traces::ESCAPE,
            Traces::REMEMBER_AT_START,
            Traces::REMEMBER_FIRST,
            Traces::EXPRESSION,
            Traces::ARGS_SIZE,
            Traces::LARGE_ARGS_SIZE,
        ];
        let mut traces = Traces::default();
        for (number, trace) in all.iter().enumerate() {
            traces.add(*trace);
            traces.add(*trace);
            for (other, trace) in all.iter().enumerate() {
                assert_eq!(traces.contains(*trace), other <= number);
            }
        }
    }
}
