//! What an operator's confirmation of a component writes: its digest, or the one who signed it.

use clap::ValueEnum;
use toml_edit::value;
use wharf::{
    PluginName,
    configuration::{Confirmed, KnownComponent, Pin, PluginSettings},
};

use super::{ConfigurationEdit, EditError, set};

/// To what grants are bound from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PinChoice {
    /// This component alone
    Digest,
    /// Whatever is signed by the one who signed this component
    Signer,
}

impl PinChoice {
    /// What the table of a plugin says where nothing is chosen.
    fn of(settings: &PluginSettings) -> Self {
        match (&settings.signer, settings.pin) {
            (None, _) | (_, Some(Pin::Digest)) => Self::Digest,
            (Some(_), _) => Self::Signer,
        }
    }
}

impl ConfigurationEdit {
    /// Binds the plugin's grants to a component, or to who signed it.
    ///
    /// # Errors
    /// [`EditError::Unsigned`]; as [`ConfigurationEdit::source`].
    pub(crate) fn confirm(
        &mut self,
        plugin: &PluginName,
        settings: &PluginSettings,
        component: KnownComponent<'_>,
        choice: Option<PinChoice>,
    ) -> Result<(), EditError> {
        match choice.unwrap_or_else(|| PinChoice::of(settings)) {
            PinChoice::Digest => {
                let table = self.plugin(plugin)?;
                set(table, "digest", value(component.digest.to_string()));
                // Else the signer would decide.
                if settings.signer.is_some() && settings.pin != Some(Pin::Digest) {
                    table.remove("signer");
                    if settings.pin == Some(Pin::Signer) {
                        table.remove("pin");
                    }
                }
            }
            PinChoice::Signer => {
                let signer = component.signer().ok_or_else(|| EditError::Unsigned { plugin: plugin.clone() })?;
                let table = self.plugin(plugin)?;
                // What the operator has widened stays.
                let is_confirmed =
                    settings.signer.clone().is_some_and(|pinned| Confirmed::Signer(pinned).is(component));
                if !is_confirmed {
                    set(table, "signer", value(signer.pinned().to_string()));
                }
                if !matches!(settings.pin, Some(Pin::Refuse)) {
                    set(table, "pin", value(Pin::Signer.as_str()));
                }
                table.remove("digest");
            }
        }
        Ok(())
    }
}
