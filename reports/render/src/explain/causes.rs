//! The pages of causes of lost coverage.

use sframe_oracle::coverage::Cause;

use super::page::{Kind, Page};
use super::rules::sentence;

pub(super) fn page(cause: Cause) -> Page {
    let page = cause.page();
    let effect =
        "SFrame does not describe the function: stack traces through it end, or fall back.";
    let about = "cause of lost coverage".to_owned();
    Page::new(Kind::Cause, cause.name(), about, sentence(page.summary))
        .text("effect", "What goes wrong", effect.to_owned())
        .text("applies", "Where", sentence(page.applies))
        .text("remedy", "What to do", sentence(page.remedy))
}
