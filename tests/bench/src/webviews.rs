//! A script in a web page: through a tool call, beside a client of the DevTools
//! protocol that does nothing else, each with a browser of its own.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Instant,
};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use wharf::{CallRequest, Configuration, Context, Host, TenantId};

use crate::{
    Setting,
    engine::runtime,
    report::{Bar, Report, median},
};

/// What both browsers are asked for.
const SCRIPT: &str = "1 + 1";
/// The bare client's browser: the one that the host takes first.
const PROGRAM: &str = "chromium-headless-shell";
const ROUNDS: usize = 20;

/// A browser over a pair of pipes, and one page of it. Ends with this.
struct Bare {
    browser: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    session: Option<String>,
    last: u64,
    _profile: tempfile::TempDir,
}

impl Bare {
    fn start() -> Result<Self> {
        let profile = tempfile::tempdir()?;
        // It reads commands from descriptor 3 and answers on 4.
        let line = format!(
            "exec {PROGRAM} --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking \
             --remote-debugging-pipe --user-data-dir='{}' 3<&0 4>&1 </dev/null >/dev/null 2>&1",
            profile.path().display()
        );
        let mut shell = Command::new("/bin/sh");
        let mut browser = shell.args(["-c", &line]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(input), Some(output)) = (browser.stdin.take(), browser.stdout.take()) else {
            bail!("the browser has no pipes")
        };
        let output = BufReader::new(output);
        let mut bare = Self { browser, input, output, session: None, last: 0, _profile: profile };
        let target = bare.ask("Target.createTarget", &json!({"url": "about:blank"}))?;
        let attached = bare.ask("Target.attachToTarget", &json!({"targetId": target["targetId"], "flatten": true}))?;
        bare.session = Some(attached["sessionId"].as_str().context("no session")?.to_owned());
        bare.ask("Runtime.enable", &json!({}))?;
        Ok(bare)
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> Result<Value> {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        let mut message = message.to_string().into_bytes();
        message.push(0);
        self.input.write_all(&message)?;
        loop {
            let mut answer = Vec::new();
            self.output.read_until(0, &mut answer)?;
            ensure!(answer.pop() == Some(0), "the browser ended; is {PROGRAM} installed?");
            let mut answer: Value = serde_json::from_slice(&answer)?;
            if answer["id"] == self.last {
                ensure!(answer["error"].is_null(), "{method}: {answer}");
                return Ok(answer["result"].take());
            }
        }
    }

    fn evaluate(&mut self) -> Result<()> {
        let asked = json!({"expression": SCRIPT, "awaitPromise": true, "returnByValue": true});
        let told = self.ask("Runtime.evaluate", &asked)?;
        ensure!(told["result"]["value"] == 2, "{told}");
        Ok(())
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        // Its end ends the browser's other processes.
        let _ = self.browser.kill();
        let _ = self.browser.wait();
    }
}

/// A host with the browser plugin, and one page of it.
struct Ours {
    runtime: Runtime,
    host: Host,
    _data: tempfile::TempDir,
}

impl Ours {
    fn start() -> Result<Self> {
        let (runtime, data) = (runtime(2)?, tempfile::tempdir()?);
        let grant = "[plugin.browser.grants.webview]\nreason = \"bench\"\norigins = [\"*\"]\n";
        let configuration = Configuration::parse(grant, data.path()).map_err(anyhow::Error::msg)?;
        let host = runtime.block_on(Host::open(configuration, data.path()))?;
        let ours = Self { runtime, host, _data: data };
        ours.call("create_session", json!({}))?;
        Ok(ours)
    }

    fn call(&self, tool: &str, arguments: Value) -> Result<Value> {
        let context = Context::new(TenantId::local(), "bench".parse()?);
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let request = CallRequest::new(context, format!("browser__{tool}"), arguments);
        let answer = self.runtime.block_on(self.host.call(request))?;
        if answer.is_error {
            bail!("{tool}: {}", answer.content.first().and_then(|part| part.as_text()).unwrap_or_default());
        }
        answer.structured.with_context(|| format!("{tool} answered no structure"))
    }

    fn evaluate(&self) -> Result<()> {
        let told = self.call("evaluate", json!({"script": SCRIPT}))?;
        ensure!(told["result"] == "2", "{told}");
        Ok(())
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        self.runtime.block_on(self.host.shut_down(std::time::Duration::from_secs(5)));
    }
}

fn milliseconds(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1_000.0
}

/// From the request of a tool's call to its answer, beside from a command to its
/// answer.
pub(crate) fn latency(setting: &Setting, report: &mut Report) -> Result<()> {
    let (mut bare, ours) = (Bare::start()?, Ours::start()?);
    for _ in 0..setting.calls(100) {
        bare.evaluate()?;
        ours.evaluate()?;
    }
    let calls = setting.calls(1_000) / ROUNDS;
    let (mut of_bare, mut of_ours) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        for _ in 0..calls {
            let began = Instant::now();
            bare.evaluate()?;
            of_bare.push(milliseconds(began));
        }
        for _ in 0..calls {
            let began = Instant::now();
            ours.evaluate()?;
            of_ours.push(milliseconds(began));
        }
    }
    let (of_bare, of_ours) = (median(of_bare), median(of_ours));
    let absolute = format!("p50 of browser__evaluate {of_ours:.2} ms; of a bare client of DevTools {of_bare:.2} ms");
    report.note("webview_latency", of_ours / of_bare, Bar::AtMost(2.0), &absolute);
    Ok(())
}
