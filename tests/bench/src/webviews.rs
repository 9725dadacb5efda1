//! A script in a web page: through a tool call, beside a client of the DevTools
//! protocol that does nothing else, each with a browser of its own and on the same
//! runtime.

use std::{
    collections::HashMap,
    process::Stdio,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
    sync::oneshot,
};
use wharf::{CallRequest, Configuration, Context, Host, TenantId};

use crate::{
    Setting,
    engine::runtime,
    report::{Report, median},
};

/// What both browsers are asked for.
const SCRIPT: &str = "1 + 1";
/// The bare client's browser: the one that the host takes first.
const PROGRAM: &str = "chromium-headless-shell";
const ROUNDS: usize = 20;

/// A browser over a pair of pipes, and one page of it. Ends with this.
struct Bare {
    browser: Child,
    commands: ChildStdin,
    waiting: Arc<Mutex<HashMap<u64, oneshot::Sender<Value>>>>,
    session: Option<String>,
    last: u64,
    _profile: tempfile::TempDir,
}

impl Bare {
    async fn start() -> Result<Self> {
        let profile = tempfile::tempdir()?;
        // It reads commands from descriptor 3 and answers on 4.
        let line = format!(
            "exec {PROGRAM} --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking \
             --remote-debugging-pipe --user-data-dir='{}' 3<&0 4>&1 </dev/null >/dev/null 2>&1",
            profile.path().display()
        );
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &line]).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut browser = shell.spawn()?;
        let (Some(commands), Some(answers)) = (browser.stdin.take(), browser.stdout.take()) else {
            bail!("the browser has no pipes")
        };
        let waiting = Arc::default();
        tokio::spawn(hear(answers, Arc::clone(&waiting)));
        let mut bare = Self { browser, commands, waiting, session: None, last: 0, _profile: profile };
        let target = bare.ask("Target.createTarget", json!({"url": "about:blank"})).await?;
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = bare.ask("Target.attachToTarget", attach).await?;
        bare.session = Some(attached["sessionId"].as_str().context("no session")?.to_owned());
        bare.ask("Runtime.enable", json!({})).await?;
        Ok(bare)
    }

    async fn ask(&mut self, method: &str, parameters: Value) -> Result<Value> {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        let mut message = serde_json::to_vec(&message)?;
        message.push(0);
        let (answered, answer) = oneshot::channel();
        self.waiting.lock().map_err(|_| anyhow!("poisoned"))?.insert(self.last, answered);
        self.commands.write_all(&message).await?;
        self.commands.flush().await?;
        let mut answer = answer.await.with_context(|| format!("the browser ended; is {PROGRAM} installed?"))?;
        ensure!(answer["error"].is_null(), "{method}: {answer}");
        Ok(answer["result"].take())
    }

    async fn evaluate(&mut self) -> Result<()> {
        let asked = json!({"expression": SCRIPT, "awaitPromise": true, "returnByValue": true, "userGesture": true});
        let told = self.ask("Runtime.evaluate", asked).await?;
        ensure!(told["result"]["value"] == 2, "{told}");
        Ok(())
    }

    async fn end(mut self) -> Result<()> {
        self.browser.kill().await?;
        Ok(())
    }
}

/// Hands each answer to the task that waits for it; ignores events.
async fn hear(answers: ChildStdout, waiting: Arc<Mutex<HashMap<u64, oneshot::Sender<Value>>>>) {
    let mut answers = BufReader::new(answers);
    let mut message = Vec::new();
    while answers.read_until(0, &mut message).await.is_ok_and(|read| read > 0) {
        message.pop();
        if let Ok(answer) = serde_json::from_slice::<Value>(&message)
            && let Some(id) = answer["id"].as_u64()
            && let Some(waiter) = waiting.lock().ok().and_then(|mut waiting| waiting.remove(&id))
        {
            let _ = waiter.send(answer);
        }
        message.clear();
    }
    if let Ok(mut waiting) = waiting.lock() {
        waiting.clear();
    }
}

/// A host with the browser plugin, and one page of it.
struct Ours {
    host: Host,
    _data: tempfile::TempDir,
}

