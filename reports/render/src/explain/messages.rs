//! The pages of messages that linkers print.

use sframe_link::messages::{Message, Seen};

use super::page::{Kind, Page};
use super::rules::sentence;

pub(super) fn page(message: &Message) -> Page {
    let seen = match message.seen {
        Seen::Tested => "in links that the project's tests do",
        Seen::InProgram => "in the linker's program; no input that causes it is known here",
        Seen::Reported => "in reports of others; that linker was not run here",
    };
    let about = format!("message of {}", message.linkers);
    Page::new(Kind::Message, message.id, about, message.pattern.to_owned())
        .text("meaning", "What it means", sentence(message.meaning))
        .text("remedy", "What to do", sentence(message.remedy))
        .text("seen", "Where it was seen", sentence(seen))
}
