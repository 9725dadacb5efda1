//! `terminal`: interactive programs of the calling session.

mod convert;

use std::{sync::Arc, time::Duration};

use tokio::task::spawn_blocking;
use wharf_contract::terminal::View;
use wharf_core::{
    Code, Error, TerminalOwner,
    grant::{AllowedCommand, GrantedTerminal},
};
use wharf_terminal::{LaunchRequest, TerminalId, TerminalSize, Terminals, TurnOptions};

use super::{process::place_of, text};
use crate::{
    bindings::wharf::plugin::terminal::{self as wit, Host},
    call::ActiveCall,
    failure::Failure,
    guest::Guest,
    watch::{crossing::crossing, weigh},
};

/// What one read or follow returns at most.
const MAX_PIECE_BYTES: u32 = 1 << 20;

/// A terminal, and the proof that this call may ask for it.
struct OwnedTerminal<'c> {
    terminals: &'c Arc<Terminals>,
    owner: TerminalOwner,
    id: TerminalId,
}

weigh! {
    wit::Launch { directory, environment, preset, options | columns, rows };
    wit::Input { text, keys | submit };
    wit::TurnOptions { preset, prompts, options | inactivity_milliseconds, time_limit_milliseconds };
    wit::Info {
        command
        | id, profile, preset, status, pid, columns, rows, started, last_used, ended, outcome, restarts,
        restarted_because, turn, text, raw, alternate_screen, recording, stream, meta
    } + 512;
    wit::Started { terminal, replaced };
    wit::Turn { meta | number, start, end, complete, cancelled };
    wit::ScreenView {
        lines, history, meta
        | columns, rows, cursor_column, cursor_row, cursor_visible, alternate
    };
    // Its data fills what a read may return. The host's words beside it are free, so that a
    // read that fits never ends the call.
    wit::Piece { data | start, next, evicted_before, end };
    wit::Followed { piece | turn };
}

crossing! {
    wit::Outcome { kind, code, signal, reason };
    wit::Extent { bytes, evicted_before };
    wit::Completion {
        layer,
        reason,
        confidence,
        messages,
        attempts,
        empty_polls,
        idle_milliseconds,
        elapsed_milliseconds,
        exit_code,
    };
}

impl OwnedTerminal<'_> {
    async fn turn_options(&self, wanted: wit::TurnOptions) -> Result<TurnOptions, Failure> {
        let usual = self.terminals.turn_options(&self.owner, self.id, wanted.preset.as_deref())?;
        if wanted.prompts.is_empty() {
            return Ok(convert::turn_options(&wanted, usual)?);
        }
        Ok(spawn_blocking(move || convert::turn_options(&wanted, usual)).await??)
    }
}

impl ActiveCall {
    fn granted_terminal(&self) -> Result<(GrantedTerminal<'_>, &Arc<Terminals>), Error> {
        Ok((self.grants().terminal(&self.plugin)?, self.backends.terminals()?))
    }

    fn owned_terminal(&self, id: &str) -> Result<OwnedTerminal<'_>, Error> {
        let (granted, terminals) = self.granted_terminal()?;
        Ok(OwnedTerminal { terminals, owner: granted.owner(self.context()), id: id.parse().map_err(Error::from)? })
    }

    async fn start_terminal(
        &self,
        granted: &GrantedTerminal<'_>,
        command: AllowedCommand<'_>,
        arguments: &[String],
        launch: &wit::Launch,
    ) -> Result<wit::Started, Failure> {
        let terminals = self.backends.terminals()?;
        let wanted = LaunchRequest {
            arguments,
            directory: &launch.directory,
            environment: &launch.environment,
            size: convert::size(launch.columns, launch.rows)?,
            profile: launch.preset.as_deref(),
            restart: convert::restart(launch.options.as_deref())?,
            ..LaunchRequest::new(command.clone())
        };
        if self.approved_command(&command, arguments).await? {
            self.granted_terminal()?;
        }
        let place = place_of(self.backends.workspace_to_run(granted.workspace(self.context())).await?);
        let started = terminals.start(granted, self.context(), &place, wanted).await?;
        let terminal = terminals.info(&granted.owner(self.context()), started.id)?.into();
        Ok(wit::Started { terminal, replaced: started.replaced.iter().map(ToString::to_string).collect() })
    }
}

impl Host for Guest {
    async fn status(&mut self) -> Result<String, Failure> {
        let call = &*self.call;
        let (granted, terminals) = call.granted_terminal()?;
        // Looking makes nothing.
        let place = place_of(call.backends.workspaces()?.of(&granted.workspace(call.context())));
        Ok(text::json(&terminals.rules(&granted, &place).await?)?)
    }

    async fn start(
        &mut self,
        program: String,
        arguments: Vec<String>,
        launch: wit::Launch,
    ) -> Result<wit::Started, Failure> {
        let call = &*self.call;
        let (granted, _) = call.granted_terminal()?;
        let command = granted.program(&program)?;
        call.start_terminal(&granted, command, &arguments, &launch).await
    }

    async fn start_shell(&mut self, launch: wit::Launch) -> Result<wit::Started, Failure> {
        let call = &*self.call;
        let (granted, _) = call.granted_terminal()?;
        let command = granted.shell()?;
        call.start_terminal(&granted, command, &[], &launch).await
    }

