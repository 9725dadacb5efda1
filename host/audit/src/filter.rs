//! Which lines are wanted.

use crate::line::Entry;

/// What a line must say; what is absent matters to nobody.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The plugin.
    pub plugin: Option<String>,
    /// The tool's own name, or `PLUGIN__TOOL`.
    pub tool: Option<String>,
    /// The session.
    pub session: Option<String>,
    /// The tenant.
    pub tenant: Option<String>,
    /// `INTERFACE.FUNCTION` of a host call, or the interface alone.
    pub function: Option<String>,
    /// `ok`, `tool-error`, or the code of an error.
    pub outcome: Option<String>,
    /// `call`, `host-call`, `denied` and others.
    pub kind: Option<String>,
    /// The id of the call.
    pub id: Option<String>,
    /// At or after this time; see [`stamp`](crate::stamp).
    pub since: Option<String>,
    /// Before this time.
    pub until: Option<String>,
}

impl Filter {
    /// Whether this line is wanted.
    #[must_use]
    pub fn accepts(&self, entry: &Entry) -> bool {
        let same = |wanted: &Option<String>, is: &str| wanted.as_deref().is_none_or(|wanted| wanted == is);
        let tool = |wanted: &str| match wanted.split_once("__") {
            Some((plugin, tool)) => plugin == entry.plugin && tool == entry.tool,
            None => wanted == entry.tool,
        };
        let function = |wanted: &str| {
            let rest = entry.function.strip_prefix(wanted);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        same(&self.plugin, &entry.plugin)
            && same(&self.session, &entry.session)
            && same(&self.tenant, &entry.tenant)
            && same(&self.outcome, &entry.outcome)
            && same(&self.kind, &entry.kind)
            && same(&self.id, &entry.id)
            && self.tool.as_deref().is_none_or(tool)
            && self.function.as_deref().is_none_or(function)
            && self.since.as_deref().is_none_or(|since| entry.time.as_str() >= since)
            && self.until.as_deref().is_none_or(|until| entry.time.as_str() < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::{line, tests::record};

    fn accepts(filter: Filter) -> bool {
        let mut record = record("echo");
        record.function = Some("state.bucket.open".into());
        filter.accepts(&Entry::read(line(&record).as_bytes()).expect("a line"))
    }

    #[test]
    fn a_line_is_wanted_where_all_that_is_said_is_true_of_it() {
        let text = |text: &str| Some(text.to_owned());
        assert!(accepts(Filter::default()));
        assert!(accepts(Filter {
            plugin: text("echo"),
            tool: text("echo"),
            session: text("s-1"),
            ..Filter::default()
        }));
        assert!(!accepts(Filter { plugin: text("echo"), session: text("s-2"), ..Filter::default() }));
        assert!(accepts(Filter { tool: text("echo__echo"), ..Filter::default() }));
        assert!(!accepts(Filter { tool: text("other__echo"), ..Filter::default() }));
        assert!(accepts(Filter { function: text("state"), ..Filter::default() }));
        assert!(!accepts(Filter { function: text("stat"), ..Filter::default() }));
        assert!(accepts(Filter { since: text("2026-09-21T14:13:20.123Z"), ..Filter::default() }));
        assert!(!accepts(Filter { until: text("2026-09-21T14:13:20.123Z"), ..Filter::default() }));
    }
}
