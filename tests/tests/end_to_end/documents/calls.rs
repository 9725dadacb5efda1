//! Every example call of a tool: made against a real host, it answers what stands
//! below it.

use serde_json::{Map, Value, json};
use wharf_tests::{Client, Data, Site, wharf};

use super::{
    matching::matches,
    pages::{Page, pages},
};

/// Where the examples say that the tests' own site is.
const SITE: &str = "http://localhost:8080";

/// Words with which the text of an error begins.
const CODES: [&str; 9] =
    ["denied", "invalid", "not-found", "conflict", "limit", "timeout", "gone", "unavailable", "internal"];

/// A call and what it is shown to answer.
struct Example {
    line: usize,
    /// `params` of `tools/call`.
    parameters: Value,
    shown: Option<String>,
}

fn examples(page: &Page) -> Vec<Example> {
    let blocks = page.blocks();
    let next = blocks.iter().skip(1).map(Some).chain([None]);
    let calls = blocks.iter().zip(next).filter(|(block, _)| block.language == "json").filter_map(|(block, next)| {
        let parameters: Value = serde_json::from_str(&block.text)
            .unwrap_or_else(|error| panic!("{}:{}: no JSON: {error}", page.path, block.line));
        let is_call = parameters["name"].is_string() && parameters["arguments"].is_object();
        // Directly behind it: a text that comes later is about something else.
        let behind = block.line + block.text.lines().count() + 2;
        let answer = next.filter(|next| next.language == "text" && next.line == behind);
        is_call.then(|| Example { line: block.line, parameters, shown: answer.map(|answer| answer.text.clone()) })
    });
    calls.collect()
}

/// What earlier answers named, such as the id of a terminal.
#[derive(Default)]
struct Known(Map<String, Value>);

impl Known {
    /// Puts what is known in the place of `$name`.
    fn fill(&self, value: &mut Value) {
        match value {
            Value::Object(members) => members.values_mut().for_each(|member| self.fill(member)),
            Value::Array(items) => items.iter_mut().for_each(|item| self.fill(item)),
            Value::String(text) => {
                if let Some(known) = text.strip_prefix('$').and_then(|name| self.0.get(name)) {
                    *value = known.clone();
                }
            }
            _ => {}
        }
    }

    fn learn(&mut self, answer: &Value) {
        for (name, value) in answer.as_object().into_iter().flatten() {
            match value {
                Value::Array(items) => items.iter().take(1).for_each(|item| self.learn(item)),
                Value::Object(_) => self.learn(value),
                _ => drop(self.0.insert(name.clone(), value.clone())),
            }
        }
    }
}

fn text(result: &Value) -> String {
    let parts = result["content"].as_array().into_iter().flatten();
    parts.filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_example_call_answers_as_the_documents_say() {
    let mut made = 0;
    for page in pages() {
        let examples = examples(&page);
        if examples.is_empty() {
            continue;
        }
        let site = page.text.contains(SITE).then(Site::start);
        let data = Data::new();
        let serve = ["serve", "--stdio", "--session", "new", "--profile", "developer"];
        let mut client = Client::connect(wharf(serve).data(data.path()));
        let mut known = Known::default();
        for Example { line, mut parameters, shown } in examples {
            known.fill(&mut parameters);
            if let (Some(site), Some(url)) = (&site, parameters["arguments"]["url"].as_str())
                && let Some(path) = url.strip_prefix(SITE)
            {
                parameters["arguments"]["url"] = json!(site.at(path));
            }
            let answer = client.request("tools/call", parameters.clone());
            let (result, came) = (&answer["result"], text(&answer["result"]));
            let place = format!("{}:{line}: {parameters} answers:\n{came}\n{}", page.path, answer["error"]);
            let fails = |shown: &String| CODES.iter().any(|code| shown.starts_with(&format!("{code}:")));
            assert_eq!(result["isError"], json!(shown.as_ref().is_some_and(fails)), "{place}");
            assert!(shown.is_none_or(|shown| matches(&shown, &came)), "{place}");
            known.learn(&result["structuredContent"]);
            made += 1;
        }
        let (_, log, code) = client.leave();
        assert_eq!(code, Some(0), "{}: {log}", page.path);
    }
    assert!(made >= 20, "{made} calls were made");
}
