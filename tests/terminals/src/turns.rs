//! Live turns of real programs: does the detector say that one is complete
//! before it is, or long after?
//!
//! The truth comes by a side channel: the program writes the time into a file
//! when it is done. Where it cannot, it is what the program has to show at the
//! end. Pauses come from a seed; the machine's load does not, so a seed makes
//! the same inputs, not the same run.

mod programs;
mod report;
mod strange;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context as _, Result};
use fastrand::Rng;
use tokio::{sync::Semaphore, task::JoinSet, time::Instant};
use wharf_completion::detection::{Layer, Preset, Reason};
use wharf_spawn::{Child, ChildInput, ChildOutput, SpawnRequest, Spawner};
use wharf_terminal::{
    ChildLimits, Containment, HistoryLimits, ShellIntegration, TerminalError, TerminalSession, TurnInput, TurnOptions,
    TurnState,
};

pub use report::{Failure, Report, Tally};

use wharf_test_support::{let_time_pass, until};

use crate::request::request;

/// Far longer than any turn here takes.
const AMPLE: Duration = Duration::from_secs(120);
/// So long one looks that a program that never answers is not said to have.
const NEVER: Duration = Duration::from_secs(8);
/// A turn is late when it is told so long after the fact.
const LATE: Duration = Duration::from_secs(1);
/// Nothing may come so soon behind the end of a turn.
const AFTERWARDS: Duration = Duration::from_millis(300);
/// Programs at a time. Some wait, some compute.
const AT_A_TIME: usize = 3;

/// What the programs that are scripts consist of.
const SCRIPTS: [(&str, &str); 9] = [
    ("agent.py", include_str!("../scripts/agent.py")),
    ("database.py", include_str!("../scripts/database.py")),
    ("dies.py", include_str!("../scripts/dies.py")),
    ("menu.py", include_str!("../scripts/menu.py")),
    ("never.py", include_str!("../scripts/never.py")),
    ("packages.sh", include_str!("../scripts/packages.sh")),
    ("prompts.py", include_str!("../scripts/prompts.py")),
    ("questions.sh", include_str!("../scripts/questions.sh")),
    ("stamp.sh", include_str!("../scripts/stamp.sh")),
];

/// A program and a conversation with it.
#[derive(Debug)]
struct Program {
    name: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
    preset: Preset,
    /// The shell says by marks when commands end.
    integration: bool,
    turns: &'static [(Step, Truth)],
}

/// What begins a turn.
#[derive(Debug, Clone, Copy)]
enum Step {
    Line(&'static str),
    Text(&'static str),
    Keys(&'static [&'static str]),
}

/// How one knows that a turn is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Truth {
    /// The program writes the time into a file.
    File,
    /// It is complete once this is shown, and nothing more comes.
    Shown(&'static str),
    /// The program ends.
    Ended,
    /// It is never complete.
    Never,
}

/// What is to be tried.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Of the pauses, and of the load beside.
    pub seed: u64,
    /// How often every conversation is held.
    pub rounds: usize,
    /// At most so many turns of each conversation.
    pub turns: usize,
}

/// Holds all conversations, some at a time.
///
/// # Errors
/// Where a program does not start, or the machine refuses what a test needs.
pub async fn hold(plan: Plan) -> Result<Report> {
    let spawner = Spawner::new();
    let directory = tempfile::tempdir()?;
    let integration = ShellIntegration::write(&directory.path().join("integration"))?;
    for (name, script) in SCRIPTS {
        std::fs::write(directory.path().join(name), script)?;
    }
    let places = Arc::new(Semaphore::new(AT_A_TIME));
    let (mut running, mut report) = (JoinSet::new(), Report::default());
    let groups = [(programs::PROGRAMS, true), (strange::PROGRAMS, false)];
    let mut number = 0;
    for (programs, is_known) in groups {
        for (program, round) in (0..plan.rounds).flat_map(|round| programs.iter().map(move |program| (program, round)))
        {
            number += 1;
            let tally = if is_known { &mut report.known } else { &mut report.strange };
            if !Path::new(program.program).exists() || program.arguments.first() == Some(&"-c") && !has_fzf(program) {
                if round == 0 {
                    tally.absent.push(program.name);
                }
                continue;
            }
            let conversation = Conversation {
                program,
                spawner: spawner.clone(),
                integration: program.integration.then(|| integration.clone()),
                done: directory.path().join(format!("done-{number}")),
                scripts: directory.path().to_owned(),
                rng: Rng::with_seed(plan.seed.wrapping_mul(1_000_003) ^ number),
                turns: plan.turns,
            };
            let places = Arc::clone(&places);
            running.spawn(async move {
                let _place = places.acquire_owned().await?;
                anyhow::Ok((is_known, conversation.hold().await.context(program.name)?))
            });
        }
    }
    while let Some(held) = running.join_next().await {
        let (is_known, held) = held??;
        let tally = if is_known { &mut report.known } else { &mut report.strange };
        tally.turns += held.turns;
        tally.premature.extend(held.premature);
        tally.late.extend(held.late);
        tally.delays.extend(held.delays);
    }
    Ok(report)
}

