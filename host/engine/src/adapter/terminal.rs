//! `terminal`: interactive programs of the calling session.

mod convert;

use std::{sync::Arc, time::Duration};

use wharf_contract::terminal::View;
use wharf_core::{Code, Error, TerminalOwner, grant::GrantedTerminal};
use wharf_terminal::{Size, TerminalId, Terminals, TurnOptions, Wanted};

use super::process::place_of;
use crate::{
    bindings::wharf::plugin::{
        terminal::{self as wit, Host},
        types,
    },
    guest::{Guest, Reach},
};

/// What a terminal's description counts beside its texts.
const INFO_BYTES: usize = 512;
/// What one read or follow returns at most.
const MAX_PIECE_BYTES: u32 = 1 << 20;

/// A terminal, and the proof that this call may ask for it.
struct Found<'g> {
    terminals: &'g Arc<Terminals>,
    owner: TerminalOwner,
    id: TerminalId,
}

impl Found<'_> {
    fn options(&self, wanted: &wit::TurnOptions) -> Result<TurnOptions, Error> {
        let usual = self.terminals.turn_options(&self.owner, self.id, wanted.preset.as_deref())?;
        convert::turn_options(wanted, usual)
    }
}

/// What is started.
enum Program<'p> {
    Named(&'p str, &'p [String]),
    Shell,
}

impl Reach {
    fn granted_terminal(&self) -> Result<(GrantedTerminal<'_>, &Arc<Terminals>), Error> {
        Ok((self.grants.terminal(&self.plugin)?, self.rooms.terminals()?))
    }

