//! The part of the demo in which the agent talks to programs that wait for
//! answers, and another program follows one over HTTP.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::{FIRMWARE, GARDEN, Stage, answer, arrow, chapter, must, prose};
use crate::command::{capture, exists};

/// What the operator adds to `wharf.toml` for it.
const GRANTS: &str = "\
[plugin.terminal.grants.terminal]
reason = \"an agent talks to the boards in the lab\"
programs = [\"python3*\"]
shell = true
[plugin.terminal.grants.events]
reason = \"what they say while they work\"
[plugin.host.grants.terminal]
reason = \"the lab's own page shows a shell\"
shell = true
";

const QUESTION: &str = "read -p 'Serial number of the board? ' serial";
const FLASHING: &str = "for part in bootloader firmware settings; do sleep 0.7; echo \"$serial: $part > written\"; done; exit_of() { return 4; }; exit_of";

impl Stage {
    pub(super) fn talk_to_programs(&mut self) -> Result<()> {
        chapter("10. It talks to programs that wait for answers");
        prose("A terminal stays open between calls. The operator grants a shell and Python in one:");
        GRANTS.lines().for_each(|line| println!("     wharf.toml | {line}"));
        let file = self.folder.join("wharf.toml");
        fs::write(&file, fs::read_to_string(&file)? + GRANTS)?;
        self.client.take().context("the client is connected")?.close()?;
        self.start()?;
        let started = self.call(FIRMWARE, "terminal__start_terminal", &json!({}))?;
        let terminal = started.structured["terminal_id"].clone();
        prose("Each message is a turn. When it is over, the host finds out; nobody polls. Here the program asks back:");
        let asked = self.say(&terminal, QUESTION)?;
        must(asked["layer"] == "L2", "a question ends a turn")?;
        self.say(&terminal, "WS-0042")?;
        prose(
            "A command that pauses, whose output looks like a prompt. The shell itself says when it is done, and how:",
        );
        let flashed = self.say(&terminal, FLASHING)?;
        let told = (flashed["reason"].as_str(), flashed["exit_code"].as_i64());
        must(told == (Some("command-ended"), Some(4)), "a shell says how its command ended")?;
        prose("Half a command is no answer, and is said to be none:");
        let half = self.say(&terminal, "echo \"checked by")?;
        must(half["reason"] == "needs-continuation", "half a command needs the rest")?;
        self.say(&terminal, "hand\"")?;
        prose("Another conversation cannot tell this terminal from one that never was:");
        let foreign = json!({ "terminal_id": terminal, "text": "whoami" });
        must(self.call(GARDEN, "terminal__send_message", &foreign)?.is_error, "a terminal belongs to its session")?;
        self.call(FIRMWARE, "terminal__close_terminal", &json!({ "terminal_id": terminal })).map(drop)
    }

    fn say(&mut self, terminal: &Value, text: &str) -> Result<Value> {
        let message = json!({ "terminal_id": terminal, "text": text });
        let shown = json!({ "terminal_id": "…", "text": text }).to_string();
        let said = self.call_shown(FIRMWARE, "terminal__send_message", &message, &shown)?;
        must(!said.is_error && said.structured["still_running"] == false, "a turn ends")?;
        Ok(said.structured)
    }

    pub(super) fn follow_over_http(&mut self) -> Result<()> {
        chapter("11. A program without a model follows a turn over HTTP");
        if !exists("curl") {
            prose("There is no curl on this machine, which this chapter needs; with it: cargo xtask demo");
            return Ok(());
        }
        let mut command = Command::new(&self.wharf);
        command.args(["serve", "--http", "127.0.0.1:0", "--data"]).arg(self.folder.join("data"));
        command.arg("--config").arg(self.folder.join("wharf.toml"));
        println!("     $ wharf serve --http 127.0.0.1:0");
        let server = Killed(command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().context("cannot start wharf")?);
        self.ask_over_http(server)
    }

    fn ask_over_http(&self, mut server: Killed) -> Result<()> {
        let log = BufReader::new(server.0.stderr.take().context("its log is a pipe")?);
        let line = log.lines().map_while(Result::ok).find(|line| line.contains("http://"));
        let line = line.context("the host does not say where it listens")?;
        let url = line.split_whitespace().find_map(|word| word.split("http://").nth(1));
        let url = format!("http://{}", url.context("the line has an address")?.trim_matches('"'));
        answer(&format!("serving terminals and streams at {url}"));
        let token = fs::read_to_string(self.folder.join("data/http-token"))?;
        let authorization = format!("Authorization: Bearer {}", token.trim());
        let curl = |arguments: &[&str]| {
            let mut curl = Command::new("curl");
            curl.args(["-sS", "-N", "-H", &authorization, "-H", "Content-Type: application/json"]).args(arguments);
            curl
        };
        arrow("curl … -d '{}' /v1/terminals");
        let started = capture(&mut curl(&["-d", "{}", &format!("{url}/v1/terminals")]))?;
        let started: Value = serde_json::from_str(&started).context("the answer is JSON")?;
        let Some(terminal) = started["terminal"].as_str() else { bail!("no terminal was started: {started}") };
        answer(&format!("a {}, which is {}", started["command"], started["status"]));
        let turn = json!({ "text": "for gauge in 1 2 3; do sleep 0.5; echo \"gauge $gauge: 0.2 mm\"; done" });
        arrow(&format!("curl -N … -d '{turn}' /v1/terminals/…/turns"));
        let path = format!("{url}/v1/terminals/{terminal}/turns");
        let mut following = curl(&["-H", "Accept: text/event-stream", "-d", &turn.to_string(), &path]);
        let mut following = following.stdout(Stdio::piped()).spawn().context("cannot start curl")?;
        let mut told = String::new();
        for line in BufReader::new(following.stdout.take().context("its output is a pipe")?).lines() {
            let line = line?;
            if !line.is_empty() && !line.starts_with(':') {
                answer(&super::shortened(&line));
            }
            told += &line;
        }
        must(following.wait()?.success(), "curl reads to the end")?;
        let is_whole = told.contains("gauge 3") && told.contains("command-ended") && told.contains("\"exit_code\":0");
        must(is_whole, "a turn is told to its end")
    }
}

/// A host that does not outlive the demo, whatever happens.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // What has ended by itself is as good.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
