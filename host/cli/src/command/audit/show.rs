//! Lines, as a table for people or as they are for programs.

use std::{
    collections::VecDeque,
    io::{self, BufWriter, IsTerminal as _, Write},
    process::ExitCode,
    thread,
    time::Duration,
};

use anyhow::Result;
use clap::Args;
use wharf::{audit::AuditEntry, text};

use super::filters::{Filters, tell_skipped, unreadable};
use crate::{
    global::Global,
    print::{self, StandardOutput},
};

/// How often new lines are looked for.
const LOOK: Duration = Duration::from_millis(200);
/// What a table has where no terminal says its width.
const USUAL_COLUMNS: usize = 120;
/// Width of the columns before the last one.
const FIXED_COLUMNS: usize = 24 + 2 + 9 + 1 + 11 + 1 + 11 + 2;

#[derive(Debug, Args)]
pub(super) struct Show {
    #[command(flatten)]
    filters: Filters,

    /// Only the last so many of them
    #[arg(long, value_name = "NUMBER")]
    last: Option<usize>,

    /// Go on with new lines as they come
    #[arg(long)]
    follow: bool,

    /// Print the lines as they are: one JSON object each
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let (filter, mut reader) = (self.filters.filter(), self.filters.reader(global)?);
        let mut page = EntryPrinter::new(self.json);
        if let Some(last) = self.last {
            let mut kept = VecDeque::new();
            let keep = |entry: AuditEntry| {
                if filter.accepts(&entry) {
                    kept.push_back(entry);
                    if kept.len() > last {
                        kept.pop_front();
                    }
                }
                true
            };
            reader.read(keep).map_err(|error| unreadable(&error))?;
            kept.iter().try_for_each(|entry| page.show(entry))?;
        }
        loop {
            let mut written = Ok(());
            let show = |entry: AuditEntry| {
                if filter.accepts(&entry) {
                    written = page.show(&entry);
                }
                written.is_ok()
            };
            reader.read(show).map_err(|error| unreadable(&error))?;
            written?;
            page.out.flush()?;
            if !self.follow {
                break;
            }
            thread::sleep(LOOK);
        }
        reader.finish();
        if !page.begun && !self.json {
            writeln!(page.out, "There is nothing.")?;
            page.out.flush()?;
        }
        tell_skipped(reader.skipped());
        Ok(ExitCode::SUCCESS)
    }
}

/// Writes entries, as a table or as they are.
struct EntryPrinter {
    out: BufWriter<StandardOutput>,
    json: bool,
    /// The columns of the terminal.
    columns: usize,
    begun: bool,
}

impl EntryPrinter {
    fn new(json: bool) -> Self {
        let columns = terminal_columns().unwrap_or(USUAL_COLUMNS);
        Self { out: print::listing(), json, columns, begun: false }
    }

    fn show(&mut self, entry: &AuditEntry) -> io::Result<()> {
        if self.json {
            return writeln!(self.out, "{}", entry.line);
        }
        if !self.begun {
            self.begun = true;
            let head = row(["time", "kind", "outcome", "time taken"], "what", self.columns);
            writeln!(self.out, "{head}")?;
        }
        writeln!(self.out, "{}", of_entry(entry, self.columns))
    }
}

fn terminal_columns() -> Option<usize> {
    let out = io::stdout();
    let (columns, _) = out.is_terminal().then(crate::own_terminal::size)??;
    (columns > 0).then_some(usize::from(columns))
}

