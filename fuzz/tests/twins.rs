//! Checks that every fault of a twin can be made, and is reported as that fault.

use sframe_fuzz::targets::twins::fault_is_reported;
use sframe_fuzz::twin::{FAULTS, Twin};
use sframe_mutate::Seeded;
use sframe_validator::Version;

#[test]
fn faults_are_reported() {
    for fault in FAULTS {
        let mut random = Seeded::new(31);
        let mut made = 0;
        for number in 0..300 {
            let length = 16 + random.below(800);
            let twin = Twin::new(&random.bytes(length), Version::ALL[number % 3]);
            made += usize::from(fault_is_reported(fault, &twin, &mut random));
        }
        assert!(made >= 20, "{}: {made}", fault.name);
    }
}
