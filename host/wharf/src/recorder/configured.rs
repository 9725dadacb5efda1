//! What the audit has of a configuration that takes the place of another one: the settings that differ, each as
//! one text, and none that is secret.

use std::collections::BTreeMap;

use toml::{Table, Value};
use wharf_core::audit::Replaced;

use super::arguments;

/// In place of what only a plugin understands, and of commands that a person is asked about.
const NOT_SHOWN: &str = "***";

/// Tables of one change that are told apart.
const MOST_TABLES: usize = 100;

/// The tables that differ, each with the settings that stood there before and after; none where all is the same.
pub(crate) fn changed(before: &Table, after: &Table) -> Vec<(String, Replaced)> {
    let (before, after) = (flat(before), flat(after));
    let mut tables = BTreeMap::<&str, [Vec<String>; 2]>::new();
    for (side, one, other) in [(0, &before, &after), (1, &after, &before)] {
        for (path, value) in one.iter().filter(|(path, value)| other.get(*path) != Some(value)) {
            tables.entry(table(path)).or_default()[side].push(format!("{path} = {}", shown(path, value)));
        }
    }
    let more = tables.len().saturating_sub(MOST_TABLES);
    let mut changed: Vec<_> = tables
        .into_iter()
        .take(MOST_TABLES)
        .filter_map(|(table, sides)| {
            let [before, after] = sides.map(|settings| (!settings.is_empty()).then(|| settings.join("; ")));
            Some((table.to_owned(), Replaced::of(before.as_deref(), after.as_deref())?))
        })
        .collect();
    if let Some((last, _)) = changed.last_mut().filter(|_| more > 0) {
        last.push_str(&format!(", and {more} more tables"));
    }
    changed
}

/// The values that are no tables, each by the names on the way to it.
fn flat(table: &Table) -> BTreeMap<String, &Value> {
    let mut settings = BTreeMap::new();
    for (name, value) in table {
        gather(name, value, &mut settings);
    }
    settings
}

fn gather<'t>(path: &str, value: &'t Value, settings: &mut BTreeMap<String, &'t Value>) {
    match value {
        Value::Table(table) if !table.is_empty() => {
            for (name, value) in table {
                gather(&format!("{path}.{name}"), value, settings);
            }
        }
        Value::Array(entries) if entries.iter().any(Value::is_table) => {
            let name = |entry: &'t Value| entry.get("name").and_then(Value::as_str);
            for (number, entry) in entries.iter().enumerate() {
                // An entry with a name of its own is the same one wherever it stands.
                let own =
                    name(entry).filter(|own| entries.iter().filter(|other| name(other) == Some(*own)).count() == 1);
                gather(&format!("{path}[{}]", own.map_or(number.to_string(), str::to_owned)), entry, settings);
            }
        }
        value => {
            settings.insert(path.to_owned(), value);
        }
    }
}

fn shown(path: &str, value: &Value) -> String {
    match is_of_plugin_alone(path) || is_of_commands(path) {
        true => NOT_SHOWN.to_owned(),
        false => arguments::without_secrets(&value.to_string()),
    }
}

/// Whether it is of `[plugin.NAME.settings]`, which the host hands on.
fn is_of_plugin_alone(path: &str) -> bool {
    let mut names = path.split('.');
    names.next() == Some("plugin") && names.nth(1) == Some("settings")
}

/// Whether it names commands that wait for a person, or never do: no audit has the text of a command.
fn is_of_commands(path: &str) -> bool {
    path.starts_with("approvals.") && path.contains("commands")
}

/// The first name of a path, and the second one of a plugin.
fn table(path: &str) -> &str {
    let names = if path.starts_with("plugin.") { 2 } else { 1 };
    let end = path.match_indices(['.', '[']).nth(names - 1).map_or(path.len(), |(at, _)| at);
    &path[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    type Told = (String, Option<String>, Option<String>);

    fn of(before: &str, after: &str) -> Vec<Told> {
        let changed = changed(&before.parse().expect("TOML"), &after.parse().expect("TOML"));
        let told = |(table, replaced): (String, Replaced)| {
            (table, replaced.before.map(Into::into), replaced.after.map(Into::into))
        };
        changed.into_iter().map(told).collect()
    }

    fn told(table: &str, before: Option<&str>, after: Option<&str>) -> Told {
        (table.to_owned(), before.map(str::to_owned), after.map(str::to_owned))
    }

    #[test]
    fn settings_that_differ_are_told_by_their_paths_and_no_other_is() {
        let before =
            "profile = \"default\"\n[host.limits]\ncalls = 3\nwait = 1\n[plugin.a.grants.state]\nreason = \"x\"\n";
        let after =
            "[host.limits]\ncalls = 4\nwait = 1\n[plugin.a.grants.state]\nreason = \"x\"\n[plugin.b]\nenabled = true\n";
        let expected = [
            told("host", Some("host.limits.calls = 3"), Some("host.limits.calls = 4")),
            told("plugin.b", None, Some("plugin.b.enabled = true")),
            told("profile", Some("profile = \"default\""), None),
        ];
        assert_eq!(of(before, after), expected);
        assert_eq!(of(before, before), []);
        let many: String =
            (0..MOST_TABLES + 3).map(|number| format!("[plugin.p{number:03}]\nenabled = true\n")).collect();
        let tables = of("", &many);
        assert_eq!(tables.len(), MOST_TABLES);
        assert!(tables[MOST_TABLES - 1].0.ends_with("and 3 more tables"), "{:?}", tables[MOST_TABLES - 1]);
    }

    #[test]
    fn a_token_that_is_taken_out_from_between_others_is_the_only_one_that_is_told() {
        let token = |name: &str| format!("[[http.tokens]]\nname = \"{name}\"\ndigest = \"blake3:{name}\"\n");
        let (a, b, c) = (token("a"), token("b"), token("c"));
        let taken_out = "http.tokens[b].digest = \"blake3:b\"; http.tokens[b].name = \"b\"";
        assert_eq!(of(&format!("{a}{b}{c}"), &format!("{a}{c}")), [told("http", Some(taken_out), None)]);
    }

    #[test]
    fn entries_that_share_a_name_hide_none_of_each_other() {
        let key = |key: &str| format!("[[plugins.trust]]\nname = \"x\"\npublic_key = \"{key}\"\n");
        let told = of(&format!("{}{}", key("a"), key("b")), &key("b"));
        let before = told[0].1.as_deref().unwrap_or_default();
        assert!(before.contains("public_key = \"a\""), "{told:?}");
    }

    #[test]
    fn what_is_secret_is_not_told_and_that_it_changed_is() {
        let settings = |value: &str| format!("[plugin.a.settings]\nkey = \"{value}\"\n");
        assert_eq!(
            of(&settings("old"), &settings("new")),
            [told("plugin.a", Some("plugin.a.settings.key = ***"), Some("plugin.a.settings.key = ***"))]
        );
        let rule = |command: &str| format!("[approvals]\nalways_commands = [\"{command}\"]\n");
        let shown = "approvals.always_commands = ***";
        assert_eq!(of(&rule("a b"), &rule("a c")), [told("approvals", Some(shown), Some(shown))]);
        let source = |user: &str| format!("[plugin.a]\nsource = \"https://{user}@example.com/a.wasm\"\n");
        let shown = "plugin.a.source = \"https://***@example.com/a.wasm\"";
        assert_eq!(of(&source("u:p"), &source("u:q")), [told("plugin.a", Some(shown), Some(shown))]);
    }
}
