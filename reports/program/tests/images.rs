//! Container images as folders and as tar archives; laid out by hand, with `sha256sum`'s sums.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod packing;

use packing::Folder;

/// An image with two layers, one of which two manifests name, behind an index in the index.
const LAYOUT: &str = r#"
    mkdir -p image/blobs/sha256 tree/usr/bin more/usr/lib
    cp program tree/usr/bin; cp library more/usr/lib; : > more/usr/lib/.wh.gone
    put() {
        sum=$(sha256sum < "$1" | cut -d' ' -f1)
        cp "$1" image/blobs/sha256/$sum
        printf '{"mediaType":"%s","digest":"sha256:%s","size":%s}' "$2" $sum $(wc -c < "$1")
    }
    tar -czf first -C tree usr; tar -cf second -C more usr; printf '{}' > config
    first=$(put first layer); second=$(put second layer); config=$(put config config)
    printf '{"schemaVersion":2,"config":%s,"layers":[%s,%s]}' "$config" "$first" "$second" > manifest
    printf '{"schemaVersion":2,"config":%s,"layers":[%s]}' "$config" "$first" > other
    printf '{"schemaVersion":2,"manifests":[%s,%s]}' "$(put manifest m)" "$(put other m)" > inner
    printf '{"schemaVersion":2,"manifests":[%s]}' "$(put inner i)" > image/index.json
    printf '{"imageLayoutVersion":"1.0.0"}' > image/oci-layout
    sha256sum < first | cut -d' ' -f1 > first.sum; sha256sum < second | cut -d' ' -f1 > second.sum
    rm -r tree more
"#;

fn image(name: &str) -> Option<(Folder, String, String)> {
    let folder = Folder::new(name);
    folder.copy("golden/2.47.50/x86_64/static.exe", "program");
    folder.copy("golden/2.47.50/x86_64/edges.so", "library");
    if !folder.make("sha256sum", LAYOUT) {
        return None;
    }
    let sum = |name| String::from_utf8(folder.read(name)).expect("UTF-8").trim().to_owned();
    let (first, second) = (sum("first.sum"), sum("second.sum"));
    Some((folder, first, second))
}

#[test]
fn layers_are_checked_in_the_index_order_and_once() {
    let Some((folder, first, second)) = image("image") else { return };
    assert!(folder.make("cp", "mkdir around && cp -r image around"));
    for (word, prefix) in [("image", "image"), ("around", "around/image")] {
        let (_, text) = folder.check(&["-v", word]);
        let place =
            |wanted: &str| text.find(wanted).unwrap_or_else(|| panic!("no {wanted} in {text}"));
        let program = place(&format!("{prefix}!blobs/sha256/{first}!usr/bin/program: .sframe V3"));
        let library = place(&format!("{prefix}!blobs/sha256/{second}!usr/lib/library"));
        assert!(program < library);
        assert!(text.contains(&format!("{second}!usr/lib/.wh.gone: not checked, empty")), "{text}");
        assert_eq!(text.matches("!usr/bin/program: ").count(), 1, "{text}");
        // What no manifest names is not looked at.
        assert!(!text.contains("config"), "{text}");
    }
    let (_, text) = folder.check(&["-v", "--max-depth", "0", "image"]);
    assert!(text.contains("image: not checked, not an ELF file"), "{text}");
}

#[test]
fn archives_of_images_are_read_in_stored_order() {
    let Some((folder, first, second)) = image("image-tar") else { return };
    assert!(folder.make("tar", "tar -cf x.tar -C image . && rm -r image"));
    let (_, text) = folder.check(&["-v", "x.tar"]);
    for name in
        [format!("{first}!usr/bin/program: .sframe V3"), format!("{second}!usr/lib/library")]
    {
        assert!(text.contains(&format!("x.tar!blobs/sha256/{name}")), "no {name} in {text}");
    }
    assert!(!text.contains("SHA-256"), "{text}");
    let mut bytes = folder.read("x.tar");
    // Of the library, in the second layer: a byte of e_ident that nobody reads. No other layer has one as it is.
    let place = bytes.windows(4).position(|window| window == b"\x7fELF").expect("it is there");
    bytes[place + 12] ^= 1;
    folder.write("x.tar", &bytes);
    let (status, text) = folder.check(&["-v", "x.tar"]);
    assert_eq!(status, 2, "{text}");
    let told =
        format!("x.tar!blobs/sha256/{second}: cannot be read: its SHA-256 differs from the one");
    assert!(text.contains(&told), "{text}");
}

#[test]
fn what_is_not_what_it_is_called_is_told() {
    let Some((folder, first, second)) = image("image-hostile") else { return };
    let blob = format!("image/blobs/sha256/{first}");
    let sound = folder.read(&blob);
    let told = |reason: &str| {
        let (status, text) = folder.check(&["-v", "image"]);
        assert!(status == 2 && text.contains(reason), "no {reason} in {text}");
        assert!(text.contains(&format!("{second}!usr/lib/library")), "{text}");
    };
    folder.write(&blob, &[sound.as_slice(), b"\x1f\x8b"].concat());
    told(&format!("{first}: cannot be read: "));
    folder.write(&blob, b"not the layer");
    told(&format!("{first}: cannot be read: its SHA-256 differs from the one in its name"));
    std::fs::remove_file(folder.path(&blob)).expect("it is there");
    told(&format!("{first}: cannot be read: No such file or directory"));
    folder.write(&blob, &sound);
    let index = String::from_utf8(folder.read("image/index.json")).expect("UTF-8");
    for (digest, reason) in [
        ("sha256:../../../program", "its digest is not a SHA-256"),
        ("sha512:00", "its digest is not a SHA-256"),
        (&format!("sha256:{}", "0".repeat(64)), "No such file or directory"),
        (&format!("sha256:{second}"), "it is larger than"),
    ] {
        if reason.starts_with("it is larger") {
            folder.write(&format!("image/blobs/sha256/{second}"), &vec![b' '; 5 << 20]);
        }
        let more = format!(r#""manifests":[{{"digest":"{digest}"}},"#);
        folder.write("image/index.json", index.replace(r#""manifests":["#, &more).as_bytes());
        let (status, text) = folder.check(&["-v", "image"]);
        assert!(status == 2 && text.contains(reason), "no {reason} in {text}");
    }
    folder.write("image/index.json", b"{");
    let (status, text) = folder.check(&["-v", "image"]);
    assert!(status == 2 && text.contains("image: cannot be read: EOF"), "{text}");
}

/// Of indexes in each other eight are followed; the image has two of them to begin with.
#[test]
fn indexes_in_each_other_have_an_end() {
    for (indexes, read) in [(6, true), (7, false)] {
        let Some((folder, first, _)) = image(&format!("image-deep-{indexes}")) else { return };
        let nest = format!(
            "for n in $(seq {indexes}); do sum=$(sha256sum < image/index.json | cut -d' ' -f1)
             cp image/index.json image/blobs/sha256/$sum
             printf '{{\"manifests\":[{{\"digest\":\"sha256:%s\"}}]}}' $sum > image/index.json; done"
        );
        assert!(folder.make("sha256sum", &nest));
        let (status, text) = folder.check(&["-v", "image"]);
        assert_eq!(text.contains(&format!("{first}!usr/bin/program: .sframe")), read, "{text}");
        let told = text.contains("its index refers to too many other documents");
        assert!(told != read && (read || status == 2), "{text}");
    }
}
