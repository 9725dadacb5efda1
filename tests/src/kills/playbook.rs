//! Playbooks that are made, changed and deleted: record, catalog and index are
//! written in several steps and must never contradict each other.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::lane::{Caller, Lane, Unanswered, refusal, structured};

/// One page has room for all of them.
const MOST: usize = 12;

pub(super) struct Playbooks {
    assistant: String,
    made: usize,
    /// Goals by id.
    alive: BTreeMap<String, String>,
    deleted: Vec<String>,
    asked: Option<Asked>,
}

enum Asked {
    Create { goal: String },
    Update { id: String, goal: String },
    Delete { id: String },
}

impl Playbooks {
    pub(super) fn new(number: usize) -> Self {
        let assistant = format!("assistant-{number}");
        Self { assistant, made: 0, alive: BTreeMap::new(), deleted: Vec::new(), asked: None }
    }

    fn happened(&mut self, id: String, asked: Asked) {
        match asked {
            Asked::Create { goal } | Asked::Update { goal, .. } => drop(self.alive.insert(id, goal)),
            Asked::Delete { .. } => {
                self.alive.remove(&id);
                self.deleted.push(id);
            }
        }
    }

    /// Whether the call in flight happened, judged by what the host has now.
    /// Returns the id of its playbook if so.
    fn find_out(&self, asked: &Asked, there: &BTreeMap<String, String>) -> Option<String> {
        match asked {
            Asked::Create { goal } => {
                let made = there.iter().find(|(id, found)| !self.alive.contains_key(*id) && *found == goal);
                made.map(|(id, _)| id.clone())
            }
            Asked::Update { id, goal } => (there.get(id) == Some(goal)).then(|| id.clone()),
            Asked::Delete { id } => (!there.contains_key(id)).then(|| id.clone()),
        }
    }
}

impl Lane for Playbooks {
    fn context(&self) -> Value {
        json!({"dev.wharf/sessionId": "playbooks", "dev.wharf/assistantId": self.assistant})
    }

    fn next(&mut self, random: &mut fastrand::Rng) -> (&'static str, Value) {
        let chosen = random.choice(self.alive.keys()).cloned();
        self.made += 1;
        let goal = format!("goal {} of {}", self.made, self.assistant);
        let (tool, arguments, asked) = match (random.u8(0..4), chosen) {
            (0, Some(id)) => ("playbook__delete_playbook", json!({"id": id}), Asked::Delete { id }),
            (1, Some(id)) => {
                let change = json!({"id": id, "playbook": {"goal": goal}});
                ("playbook__update_playbook", change, Asked::Update { id, goal })
            }
            (_, Some(id)) if self.alive.len() >= MOST => {
                ("playbook__delete_playbook", json!({"id": id}), Asked::Delete { id })
            }
            _ => {
                let step = json!({"description": "work", "action": {"toolName": "tool", "purpose": "to work"}});
                ("playbook__create_playbook", json!({"goal": goal, "workflow": [step]}), Asked::Create { goal })
            }
        };
        self.asked = Some(asked);
        (tool, arguments)
    }

    fn acknowledge(&mut self, answer: &Value) {
        let asked = self.asked.take().expect("a call was in flight");
        let answered = structured(answer);
        let id = match &asked {
            Asked::Create { .. } => answered["playbook"]["id"].as_str().expect("an id").to_owned(),
            Asked::Update { id, .. } | Asked::Delete { id } => id.clone(),
        };
        self.happened(id, asked);
    }

    fn verify(&mut self, host: &mut dyn Caller) -> Unanswered {
        let listed = host.call("playbook__list_playbooks", json!({"pageSize": 50}), self.context());
        let page = structured(&listed);
        let there: BTreeMap<String, String> = page["playbooks"]
            .as_array()
            .expect("playbooks")
            .iter()
            .map(|playbook| {
                (playbook["id"].as_str().unwrap_or_default(), playbook["goal"].as_str().unwrap_or_default())
            })
            .map(|(id, goal)| (id.to_owned(), goal.to_owned()))
            .collect();
        assert_eq!(page["total"], json!(there.len()), "the catalog names playbooks that are not there: {listed}");
        let unanswered = match self.asked.take() {
            None => Unanswered::None,
            Some(asked) => match self.find_out(&asked, &there) {
                Some(id) => {
                    self.happened(id, asked);
                    Unanswered::Happened
                }
                None => Unanswered::Lost,
            },
        };
        assert_eq!(there, self.alive, "acknowledged playbooks are lost, or others are there");

        // The index knows the owner of each, and the record of each is whole.
        let stranger = json!({"dev.wharf/sessionId": "playbooks", "dev.wharf/assistantId": "stranger"});
        for id in self.alive.keys() {
            let got = host.call("playbook__get_playbook", json!({"id": id}), self.context());
            assert_eq!(structured(&got)["playbook"]["workflow"].as_array().map(Vec::len), Some(1), "{got}");
            let denied = host.call("playbook__get_playbook", json!({"id": id}), stranger.clone());
            assert!(refusal(&denied).contains("Permission denied"), "{denied}");
        }
        for id in self.deleted.iter().rev().take(3) {
            let gone = host.call("playbook__get_playbook", json!({"id": id}), self.context());
            assert!(refusal(&gone).starts_with("gone: ") || refusal(&gone).starts_with("not-found: "), "{gone}");
        }
        unanswered
    }
}
