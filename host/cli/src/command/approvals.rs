//! `wharf approvals`: the calls that wait until a person allows them, and what that person says.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use serde_json::Value;
use wharf::{
    audit::Requester,
    control::ControlError,
    service::operator::{ApprovalAnswer, ApprovalRule, OperatorList, OperatorRequest},
    with_causes,
};

use crate::{
    configuration_edit::{ConfigurationEdit, EditError},
    exit::{FAILED, Unusable},
    global::{Global, runtime},
    hosts::{self, HostAnswers, HostEntries},
    listing::Listing,
};

/// What is shown of the arguments of a call.
const MOST_SHOWN: usize = 400;

/// List the calls that wait until you allow them, allow one, or refuse it
///
/// Which calls wait, and which commands and origins of running calls, is in wharf.toml, under
/// [approvals]. Asks every host that serves on this
/// data directory. No agent can list or answer them.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wharf approvals                             what waits, with its arguments
  wharf approvals allow 5f1c09aa              this call runs, or does what it wants
  wharf approvals allow 5f1c09aa --session    and further calls of this tool in its session
  wharf approvals allow 5f1c09aa --always     and all of this tool: written into wharf.toml
  wharf approvals refuse 5f1c09aa --reason 'not on this branch'

In wharf.toml:
  [approvals]
  approve = [\"workspace__execute_shell\", \"browser_*\"]
  commands = [\"git push*\"]
  origins = [\"https://*.example.com\"]")]
pub(super) struct ApprovalsArguments {
    #[command(subcommand)]
    command: Option<Command>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Let a call run
    Allow {
        /// Which one, as `wharf approvals` lists it
        id: String,
        /// Allow further calls of its tool in its session, too, until the host ends or the plugin changes;
        /// where a running call wants something, the same command or origin
        #[arg(long)]
        session: bool,
        /// Allow all calls of its tool from now on: adds it to `always` under [approvals]; where a
        /// running call wants something, this very command or origin: `always_commands`, `always_origins`
        #[arg(long, conflicts_with = "session")]
        always: bool,
    },
    /// Refuse a call
    Refuse {
        /// Which one, as `wharf approvals` lists it
        id: String,
        /// Why, for the agent to read
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        reason: String,
    },
}

impl ApprovalsArguments {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        match self.command {
            None => {
                let waiting = HostEntries::ask(global, async |host| host.list(OperatorList::Approvals).await)?;
                waiting.print(self.json, "approvals", "No call waits for you", table)
            }
            Some(Command::Allow { id, session: false, always: true }) => allow_always(global, &id),
            Some(Command::Allow { id, session, .. }) => {
                let answer = if session { ApprovalAnswer::Session } else { ApprovalAnswer::Once };
                answered(global, &id, &answer, |call| match (wants(call), session) {
                    (None, false) => format!("{} runs.", of(call)),
                    (None, true) => format!("{} runs, and so do further ones in its session.", of(call)),
                    (Some(wants), false) => format!("{} may {wants}.", of(call)),
                    (Some(wants), true) => format!("{} may {wants}, and so may further ones in its session.", of(call)),
                })
            }
            Some(Command::Refuse { id, reason }) => {
                answered(global, &id, &ApprovalAnswer::Refuse(reason), |call| format!("{} is refused.", of(call)))
            }
        }
    }
}

/// Tells the host that has it.
fn answered(global: &Global, id: &str, answer: &ApprovalAnswer, says: impl Fn(&Value) -> String) -> Result<ExitCode> {
    let running = hosts::running(&global.data(&global.configuration()?)?)?;
    let found = runtime()?.block_on(async {
        for host in &running {
            let answer = OperatorRequest::Answer { approval: id.to_owned(), answer: answer.clone() };
            match host.operate(answer, &Requester::default()).await {
                Ok(call) => return Some(call),
                Err(ControlError::Failed(_)) => {}
                Err(error) => tracing::warn!("a host does not answer: {}", with_causes(&error)),
            }
        }
        None
    });
    Ok(match found {
        Some(call) => {
            println!("{}", says(&call));
            ExitCode::SUCCESS
        }
        None => waits_no_more(id),
    })
}

