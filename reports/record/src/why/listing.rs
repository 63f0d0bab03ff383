//! A proof as a listing, which text and HTML show alike.

use super::{ArrivalKind, JoinedWay, LeftOut, Lost, Why, WhyStep};
use crate::frame::KnownFrame;
use crate::value::Text;

/// Runs of more instructions than this that change nothing are counted, not listed.
const MOST_LISTED: usize = 4;

/// A line of the listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyLine<'w> {
    /// An instruction.
    Step {
        /// The instruction, and what is known before it.
        step: &'w WhyStep<'w>,
        /// Whether what is known is shown: it has changed, or the way ends here.
        shows_state: bool,
        /// How control comes to it, if it is not after the instruction before it alone.
        note: Option<String>,
    },
    /// This number of instructions that do not change what is known.
    Unchanged(usize),
    /// This number of instructions that the report does not contain.
    LeftOut(usize),
}

impl WhyLine<'_> {
    /// What a line says that lists no instruction.
    #[must_use]
    pub fn count(&self) -> Option<(usize, &'static str)> {
        match *self {
            WhyLine::Step { .. } => None,
            WhyLine::Unchanged(count) => Some((count, "that do not change this")),
            WhyLine::LeftOut(count) => Some((count, "left out")),
        }
    }
}

impl Why<'_> {
    /// The listing. Where nothing changes, no control comes from elsewhere, and the way goes on, many instructions are one line.
    #[must_use]
    pub fn lines(&self) -> Vec<WhyLine<'_>> {
        let (mut lines, mut quiet) = (Vec::new(), Vec::new());
        let mut shown: Option<&WhyStep<'_>> = None;
        for (index, step) in self.way.iter().enumerate() {
            if let Some(LeftOut { after, instructions }) = self.left_out
                && after == index
            {
                flush(&mut lines, &mut quiet);
                lines.push(WhyLine::LeftOut(instructions));
                shown = None;
            }
            let is_changed = shown.is_none_or(|shown| !shown.knows_as_much_as(step));
            let note = step.note();
            let is_last = index.saturating_add(1) == self.way.len();
            let line = WhyLine::Step { step, shows_state: is_changed || is_last, note };
            match line {
                WhyLine::Step { shows_state: false, note: None, .. } => quiet.push(line),
                _ => {
                    flush(&mut lines, &mut quiet);
                    lines.push(line);
                    shown = Some(step);
                }
            }
        }
        lines
    }

    /// What is not known at the end of the way and where it was lost, and the clauses that decide, as sentences.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let lost = self.lost.iter().map(|Lost { what, at, is_join, ways }| match (at, is_join) {
            (Some(at), true) => {
                let ways: Vec<String> = ways.iter().map(JoinedWay::in_words).collect();
                let ways = match ways.is_empty() {
                    true => String::new(),
                    false => format!(": {}", ways.join(", ")),
                };
                format!("{what} is not known from {at} on, where ways join that differ in it{ways}")
            }
            (Some(at), false) => {
                format!("{what} is not known from {at} on: the instruction before it changes it")
            }
            (None, _) => format!("{what} is known nowhere on this way"),
        });
        lost.chain(self.clause.as_ref().map(|clause| format!("decided by {clause}"))).collect()
    }
}

/// Moves lines about instructions that change nothing, or their number.
fn flush<'w>(lines: &mut Vec<WhyLine<'w>>, quiet: &mut Vec<WhyLine<'w>>) {
    if quiet.len() > MOST_LISTED {
        lines.push(WhyLine::Unchanged(quiet.len()));
        quiet.clear();
    }
    lines.append(quiet);
}

impl JoinedWay<'_> {
    /// `rsp+16 after .text+0x3`.
    fn in_words(&self) -> String {
        let rule = self.rule.as_ref().map_or("nothing known", Text::as_str);
        match &self.code_section {
            Some(section) => format!("{rule} after {section}+{}", self.from),
            None => format!("{rule} after {}", self.from),
        }
    }
}

