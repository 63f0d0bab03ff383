//! Names that are similar to a mistyped one.

/// The longest word that can be a mistyped name, in bytes.
const LONGEST: usize = 64;

/// A hint for a person who has mistyped a name: similar ones among `names`.
pub(crate) fn hint<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> String {
    let mut near: Vec<(usize, &str)> = names
        .filter(|_| name.len() <= LONGEST)
        .map(|known| (distance(name, known), known))
        .filter(|(distance, known)| *distance <= known.len() / 3 + 1 || known.contains(name))
        .collect();
    near.sort_unstable();
    near.dedup();
    near.truncate(3);
    let names: Vec<String> = near.iter().map(|(_, name)| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => "`sframe-check explain` without a name lists all".to_owned(),
        names => format!("did you mean {}?", names.join(" or ")),
    }
}

/// The name that a person means who types `word`: it differs in one letter of four, or `word` is its beginning.
pub fn meant<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let near = names
        .filter(|_| word.len() <= LONGEST)
        .map(|name| (distance(word, name), name))
        .filter(|(distance, name)| *distance <= (name.len() / 4).max(1) || begins(name, word));
    near.min().map(|(_, name)| name)
}

/// Whether `word` is the beginning of a name, and long enough to tell names apart.
fn begins(name: &str, word: &str) -> bool {
    word.len() >= 3 && name.starts_with(word)
}

/// The number of letters to insert, remove, replace, or exchange with their neighbour to turn one word into the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let at = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(0);
    // The costs of each beginning of `to`, for the beginnings of `from` that are two letters and one letter shorter.
    let (mut shorter, mut costs): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..=to.len()).collect());
    let mut before = None;
    for a in from.chars() {
        let mut longer = vec![at(&costs, 0) + 1];
        let mut left = None;
        for (column, &b) in to.iter().enumerate() {
            let replaced = at(&costs, column) + usize::from(a != b);
            let moved = at(&costs, column + 1).min(at(&longer, column)) + 1;
            let exchanged = before == Some(b) && left == Some(a);
            let swapped = exchanged.then(|| at(&shorter, column.saturating_sub(1)) + 1);
            longer.push(swapped.into_iter().fold(replaced.min(moved), usize::min));
            left = Some(b);
        }
        shorter = std::mem::replace(&mut costs, longer);
        before = Some(a);
    }
    costs.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{distance, meant};

    #[test]
    fn distances_count_edits() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("same", "same"), 0);
        assert_eq!(distance("dmup", "dump"), 1);
        assert_eq!(distance("pmud", "dump"), 3);
    }

    #[test]
    fn a_mistyped_word_is_the_nearest_name() {
        let of = |word| meant(word, ["dump", "diff", "forecast", "repo", "repair"].into_iter());
        assert_eq!(of("dmup"), Some("dump"));
        assert_eq!(of("forcats"), Some("forecast"));
        assert_eq!(of("rep"), Some("repo"));
        assert_eq!(of("fore"), Some("forecast"));
        assert_eq!(of("lib"), None);
        assert_eq!(of("re"), None);
    }
}
