//! One terminal of the test host: its turns, and what was printed.

use std::sync::Arc;

use wharf_contract::terminal::CloseReason;

use super::script::{Response, Script};
use crate::terminal::{Completion, Input, Outcome, OutcomeKind, Piece, Reason, Screen, Status, TerminalInfo, Turn};
use crate::{ToolError, clock};

const INPUT_CHARACTERS: usize = 10_000;

/// One terminal, as the clones of a test host share it.
#[derive(Debug)]
pub(in crate::testing) struct TestTerminal {
    pub(super) owner: (String, Option<String>),
    pub(super) info: TerminalInfo,
    pub(super) script: Arc<Script>,
    pub(super) text: String,
    /// What the turn that runs will print, once the waits are over.
    pub(super) pending: Option<Response>,
    pub(super) typed: Vec<String>,
}

impl TestTerminal {
    fn end(&self) -> u64 {
        length(self.text.len())
    }

    pub(super) fn print(&mut self, text: &str) {
        self.text.push_str(text);
        let bytes = self.end();
        self.info.text.bytes = bytes;
        self.info.raw.bytes = bytes;
    }

    pub(super) fn is_busy(&self) -> bool {
        self.info.turn.as_ref().is_some_and(Turn::is_running)
    }

    fn close(&mut self, outcome: Outcome) {
        self.info.status = Status::Closed;
        self.info.outcome = Some(outcome);
        self.info.ended = Some(clock::now());
        self.info.pid = None;
    }

    pub(super) fn close_by_host(&mut self, reason: CloseReason) {
        if self.info.is_closed() {
            return;
        }
        let reason = Some(reason.to_string());
        self.close(Outcome { kind: OutcomeKind::Killed, code: None, signal: Some(9), reason });
        let end = Response::new("").exits(0).end.map(|end| Completion { exit_code: None, ..end });
        self.end_turn(end);
    }

    pub(super) fn open(&mut self) -> Result<&mut Self, ToolError> {
        if self.info.is_closed() { Err(ToolError::gone("the program of this terminal has ended")) } else { Ok(self) }
    }

    pub(super) fn begin(&mut self, input: Input<'_>) -> Result<Turn, ToolError> {
        if self.is_busy() {
            return Err(ToolError::conflict("a turn of this terminal runs"));
        }
        let (text, echo) = match input {
            Input::Submit(text) => (text.to_owned(), format!("{text}\n")),
            Input::Type(text) => (text.to_owned(), text.to_owned()),
            Input::Keys(keys) => (keys.join(" "), String::new()),
        };
        if text.chars().count() > INPUT_CHARACTERS {
            return Err(ToolError::limit("the text is longer than can be typed"));
        }
        if text.contains(|character: char| character.is_control() && !matches!(character, '\n' | '\t')) {
            return Err(ToolError::invalid("the text has a control character; send it as a key"));
        }
        let number = self.info.turn.as_ref().map_or(0, |turn| turn.number) + 1;
        let turn = Turn { number, start: self.end(), end: None, complete: None, cancelled: false, meta: None };
        self.pending = Some(self.script.response(&text));
        self.typed.push(text);
        self.print(&echo);
        self.info.turn = Some(turn.clone());
        self.info.status = Status::Busy;
        Ok(turn)
    }

    /// What a wait finds; false where it was in vain.
    pub(super) fn proceed(&mut self) -> bool {
        match self.pending.take() {
            Some(response) if response.waits > 0 => {
                self.pending = Some(Response { waits: response.waits - 1, ..response });
                false
            }
            Some(mut response) => {
                self.print(&response.parts.pop().unwrap_or_default());
                if !response.parts.is_empty() {
                    self.pending = Some(response);
                    return true;
                }
                if let Some(code) = response.exits {
                    let kind = OutcomeKind::Exited;
                    self.close(Outcome { kind, code: Some(code), signal: None, reason: None });
                }
                if response.end.is_some() {
                    self.end_turn(response.end);
                }
                true
            }
            None => true,
        }
    }

    pub(super) fn end_turn(&mut self, complete: Option<Completion>) {
        let end = self.end();
        self.pending = None;
        let Some(turn) = self.info.turn.as_mut().filter(|turn| turn.is_running()) else { return };
        turn.end = Some(end);
        turn.cancelled = complete.is_none();
        let asks = |end: &Completion| matches!(end.reason, Reason::StrictPrompt | Reason::NeedsContinuation);
        if !self.info.is_closed() {
            let needs_input = complete.as_ref().is_some_and(asks);
            self.info.status = if needs_input { Status::NeedsInput } else { Status::Ready };
        }
        if let Some(turn) = &mut self.info.turn {
            turn.complete = complete;
        }
    }

    pub(super) fn turn(&self, number: u64) -> Result<&Turn, ToolError> {
        match &self.info.turn {
            Some(turn) if turn.number == number => Ok(turn),
            Some(turn) if number > 0 && number < turn.number => {
                Err(ToolError::gone("this turn is over, and another one has begun"))
            }
            _ => Err(ToolError::not_found("there is no such turn")),
        }
    }

    pub(super) fn piece(&self, from: u64, max_bytes: u32, characters: usize) -> Piece {
        let start = self.text.ceil_char_boundary(usize::try_from(from).unwrap_or(usize::MAX).min(self.text.len()));
        let rest = self.text.get(start..).unwrap_or_default();
        let cut = rest.floor_char_boundary(usize::try_from(max_bytes).unwrap_or(usize::MAX).min(rest.len()));
        let chunk: String = rest.get(..cut).unwrap_or_default().chars().take(characters).collect();
        let next = length(start + chunk.len());
        Piece { start: length(start), next, evicted_before: 0, end: self.end(), data: chunk.into_bytes() }
    }

    pub(super) fn screen(&self, history_lines: u32) -> Screen {
        let all: Vec<String> = self.text.split('\n').map(|line| line.trim_end().to_owned()).collect();
        let rows = usize::from(self.info.rows);
        let (history, shown) = all.split_at(all.len().saturating_sub(rows));
        let kept = history.len().saturating_sub(usize::try_from(history_lines).unwrap_or(usize::MAX));
        let last = self.text.rsplit('\n').next().unwrap_or_default();
        let mut lines = shown.to_vec();
        lines.resize(rows, String::new());
        Screen {
            columns: self.info.columns,
            rows: self.info.rows,
            lines,
            cursor_column: u16::try_from(last.chars().count()).unwrap_or(u16::MAX),
            cursor_row: u16::try_from(shown.len().saturating_sub(1)).unwrap_or(u16::MAX),
            cursor_visible: true,
            alternate: self.info.alternate_screen,
            history: history.get(kept..).unwrap_or_default().to_vec(),
            meta: None,
        }
    }
}

pub(super) fn length(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
