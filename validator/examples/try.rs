//! tmp
use sframe_validator::{check::*, elf::Elf};
fn main() {
    let pedantic = std::env::var("P").is_ok();
    for path in std::env::args().skip(1) {
        let data = std::fs::read(&path).unwrap();
        let elf = match Elf::parse(&data) {
            Ok(e) => e,
            Err(e) => {
                println!("{path}: {e}");
                continue;
            }
        };
        let t = std::time::Instant::now();
        let r = check_elf(&elf, &Options { pedantic, ..Options::default() });
        let dt = t.elapsed();
        println!(
            "{path}: {:?} {:?}",
            r.sections.iter().map(|s| (s.functions, s.rows, s.covered_bytes)).collect::<Vec<_>>(),
            dt
        );
        for (rule, n) in &r.counts {
            println!("   {} {} x{n}", rule.severity, rule.name);
        }
        for f in r.findings.iter() {
            println!(
                "      {} {:?} {:x?} {:?}",
                f.rule.name,
                f.message,
                f.offset,
                f.function.map(|f| f.index)
            );
        }
        for u in &r.undecided {
            println!("   undecided {}", u.reason);
        }
    }
}