    fn list(&mut self) -> Result<Vec<wit::Info>, Failure> {
        let call = &*self.call;
        let (granted, terminals) = call.granted_terminal()?;
        let listed: Vec<wit::Info> =
            terminals.list(&granted.owner(call.context())).into_iter().map(Into::into).collect();
        Ok(listed)
    }

    fn get(&mut self, id: String) -> Result<wit::Info, Failure> {
        let call = &*self.call;
        let OwnedTerminal { terminals, owner, id } = call.owned_terminal(&id)?;
        Ok(terminals.info(&owner, id)?.into())
    }

    async fn send(&mut self, id: String, input: wit::Input, options: wit::TurnOptions) -> Result<wit::Turn, Failure> {
        let call = &*self.call;
        let terminal = call.owned_terminal(&id)?;
        let options = terminal.turn_options(options).await?;
        let keys: Vec<&str> = input.keys.iter().map(String::as_str).collect();
        let input = convert::input(&input, &keys)?;
        let OwnedTerminal { terminals, owner, id } = terminal;
        Ok(convert::turn(terminals.send(&owner, id, input, Some(options)).await?))
    }

    async fn follow(
        &mut self,
        id: String,
        turn: u64,
        from: u64,
        max_bytes: u32,
        milliseconds: u64,
    ) -> Result<wit::Followed, Failure> {
        let call = &*self.call;
        let OwnedTerminal { terminals, owner, id } = call.owned_terminal(&id)?;
        let last = terminals.info(&owner, id)?.turn.map_or(0, |turn| turn.number);
        if (1..last).contains(&turn) {
            let told = format!(
                "turn {turn} is over, and turn {last} has begun since; read the view `text` from {from} instead"
            );
            return Err(Error::new(Code::Gone, told).into());
        }
        let (most, patience) = (call.readable_bytes(max_bytes.min(MAX_PIECE_BYTES), 1), call.patience(milliseconds));
        let followed = terminals.follow(&owner, id, turn, from, most, patience).await?;
        let info = terminals.info(&owner, id)?;
        Ok(wit::Followed { piece: convert::piece(followed.piece, info.text_bytes), turn: convert::turn(followed.turn) })
    }

    fn cancel(&mut self, id: String, turn: u64) -> Result<(), Failure> {
        let call = &*self.call;
        let OwnedTerminal { terminals, owner, id } = call.owned_terminal(&id)?;
        Ok(terminals.cancel(&owner, id, turn)?)
    }

    async fn press(&mut self, id: String, keys: Vec<String>) -> Result<(), Failure> {
        let call = &*self.call;
        let OwnedTerminal { terminals, owner, id } = call.owned_terminal(&id)?;
        let keys = convert::keys(&keys)?;
        Ok(terminals.press(&owner, id, &keys).await?)
    }

    fn screen(&mut self, id: String, history_lines: u32) -> Result<wit::ScreenView, Failure> {
        let call = &*self.call;
        let OwnedTerminal { terminals, owner, id } = call.owned_terminal(&id)?;
        let lines = usize::try_from(history_lines).unwrap_or(usize::MAX);
        let view = wit::ScreenView::from(terminals.screen(&owner, id, lines)?);
        Ok(view)
    }

    async fn read(
        &mut self,
        id: String,
        view: String,
        from: u64,
        max_bytes: u32,
        milliseconds: u64,
    ) -> Result<wit::Piece, Failure> {
        let call = &*self.call;
        let OwnedTerminal { terminals, owner, id } = call.owned_terminal(&id)?;
        let (most, patience) = (call.readable_bytes(max_bytes.min(MAX_PIECE_BYTES), 1), call.patience(milliseconds));
        let piece = match View::find(&view) {
            Some(View::Text) => {
                let info = terminals.wait_for(&owner, id, |progress| progress.text_bytes > from, patience).await?;
                convert::piece(terminals.read_text(&owner, id, from, most)?, info.text_bytes)
            }
            Some(View::Raw) => {
                let info = terminals.wait_for(&owner, id, |progress| progress.raw_bytes > from, patience).await?;
                convert::raw_piece(terminals.read_raw(&owner, id, from, most)?, info.raw_bytes)
            }
            None => return Err(Error::new(Code::Invalid, "a view is `text` or `raw`").into()),
        };
        Ok(piece)
    }

    fn resize(&mut self, id: String, columns: u16, rows: u16) -> Result<(), Failure> {
        let call = &*self.call;
        let OwnedTerminal { terminals, owner, id } = call.owned_terminal(&id)?;
        let size = TerminalSize::new(columns, rows).map_err(|error| Error::new(Code::Invalid, error.to_string()))?;
        Ok(terminals.resize(&owner, id, size)?)
    }

    async fn close(&mut self, id: String, grace_milliseconds: u64) -> Result<wit::Info, Failure> {
        let call = &*self.call;
        let OwnedTerminal { terminals, owner, id } = call.owned_terminal(&id)?;
        Ok(terminals.close(&owner, id, Duration::from_millis(grace_milliseconds)).await?.into())
    }
}
