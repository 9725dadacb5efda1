//! The certificate of `[http.tls]`: whether it can be used, and for how long yet.

use std::time::{Duration, SystemTime};

use chrono::{DateTime, Utc};

use crate::{
    configuration::TlsFiles,
    configuration_report::finding::{ConfigurationPart as Part, ConfigurationReport},
};

/// A certificate that is renewed by itself is renewed before this.
const RENEWAL: Duration = Duration::from_secs(14 * 24 * 60 * 60);

pub(super) fn check(files: &Option<TlsFiles>, checked: &mut ConfigurationReport) {
    let Some(files) = files else { return };
    let tls = match files.read() {
        Ok(tls) => tls,
        Err(error) => return checked.problems.push(Part::Tls.says(error.to_string())),
    };
    let Some(validity) = tls.validity() else { return };
    let says = |what: &str, time: SystemTime| {
        let time = DateTime::<Utc>::from(time).format("%Y-%m-%d %H:%M UTC");
        Part::Tls.says(format!("[http.tls] {}: {what} {time}", files.certificate.display()))
    };
    let now = SystemTime::now();
    let renew = "renew it, and start the host again";
    if validity.end <= now {
        let mut finding = says("it has expired at", validity.end);
        finding.says.push_str(&format!(", so clients refuse it; {renew}"));
        checked.problems.push(finding);
    } else if validity.start > now {
        let mut finding = says("it is not valid before", validity.start);
        finding.says.push_str(", so clients refuse it; set the clock, or name another certificate");
        checked.problems.push(finding);
    } else if validity.end < now + RENEWAL {
        let mut finding = says("it expires at", validity.end);
        finding.says.push_str(&format!("; {renew}"));
        checked.warnings.push(finding);
    }
}
