//! Documents that are added, found and deleted: text and index must agree.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::lane::{Caller, Lane, Unanswered, structured};
use crate::artifacts::target;

/// One page has room for all of them.
const MOST: usize = 8;

/// Whether the plugin was built.
pub(super) fn is_there() -> bool {
    target().join("plugins/components/content-store.wasm").exists()
}

pub(super) struct Contents {
    number: usize,
    made: usize,
    /// The word that only this content has, by id.
    alive: BTreeMap<String, String>,
    /// Words of contents that are gone.
    deleted: Vec<String>,
    asked: Option<Asked>,
}

enum Asked {
    Add { word: String },
    Delete { id: String },
}

impl Contents {
    pub(super) fn new(number: usize) -> Self {
        Self { number, made: 0, alive: BTreeMap::new(), deleted: Vec::new(), asked: None }
    }

    fn happened(&mut self, id: String, asked: Asked) {
        match asked {
            Asked::Add { word } => drop(self.alive.insert(id, word)),
            Asked::Delete { .. } => self.deleted.extend(self.alive.remove(&id)),
        }
    }

    /// Contents in which a word is found.
    fn found(&self, host: &mut dyn Caller, word: &str) -> Vec<String> {
        let answer = host.call("content-store__search_content", json!({"query": word}), self.context());
        let hits = structured(&answer)["hits"].as_array().expect("hits");
        let mut ids: Vec<String> =
            hits.iter().filter_map(|hit| hit["content_id"].as_str()).map(str::to_owned).collect();
        ids.sort();
        ids.dedup();
        ids
    }
}

/// Some paragraphs, with a word in the last one that nothing else has.
fn text(word: &str) -> String {
    let paragraph = "The harbour master writes down every ship that comes in. ".repeat(8);
    format!("# Of {word}\n\n{paragraph}\n\n{paragraph}\n\nAt last came the {word}.\n")
}

impl Lane for Contents {
    fn context(&self) -> Value {
        json!({"dev.wharf/sessionId": format!("contents-{}", self.number)})
    }

    fn next(&mut self, random: &mut fastrand::Rng) -> (&'static str, Value) {
        let chosen = random.choice(self.alive.keys()).cloned();
        match chosen {
            Some(id) if self.alive.len() >= MOST || random.u8(0..3) == 0 => {
                let arguments = json!({"content_id": id});
                self.asked = Some(Asked::Delete { id });
                ("content-store__delete_content", arguments)
            }
            _ => {
                self.made += 1;
                let word = format!("zq{}x{}", self.number, self.made);
                let arguments = json!({"name": word, "text": text(&word)});
                self.asked = Some(Asked::Add { word });
                ("content-store__add_content", arguments)
            }
        }
    }

    fn acknowledge(&mut self, answer: &Value) {
        let asked = self.asked.take().expect("a call was in flight");
        let answered = structured(answer);
        let id = match &asked {
            Asked::Add { .. } => answered["content_id"].as_str().expect("an id").to_owned(),
            Asked::Delete { id } => id.clone(),
        };
        self.happened(id, asked);
    }

    fn verify(&mut self, host: &mut dyn Caller) -> Unanswered {
        let listed = host.call("content-store__list_contents", json!({"limit": 50}), self.context());
        let page = structured(&listed);
        let there: BTreeMap<String, String> = page["contents"]
            .as_array()
            .expect("contents")
            .iter()
            .map(|shown| (shown["content_id"].as_str().unwrap_or_default(), shown["name"].as_str().unwrap_or_default()))
            .map(|(id, name)| (id.to_owned(), name.to_owned()))
            .collect();
        assert_eq!(page["total"], json!(there.len()), "{listed}");
        let happened = match &self.asked {
            Some(Asked::Add { word }) => there.iter().find(|(_, name)| *name == word).map(|(id, _)| id.clone()),
            Some(Asked::Delete { id }) => (!there.contains_key(id)).then(|| id.clone()),
            None => None,
        };
        let unanswered = match (self.asked.take(), happened) {
            (None, _) => Unanswered::None,
            (Some(_), None) => Unanswered::Lost,
            (Some(asked), Some(id)) => {
                self.happened(id, asked);
                Unanswered::Happened
            }
        };
        assert_eq!(there, self.alive, "acknowledged contents are lost, or others are there");
        // The index finds each content by the word at its end, and nothing else.
        for (id, word) in &self.alive {
            assert_eq!(self.found(host, word), std::slice::from_ref(id), "{word} is not found");
            let read = host.call("content-store__read_content", json!({"content_id": id}), self.context());
            assert_eq!(structured(&read)["text"], json!(text(word)), "{read}");
        }
        for word in self.deleted.iter().rev().take(3) {
            assert!(self.found(host, word).is_empty(), "{word} was deleted and is found");
        }
        unanswered
    }
}
