//! `wharf grant`: what a plugin asks for, in plain words, and the operator's
//! answer, written into `wharf.toml`.
//!
//! Reads a component and a file of configuration, and changes the latter; no
//! host and no channel of an agent leads here.

mod choice;
mod operated;
mod policy;
mod subject;
mod words;

use std::{
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
    process::ExitCode,
    rc::Rc,
};

use anyhow::Result;
use clap::Args;
use wharf::{
    Configuration, PluginName,
    grant::{Capability, Expiry},
    with_causes,
};

use self::{
    choice::{Allow, Questions},
    policy::{
        Policy,
        translation::{Present, Told, Translation},
    },
    subject::{Subject, SubjectSource, Wanted},
};
use crate::{
    cluster_shelf::ClusterShelf,
    configuration_edit::{ConfigurationEdit, EditError, GrantChange, PinChoice},
    exit::Unusable,
    global::Global,
    hosts::HostAnswers,
    profile::ProfileChoice,
};

/// Show what a plugin asks for and what it could do with it, and grant it or not
///
/// On a terminal it asks for each capability. With flags it asks nothing and is
/// for scripts. What is granted stands in the configuration afterwards, for the
/// component that was looked at: one that changes loses its grants until
/// --confirm, except with `pin = "none"`.
///
/// Where the configuration names a cluster, it is written for all its hosts, which take it
/// within seconds; a plugin with a table in the wharf.toml of this host is granted there.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wharf grant greeter.wasm               look at a component, and decide
  wharf grant --functions foreign.wasm --allow http='https://example.com/*' --reason 'looks things up'
                                         the same of a component whose functions are tools
  wharf grant greeter --allow state --reason 'counts visits' --expires 2027-01-31
  wharf grant builder --allow process=git,make --allow process.network --reason 'builds'
  wharf grant reader --allow webview=https://example.com --reason 'looks things up' --dry-run
  wharf grant weather --from policy.yaml --dry-run
                                         what another tool server allowed it, as far as it can be said here
  wharf grant greeter --pin signer       whatever its signer signs next keeps the grants
  wharf grant greeter --confirm          its component has changed, and may keep its grants
  wharf grant greeter --revoke all")]
pub(super) struct GrantArguments {
    /// A plugin by its name, or the file of a component
    plugin: String,

    /// Name under which the file is installed [default: made of the file's name]
    #[arg(long, value_name = "NAME")]
    name: Option<PluginName>,

    /// Have each function that the file exports be a tool: a component that knows nothing of wharf
    #[arg(long)]
    functions: bool,

    /// Grant a capability: alone, with a list (`process=git,make`), or a key of its table (`process.shell`, `webview.maximum_pages=2`)
    #[arg(long, value_name = "CAPABILITY[.KEY][=VALUE]")]
    allow: Vec<Allow>,

    /// Grant what this profile allows of what the plugin asks for
    #[arg(long, value_enum, value_name = "PROFILE", conflicts_with = "allow")]
    from_profile: Option<ProfileChoice>,

    /// Grant what this policy allows: the permissions that another Wasm tool server keeps (YAML, MCP policy 1.x)
    ///
    /// Each rule is told with what becomes of it. Nothing is granted that the policy does
    /// not allow: a rule is left out where the nearest grant is wider. Its description is
    /// the reason, where --reason gives none.
    #[arg(long, value_name = "POLICY", conflicts_with_all = ["allow", "from_profile"])]
    from: Option<PathBuf>,

    /// Why, for later readers of the configuration
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,

    /// Until when what is allowed now holds: a day, or a time with its zone
    #[arg(long, value_name = "WHEN")]
    expires: Option<Expiry>,

    /// Take a capability back, or `all`
    #[arg(long, value_name = "CAPABILITY", value_parser = revocation)]
    revoke: Vec<Revocation>,

    /// Accept the component as it is now
    #[arg(long)]
    confirm: bool,

    /// To what the grants are bound: to this component (`digest`), or to whatever is signed by the one who signed it
    /// (`signer`), so that its updates keep them
    #[arg(long, value_name = "WHAT")]
    pin: Option<PinChoice>,

