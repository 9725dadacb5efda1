//! Completions without end.

use wharf_sdk::bindings::completion::exports::wharf::plugin::completion::{Completions, Guest};
use wharf_sdk::bindings::wharf::plugin::types::Error;

use crate::{HIDDEN, MANY, Offering};

impl Guest for Offering {
    fn complete(
        _kind: String,
        name: String,
        _argument: String,
        typed: String,
        _others: String,
    ) -> Result<Completions, Error> {
        let values = match typed.as_str() {
            "many" => vec![String::new(); MANY],
            "200" => (0..200).map(|at| at.to_string()).collect(),
            "long" => vec!["x".repeat(100_000)],
            "hidden" => vec![HIDDEN.to_owned()],
            _ => vec![format!("{name}\n\u{1b}[2J")],
        };
        Ok(Completions { values, total: None, has_more: false, meta: None })
    }
}
