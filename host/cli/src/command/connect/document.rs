//! A server in the file of a client, put in or taken out. All else stays as it was written.

use jsonc_parser::{
    ParseOptions,
    cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode},
};
use serde_json::Value;
use toml_edit::{DocumentMut, Item, Table};

use super::client::{Members, ServerSettings, TOKEN_INPUT};

/// What a file is written in.
#[derive(Debug, Clone, Copy)]
pub(super) enum Syntax {
    /// JSON that may have comments and commas before brackets.
    Json,
    Toml,
}

/// Why a file cannot be edited.
#[derive(Debug, thiserror::Error)]
pub(super) enum DocumentError {
    #[error(transparent)]
    Json(#[from] jsonc_parser::errors::ParseError),
    #[error(transparent)]
    Toml(#[from] toml_edit::TomlError),
    /// Something stands where an object or a table has to be.
    #[error("{0} is no table")]
    NoTable(String),
}

/// A server, as a file names it.
pub(super) struct ServerEntry<'e> {
    pub(super) name: &'e str,
    pub(super) settings: &'e ServerSettings,
    pub(super) syntax: Syntax,
}

impl ServerEntry<'_> {
    /// The text with this server, in the place of one of its name.
    pub(super) fn added_to(&self, text: &str) -> Result<String, DocumentError> {
        let ServerSettings { servers, server, input } = self.settings;
        match self.syntax {
            Syntax::Json => {
                let root = json(text)?;
                let top = root.object_value_or_create().ok_or_else(|| no_table("what the file says"))?;
                let list = top.object_value_or_create(servers).ok_or_else(|| no_table(servers))?;
                put(&list, self.name, server);
                if let Some(input) = input {
                    let inputs = top.array_value_or_create("inputs").ok_or_else(|| no_table("inputs"))?;
                    if inputs_of(&inputs, TOKEN_INPUT).is_empty() {
                        inputs.append(object(input));
                    }
                }
                Ok(ended(root.to_string()))
            }
            Syntax::Toml => {
                let mut document: DocumentMut = text.parse()?;
                let list = document.entry(servers).or_insert_with(|| {
                    let mut list = Table::new();
                    list.set_implicit(true);
                    Item::Table(list)
                });
                let list = list.as_table_like_mut().ok_or_else(|| no_table(servers))?;
                let table = table(server);
                if list.get(self.name).is_none_or(|there| there.to_string().trim() != table.to_string().trim()) {
                    list.insert(self.name, Item::Table(table));
                }
                Ok(document.to_string())
            }
        }
    }

    /// The text without it.
    pub(super) fn removed_from(&self, text: &str) -> Result<String, DocumentError> {
        let ServerSettings { servers, .. } = self.settings;
        match self.syntax {
            Syntax::Json => {
                let root = json(text)?;
                let Some(top) = root.object_value() else { return Ok(text.to_owned()) };
                let there = top.object_value(servers).and_then(|list| list.get(self.name));
                let Some(there) = there else { return Ok(text.to_owned()) };
                there.remove();
                if !root.to_string().contains(&format!("${{input:{TOKEN_INPUT}}}")) {
                    no_input(&top);
                }
                Ok(root.to_string())
            }
            Syntax::Toml => {
                let mut document: DocumentMut = text.parse()?;
                if let Some(list) = document.get_mut(servers).and_then(Item::as_table_like_mut) {
                    list.remove(self.name);
                }
                Ok(document.to_string())
            }
        }
    }
}

fn no_table(what: &str) -> DocumentError {
    DocumentError::NoTable(format!("`{what}`"))
}

fn json(text: &str) -> Result<CstRootNode, DocumentError> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    Ok(CstRootNode::parse(text, &options)?)
}

/// Sets a member of an object, which stays as it is written where it says the same.
fn put(list: &CstObject, name: &str, members: &Members) {
    let whole = Value::Object(members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect());
    match list.get(name) {
        Some(there) if there.to_serde_value() == Some(whole) => {}
        Some(there) => there.set_value(object(members)),
        None => _ = list.append(name, object(members)),
    }
}

fn object(members: &Members) -> CstInputValue {
    CstInputValue::Object(members.iter().map(|(name, member)| ((*name).to_owned(), value(member))).collect())
}

/// Takes out what asks for the token, which no server needs any more.
fn no_input(top: &CstObject) {
    let Some(inputs) = top.array_value("inputs") else { return };
    let asking = inputs_of(&inputs, TOKEN_INPUT);
    let is_all = asking.len() == inputs.elements().len();
    if !asking.is_empty() && is_all {
        if let Some(inputs) = top.get("inputs") {
            inputs.remove();
        }
        return;
    }
    asking.into_iter().for_each(CstNode::remove);
}

/// The inputs of this id.
fn inputs_of(inputs: &CstArray, id: &str) -> Vec<CstNode> {
    let is_meant = |node: &CstNode| node.to_serde_value().is_some_and(|input| input["id"] == id);
    inputs.elements().into_iter().filter(is_meant).collect()
}

fn value(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(self::value).collect()),
        Value::Object(values) => {
            CstInputValue::Object(values.iter().map(|(name, value)| (name.clone(), self::value(value))).collect())
        }
    }
}

