//! Terminals of the test host: programs that play a part from a script.
//!
//! They keep what a tool can observe of the contract: owners are apart, a turn
//! at a time, cursors, chunks, handles that are gone. They show nothing of real
//! programs, of screens, or of how the host finds a turn's end: the whole of a
//! plugin is tested in the host. No time passes here: a wait in vain returns at
//! once.

pub(super) mod script;
pub(super) mod state;

use std::sync::Arc;

use wharf_contract::terminal::{CloseReason, Containment, MAX_COLUMNS, MAX_ROWS};
use wharf_contract::turn::Preset as KnownPreset;

use super::TestCall;
use super::grants::TestTerminals;
use super::host::TestHost;
use crate::host::HostTerminals;
use crate::terminal::{
    Extent, Followed, Input, Launch, Piece, Preset, Screen, Started, Status, TerminalInfo, TerminalRules, Turn,
    TurnOptions, View,
};
use crate::{ToolError, clock};

use script::{Response, Script};
use state::{TestTerminal, length};

const CHUNK_CHARACTERS: usize = 512;

impl TestCall {
    /// Grants a program that plays this part.
    #[must_use]
    pub fn terminal_program(mut self, program: impl Into<String>, script: Script) -> Self {
        self.host.terminals.programs.insert(program.into(), Arc::new(script));
        self
    }

    /// Grants the shell, which plays this part.
    #[must_use]
    pub fn terminal_shell(mut self, script: Script) -> Self {
        self.host.terminals.shell = Some(Arc::new(script));
        self
    }

    /// How many terminals an owner may have; 1 where nothing is said.
    #[must_use]
    pub fn maximum_terminals(mut self, maximum: usize) -> Self {
        self.host.terminals.maximum = Some(maximum);
        self
    }

    /// What was typed into a terminal, in order: texts, and names of keys.
    #[must_use]
    pub fn typed(&self, id: &str) -> Vec<String> {
        let world = self.host.world();
        let found = world.terminals.iter().find(|terminal| terminal.info.id == id);
        found.map(|terminal| terminal.typed.clone()).unwrap_or_default()
    }
}

impl TestHost {
    fn granted_terminals(&self) -> Result<&TestTerminals, ToolError> {
        let granted = &self.terminals;
        if granted.shell.is_none() && granted.programs.is_empty() {
            return Err(ToolError::denied(
                "no terminal is granted to this plugin: the operator grants it with [plugin.NAME.grants.terminal]",
            ));
        }
        Ok(granted)
    }

    fn with_terminal<T>(
        &self,
        id: &str,
        act: impl FnOnce(&mut TestTerminal) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        self.granted_terminals()?;
        let owner = self.owner();
        let mut world = self.world();
        let found = world.terminals.iter_mut().find(|terminal| terminal.info.id == id && terminal.owner == owner);
        act(found.ok_or_else(|| ToolError::not_found("there is no such terminal"))?)
    }

    fn start_script(&self, command: String, script: &Arc<Script>, launch: &Launch) -> Result<Started, ToolError> {
        let (columns, rows) = if launch.size == (0, 0) { (80, 24) } else { launch.size };
        check_size(columns, rows)?;
        let owner = self.owner();
        let mut world = self.world();
        let id = format!("terminal-{}", world.terminals.len() + 1);
        let maximum = self.terminals.maximum.unwrap_or(1);
        let open = |terminal: &&mut TestTerminal| terminal.owner == owner && !terminal.info.is_closed();
        let over = (world.terminals.iter_mut().filter(open).count() + 1).saturating_sub(maximum);
        let mut replaced = Vec::new();
        for terminal in world.terminals.iter_mut().filter(open).take(over) {
            terminal.close_by_host(CloseReason::Replaced);
            replaced.push(terminal.info.id.clone());
        }
        let info = TerminalInfo {
            id,
            profile: String::new(),
            preset: launch.preset.clone().unwrap_or(Preset::Shell),
            status: if script.greeting().is_empty() { Status::Starting } else { Status::Ready },
            pid: Some(4_000 + u32::try_from(world.terminals.len()).unwrap_or(0)),
            columns,
            rows,
            started: clock::now(),
            last_used: clock::now(),
            ended: None,
            outcome: None,
            restarts: 0,
            restarted_because: None,
            turn: None,
            text: Extent::default(),
            raw: Extent::default(),
            alternate_screen: false,
            recording: false,
            stream: None,
            meta: None,
            command,
        };
        let script = Arc::clone(script);
        let greeting = script.greeting().to_owned();
        let mut terminal = TestTerminal { owner, info, script, text: String::new(), pending: None, typed: Vec::new() };
        terminal.print(&greeting);
        let started = Started { terminal: terminal.info.clone(), replaced };
        world.terminals.push(terminal);
        Ok(started)
    }
}

