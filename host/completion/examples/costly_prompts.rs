//! How long the patterns of one turn take to compile that are as slow as a stranger may
//! make them.
//!
//! `cargo run -p wharf-completion --example costly_prompts`
#![expect(clippy::print_stdout, reason = "an example: printing is what it is for")]

use std::time::{Duration, Instant};

use wharf_completion::detection::Prompts;
use wharf_core::expression::CompileBudget;

/// What is slow, each in a way of its own. The library stops most at once where they are
/// longer; these are as long as they may be.
const KINDS: [(&str, &str); 11] = [
    ("all cases of many characters", "(?i:[\u{100}-\u{17000}]{0})"),
    ("all cases of few, often", r"(?i:[\w.-]{0})"),
    ("tables of ages", r"\p{Age=16.0}{0}"),
    ("classes that are put together", r"[\pL\pN\pM\pP\pS\PN]{0}"),
    ("classes that become one", r"(?:\pL|\pN|\pM)"),
    ("classes of many ranges", r"\W"),
    ("digits", r"(\d)?"),
    ("any characters", ".{25}x?"),
    ("wide ranges", "([!-\u{10fffd}]b{3})*"),
    ("texts that may begin a match", "(?:ab|cd|ef){10}"),
    ("texts in each case", r"(?i:abcdefg|)"),
];

fn main() {
    println!("{:32}{:>10}{:>10}{:>12}", "16 patterns of", "times", "steps", "time");
    for (what, part) in KINDS {
        // As often as the budget allows, in as many patterns as a turn may have.
        for times in (1..=16 * 1_000 / part.len()).rev() {
            let patterns: Vec<String> = (0..16).map(|at| format!("x{}", part.repeat((times + at) / 16))).collect();
            let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
            let Some((steps, time)) = compiled(&patterns) else { continue };
            let best = (0..5).filter_map(|_| compiled(&patterns)).map(|(_, again)| again).fold(time, Duration::min);
            println!("{what:32}{times:>10}{steps:>10}{:>9.2} ms", best.as_secs_f64() * 1e3);
            break;
        }
    }
}

/// Steps and time that patterns take; nothing where they are refused.
fn compiled(patterns: &[&str]) -> Option<(u64, Duration)> {
    let begun = Instant::now();
    let mut budget = CompileBudget::new(CompileBudget::REQUEST);
    Prompts::none().with_strict(patterns, &mut budget).ok()?;
    Some((CompileBudget::REQUEST - budget.left(), begun.elapsed()))
}
