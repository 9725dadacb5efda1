//! What the operator changes of the configuration, by way of the program that has its file.

use std::sync::Arc;

use wharf_core::{
    Code, Error, PluginName,
    service::operator::{
        ChangeReport, ConfigurationChange, ConfigurationService, GrantsReport, PluginChange, PluginChangeReport,
    },
};

use super::blocking::blocking;
use crate::host::Host;

/// What a plugin may use, with what it was denied here.
pub(super) async fn grants(host: &Host, plugin: PluginName) -> Result<GrantsReport, Error> {
    let denials = host.denials();
    let of_plugin = plugin.clone();
    let mut report = by(host, move |service| service.grants(&of_plugin)).await?;
    for capability in &mut report.capabilities {
        let denied = denials.iter().filter(|((of, what), _)| *of == plugin && what.as_str() == capability.capability);
        capability.denials = denied.map(|(_, count)| count).sum();
    }
    Ok(report)
}

/// Makes a change, or says what it would come to.
pub(super) async fn change(host: &Host, change: ConfigurationChange, is_trial: bool) -> Result<ChangeReport, Error> {
    by(host, move |service| service.change(&change, is_trial)).await
}

/// Changes what is installed, or says what a change would bring.
pub(super) async fn install(host: &Host, change: PluginChange, is_trial: bool) -> Result<PluginChangeReport, Error> {
    by(host, move |service| service.install(&change, is_trial)).await
}

async fn by<T: Send + 'static>(
    host: &Host,
    ask: impl FnOnce(&dyn ConfigurationService) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let service: Arc<dyn ConfigurationService> = host.configuration_service().ok_or_else(|| {
        Error::new(Code::Unavailable, "the app that embeds this host keeps its configuration: change it there")
    })?;
    blocking(move || ask(&*service)).await?
}
