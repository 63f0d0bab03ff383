//! The published table.

use super::{Row, Tool};
use crate::objects::Machine;
use crate::real::Mode;

pub(crate) fn record(_tool: &Tool, _machine: Machine, _mode: Mode, _rows: &[Row]) {}
