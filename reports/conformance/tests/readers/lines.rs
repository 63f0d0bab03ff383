//! A reader as a program of the line protocol.

use serde::Serialize;
use serde_json::{Value, json};

use sframe_conformance::{Answer, Lost, Reader, Request};

/// The answer to a request, each a line of JSON; why there is none, if the reader crashes.
pub(crate) fn answer(reader: &mut impl Reader, line: &str) -> Result<String, String> {
    let answer = match serde_json::from_str(line) {
        Ok(Request::Open { section }) => written(reader.open(&section), "opened"),
        Ok(Request::Lookup { pc }) => written(reader.lookup(pc.0), "found"),
        Ok(Request::Walk(start)) => written(reader.walk(&start), "walked"),
        Err(error) => Ok(json!({ "unsupported": error.to_string() })),
    };
    Ok(answer?.to_string())
}

fn written<T: Serialize>(answer: Answer<T>, key: &str) -> Result<Value, String> {
    Ok(match answer {
        Answer::Given(content) => json!({ key: content }),
        Answer::Refused(reason) => json!({ "refused": reason }),
        Answer::Unsupported(reason) => json!({ "unsupported": reason }),
        // The reader runs in this process, where a crash is a panic.
        Answer::Lost(Lost::Crashed(reason)) => return Err(reason),
        Answer::Lost(lost) => return Err(lost.to_string()),
    })
}