impl HostTerminals for TestHost {
    fn terminal_status(&self) -> Result<String, ToolError> {
        let granted = self.granted_terminals()?;
        let rules = TerminalRules {
            shell: granted.shell.is_some(),
            programs: granted.programs.keys().cloned().collect(),
            presets: KnownPreset::WORDS.iter().map(ToString::to_string).collect(),
            containment: Containment::Namespaces.into(),
            directory: "/workspace".to_owned(),
            maximum_per_owner: length(granted.maximum.unwrap_or(1)),
            idle_seconds: 900,
            ..TerminalRules::default()
        };
        Ok(serde_json::to_string(&rules)?)
    }

    fn start_terminal(&self, program: &str, arguments: &[&str], launch: &Launch) -> Result<Started, ToolError> {
        let Some(script) = self.granted_terminals()?.programs.get(program) else {
            let message =
                format!("no program `{program}` is granted to this plugin; see [plugin.NAME.grants.terminal]");
            return Err(ToolError::denied(message));
        };
        self.start_script([&[program], arguments].concat().join(" "), script, launch)
    }

    fn start_shell(&self, launch: &Launch) -> Result<Started, ToolError> {
        let Some(script) = &self.granted_terminals()?.shell else {
            return Err(ToolError::denied("no shell is granted to this plugin; see [plugin.NAME.grants.terminal]"));
        };
        self.start_script("bash".to_owned(), script, launch)
    }

    fn list_terminals(&self) -> Result<Vec<TerminalInfo>, ToolError> {
        self.granted_terminals()?;
        let owner = self.owner();
        let world = self.world();
        Ok(world.terminals.iter().filter(|terminal| terminal.owner == owner).map(|found| found.info.clone()).collect())
    }

    fn terminal(&self, id: &str) -> Result<TerminalInfo, ToolError> {
        self.with_terminal(id, |terminal| Ok(terminal.info.clone()))
    }

    fn send(&self, id: &str, input: Input<'_>, _options: &TurnOptions) -> Result<Turn, ToolError> {
        self.with_terminal(id, |terminal| terminal.open()?.begin(input))
    }

    fn follow(
        &self,
        id: &str,
        turn: u64,
        from: u64,
        max_bytes: u32,
        _milliseconds: u64,
    ) -> Result<Followed, ToolError> {
        self.with_terminal(id, |terminal| {
            terminal.turn(turn)?;
            let characters = if terminal.proceed() { CHUNK_CHARACTERS } else { 0 };
            Ok(Followed { piece: terminal.piece(from, max_bytes, characters), turn: terminal.turn(turn)?.clone() })
        })
    }

    fn cancel(&self, id: &str, turn: u64) -> Result<(), ToolError> {
        self.with_terminal(id, |terminal| match &terminal.info.turn {
            Some(last) if turn > 0 && turn <= last.number => {
                if turn == last.number {
                    terminal.end_turn(None);
                }
                Ok(())
            }
            _ => Err(ToolError::not_found("there is no such turn")),
        })
    }

    fn press(&self, id: &str, keys: &[&str]) -> Result<(), ToolError> {
        self.with_terminal(id, |terminal| {
            let terminal = terminal.open()?;
            terminal.typed.extend(keys.iter().map(|key| (*key).to_owned()));
            if keys.contains(&"C-c") && terminal.is_busy() {
                terminal.print("^C\n");
                terminal.end_turn(Response::new("").with_exit_code(130).end);
            }
            Ok(())
        })
    }

    fn screen(&self, id: &str, history_lines: u32) -> Result<Screen, ToolError> {
        self.with_terminal(id, |terminal| Ok(terminal.screen(history_lines)))
    }

    fn read_terminal(
        &self,
        id: &str,
        _view: View,
        from: u64,
        max_bytes: u32,
        _milliseconds: u64,
    ) -> Result<Piece, ToolError> {
        self.with_terminal(id, |terminal| Ok(terminal.piece(from, max_bytes, usize::MAX)))
    }

    fn resize(&self, id: &str, columns: u16, rows: u16) -> Result<(), ToolError> {
        self.with_terminal(id, |terminal| {
            check_size(columns, rows)?;
            let info = &mut terminal.open()?.info;
            (info.columns, info.rows) = (columns, rows);
            Ok(())
        })
    }

    fn close(&self, id: &str, _grace_milliseconds: u64) -> Result<TerminalInfo, ToolError> {
        self.with_terminal(id, |terminal| {
            terminal.close_by_host(CloseReason::Owner);
            Ok(terminal.info.clone())
        })
    }
}

fn check_size(columns: u16, rows: u16) -> Result<(), ToolError> {
    if (1..=MAX_COLUMNS).contains(&columns) && (1..=MAX_ROWS).contains(&rows) {
        return Ok(());
    }
    Err(ToolError::invalid(format!("a terminal has 1 to 500 columns and 1 to 200 rows, not {columns} by {rows}")))
}
