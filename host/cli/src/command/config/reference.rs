//! The reference of `wharf.toml`, as the Markdown of the documentation, made of
//! its JSON Schema.
//!
//! Owns the form of the page. Knows no key: what the schema says is what the page says.

#[cfg(test)]
mod tests;

use std::{collections::VecDeque, fmt::Write as _};

use serde_json::{Map, Value};

const BEGINNING: &str = "\
# Reference of wharf.toml

Every table and key, with its type and default. Keys without a default may be left out, unless they are *required*. Sizes
are in bytes; the last word of a key names the unit of a time. This page is `wharf config schema --markdown`; a test keeps it so.
";

/// Tables of limits: they have a page of their own.
const LIMITS: [&str; 2] = ["limits", "ceilings"];

/// What stands for a name in the headings of tables that have names.
const NAMES: [(&str, &str); 5] =
    [("plugin", "NAME"), ("secrets", "SECRET"), ("tenant", "NAME"), ("session", "ID"), ("profile", "NAME")];

/// The page.
pub(super) fn markdown(schema: &Value) -> String {
    let mut page = String::from(BEGINNING);
    let reader = SchemaReader { definitions: &schema["definitions"] };
    // Tables in the order in which a reader meets them: each behind the one that names it.
    let mut tables =
        VecDeque::from([ReferenceTable { heading: "Top level".to_owned(), path: String::new(), of: schema }]);
    while let Some(table) = tables.pop_front() {
        let found = reader.show(&table, &mut page);
        for table in found.into_iter().rev() {
            tables.push_front(table);
        }
    }
    page
}

/// A table of the configuration file.
struct ReferenceTable<'s> {
    heading: String,
    /// What stands before its keys: `http.` for `[http]`.
    path: String,
    of: &'s Value,
}

/// Reads the tables out of a schema.
struct SchemaReader<'s> {
    definitions: &'s Value,
}

