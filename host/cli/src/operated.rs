//! Tells the audit what commands do to a data directory beside its hosts.

use std::path::Path;

use wharf::{Configuration, audit, text, with_causes};

/// What was done is done, so that no line can be written is told and fails nothing.
pub(crate) fn tell(configuration: &Configuration, data: &Path, word: &'static str, to: &str) {
    if let Err(error) = audit::tell_operated(configuration, data, word, to) {
        eprintln!("note: no line of the audit tells of this: {}", text::line(&with_causes(&error), 512));
    }
}

/// The same with what the configuration of a command says.
pub(crate) fn tell_of(global: &crate::global::Global, word: &'static str, to: &str) -> anyhow::Result<()> {
    let configuration = global.configuration()?;
    tell(&configuration, &global.data(&configuration)?, word, to);
    Ok(())
}
