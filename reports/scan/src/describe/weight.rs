//! The approximate memory of a record, used to limit the records that wait.

use std::mem::size_of;

use sframe_record::{
    Coverage, Difference, Finding, Loss, Package, Record, RuleCount, Suppressed, TableLine, Tail,
    Text, Undecided,
};

/// The overhead of the allocator for a block, and of the unused part of a vector.
const BLOCK: usize = 32;

/// The number of bytes that a record takes.
#[must_use]
pub(crate) fn of_record(record: &Record<'_>) -> usize {
    let names = [&record.inside, &record.inside_hex, &record.member, &record.member_hex];
    size_of::<Record<'_>>()
        + text(&record.path)
        + names.into_iter().map(optional).sum::<usize>()
        + [&record.path_hex, &record.reason, &record.build_id]
            .into_iter()
            .map(optional)
            .sum::<usize>()
        + of_findings(&record.findings)
        + tail(&record.counts, &record.suppressed, &record.undecided)
        + sum(&record.sections, |section| text(&section.name))
        + sum(&record.producers, |producer| {
            text(&producer.name) + optional(&producer.version) + optional(&producer.text)
        })
        + record.content.as_ref().map_or(0, |content| text(&content.hash))
        + record.package.as_ref().map_or(0, package)
        + record.coverage.as_ref().map_or(0, coverage)
}

/// The number of bytes that the tail of a record takes.
#[must_use]
pub(crate) fn of_tail(of: &Tail<'_>) -> usize {
    tail(&of.counts, &of.suppressed, &of.undecided)
}

fn tail(counts: &[RuleCount<'_>], suppressed: &[Suppressed<'_>], left: &[Undecided<'_>]) -> usize {
    sum(counts, |count| text(&count.rule) + optional(&count.known))
        + sum(suppressed, |of| text(&of.rule) + text(&of.reason) + of_findings(&of.findings))
        + sum(left, |undecided| text(&undecided.reason))
}

fn package(package: &Package<'_>) -> usize {
    let Package { name, version, architecture, source } = package;
    text(name) + [version, architecture, source].into_iter().map(optional).sum::<usize>()
}

/// The number of bytes that findings take.
#[must_use]
pub(crate) fn of_findings(findings: &[Finding<'_>]) -> usize {
    sum(findings, finding)
}

/// Borrowed text is part of the program.
fn text(text: &Text<'_>) -> usize {
    match &text.0 {
        std::borrow::Cow::Borrowed(_) => 0,
        std::borrow::Cow::Owned(text) => BLOCK + text.len(),
    }
}

fn optional(of: &Option<Text<'_>>) -> usize {
    of.as_ref().map_or(0, text)
}

fn sum<T>(items: &[T], weight: impl Fn(&T) -> usize) -> usize {
    BLOCK + items.iter().map(|item| size_of::<T>() + weight(item)).sum::<usize>()
}

fn finding(finding: &Finding<'_>) -> usize {
    let boxed = |size: usize, texts: &[usize]| BLOCK + size + texts.iter().sum::<usize>();
    let field = finding
        .field
        .as_deref()
        .map_or(0, |field| boxed(size_of_val(field), &[text(&field.value), text(&field.allowed)]));
    let function = finding.function.as_deref().map_or(0, |of| {
        let names = [&of.symbol, &of.symbol_hex, &of.code_section];
        boxed(size_of_val(of), &names.map(optional))
    });
    let code = finding.code.as_deref().map_or(0, |of| {
        let names = [&of.symbol, &of.symbol_hex, &of.code_section];
        boxed(size_of_val(of), &names.map(optional))
    });
    let source = finding.source.as_ref().map_or(0, |source| text(&source.file));
    text(&finding.message)
        + optional(&finding.known)
        + optional(&finding.elf_section)
        + source
        + field
        + function
        + code
        + sum(&finding.context, |part| text(&part.bytes) + text(&part.value))
        + finding.difference.as_deref().map_or(0, difference)
}

fn difference(difference: &Difference<'_>) -> usize {
    BLOCK
        + size_of_val(difference)
        + sum(&difference.table, |TableLine { frame, .. }| {
            text(&frame.cfa) + text(&frame.ra) + text(&frame.fp)
        })
        + sum(&difference.instructions, |code| text(&code.bytes) + text(&code.text))
        + sum(&difference.directives, |directive| text(&directive.text))
}

fn coverage(coverage: &Coverage<'_>) -> usize {
    let loss = |loss: &Loss<'_>| {
        sum(&loss.examples, |place| {
            optional(&place.symbol) + optional(&place.symbol_hex) + optional(&place.code_section)
        })
    };
    sum(&coverage.losses, loss) + sum(&coverage.limits, |_| 0) + optional(&coverage.debug_file)
}

#[cfg(test)]
mod tests {
    use super::of_record;
    use sframe_record::Record;

    /// Every string whose length a file can determine is counted.
    #[test]
    fn long_strings_are_counted_in_full() {
        let record = r#"{"path":"@","path_hex":"@","inside":"@","inside_hex":"@","member":"@","member_hex":"@",
            "content":{"size":1,"hash":"@"},"status":"checked","reason":"@",
            "package":{"name":"@","version":"@","architecture":"@","source":"@"},
            "producers":[{"kind":"other","name":"@","version":"@","text":"@"}],
            "build_id":"@","suppressed":[{"rule":"@","reason":"@","count":1}],
            "sections":[{"name":"@"}],"counts":[{"rule":"@","severity":"error","count":1,"known":"@"}],
            "undecided":[{"reason":"@"}],
            "findings":[{"rule":"fp-lost","severity":"error","message":"@","known":"@","elf_section":"@",
                "source":{"file":"@","line":1},
                "field":{"name":"size","value":"@","allowed":"@"},
                "function":{"symbol":"@","symbol_hex":"@","code_section":"@"},
                "code":{"start":"0x0","end":"0x1","symbol":"@","symbol_hex":"@","code_section":"@"},
                "context":[{"bytes":"@","value":"@"}],
                "difference":{"directives":[{"address":"0x0","text":"@"}],"table":[{"side":"both","start":"0x0","cfa":"@","ra":"@","fp":"@"}],
                    "instructions":[{"bytes":"@","text":"@"}]}}],
            "coverage":{"losses":[{"cause":"none","examples":[
                {"symbol":"@","symbol_hex":"@","code_section":"@"}]}],"debug_file":"@"}}"#;
        let weighed = |length: usize| {
            // The strings contain an escape, so that the record owns each of them.
            let text = format!(r"\u0041{}", "x".repeat(length));
            of_record(&Record::parse(&record.replace('@', &text)).expect("a record"))
        };
        let strings = record.matches('@').count();
        assert_eq!(weighed(999) - weighed(0), strings * 999);
    }
}
