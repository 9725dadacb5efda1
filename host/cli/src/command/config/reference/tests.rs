//! The page beside the schema: nothing is left out, and each key says what it is for.

use serde_json::json;
use wharf::Configuration;

use super::*;

/// The rows of a page, as cells.
fn rows(page: &str) -> impl Iterator<Item = Vec<&str>> {
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect())
}

#[test]
fn every_key_has_a_type_and_says_what_it_is_for() {
    let page = markdown(&Configuration::schema());
    assert!(rows(&page).count() > 100);
    for row in rows(&page) {
        assert!(row.len() == 4 && !row[1].is_empty() && row[1] != "any" && row[3].ends_with('.'), "{row:?}");
    }
}

#[test]
fn tables_with_names_lists_of_tables_and_optional_tables_have_headings() {
    let page = markdown(&Configuration::schema());
    for heading in [
        "## `[plugin.NAME]`",
        "## `[plugin.NAME.grants.http]`",
        "## `[plugin.NAME.secrets.SECRET]`",
        "## `[[http.tokens]]`",
        "## `[http.tls]`",
        "## `[process.polls.tenant.NAME.session.ID]`",
        "## `[terminal.profile.NAME.parameters]`",
    ] {
        assert_eq!(page.matches(&format!("{heading}\n")).count(), 1, "{heading}");
    }
}

#[test]
fn values_defaults_and_required_keys_are_written_as_in_a_file() {
    let schema = json!({
        "properties": {
            "mode": {
                "allOf": [{"$ref": "#/definitions/Mode"}], "default": "slow", "description": "How\nfast | how.",
            },
            "name": {"type": ["string", "null"], "description": "Whose."},
            "of": {"type": "array", "items": {"type": "integer"}, "default": [], "description": "Which."},
            "modes": {"type": "array", "items": {"$ref": "#/definitions/Mode"}, "description": "Those."},
            "inner": {"properties": {"a": {"type": "boolean", "description": "A."}}, "description": "More."},
            "limits": {"type": "object", "properties": {"a": {}}, "description": "Limits."},
        },
        "required": ["name"],
        "definitions": {"Mode": {"oneOf": [
            {"const": "slow", "description": "Less."}, {"const": "fast", "description": "More"},
        ]}},
    });
    let page = markdown(&schema);
    let (_, tables) = page.split_once("|---|---|---|---|\n").expect("a table");
    let (table, inner) = tables.split_once("\n\n").expect("a table in it");
    let expected = [
        "| `inner` | [table](#inner) |  | More. |",
        "| `limits` | table |  | Limits. See [Limits](limits.md). |",
        "| `mode` | `\"slow\"`, `\"fast\"` | `\"slow\"` | How fast \\| how. `slow`: Less. `fast`: More. |",
        "| `modes` | list of `\"slow\"`, `\"fast\"` |  | Those. `slow`: Less. `fast`: More. |",
        "| `name` | string | *required* | Whose. |",
        "| `of` | list of integers | `[]` | Which. |",
    ];
    assert_eq!(table.lines().collect::<Vec<_>>(), expected);
    assert!(inner.starts_with("## `[inner]`") && inner.ends_with("| `a` | boolean |  | A. |\n"), "{inner}");
}