    /// Print the change and write nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) use operated::Configuring;

/// What is taken back; all where nothing is named.
#[derive(Debug, Clone, Copy)]
struct Revocation(Option<Capability>);

fn revocation(word: &str) -> Result<Revocation, String> {
    if word == "all" { Ok(Revocation(None)) } else { choice::capability(word).map(|one| Revocation(Some(one))) }
}

impl GrantArguments {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let Written { target, data, shelf, configuration } = Written::of(global)?;
        let policy = self.from.as_deref().map(Policy::read).transpose();
        let policy = policy.map_err(|error| Unusable(with_causes(&error)))?;
        let wanted = Wanted { plugin: &self.plugin, name: self.name.as_ref(), functions: self.functions };
        let subject = Subject::find(&wanted, &configuration, (&data, global.progress()))?;
        subject.describe(self.confirms());
        let edit = ConfigurationEdit::of_plugin(&subject.name, &target, shelf.as_ref());
        let mut edit = edit.map_err(unusable)?;
        let (mut confirm, mut grantings, mut memory_bytes) = (self.confirms(), Vec::new(), None);
        if let Some(policy) = &policy {
            let translation = self.translated(policy, &subject, &configuration);
            subject.note_unasked(translation.grantings.iter().map(|granting| granting.capability));
            (grantings, memory_bytes) = (translation.grantings, translation.memory_bytes);
        } else if self.is_told() {
            grantings = self.told(&subject)?;
        } else if io::stdin().is_terminal() {
            let mut questions = Questions { input: io::stdin().lock(), output: io::stdout() };
            println!();
            if subject.withheld.is_some() {
                confirm = questions.yes("Is this the component that you want to have these grants?")?;
            }
            if confirm || subject.withheld.is_none() {
                grantings = questions.grants(&subject.missing())?;
            }
        } else {
            println!("\nTo grant something without a terminal: --allow CAPABILITY --reason \"…\", or --from-profile.");
            return Ok(ExitCode::SUCCESS);
        }
        if (!grantings.is_empty() || memory_bytes.is_some()) && subject.withheld.is_some() && !confirm {
            let problem = "nothing is granted to a component that changed: look at it, and add --confirm to accept it";
            return Err(Unusable(problem.to_owned()).into());
        }
        self.change(&mut edit, &subject, (&grantings, memory_bytes), confirm)?;
        self.conclude(&edit, &subject.name, &data)
    }

    fn is_told(&self) -> bool {
        let Self { allow, from_profile, revoke, .. } = self;
        !allow.is_empty() || from_profile.is_some() || !revoke.is_empty() || self.confirms()
    }

    /// Whether the component as it is now is accepted: who says to what the grants are bound does that, too.
    fn confirms(&self) -> bool {
        self.confirm || self.pin.is_some()
    }

    /// What the flags grant.
    fn told(&self, subject: &Subject) -> Result<Vec<GrantChange>> {
        let mut allowed = self.allow.clone();
        if let Some(profile) = self.from_profile.map(Into::into) {
            let wanted = subject.wanted();
            allowed.extend(wanted.into_iter().flat_map(|capability| choice::by_profile(profile, capability)));
        }
        if allowed.is_empty() {
            return Ok(Vec::new());
        }
        subject.note_unasked(allowed.iter().map(|allow| allow.capability));
        choice::by_flags(&allowed, self.reason.as_deref(), self.expires.as_ref())
    }

    /// What a policy comes to for this plugin, told as well.
    fn translated(&self, policy: &Policy, subject: &Subject, configuration: &Configuration) -> Translation {
        let reason = self.reason.clone().filter(|reason| !reason.trim().is_empty());
        let reason = reason.or_else(|| policy.description()).unwrap_or_else(|| "as its policy allows".to_owned());
        let memory_bytes = configuration.settings_of(&subject.name).limits.memory_bytes;
        let present = Present { name: &subject.name, grants: subject.known(), memory_bytes };
        let translation = Translation::of(policy, &present, &reason, self.expires.as_ref());
        let description = policy.description().map(|description| format!(": {description}")).unwrap_or_default();
        println!("\nIts policy, version {}{description}", policy.version());
        for (what, told) in [("Taken over", &translation.granted), ("Not taken over", &translation.refused)] {
            println!("\n{what} ({})", told.len());
            for Told { rule, words } in told {
                println!("  {rule}\n    {words}");
            }
        }
        translation
    }

