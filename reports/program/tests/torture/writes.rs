//! Readers that fill disks.

use std::fs;

use crate::{cases, folder, report, script};

/// Each of these readers exceeds one of the limits in `torture --help`, and would then run for minutes.
#[test]
fn readers_that_write_too_much_are_killed() {
    let elsewhere = folder("reader-that-writes-elsewhere");
    let reader = script(
        "reader-that-writes",
        &format!(
            r#"case "$1" in
                */row-order.elf) for n in $(seq 40); do head -c 60M /dev/zero > $n; done ;;
                */row-past-end.elf) cd "$TMPDIR"
                    for n in $(seq 40); do head -c 60M /dev/zero > $n; done ;;
                */word-count.elf) for n in $(seq 40); do fallocate -l 60M $n || exit 1; done ;;
                */no-rows.elf) for n in $(seq 40); do head -c 60M /dev/zero > {}/file; done ;;
                */flex-register.elf) head -c 2G /dev/zero >&2 ;;
                */fp-lost.elf) exec head -c 70M /dev/zero > file ;;
                */bad-magic.elf) head -c 60M /dev/zero > file; exit 3 ;;
                */fde-type.elf)
                    for n in $(seq 6); do mkdir $n; (cd $n; seq 20000 | xargs touch); done ;;
                *) exit 0 ;;
            esac
            sleep 600"#,
            elsewhere.display()
        ),
    );
    let (status, report) = report(&["--timeout", "20", "--reader", &reader]);
    assert_eq!(status, Some(1));
    let cases = cases(&report);
    let of = |file: &str| cases[format!("malformed/{file}.elf").as_str()];
    for file in [
        "row-order",
        "row-past-end",
        "word-count",
        "no-rows",
        "flex-register",
        "fp-lost",
        "fde-type",
    ] {
        let case = of(file);
        let judged = (case["verdict"].as_str(), case["judgement"].as_str());
        assert_eq!(judged, (Some("writes"), Some("not-conforming")), "{file}: {case}");
        assert!(case["exit_status"].is_null(), "{file}: {case}");
    }
    // signal(7): SIGXFSZ.
    assert_eq!(of("fp-lost")["signal"], 25);
    assert!(of("flex-register")["printed_bytes"].as_u64() > Some(1 << 30));
    assert_eq!(
        (&of("bad-magic")["verdict"], &of("bad-magic")["exit_status"]),
        (&"reject".into(), &3.into())
    );
    fs::remove_dir_all(elsewhere).expect("it exists");
}

/// Each run of a reader has its own working folder. Relative paths in the command are still relative to the folder in
/// which the program was started.
#[test]
fn each_run_of_a_reader_has_its_own_folder() {
    let place = folder("reader-in-a-folder");
    script(
        "reader-in-a-folder-script",
        &format!("pwd >> {0}/$$; echo $TMPDIR >> {0}/$$", place.display()),
    );
    // `report` starts the program in the folder of test files, which has the script.
    report(&["--reader", "sh reader-in-a-folder-script/reader"]);
    let mut folders = Vec::new();
    for entry in fs::read_dir(&place).expect("readable") {
        let text = fs::read_to_string(entry.expect("readable").path()).expect("text");
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        assert!(lines.len() == 2 && lines[0] == lines[1], "{lines:?}");
        folders.extend(lines.into_iter().next());
    }
    let count = folders.len();
    folders.sort();
    folders.dedup();
    assert!(count > 200 && folders.len() == count, "{count}");
}
