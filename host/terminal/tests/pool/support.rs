//! What the tests share: a pool with the real spawner, real grants and real
//! programs, and patience.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::{fs, sync::LazyLock, time::Duration};

use wharf_core::{Context, Grants, PluginName, TerminalGrant, TerminalOwner, WorkspaceStay};
use wharf_spawn::Spawner;
use wharf_terminal::{
    ChildWorkspace, LaunchOutcome, LaunchRequest, Restart, Status, TerminalError, TerminalId, TerminalInfo,
    TerminalPoolSettings, Terminals, TurnInput, TurnState,
};
use wharf_test_support::{AMPLE, in_time, processes::lives, until};

/// The spawner of all tests of this binary.
pub(crate) fn spawner() -> Spawner {
    static SPAWNER: LazyLock<Spawner> = LazyLock::new(Spawner::new);
    SPAWNER.clone()
}

/// A pool, and one workspace for all of its owners.
pub(crate) struct TestPool {
    pub(crate) terminals: Terminals,
    pub(crate) directory: tempfile::TempDir,
    /// What terminals hold of that workspace.
    pub(crate) stay: Option<WorkspaceStay>,
}

/// A plugin and a context that may have terminals.
pub(crate) struct Somebody {
    plugin: PluginName,
    context: Context,
}

/// The owner in most tests.
pub(crate) fn somebody(session: &str) -> Somebody {
    Somebody::of("local", "terminal", session, None)
}

