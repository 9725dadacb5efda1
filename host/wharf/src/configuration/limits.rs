//! Tables of limits as they are written: names and numbers.

use std::collections::BTreeMap;

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, json};
use wharf_core::{
    CallLimits, HostLimits, HttpLimits, ProcessLimits, RequestLimits, StreamLimits, TerminalLimits, WebViewLimits,
    limit::{InvalidLimit, LimitInfo},
};

/// A table of limits.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct WrittenLimits(BTreeMap<String, u64>);

impl WrittenLimits {
    /// Whether it says anything of this limit.
    pub(super) fn names(&self, limit: &str) -> bool {
        self.0.contains_key(limit)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sets each; `table` names the table in an error.
    pub(super) fn apply(
        &self,
        table: &str,
        mut set: impl FnMut(&str, u64) -> Result<(), InvalidLimit>,
    ) -> Result<(), String> {
        for (name, value) in &self.0 {
            set(name, *value).map_err(|error| format!("[{table}] {error}"))?;
        }
        Ok(())
    }

    /// The ceilings that `[ceilings]` sets, within the fixed ones.
    pub(super) fn ceilings(&self) -> Result<CallLimits, String> {
        let mut ceilings = CallLimits::ceilings();
        self.apply("ceilings", |name, value| ceilings.set(name, value))?;
        Ok(ceilings)
    }

    /// Sets the limits of calls that `table` names, none of them above the
    /// operator's ceilings.
    pub(super) fn apply_to_calls(
        &self,
        table: &str,
        limits: &mut CallLimits,
        ceilings: &CallLimits,
    ) -> Result<(), String> {
        self.apply(table, |name, value| limits.set(name, value))?;
        for (row, ceiling) in ceilings.values() {
            if let Some(value) = self.0.get(row.name).filter(|value| **value > ceiling) {
                let name = row.name;
                return Err(format!(
                    "[{table}] `{name}` is {value}, more than the {ceiling} that `{name}` under [ceilings] allows; \
                     lower it, or raise the ceiling"
                ));
            }
        }
        Ok(())
    }
}

/// The schema of a table of limits: each row with its range.
fn table(rows: &[LimitInfo]) -> Schema {
    let properties: Map<_, _> = rows
        .iter()
        .map(|row| {
            let description = format!("{} Default {}.", row.description, row.default);
            let row_schema =
                json!({"type": "integer", "minimum": 1, "maximum": row.ceiling, "description": description});
            (row.name.to_owned(), row_schema)
        })
        .collect();
    json_schema!({"type": "object", "properties": properties, "additionalProperties": false})
}

pub(super) fn of_calls(_: &mut SchemaGenerator) -> Schema {
    table(CallLimits::TABLE)
}
pub(super) fn of_host(_: &mut SchemaGenerator) -> Schema {
    table(HostLimits::TABLE)
}
pub(super) fn of_processes(_: &mut SchemaGenerator) -> Schema {
    table(ProcessLimits::TABLE)
}
pub(super) fn of_terminals(_: &mut SchemaGenerator) -> Schema {
    table(TerminalLimits::TABLE)
}
pub(super) fn of_web_pages(_: &mut SchemaGenerator) -> Schema {
    table(WebViewLimits::TABLE)
}
pub(super) fn of_streams(_: &mut SchemaGenerator) -> Schema {
    table(StreamLimits::TABLE)
}
pub(super) fn of_requests(_: &mut SchemaGenerator) -> Schema {
    table(RequestLimits::TABLE)
}
pub(super) fn of_http(_: &mut SchemaGenerator) -> Schema {
    table(HttpLimits::TABLE)
}