impl WhyStep<'_> {
    /// The address, with the section in relocatable objects: `.text+0x4`.
    #[must_use]
    pub fn place(&self) -> String {
        match &self.code_section {
            Some(section) => format!("{section}+{}", self.instruction.address),
            None => self.instruction.address.to_string(),
        }
    }

    /// What is known before the instruction: `CFA`, `RA`, `FP` and the registers that were asked about, each with its rule, or `?`.
    #[must_use]
    pub fn state(&self) -> Vec<(String, String)> {
        let rule = |rule: &Option<Text<'_>>| match rule {
            Some(rule) => rule.to_string(),
            None => "?".to_owned(),
        };
        let KnownFrame { cfa, ra, fp } = &self.code.known;
        let signed = if self.code.ra_signed { " signed" } else { "" };
        let frame = [("CFA", rule(cfa)), ("RA", rule(ra) + signed), ("FP", rule(fp))];
        let frame = frame.into_iter().map(|(name, rule)| (name.to_owned(), rule));
        let registers = self.registers.iter();
        frame.chain(registers.map(|of| (of.name.to_string(), rule(&of.rule)))).collect()
    }

    fn knows_as_much_as(&self, other: &WhyStep<'_>) -> bool {
        self.code == other.code && self.registers == other.registers
    }

    /// How control comes to the instruction, if it is not after the one before it alone.
    fn note(&self) -> Option<String> {
        let how = match self.arrival {
            ArrivalKind::Call => Some("entered by calls"),
            ArrivalKind::LocalCall => Some("entered by calls within the function"),
            ArrivalKind::SignalReturn => Some("entered by the return of a signal handler"),
            ArrivalKind::Presumed => Some("taken for the start of a function that is called"),
            ArrivalKind::Jump => Some("after a jump"),
            ArrivalKind::Exception => Some("after an exception that passes the call"),
            ArrivalKind::Following => None,
        };
        let joins = (self.ways > 1).then(|| format!("{} ways join", self.ways));
        match (how, joins) {
            (Some(how), Some(joins)) => Some(format!("{how}; {joins}")),
            (how, joins) => how.map(str::to_owned).or(joins),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::WhyLine;
    use crate::Why;

    /// A way through instructions with these CFAs; a `!` after one means that two ways join there.
    fn listed(cfas: &str, left_out: &str) -> String {
        let step = |(address, cfa): (usize, &str)| {
            let (ways, cfa) = cfa.strip_suffix('!').map_or((1, cfa), |cfa| (2, cfa));
            format!(
                r#"{{"instruction":{{"address":"{address:#x}","text":"nop"}},"arrival":"following","ways":{ways},
                    "code":{{"cfa":"{cfa}"}}}}"#
            )
        };
        let way: Vec<String> = cfas.split_whitespace().enumerate().map(step).collect();
        let text = format!(r#"{{"way":[{}]{left_out}}}"#, way.join(","));
        let why: Why<'_> = serde_json::from_str(&text).expect("a proof");
        let words = why.lines().into_iter().map(|line| match line {
            WhyLine::Step { step, shows_state, note } => {
                let cfa = step.state().into_iter().next().map(|(_, cfa)| cfa);
                let state = cfa.filter(|_| shows_state).unwrap_or_default();
                format!("{}{state}{}", step.place(), if note.is_some() { "!" } else { "" })
            }
            WhyLine::Unchanged(count) => format!("{count} unchanged"),
            WhyLine::LeftOut(count) => format!("{count} left out"),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_is_known_is_shown_where_it_changes_and_at_the_end() {
        assert_eq!(listed("=a =a =b =b", ""), "0x0=a 0x1 0x2=b 0x3=b");
        assert_eq!(listed("=a =a! =a =a", ""), "0x0=a 0x1! 0x2 0x3=a");
    }

    #[test]
    fn long_runs_without_a_change_are_counted() {
        assert_eq!(listed("=a =a =a =a =a =b", ""), "0x0=a 0x1 0x2 0x3 0x4 0x5=b");
        assert_eq!(listed("=a =a =a =a =a =a =b", ""), "0x0=a 5 unchanged 0x6=b");
    }

    /// What is known changes in the part that is left out, too.
    #[test]
    fn after_instructions_that_are_left_out_what_is_known_is_shown_again() {
        let left_out = r#","left_out":{"after":2,"instructions":9}"#;
        assert_eq!(listed("=a =a =a =a", left_out), "0x0=a 0x1 9 left out 0x2=a 0x3=a");
        assert_eq!(listed("", left_out), "");
    }

    #[test]
    fn text_of_the_input_cannot_steer_a_terminal() {
        let text = r#"{"way":[{"code_section":"\u001b[2J","instruction":{"address":"0x0"},"arrival":"call",
            "code":{"cfa":"\u001b[2J"},"registers":[{"name":"\u001b[2J","rule":"\u202e"}]}],
            "lost":[{"what":"\u001b[2J"}],"clause":"\u001b[2J"}"#;
        let why: Why<'_> = serde_json::from_str(text).expect("a proof");
        let mut texts = why.sentences();
        for step in &why.way {
            texts.push(step.place());
            texts.extend(step.state().into_iter().flat_map(|(name, rule)| [name, rule]));
        }
        assert!(texts.iter().all(|text| !text.contains(['\u{1b}', '\u{202e}'])), "{texts:?}");
        assert_eq!(texts.len(), 3 + 8);
    }
}
