//! The web site: every page is there, every link leads somewhere, and what we did not write stays.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::LazyLock;

use sframe_corpus::repository;
use sframe_record::catalogue;
use sframe_render::explain::{self, Kind};
use sframe_site::{REPOSITORY, Site};

static SITE: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let site = Site::of(&repository()).expect("the guides can be read");
    let files = site.files.into_iter();
    files.map(|(path, bytes)| (path, String::from_utf8_lossy(&bytes).into_owned())).collect()
});

fn pages() -> impl Iterator<Item = (&'static str, &'static str)> {
    let is_page = |(path, _): &(&String, &String)| path.ends_with(".html");
    SITE.iter().filter(is_page).map(|(path, text)| (path.as_str(), text.as_str()))
}

/// The values of an attribute, unescaped.
fn values<'p>(page: &'p str, attribute: &'p str) -> impl Iterator<Item = String> + 'p {
    let parts = page.split(attribute).skip(1);
    parts.filter_map(|part| part.split_once('"')).map(|(value, _)| value.replace("&amp;", "&"))
}

/// The path of an address in the page at `from`.
fn resolved(from: &str, to: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in to.split('/') {
        if part == ".." {
            assert!(parts.pop().is_some(), "{from}: {to} leads out of the site");
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

/// Why an address leads nowhere.
fn fault(from: &str, to: &str) -> Option<&'static str> {
    if let Some(path) = to.strip_prefix(REPOSITORY) {
        let path = path.split('#').next().unwrap_or_default();
        let of_file = path.strip_prefix("/blob/HEAD/").or(path.strip_prefix("/tree/HEAD/"));
        let is_there = of_file.is_none_or(|path| repository().join(path).exists());
        return (!is_there).then_some("the repository has no such file");
    }
    if to.starts_with("https://") || to.starts_with("data:") {
        return None;
    }
    let (path, anchor) = to.split_once('#').unwrap_or((to, ""));
    let path = if path.is_empty() { from.to_owned() } else { resolved(from, path) };
    let Some(page) = SITE.get(&path) else { return Some("the site has no such file") };
    let is_there = anchor.is_empty() || values(page, " id=\"").any(|id| id == anchor);
    (!is_there).then_some("the page has no such anchor")
}

#[test]
fn every_link_leads_somewhere() {
    let mut count = 0;
    let mut faults = Vec::new();
    for (path, page) in pages() {
        let attributes = ["href=\"", "src=\"", "action=\""];
        for to in attributes.into_iter().flat_map(|attribute| values(page, attribute)) {
            count += 1;
            if let Some(fault) = fault(path, &to) {
                faults.push(format!("{path}: {to}: {fault}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count > 1000, "{count} links");
}

#[test]
fn every_anchor_is_used_once_in_its_page() {
    for (path, page) in pages() {
        let mut seen = BTreeSet::new();
        for id in values(page, " id=\"") {
            assert!(seen.insert(id.clone()), "{path}: {id}");
        }
    }
}

#[test]
fn every_search_result_leads_somewhere() {
    let index = SITE.get("index.js").expect("an index");
    let index = index.strip_prefix("const INDEX = ").and_then(|rest| rest.strip_suffix(";\n"));
    let index: serde_json::Value = serde_json::from_str(index.expect("one value")).expect("JSON");
    let entries = index.as_array().expect("a list");
    for entry in entries {
        let address = entry.get("address").and_then(|to| to.as_str()).expect("an address");
        assert_eq!(fault("index.html", address), None, "{address}");
    }
    for rule in catalogue::all() {
        let named = entries.iter().filter(|entry| {
            entry.get("name").is_some_and(|name| name == rule.name)
                && entry.get("address") == Some(&format!("rules/{}.html", rule.name).into())
        });
        assert_eq!(named.count(), 1, "{}", rule.name);
    }
}

/// The truth is `explain`, which answers to every name.
#[test]
fn everything_that_explain_knows_has_its_page_and_is_listed_once() {
    let index = SITE.get("index.html").expect("an index");
    for (_, subject) in explain::subjects() {
        let page = explain::page(subject);
        let folder = match page.kind {
            Kind::Rule => "rules",
            Kind::KnownDefect => "defects",
            Kind::Cause => "causes",
            Kind::Word => "words",
            Kind::Message => "messages",
            Kind::Consumer => "consumers",
        };
        let address = format!("{folder}/{}.html", page.name);
        let text = SITE.get(&address).unwrap_or_else(|| panic!("{address} is missing"));
        assert!(text.contains(&format!("<h1>{}</h1>", page.title())), "{address}");
        for part in &page.parts {
            assert!(
                text.contains(&format!("<h2 id=\"{}\">{}</h2>", part.name, part.title)),
                "{address}"
            );
        }
        assert_eq!(values(index, "href=\"").filter(|to| *to == address).count(), 1, "{address}");
    }
    for guide in fs::read_dir(repository().join("docs")).expect("a folder") {
        let name = guide.expect("an entry").file_name();
        let Some(name) = name.to_str().and_then(|name| name.strip_suffix(".md")) else { continue };
        // The rules have pages of their own, and promises are for contributors.
        let is_guide = !["RULES", "PROMISES"].contains(&name);
        assert_eq!(SITE.contains_key(&format!("guides/{name}.html")), is_guide, "{name}");
    }
}

#[test]
fn text_of_pages_is_text() {
    let message = explain::subjects()
        .map(|(_, subject)| explain::page(subject))
        .find(|page| page.summary.contains('<'))
        .expect("a page with a character of markup");
    let index = SITE.get("index.html").expect("an index");
    let characters =
        [("&#38;", "&"), ("&#60;", "<"), ("&#62;", ">"), ("&#34;", "\""), ("&#39;", "'")];
    let read =
        characters.into_iter().fold(index.clone(), |text, (from, to)| text.replace(from, to));
    assert!(read.contains(&message.summary), "{}", message.summary);
    assert!(!index.contains(&message.summary), "{}", message.summary);
}

#[test]
fn nothing_is_loaded_from_elsewhere() {
    for (path, page) in pages() {
        for to in ["src=\"", "action=\""].into_iter().flat_map(|attribute| values(page, attribute))
        {
            assert!(!to.contains(':'), "{path}: {to}");
        }
        assert!(!page.contains("<script>") && !page.contains("<style"), "{path}");
    }
}

#[test]
fn only_a_web_site_is_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    let site = |name: &str| Site { files: BTreeMap::from([(name.to_owned(), b"text".to_vec())]) };
    let made = folder.path().join("site");
    site("rules/old.html").write(&made).expect("a new folder");
    fs::write(made.join("mine"), "kept").expect("writable");
    site("rules/new.html").write(&made).expect("our own folder");
    assert!(!made.join("rules/old.html").exists() && made.join("rules/new.html").exists());
    assert_eq!(fs::read_to_string(made.join("mine")).expect("readable"), "kept");

    let other = folder.path().join("other");
    fs::create_dir(&other).expect("writable");
    fs::write(other.join("mine"), "kept").expect("writable");
    let refused = site("index.html").write(&other).expect_err("not ours");
    assert!(refused.to_string().contains("not a web site"), "{refused}");
    assert_eq!(fs::read_dir(&other).expect("readable").count(), 1);

    // A list that somebody has changed removes nothing elsewhere.
    fs::write(made.join(".sframe-site"), "../other/mine\n").expect("writable");
    site("index.html").write(&made).expect("our own folder");
    assert!(other.join("mine").exists());
}