    fn change(
        &self,
        edit: &mut ConfigurationEdit,
        subject: &Subject,
        (grantings, memory_bytes): (&[GrantChange], Option<u64>),
        confirm: bool,
    ) -> Result<()> {
        let Subject { name, is_written, source, granted, .. } = subject;
        let is_bundled = matches!(source, SubjectSource::Bundled);
        if confirm && is_bundled {
            return Err(Unusable(format!("plugin `{name}` is part of this binary; there is nothing to confirm")).into());
        }
        if grantings.is_empty() && memory_bytes.is_none() && self.revoke.is_empty() && !confirm {
            return Ok(());
        }
        if let (SubjectSource::File(file), false) = (source, is_written) {
            edit.source(name, file).map_err(unusable)?;
        }
        if self.functions {
            edit.functions(name).map_err(unusable)?;
        }
        if is_bundled {
            edit.write_down(name, granted).map_err(unusable)?;
        }
        for Revocation(capability) in &self.revoke {
            if !edit.revoke(name, *capability).map_err(unusable)? {
                eprintln!("note: {} was not granted", capability.map_or("anything", Capability::as_str));
            }
        }
        for granting in grantings {
            edit.grant(name, granting).map_err(unusable)?;
        }
        if let Some(limit) = memory_bytes {
            edit.limit(name, "memory_bytes", limit).map_err(unusable)?;
        }
        // Grants are for the component that was looked at.
        if !is_bundled && (confirm || !grantings.is_empty()) {
            edit.confirm(name, &subject.settings, subject.component(), self.pin).map_err(unusable)?;
        }
        Ok(())
    }

    fn conclude(&self, edit: &ConfigurationEdit, name: &PluginName, data: &Path) -> Result<ExitCode> {
        if edit.text() == edit.before() {
            println!("\nNothing changes.");
            return Ok(ExitCode::SUCCESS);
        }
        edit.check().map_err(unusable)?;
        let place = edit.place();
        println!("\n{}", difference(edit));
        if self.dry_run {
            println!("Nothing was written (--dry-run).");
            return Ok(ExitCode::SUCCESS);
        }
        edit.save().map_err(unusable)?;
        println!("Written to {place}.");
        let hosts = HostAnswers::reload(data)?;
        hosts.print_problems();
        if hosts.is_empty() {
            println!("No host serves on this data directory; the next one takes it.");
        }
        for plugin in hosts.of(name) {
            let granted = plugin["grants"].as_array().map(Vec::as_slice).unwrap_or_default();
            let granted: Vec<_> = granted.iter().filter_map(serde_json::Value::as_str).collect();
            let granted = if granted.is_empty() { "nothing".to_owned() } else { granted.join(", ") };
            println!("A running host has taken it: {name} may use {granted}.");
        }
        Ok(hosts.code())
    }
}

/// What is written of plugins, and where.
struct Written {
    /// The file, which may not be there.
    target: PathBuf,
    data: PathBuf,
    shelf: Option<Rc<ClusterShelf>>,
    /// What it amounts to.
    configuration: Configuration,
}

impl Written {
    fn of(global: &Global) -> Result<Self> {
        let target = global.configuration_target()?;
        // The first grant makes the file. What the environment and options say
        // beside it is not what stands there, and is not written down.
        let read = |path: &Path| Configuration::read(path).map_err(|error| Unusable(with_causes(&error)));
        let own = if target.exists() { read(&target)? } else { Configuration::default() };
        let data = global.data(&own)?;
        let shelf = own.cluster.is_some().then(|| ClusterShelf::open(&own, &data).map(Rc::new)).transpose()?;
        let configuration = own.as_of_cluster(&data).map_err(|error| Unusable(with_causes(&error)))?;
        Ok(Self { target, data, shelf, configuration })
    }
}

/// The lines that change, as a unified difference.
fn difference(edit: &ConfigurationEdit) -> String {
    let after = edit.text();
    let difference = similar::TextDiff::from_lines(edit.before(), &after);
    difference.unified_diff().context_radius(2).header(&edit.place(), "changed").to_string()
}

fn unusable(error: EditError) -> Unusable {
    Unusable(with_causes(&error))
}
