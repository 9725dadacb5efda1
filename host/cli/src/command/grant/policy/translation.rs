//! What a policy comes to in grants, and in words what of it does not.
//!
//! Nothing is granted that the policy does not allow. Where the nearest grant of ours is
//! wider than a rule, the rule is told and not granted.

use wharf::{
    Grants, PluginName,
    grant::{Access, Capability, ExchangeFolder, Expiry},
};

use super::{
    Amount, DockerSettings, EnvironmentRules, NetworkRule, Permissions, Policy, ResourceLimits, Rules, RuntimeSettings,
    StorageRule, WasmSettings,
    network::{Denial, HostRule},
    storage::{self, StoragePlace},
};
use crate::{
    bytes::size,
    configuration_edit::{GrantChange, GrantValue},
};

/// Bytes of a rule that are shown.
const RULE_BYTES: usize = 160;
/// No memory is less than a page of Wasm.
const LEAST_MEMORY_BYTES: u64 = 64 << 10;

/// What the plugin has before.
pub(in super::super) struct Present<'p> {
    pub(in super::super) name: &'p PluginName,
    pub(in super::super) grants: &'p Grants,
    /// The limit of its memory.
    pub(in super::super) memory_bytes: u64,
}

/// A rule, or several of a kind, and what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Told {
    pub(in super::super) rule: String,
    pub(in super::super) words: String,
}

/// What a policy comes to.
#[derive(Debug, Default)]
pub(in super::super) struct Translation {
    /// What is written.
    pub(in super::super) grantings: Vec<GrantChange>,
    /// The limit of memory that is written.
    pub(in super::super) memory_bytes: Option<u64>,
    pub(in super::super) granted: Vec<Told>,
    pub(in super::super) refused: Vec<Told>,
}

impl Translation {
    /// Translates a policy. `reason` and `expires` are those of each grant.
    pub(in super::super) fn of(policy: &Policy, present: &Present<'_>, reason: &str, expires: Option<&Expiry>) -> Self {
        let mut translation = Self::default();
        let Some(Permissions { storage, network, environment, runtime, resources, ipc }) = policy.permissions() else {
            return translation;
        };
        let (mut workspace, mut requests) = (Vec::new(), Vec::new());
        if let Some(rules) = storage {
            workspace = translation.storage(rules, present);
        }
        if let Some(rules) = network {
            requests = translation.network(rules, present);
        }
        if let Some(rules) = environment {
            translation.environment(rules, present.name);
        }
        if let Some(runtime) = runtime {
            translation.runtime(runtime);
        }
        if let Some(limits) = resources {
            translation.resources(limits, present);
        }
        for (list, rules) in ipc.iter().flat_map(|rules| [("allow", rules.allow()), ("deny", rules.deny())]) {
            for rule in rules {
                let words = if list == "allow" { "no plugin talks to other processes" } else { NOTHING_TO_DENY };
                translation.refuse(&format!("ipc.{list}"), &rule.uri, words);
            }
        }
        let granting =
            |capability, keys| GrantChange { capability, reason: reason.to_owned(), expires: expires.cloned(), keys };
        if !workspace.is_empty() {
            translation.grantings.push(granting(Capability::Workspace, workspace));
        }
        if !requests.is_empty() {
            let requests = vec![("requests".to_owned(), GrantValue::Names(requests))];
            translation.grantings.push(granting(Capability::Http, requests));
        }
        translation
    }

    fn grant(&mut self, kind: &str, rule: &str, words: impl Into<String>) {
        self.granted.push(Told { rule: shown(kind, rule), words: words.into() });
    }

    fn refuse(&mut self, kind: &str, rule: &str, words: impl Into<String>) {
        self.refused.push(Told { rule: shown(kind, rule), words: words.into() });
    }

