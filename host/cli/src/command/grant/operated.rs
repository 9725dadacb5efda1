//! The operator's changes of the configuration and the plugins by the routes of a host: the same as by
//! `wharf grant`, `wharf approvals` and `wharf plugin`.

use anyhow::Result;
use parking_lot::Mutex;
use wharf::{
    Code, Error, PluginName,
    grant::{Capability, Expiry},
    service::operator::{
        CapabilityReport, ChangeReport, ConfigurationChange, ConfigurationService, GrantsReport, PluginChange,
        PluginChangeReport,
    },
};

use super::{GrantArguments, Revocation, Written, choice, difference, revocation, subject::Subject, unusable, words};
use crate::{
    command::plugin, configuration_edit::ConfigurationEdit, global::Global, hosts::HostAnswers,
    progress::ProgressDisplay,
};

/// Changes the configuration that this command was started with, and the plugins on its data directory.
pub(crate) struct Configuring {
    global: Global,
    /// Held while a plugin is fetched and compiled: one at a time, however often somebody asks.
    fetching: Mutex<()>,
}

impl ConfigurationService for Configuring {
    fn grants(&self, plugin: &PluginName) -> Result<GrantsReport, Error> {
        report(&self.subject(plugin)?).map_err(invalid)
    }

    fn change(&self, change: &ConfigurationChange, is_trial: bool) -> Result<ChangeReport, Error> {
        let written = Written::of(&self.global).map_err(invalid)?;
        let edit = match change {
            ConfigurationChange::Grant { plugin, allow, reason, expires } => {
                let allow = allow.iter().map(|one| one.parse()).collect::<Result<_, _>>().map_err(invalid)?;
                let expires = expires.as_deref().map(str::parse::<Expiry>).transpose().map_err(invalid)?;
                let asked = GrantArguments { allow, expires, ..GrantArguments::of(plugin) };
                self.edited(&written, GrantArguments { reason: Some(reason.clone()), ..asked })?
            }
            ConfigurationChange::Revoke { plugin, capability } => {
                let revoke = vec![revocation(capability).map_err(invalid)?];
                self.edited(&written, GrantArguments { revoke, ..GrantArguments::of(plugin) })?
            }
            ConfigurationChange::Confirm { plugin } => {
                self.edited(&written, GrantArguments { confirm: true, ..GrantArguments::of(plugin) })?
            }
            ConfigurationChange::AlwaysAllow { tool } => {
                let mut edit = ConfigurationEdit::open(&written.target).map_err(invalid_cause)?;
                edit.always_allow(tool).map_err(invalid_cause)?;
                edit
            }
            ConfigurationChange::AlwaysAllowAct(rule) => {
                let mut edit = ConfigurationEdit::open(&written.target).map_err(invalid_cause)?;
                edit.always_allow_act(rule).map_err(invalid_cause)?;
                edit
            }
        };
        self.conclude(&edit, &written, is_trial).map_err(invalid)
    }

    fn install(&self, change: &PluginChange, is_trial: bool) -> Result<PluginChangeReport, Error> {
        let Some(_alone) = self.fetching.try_lock() else {
            let busy = "another plugin is being fetched; try again when that is done";
            return Err(Error::retryable(Code::Unavailable, busy));
        };
        plugin::change_by_operator(&self.global, change, is_trial).map_err(invalid)
    }
}

impl GrantArguments {
    /// Of a plugin, and nothing of it yet.
    fn of(plugin: &str) -> Self {
        Self {
            plugin: plugin.to_owned(),
            name: None,
            functions: false,
            allow: Vec::new(),
            from_profile: None,
            from: None,
            reason: None,
            expires: None,
            revoke: Vec::new(),
            confirm: false,
            pin: None,
            dry_run: false,
        }
    }
}

impl Configuring {
    pub(crate) fn new(global: Global) -> Self {
        Self { global, fetching: Mutex::new(()) }
    }

    /// What a plugin is as this command was told to take what is written: what a bundled plugin has by
    /// the profile of this command stays what it has.
    fn subject(&self, plugin: &PluginName) -> Result<Subject, Error> {
        let Self { global, .. } = self;
        let configuration = global.configuration().map_err(invalid)?;
        let data = &global.data(&configuration).map_err(invalid)?;
        let configuration = &configuration.as_of_cluster(data).map_err(invalid_cause)?;
        let progress = ProgressDisplay::of_standard_error(true);
        let found = Subject::of_name(plugin, configuration, (data, progress)).map_err(invalid)?;
        found.ok_or_else(|| Error::new(Code::NotFound, format!("there is no plugin {plugin}")))
    }

    fn edited(&self, written: &Written, asked: GrantArguments) -> Result<ConfigurationEdit, Error> {
        let subject = self.subject(&asked.plugin.parse().map_err(invalid)?)?;
        let grantings = match asked.allow.is_empty() {
            true => Vec::new(),
            false => {
                choice::by_flags(&asked.allow, asked.reason.as_deref(), asked.expires.as_ref()).map_err(invalid)?
            }
        };
        if !grantings.is_empty() && subject.withheld.is_some() {
            let problem = "nothing is granted to a component that changed: look at it, and confirm it first";
            return Err(Error::new(Code::Invalid, problem));
        }
        for Revocation(capability) in &asked.revoke {
            if let Some(capability) = capability
                && !subject.known().names(*capability)
            {
                return Err(Error::new(Code::Invalid, format!("{capability} is not granted")));
            }
        }
        let edit = ConfigurationEdit::of_plugin(&subject.name, &written.target, written.shelf.as_ref());
        let mut edit = edit.map_err(invalid_cause)?;
        asked.change(&mut edit, &subject, (&grantings, None), asked.confirm).map_err(invalid)?;
        Ok(edit)
    }

    fn conclude(&self, edit: &ConfigurationEdit, written: &Written, is_trial: bool) -> Result<ChangeReport> {
        let (place, is_other) = (edit.place(), edit.text() != edit.before());
        edit.check().map_err(unusable)?;
        let difference = if is_other { difference(edit) } else { String::new() };
        let is_written = is_other && !is_trial;
        if is_written {
            edit.save().map_err(unusable)?;
            HostAnswers::reload(&written.data)?;
        }
        Ok(ChangeReport { place, difference, is_written })
    }
}

fn report(subject: &Subject) -> Result<GrantsReport> {
    let granted = serde_json::to_value(subject.known())?;
    let wanted = subject.wanted();
    let of = |capability: Capability| {
        let words = words::of(capability);
        CapabilityReport {
            capability: capability.as_str().to_owned(),
            can: words.can.to_owned(),
            risk: words.risk.to_owned(),
            is_wanted: wanted.contains(&capability),
            wanted_because: subject.inspection.reasons.get(&capability).cloned(),
            granted: granted.get(capability.as_str()).cloned(),
            denials: 0,
        }
    };
    Ok(GrantsReport {
        plugin: subject.name.to_string(),
        digest: subject.inspection.digest.to_string(),
        withheld: subject.withheld.clone(),
        capabilities: Capability::ALL.map(of).into(),
    })
}

fn invalid(error: impl std::fmt::Display) -> Error {
    Error::new(Code::Invalid, format!("{error:#}"))
}

fn invalid_cause(error: impl std::error::Error) -> Error {
    Error::new(Code::Invalid, wharf::with_causes(&error))
}
