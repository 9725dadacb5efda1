//! Tools for all processes, and the one that ends one.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::check::text as check_text;
use wharf_sdk::contract::process::Containment;
use wharf_sdk::process::{Condition, ProcessInfo, Signal};
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::{answer, last_lines, of_process};
use crate::limits::{self, check_range, within};
use crate::output::answer::{Process, ProcessAnswer};
use crate::output::words::{line, state};

/// How long a signal has to show what it does.
const SIGNAL_EFFECT: Duration = Duration::from_millis(300);
/// Lines of output that are shown of a process that was stopped.
const LINES: u32 = 10;

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum StatusFilter {
    Running,
    Ended,
    #[default]
    All,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListProcesses {
    /// Which ones: "running", "ended" or "all". One that ended and whose descendants live counts as ended.
    #[serde(default)]
    status_filter: StatusFilter,
    /// Which page, counted from 1; a page has 50.
    #[serde(default = "first")]
    #[schemars(range(min = 1, max = limits::PAGE))]
    page: usize,
}

fn first() -> usize {
    1
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ProcessPage {
    /// The newest first.
    processes: Vec<Process>,
    page: usize,
    total_pages: usize,
    /// How many there are on all pages.
    total: usize,
    /// How many of all processes run.
    running: usize,
    /// Whether there is a further page.
    has_more: bool,
    /// What holds for processes here.
    rules: ProcessRules,
}

/// What processes here may do.
#[derive(Clone, Serialize, JsonSchema)]
pub(crate) struct ProcessRules {
    /// What keeps them in: `namespaces`, `landlock`, or `none`.
    containment: String,
    /// Why none can be started here; absent where they can.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
    /// Whether they have a network.
    network: bool,
    /// How many may run at once.
    maximum_concurrent: u64,
    /// After how many seconds one is killed.
    lifetime_seconds: u64,
}

impl From<wharf_sdk::process::ProcessRules> for ProcessRules {
    fn from(rules: wharf_sdk::process::ProcessRules) -> Self {
        let wharf_sdk::process::ProcessRules {
            containment,
            refused,
            network,
            maximum_concurrent,
            lifetime_seconds,
            ..
        } = rules;
        Self { containment: containment.into(), refused, network, maximum_concurrent, lifetime_seconds }
    }
}

impl ProcessRules {
    fn text(&self) -> String {
        if let Some(why) = &self.refused {
            return format!("Processes cannot be started here: {why}.");
        }
        let by = Containment::find(&self.containment);
        let contained = match by {
            Some(Containment::None) => "are not contained".to_owned(),
            _ => format!("are contained ({})", self.containment),
        };
        let network = match (self.network, by) {
            (true, _) | (_, Some(Containment::None)) => "have a network",
            // There are no sockets at all.
            (false, Some(Containment::Landlock)) => "have no network",
            (false, _) => "have no network but a loopback",
        };
        let most = self.maximum_concurrent;
        format!("Processes here {contained} and {network}; at most {most} run at once.")
    }
}

/// Lists the processes of this session, the newest first: those that run, and those that ended within the last day. Use
/// it to find a process_id again; wait_for_process tells when something happens.
#[tool(title = "List processes", read_only, idempotent)]
pub(crate) fn list_processes(call: &Call, input: ListProcesses) -> Result<Reply<ProcessPage>, ToolError> {
    check_range("page", u64::try_from(input.page).unwrap_or(u64::MAX), 1, 1_000_000)?;
    let (listed, rules) = (call.processes().list()?, call.processes().rules()?.into());
    let (text, page) = page(&listed, rules, input.status_filter, input.page);
    Ok(Reply::new(text, page))
}

fn page(listed: &[ProcessInfo], rules: ProcessRules, filter: StatusFilter, page: usize) -> (String, ProcessPage) {
    let running = listed.iter().filter(|process| !process.has_ended()).count();
    let is_wanted = |process: &&ProcessInfo| match filter {
        StatusFilter::All => true,
        StatusFilter::Running => !process.has_ended(),
        StatusFilter::Ended => process.has_ended(),
    };
    let wanted: Vec<&ProcessInfo> = listed.iter().rev().filter(is_wanted).collect();
    let (total, total_pages) = (wanted.len(), wanted.len().div_ceil(limits::PAGE_SIZE));
    let shown = wanted.into_iter().skip((page - 1).saturating_mul(limits::PAGE_SIZE)).take(limits::PAGE_SIZE);
    let shown: Vec<&ProcessInfo> = shown.collect();
    let mut text = match (total, shown.len()) {
        (0, _) if listed.is_empty() => "There is no process yet; execute_shell starts one.".to_owned(),
        (0, _) => format!("None of {} processes is so.", listed.len()),
        (_, 0) => format!("Page {page} is empty: {total} processes fill {total_pages} pages."),
        _ => format!("Page {page} of {total_pages}, {total} processes, the newest first:"),
    };
    for process in &shown {
        text.push('\n');
        text.push_str(&line(process));
    }
    text.push('\n');
    text.push_str(&rules.text());
    let has_more = page < total_pages;
    let processes = shown.into_iter().map(Process::from).collect();
    (text, ProcessPage { processes, page, total_pages, total, running, has_more, rules })
}

/// A signal that leaves it to the process what to do.
#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum SignalName {
    Hangup,
    Interrupt,
    Quit,
    Terminate,
    User1,
    User2,
    Stop,
    Continue,
}

impl From<SignalName> for Signal {
    fn from(name: SignalName) -> Self {
        match name {
            SignalName::Hangup => Self::Hangup,
            SignalName::Interrupt => Self::Interrupt,
            SignalName::Quit => Self::Quit,
            SignalName::Terminate => Self::Terminate,
            SignalName::User1 => Self::User1,
            SignalName::User2 => Self::User2,
            SignalName::Stop => Self::Stop,
            SignalName::Continue => Self::Continue,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StopProcess {
    /// Of execute_shell or list_processes.
    #[schemars(length(min = 1, max = limits::PROCESS_ID))]
    process_id: String,
    /// Seconds that it has to end by itself once it is asked to; then it is killed. 0 kills at once.
    #[serde(default = "default_grace")]
    #[schemars(range(max = limits::GRACE_SECONDS))]
    grace_seconds: u64,
    /// Sends this signal instead and leaves the rest to the process: "interrupt" is Ctrl-C, "stop" and "continue" hold it
    /// and let it go on.
    signal: Option<SignalName>,
}

fn default_grace() -> u64 {
    5
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct StoppedProcess {
    #[serde(flatten)]
    answer: ProcessAnswer,
    /// The signal that was sent instead of ending it.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal_sent: Option<SignalName>,
    /// Whether it has not ended.
    still_running: bool,
}

/// Ends a process and everything that it started, even what detached itself: it is asked to end, and killed where it
/// does not in time. With `signal`, it sends only that signal.
#[tool(title = "Stop a process", destructive, timeout_milliseconds = 120_000)]
pub(crate) fn stop_process(call: &Call, input: StopProcess) -> Result<Reply<StoppedProcess>, ToolError> {
    check_text("process_id", &input.process_id, limits::PROCESS_ID)?;
    check_range("grace_seconds", input.grace_seconds, 0, limits::GRACE_SECONDS)?;
    let (processes, id) = (call.processes(), input.process_id.as_str());
    let info = match input.signal {
        Some(signal) => {
            processes.signal(id, signal.into()).map_err(of_process)?;
            processes.wait(id, &Condition::new().exit(), within(call, SIGNAL_EFFECT))?.process
        }
        None => {
            let grace = within(call, Duration::from_secs(input.grace_seconds));
            processes.stop(id, grace).map_err(of_process)?
        }
    };
    let starts = last_lines(processes, &info, LINES)?;
    let answer = answer(processes, &info, starts, None)?;
    let still_running = !info.has_ended();
    let note = match (input.signal.is_some(), still_running) {
        (true, true) => "The signal was sent, and it runs on; wait_for_process waits for its end.",
        (false, true) => "It has not ended yet; list_processes shows when it has.",
        _ => "",
    };
    let text = answer.text(&state(&info), note);
    Ok(Reply::new(text, StoppedProcess { answer, signal_sent: input.signal, still_running }))
}

#[cfg(test)]
mod tests {
    use wharf_sdk::process::{Outcome, OutcomeKind, Status, StreamProgress};

    use super::*;

    fn process(number: usize) -> ProcessInfo {
        let has_ended = !number.is_multiple_of(3);
        let outcome = Outcome { kind: OutcomeKind::Exited, code: Some(0), signal: None, reason: None };
        ProcessInfo {
            id: format!("p{number}"),
            command: "true".to_owned(),
            pid: None,
            status: if has_ended { Status::Finished } else { Status::Running },
            outcome: has_ended.then_some(outcome),
            started: "2026-01-01T00:00:00.000Z".to_owned(),
            finished: None,
            stdout: StreamProgress::default(),
            stderr: StreamProgress::default(),
            descendants: None,
            meta: None,
        }
    }

    fn rules() -> ProcessRules {
        let containment = "namespaces".to_owned();
        ProcessRules { containment, refused: None, network: false, maximum_concurrent: 20, lifetime_seconds: 60 }
    }

    #[test]
    fn what_holds_for_processes_is_said_in_words() {
        assert_eq!(
            rules().text(),
            "Processes here are contained (namespaces) and have no network but a loopback; at most 20 run at once."
        );
        let open = ProcessRules { containment: "none".to_owned(), network: true, ..rules() };
        assert!(open.text().contains("are not contained and have a network"), "{}", open.text());
        let refused = Some("the system makes no namespaces".to_owned());
        let refused = ProcessRules { containment: "none".to_owned(), refused, ..rules() };
        assert_eq!(refused.text(), "Processes cannot be started here: the system makes no namespaces.");
        let landlock = ProcessRules { containment: "landlock".to_owned(), ..rules() };
        assert!(landlock.text().contains("have no network;"), "{}", landlock.text());
    }

    #[test]
    fn a_model_names_every_signal_but_the_one_that_kills_by_the_words_of_the_contract() {
        for signal in Signal::ALL {
            let named = serde_json::from_value::<SignalName>(signal.as_str().into());
            assert_eq!(named.ok().map(Signal::from), Some(signal).filter(|signal| *signal != Signal::Kill));
        }
    }

    #[test]
    fn pages_are_newest_first_and_filtered_by_status() {
        let listed: Vec<ProcessInfo> = (0..120).map(process).collect();
        let (_, all) = page(&listed, rules(), StatusFilter::All, 1);
        assert_eq!((all.total, all.total_pages, all.running, all.has_more), (120, 3, 40, true));
        assert_eq!(all.processes.first().map(|process| process.process_id.as_str()), Some("p119"));
        let (_, last) = page(&listed, rules(), StatusFilter::All, 3);
        assert_eq!((last.processes.len(), last.has_more), (20, false));
        let (_, running) = page(&listed, rules(), StatusFilter::Running, 1);
        assert!(running.total == 40 && running.processes.iter().all(|process| process.status == "running"));
        let (_, ended) = page(&listed, rules(), StatusFilter::Ended, 2);
        assert!(ended.total == 80 && ended.processes.iter().all(|process| process.exit_code == Some(0)));
        let (text, beyond) = page(&listed, rules(), StatusFilter::All, 9);
        assert!(beyond.processes.is_empty() && text.starts_with("Page 9 is empty"), "{text}");
        assert!(page(&[], rules(), StatusFilter::All, 1).0.contains("execute_shell starts one"));
    }
}
