//! The terminals of the host itself, for transports.
//!
//! What a transport opens belongs to the plugin `host` and to the context of
//! the request, and needs a grant as any plugin's does.

use std::{sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use chrono::{DateTime, SecondsFormat, Utc};
use tokio::task::spawn_blocking;
use wharf_completion::{
    TerminalService,
    detection::given_time,
    stream::Completion,
    terminals::{
        CancelTurn, OutputView, PressKeys, ReadOutput, ResizeTerminal, StartTerminal, StartedTerminal, TerminalCursor,
        TerminalDescription, TerminalExit, TerminalOutput, TerminalScreen, TerminalSeen, TerminalTurn, TerminalWatch,
        TurnDescription, TurnRequest, WatchableTerminal,
    },
};
use wharf_core::{
    Code, Context, Error, Grants, PluginName, TerminalOwner, expression::CompileBudget, grant::GrantedTerminal,
};
use wharf_engine::Backends;
use wharf_terminal::{
    ChildWorkspace, HistorySlice, LaunchRequest, ProgramExit, ScreenSnapshot, Status, TerminalId, TerminalInfo,
    TerminalSize, Terminals, TurnInput, TurnOptions, WatchEvent, WatchedTerminal,
};
use wharf_workspace::Workspace;

/// Keys of one request.
const MAX_KEYS: usize = 1_000;
/// Patterns of prompts of one turn.
const MAX_PROMPTS: usize = 16;

/// See the module.
pub(crate) struct HostTerminals {
    backends: Backends,
    grants: Arc<Grants>,
    plugin: PluginName,
}

/// A terminal, and the proof that this request may ask for it.
struct OwnedTerminal<'f> {
    terminals: &'f Terminals,
    owner: TerminalOwner,
    id: TerminalId,
}

impl HostTerminals {
    pub(crate) fn new(backends: Backends, grants: Arc<Grants>) -> Self {
        Self { backends, grants, plugin: PluginName::host() }
    }

    fn granted(&self) -> Result<(GrantedTerminal<'_>, &Terminals), Error> {
        let granted = self.grants.terminal(&self.plugin)?;
        let absent = || {
            Error::new(Code::Unavailable, "this host keeps no terminals: it has no data directory that it can write")
        };
        Ok((granted, self.backends.terminals.as_deref().ok_or_else(absent)?))
    }

    fn found(&self, context: &Context, id: &str) -> Result<OwnedTerminal<'_>, Error> {
        let (granted, terminals) = self.granted()?;
        Ok(OwnedTerminal { terminals, owner: granted.owner(context), id: id.parse()? })
    }
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(Code::Invalid, message.into())
}

/// How a turn is judged, with what the request wants to be otherwise. Its patterns are
/// compiled, which takes up to milliseconds.
fn judged(usual: TurnOptions, request: &TurnRequest) -> Result<TurnOptions, Error> {
    let TurnOptions { mut parameters } = usual;
    if request.prompts.len() > MAX_PROMPTS {
        let given = request.prompts.len();
        return Err(invalid(format!("`prompts` has {given} patterns, more than {MAX_PROMPTS}")));
    }
    if !request.prompts.is_empty() {
        let patterns: Vec<&str> = request.prompts.iter().map(String::as_str).collect();
        let mut budget = CompileBudget::new(CompileBudget::REQUEST);
        let prompts = parameters.prompts.with_strict(&patterns, &mut budget);
        parameters.prompts = prompts.map_err(|error| invalid(format!("`prompts`: {error}")))?;
    }
    let tuning = request.parameters.as_ref();
    let time = |name, given, other, also: Option<u64>| match (given, also) {
        (Some(_), Some(_)) => Err(invalid(format!("`{name}` and `{other}` of `parameters` say the same; give one"))),
        _ => given_time(name, given).map_err(|error| invalid(error.to_string())),
    };
    let silence = tuning.and_then(|tuning| tuning.inactivity_timeout_milliseconds);
    let silence =
        time("inactivity_timeout_ms", request.inactivity_timeout_ms, "inactivity_timeout_milliseconds", silence)?;
    let limit = tuning.and_then(|tuning| tuning.time_limit_milliseconds);
    let limit = time("time_limit_ms", request.time_limit_ms, "time_limit_milliseconds", limit)?;
    parameters = parameters.limited(silence, limit).map_err(|error| invalid(error.to_string()))?;
    if let Some(tuning) = tuning {
        parameters = parameters.tuned(tuning).map_err(|error| invalid(format!("`parameters`: {error}")))?;
    }
    Ok(TurnOptions { parameters })
}

