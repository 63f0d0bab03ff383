//! A consumer's own code as a program that answers the line protocol. Requests are sent without waiting for answers.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;

use serde::Deserialize;
use sframe_conformance::{Address, Frame, Request, Row, Section};

/// A section, and the PCs to look up.
pub(crate) struct Question {
    pub(crate) section: Section,
    pub(crate) pcs: Vec<u64>,
}

/// A program's answer to one request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reply {
    /// The section is open. Programs that look up no PCs list its functions.
    Opened(Vec<Listed>),
    Refused,
    Found(Frame),
    Nothing,
    Unsupported,
    Crashed,
}

/// A program's answer to one request.
#[derive(Clone, Debug)]
pub(crate) struct Answered {
    pub(crate) reply: Reply,
    /// What the row means if its function is of the other type: libsframe does not say which function a lookup found.
    pub(crate) otherwise: Option<Frame>,
}

impl From<Reply> for Answered {
    fn from(reply: Reply) -> Answered {
        Answered { reply, otherwise: None }
    }
}

/// A function and its rows, up to an error.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Listed {
    pub(crate) start: Address,
    pub(crate) size: u32,
    #[serde(default)]
    pub(crate) repeat: u32,
    pub(crate) rows: Vec<Row>,
    #[serde(default, rename = "type")]
    pub(crate) fde_type: Option<String>,
    #[serde(default)]
    pub(crate) error: Option<String>,
}

#[derive(Deserialize)]
struct Opened {
    #[serde(default)]
    functions: Vec<Listed>,
}

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    opened: Option<Opened>,
    #[serde(default, deserialize_with = "present")]
    found: Option<Option<FoundFrame>>,
    #[serde(default)]
    otherwise: Option<Frame>,
    #[serde(default)]
    unsupported: Option<serde::de::IgnoredAny>,
    /// The signal that would have ended the program without `--survive`.
    #[serde(default)]
    crashed: Option<i32>,
}

#[derive(Deserialize)]
struct FoundFrame {
    frame: Frame,
}

/// `null` is a value: there is no row.
fn present<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<FoundFrame>>, D::Error> {
    Option::<FoundFrame>::deserialize(deserializer).map(Some)
}

fn parse(line: &str) -> Answered {
    // s390x, version 2: an odd negative word is no register, and the library leaves it to its caller.
    if line.contains("\"r-") {
        return Reply::Unsupported.into();
    }
    // C's `%#llx` writes 0 without a prefix.
    let line = &line.replace(r#""start": "0""#, r#""start": "0x0""#);
    let line: Line = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    if line.crashed.is_some() {
        return Reply::Crashed.into();
    }
    let reply = match (line.opened, line.found, line.unsupported) {
        (Some(opened), _, _) => Reply::Opened(opened.functions),
        (_, Some(Some(found)), _) => Reply::Found(found.frame),
        (_, Some(None), _) => Reply::Nothing,
        (_, _, Some(_)) => Reply::Unsupported,
        _ => Reply::Refused,
    };
    Answered { reply, otherwise: line.otherwise }
}

/// A request, and the question that it belongs to.
struct Sent {
    question: usize,
    text: String,
}

fn requests(questions: &[Question]) -> Vec<Sent> {
    let mut list = Vec::new();
    for (question, asked) in questions.iter().enumerate() {
        let open = Request::Open { section: asked.section.clone() };
        let lookups = asked.pcs.iter().map(|pc| Request::Lookup { pc: Address(*pc) });
        for request in std::iter::once(open).chain(lookups) {
            let text = serde_json::to_string(&request).expect("JSON") + "\n";
            list.push(Sent { question, text });
        }
    }
    list
}

fn start(path: &PathBuf) -> Child {
    let mut command = Command::new(path);
    // Programs that do not know the option end with each crash, and are started again.
    command.arg("--survive").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().expect("the program starts")
}

/// The replies to all questions: first to `open`, then to each lookup. After a crash, the program is started again. If it
/// crashes when it opens a section, all of that section's replies are crashes.
pub(crate) fn ask(path: &PathBuf, questions: &[Question]) -> Vec<Vec<Answered>> {
    let sent = requests(questions);
    let mut replies: Vec<Answered> = Vec::new();
    while replies.len() < sent.len() {
        let begin = replies.len();
        let question = sent[begin].question;
        // A lookup after a crash needs the section again.
        let opens = sent.iter().position(|sent| sent.question == question).expect("sent");
        let again = (opens < begin).then(|| sent[opens].text.clone());
        let known = run(path, again.as_deref(), &sent[begin..]);
        replies.extend(known);
        if replies.len() < sent.len() {
            let failed = sent[replies.len()].question;
            replies.push(Reply::Crashed.into());
            let is_open =
                sent[..replies.len()].iter().filter(|sent| sent.question == failed).count() == 1;
            while is_open && replies.len() < sent.len() && sent[replies.len()].question == failed {
                replies.push(Reply::Crashed.into());
            }
        }
    }
    let mut grouped = vec![Vec::new(); questions.len()];
    for (sent, reply) in sent.iter().zip(replies) {
        grouped[sent.question].push(reply);
    }
    grouped
}

/// The replies until the program ends.
fn run(path: &PathBuf, again: Option<&str>, sent: &[Sent]) -> Vec<Answered> {
    let mut child = start(path);
    let (mut input, output) =
        (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
    let replies = thread::scope(|scope| {
        scope.spawn(move || {
            let texts = again.into_iter().chain(sent.iter().map(|sent| sent.text.as_str()));
            for text in texts {
                if input.write_all(text.as_bytes()).is_err() {
                    return;
                }
            }
        });
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        // A panic here would wait for the thread, which waits for the program.
        lines.skip(usize::from(again.is_some())).collect::<Vec<String>>()
    });
    let _ = child.kill();
    let _ = child.wait();
    replies.iter().map(|line| parse(line)).collect()
}