fn of_entry(entry: &AuditEntry, columns: usize) -> String {
    let what = match entry.kind.as_str() {
        "dropped" if entry.tenant.is_empty() => format!("{} line(s) could not be kept", entry.count),
        "dropped" => format!("{} line(s) of {} could not be kept", entry.count, entry.tenant),
        "authentication" => format!("{} from {}{}{}", entry.function, entry.asked, times(entry), who(entry)),
        "limited" => format!("{}{}  [{}]{}", entry.function, times(entry), entry.tenant, who(entry)),
        "operator" => format!("{} {}{}{}", entry.function, entry.asked, replaced(entry), who(entry)),
        "change" if entry.plugin.is_empty() => format!("{} {}{}", entry.function, entry.asked, replaced(entry)),
        "change" if entry.asked.is_empty() => format!("{} {}", entry.plugin, entry.function),
        "change" if entry.function == "rejected" => format!("{} rejected: {}", entry.plugin, entry.asked),
        "change" => {
            let signed = if entry.signer.is_empty() { String::new() } else { format!(", signed by {}", entry.signer) };
            format!("{} {}{signed}, may use {}{}", entry.plugin, entry.function, entry.asked, replaced(entry))
        }
        _ => {
            let tool =
                if entry.plugin.is_empty() { entry.tool.clone() } else { format!("{}__{}", entry.plugin, entry.tool) };
            let asked = [&entry.function, &entry.asked].into_iter().filter(|word| !word.is_empty());
            let words: Vec<_> = std::iter::once(&tool).chain(asked).map(String::as_str).collect();
            let context = [&entry.tenant, &entry.session, &entry.assistant, &entry.thread];
            let context: Vec<_> = context.into_iter().filter(|id| !id.is_empty()).map(String::as_str).collect();
            format!("{}{}  [{}]{}", words.join(" "), times(entry), context.join("/"), who(entry))
        }
    };
    row([&entry.time, &entry.kind, &entry.outcome, &taken(entry.microseconds)], &what, columns)
}

/// Who asked, as far as the line has it.
fn who(entry: &AuditEntry) -> String {
    let by = [&entry.client, &entry.token, &entry.subject].into_iter().filter(|name| !name.is_empty());
    let by: Vec<_> = by.map(String::as_str).collect();
    let by = if by.is_empty() { String::new() } else { format!("  by {}", by.join(", ")) };
    if entry.address.is_empty() { by } else { format!("{by}  at {}", entry.address) }
}

/// What a change put in place of what.
fn replaced(entry: &AuditEntry) -> String {
    match (entry.before.as_str(), entry.after.as_str()) {
        ("", "") => String::new(),
        ("", after) => format!(": {after}"),
        (before, "") => format!(": {before} is gone"),
        (before, after) => format!(": {before} -> {after}"),
    }
}

/// How often it happened, where that is not once.
fn times(entry: &AuditEntry) -> String {
    if entry.count > 1 { format!(" ({} times)", entry.count) } else { String::new() }
}

/// One line of the table, as long as the terminal is wide. The files may hold anything;
/// nothing in them may steer the terminal.
fn row(fixed: [&str; 4], what: &str, columns: usize) -> String {
    let [time, kind, outcome, taken] = fixed.map(|text| wharf::text::line(text, 24));
    let room = columns.saturating_sub(FIXED_COLUMNS).max(20);
    let what: String = text::line(what, 1_024).chars().take(room).collect();
    format!("{time:<24}  {kind:<9} {outcome:<11} {taken:>11}  {what}")
}

/// A time for people.
pub(super) fn taken(microseconds: u64) -> String {
    match microseconds {
        0..10_000 => format!("{microseconds} us"),
        10_000..10_000_000 => format!("{} ms", microseconds / 1_000),
        _ => format!("{} s", microseconds / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(asked: &str) -> AuditEntry {
        let asked = serde_json::to_string(asked).expect("a text");
        let line = format!(
            r#"{{"time":"2026-11-22T18:00:00.000Z","kind":"denied","tenant":"local","session":"s-1","plugin":"workspace","tool":"run","function":"process.spawn","asked":{asked},"outcome":"denied","microseconds":12345}}"#
        );
        AuditEntry::read(line.as_bytes()).expect("a line")
    }

    #[test]
    fn a_row_says_who_asked_for_what_and_fits_the_terminal() {
        assert_eq!(
            of_entry(&entry("git"), 200),
            "2026-11-22T18:00:00.000Z  denied    denied            12 ms  workspace__run process.spawn git  [local/s-1]"
        );
        let narrow = of_entry(&entry(&"x".repeat(500)), 100);
        assert_eq!(narrow.chars().count(), 100);
    }

    #[test]
    fn no_row_steers_the_terminal_whatever_is_in_the_file() {
        let row = of_entry(&entry("\u{1b}]0;title\u{7}\r\n\u{9b}2J\u{202e}"), 200);
        assert!(!row.contains(|character: char| character.is_control() || character == '\u{202e}'), "{row:?}");
    }
}