impl<'s> SchemaReader<'s> {
    /// Writes a table's keys; returns the tables in it.
    fn show(&self, table: &ReferenceTable<'s>, page: &mut String) -> Vec<ReferenceTable<'s>> {
        let required = table.of["required"].as_array();
        let is_required = |key: &str| required.is_some_and(|keys| keys.iter().any(|required| *required == key));
        let (mut rows, mut tables) = (String::new(), Vec::new());
        for (key, property) in members(table.of, "properties") {
            let path = format!("{}{key}", table.path);
            let meaning = self.meaning(property);
            if LIMITS.contains(&key.as_str()) {
                let _ = writeln!(rows, "| `{key}` | table |  | {meaning} See [Limits](limits.md). |");
                continue;
            }
            let inner = self.table(&path, key, property);
            let kind = match &inner {
                Some(inner) => format!("[table](#{})", anchor(&inner.heading)),
                None => self.kind(property),
            };
            let default = if is_required(key) { "*required*".to_owned() } else { default(property) };
            let _ = writeln!(rows, "| `{key}` | {kind} | {default} | {meaning} |");
            tables.extend(inner);
        }
        if !rows.is_empty() {
            let heading = &table.heading;
            let _ = write!(page, "\n## {heading}\n\n| key | type | default | meaning |\n|---|---|---|---|\n{rows}");
        }
        tables
    }

    /// The table that a property is, where it is one with keys that are known.
    fn table(&self, path: &str, key: &str, property: &'s Value) -> Option<ReferenceTable<'s>> {
        let property = self.resolved(property);
        let name = NAMES.iter().find(|(known, _)| *known == key).map_or("NAME", |(_, name)| *name);
        let (path, of, several) = if let Some(items) = property.get("items") {
            (path.to_owned(), self.resolved(items), true)
        } else if let Some((_, of)) = members(property, "patternProperties").next() {
            (format!("{path}.{name}"), self.resolved(of), false)
        } else if property["additionalProperties"].is_object() {
            (format!("{path}.{name}"), self.resolved(&property["additionalProperties"]), false)
        } else {
            (path.to_owned(), property, false)
        };
        of.get("properties")?;
        let heading = if several { format!("`[[{path}]]`") } else { format!("`[{path}]`") };
        Some(ReferenceTable { heading, path: format!("{path}."), of })
    }

    /// What a property is, behind references and what may be absent.
    fn resolved(&self, property: &'s Value) -> &'s Value {
        let mut property = property;
        loop {
            let wrapped = ["allOf", "anyOf"]
                .iter()
                .find_map(|several| property[*several].as_array()?.iter().find(|choice| choice["type"] != "null"));
            let named = property["$ref"].as_str().and_then(|name| self.definitions.get(name.rsplit('/').next()?));
            match wrapped.or(named) {
                Some(inner) => property = inner,
                None => return property,
            }
        }
    }

    /// The schemas of a property that may be one thing or another; none of any other one.
    fn alternatives(&self, property: &'s Value) -> Vec<&'s Value> {
        let named = property["$ref"].as_str().and_then(|name| self.definitions.get(name.rsplit('/').next()?));
        if let Some(named) = named {
            return self.alternatives(named);
        }
        let choices = ["allOf", "anyOf"].iter().flat_map(|several| property[*several].as_array().into_iter().flatten());
        let choices: Vec<_> = choices.filter(|choice| choice["type"] != "null").collect();
        if let [only] = choices[..] { self.alternatives(only) } else { choices }
    }

    /// The type, or the values that there are.
    fn kind(&self, property: &'s Value) -> String {
        let alternatives = self.alternatives(property);
        if !alternatives.is_empty() {
            return alternatives.into_iter().map(|choice| self.kind(choice)).collect::<Vec<_>>().join(" or ");
        }
        let property = self.resolved(property);
        let choices = property["oneOf"].as_array().into_iter().flatten().map(|choice| &choice["const"]);
        let choices: Vec<_> = choices.chain(property["enum"].as_array().into_iter().flatten()).collect();
        if !choices.is_empty() {
            return choices.into_iter().map(|choice| format!("`{choice}`")).collect::<Vec<_>>().join(", ");
        }
        if let Some(items) = property.get("items") {
            let kind = self.kind(items);
            return if kind.ends_with('`') { format!("list of {kind}") } else { format!("list of {kind}s") };
        }
        let kinds = property["type"].as_array().cloned().unwrap_or_else(|| vec![property["type"].clone()]);
        let kind = kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null");
        if kind == Some("object") { "table".to_owned() } else { kind.unwrap_or("any").to_owned() }
    }

    /// What a property is for, and each of its values.
    fn meaning(&self, property: &'s Value) -> String {
        let inner = self.resolved(property);
        let said = |property: &Value| property["description"].as_str().map(str::to_owned);
        let mut meaning = said(property).or_else(|| said(inner)).unwrap_or_default();
        let valued = inner.get("items").map_or(inner, |items| self.resolved(items));
        for choice in valued["oneOf"].as_array().into_iter().flatten() {
            if let (Some(value), Some(said)) = (choice["const"].as_str(), said(choice)) {
                let _ = write!(meaning, " `{value}`: {}.", said.trim_end_matches('.'));
            }
        }
        // A line of a table: no breaks, and no bar that would end a cell.
        meaning.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
    }
}

/// The anchor of a heading, as GitHub and mdBook make it.
fn anchor(heading: &str) -> String {
    heading
        .chars()
        .filter(|letter| letter.is_alphanumeric() || "-_".contains(*letter))
        .collect::<String>()
        .to_lowercase()
}

fn members<'s>(of: &'s Value, which: &str) -> impl Iterator<Item = (&'s String, &'s Value)> {
    of.get(which).and_then(Value::as_object).into_iter().flat_map(Map::iter)
}

/// The default as TOML writes it; nothing where it is absent.
fn default(property: &Value) -> String {
    match &property["default"] {
        Value::Null | Value::Object(_) => String::new(),
        default => format!("`{default}`"),
    }
}