/// Of a new file, whose last line ends as others do.
fn ended(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn table(members: &Members) -> Table {
    let mut table = Table::new();
    for (name, member) in members {
        table.insert(name, Item::Value(of_toml(member)));
    }
    table
}

fn of_toml(value: &Value) -> toml_edit::Value {
    match value {
        Value::Array(values) => values.iter().map(of_toml).collect::<toml_edit::Array>().into(),
        Value::Object(values) => values
            .iter()
            .map(|(name, value)| (name.as_str(), of_toml(value)))
            .collect::<toml_edit::InlineTable>()
            .into(),
        Value::String(text) => text.as_str().into(),
        Value::Bool(value) => (*value).into(),
        other => other.to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::client::{HostConnection, McpClient},
        *,
    };

    fn stdio() -> HostConnection {
        let arguments = ["serve", "--stdio", "--session", "new"].map(str::to_owned).to_vec();
        HostConnection::Stdio { command: "/opt/wharf".to_owned(), arguments }
    }

    fn http() -> HostConnection {
        HostConnection::Http { address: "http://127.0.0.1:8080/mcp".to_owned() }
    }

    fn added(client: McpClient, connection: &HostConnection, text: &str) -> String {
        let settings = client.settings(connection).expect("it has such servers");
        ServerEntry { name: "wharf", settings: &settings, syntax: client.syntax() }.added_to(text).expect(text)
    }

    fn removed(client: McpClient, text: &str) -> String {
        let settings = client.settings(&stdio()).expect("it has such servers");
        ServerEntry { name: "wharf", settings: &settings, syntax: client.syntax() }.removed_from(text).expect(text)
    }

    #[test]
    fn each_client_gets_a_server_in_its_own_words() {
        let mut told = String::new();
        for client in <McpClient as clap::ValueEnum>::value_variants() {
            told.push_str(&format!("{}\n{}", client.title(), added(*client, &stdio(), "")));
            match client.settings(&http()) {
                Ok(_) => told.push_str(&added(*client, &http(), "")),
                Err(why) => told.push_str(&format!("{why}\n")),
            }
        }
        insta::assert_snapshot!("clients", told);
    }

    #[test]
    fn comments_and_all_other_settings_stay_as_they_are_and_come_back_to_it() {
        let written = "{\n    // mine\n    \"theme\": \"dark\", /* as it is */\n    \"context_servers\": {\n        \
                       \"other\": {\"command\": \"x\"}, // kept\n    },\n}\n";
        let with = added(McpClient::Zed, &stdio(), written);
        for kept in ["    // mine\n", "/* as it is */", "\"other\": {\"command\": \"x\"}, // kept"] {
            assert!(with.contains(kept), "{kept}: {with}");
        }
        assert_eq!(added(McpClient::Zed, &stdio(), &with), with, "nothing changes a second time");
        assert_eq!(removed(McpClient::Zed, &with), written);
        assert_eq!(removed(McpClient::Zed, written), written);

        let written = "# mine\nmodel = \"x\" # kept\n\n[mcp_servers.other]\ncommand = \"x\"\n";
        let with = added(McpClient::Codex, &stdio(), written);
        assert!(with.starts_with(written) && with.contains("[mcp_servers.wharf]\n"), "{with}");
        assert_eq!(added(McpClient::Codex, &stdio(), &with), with);
        assert_eq!(removed(McpClient::Codex, &with).trim_end(), written.trim_end());
    }

    #[test]
    fn an_earlier_server_of_the_name_is_replaced() {
        let with = added(McpClient::Cursor, &stdio(), &added(McpClient::Cursor, &http(), ""));
        let read: Value = serde_json::from_str(&with).expect("JSON");
        let expected = serde_json::json!({"mcpServers": {"wharf": {
            "command": "/opt/wharf", "args": ["serve", "--stdio", "--session", "new"]}}});
        assert_eq!(read, expected);
        let with = added(McpClient::Codex, &stdio(), &added(McpClient::Codex, &http(), ""));
        assert!(!with.contains("url") && with.matches("[mcp_servers.wharf]").count() == 1, "{with}");
    }

    #[test]
    fn what_asks_for_the_token_goes_with_the_last_server_that_needs_it() {
        let written = "{\"servers\": {\"mine\": {\"headers\": {\"A\": \"${input:wharf-token}\"}}}}";
        let with = added(McpClient::Vscode, &http(), &added(McpClient::Vscode, &http(), written));
        assert_eq!(with.matches("promptString").count(), 1, "{with}");
        assert_eq!(removed(McpClient::Vscode, &with).matches("promptString").count(), 1, "another one needs it");
        let alone = added(McpClient::Vscode, &http(), "{\"inputs\": [{\"id\": \"other\"}]}");
        let rest: Value = serde_json::from_str(&removed(McpClient::Vscode, &alone)).expect("JSON");
        assert_eq!(rest, serde_json::json!({"inputs": [{"id": "other"}], "servers": {}}));
        let rest: Value =
            serde_json::from_str(&removed(McpClient::Vscode, &added(McpClient::Vscode, &http(), ""))).expect("JSON");
        assert_eq!(rest, serde_json::json!({"servers": {}}));
    }

    #[test]
    fn what_is_no_such_file_is_refused_and_says_where() {
        let settings = McpClient::Cursor.settings(&stdio()).expect("it has such servers");
        let entry = ServerEntry { name: "wharf", settings: &settings, syntax: Syntax::Json };
        for text in ["[]", "{\"mcpServers\": []}", "{", "{\"a\" 1}", "{'a': 1}"] {
            assert!(entry.added_to(text).is_err(), "{text}");
        }
        let told = entry.added_to("{\"mcpServers\": 3}").expect_err("no object").to_string();
        assert!(told.contains("`mcpServers`"), "{told}");
        let entry = ServerEntry { name: "wharf", settings: &settings, syntax: Syntax::Toml };
        assert!(entry.added_to("mcpServers = 3").is_err() && entry.added_to("= 3").is_err());
    }
}