impl Ours {
    async fn start(data: tempfile::TempDir) -> Result<Self> {
        let grant = "[plugin.browser.grants.webview]\nreason = \"bench\"\norigins = [\"*\"]\n";
        let configuration = Configuration::parse(grant, data.path())?;
        let host = Host::open(configuration, data.path()).await?;
        let ours = Self { host, _data: data };
        ours.call("create_session", json!({})).await?;
        Ok(ours)
    }

    async fn call(&self, tool: &str, arguments: Value) -> Result<Value> {
        let context = Context::new(TenantId::local(), "bench".parse()?);
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let request = CallRequest::new(context, format!("browser__{tool}"), arguments);
        let answer = self.host.call(request).await?;
        if answer.is_error {
            bail!("{tool}: {}", answer.content.first().and_then(|part| part.as_text()).unwrap_or_default());
        }
        answer.structured.with_context(|| format!("{tool} answered no structure"))
    }

    async fn evaluate(&self) -> Result<()> {
        let told = self.call("evaluate", json!({"script": SCRIPT})).await?;
        ensure!(told["result"] == "2", "{told}");
        Ok(())
    }
}

fn milliseconds(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1_000.0
}

/// How long each took, in milliseconds.
#[derive(Default)]
struct Samples {
    bare: Vec<f64>,
    ours: Vec<f64>,
    calls: Vec<f64>,
}

impl Samples {
    async fn bare(&mut self, bare: &mut Bare) -> Result<()> {
        let began = Instant::now();
        bare.evaluate().await?;
        self.bare.push(milliseconds(began));
        Ok(())
    }

    async fn ours(&mut self, ours: &Ours) -> Result<()> {
        let began = Instant::now();
        ours.evaluate().await?;
        self.ours.push(milliseconds(began));
        Ok(())
    }

    async fn call(&mut self, ours: &Ours) -> Result<()> {
        let began = Instant::now();
        ours.call("list_sessions", json!({})).await?;
        self.calls.push(milliseconds(began));
        Ok(())
    }

    fn ratio(&self) -> f64 {
        median(self.ours.clone()) / median(self.bare.clone())
    }
}

/// One after the other, and many of each in a row. A browser that was asked just now
/// answers faster than one that has rested for a moment, so that only in turns both
/// are asked the same; in a row, the bare client's never rests.
async fn measure(data: tempfile::TempDir, warm_up: usize, rounds: usize, calls: usize) -> Result<(Samples, Samples)> {
    let (mut bare, ours) = (Bare::start().await?, Ours::start(data).await?);
    for _ in 0..warm_up {
        bare.evaluate().await?;
        ours.evaluate().await?;
    }
    let (mut turns, mut rows) = (Samples::default(), Samples::default());
    for _ in 0..rounds {
        for _ in 0..calls {
            turns.bare(&mut bare).await?;
            turns.ours(&ours).await?;
        }
        for _ in 0..calls {
            rows.bare(&mut bare).await?;
        }
        for _ in 0..calls {
            rows.ours(&ours).await?;
        }
        for _ in 0..calls {
            rows.call(&ours).await?;
        }
    }
    ours.host.shut_down(Duration::from_secs(5)).await;
    bare.end().await?;
    Ok((turns, rows))
}

/// From the request of a tool's call to its answer, beside from a command to its
/// answer.
pub(crate) fn latency(setting: &Setting, report: &mut Report) -> Result<()> {
    let runtime = runtime(2)?;
    let (warm_up, rounds) = (setting.calls(100), setting.rounds(ROUNDS));
    let (calls, data) = (setting.calls(1_000).div_ceil(ROUNDS), setting.data()?);
    // On a worker, as the command has it.
    let measured =
        runtime.block_on(async { tokio::spawn(async move { measure(data, warm_up, rounds, calls).await }).await })?;
    let (turns, rows) = measured?;
    let p50 = |samples: &[f64]| median(samples.to_vec());
    let sides = |samples: &Samples| {
        format!(
            "browser__evaluate {:.2} ms, a bare client of DevTools {:.2} ms",
            p50(&samples.ours),
            p50(&samples.bare)
        )
    };
    report.note("webview_latency", turns.ratio(), &format!("in turns: p50 of {}", sides(&turns)));
    let absolute =
        format!("many in a row: p50 of {}; a call that asks no page {:.2} ms", sides(&rows), p50(&rows.calls));
    report.note("webview_row", rows.ratio(), &absolute);
    Ok(())
}
