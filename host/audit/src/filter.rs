//! Selects lines by what they say.

use crate::AuditEntry;

/// The values that a line must have; an absent one matches every line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
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

impl AuditFilter {
    /// Whether this line has all given values.
    #[must_use]
    pub fn accepts(&self, entry: &AuditEntry) -> bool {
        let same = |given: &Option<String>, is: &str| given.as_deref().is_none_or(|given| given == is);
        let tool = |given: &str| match given.split_once("__") {
            Some((plugin, tool)) => plugin == entry.plugin && tool == entry.tool,
            None => given == entry.tool,
        };
        let function = |given: &str| {
            let rest = entry.function.strip_prefix(given);
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

    fn accepts(filter: AuditFilter) -> bool {
        let mut record = record("echo");
        record.function = Some("state.bucket.open".into());
        filter.accepts(&AuditEntry::read(line(&record).as_bytes()).expect("a line"))
    }

    #[test]
    fn a_line_is_wanted_where_all_that_is_said_is_true_of_it() {
        let text = |text: &str| Some(text.to_owned());
        assert!(accepts(AuditFilter::default()));
        assert!(accepts(AuditFilter {
            plugin: text("echo"),
            tool: text("echo"),
            session: text("s-1"),
            ..AuditFilter::default()
        }));
        assert!(!accepts(AuditFilter { plugin: text("echo"), session: text("s-2"), ..AuditFilter::default() }));
        assert!(accepts(AuditFilter { tool: text("echo__echo"), ..AuditFilter::default() }));
        assert!(!accepts(AuditFilter { tool: text("other__echo"), ..AuditFilter::default() }));
        assert!(accepts(AuditFilter { function: text("state"), ..AuditFilter::default() }));
        assert!(!accepts(AuditFilter { function: text("stat"), ..AuditFilter::default() }));
        assert!(accepts(AuditFilter { since: text("2026-09-21T14:13:20.123Z"), ..AuditFilter::default() }));
        assert!(!accepts(AuditFilter { until: text("2026-09-21T14:13:20.123Z"), ..AuditFilter::default() }));
    }
}
