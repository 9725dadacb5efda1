//! The schema beside the host: neither accepts what the other refuses for its form.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Map, json};

use super::{super::RequiredContainment, *};

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

/// The blocks of a Markdown page that are fenced as TOML and name no other file than
/// `wharf.toml`.
fn examples(page: &str) -> Vec<&str> {
    page.split("```toml\n").skip(1).filter_map(|rest| rest.split_once("```")).map(|(block, _)| block).collect()
}

/// The first pages and all of the book, by their paths.
fn pages() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = vec![root.join("docs/src")];
    let mut paths = vec![root.join("README.md"), root.join("README.ko.md"), root.join("sdk/front-end/README.md")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the book is there") {
            let path = entry.expect("an entry").path();
            let list = if path.is_dir() { &mut folders } else { &mut paths };
            list.push(path);
        }
    }
    let pages = paths.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    pages.map(|path| (path.clone(), std::fs::read_to_string(path).expect("a page can be read"))).collect()
}

#[test]
fn every_example_of_the_documentation_is_right_and_conforms() {
    let mut seen = 0;
    for (path, page) in pages() {
        for example in examples(&page) {
            let told = |error: String| panic!("{}: {error}\n{example}", path.display());
            check(example).unwrap_or_else(told);
            // Some are about bundled plugins, which are not in every build.
            if !crate::bundled::PLUGINS.is_empty() {
                let parsed = Configuration::parse(example, Path::new("/"));
                parsed.map(drop).map_err(|error| error.to_string()).unwrap_or_else(told);
            }
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen} examples were found");
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
    "[process.polls.tenant.a]\nthreshold = 0",
    "[process.polls.tenant.a.session.s]\nhasty_threshold = 0",
    "[process]\nrequired = \"landlock\"",
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
    "[plugin.x]\nsource = \"x\"\n[plugin.x.grants.terminal]\nreason = \"r\"\nlifetime_seconds = 0",
    "[plugin.x]\nsource = \"x\"\n[plugin.x.grants.webview]\nreason = \"r\"\norigins = [\"ftp://example.com\"]",
    "[plugin.x]\nsource = \"x\"\n[plugin.x.grants.webview]\nreason = \"r\"\nmaximum_pages = 0",
    "[plugin.x]\nsource = \"x\"\n[plugin.x.grants.http]\nreason = \"r\"\nrequests = [\"get https://example.com\"]",
    "[plugin.x]\nsource = \"x\"\n[plugin.x.grants.http]\nreason = \"r\"\nrequests = [\"https://example.com/?q\"]",
    "[plugin.x]\nsource = \"x\"\n[plugin.x.secrets.a]\nfile = \"f\"\nheader = \"A: {}\"",
    "[plugin.x]\nsource = \"x\"\n[plugin.x.grants.workspace]\nreason = \"r\"\nexchange = [{name = \"..\", path = \"/\"}]",
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
        let text = format!("[plugin.x]\nsource = \"x.wasm\"\n[plugin.x.grants.state]\nreason = \"r\"\nexpires = {end}");
        Configuration::parse(&text, Path::new("/")).expect(end);
        check(&text).expect(end);
    }
}

