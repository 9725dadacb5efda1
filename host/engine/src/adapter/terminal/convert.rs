//! Between the words of the contract and those of the terminal backend.

use std::time::Duration;

use serde_json::json;
use wharf_completion::detection::{AdaptiveSilence, Decision, Tuning, given_time};
use wharf_contract::terminal::{self as contract, CloseReason, LaunchOptions, Meta, Restart, TurnMeta};
use wharf_core::{Code, Error, expression::CompileBudget, json::members};
use wharf_terminal::{
    HistorySlice, KilledBy, ProgramExit, ScreenSnapshot, TerminalInfo, TerminalSize, TurnInput, TurnOptions, TurnState,
};

use crate::{
    adapter::text::{milliseconds, time},
    bindings::wharf::plugin::terminal as wit,
};

/// Keys of one call.
const MAX_KEYS: usize = 1_000;
/// Patterns of one turn.
const MAX_PROMPTS: usize = 16;
/// The longest that a turn lasts.
const LONGEST_TURN: Duration = Duration::from_secs(24 * 3600);

fn invalid(message: impl Into<String>) -> Error {
    Error::new(Code::Invalid, message.into())
}

pub(super) fn size(columns: u16, rows: u16) -> Result<TerminalSize, Error> {
    let usual = TerminalSize::default();
    let or = |given: u16, usual: u16| if given == 0 { usual } else { given };
    TerminalSize::new(or(columns, usual.columns()), or(rows, usual.rows())).map_err(|error| invalid(error.to_string()))
}

pub(super) fn restart(options: Option<&str>) -> Result<Option<Restart>, Error> {
    let Some(options) = options else { return Ok(None) };
    let options: LaunchOptions =
        members(options).map_err(|error| invalid(format!("`options` is not what this host knows: {error}")))?;
    let word = options.restart.map(|word| word.parse::<Restart>());
    word.transpose().map_err(|error| invalid(format!("`options`: {error}")))
}

pub(super) fn keys(keys: &[String]) -> Result<Vec<&str>, Error> {
    if keys.is_empty() || keys.len() > MAX_KEYS {
        return Err(invalid(format!("`keys` has {} names; give from 1 to {MAX_KEYS}", keys.len())));
    }
    Ok(keys.iter().map(String::as_str).collect())
}

/// `names` are the input's keys.
pub(super) fn input<'i>(input: &'i wit::Input, names: &'i [&'i str]) -> Result<TurnInput<'i>, Error> {
    match (input.text.is_empty(), input.submit, names.len()) {
        (true, false, 1..=MAX_KEYS) => Ok(TurnInput::Keys(names)),
        (true, false, 0) => Err(invalid("there is nothing to type: give a text, `submit` or keys")),
        (true, false, count) => Err(invalid(format!("{count} keys are more than {MAX_KEYS}"))),
        (_, true, 0) => Ok(TurnInput::Submit(&input.text)),
        (false, false, 0) => Ok(TurnInput::Type(&input.text)),
        (_, _, _) => Err(invalid("give a text or keys, not both; Enter is a key, too")),
    }
}

/// What the terminal goes by, with what a turn wants to be otherwise. Its patterns are
/// compiled, which takes up to milliseconds.
pub(super) fn turn_options(wanted: &wit::TurnOptions, usual: TurnOptions) -> Result<TurnOptions, Error> {
    let tuning = tuning(wanted.options.as_deref())?;
    let TurnOptions { mut parameters } = usual;
    if wanted.prompts.len() > MAX_PROMPTS {
        return Err(invalid(format!("`prompts` has {} patterns, more than {MAX_PROMPTS}", wanted.prompts.len())));
    }
    if !wanted.prompts.is_empty() {
        let patterns: Vec<&str> = wanted.prompts.iter().map(String::as_str).collect();
        let mut budget = CompileBudget::new(CompileBudget::REQUEST);
        let prompts = parameters.prompts.with_strict(&patterns, &mut budget);
        parameters.prompts = prompts.map_err(|error| invalid(format!("`prompts`: {error}")))?;
    }
    let longest = u64::try_from(LONGEST_TURN.as_millis()).unwrap_or(u64::MAX);
    let time = |name, given: Option<u64>, other, also: Option<u64>| match (given, also) {
        (Some(_), Some(_)) => Err(invalid(format!("`{name}` and `{other}` of `options` say the same; give one"))),
        _ => given_time(name, given.map(|given| given.min(longest))).map_err(|error| invalid(error.to_string())),
    };
    let silence = time(
        "inactivity-milliseconds",
        wanted.inactivity_milliseconds,
        "inactivity_timeout_milliseconds",
        tuning.inactivity_timeout_milliseconds,
    )?;
    let limit = time(
        "time-limit-milliseconds",
        wanted.time_limit_milliseconds,
        "time_limit_milliseconds",
        tuning.time_limit_milliseconds,
    )?;
    parameters = parameters.limited(silence, limit).map_err(|error| invalid(error.to_string()))?;
    parameters = parameters.tuned(&tuning).map_err(|error| invalid(format!("`parameters` of `options`: {error}")))?;
    Ok(TurnOptions { parameters })
}

