//! Where the pages of `explain` are on the web.

use crate::catalogue;
use crate::record::RuleCount;
use crate::summary::Summary;

/// The address of the folder to which the web site was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pages(String);

impl Pages {
    /// The longest address, in bytes.
    const LONGEST: usize = 2000;

    /// Reads an address, such as `https://example.org/sframe`.
    ///
    /// # Errors
    /// Says what is wrong with anything but an `https:`, `http:` or `file:` address of printable ASCII characters that need no quotes in
    /// SARIF, HTML or Markdown.
    pub fn parse(address: &str) -> Result<Pages, String> {
        let has_scheme = ["https://", "http://", "file:///"]
            .iter()
            .any(|scheme| address.len() > scheme.len() && address.starts_with(scheme));
        let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"\"'<>\\^`{|}()[]".contains(&byte);
        match has_scheme && address.len() <= Pages::LONGEST && address.bytes().all(is_plain) {
            true => Ok(Pages(address.trim_end_matches('/').to_owned())),
            false => Err("an https:, http: or file: address is needed".to_owned()),
        }
    }

    /// The address of a rule's page.
    #[must_use]
    pub fn of_rule(&self, name: &str) -> String {
        format!("{}/{RULES}/{name}.html", self.0)
    }

    /// A summary with the addresses of the pages of its rules.
    #[must_use]
    pub fn add_to<'r>(&self, summary: &Summary<'r>) -> Summary<'r> {
        let mut summary = summary.clone();
        let rules = summary.rules.iter().filter(|of| catalogue::find(&of.rule).is_some());
        let address = |of: &RuleCount<'r>| (of.rule.clone(), self.of_rule(&of.rule).into());
        summary.pages = rules.map(address).collect();
        summary
    }
}

/// The folder of the rules in the web site.
pub const RULES: &str = "rules";

#[cfg(test)]
mod tests {
    use super::Pages;

    #[test]
    fn addresses_lead_to_pages() {
        let pages = Pages::parse("https://example.org/sframe/").expect("an address");
        assert_eq!(pages.of_rule("magic"), "https://example.org/sframe/rules/magic.html");
        for wrong in
            ["example.org", "https://", "https://a b", "https://a\"b", "javascript:alert(1)"]
        {
            assert!(Pages::parse(wrong).is_err(), "{wrong}");
        }
    }
}
