//! Predicted sections against those of real libraries, which `corpus/recipes/real.sh` builds: zlib and SQLite. They are
//! assembled and linked as a whole, so nothing is explained away. `big.so`, ten copies of both, would add only time.

mod common;

use common::{compare, print};

/// Sizes to the byte, and the rows of every function.
#[test]
fn real_sections_are_as_predicted() {
    let mut seen = 0;
    for release in ["2.40", "2.44", "2.47.50"] {
        let folder = sframe_corpus::tools::real_libraries().join(release);
        let mut files = sframe_corpus::files(&folder);
        files.retain(|path| !path.ends_with("big.so"));
        for path in files {
            let data = std::fs::read(&path).expect("readable");
            let Some(compared) = compare(&data) else { continue };
            print(&path, &compared, "");
            assert!(compared.is_equal(), "{}: {:x?}", path.display(), compared.different);
            seen += 1;
        }
    }
    if seen == 0 {
        sframe_corpus::tools::missing("real libraries", "corpus/build real");
    }
}
