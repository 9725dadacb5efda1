//! The part of the demo in which an agent builds a program, tests it, and
//! follows what takes long.

use std::fs;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::{FIRMWARE, GARDEN, Stage, answer, arrow, chapter, must, prose};

/// What the operator adds to `wharf.toml` for it.
const GRANTS: &str = "\
[plugin.workspace.grants.workspace]
reason = \"an agent works on the firmware\"
[plugin.workspace.grants.process]
reason = \"an agent builds and tests the firmware\"
shell = true
";

/// A rain gauge whose pulses stand for a fifth of a millimetre. It drifts.
const GAUGE: &str = "\
#include \"gauge.h\"

double millimetres(int pulses)
{
    return pulses / 5;
}
";

const HEADER: &str = "double millimetres(int pulses);\n";

const TEST: &str = "\
#include <stdio.h>
#include \"gauge.h\"

int main(void)
{
    double found = millimetres(7);
    printf(\"7 pulses are %.1f mm, and should be 1.4 mm\\n\", found);
    return found > 1.39 && found < 1.41 ? 0 : 1;
}
";

const BUILD: &str = "cc -Wall -o gauge_test gauge.c gauge_test.c && ./gauge_test";

/// A measurement whose hours are short ones.
const MEASURE: &str =
    "for hour in 12 24 36 48; do sleep 0.4; echo \"hour $hour: 3.$((92 - hour / 2)) V\"; done; echo 'battery measured'";

/// Polls after which there is advice at the latest, unless the operator says
/// otherwise.
const MOST_POLLS: usize = 5;

/// It hears no request to end, and leaves the group of its process.
const STUBBORN: &str = "trap '' TERM HUP INT; setsid sleep 1000 & echo logging; while :; do sleep 1; done";

impl Stage {
    pub(super) fn build_program(&mut self) -> Result<()> {
        chapter("8. The agent writes a program, builds it and tests it");
        prose("Running commands is off until the operator grants it. Nothing on the agent's side can:");
        let run = json!({ "command": "ls" }).to_string();
        self.refused_call(&self.folder.join("wharf.toml"), "workspace__execute_shell", &run)?;
        prose("So the operator grants a shell and the files of the session, and the host is started again:");
        GRANTS.lines().for_each(|line| println!("     wharf.toml | {line}"));
        fs::write(self.folder.join("wharf.toml"), GRANTS)?;
        self.client.take().context("the client is connected")?.close()?;
        self.start()?;

        prose("The rain gauge still drifts. The agent writes down what it computes, and a test of it:");
        for (path, content) in [("gauge.h", HEADER), ("gauge.c", GAUGE), ("gauge_test.c", TEST)] {
            let lines = match content.lines().count() {
                1 => "a line".to_owned(),
                count => format!("{count} lines"),
            };
            let shown = format!("{{\"path\": \"{path}\", \"content\": {lines} of C}}");
            let file = json!({ "path": path, "content": content });
            let made = self.call_shown(FIRMWARE, "workspace__write_file", &file, &shown)?;
            must(!made.is_error, "its files can be written")?;
        }
        prose("What it runs is a real process. How it ended is the first that the model reads:");
        let build = json!({ "command": BUILD });
        let failed = self.call(FIRMWARE, "workspace__execute_shell", &build)?;
        must(failed.text.starts_with("exit code 1\n"), "the test finds the drift")?;
        prose("Whole numbers were divided. It replaces the line, and says what it expects to stand there:");
        let replacement = json!({
            "start_line": 5, "end_line": 5,
            "expect": "    return pulses / 5;\n", "content": "    return pulses / 5.0;\n",
        });
        let edit = json!({ "path": "gauge.c", "replacements": [replacement] });
        let edited = self.call(FIRMWARE, "workspace__replace_lines_in_file", &edit)?;
        must(edited.text.contains("+    return pulses / 5.0;"), "the line is replaced")?;
        let passed = self.call(FIRMWARE, "workspace__execute_shell", &build)?;
        must(passed.text.starts_with("exit code 0\n"), "the test passes then")?;
        self.contained()
    }

    /// What a command can reach.
    fn contained(&mut self) -> Result<()> {
        prose("A command sees the files of its session and the system's programs. Here is a file beside them that");
        prose("everybody on this machine may read, and the command does not find it:");
        let secret = self.folder.join("secret.txt");
        fs::write(&secret, "nobody's business\n")?;
        let look = json!({ "command": format!("cat '{}'", secret.display()) });
        let looked = self.client()?.call(FIRMWARE, "workspace__execute_shell", &look)?;
        // Where this project lies is of no interest.
        let shown = |text: &str| text.replace(&*self.folder.to_string_lossy(), "…/target/demo");
        arrow(&format!("workspace__execute_shell {}", shown(&look.to_string())));
        looked.text.lines().for_each(|line| answer(&shown(line)));
        let is_hidden = looked.text.starts_with("exit code 1\n") && !looked.text.contains("nobody's business");
        must(is_hidden, "a command does not reach the files of others")?;
        prose("Another conversation has a workspace of its own:");
        let other = self.call(GARDEN, "workspace__list_directory", &json!({}))?;
        must(!other.text.contains("gauge"), "another session sees none of the files")
    }

    pub(super) fn follow_processes(&mut self) -> Result<()> {
        chapter("9. It follows what takes long, and ends what does not want to end");
        prose("The measurement runs beside the agent's other work:");
        let measure = json!({ "command": MEASURE, "run_mode": "async" });
        let process = self.start_process(&measure)?;
        prose("Instead of asking again and again, it waits for a line, and then for the end:");
        let wait = json!({ "process_id": process, "until": { "pattern": "hour 24: .*" } });
        let waited = self.call(FIRMWARE, "workspace__wait_for_process", &wait)?;
        must(waited.structured["wait_ended"] == "pattern", "a wait ends with the line that it waits for")?;
        let wait = json!({ "process_id": process, "lines": 2 });
        let ended = self.call(FIRMWARE, "workspace__wait_for_process", &wait)?;
        must(ended.text.starts_with("exit code 0\n"), "the measurement ends")?;

        prose("A logger of which one part ignores every request to end, and another one has detached itself:");
        let process = self.start_process(&json!({ "command": STUBBORN, "run_mode": "async" }))?;
        prose("An impatient agent polls it again and again, and is soon told what to do instead:");
        let poll = json!({ "process_id": process, "lines": 1 });
        let mut is_advised = false;
        for _ in 0..MOST_POLLS {
            is_advised = self.call(FIRMWARE, "workspace__poll_process", &poll)?.structured.get("guidance").is_some();
            if is_advised {
                break;
            }
        }
        must(is_advised, "who polls too often is advised")?;
        prose("It is asked to end, and after a second all of it is killed:");
        let stop = json!({ "process_id": process, "grace_seconds": 1 });
        let stopped = self.call(FIRMWARE, "workspace__stop_process", &stop)?;
        let is_gone =
            stopped.text.starts_with("killed (user)") && stopped.structured.get("living_descendants").is_none();
        must(is_gone, "a stubborn process is ended with all that it started")
    }

    /// Leaves a command running, for the host to be killed under.
    pub(super) fn leave_running(&mut self) -> Result<Value> {
        prose("A command runs while that happens:");
        let process = self.start_process(&json!({ "command": "echo begun; sleep 1000", "run_mode": "async" }))?;
        prose("The host is gone, and another one has opened the same data:");
        Ok(process)
    }

    /// After that: what became of it and of the files.
    pub(super) fn find_again(&mut self, process: &Value) -> Result<()> {
        prose("The command did not outlive its host, and what it printed did:");
        let polled = self.call(FIRMWARE, "workspace__poll_process", &json!({ "process_id": process }))?;
        let is_lost = polled.text.starts_with("killed (host-lost)") && polled.text.contains("begun");
        must(is_lost, "a command ends with its host and is listed as lost")?;
        prose("And the program is where it was:");
        let again = self.call(FIRMWARE, "workspace__execute_shell", &json!({ "command": "./gauge_test" }))?;
        must(again.text.starts_with("exit code 0\n"), "files outlive the host")
    }

    /// Starts a command and answers its id.
    fn start_process(&mut self, arguments: &Value) -> Result<Value> {
        let started = self.call(FIRMWARE, "workspace__execute_shell", arguments)?;
        must(started.structured["still_running"] == true, "a command can run on")?;
        Ok(started.structured["process_id"].clone())
    }
}