fn checked(size: Result<TerminalSize, wharf_terminal::InvalidSize>) -> Result<TerminalSize, Error> {
    size.map_err(|error| invalid(error.to_string()))
}

#[async_trait::async_trait]
impl TerminalService for HostTerminals {
    async fn start(&self, context: &Context, request: StartTerminal) -> Result<StartedTerminal, Error> {
        let (granted, terminals) = self.granted()?;
        let command = match &request.program {
            Some(program) => granted.program(program)?,
            None if request.arguments.is_empty() => granted.shell()?,
            None => return Err(invalid("`arguments` are for a `program`, and the shell takes none")),
        };
        let environment: Vec<_> = request.environment.into_iter().collect();
        let usual = TerminalSize::default();
        let (columns, rows) = (request.columns.unwrap_or(usual.columns()), request.rows.unwrap_or(usual.rows()));
        let wanted = LaunchRequest {
            arguments: &request.arguments,
            directory: request.directory.as_deref().unwrap_or_default(),
            environment: &environment,
            size: checked(TerminalSize::new(columns, rows))?,
            profile: request.profile.as_deref(),
            // Nobody could follow its turns without.
            needs_stream: true,
            ..LaunchRequest::new(command)
        };
        let Workspace { files, home, user, stay } = self.backends.workspace_to_run(granted.workspace(context)).await?;
        let place = ChildWorkspace { files, home, user, stay };
        let started = terminals.start(&granted, context, &place, wanted).await?;
        let owner = granted.owner(context);
        let terminal = described(terminals.info(&owner, started.id)?);
        Ok(StartedTerminal { terminal, replaced: started.replaced.iter().map(ToString::to_string).collect() })
    }

    async fn list(&self, context: &Context) -> Result<Vec<TerminalDescription>, Error> {
        let (granted, terminals) = self.granted()?;
        Ok(terminals.list(&granted.owner(context)).into_iter().map(described).collect())
    }

    async fn info(&self, context: &Context, terminal: &str) -> Result<TerminalDescription, Error> {
        let OwnedTerminal { terminals, owner, id } = self.found(context, terminal)?;
        Ok(described(terminals.info(&owner, id)?))
    }

    async fn turn(&self, context: &Context, terminal: &str, request: TurnRequest) -> Result<TerminalTurn, Error> {
        let OwnedTerminal { terminals, owner, id } = self.found(context, terminal)?;
        let usual = terminals.turn_options(&owner, id, request.profile.as_deref())?;
        let interrupted = |_| Error::new(Code::Unavailable, "the host is shutting down");
        let (options, request) = if request.prompts.is_empty() {
            (judged(usual, &request), request)
        } else {
            spawn_blocking(move || (judged(usual, &request), request)).await.map_err(interrupted)?
        };
        let options = options?;
        let keys: Vec<&str> = request.keys.iter().map(String::as_str).collect();
        let input = match (&request.text, keys.len()) {
            (Some(text), 0) if request.submit => TurnInput::Submit(text),
            (Some(text), 0) => TurnInput::Type(text),
            (None, 1..=MAX_KEYS) => TurnInput::Keys(&keys),
            (None, _) => return Err(invalid(format!("give a `text`, or from 1 to {MAX_KEYS} `keys`"))),
            (Some(_), _) => return Err(invalid("give a `text` or `keys`, not both")),
        };
        let (state, told) = terminals.send_streamed(&owner, id, input, Some(options)).await?;
        let (stream, begun) = match told {
            Some(told) => told,
            None => return Err(over(&terminals.info(&owner, id)?)),
        };
        Ok(TerminalTurn { stream, turn: state.number, first: begun.first })
    }

