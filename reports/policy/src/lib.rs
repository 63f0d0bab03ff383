//! What the findings of a scan count: which are errors, which are warnings, and which do not count.
//!
//! A [`Policy`] has a level for rules, groups of rules and known defects, suppressions with reasons, and a baseline of
//! findings that were there before. [`Judge`] applies it to the findings of a scan, in their order: one by one, because a file may have
//! more than fit in memory, or to a whole record.
//!
//! ```
//! use sframe_policy::{Judge, Policy};
//! use sframe_record::{Record, Severity};
//!
//! let line = r#"{"path":"a.o","status":"checked",
//!     "counts":[{"rule":"fp-lost","severity":"warning","count":2}]}"#;
//! let mut policy = Policy::default();
//! policy.deny("fp-*".parse()?);
//! let mut judge = Judge::new(policy);
//! let record = judge.judge(Record::parse(line)?);
//! assert_eq!(record.counts[0].severity, Severity::Error);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub mod baseline;
mod config;
mod config_error;
mod judge;
mod judging;
mod pattern;
mod policy;
mod suppression;

pub use baseline::{Baseline, BaselineError};
pub use config::{find as find_config, read as read_config, read_found as read_found_config};
pub use config_error::{ConfigDefect, ConfigError};
pub use judge::Judge;
pub use judging::Judging;
pub use pattern::{NoSuchRule, RulePattern};
pub use policy::{Known, Policy};
pub use suppression::Suppression;