impl Somebody {
    pub(crate) fn of(tenant: &str, plugin: &str, session: &str, assistant: Option<&str>) -> Self {
        let context = Context::new(tenant.parse().expect("legal"), session.parse().expect("legal"));
        let assistant = assistant.map(|assistant| assistant.parse().expect("legal"));
        Self { plugin: plugin.parse().expect("legal"), context: Context { assistant, ..context } }
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    pub(crate) fn owner(&self) -> TerminalOwner {
        grants().terminal(&self.plugin).expect("granted").owner(&self.context)
    }
}

fn grants() -> Grants {
    let terminal = TerminalGrant {
        programs: vec!["**".into()],
        shell: true,
        environment: vec!["*".into()],
        require_containment: false,
        ..TerminalGrant::with_reason("a test")
    };
    Grants { terminal: Some(terminal), ..Grants::default() }
}

impl TestPool {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut TerminalPoolSettings)) -> Self {
        Self::by(spawner(), change)
    }

    pub(crate) fn by(spawner: Spawner, change: impl FnOnce(&mut TerminalPoolSettings)) -> Self {
        let mut settings = TerminalPoolSettings { pty: crate::PTY, ..TerminalPoolSettings::default() };
        change(&mut settings);
        let directory = tempfile::tempdir().expect("a directory");
        for name in ["files", "home", "home/tmp"] {
            fs::create_dir(directory.path().join(name)).expect("a directory");
        }
        Self { terminals: Terminals::open(spawner, settings).expect("a pool"), directory, stay: None }
    }

    pub(crate) fn place(&self) -> ChildWorkspace {
        ChildWorkspace {
            files: self.directory.path().join("files"),
            home: self.directory.path().join("home"),
            user: None,
            stay: self.stay.clone(),
        }
    }

    /// An interactive shell, whose request `change` adjusts.
    pub(crate) async fn shell_with(
        &self,
        who: &Somebody,
        change: impl FnOnce(&mut LaunchRequest<'_>),
    ) -> Result<LaunchOutcome, TerminalError> {
        let grants = grants();
        let granted = grants.terminal(&who.plugin).expect("granted");
        let environment = [("PS1".to_owned(), "$ ".to_owned())];
        // What its own files say of the prompt is for people.
        let arguments = ["--norc".to_owned(), "--noprofile".to_owned()];
        let bash = granted.program("bash").expect("granted");
        let mut wanted = LaunchRequest { arguments: &arguments, environment: &environment, ..LaunchRequest::new(bash) };
        change(&mut wanted);
        self.terminals.start(&granted, &who.context, &self.place(), wanted).await
    }

    /// An interactive shell that has printed its prompt.
    pub(crate) async fn shell(&self, who: &Somebody) -> TerminalId {
        let id = self.shell_with(who, |_| {}).await.expect("a terminal").id;
        self.prompted(who, id).await;
        id
    }

    /// The shell of this machine, as it is by itself.
    pub(crate) async fn own_shell(&self, who: &Somebody) -> TerminalId {
        let grants = grants();
        let granted = grants.terminal(&who.plugin).expect("granted");
        let wanted = LaunchRequest::new(granted.shell().expect("granted"));
        self.terminals.start(&granted, &who.context, &self.place(), wanted).await.expect("a terminal").id
    }

    /// A program, as it is by itself.
    pub(crate) async fn program(&self, who: &Somebody, program: &str) -> Result<LaunchOutcome, TerminalError> {
        let grants = grants();
        let granted = grants.terminal(&who.plugin).expect("granted");
        let wanted = LaunchRequest::new(granted.program(program).expect("granted"));
        self.terminals.start(&granted, &who.context, &self.place(), wanted).await
    }

    /// A script.
    pub(crate) async fn script(&self, who: &Somebody, script: &str) -> Result<LaunchOutcome, TerminalError> {
        self.script_with(who, script, None).await
    }

    pub(crate) async fn script_with(
        &self,
        who: &Somebody,
        script: &str,
        restart: Option<Restart>,
    ) -> Result<LaunchOutcome, TerminalError> {
        let grants = grants();
        let granted = grants.terminal(&who.plugin).expect("granted");
        let arguments = ["-c".to_owned(), script.to_owned()];
        let command = granted.program("sh").expect("granted");
        let wanted = LaunchRequest { arguments: &arguments, restart, ..LaunchRequest::new(command) };
        self.terminals.start(&granted, &who.context, &self.place(), wanted).await
    }

    pub(crate) fn info(&self, who: &Somebody, id: TerminalId) -> TerminalInfo {
        self.terminals.info(&who.owner(), id).expect("a terminal")
    }

    /// Looks at a terminal again and again until it is so.
    pub(crate) async fn until(
        &self,
        who: &Somebody,
        id: TerminalId,
        so: impl Fn(&TerminalInfo) -> bool,
    ) -> TerminalInfo {
        until("a terminal becomes so", || {
            let info = self.info(who, id);
            if so(&info) { Ok(info) } else { Err((Box::new(info), self.text(who, id))) }
        })
        .await
    }

    pub(crate) async fn closed(&self, who: &Somebody, id: TerminalId) -> TerminalInfo {
        self.until(who, id, |info| info.status == Status::Closed && info.ended.is_some()).await
    }

    pub(crate) async fn prompted(&self, who: &Somebody, id: TerminalId) {
        self.until(who, id, |_| {
            let shown = self.terminals.screen(&who.owner(), id, 0).expect("a terminal");
            shown.view.cursor_line().ends_with('$')
        })
        .await;
    }

    pub(crate) fn text(&self, who: &Somebody, id: TerminalId) -> String {
        self.terminals.read_text(&who.owner(), id, 0, usize::MAX).expect("a terminal").content
    }

    pub(crate) async fn printed(&self, who: &Somebody, id: TerminalId, text: &str) {
        self.until(who, id, |_| self.text(who, id).contains(text)).await;
    }

    pub(crate) async fn submit(&self, who: &Somebody, id: TerminalId, text: &str) -> Result<TurnState, TerminalError> {
        self.terminals.send(&who.owner(), id, TurnInput::Submit(text), None).await
    }

    /// The answer to a line, once it is complete.
    pub(crate) async fn answer(&self, who: &Somebody, id: TerminalId, text: &str) -> (String, TurnState) {
        let TurnState { number, start, .. } = self.submit(who, id, text).await.expect("a turn");
        let (mut from, mut answer) = (start, String::new());
        loop {
            let followed = self.terminals.follow(&who.owner(), id, number, from, 10_000, AMPLE).await;
            let followed = followed.expect("the turn");
            answer += &followed.piece.content;
            from = followed.piece.next;
            if followed.turn.is_over() && followed.piece.content.is_empty() {
                return (answer, followed.turn);
            }
        }
    }

    /// Has a turn run that nothing ends.
    pub(crate) async fn make_busy(&self, who: &Somebody, id: TerminalId) -> TurnState {
        let options = self.terminals.turn_options(&who.owner(), id, Some("build")).expect("options");
        let input = TurnInput::Submit("sleep 1000");
        self.terminals.send(&who.owner(), id, input, Some(options)).await.expect("a turn")
    }

    pub(crate) async fn close(&self, who: &Somebody, id: TerminalId) -> TerminalInfo {
        let owner = who.owner();
        let closing = self.terminals.close(&owner, id, Duration::from_millis(200));
        in_time("it closes", closing).await.expect("a terminal")
    }
}

/// Whether a process runs that has this among its arguments.
pub(crate) fn runs(argument: &str) -> bool {
    let processes =
        fs::read_dir("/proc").expect("/proc").filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut pids = processes.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    pids.any(|pid| {
        let command = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        command.split('\0').any(|part| part == argument) && lives(pid.parse().unwrap_or_default())
    })
}
