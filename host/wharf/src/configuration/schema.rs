//! The JSON Schema of `wharf.toml`, for editors.

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::{Configuration, Written};

impl Configuration {
    /// The schema that a `wharf.toml` conforms to, as JSON Schema of draft 7,
    /// which editors of TOML know.
    #[must_use]
    pub fn schema() -> Value {
        let mut schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<Written>();
        schema.insert("title".to_owned(), "wharf.toml".into());
        schema.insert("description".to_owned(), "What the operator of a Wharf host decided.".into());
        schema.to_value()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::{Map, json};

    use super::*;

    /// A value as an editor checks it: times are texts to it.
    fn untyped(value: toml::Value) -> Value {
        match value {
            toml::Value::Datetime(time) => Value::String(time.to_string()),
            toml::Value::Array(values) => values.into_iter().map(untyped).collect(),
            toml::Value::Table(table) => {
                table.into_iter().map(|(key, value)| (key, untyped(value))).collect::<Map<_, _>>().into()
            }
            plain => serde_json::to_value(plain).expect("plain"),
        }
    }

    fn json(text: &str) -> Value {
        untyped(toml::Value::Table(text.parse().expect("TOML")))
    }

    fn check(text: &str) -> Result<(), String> {
        let schema = Configuration::schema();
        let schema = jsonschema::draft7::new(&schema).expect("a schema");
        schema.validate(&json(text)).map_err(|error| format!("{}: {error}", error.instance_path()))
    }

    /// The blocks of a Markdown page that are fenced as TOML.
    fn examples(page: &str) -> Vec<&str> {
        page.split("```toml\n").skip(1).filter_map(|rest| rest.split_once("```")).map(|(block, _)| block).collect()
    }

    #[test]
    fn every_example_of_the_documentation_is_right_and_conforms() {
        for page in [include_str!("../../../../README.md"), include_str!("../../../../ARCHITECTURE.md")] {
            for example in examples(page) {
                check(example).expect(example);
                // Some are about bundled plugins, which are not in every build.
                if !crate::bundled::PLUGINS.is_empty() {
                    Configuration::parse(example, Path::new("/")).expect(example);
                }
            }
        }
        assert!(!examples(include_str!("../../../../README.md")).is_empty());
    }

    /// Texts that the host refuses for their form: the schema refuses each.
    const REFUSED: &[&str] = &[
        "data = 7",
        "profile = \"all\"",
        "[context]\nrequire_session = \"yes\"",
        "[state]\ndurability = \"none\"",
        "[host.limits]\nstack_bytes = 8388609",
        "[limits]\nmemory = 1",
        "[limits]\noutput_bytes = 0",
        "[limits]\noutput_bytes = -1",
        "[limits]\noutput_bytes = 1.5",
        "[limits]\noutput_bytes = \"1 MiB\"",
        "[ceilings]\nwall_time_milliseconds = 600001",
        "[process.polls]\nthreshold = 0",
        "[process.polls]\nlanguage = \"fr\"",
        "[terminal]\nrestart = \"always\"",
        "[terminal.profile.x]\nprograms = []\npreset = \"repl\"",
        "[terminal.profile.x]\nprograms = [\"x\"]\npreset = \"fast\"",
        "[terminal.profile.x]\npreset = \"repl\"",
        "[plugin.\"A B\"]\nsource = \"x\"",
        "[plugin.x]\nsource = \"x\"\npin = \"maybe\"",
        "[plugin.x]\nsource = \"x\"\ndigest = \"abc\"",
        "[plugin.x]\nsource = \"x\"\nsettings = 5",
        "[plugin.x]\nsource = \"x\"\ndefault_scope = \"world\"",
        "[plugin.x]\nsource = \"x\"\n[plugin.x.grants.state]",
        "[plugin.x]\nsource = \"x\"\n[plugin.x.grants.state]\nreason = \" \"",
        "[plugin.x]\nsource = \"x\"\n[plugin.x.grants.state]\nreason = \"r\"\nexpires = \"soon\"",
        "[plugin.x]\nsource = \"x\"\n[plugin.x.grants.state]\nreason = \"r\"\nexpires = 2027-01-31T18:00:00",
        "[plugin.x]\nsource = \"x\"\n[plugin.x.grants.state]\nreason = \"r\"\nexpires = {day = 1}",
        "[plugin.x]\nsource = \"x\"\n[plugin.x.grants.state]\nreason = \"r\"\nscopes = [\"world\"]",
        "[plugin.x]\nsource = \"x\"\n[plugin.x.grants.process]\nreason = \"r\"\nmaximum_concurrent = 0",
        "[plugin.x]\nsource = \"x\"\n[plugin.x.grants.process]\nreason = \"r\"\nreadable = [\"relative\"]",
        "[plugin.x]\nsource = \"x\"\n[plugin.x.grants.terminal]\nreason = \"r\"\nlifetime_seconds = 0",
        "[plugin.x]\nsource = \"x\"\n[plugin.x.grants.webview]\nreason = \"r\"\norigins = [\"ftp://example.com\"]",
        "[plugin.x]\nsource = \"x\"\n[plugin.x.grants.webview]\nreason = \"r\"\nmaximum_pages = 0",
        "[plugin.x]\nsource = \"x\"\n[plugin.x.grants.workspace]\nreason = \"r\"\nexchange = [{name = \"..\", path = \"/\"}]",
        "[plugin.x]\nsource = \"x\"\n[plugin.x.grants.workspace]\nreason = \"r\"\nexchange = [{name = \"a\", path = \"b\"}]",
    ];

    #[test]
    fn what_the_host_refuses_for_its_form_the_schema_refuses() {
        for text in REFUSED {
            assert!(Configuration::parse(text, Path::new("/")).is_err(), "the host accepts {text}");
            assert!(check(text).is_err(), "the schema accepts {text}");
        }
    }

    #[test]
    fn both_ways_to_write_an_end_are_accepted_by_both() {
        for end in ["2027-01-31", "\"2027-01-31\"", "2027-01-31T18:00:00Z", "\"2027-01-31T18:00:00+02:00\""] {
            let text =
                format!("[plugin.x]\nsource = \"x.wasm\"\n[plugin.x.grants.state]\nreason = \"r\"\nexpires = {end}");
            Configuration::parse(&text, Path::new("/")).expect(end);
            check(&text).expect(end);
        }
    }

    /// Adds a key that nobody knows to each object of a value, in turn.
    fn with_unknown_key(whole: &Value, path: &mut Vec<String>, found: &mut Vec<(String, Value)>) {
        let at = |whole: &mut Value, path: &[String]| -> bool {
            let target = path.iter().try_fold(whole, |value, key| value.get_mut(key));
            let Some(Value::Object(table)) = target else { return false };
            table.insert("no_such_key".to_owned(), json!(1));
            true
        };
        let mut changed = whole.clone();
        if at(&mut changed, path) {
            found.push((path.join("."), changed));
        }
        let here = path.iter().try_fold(whole, |value, key| value.get(key));
        let keys: Vec<_> = here.and_then(Value::as_object).into_iter().flat_map(Map::keys).cloned().collect();
        for key in keys {
            path.push(key);
            with_unknown_key(whole, path, found);
            path.pop();
        }
    }

    #[test]
    fn a_key_that_nobody_knows_is_refused_by_both_in_every_table() {
        let every = r#"
            [context]
            [state]
            [host.limits]
            [limits]
            [ceilings]
            [process.limits]
            [process.polls]
            [workspace]
            [terminal.limits]
            [terminal.recording]
            [terminal.profile.x]
            programs = ["x"]
            preset = "repl"
            [webview.limits]
            [stream.limits]
            [http.limits]
            [plugin.x]
            source = "x.wasm"
            [plugin.x.limits]
            [plugin.x.grants.state]
            reason = "r"
            [plugin.x.grants.events]
            reason = "r"
            [plugin.x.grants.process]
            reason = "r"
            [plugin.x.grants.terminal]
            reason = "r"
            [plugin.x.grants.webview]
            reason = "r"
            [plugin.x.grants.workspace]
            reason = "r"
        "#;
        Configuration::parse(every, Path::new("/")).expect("right as it is");
        check(every).expect("right as it is");
        let (mut found, schema) = (Vec::new(), Configuration::schema());
        with_unknown_key(&json(every), &mut Vec::new(), &mut found);
        assert!(found.len() > 25, "{}", found.len());
        let schema = jsonschema::draft7::new(&schema).expect("a schema");
        for (place, value) in found {
            let text = toml::to_string(&value).expect("TOML");
            // Tables of names that the operator chooses refuse a number.
            assert!(Configuration::parse(&text, Path::new("/")).is_err(), "the host accepts a key in {place}");
            assert!(!schema.is_valid(&value), "the schema accepts a key in {place}");
        }
    }

    #[test]
    fn every_limit_stands_in_the_schema_with_its_range() {
        let schema = Configuration::schema();
        let rows = &schema["properties"]["limits"]["properties"];
        for row in wharf_core::CallLimits::TABLE {
            assert_eq!(rows[row.name]["maximum"], json!(row.ceiling), "{}", row.name);
            assert_eq!(rows[row.name]["minimum"], json!(1), "{}", row.name);
        }
    }
}
