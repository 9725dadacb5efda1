//! Collects figures and prints them.

use serde_json::{Map, Value, json};

/// Whether a ratio is to be small or large.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bar {
    AtMost(f64),
    AtLeast(f64),
}

impl Bar {
    fn met(self, ratio: f64) -> bool {
        match self {
            Self::AtMost(bar) => ratio <= bar,
            Self::AtLeast(bar) => ratio >= bar,
        }
    }

    fn words(self) -> String {
        match self {
            Self::AtMost(bar) => format!("at most {bar}"),
            Self::AtLeast(bar) => format!("at least {bar}"),
        }
    }
}

/// All figures of a run.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Nothing was measured thoroughly, so that nothing is judged.
    quick: bool,
    ratios: Map<String, Value>,
    lines: Vec<String>,
}

impl Report {
    pub(crate) fn new(quick: bool) -> Self {
        Self { quick, ..Self::default() }
    }

    /// Notes a ratio, and the absolute figures behind it.
    pub(crate) fn note(&mut self, key: &str, ratio: f64, bar: Bar, absolute: &str) {
        let verdict = match bar.met(ratio) {
            _ if self.quick => "not judged",
            true => "met",
            false => "NOT MET",
        };
        let line = format!("{key:<18} {ratio:>7.3}  ({}: {verdict})  {absolute}", bar.words());
        eprintln!("  {line}");
        self.lines.push(line);
        self.ratios.insert(key.to_owned(), json!((ratio * 1000.0).round() / 1000.0));
    }

    pub(crate) fn print(&self, as_json: bool) {
        if as_json {
            println!("{}", Value::Object(self.ratios.clone()));
            return;
        }
        for line in &self.lines {
            println!("{line}");
        }
    }
}

/// The median. Zero for nothing.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// A quantile of samples. Zero for nothing.
pub(crate) fn quantile(values: &mut [f64], quantile: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an index"
    )]
    let index = (values.len() as f64 * quantile) as usize;
    values.get(index.min(values.len().saturating_sub(1))).copied().unwrap_or_default()
}
