//! Names that are similar to a mistyped one.

/// A hint for a person who has mistyped a name: similar ones among `names`.
pub(super) fn hint<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> String {
    let mut near: Vec<(usize, &str)> = names
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

/// The number of letters to insert, remove or replace to turn one word into the other.
fn distance(from: &str, to: &str) -> usize {
    let mut costs: Vec<usize> = (0..=to.chars().count()).collect();
    for (row, a) in from.chars().enumerate() {
        let mut diagonal = row;
        let mut left = row + 1;
        if let Some(first) = costs.first_mut() {
            *first = left;
        }
        for (cost, b) in costs.iter_mut().skip(1).zip(to.chars()) {
            let replaced = diagonal + usize::from(a != b);
            diagonal = *cost;
            left = replaced.min(left + 1).min(*cost + 1);
            *cost = left;
        }
    }
    costs.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distances_count_edits() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("same", "same"), 0);
    }
}