    fn found_terminal(&self, id: &str) -> Result<Found<'_>, Error> {
        let (granted, terminals) = self.granted_terminal()?;
        Ok(Found { terminals, owner: granted.owner(&self.context), id: id.parse().map_err(Error::from)? })
    }

    async fn terminal_status(&self) -> Result<String, Error> {
        let (granted, terminals) = self.granted_terminal()?;
        // Looking makes nothing.
        let place = place_of(self.rooms.workspaces()?.of(&granted.workspace(&self.context)));
        let standing = terminals.standing(&granted, &place).await?;
        serde_json::to_string(&standing).map_err(|error| Error::new(Code::Internal, error.to_string()))
    }

    async fn start_terminal(&self, program: Program<'_>, launch: &wit::Launch) -> Result<wit::Started, Error> {
        let (granted, terminals) = self.granted_terminal()?;
        let (command, arguments) = match program {
            Program::Named(program, arguments) => (granted.program(program)?, arguments),
            Program::Shell => (granted.shell()?, &[][..]),
        };
        let wanted = Wanted {
            arguments,
            directory: &launch.directory,
            environment: &launch.environment,
            size: convert::size(launch.columns, launch.rows)?,
            profile: launch.preset.as_deref(),
            restart: convert::restart(launch.options.as_deref())?,
            ..Wanted::new(command)
        };
        let place = place_of(self.rooms.workspace_to_run(granted.workspace(&self.context)).await?);
        let started = terminals.start(&granted, &self.context, &place, wanted).await?;
        let terminal = terminals.info(&granted.owner(&self.context), started.id)?.into();
        Ok(wit::Started { terminal, replaced: started.replaced.iter().map(ToString::to_string).collect() })
    }

    fn list_terminals(&self) -> Result<Vec<wit::Info>, Error> {
        let (granted, terminals) = self.granted_terminal()?;
        Ok(terminals.list(&granted.owner(&self.context)).into_iter().map(Into::into).collect())
    }

    fn terminal_info(&self, id: &str) -> Result<wit::Info, Error> {
        let Found { terminals, owner, id } = self.found_terminal(id)?;
        Ok(terminals.info(&owner, id)?.into())
    }

    async fn send_to_terminal(
        &self,
        id: &str,
        input: &wit::Input,
        options: &wit::TurnOptions,
    ) -> Result<wit::Turn, Error> {
        let found = self.found_terminal(id)?;
        let options = found.options(options)?;
        let keys: Vec<&str> = input.keys.iter().map(String::as_str).collect();
        let input = convert::input(input, &keys)?;
        let state = found.terminals.send(&found.owner, found.id, input, Some(options)).await?;
        Ok(convert::turn(state))
    }

    async fn follow_turn(
        &self,
        id: &str,
        turn: u64,
        from: u64,
        max_bytes: u32,
        milliseconds: u64,
    ) -> Result<wit::Followed, Error> {
        let Found { terminals, owner, id } = self.found_terminal(id)?;
        let last = terminals.info(&owner, id)?.turn.map_or(0, |turn| turn.number);
        if (1..last).contains(&turn) {
            return Err(Error::new(
                Code::Gone,
                format!(
                    "turn {turn} is over, and turn {last} has begun since; read the view `text` from {from} instead"
                ),
            ));
        }
        let room = self.room(max_bytes.min(MAX_PIECE_BYTES), 1);
        let followed = terminals.follow(&owner, id, turn, from, room, self.patience(milliseconds)).await?;
        let info = terminals.info(&owner, id)?;
        Ok(wit::Followed { piece: convert::piece(followed.piece, info.text_bytes), turn: convert::turn(followed.turn) })
    }

    fn cancel_turn(&self, id: &str, turn: u64) -> Result<(), Error> {
        let Found { terminals, owner, id } = self.found_terminal(id)?;
        Ok(terminals.cancel(&owner, id, turn)?)
    }

    async fn press_keys(&self, id: &str, keys: &[String]) -> Result<(), Error> {
        let Found { terminals, owner, id } = self.found_terminal(id)?;
        let keys = convert::keys(keys)?;
        Ok(terminals.press(&owner, id, &keys).await?)
    }

    fn terminal_screen(&self, id: &str, history_lines: u32) -> Result<wit::ScreenView, Error> {
        let Found { terminals, owner, id } = self.found_terminal(id)?;
        let lines = usize::try_from(history_lines).unwrap_or(usize::MAX);
        Ok(terminals.screen(&owner, id, lines)?.into())
    }

    async fn read_terminal(
        &self,
        id: &str,
        view: &str,
        from: u64,
        max_bytes: u32,
        milliseconds: u64,
    ) -> Result<wit::Piece, Error> {
        let Found { terminals, owner, id } = self.found_terminal(id)?;
        let (patience, room) = (self.patience(milliseconds), self.room(max_bytes.min(MAX_PIECE_BYTES), 1));
        match View::find(view) {
            Some(View::Text) => {
                let info = terminals.wait_for(&owner, id, |progress| progress.text_bytes > from, patience).await?;
                Ok(convert::piece(terminals.read_text(&owner, id, from, room)?, info.text_bytes))
            }
            Some(View::Raw) => {
                let info = terminals.wait_for(&owner, id, |progress| progress.raw_bytes > from, patience).await?;
                Ok(convert::raw_piece(terminals.read_raw(&owner, id, from, room)?, info.raw_bytes))
            }
            None => Err(Error::new(Code::Invalid, "a view is `text` or `raw`")),
        }
    }

    fn resize_terminal(&self, id: &str, columns: u16, rows: u16) -> Result<(), Error> {
        let Found { terminals, owner, id } = self.found_terminal(id)?;
        let size = Size::new(columns, rows).map_err(|error| Error::new(Code::Invalid, error.to_string()))?;
        Ok(terminals.resize(&owner, id, size)?)
    }

    async fn close_terminal(&self, id: &str, grace: u64) -> Result<wit::Info, Error> {
        let Found { terminals, owner, id } = self.found_terminal(id)?;
        Ok(terminals.close(&owner, id, Duration::from_millis(grace)).await?.into())
    }
}

impl Host for Guest {
    async fn status(&mut self) -> wasmtime::Result<Result<String, types::Error>> {
        self.budget.host_call(0)?;
        Ok(self.reach().terminal_status().await.map_err(Into::into))
    }

    async fn start(
        &mut self,
        program: String,
        arguments: Vec<String>,
        launch: wit::Launch,
    ) -> wasmtime::Result<Result<wit::Started, types::Error>> {
        let texts: usize = arguments.iter().map(String::len).sum();
        self.budget.host_call((program.len() + texts) as u64 + launch_bytes(&launch))?;
        Ok(self.reach().start_terminal(Program::Named(&program, &arguments), &launch).await.map_err(Into::into))
    }

    async fn start_shell(&mut self, launch: wit::Launch) -> wasmtime::Result<Result<wit::Started, types::Error>> {
        self.budget.host_call(launch_bytes(&launch))?;
        Ok(self.reach().start_terminal(Program::Shell, &launch).await.map_err(Into::into))
    }

