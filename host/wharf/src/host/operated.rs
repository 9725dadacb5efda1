//! What the operator's ways in need of a host, over HTTP and over its socket.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use chrono::SecondsFormat;
use wharf_core::service::{
    MetricsService,
    operator::{ConfigurationService, HostReport},
};
use wharf_webview::WebViews;
use wharf_workspace::Workspaces;

use super::Host;
use crate::{Configuration, clustered::Clustered, recorder::Recorder, running_calls::RunningCalls};

/// Makes an address of the console that signs in once.
pub(crate) type MakeLink = Box<dyn Fn() -> io::Result<String> + Send + Sync>;

impl Host {
    /// The web pages of this host, where it has any.
    pub(crate) fn webviews(&self) -> Option<&WebViews> {
        self.shared.backends.webviews.as_ref().ok()
    }

    pub(crate) fn clustered(&self) -> &Clustered {
        &self.shared.clustered
    }

    /// The files of sessions, where it keeps any.
    pub(crate) fn workspaces(&self) -> Option<&Arc<Workspaces>> {
        self.shared.backends.workspaces.as_ref()
    }

    pub(crate) fn set_control_directory(&self, directory: &Path) {
        *self.shared.control.lock() = Some(directory.to_owned());
    }

    pub(crate) fn control_directory(&self) -> Option<PathBuf> {
        self.shared.control.lock().clone()
    }

    pub(crate) fn set_console(&self, make: Option<MakeLink>) {
        *self.shared.console.lock() = make;
    }

    /// An address of the console that signs in once, within five minutes; nothing where it is not served.
    ///
    /// # Errors
    /// Where the system has no randomness.
    #[must_use]
    pub fn console_link(&self) -> Option<io::Result<String>> {
        self.shared.console.lock().as_ref().map(|make| make())
    }

    /// Has the operator's routes change the configuration by this service. Without one they refuse to.
    pub fn serve_configuration(&self, service: Arc<dyn ConfigurationService>) {
        *self.shared.configuring.lock() = Some(service);
    }

    pub(crate) fn configuration_service(&self) -> Option<Arc<dyn ConfigurationService>> {
        self.shared.configuring.lock().clone()
    }

    /// The calls that run now.
    pub(crate) fn running_calls(&self) -> &RunningCalls {
        &self.shared.running_calls
    }

    /// Where the lines of its audit are, where they are in files.
    pub(crate) fn audit_lines(&self) -> Option<PathBuf> {
        self.shared.audit_lines.clone()
    }

    /// The configuration of what it keeps and the data directory, where it keeps anything.
    pub(crate) fn kept(&self) -> Option<(Arc<Configuration>, PathBuf)> {
        let sources = &self.shared.sources;
        Some((sources.configuration(), sources.data()?.to_owned()))
    }

    /// How it is, for its operator.
    pub(crate) fn recorder(&self) -> &Recorder {
        &self.shared.recorder
    }

    pub(crate) fn host_report(&self) -> HostReport {
        let opened = self.shared.opened.to_rfc3339_opts(SecondsFormat::Millis, true);
        let mut report = HostReport::new(env!("CARGO_PKG_VERSION"), opened);
        (report.calls_running, report.calls_waiting) = self.load();
        (report.calls_ended, report.calls_failed) = self.shared.recorder.ended();
        report.durations = self.shared.recorder.durations();
        let configuration = self.shared.sources.configuration();
        report.name = configuration.cluster.as_ref().and_then(|cluster| cluster.host.clone());
        report.trace_page = configuration.traces.page.clone();
        report.things_running = self.running() as u64;
        report.approvals_waiting = self.shared.approvals.waiting().len() as u64;
        report.denials = self.denials().values().sum();
        report
    }
}

impl MetricsService for Host {
    fn metrics(&self) -> String {
        Self::metrics(self)
    }

    fn is_ready(&self) -> bool {
        Self::is_ready(self)
    }
}
