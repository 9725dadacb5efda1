//! What the doctor says of all that the configuration names, as `wharf config check` finds it.

use std::path::Path;

use wharf::{Configuration, ConfigurationFinding, ConfigurationPart, Host, OpenError};

use super::finding::{Finding, Level};

/// What is wrong, doubtful or worth knowing, without what the host itself says of it: `opened` is
/// the host, or why there is none.
pub(super) fn named(configuration: &Configuration, data: &Path, opened: Result<&Host, &OpenError>) -> Vec<Finding> {
    let report = configuration.check_named(data, |name| std::env::var(name).ok());
    let is_told = |finding: &ConfigurationFinding| match opened {
        Ok(host) => host.rejected().iter().any(|rejected| Some(&rejected.name) == finding.plugin.as_ref()),
        Err(error) => match finding.what {
            ConfigurationPart::Plugin => matches!(error, OpenError::Misspelt(_)),
            ConfigurationPart::Traces => matches!(error, OpenError::Traces(_)),
            ConfigurationPart::Audit => matches!(error, OpenError::AuditKey(_) | OpenError::AuditSyslog(_)),
            ConfigurationPart::State => error.is_of_database(),
            _ => false,
        },
    };
    let of = |level| {
        move |ConfigurationFinding { what, says, .. }: ConfigurationFinding| Finding {
            what: what.as_str(),
            level,
            says,
            advice: None,
        }
    };
    let problems = report.problems.into_iter().filter(|finding| !is_told(finding)).map(of(Level::Error));
    let warnings = report.warnings.into_iter().filter(|finding| !is_told(finding)).map(of(Level::Warning));
    problems.chain(warnings).chain(report.notes.into_iter().map(of(Level::Ok))).collect()
}