    fn list(&mut self) -> wasmtime::Result<Result<Vec<wit::Info>, types::Error>> {
        self.budget.host_call(0)?;
        let listed = self.reach().list_terminals();
        self.budget.moved(listed.iter().flatten().map(|info| (info.command.len() + INFO_BYTES) as u64).sum())?;
        Ok(listed.map_err(Into::into))
    }

    fn get(&mut self, id: String) -> wasmtime::Result<Result<wit::Info, types::Error>> {
        self.budget.host_call(id.len() as u64)?;
        Ok(self.reach().terminal_info(&id).map_err(Into::into))
    }

    async fn send(
        &mut self,
        id: String,
        input: wit::Input,
        options: wit::TurnOptions,
    ) -> wasmtime::Result<Result<wit::Turn, types::Error>> {
        let texts: usize = input.keys.iter().chain(&options.prompts).map(String::len).sum();
        self.budget.host_call((id.len() + input.text.len() + texts) as u64)?;
        Ok(self.reach().send_to_terminal(&id, &input, &options).await.map_err(Into::into))
    }

    async fn follow(
        &mut self,
        id: String,
        turn: u64,
        from: u64,
        max_bytes: u32,
        milliseconds: u64,
    ) -> wasmtime::Result<Result<wit::Followed, types::Error>> {
        self.budget.host_call(id.len() as u64)?;
        let followed = self.reach().follow_turn(&id, turn, from, max_bytes, milliseconds).await;
        self.budget.moved(followed.as_ref().map_or(0, |followed| followed.piece.data.len() as u64))?;
        Ok(followed.map_err(Into::into))
    }

    fn cancel(&mut self, id: String, turn: u64) -> wasmtime::Result<Result<(), types::Error>> {
        self.budget.host_call(id.len() as u64)?;
        Ok(self.reach().cancel_turn(&id, turn).map_err(Into::into))
    }

    async fn press(&mut self, id: String, keys: Vec<String>) -> wasmtime::Result<Result<(), types::Error>> {
        self.budget.host_call((id.len() + keys.iter().map(String::len).sum::<usize>()) as u64)?;
        Ok(self.reach().press_keys(&id, &keys).await.map_err(Into::into))
    }

    fn screen(&mut self, id: String, history_lines: u32) -> wasmtime::Result<Result<wit::ScreenView, types::Error>> {
        self.budget.host_call(id.len() as u64)?;
        let view = self.reach().terminal_screen(&id, history_lines);
        let texts = view.iter().flat_map(|view| view.lines.iter().chain(&view.history));
        self.budget.moved(texts.map(|line| line.len() as u64).sum())?;
        Ok(view.map_err(Into::into))
    }

    async fn read(
        &mut self,
        id: String,
        view: String,
        from: u64,
        max_bytes: u32,
        milliseconds: u64,
    ) -> wasmtime::Result<Result<wit::Piece, types::Error>> {
        self.budget.host_call((id.len() + view.len()) as u64)?;
        let piece = self.reach().read_terminal(&id, &view, from, max_bytes, milliseconds).await;
        self.budget.moved(piece.as_ref().map_or(0, |piece| piece.data.len() as u64))?;
        Ok(piece.map_err(Into::into))
    }

    fn resize(&mut self, id: String, columns: u16, rows: u16) -> wasmtime::Result<Result<(), types::Error>> {
        self.budget.host_call(id.len() as u64)?;
        Ok(self.reach().resize_terminal(&id, columns, rows).map_err(Into::into))
    }

    async fn close(
        &mut self,
        id: String,
        grace_milliseconds: u64,
    ) -> wasmtime::Result<Result<wit::Info, types::Error>> {
        self.budget.host_call(id.len() as u64)?;
        Ok(self.reach().close_terminal(&id, grace_milliseconds).await.map_err(Into::into))
    }
}

fn launch_bytes(launch: &wit::Launch) -> u64 {
    let environment: usize = launch.environment.iter().map(|(name, value)| name.len() + value.len()).sum();
    let words = [&launch.preset, &launch.options].into_iter().flatten().map(String::len).sum::<usize>();
    (launch.directory.len() + environment + words) as u64
}
