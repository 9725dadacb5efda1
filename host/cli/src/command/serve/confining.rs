//! Confines the process of a host before it has another thread: what it gives up, and what of that holds.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Result;
use wharf::{
    Configuration,
    configuration::HostConfinement,
    confinement::{ConfinementReport, HostReach, confinement_offered},
    http::HttpAddress,
    with_causes,
};

use super::place::HttpPlace;
use crate::{
    exit::Unusable,
    global::{Global, absolute},
};

/// Ports below it take a right to listen at.
const FIRST_PORT_OF_ALL: u16 = 1024;

/// How this process is confined.
#[derive(Debug, Clone, Default)]
pub(super) struct Confined {
    /// What it reaches, where it gave anything up.
    reach: Option<Arc<HostReach>>,
    /// Where it makes temporary files, where that is not the place of all programs.
    temporary: Option<PathBuf>,
}

impl Confined {
    /// Sets what a configuration does not say.
    pub(super) fn complete(&self, configuration: &mut Configuration) {
        let temporary = &mut configuration.webview.temporary;
        if temporary.is_none() {
            temporary.clone_from(&self.temporary);
        }
    }

    /// Says which paths of a configuration that was read later are out of reach.
    pub(super) fn tell_beyond(&self, configuration: &Configuration) {
        for path in self.reach.iter().flat_map(|reach| reach.beyond(configuration)) {
            tracing::error!(
                path = %path.display(),
                "this host is confined to what was there when it started and named by its configuration, and cannot reach this \
                 path: start the host again once the path is there"
            );
        }
    }
}

/// What the command line says of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConfinementChoice<'a> {
    /// It must be whole.
    pub(super) confined: bool,
    /// There is to be none.
    pub(super) unconfined: bool,
    /// Where the host listens.
    pub(super) http: Option<&'a HttpPlace>,
    /// A file with a token.
    pub(super) token_file: Option<&'a Path>,
}

impl ConfinementChoice<'_> {
    /// Becomes the user that the configuration names, and gives up what the host does not need.
    pub(super) fn confine(&self, global: &Global, configuration: &Configuration) -> Result<Confined> {
        let demand = match (self.confined, self.unconfined) {
            (true, _) => HostConfinement::Required,
            (_, true) => HostConfinement::Off,
            _ => configuration.host.confined,
        };
        #[cfg(target_os = "linux")]
        become_user(global, configuration, demand != HostConfinement::Off && self.low_ports(configuration))?;
        match demand {
            HostConfinement::Off => Ok(Confined::default()),
            // Nothing is lost there that could be had.
            HostConfinement::Auto if cfg!(not(target_os = "linux")) => Ok(Confined::default()),
            HostConfinement::Auto => self.give_up(global, configuration).or_else(|error| match error {
                NotConfined::Before(problem) => {
                    tracing::warn!(target: "wharf::start", "this host is not confined: {problem}");
                    Ok(Confined::default())
                }
                NotConfined::Midway(problem) => Err(Unusable(problem).into()),
            }),
            HostConfinement::Required => {
                complete(&confinement_offered())?;
                let confined = self.give_up(global, configuration);
                Ok(confined.map_err(|error| Unusable(error.problem()))?)
            }
        }
    }

    fn give_up(&self, global: &Global, configuration: &Configuration) -> Result<Confined, NotConfined> {
        let before = |error: anyhow::Error| NotConfined::Before(format!("{error:#}"));
        let data = global.data(configuration).map_err(before)?;
        let mut reach = HostReach::new(configuration, &data)
            .map_err(|error| NotConfined::Before(format!("{}: {error}", data.display())))?;
        match global.configuration_target() {
            Ok(file) => reach.add_configuration(&file),
            Err(error) => tracing::debug!("no file of a configuration is kept within reach: {error:#}"),
        }
        if let Some(file) = self.token_file {
            let file = absolute(file).map_err(before)?;
            // One that is missing is made where the host may write by now; what is wrong with it is said later.
            let _ = wharf::http::read_or_make_token(&file);
            reach.add_file(&file);
        }
        if let Some(HttpPlace::Address(HttpAddress::Socket(path))) = self.http {
            reach.add_socket(&absolute(path).map_err(before)?);
        }
        let temporary = own_temporary(configuration);
        temporary.iter().for_each(|temporary| reach.add_writable(temporary));
        let logins = std::env::var_os("DOCKER_CONFIG").map(PathBuf::from).or_else(|| {
            let home = std::env::var_os("HOME").map(PathBuf::from)?;
            Some(home.join(".docker"))
        });
        let kept = reach.confinement_mut();
        kept.readable.extend(logins.map(|logins| logins.join("config.json")));
        kept.low_ports = self.low_ports(configuration);
        kept.abstract_sockets = std::env::var("NOTIFY_SOCKET").is_ok_and(|socket| socket.starts_with('@'));
        let report = reach.confine().map_err(|error| match error {
            wharf::confinement::ConfineError::Step { .. } => NotConfined::Midway(with_causes(&error)),
            error => NotConfined::Before(with_causes(&error)),
        })?;
        announce(&report);
        if self.confined || configuration.host.confined == HostConfinement::Required {
            complete(&report).map_err(|error| NotConfined::Midway(error.0))?;
        }
        let confined = Confined { reach: Some(Arc::new(reach)), temporary };
        confined.tell_beyond(configuration);
        Ok(confined)
    }

    /// Whether it listens where not everybody may.
    fn low_ports(&self, configuration: &Configuration) -> bool {
        let of_http = match self.http {
            Some(HttpPlace::Address(HttpAddress::Port(address))) => Some(address.port()),
            _ => None,
        };
        let of_cluster = configuration.cluster.as_ref().and_then(|cluster| match cluster.listen {
            Some(listen) => Some(listen.port()),
            None => cluster.address.rsplit_once(':')?.1.parse().ok(),
        });
        of_http.into_iter().chain(of_cluster).any(|port| (1..FIRST_PORT_OF_ALL).contains(&port))
    }
}

