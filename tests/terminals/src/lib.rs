//! What terminals are measured by: how fast a flood passes, how much memory a
//! session takes, whether the ends of live turns are told in time.
//!
//! Owns the measuring; what a figure should be, and how figures are printed, is
//! the benchmark's. Knows terminals alone, so that trying a change takes
//! seconds: `cargo run --release -p wharf-terminal-bench -- throughput`.
#![cfg(target_os = "linux")]

pub mod flood;
pub mod hostile;
pub mod memory;
pub mod pairs;
pub mod pipeline;
mod request;
pub mod throughput;
pub mod turns;

/// The median. Zero for nothing.
#[must_use]
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