    async fn keys(&self, context: &Context, terminal: &str, request: PressKeys) -> Result<(), Error> {
        let OwnedTerminal { terminals, owner, id } = self.found(context, terminal)?;
        if !(1..=MAX_KEYS).contains(&request.keys.len()) {
            return Err(invalid(format!("give from 1 to {MAX_KEYS} `keys`")));
        }
        let keys: Vec<&str> = request.keys.iter().map(String::as_str).collect();
        Ok(terminals.press(&owner, id, &keys).await?)
    }

    async fn cancel(&self, context: &Context, terminal: &str, request: CancelTurn) -> Result<(), Error> {
        let OwnedTerminal { terminals, owner, id } = self.found(context, terminal)?;
        let running = terminals.info(&owner, id)?.turn.filter(|turn| !turn.is_over());
        match running {
            Some(turn) if request.turn.is_none_or(|wanted| wanted == turn.number) => {
                Ok(terminals.cancel(&owner, id, turn.number)?)
            }
            _ => Err(Error::new(Code::Conflict, "no such turn runs in this terminal")),
        }
    }

    async fn resize(&self, context: &Context, terminal: &str, request: ResizeTerminal) -> Result<(), Error> {
        let OwnedTerminal { terminals, owner, id } = self.found(context, terminal)?;
        let info = terminals.info(&owner, id)?;
        if info.status == Status::Closed {
            return Err(over(&info));
        }
        Ok(terminals.resize(&owner, id, checked(TerminalSize::new(request.columns, request.rows))?)?)
    }

    async fn screen(&self, context: &Context, terminal: &str, history_lines: usize) -> Result<TerminalScreen, Error> {
        let OwnedTerminal { terminals, owner, id } = self.found(context, terminal)?;
        let ScreenSnapshot { view, history } = terminals.screen(&owner, id, history_lines)?;
        let cursor = TerminalCursor { column: view.cursor.column, row: view.cursor.row, visible: view.cursor.visible };
        Ok(TerminalScreen {
            columns: view.size.columns(),
            rows: view.size.rows(),
            lines: view.lines,
            cursor,
            alternate: view.alternate,
            history,
        })
    }

    async fn output(&self, context: &Context, terminal: &str, request: ReadOutput) -> Result<TerminalOutput, Error> {
        let OwnedTerminal { terminals, owner, id } = self.found(context, terminal)?;
        let ReadOutput { view, from, maximum_bytes, patience } = request;
        let behind = move |progress: &wharf_terminal::SessionProgress| match view {
            OutputView::Text => progress.text_bytes > from,
            OutputView::Raw => progress.raw_bytes > from,
        };
        let info = terminals.wait_for(&owner, id, behind, patience).await?;
        let HistorySlice { content, start, next, evicted_before } = match view {
            OutputView::Text => terminals.read_text(&owner, id, from, maximum_bytes)?,
            OutputView::Raw => {
                let HistorySlice { content, start, next, evicted_before } =
                    terminals.read_raw(&owner, id, from, maximum_bytes)?;
                HistorySlice { content: STANDARD.encode(content), start, next, evicted_before }
            }
        };
        let closed = info.status == Status::Closed;
        Ok(TerminalOutput { view, content, from: start, next, evicted_before, closed })
    }

    async fn watchable(&self, context: &Context) -> Vec<WatchableTerminal> {
        let terminals = self.backends.terminals.as_ref();
        let all = terminals.map(|terminals| terminals.of_session(context)).unwrap_or_default();
        all.into_iter().map(|(owner, info)| watchable(&owner, info)).collect()
    }