    /// The keys of the grant of files.
    fn storage(&mut self, rules: &Rules<StorageRule>, present: &Present<'_>) -> Vec<(String, GrantValue)> {
        const ALLOW: &str = "storage.allow";
        let (mut workspace, mut folders) = (None, Vec::new());
        for rule in rules.allow() {
            let denied = rules.deny().iter().any(|denied| storage::touches(denied, rule));
            let denied =
                if denied { Err("its `deny` names some of it, and a grant has no exceptions") } else { Ok(()) };
            let read = denied.and_then(|()| Ok((storage::place(&rule.uri)?, storage::access(&rule.access)?)));
            match read {
                Err(why) => self.refuse(ALLOW, &rule.uri, why),
                Ok((StoragePlace::Folder(path), access)) => folders.push((rule, path, access)),
                Ok((StoragePlace::Workspace, access)) => {
                    // The most that one of several rules allows.
                    if workspace != Some(Access::Write) {
                        workspace = Some(access);
                    }
                    let may = if access == Access::Write { "reads and writes" } else { "reads" };
                    let words = format!(
                        "it {may} the files of its session, as /workspace, in place of that server's folder; plugins of \
                         the session that have this grant share them"
                    );
                    self.grant(ALLOW, &rule.uri, words);
                }
            }
        }
        let had = present.grants.workspace.as_ref();
        let mut taken: Vec<ExchangeFolder> = had.map(|grant| grant.exchange.clone()).unwrap_or_default();
        let before = taken.len();
        for (rule, path, access) in folders {
            if workspace.is_none() && had.is_none() {
                let words = "a folder of the machine comes with the files of the session, which this policy does not \
                             allow (fs://workspace/**); grant it by hand as `exchange` of the workspace, if you mean it";
                self.refuse(ALLOW, &rule.uri, words);
                continue;
            }
            if let Some(known) = taken.iter().find(|known| known.path == path) {
                self.grant(ALLOW, &rule.uri, format!("it is there as /exchange/{} already, and stays so", known.name));
                continue;
            }
            let folder = storage::folder(path, access, &taken);
            let may = if access == Access::Write { "reads and writes" } else { "reads" };
            self.grant(ALLOW, &rule.uri, format!("it {may} the folder, as /exchange/{}", folder.name));
            taken.push(folder);
        }
        for rule in rules.deny() {
            self.refuse("storage.deny", &rule.uri, NOTHING_TO_DENY);
        }
        let mut keys = Vec::new();
        match (workspace, had.map(|grant| grant.access)) {
            // Not taken back, since the operator gave it.
            (Some(Access::Read), Some(Access::Write)) | (None, _) => {}
            (Some(access), _) => {
                keys.push(("access".to_owned(), GrantValue::Plain(format!("{:?}", access.as_str()))));
            }
        }
        let new = taken.split_off(before);
        if !new.is_empty() {
            keys.push(("exchange".to_owned(), GrantValue::Folders(new)));
        }
        keys
    }

    /// The requests that are granted.
    fn network(&mut self, rules: &Rules<NetworkRule>, present: &Present<'_>) -> Vec<String> {
        const ALLOW: &str = "network.allow";
        let reaches_private = present.grants.http.as_ref().is_some_and(|grant| grant.private_addresses);
        let denials: Vec<_> = rules.deny().iter().map(Denial::read).collect();
        let mut requests = Vec::new();
        for rule in rules.allow() {
            let NetworkRule { host: Some(host), .. } = rule else {
                let words = match rule.cidr {
                    Some(_) => "a grant names hosts, and no ranges of addresses",
                    None => {
                        "the default hosts are a list that is not in the policy and changes; name those that it needs"
                    }
                };
                self.refuse(ALLOW, &named(rule), words);
                continue;
            };
            let read = HostRule::read(host).and_then(|rule| {
                match denials.iter().find_map(|denial| denial.refuses(&rule)) {
                    Some(why) => Err(why),
                    // It would hold for these hosts, too.
                    None if reaches_private => {
                        Err("its grant of `http` has `private_addresses = true` already, which is \
                                                    more than the policy allows")
                    }
                    None => Ok(rule),
                }
            });
            match read {
                Ok(rule) => {
                    self.grant(ALLOW, host, format!("`{}`: {}", rule.request(), rule.words()));
                    requests.push(rule.request());
                }
                Err(why) => self.refuse(ALLOW, host, why),
            }
        }
        for (rule, denial) in rules.deny().iter().zip(&denials) {
            let words = match denial {
                Denial::Held => "no request reaches private addresses anyway",
                Denial::Hosts(_) | Denial::Any(_) => NOTHING_TO_DENY,
            };
            self.refuse("network.deny", &named(rule), words);
        }
        requests
    }

    fn environment(&mut self, rules: &EnvironmentRules, name: &PluginName) {
        for rule in rules.allow() {
            let words = format!(
                "no plugin sees variables of the host; the host itself adds a secret to requests \
                 ([plugin.{name}.secrets.NAME]), and what is no secret stands under [plugin.{name}.settings]"
            );
            self.refuse("environment.allow", &rule.key, words);
        }
    }