#[test]
fn the_former_word_for_namespaces_means_the_same_to_both() {
    for word in ["namespaces", "bubblewrap"] {
        let text = format!("[process]\nrequired = \"{word}\"");
        let configuration = Configuration::parse(&text, Path::new("/")).expect(word);
        assert_eq!(configuration.required_containment, Some(RequiredContainment::Namespaces), "{word}");
        check(&text).expect(word);
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
        [process.polls.tenant.a]
        [process.polls.tenant.a.session.s]
        [workspace]
        [terminal.limits]
        [terminal.recording]
        [terminal.profile.x]
        programs = ["x"]
        preset = "repl"
        [terminal.profile.x.parameters]
        adaptive = true
        [webview.limits]
        [stream.limits]
        [request.limits]
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
        [plugin.x.grants.http]
        reason = "r"
        requests = ["https://example.com"]
        [plugin.x.secrets.token]
        file = "token"
        to = "* https://example.com"
        header = "A: {}"
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

/// Replaces or takes away one value somewhere in a right configuration. Lists
/// take the place of lists alone: the host reads one for a table as its values.
fn disturbed(whole: &mut Value, steps: &[u8], replacement: Option<&Value>) {
    let mut here = whole;
    for (depth, step) in steps.iter().enumerate() {
        let last = depth + 1 == steps.len();
        match here {
            Value::Object(table) if !table.is_empty() => {
                let at = usize::from(*step) % table.len();
                let Some(key) = table.keys().nth(at).cloned() else { return };
                if last || !(table[&key].is_object() || table[&key].is_array()) {
                    match replacement {
                        Some(Value::Array(_)) if !table[&key].is_array() => return,
                        Some(value) => table.insert(key, value.clone()),
                        None => table.remove(&key),
                    };
                    return;
                }
                let Some(next) = table.get_mut(&key) else { return };
                here = next;
            }
            Value::Array(values) if !values.is_empty() => {
                let at = usize::from(*step) % values.len();
                if let (Some(value), true) = (replacement, last) {
                    if value.is_array() {
                        return;
                    }
                    values[at] = value.clone();
                    return;
                }
                here = &mut values[at];
            }
            _ => return,
        }
    }
}

const FULL: &str = r#"
    data = "here"
    profile = "developer"
    context = { require_session = true, trusted_middleware = false }
    state = { durability = "power" }
    workspace = { expiry_seconds = 5 }
    [limits]
    output_bytes = 500
    [ceilings]
    output_bytes = 600
    [process]
    required = "namespaces"
    [process.polls]
    threshold = 3
    language = "ko"
    [process.polls.tenant.a.session.s]
    threshold = 4
    [terminal]
    restart = "never"
    recording = { enabled = true, directory = "d", maximum_bytes = 5 }
    [terminal.profile.x]
    programs = ["x"]
    preset = "repl"
    refused = [{ word = "exit", reason = "r" }]
    [webview]
    program = "chromium"
    user = 1000
    [plugin.x]
    source = "x.wasm"
    digest = "blake3:6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85"
    pin = "none"
    default_scope = "thread"
    settings = { a = [1, 2] }
    [plugin.x.grants.state]
    reason = "r"
    expires = "2027-01-31"
    scopes = ["thread"]
    [plugin.x.grants.process]
    reason = "r"
    programs = ["git"]
    maximum_concurrent = 2
    readable = ["/x"]
    [plugin.x.grants.webview]
    reason = "r"
    origins = ["https://*.example.org:*", "http://[::1]:8080"]
    [plugin.x.grants.http]
    reason = "r"
    requests = ["GET,POST https://*.example.org:*/v1/*", "*"]
    [plugin.x.secrets.token]
    environment = "TOKEN"
    to = "* http://[::1]:8080/v1/*"
    header = "Authorization: Bearer {}"
    [plugin.x.grants.workspace]
    reason = "r"
    access = "read"
    exchange = [{ name = "a.b", path = "/x", access = "write" }]
"#;

#[test]
fn what_is_disturbed_below_is_right() {
    Configuration::parse(FULL, Path::new("/")).expect("right");
    check(FULL).expect("right");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn what_the_host_accepts_the_schema_accepts_however_a_configuration_is_disturbed(
        changes in prop::collection::vec((prop::collection::vec(any::<u8>(), 1..6), prop::option::of(0_usize..24)), 1..4),
    ) {
        let pool = [
            json!(0), json!(1), json!(-1), json!(2.5), json!(u32::MAX), json!(i64::MAX), json!(true), json!(""), json!(" "),
            json!("x"), json!("*"), json!("/"), json!("read"), json!("never"), json!("2027-01-31T18:00:00Z"),
            json!("2027-01-31 18:00:00+01:00"), json!("https://b\u{fc}cher.example"), json!("http://example.com/"),
            json!("..."), json!("\u{2003}"), json!([]), json!(["x"]), json!({}), json!({"reason": "r"}),
        ];
        let mut whole = json(FULL);
        for (steps, replacement) in &changes {
            disturbed(&mut whole, steps, replacement.map(|at| &pool[at]));
        }
        let text = toml::to_string(&whole).expect("TOML");
        if Configuration::parse(&text, Path::new("/")).is_ok() {
            prop_assert_eq!(check(&text), Ok(()), "{}", text);
        }
    }
}
