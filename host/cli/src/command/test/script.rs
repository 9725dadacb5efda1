//! What cases script: programs, web pages and answers of servers. Reads and checks; plays nothing.

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::Value;

/// The longest time that a script lets pass, in milliseconds.
const MAX_MILLISECONDS: u64 = 600_000;

/// All that is scripted, for a file of cases or for one of them.
#[derive(Debug, Default)]
pub(super) struct Scripts {
    pub(super) programs: Vec<ProgramScript>,
    pub(super) pages: Vec<PageScript>,
    pub(super) responses: Vec<ResponseScript>,
}

/// A program that plays a part: what it prints, and what it makes of the lines that it reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProgramScript {
    /// As the plugin names it; `sh` for a shell.
    #[serde(deserialize_with = "name")]
    pub(super) name: String,
    /// All of its arguments; any where absent.
    pub(super) arguments: Option<Vec<String>>,
    /// Arguments that are among them.
    #[serde(default)]
    pub(super) arguments_contain: Vec<String>,
    /// The first time only.
    #[serde(default)]
    pub(super) once: bool,
    #[serde(default)]
    pub(super) stdout: String,
    #[serde(default)]
    pub(super) stderr: String,
    #[serde(default, deserialize_with = "milliseconds")]
    pub(super) after_milliseconds: u64,
    /// What it prints after that.
    #[serde(default)]
    pub(super) then: Vec<Chunk>,
    /// What it shows before it reads a line.
    #[serde(default)]
    pub(super) prompt: String,
    /// What it makes of the lines that it reads; it reads them where this or `prompt` is said.
    #[serde(default)]
    pub(super) answers: Vec<ProgramAnswer>,
    /// Whether it goes on until it is stopped.
    #[serde(default)]
    pub(super) never_ends: bool,
    /// How it exits.
    #[serde(default)]
    pub(super) code: u8,
}

/// A part of what a program prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Chunk {
    #[serde(default)]
    pub(super) stdout: String,
    #[serde(default)]
    pub(super) stderr: String,
    #[serde(default, deserialize_with = "milliseconds")]
    pub(super) after_milliseconds: u64,
}

/// What a program makes of a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProgramAnswer {
    /// The line, without its end.
    #[serde(deserialize_with = "line")]
    pub(super) input: String,
    #[serde(default)]
    pub(super) stdout: String,
    #[serde(default)]
    pub(super) stderr: String,
    #[serde(default, deserialize_with = "milliseconds")]
    pub(super) after_milliseconds: u64,
    /// It exits so.
    pub(super) exits: Option<u8>,
    /// It shows no prompt any more, and reads nothing.
    #[serde(default)]
    pub(super) never_ends: bool,
}

/// A web page that is shown at an address.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PageScript {
    #[serde(deserialize_with = "address")]
    pub(super) url: String,
    #[serde(default)]
    pub(super) title: String,
    /// Of HTTP.
    #[serde(default = "success", deserialize_with = "status")]
    pub(super) status: u16,
    /// What scripts of the plugin come to.
    #[serde(default)]
    pub(super) scripts: Vec<ScriptResult>,
}

/// What a script comes to in a page.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptResult {
    /// The script, or a text that occurs in it.
    pub(super) script: String,
    /// Its value; `undefined` where neither this nor `throws` is said.
    pub(super) value: Option<Value>,
    /// The message of its exception.
    pub(super) throws: Option<String>,
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResponseScript {
    #[serde(default = "get")]
    pub(super) method: String,
    #[serde(deserialize_with = "address")]
    pub(super) url: String,
    #[serde(default = "success", deserialize_with = "status")]
    pub(super) status: u16,
    #[serde(default, deserialize_with = "headers")]
    pub(super) headers: Vec<(String, String)>,
    #[serde(default)]
    pub(super) body: String,
    /// The first time only.
    #[serde(default)]
    pub(super) once: bool,
}

impl ProgramScript {
    /// Whether it is about this start of its program.
    pub(super) fn is_about(&self, arguments: &[String]) -> bool {
        self.arguments.as_ref().is_none_or(|all| all == arguments)
            && self.arguments_contain.iter().all(|one| arguments.contains(one))
    }

    /// Whether it reads what is typed.
    pub(super) fn reads(&self) -> bool {
        !self.prompt.is_empty() || !self.answers.is_empty()
    }
}

fn get() -> String {
    "GET".to_owned()
}

const fn success() -> u16 {
    200
}

fn name<'de, D: Deserializer<'de>>(reader: D) -> Result<String, D::Error> {
    let name = String::deserialize(reader)?;
    if name.is_empty() || name.contains('\0') { Err(D::Error::custom("this names no program")) } else { Ok(name) }
}

fn milliseconds<'de, D: Deserializer<'de>>(reader: D) -> Result<u64, D::Error> {
    let given = u64::deserialize(reader)?;
    match given {
        0..=MAX_MILLISECONDS => Ok(given),
        _ => Err(D::Error::custom(format!("a script waits at most {MAX_MILLISECONDS} milliseconds"))),
    }
}

fn line<'de, D: Deserializer<'de>>(reader: D) -> Result<String, D::Error> {
    let line = String::deserialize(reader)?;
    match line.contains(['\n', '\r']) {
        true => Err(D::Error::custom("a program reads line by line: write an answer for each line, without its end")),
        false => Ok(line),
    }
}

fn address<'de, D: Deserializer<'de>>(reader: D) -> Result<String, D::Error> {
    let url = String::deserialize(reader)?;
    match ["http://", "https://"].iter().any(|scheme| url.len() > scheme.len() && url.starts_with(scheme)) {
        true => Ok(url),
        false => Err(D::Error::custom("an address begins with http:// or https://")),
    }
}

fn status<'de, D: Deserializer<'de>>(reader: D) -> Result<u16, D::Error> {
    let status = u16::deserialize(reader)?;
    match status {
        200..=599 => Ok(status),
        _ => Err(D::Error::custom("a status of HTTP is 200 to 599")),
    }
}

fn headers<'de, D: Deserializer<'de>>(reader: D) -> Result<Vec<(String, String)>, D::Error> {
    let headers = std::collections::BTreeMap::<String, String>::deserialize(reader)?;
    let is_word =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    for (name, value) in &headers {
        if !is_word(name) || value.contains(|character: char| character.is_control()) {
            return Err(D::Error::custom(format!("`{name}` cannot stand in the head of an answer")));
        }
        if ["content-length", "transfer-encoding", "connection"].iter().any(|own| name.eq_ignore_ascii_case(own)) {
            return Err(D::Error::custom(format!("`{name}` follows from the body: leave it out")));
        }
    }
    Ok(headers.into_iter().collect())
}
