//! Files, folders and variables that a configuration names: read as a host reads them.

use std::path::Path;

use wharf_core::grant::Capability;

use crate::{
    configuration::{Configuration, look_at_header, look_at_secret},
    configuration_report::finding::{ConfigurationPart as Part, ConfigurationReport},
};

impl Configuration {
    pub(super) fn check_files(
        &self,
        data: &Path,
        variable: impl Fn(&str) -> Option<String>,
        checked: &mut ConfigurationReport,
    ) {
        self.check_secrets(checked);
        let problems = &mut checked.problems;
        let tokens = self.http.tokens.iter().filter_map(|token| token.token(&variable).err());
        problems.extend(tokens.map(|error| Part::Token.says(error.to_string())));
        #[cfg(feature = "http")]
        self.check_own_tokens(data, checked);
        #[cfg(not(feature = "http"))]
        let _ = data;
        #[cfg(feature = "http")]
        super::tls::check(&self.http.tls, checked);
        let problems = &mut checked.problems;
        problems.extend(self.audit.signer().err().map(|error| Part::Audit.says(error.to_string())));
        let syslog = self.audit.syslog.as_ref().and_then(|syslog| syslog.check().err());
        problems.extend(syslog.map(|error| Part::Audit.says(error.to_string())));
        problems.extend(self.state.connection().err().map(|error| Part::State.says(error.to_string())));
        #[cfg(feature = "postgres")]
        problems.extend(crate::cluster::problems(self).into_iter().map(|problem| Part::Cluster.says(problem)));
        let headers = self.traces.headers.iter().filter_map(|header| look_at_header(header).err());
        problems.extend(headers.map(|error| Part::Traces.says(error.to_string())));
        self.check_browser(checked);
    }

    fn check_secrets(&self, checked: &mut ConfigurationReport) {
        for (name, settings) in self.plugins.iter().filter(|(_, settings)| settings.enabled) {
            let sends = self.grants(name, settings).names(Capability::Http);
            for secret in &settings.secrets {
                if let Err(error) = look_at_secret(name, secret) {
                    checked.problems.push(Part::Secret.of(name, error.to_string()));
                } else if !sends {
                    let says = format!(
                        "[plugin.{name}.secrets.{}] is never sent: the plugin may send no requests; grant them under \
                         [plugin.{name}.grants.http], or take the secret out",
                        secret.rule.name()
                    );
                    checked.warnings.push(Part::Secret.of(name, says));
                }
            }
        }
    }

    /// Tokens that a host has made here before: it reads them again.
    #[cfg(feature = "http")]
    fn check_own_tokens(&self, data: &Path, checked: &mut ConfigurationReport) {
        let default = self.http.tokens.is_empty() && self.http.oauth.is_none();
        let default = default.then_some("http-token");
        for file in default.into_iter().chain(["operator-token"]).map(|name| data.join(name)) {
            // One that is not there is made.
            if file.symlink_metadata().is_ok()
                && let Err(error) = crate::secret::read_token(&file)
            {
                let says = format!(
                    "{}: {error}; mend that, or move the file away: `wharf serve --http` makes another token",
                    file.display()
                );
                checked.problems.push(Part::Token.says(says));
            }
        }
    }

    fn check_browser(&self, checked: &mut ConfigurationReport) {
        let named = |path: &Path| path.components().count() > 1;
        if let Some(program) = self.webview.program.as_deref().filter(|program| named(program))
            && !program.is_file()
        {
            let says = format!("[webview] `program` {} is no file; name the program of a browser", program.display());
            checked.problems.push(Part::Browser.says(says));
        }
        if let Some(temporary) = self.webview.temporary.as_deref().filter(|temporary| !temporary.is_dir()) {
            let says = format!("[webview] `temporary` {} is no directory; make it", temporary.display());
            checked.problems.push(Part::Browser.says(says));
        }
    }
}