fn waits_no_more(id: &str) -> ExitCode {
    eprintln!(
        "error: no call `{}` waits: it has been answered, or nobody waits for it any more; `wharf approvals` lists them",
        wharf::text::line(id, 64)
    );
    ExitCode::from(FAILED)
}

/// Writes the rule, which then lets all that wait for it run.
fn allow_always(global: &Global, id: &str) -> Result<ExitCode> {
    let waiting = HostEntries::ask(global, async |host| host.list(OperatorList::Approvals).await)?;
    let Some(call) = waiting.entries.iter().find(|call| call["id"].as_str() == Some(id)) else {
        return Ok(waits_no_more(id));
    };
    let unusable = |error: EditError| Unusable(with_causes(&error));
    let mut edit = ConfigurationEdit::open(&global.configuration_target()?).map_err(unusable)?;
    let changed = match wants(call) {
        None => edit.always_allow(call["tool"].as_str().unwrap_or_default()),
        Some(_) => match rule(call)? {
            Some(rule) => edit.always_allow_act(&rule),
            None => {
                eprintln!(
                    "error: what `{id}` wants is too long for a rule, or has characters that nobody sees; allow it for once \
                     or with --session"
                );
                return Ok(ExitCode::from(FAILED));
            }
        },
    };
    changed.and_then(|()| edit.save()).map_err(unusable)?;
    let hosts = HostAnswers::reload(&global.data(&global.configuration()?)?)?;
    hosts.print_problems();
    match wants(call) {
        None => {
            println!("{} runs, and so does every call of its tool from now on: written to {}.", of(call), edit.place())
        }
        Some(wants) => {
            println!("{} may {wants}, and so may every call from now on: written to {}.", of(call), edit.place())
        }
    }
    Ok(hosts.code())
}

/// What would allow for good what a running call wants.
fn rule(call: &Value) -> Result<Option<ApprovalRule>> {
    let rule = call.get("rule").cloned().map(serde_json::from_value).transpose();
    rule.context("the host that has the call is of another version; allow it without --always")
}

/// What a running call wants, on one line; the beginning of a long one.
fn wants(call: &Value) -> Option<String> {
    let wants = call["wants"].as_str()?;
    let more = if wants.len() > MOST_SHOWN { " … (--json shows more)" } else { "" };
    // Lines that ran together would read as another command.
    let lines = wharf::text::cut(wants, MOST_SHOWN).replace('\n', "\\n").replace('\t', "\\t");
    Some(wharf::text::line(&lines, lines.len()) + more)
}

/// What a person calls a call.
fn of(call: &Value) -> String {
    format!("{} ({})", word(call, "tool"), word(call, "id"))
}

/// A word of a call, which must not steer the operator's terminal.
fn word(call: &Value, name: &str) -> String {
    wharf::text::line(call[name].as_str().unwrap_or("-"), 128)
}

fn table(waiting: &[Value]) -> Listing {
    let mut listing = Listing::new(["id", "tool", "tenant", "session", "client", "waits", "left"], 5..7);
    for call in waiting {
        let seconds = |name: &str| format!("{} s", call[name].as_u64().unwrap_or_default() / 1_000);
        let [id, tool, tenant, session, client] =
            ["id", "tool", "tenant", "session", "client"].map(|name| word(call, name));
        let (waits, left) = (seconds("waited_milliseconds"), seconds("left_milliseconds"));
        listing.row([&id, &tool, &tenant, &session, &client, &waits, &left]);
        if let Some(wants) = wants(call) {
            listing.note(format!("wants to {wants}"));
        }
        let arguments = call["arguments"].as_str().unwrap_or_default();
        let shown = wharf::text::line(arguments, MOST_SHOWN);
        let bytes = call["argument_bytes"].as_u64().unwrap_or_default();
        let cut =
            if bytes > MOST_SHOWN as u64 { format!(" … ({bytes} bytes; --json shows more)") } else { String::new() };
        listing.note(format!("{shown}{cut}"));
    }
    listing
}
