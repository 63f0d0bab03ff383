//! Prints for each file what a stack walker finds that looks up return addresses without subtracting one.
//!
//! ```sh
//! cargo run --release -p sframe-oracle --example call_sites -- /usr/lib/x86_64-linux-gnu/libc.so.6
//! ```

use sframe_oracle::cfi::Cfi;
use sframe_oracle::code::Program;
use sframe_oracle::compare::{SiteSums, call_sites};
use sframe_validator::elf::Elf;

fn main() {
    let mut all = SiteSums::default();
    println!("calls, affected, by: equal frame elsewhere, other row, other function, nothing");
    for path in std::env::args().skip(1) {
        let Some(sums) = std::fs::read(&path).ok().and_then(|data| of(&data)) else { continue };
        all += sums;
        print(&sums, &path);
    }
    print(&all, "all");
}

/// The sums for the CFI of a file.
fn of(data: &[u8]) -> Option<SiteSums> {
    let elf = Elf::parse(data).ok()?;
    let cfi = Cfi::load_all(&elf).ok()?;
    let code = Program::of(&elf, &[], &cfi)?;
    Some(call_sites(&code, &elf, &[], &cfi, |_| {}).1)
}

fn print(sums: &SiteSums, name: &str) {
    let SiteSums { same_elsewhere, other_row, other_function, nothing, .. } = *sums;
    let share = sums.affected() as f64 * 100.0 / sums.total().max(1) as f64;
    let total = sums.total();
    println!(
        "{total:>9} {share:>6.2} % {same_elsewhere:>7} {other_row:>7} {other_function:>7} {nothing:>7} {name}"
    );
}