/// Started by a shell, which is always there.
fn has_fzf(program: &Program) -> bool {
    program.name != "fzf" || Path::new("/usr/bin/fzf").exists()
}

struct Conversation {
    program: &'static Program,
    spawner: Spawner,
    integration: Option<ShellIntegration>,
    done: PathBuf,
    scripts: PathBuf,
    rng: Rng,
    turns: usize,
}

impl Conversation {
    async fn hold(mut self) -> Result<Tally> {
        let mut tally = Tally::default();
        let arguments: Vec<_> = self.program.arguments.iter().map(|argument| self.fill(argument)).collect();
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let mut request = request(self.program.program, &arguments, HistoryLimits::default());
        request.environment.push(("PS1".into(), "$ ".into()));
        request.environment.push(("PAGER".into(), "/bin/cat".into()));
        request.integration = self.integration.take();
        let session = TerminalSession::start(&self.spawner, request).await?;
        let parameters = || TurnOptions { parameters: self.program.preset.into() };
        let started = session.begin_turn(TurnInput::Keys(&[]), parameters()).await?;
        started.completed(AMPLE).await;
        for (step, truth) in self.program.turns.iter().take(self.turns) {
            // A program that is gone says no more.
            if session.progress().borrow().exit.is_some() {
                break;
            }
            let load = if self.rng.u8(..) < 70 { Some(load(&self.spawner).await?) } else { None };
            self.turn(&session, *step, *truth, &mut tally).await?;
            drop(load);
        }
        session.close(Duration::ZERO).await;
        Ok(tally)
    }

