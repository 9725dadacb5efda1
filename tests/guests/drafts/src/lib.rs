//! A plugin that keeps its state by two drafts of `wasi:keyvalue` and reads its settings by
//! `wasi:config`, for the tests of those: a test sends steps, and the answer is what came of each.
//!
//! A value is a text here whose characters are its bytes, so a test can name any byte.

mod bindings;

use serde_json::{Value, json};
use wharf_sdk::{Call, Scope, Text, ToolError, tool};

use bindings::draft::wasi::keyvalue::store::Bucket;
use bindings::draft2::wasi::keyvalue::store::Bucket as Bucket2;
use bindings::{config, draft, draft2};

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Steps {
    /// Each begins with its name.
    steps: Vec<Vec<Value>>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Setting {
    /// Without it, all are told.
    name: Option<String>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// Whose bucket.
    bucket: String,
    key: String,
}

/// What was found, or how a host call failed.
type Outcome = Result<Value, Value>;

fn text(step: &[Value], index: usize) -> &str {
    step.get(index).and_then(Value::as_str).unwrap_or_default()
}

fn number(step: &[Value], index: usize) -> i64 {
    step.get(index).and_then(Value::as_i64).unwrap_or_default()
}

fn bytes(text: &str) -> Vec<u8> {
    text.chars().map(|character| u8::try_from(u32::from(character)).unwrap_or(b'?')).collect()
}

fn shown(bytes: &[u8]) -> Value {
    json!(bytes.iter().map(|byte| char::from(*byte)).collect::<String>())
}

fn texts(step: &[Value], index: usize) -> Vec<String> {
    let listed = step.get(index).and_then(Value::as_array).into_iter().flatten();
    listed.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Pairs of a list of lists.
fn pairs(step: &[Value], index: usize) -> Vec<(String, Vec<u8>)> {
    let listed = step.get(index).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_array);
    listed.map(|pair| (text(pair, 0).to_owned(), bytes(text(pair, 1)))).collect()
}

/// Keys that a step names by their number.
fn keys(step: &[Value], index: usize) -> Vec<String> {
    (0..number(step, index)).map(|number| format!("key/{number:06}")).collect()
}

/// What both drafts have. They differ in types that are named alike.
macro_rules! steps_of {
    ($draft:ident, $run:ident, $list:expr, $got:expr) => {
        fn $run(step: &[Value], held: &mut $draft::Held) -> Outcome {
            use $draft::wasi::keyvalue::{atomics, batch, store};
            let failed = |error: store::Error| match error {
                store::Error::NoSuchStore => json!("no-such-store"),
                store::Error::AccessDenied => json!("access-denied"),
                store::Error::Other(text) => json!({ "other": text }),
            };
            if text(step, 0) == "open" {
                held.bucket = Some(store::open(text(step, 1)).map_err(failed)?);
                return Ok(Value::Null);
            }
            let bucket = held.bucket.as_ref().ok_or_else(|| json!("nothing is open"))?;
            match text(step, 0) {
                "open-many" => {
                    let mut open = Vec::new();
                    for _ in 0..number(step, 2) {
                        match store::open(text(step, 1)) {
                            Ok(bucket) => open.push(bucket),
                            Err(error) => return Err(json!([open.len(), failed(error)])),
                        }
                    }
                    Ok(json!(open.len()))
                }
                "get" => Ok(bucket.get(text(step, 1)).map_err(failed)?.map_or(Value::Null, |value| shown(&value))),
                "set" => bucket.set(text(step, 1), &bytes(text(step, 2))).map(|()| Value::Null).map_err(failed),
                "set-long" => {
                    let value = vec![b'x'; usize::try_from(number(step, 2)).unwrap_or_default()];
                    bucket.set(text(step, 1), &value).map(|()| Value::Null).map_err(failed)
                }
                "delete" => bucket.delete(text(step, 1)).map(|()| Value::Null).map_err(failed),
                "exists" => bucket.exists(text(step, 1)).map(Value::Bool).map_err(failed),
                "list" => {
                    let (keys, cursor) = $list(bucket, step.get(1).cloned()).map_err(failed)?;
                    Ok(json!({ "keys": keys, "cursor": cursor }))
                }
                "count" => {
                    let (mut pages, mut found, mut cursor) = (0, std::collections::BTreeSet::new(), None);
                    loop {
                        let (keys, next) = $list(bucket, cursor).map_err(failed)?;
                        pages += 1;
                        found.extend(keys);
                        if next.is_none() {
                            return Ok(json!({ "pages": pages, "keys": found.len() }));
                        }
                        cursor = next;
                    }
                }
                "increment" => {
                    let delta = number(step, 2).try_into().unwrap_or_default();
                    atomics::increment(bucket, text(step, 1), delta).map(|sum| json!(sum)).map_err(failed)
                }
                "get-many" => {
                    let got: fn(_) -> Value = $got;
                    batch::get_many(bucket, &texts(step, 1)).map(got).map_err(failed)
                }
                "get-so-many" => batch::get_many(bucket, &keys(step, 1)).map(|found| json!(found.len())).map_err(failed),
                "set-many" => batch::set_many(bucket, &pairs(step, 1)).map(|()| Value::Null).map_err(failed),
                "set-so-many" => {
                    for some in keys(step, 1).chunks(1_000) {
                        let entries: Vec<_> = some.iter().map(|key| (key.clone(), Vec::new())).collect();
                        batch::set_many(bucket, &entries).map_err(failed)?;
                    }
                    Ok(Value::Null)
                }
                "delete-many" => batch::delete_many(bucket, &texts(step, 1)).map(|()| Value::Null).map_err(failed),
                _ => held.step(step, failed),
            }
        }
    };
}

/// A page of keys, its cursor as a test has it.
type ListedKeys<E> = Result<(Vec<String>, Option<Value>), E>;

fn list_by_number(bucket: &Bucket, cursor: Option<Value>) -> ListedKeys<draft::wasi::keyvalue::store::Error> {
    let page = bucket.list_keys(cursor.map(|cursor| cursor.as_u64().unwrap_or(u64::MAX)))?;
    Ok((page.keys, page.cursor.map(|cursor| json!(cursor))))
}

fn list_by_text(bucket: &Bucket2, cursor: Option<Value>) -> ListedKeys<draft2::wasi::keyvalue::store::Error> {
    let page = bucket.list_keys(cursor.as_ref().map(|cursor| cursor.as_str().unwrap_or_default()))?;
    Ok((page.keys, page.cursor.map(|cursor| json!(cursor))))
}

steps_of!(draft, run_draft, list_by_number, |found: Vec<Option<(String, Vec<u8>)>>| {
    json!(found.into_iter().map(|entry| entry.map(|(key, value)| json!([key, shown(&value)]))).collect::<Vec<_>>())
});
steps_of!(draft2, run_draft2, list_by_text, |found: Vec<(String, Option<Vec<u8>>)>| {
    json!(found.into_iter().map(|(key, value)| json!([key, value.map(|value| shown(&value))])).collect::<Vec<_>>())
});

impl draft::Held {
    fn step(&mut self, step: &[Value], _: impl Fn(draft::wasi::keyvalue::store::Error) -> Value) -> Outcome {
        Err(json!(["no such step", text(step, 0)]))
    }
}

impl draft2::Held {
    /// Compare-and-swap, which this draft alone has.
    fn step(&mut self, step: &[Value], failed: impl Fn(draft2::wasi::keyvalue::store::Error) -> Value) -> Outcome {
        use draft2::wasi::keyvalue::atomics::{Cas, CasError, swap};
        let bucket = self.bucket.as_ref().ok_or_else(|| json!("nothing is open"))?;
        let cas = |cas: Option<Cas>| cas.ok_or_else(|| json!("no swap has begun"));
        match text(step, 0) {
            "cas" => {
                self.cas = Some(Cas::new(bucket, text(step, 1)).map_err(failed)?);
                Ok(Value::Null)
            }
            "current" => {
                let begun = self.cas.as_ref().ok_or_else(|| json!("no swap has begun"))?;
                Ok(begun.current().map_err(failed)?.map_or(Value::Null, |value| shown(&value)))
            }
            "swap" => match swap(cas(self.cas.take())?, &bytes(text(step, 1))) {
                Ok(()) => Ok(json!("swapped")),
                Err(CasError::StoreError(error)) => Err(failed(error)),
                Err(CasError::CasFailed(anew)) => {
                    self.cas = Some(anew);
                    Err(json!("cas-failed"))
                }
            },
            "cas-many" => {
                let mut begun = Vec::new();
                for _ in 0..number(step, 2) {
                    match Cas::new(bucket, text(step, 1)) {
                        Ok(cas) => begun.push(cas),
                        Err(error) => return Err(json!([begun.len(), failed(error)])),
                    }
                }
                Ok(json!(begun.len()))
            }
            other => Err(json!(["no such step", other])),
        }
    }
}

fn answer(outcomes: impl Iterator<Item = Outcome>) -> Text {
    let told = outcomes.map(|outcome| match outcome {
        Ok(found) => json!({ "ok": found }),
        Err(failed) => json!({ "failed": failed }),
    });
    plain(&Value::from_iter(told))
}

/// JSON in ASCII: the host takes characters that nobody sees out of an answer.
fn plain(found: &Value) -> Text {
    let escaped = |character: char| match character {
        ' '..='~' => character.to_string(),
        _ => format!("\\u{:04x}", u32::from(character)),
    };
    Text(found.to_string().chars().map(escaped).collect())
}

/// Runs steps by `wasi:keyvalue@0.2.0-draft`.
#[tool]
fn by_draft(_call: &Call, input: Steps) -> Result<Text, ToolError> {
    let mut held = draft::Held::default();
    Ok(answer(input.steps.iter().map(|step| run_draft(step, &mut held))))
}

/// Runs steps by `wasi:keyvalue@0.2.0-draft2`.
#[tool]
fn by_draft2(_call: &Call, input: Steps) -> Result<Text, ToolError> {
    let mut held = draft2::Held::default();
    Ok(answer(input.steps.iter().map(|step| run_draft2(step, &mut held))))
}

/// Reads a setting by `wasi:config`, or all.
#[tool]
fn setting(_call: &Call, input: Setting) -> Result<Text, ToolError> {
    let failed = |error| ToolError::unavailable(format!("{error:?}"));
    let found = match input.name {
        Some(name) => json!(config::get(&name).map_err(failed)?),
        None => json!(config::get_all().map_err(failed)?),
    };
    Ok(Text(found.to_string()))
}

/// Reads an entry of the session by the contract's own state.
#[tool]
fn own_entry(call: &Call, input: Entry) -> Result<Text, ToolError> {
    let entry = call.state(Scope::Session, &input.bucket)?.get(&input.key)?;
    Ok(plain(&entry.map_or(Value::Null, |entry| shown(&entry.value))))
}

wharf_sdk::plugin!(by_draft, by_draft2, setting, own_entry);