/// A directory for temporary files of pages, where the configuration names none.
#[cfg(unix)]
fn own_temporary(configuration: &Configuration) -> Option<PathBuf> {
    if configuration.webview.temporary.is_some() {
        return None;
    }
    let made = wharf::confinement::own_temporary();
    made.inspect_err(|error| tracing::warn!("there is no directory for temporary files of pages: {error}")).ok()
}

#[cfg(not(unix))]
fn own_temporary(_: &Configuration) -> Option<PathBuf> {
    None
}

/// Why a host is not confined.
enum NotConfined {
    /// It is as it was.
    Before(String),
    /// It has given up a part, and would not work.
    Midway(String),
}

impl NotConfined {
    fn problem(self) -> String {
        match self {
            Self::Before(problem) | Self::Midway(problem) => problem,
        }
    }
}

fn complete(report: &ConfinementReport) -> Result<(), Unusable> {
    match report.lacks() {
        None => Ok(()),
        Some(lacks) => Err(Unusable(format!(
            "this host must be confined wholly (--confined, or `confined = \"required\"` under [host]), and cannot be: {lacks}"
        ))),
    }
}

fn announce(report: &ConfinementReport) {
    let (holds, missing) = (report.holds.join(", "), report.lacks());
    let says = if missing.is_none() { "this host is confined" } else { "this host is confined in part" };
    tracing::info!(target: "wharf::start", holds, missing, "{says}");
}

/// Becomes the user of `[host] user` where root has started this, and gives it the data directory once.
#[cfg(target_os = "linux")]
fn become_user(global: &Global, configuration: &Configuration, keep_capabilities: bool) -> Result<()> {
    use anyhow::bail;
    use wharf::{configuration::HostUser, confinement::SystemUser, control::running_hosts};

    let Some(user) = configuration.host.user.as_ref().filter(|_| is_root()) else { return Ok(()) };
    let unusable = |error: wharf::confinement::UserError| Unusable(format!("[host] `user`: {}", with_causes(&error)));
    let found = match user {
        HostUser::Name(name) => SystemUser::named(name).map_err(unusable)?,
        HostUser::Number(number) => SystemUser::numbered(*number),
    };
    let data = global.data(configuration)?;
    std::fs::create_dir_all(&data).map_err(|error| Unusable(format!("{}: {error}", data.display())))?;
    if found.owns(&data) {
        // What root's commands have left there since.
        found.take_over(&data).map_err(unusable)?;
    } else {
        let running = running_hosts(&data).map_or(0, |running| running.len());
        if running > 0 {
            bail!(Unusable(format!(
                "[host] `user`: {} is to belong to {user}, and hosts of another user serve there ({running}): end them first",
                data.display()
            )));
        }
        found.take_over(&data).map_err(unusable)?;
        tracing::info!(target: "wharf::start", data = %data.display(), user = %user, "the data directory belongs to the user of the host now");
    }
    found.become_it(keep_capabilities).map_err(unusable)?;
    // What it needs from the start on; what else it may not read is said where it is read.
    let needed = [Some(data), global.configuration_path()];
    for path in needed.into_iter().flatten() {
        if let Err(error) = std::fs::File::open(&path) {
            bail!(Unusable(format!(
                "[host] `user`: {user} cannot read {} ({error}): let others pass the directories above it, or keep it \
                 elsewhere",
                path.display()
            )));
        }
    }
    tracing::info!(target: "wharf::start", user = %user, "this host runs as a user of its own");
    Ok(())
}

#[cfg(target_os = "linux")]
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
