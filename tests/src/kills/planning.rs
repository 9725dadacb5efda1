//! A list of todos that only grows.

use serde_json::{Value, json};

use super::lane::{Caller, Lane, Unanswered, structured};

/// Todos of one thread, before the next one is begun.
const OF_ONE_THREAD: usize = 60;

pub(super) struct Planning {
    number: usize,
    thread: usize,
    added: usize,
    /// Names in the order in which they were added.
    names: Vec<String>,
    asked: Option<String>,
}

impl Planning {
    pub(super) fn new(number: usize) -> Self {
        Self { number, thread: 0, added: 0, names: Vec::new(), asked: None }
    }
}

impl Lane for Planning {
    fn context(&self) -> Value {
        json!({
            "dev.wharf/sessionId": format!("planning-{}", self.number),
            "dev.wharf/threadId": format!("thread-{}", self.thread),
        })
    }

    fn next(&mut self, _random: &mut fastrand::Rng) -> (&'static str, Value) {
        if self.names.len() >= OF_ONE_THREAD {
            self.thread += 1;
            self.names.clear();
        }
        self.added += 1;
        let name = format!("todo {} of {}", self.added, self.number);
        self.asked = Some(name.clone());
        ("planning__add_todo", json!({"name": name}))
    }

    fn acknowledge(&mut self, answer: &Value) {
        let name = self.asked.take().expect("a call was in flight");
        assert_eq!(structured(answer)["todo"]["name"], json!(name), "{answer}");
        self.names.push(name);
    }

    fn verify(&mut self, host: &mut dyn Caller) -> Unanswered {
        let answer = host.call("planning__get_current_state", json!({}), self.context());
        let todos = structured(&answer)["todos"].as_array().expect("todos");
        let there: Vec<&str> = todos.iter().filter_map(|todo| todo["name"].as_str()).collect();
        let ids: Vec<u64> = todos.iter().filter_map(|todo| todo["id"].as_u64()).collect();
        assert_eq!(ids, (1..=todos.len() as u64).collect::<Vec<_>>(), "{answer}");
        let unanswered = match self.asked.take() {
            Some(name) if there.last() == Some(&name.as_str()) => {
                self.names.push(name);
                Unanswered::Happened
            }
            Some(_) => Unanswered::Lost,
            None => Unanswered::None,
        };
        assert_eq!(there, self.names, "acknowledged todos are lost, or others are there");
        unanswered
    }
}