    async fn watch(
        &self,
        context: &Context,
        terminal: &str,
        from: Option<u64>,
    ) -> Result<Box<dyn TerminalWatch>, Error> {
        let id: TerminalId = terminal.parse()?;
        let absent = || Error::new(Code::NotFound, "there is no such terminal here");
        let terminals = self.backends.terminals.as_ref().ok_or_else(absent)?;
        Ok(Box::new(HostTerminalWatch(terminals.watch(context, id, from)?)))
    }

    async fn close(&self, context: &Context, terminal: &str, grace: Duration) -> Result<TerminalDescription, Error> {
        let OwnedTerminal { terminals, owner, id } = self.found(context, terminal)?;
        Ok(described(terminals.close(&owner, id, grace).await?))
    }
}

/// A viewer of a terminal.
struct HostTerminalWatch(WatchedTerminal);

#[async_trait::async_trait]
impl TerminalWatch for HostTerminalWatch {
    async fn next(&mut self) -> Option<TerminalSeen> {
        Some(match self.0.next().await? {
            WatchEvent::Screen { size, text, next } => {
                TerminalSeen::Screen { columns: size.columns(), rows: size.rows(), text, next }
            }
            WatchEvent::Bytes { from, next, bytes } => TerminalSeen::Bytes { from, next, bytes },
            WatchEvent::Resized(size) => TerminalSeen::Resized { columns: size.columns(), rows: size.rows() },
            WatchEvent::Over(because) => TerminalSeen::Over { because },
        })
    }
}

fn watchable(owner: &TerminalOwner, info: TerminalInfo) -> WatchableTerminal {
    WatchableTerminal {
        terminal: info.id.to_string(),
        plugin: owner.plugin.to_string(),
        assistant: owner.assistant.as_ref().map(ToString::to_string),
        command: info.command,
        status: info.status.as_str().to_owned(),
        columns: info.size.columns(),
        rows: info.size.rows(),
        started: time(info.started),
        ended: info.ended.map(time),
        because: info.because,
        raw_bytes: info.raw_bytes,
    }
}

/// What is answered for a terminal that is over.
fn over(info: &TerminalInfo) -> Error {
    let because = info.because.as_deref().unwrap_or("its program has ended");
    Error::new(Code::Gone, format!("this terminal is closed: {because}"))
}

fn time(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

pub(crate) fn exit(info: &TerminalInfo) -> Option<TerminalExit> {
    let exit = info.exit?;
    let (code, signal) = match exit {
        ProgramExit::Exited { code } => (Some(code), None),
        ProgramExit::Signaled { signal } => (None, Some(signal)),
        ProgramExit::Killed { .. } => (None, None),
    };
    Some(TerminalExit {
        kind: exit.kind().as_str().to_owned(),
        code,
        signal,
        reason: info.why.map(|why| why.as_str().to_owned()),
        because: info.because.clone(),
    })
}

/// In the words of transports.
fn described(info: TerminalInfo) -> TerminalDescription {
    let turn = info.turn.as_ref().map(|turn| TurnDescription {
        turn: turn.number,
        from: turn.start,
        next: turn.end,
        complete: turn.end.map(|_| {
            let mut decision = turn.decision.clone();
            decision.verdict = decision.verdict.filter(|_| !turn.cancelled);
            Completion::new(turn.number, &decision).explained(&decision, info.because.as_deref())
        }),
    });
    TerminalDescription {
        terminal: info.id.to_string(),
        stream: info.stream,
        exit: exit(&info),
        command: info.command,
        profile: info.profile,
        status: info.status.as_str().to_owned(),
        columns: info.size.columns(),
        rows: info.size.rows(),
        pid: info.pid,
        started: time(info.started),
        last_used: time(info.last_used),
        ended: info.ended.map(time),
        restarts: info.restarts,
        restarted_because: info.restarted_because,
        turn,
        text_bytes: info.text_bytes,
        raw_bytes: info.raw_bytes,
        alternate_screen: info.alternate_screen,
        recording: info.recording.is_some(),
    }
}
