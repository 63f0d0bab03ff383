//! Formats numbers for people.

/// `1234567` as `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 file`, `2 files`.
pub fn counted(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(number))
}

/// A number of bytes in the unit that people would take: `845 bytes`, `1.2 KB`, `10.8 MB`. A KB has 1,000 bytes.
pub fn size(bytes: u64) -> String {
    let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "KB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => {
            let tenths = (u128::from(bytes) * 10 + u128::from(unit) / 2) / u128::from(unit);
            format!(
                "{}.{} {name}",
                grouped(u64::try_from(tenths / 10).unwrap_or(u64::MAX)),
                tenths % 10
            )
        }
        None => counted(bytes, "byte"),
    }
}

/// The percentage of `part` in `whole`, rounded to the nearest tenth: 100 % is printed only for all of it, and 0 % only for
/// nothing.
pub fn percent(part: u64, whole: u64) -> String {
    share(part, whole, u128::from(whole) / 2)
}

/// The percentage of `part` in `whole`, rounded down, so that it is never equal to a limit that it does not reach.
pub fn percent_below(part: u64, whole: u64) -> String {
    share(part, whole, 0)
}

/// The percentage in tenths, of which `half` of the whole and more make one.
fn share(part: u64, whole: u64, half: u128) -> String {
    if whole == 0 {
        return "none".to_owned();
    }
    match (u128::from(part) * 1000 + half) / u128::from(whole) {
        0 if part > 0 => "under 0.1 %".to_owned(),
        1000 if part < whole => "over 99.9 %".to_owned(),
        tenths => format!("{}.{} %", tenths / 10, tenths % 10),
    }
}

/// `text` with `#` in place of each word that starts with a digit: messages that differ only in numbers become equal.
pub fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut in_word, mut in_number) = (false, false);
    for character in text.chars() {
        let wordly = character.is_ascii_alphanumeric();
        if wordly && !in_word {
            in_number = character.is_ascii_digit();
            if in_number {
                out.push('#');
            }
        }
        if !wordly || !in_number {
            out.push(character);
        }
        in_word = wordly;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{counted, grouped, percent, percent_below, size, without_numbers};

    #[test]
    fn messages_that_differ_only_in_numbers_become_equal() {
        assert_eq!(without_numbers("relocation 12 at 0x4f"), "relocation # at #");
        let one = without_numbers("damaged ELF file: section 12 ends at 0x1f0");
        assert_eq!(one, without_numbers("damaged ELF file: section 7 ends at 0x2c"));
        assert_ne!(one, without_numbers("damaged ELF file: segment 7 ends at 0x2c"));
        assert_eq!(without_numbers("usr/lib64/x: 3 GiB"), "usr/lib64/x: # GiB");
    }

    #[test]
    fn sizes_have_the_unit_that_people_would_take() {
        let sizes = [0, 1, 999, 1000, 1249, 1250, 10_838_123, 2_500_000_000].map(size);
        let expected =
            ["0 bytes", "1 byte", "999 bytes", "1.0 KB", "1.2 KB", "1.3 KB", "10.8 MB", "2.5 GB"];
        assert_eq!(sizes, expected);
    }

    #[test]
    fn digits_are_grouped_by_three() {
        let numbers = [0, 999, 1000, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(counted(1, "row"), "1 row");
        assert_eq!(counted(2000, "row"), "2,000 rows");
    }

    #[test]
    fn percentages_do_not_round_to_an_extreme() {
        assert_eq!(percent(999_999, 1_000_000), "over 99.9 %");
        assert_eq!(percent(9_994, 10_000), "99.9 %");
        assert_eq!(percent(1, 1_000_000), "under 0.1 %");
        assert_eq!(percent(5, 10_000), "0.1 %");
        assert_eq!(percent(0, 5), "0.0 %");
        assert_eq!(percent(5, 5), "100.0 %");
        assert_eq!(percent(0, 0), "none");
        assert_eq!(percent(u64::MAX - 1, u64::MAX), "over 99.9 %");
    }

    #[test]
    fn percentages_are_rounded_to_the_nearest_tenth() {
        assert_eq!([percent(1, 3), percent(2, 3)], ["33.3 %", "66.7 %"]);
        assert_eq!([percent(1, 8), percent(7, 8)], ["12.5 %", "87.5 %"]);
        assert_eq!(percent(1, 2000), "0.1 %");
        // More than the whole: entries that overlap.
        assert_eq!(percent(3, 2), "150.0 %");
    }

    #[test]
    fn a_share_below_a_limit_is_not_rounded_up_to_it() {
        assert_eq!(percent_below(8_996, 10_000), "89.9 %");
        assert_eq!(percent_below(999_999, 1_000_000), "99.9 %");
    }
}
