//! Which lines are meant, and where they are read from.

use std::time::{Duration, SystemTime};

use anyhow::Result;
use chrono::DateTime;
use clap::Args;
use wharf::audit::{AuditFilter, AuditReadError, AuditReader, directory, stamp};

use crate::{exit::Unusable, global::Global};

/// The words of `--kind`.
const KINDS: [&str; 10] =
    ["call", "offer", "host-call", "denied", "approval", "change", "operator", "authentication", "limited", "dropped"];

/// Which lines are meant. Without any of these: all of them.
#[derive(Debug, Args)]
pub(super) struct Filters {
    /// Only those of this plugin; `app` for tools of an embedding app
    #[arg(long, value_name = "NAME")]
    plugin: Option<String>,

    /// Only those of calls of this tool: its own name, or PLUGIN__TOOL
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,

    /// Only those of this session
    #[arg(long, value_name = "NAME")]
    session: Option<String>,

    /// Only those of this tenant
    #[arg(long, value_name = "NAME")]
    tenant: Option<String>,

    /// Only what was asked of this interface, or of one function: `process`, `process.spawn`
    #[arg(long, value_name = "FUNCTION")]
    function: Option<String>,

    /// Only those that ended so: ok, tool-error, input-required, or a code such as limit
    #[arg(long, value_name = "WORD")]
    outcome: Option<String>,

    /// Only those of this kind: call, offer, host-call, denied, approval, change, operator, authentication, limited or
    /// dropped
    #[arg(long, value_name = "KIND", value_parser = KINDS)]
    kind: Option<String>,

    /// Only those of the call with this id
    #[arg(long, value_name = "ID")]
    id: Option<String>,

    /// Only those since then: 90s, 15m, 2h, 7d ago, or a time such as 2026-11-22T18:00:00Z
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<SystemTime>,

    /// Only those before then
    #[arg(long, value_name = "TIME", value_parser = time)]
    until: Option<SystemTime>,
}

impl Filters {
    pub(super) fn filter(&self) -> AuditFilter {
        AuditFilter {
            plugin: self.plugin.clone(),
            tool: self.tool.clone(),
            session: self.session.clone(),
            tenant: self.tenant.clone(),
            function: self.function.clone(),
            outcome: self.outcome.clone(),
            kind: self.kind.clone(),
            id: self.id.clone(),
            since: self.since.map(stamp),
            until: self.until.map(stamp),
        }
    }

    pub(super) fn reader(&self, global: &Global) -> Result<AuditReader> {
        let data = global.data(&global.configuration()?)?;
        Ok(AuditReader::new(&directory(&data), self.since))
    }
}

/// A time, or how long ago it was.
pub(super) fn time(written: &str) -> Result<SystemTime, String> {
    let wrong = || "write it like 15m, 2h, 7d or 2026-11-22T18:00:00Z".to_owned();
    if let Ok(time) = DateTime::parse_from_rfc3339(written) {
        return Ok(time.into());
    }
    let unit = written.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        _ => return Err(wrong()),
    };
    let count: u64 = written[..written.len() - unit.len_utf8()].parse().map_err(|_| wrong())?;
    let ago = count.checked_mul(seconds).map(Duration::from_secs).ok_or_else(wrong)?;
    // Longer ago than there are times is since ever.
    Ok(SystemTime::now()
        .checked_sub(ago)
        .filter(|then| *then > SystemTime::UNIX_EPOCH)
        .unwrap_or(SystemTime::UNIX_EPOCH))
}

pub(super) fn unreadable(error: &AuditReadError) -> anyhow::Error {
    Unusable(wharf::with_causes(error)).into()
}

/// Says on standard error what was not read.
pub(super) fn tell_skipped(skipped: u64) {
    if skipped > 0 {
        eprintln!("{skipped} damaged line(s) were skipped; a host that was killed leaves one");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_as_such_or_as_how_long_ago_it_was() {
        let at = time("2026-11-22T18:00:00Z").expect("a time");
        assert_eq!(stamp(at), "2026-11-22T18:00:00.000Z");
        let then = time("2h").expect("a time");
        let ago = SystemTime::now().duration_since(then).expect("past");
        assert!((7_200..7_300).contains(&ago.as_secs()), "{ago:?}");
        assert_eq!(time("99999999d"), Ok(SystemTime::UNIX_EPOCH));
        for wrong in ["", "h", "2", "-2h", "2w", "1.5h", "99999999999999999999d", "é", "yesterday"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
