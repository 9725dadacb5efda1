//! `wasi:config`, a draft of WASI: the settings of the plugin as texts.

use serde_json::{Map, Value};
use wasmtime::component::{ComponentType, Lower};
use wharf_core::Code;

use crate::{
    guest::Guest,
    watch::{self, Refusal, crossing::one_of},
};

/// The versions that are offered. They have the same functions.
pub(crate) const VERSIONS: &[&str] = &["0.2.0-draft", "0.2.0-draft-2024-09-27", "0.2.0-rc.1"];

/// The settings of a plugin by name: of a text itself, of anything else its JSON.
pub(crate) struct ConfigTexts(Vec<(String, String)>);

impl ConfigTexts {
    /// Of the JSON text of an object; none where it is none.
    pub(crate) fn of(settings: &str) -> Self {
        Self(texts(settings, |_| true))
    }

    /// Those that are texts, numbers or booleans, as variables of an environment.
    pub(crate) fn of_scalars(settings: &str) -> Vec<(String, String)> {
        texts(settings, |value| value.is_string() || value.is_number() || value.is_boolean())
    }

    fn get(&self, name: &str) -> Option<String> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, text)| text.clone())
    }
}

/// The members of an object that are wanted, each as a text.
fn texts(settings: &str, is_wanted: fn(&Value) -> bool) -> Vec<(String, String)> {
    let settings: Map<String, Value> = serde_json::from_str(settings).unwrap_or_default();
    let text = |value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    let wanted = settings.into_iter().filter(|(_, value)| is_wanted(value));
    wanted.map(|(name, value)| (name, text(value))).collect()
}

/// The error of the draft. The settings are in memory, so none is made.
#[derive(ComponentType, Lower)]
#[component(variant)]
enum ConfigError {
    #[component(name = "upstream")]
    Upstream(String),
    #[component(name = "io")]
    Io(String),
}

one_of!(ConfigError { Upstream(text) = 0, Io(text) = 1 });

impl Refusal for ConfigError {
    fn code(&self) -> Code {
        Code::Unavailable
    }
}

/// Links every version.
pub(crate) fn link(linker: &mut watch::component::Linker<Guest>) -> wasmtime::Result<()> {
    for version in VERSIONS {
        let mut store = linker.instance(&format!("wasi:config/store@{version}"))?;
        store.func_wrap("get", |mut store, (name,): (String,)| {
            Ok((Ok::<_, ConfigError>(store.data_mut().config().get(&name)),))
        })?;
        store.func_wrap("get-all", |mut store, ()| Ok((Ok::<_, ConfigError>(store.data_mut().config().0.clone()),)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_itself_and_anything_else_is_its_json() {
        let texts = ConfigTexts::of(r#"{"url": "a\"b", "port": 80, "on": true, "list": [1, "x"], "in": {"a": null}}"#);
        for (name, text) in
            [("url", "a\"b"), ("port", "80"), ("on", "true"), ("list", r#"[1,"x"]"#), ("in", r#"{"a":null}"#)]
        {
            assert_eq!(texts.get(name).as_deref(), Some(text), "{name}");
        }
        assert_eq!((texts.get("in.a"), texts.get(""), texts.0.len()), (None, None, 5));
        assert!(ConfigTexts::of("{}").0.is_empty() && ConfigTexts::of("[]").0.is_empty());
    }
}
