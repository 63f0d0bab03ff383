//! The last test program that `cargo test --workspace` runs. It prints what was not compared for lack of a tool.

fn main() -> std::io::Result<()> {
    sframe_corpus::tools::skipped::summarise()
}