    async fn turn(&mut self, session: &TerminalSession, step: Step, truth: Truth, tally: &mut Tally) -> Result<()> {
        drop(std::fs::remove_file(&self.done));
        let (typed, keys) = match step {
            Step::Line(text) | Step::Text(text) => (self.fill(text), &[][..]),
            Step::Keys(keys) => (keys.join(" "), keys),
        };
        let input = match step {
            Step::Line(_) => TurnInput::Submit(&typed),
            Step::Text(_) => TurnInput::Type(&typed),
            Step::Keys(_) => TurnInput::Keys(keys),
        };
        let options = TurnOptions { parameters: self.program.preset.into() };
        let turn = match session.begin_turn(input, options).await {
            Ok(turn) => turn,
            Err(TerminalError::Closed) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let patience = if truth == Truth::Never { NEVER } else { AMPLE };
        let watched = last_output(session, turn.completed(patience));
        let (state, last) = watched.await;
        let (told, told_at) = (Instant::now(), SystemTime::now());
        tally.turns += 1;
        let fail = |what: String| Failure { program: self.program.name, typed: typed.clone(), why: why(&state), what };
        if !state.is_over() {
            if truth != Truth::Never {
                tally.late.push(fail(format!("not told in {AMPLE:?}")));
            }
            turn.cancel();
            return Ok(());
        }
        let layer = state.decision.layer();
        let is_last_resort = matches!(layer, Some(Layer::Inactivity | Layer::Limit));
        if truth == Truth::Never {
            if !is_last_resort {
                tally.premature.push(fail("it never answers".into()));
            }
            return Ok(());
        }
        let early = self.too_early(session, truth, &state).await;
        if let Some(early) = early {
            tally.premature.push(fail(early));
            self.catch_up(session, truth).await;
            return Ok(());
        }
        let delay = match truth {
            Truth::File => told_at.duration_since(self.stamped().unwrap_or(told_at)).unwrap_or_default(),
            Truth::Shown(_) | Truth::Ended | Truth::Never => told.saturating_duration_since(last),
        };
        if is_last_resort {
            tally.late.push(fail(format!("by the last resort, {delay:.1?} after the fact")));
        } else if delay > LATE {
            tally.late.push(fail(format!("{delay:.1?} after the fact")));
        } else {
            tally.delays.push(delay.as_secs_f64());
        }
        Ok(())
    }

    /// Why the turn was not complete when it was told to be.
    async fn too_early(&self, session: &TerminalSession, truth: Truth, state: &TurnState) -> Option<String> {
        // The shell itself says that the command has ended; its prompt follows.
        let is_marked = state.decision.layer() == Some(Layer::Signal);
        let (stamped, was_shown) = (self.stamped().is_some(), is_marked || shows(session, state, truth));
        let_time_pass(AFTERWARDS, "nothing may follow").await;
        match truth {
            Truth::File if !stamped => return Some("the program was not done".into()),
            Truth::Shown(text) if !was_shown => return Some(format!("{text:?} was not shown yet")),
            Truth::Ended if session.progress().borrow().exit.is_none() => return Some("the program lives".into()),
            _ => {}
        }
        let more = session.text(state.end.unwrap_or_default(), 200).content;
        let is_prompt = is_marked && !more.trim().contains('\n');
        (!is_prompt && !more.trim().is_empty()).then(|| format!("then came {more:?}"))
    }

    /// Waits until a turn that was told too early is really over.
    async fn catch_up(&self, session: &TerminalSession, truth: Truth) {
        let is_over = || truth != Truth::File || self.stamped().is_some() || session.progress().borrow().exit.is_some();
        // A program that is never done is judged, too.
        drop(tokio::time::timeout(Duration::from_secs(30), until("the turn is over", is_over)).await);
        let_time_pass(LATE, "what it prints last arrives").await;
    }

    /// When the program was done, as it says.
    fn stamped(&self) -> Option<SystemTime> {
        let nanoseconds = std::fs::read_to_string(&self.done).ok()?.trim().parse().ok()?;
        Some(UNIX_EPOCH + Duration::from_nanos(nanoseconds))
    }

    /// Puts in what changes from turn to turn.
    fn fill(&mut self, text: &str) -> String {
        let done = self.done.display().to_string();
        let mut text = text.replace("{stamp}", "/bin/sh {scripts}/stamp.sh {done}").replace("{done}", &done);
        text = text
            .replace("{scripts}", &self.scripts.display().to_string())
            .replace("{seed}", &self.rng.u16(..).to_string());
        while text.contains("{p}") {
            text = text.replacen("{p}", &format!("{:.2}", 0.02 + self.rng.f64() * self.rng.f64() * 2.5), 1);
        }
        while text.contains("{ms}") {
            text = text.replacen("{ms}", &self.rng.u32(20..2000).to_string(), 1);
        }
        text
    }
}

/// Waits for a turn, and says when the program printed last.
async fn last_output(session: &TerminalSession, over: impl Future<Output = TurnState>) -> (TurnState, Instant) {
    let (mut progress, mut last) = (session.progress(), Instant::now());
    let mut bytes = progress.borrow_and_update().raw_bytes;
    tokio::pin!(over);
    loop {
        tokio::select! {
            state = &mut over => return (state, last),
            changed = progress.changed() => {
                if changed.is_err() {
                    return (over.await, last);
                }
                let now = progress.borrow_and_update().raw_bytes;
                if now != bytes {
                    (bytes, last) = (now, Instant::now());
                }
            }
        }
    }
}

fn shows(session: &TerminalSession, state: &TurnState, truth: Truth) -> bool {
    let Truth::Shown(text) = truth else { return true };
    let said = session.text(state.start, usize::MAX).content;
    said.contains(text) || session.screen().lines.iter().any(|line| line.contains(text))
}

fn why(state: &TurnState) -> String {
    let reason = state.decision.reason().map_or("none", |reason: Reason| reason.as_str());
    let layer = state.decision.layer().map_or("-", Layer::as_str);
    format!("{layer} {reason} after {:.1?}, idle {:.1?}", state.decision.elapsed, state.decision.idle)
}

/// Another process that uses the processor.
async fn load(spawner: &Spawner) -> Result<Child> {
    let request = SpawnRequest {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), "while :; do :; done".into()],
        environment: Vec::new(),
        working_directory: "/".into(),
        stdin: ChildInput::Null,
        stdout: ChildOutput::Null,
        stderr: ChildOutput::Null,
        descriptors: Vec::new(),
        limits: ChildLimits::default(),
        containment: Containment::None,
        user: None,
    };
    Ok(spawner.spawn(request).await?)
}
