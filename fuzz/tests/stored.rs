//! Checks that sections have the same bytes after being taken apart and put together again: those that assemblers and
//! linkers have written, and generated ones.

mod corpus;

use sframe_fuzz::generate::{Configuration, Plan};
use sframe_mutate::Seeded;
use sframe_validator::write::StoredSection;

#[test]
fn sections_of_assemblers_and_linkers_are_restored() {
    let mut whole = 0;
    for file in corpus::sections() {
        let golden = file.path.components().any(|part| part.as_os_str() == "golden");
        let Some(parts) = StoredSection::read(&file.bytes, 0x4000) else {
            // The header does not include the sections that lld has appended.
            continue;
        };
        assert_eq!(parts.bytes(), file.bytes, "{}", file.path.display());
        whole += usize::from(golden);
    }
    assert!(whole > 400, "{whole}");
}

#[test]
fn generated_sections_are_restored() {
    let mut random = Seeded::new(3);
    for _ in 0..2_000 {
        let length = random.below(600);
        let plan = Plan::new(&random.bytes(length), &Configuration::ALL);
        let bytes = plan.build().expect("can be written").bytes;
        let parts = StoredSection::read(&bytes, plan.address).expect("valid");
        assert_eq!(parts.bytes(), bytes);
    }
}
