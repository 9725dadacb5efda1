//! Every tool of the terminal plugin, called as the host calls it, on programs
//! that play a part: JSON in, answers out, schemas checked on the way. What real
//! programs do is tested in the host.

mod limits;
mod looking;
mod schemas;
mod starting;
mod turns;

use serde_json::{Value, json};
use wharf_plugin_terminal::WharfPlugin;
use wharf_sdk::terminal::{Confidence, Layer, Reason};
use wharf_sdk::testing::{self, Response, Script, TestAgent, TestCall};

/// A model at work in a session.
struct Agent(TestCall);

impl TestAgent for Agent {
    type Plugin = WharfPlugin;

    fn test_call(&self) -> &TestCall {
        &self.0
    }
}

impl Agent {
    /// One that may start a shell and an interpreter.
    fn new() -> Self {
        let shell = Script::new()
            .prints("$ ")
            .answers("ls", Response::new("a\nb\n$ ").with_exit_code(0))
            .answers("false", Response::new("$ ").with_exit_code(1))
            .answers("make", Response::new("done\n$ ").with_exit_code(0).after_waits(2))
            .answers(
                "chat",
                (0..3_000).fold(Response::new("").with_exit_code(0), |chat, line| chat.then(format!("{line}\n"))),
            )
            .answers("yes", Response::new("y\ny\n").never_ends())
            .answers("seq 20000", Response::new(numbers(20_000)).with_exit_code(0))
            .answers("tests", Response::new("one ok\n").then("two ok\n").then("항구 ".repeat(400)).with_exit_code(0))
            .answers(
                "for i in 1",
                Response::new("> ").ends_by(Layer::Signal, Reason::NeedsContinuation, Confidence::Certain),
            )
            .answers("sleep 99", Response::new("").ends_by(Layer::Inactivity, Reason::Idle, Confidence::Low))
            .answers("exit 3", Response::new("exit\n").exits(3));
        let python =
            Script::new().prints("Python 3\n>>> ").answers("6 * 7", "42\n>>> ").answers("Down Enter", "second\n>>> ");
        Self(TestCall::new().terminal_shell(shell).terminal_program("python3", python))
    }

    /// With a shell, and its id.
    fn with_shell() -> (Self, String) {
        let agent = Self::new();
        let id = agent.id(&json!({}));
        (agent, id)
    }

    fn id(&self, start: &Value) -> String {
        self.ok("start_terminal", start)["terminal_id"].as_str().expect("an id").to_owned()
    }

    #[track_caller]
    fn send(&self, id: &str, text: &str) -> (Value, String) {
        self.answer("send_message", &json!({ "terminal_id": id, "text": text }))
    }
}

/// Whether the host would let these arguments through.
fn accepts(tool: &str, arguments: &Value) -> bool {
    testing::accepts::<WharfPlugin>(tool, arguments)
}

fn numbers(count: u32) -> String {
    (1..=count).map(|number| format!("{number}\n")).collect()
}