fn tuning(options: Option<&str>) -> Result<Tuning, Error> {
    let Some(options) = options else { return Ok(Tuning::default()) };
    let options: contract::TurnOptions<Tuning> =
        members(options).map_err(|error| invalid(format!("`options` is not what this host knows: {error}")))?;
    Ok(options.parameters.unwrap_or_default())
}

fn completion(decision: &Decision) -> Option<wit::Completion> {
    let verdict = decision.verdict?;
    Some(wit::Completion {
        layer: verdict.reason.layer().as_str().to_owned(),
        reason: verdict.reason.as_str().to_owned(),
        confidence: verdict.confidence.as_str().to_owned(),
        messages: decision.messages,
        attempts: decision.attempts,
        empty_polls: decision.empty_polls,
        idle_milliseconds: milliseconds(decision.idle),
        elapsed_milliseconds: milliseconds(decision.elapsed),
        exit_code: decision.exit_code,
    })
}

pub(super) fn turn(state: TurnState) -> wit::Turn {
    let complete = completion(&state.decision).filter(|_| !state.cancelled);
    let meta = state.decision.adaptive.map(|AdaptiveSilence { limit, turns }| {
        let adaptive = contract::AdaptiveSilence { inactivity_milliseconds: milliseconds(limit), turns };
        json!(TurnMeta { adaptive: Some(adaptive) }).to_string()
    });
    let TurnState { number, start, end, cancelled, .. } = state;
    wit::Turn { number, start, end, complete, cancelled, meta }
}

/// The stream ends behind this piece, or later.
pub(super) fn raw_piece(slice: HistorySlice<Vec<u8>>, end: u64) -> wit::Piece {
    let HistorySlice { content, start, next, evicted_before } = slice;
    wit::Piece { start, next, evicted_before, end: end.max(next), data: content }
}

pub(super) fn piece(slice: HistorySlice<String>, end: u64) -> wit::Piece {
    let HistorySlice { content, start, next, evicted_before } = slice;
    raw_piece(HistorySlice { content: content.into_bytes(), start, next, evicted_before }, end)
}

fn outcome(exit: ProgramExit, why: Option<&str>) -> wit::Outcome {
    let told = |reason: Option<&str>| wit::Outcome {
        kind: exit.kind().as_str().to_owned(),
        code: None,
        signal: None,
        reason: reason.map(str::to_owned),
    };
    match exit {
        ProgramExit::Exited { code } => wit::Outcome { code: Some(code), ..told(why) },
        ProgramExit::Signaled { signal } => wit::Outcome { signal: u32::try_from(signal).ok(), ..told(why) },
        ProgramExit::Killed { by: KilledBy::User } => told(why),
        ProgramExit::Killed { by: KilledBy::HostLost } => told(Some(CloseReason::HostLost.as_str())),
    }
}

impl From<TerminalInfo> for wit::Info {
    fn from(info: TerminalInfo) -> Self {
        let meta = Meta {
            because: info.because,
            directory: info.directory.display().to_string(),
            restart: info.restart.to_string(),
        };
        Self {
            id: info.id.to_string(),
            command: info.command,
            profile: info.profile,
            preset: info.preset.as_str().to_owned(),
            status: info.status.as_str().to_owned(),
            pid: info.pid,
            columns: info.size.columns(),
            rows: info.size.rows(),
            started: time(info.started),
            last_used: time(info.last_used),
            ended: info.ended.map(time),
            outcome: info.exit.map(|exit| outcome(exit, info.why.map(|why| why.as_str()))),
            restarts: info.restarts,
            restarted_because: info.restarted_because,
            turn: info.turn.map(turn),
            text: wit::Extent { bytes: info.text_bytes, evicted_before: info.text_evicted_before },
            raw: wit::Extent { bytes: info.raw_bytes, evicted_before: info.raw_evicted_before },
            alternate_screen: info.alternate_screen,
            recording: info.recording.is_some(),
            stream: info.stream.map(|stream| stream.to_string()),
            meta: Some(json!(meta).to_string()),
        }
    }
}

impl From<ScreenSnapshot> for wit::ScreenView {
    fn from(shown: ScreenSnapshot) -> Self {
        let ScreenSnapshot { view, history } = shown;
        Self {
            columns: view.size.columns(),
            rows: view.size.rows(),
            lines: view.lines,
            cursor_column: view.cursor.column,
            cursor_row: view.cursor.row,
            cursor_visible: view.cursor.visible,
            alternate: view.alternate,
            history,
            meta: None,
        }
    }
}
