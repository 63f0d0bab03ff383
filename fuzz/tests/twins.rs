//! Every fault of a twin: has places to be made at, and is told for what it is.

use sframe_fuzz::seeded::Seeded;
use sframe_fuzz::targets::twins::fault_is_told;
use sframe_fuzz::twin::{FAULTS, Twin};
use sframe_validator::Version;

#[test]
fn faults_are_told() {
    for fault in FAULTS {
        let mut random = Seeded::new(31);
        let mut made = 0;
        for number in 0..300 {
            let length = 16 + random.below(800);
            let twin = Twin::new(&random.bytes(length), Version::ALL[number % 3]);
            made += usize::from(fault_is_told(fault, &twin, &mut random));
        }
        assert!(made >= 20, "{}: {made}", fault.name);
    }
}
