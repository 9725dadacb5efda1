//! The terminals of [`WitHost`]. Wasm only; it converts and holds no logic.

use std::time::Duration;

use super::WitHost;
use crate::ToolError;
use crate::bindings::wharf::plugin::terminal;
use crate::host::HostTerminals;
use crate::process::milliseconds;
use crate::terminal::{
    Completion, Extent, Followed, Input, Launch, Outcome, Piece, Screen, Started, TerminalInfo, Turn, TurnOptions, View,
};

impl HostTerminals for WitHost {
    fn terminal_status(&self) -> Result<String, ToolError> {
        Ok(terminal::status()?)
    }

    fn start_terminal(&self, program: &str, arguments: &[&str], launch: &Launch) -> Result<Started, ToolError> {
        Ok(terminal::start(program, &owned(arguments), &launch.into())?.into())
    }

    fn start_shell(&self, launch: &Launch) -> Result<Started, ToolError> {
        Ok(terminal::start_shell(&launch.into())?.into())
    }

    fn list_terminals(&self) -> Result<Vec<TerminalInfo>, ToolError> {
        Ok(terminal::list()?.into_iter().map(TerminalInfo::from).collect())
    }

    fn terminal(&self, id: &str) -> Result<TerminalInfo, ToolError> {
        Ok(terminal::get(id)?.into())
    }

    fn send(&self, id: &str, input: Input<'_>, options: &TurnOptions) -> Result<Turn, ToolError> {
        Ok(terminal::send(id, &input.into(), &options.into())?.into())
    }

    fn follow(&self, id: &str, turn: u64, from: u64, max_bytes: u32, milliseconds: u64) -> Result<Followed, ToolError> {
        let terminal::Followed { piece, turn } = terminal::follow(id, turn, from, max_bytes, milliseconds)?;
        Ok(Followed { piece: piece.into(), turn: turn.into() })
    }

    fn cancel(&self, id: &str, turn: u64) -> Result<(), ToolError> {
        Ok(terminal::cancel(id, turn)?)
    }

    fn press(&self, id: &str, keys: &[&str]) -> Result<(), ToolError> {
        Ok(terminal::press(id, &owned(keys))?)
    }

    fn screen(&self, id: &str, history_lines: u32) -> Result<Screen, ToolError> {
        Ok(terminal::screen(id, history_lines)?.into())
    }

    fn read_terminal(
        &self,
        id: &str,
        view: View,
        from: u64,
        max_bytes: u32,
        milliseconds: u64,
    ) -> Result<Piece, ToolError> {
        Ok(terminal::read(id, view.as_str(), from, max_bytes, milliseconds)?.into())
    }

    fn resize(&self, id: &str, columns: u16, rows: u16) -> Result<(), ToolError> {
        Ok(terminal::resize(id, columns, rows)?)
    }

    fn close(&self, id: &str, grace_milliseconds: u64) -> Result<TerminalInfo, ToolError> {
        Ok(terminal::close(id, grace_milliseconds)?.into())
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

impl From<&Launch> for terminal::Launch {
    fn from(launch: &Launch) -> Self {
        let (columns, rows) = launch.size;
        Self {
            directory: launch.directory.clone(),
            environment: launch.environment.clone(),
            columns,
            rows,
            preset: launch.preset.as_ref().map(ToString::to_string),
            options: launch.options(),
        }
    }
}

impl From<Input<'_>> for terminal::Input {
    fn from(input: Input<'_>) -> Self {
        match input {
            Input::Submit(text) => Self { text: text.to_owned(), submit: true, keys: Vec::new() },
            Input::Type(text) => Self { text: text.to_owned(), submit: false, keys: Vec::new() },
            Input::Keys(keys) => Self { text: String::new(), submit: false, keys: owned(keys) },
        }
    }
}

impl From<&TurnOptions> for terminal::TurnOptions {
    fn from(options: &TurnOptions) -> Self {
        Self {
            preset: options.preset.as_ref().map(ToString::to_string),
            prompts: options.prompts.clone(),
            inactivity_milliseconds: options.inactivity.map(milliseconds),
            time_limit_milliseconds: options.time_limit.map(milliseconds),
            options: options.options(),
        }
    }
}

impl From<terminal::Completion> for Completion {
    fn from(completion: terminal::Completion) -> Self {
        Self {
            layer: completion.layer.into(),
            reason: completion.reason.into(),
            confidence: completion.confidence.into(),
            messages: completion.messages,
            attempts: completion.attempts,
            empty_polls: completion.empty_polls,
            idle: Duration::from_millis(completion.idle_milliseconds),
            elapsed: Duration::from_millis(completion.elapsed_milliseconds),
            exit_code: completion.exit_code,
        }
    }
}

impl From<terminal::Turn> for Turn {
    fn from(turn: terminal::Turn) -> Self {
        let terminal::Turn { number, start, end, complete, cancelled, meta } = turn;
        Self { number, start, end, complete: complete.map(Completion::from), cancelled, meta }
    }
}

impl From<terminal::Outcome> for Outcome {
    fn from(outcome: terminal::Outcome) -> Self {
        let terminal::Outcome { kind, code, signal, reason } = outcome;
        Self { kind: kind.into(), code, signal, reason }
    }
}

impl From<terminal::Extent> for Extent {
    fn from(extent: terminal::Extent) -> Self {
        let terminal::Extent { bytes, evicted_before } = extent;
        Self { bytes, evicted_before }
    }
}

impl From<terminal::Info> for TerminalInfo {
    fn from(info: terminal::Info) -> Self {
        Self {
            id: info.id,
            command: info.command,
            profile: info.profile,
            preset: info.preset.into(),
            status: info.status.into(),
            pid: info.pid,
            columns: info.columns,
            rows: info.rows,
            started: info.started,
            last_used: info.last_used,
            ended: info.ended,
            outcome: info.outcome.map(Outcome::from),
            restarts: info.restarts,
            restarted_because: info.restarted_because,
            turn: info.turn.map(Turn::from),
            text: info.text.into(),
            raw: info.raw.into(),
            alternate_screen: info.alternate_screen,
            recording: info.recording,
            stream: info.stream,
            meta: info.meta,
        }
    }
}

impl From<terminal::Started> for Started {
    fn from(started: terminal::Started) -> Self {
        Self { terminal: started.terminal.into(), replaced: started.replaced }
    }
}

impl From<terminal::Piece> for Piece {
    fn from(piece: terminal::Piece) -> Self {
        let terminal::Piece { start, next, evicted_before, end, data } = piece;
        Self { start, next, evicted_before, end, data }
    }
}

impl From<terminal::ScreenView> for Screen {
    fn from(screen: terminal::ScreenView) -> Self {
        let terminal::ScreenView {
            columns,
            rows,
            lines,
            cursor_column,
            cursor_row,
            cursor_visible,
            alternate,
            history,
            meta,
        } = screen;
        Self { columns, rows, lines, cursor_column, cursor_row, cursor_visible, alternate, history, meta }
    }
}