    fn runtime(&mut self, RuntimeSettings { docker, wasm, hyperlight }: &RuntimeSettings) {
        if let Some(DockerSettings { security }) = docker {
            let security = security.as_ref();
            let gives = security.and_then(|security| security.privileged) == Some(true)
                || security
                    .and_then(|security| security.capabilities.as_ref()?.add.as_ref())
                    .is_some_and(|add| !add.is_empty());
            let words = if gives {
                "a plugin is no container, and has no privileges of the system"
            } else {
                "a plugin is no container; it has less than one without privileges"
            };
            self.refuse("runtime", "docker", words);
        }
        if hyperlight.is_some() {
            self.refuse("runtime", "hyperlight", "Wharf runs components in its own engine");
        }
        let Some(WasmSettings { wasi, .. }) = wasm else { return };
        self.refuse("runtime", "wasm", "Wharf runs components in its own engine; the component is the one named here");
        let Some(wasi) = wasi else { return };
        if wasi.inherit_env == Some(true) {
            self.refuse("runtime.wasm.wasi", "inherit_env", "no plugin sees variables of the host");
        }
        if wasi.args.as_ref().is_some_and(|arguments| !arguments.is_empty()) {
            self.refuse("runtime.wasm.wasi", "args", "a plugin has no command line; it is called by its tools");
        }
        for preopen in wasi.preopens.iter().flatten() {
            let rule = format!("{} as {}", preopen.host_path, preopen.guest_path);
            let words = "folders are /workspace and /exchange/NAME, as far as `storage` allows them, wherever a policy \
                         would have them";
            self.refuse("runtime.wasm.wasi.preopens", &rule, words);
        }
    }

    fn resources(&mut self, ResourceLimits { cpu, memory, io, limits }: &ResourceLimits, present: &Present<'_>) {
        let quantity = limits.as_ref().and_then(|limits| limits.memory.as_ref());
        let wanted = match (quantity, memory) {
            (Some(amount), _) => Some(("resources.limits.memory", amount, quantity_bytes(amount))),
            (None, Some(amount)) => Some(("resources.memory", amount, megabytes(amount))),
            (None, None) => None,
        };
        if let Some((kind, Amount(written), bytes)) = wanted {
            let has = present.memory_bytes;
            match bytes {
                None => self.refuse(kind, written, "it is no amount of memory, such as 64Mi"),
                Some(bytes) if bytes < LEAST_MEMORY_BYTES => {
                    self.refuse(kind, written, "no component starts with so little")
                }
                Some(bytes) if bytes >= has => {
                    self.refuse(
                        kind,
                        written,
                        format!("the limit of {} that it has here is no more, and stays", size(has)),
                    );
                }
                Some(bytes) => {
                    self.grant(kind, written, format!("its limit `memory_bytes`, {} before", size(has)));
                    self.memory_bytes = Some(bytes);
                }
            }
        }
        let words = "calls have limits of their own: `cpu_time_milliseconds` and `wall_time_milliseconds`";
        let quantity = limits.as_ref().and_then(|limits| limits.cpu.as_ref());
        for (kind, amount) in [("resources.cpu", cpu.as_ref()), ("resources.limits.cpu", quantity)] {
            if let Some(Amount(written)) = amount {
                self.refuse(kind, written, words);
            }
        }
        if let Some(Amount(written)) = io {
            self.refuse("resources.io", written, "what a call may write has limits of its own");
        }
    }
}

/// A rule that takes away what is not given.
const NOTHING_TO_DENY: &str = "nothing is granted that is not named, so there is nothing to deny";

fn shown(kind: &str, rule: &str) -> String {
    format!("{kind}: {}", wharf::text::line(rule, RULE_BYTES))
}

/// What a rule of the network names.
fn named(rule: &NetworkRule) -> String {
    rule.host.clone().or_else(|| rule.cidr.clone()).unwrap_or_else(|| "defaults".to_owned())
}

fn megabytes(Amount(written): &Amount) -> Option<u64> {
    written.parse::<u64>().ok()?.checked_mul(1 << 20)
}

/// An amount in the words of Kubernetes. A number alone is not taken: some read bytes there,
/// others megabytes.
fn quantity_bytes(Amount(written): &Amount) -> Option<u64> {
    const UNITS: [(&str, u64); 6] =
        [("Ki", 1 << 10), ("Mi", 1 << 20), ("Gi", 1 << 30), ("k", 1_000), ("M", 1_000_000), ("G", 1_000_000_000)];
    let (number, unit) = UNITS.iter().find_map(|(word, unit)| Some((written.strip_suffix(word)?, *unit)))?;
    number.parse::<u64>().ok()?.checked_mul(unit)
}
