//! `wharf.toml`: what the operator decided.
//!
//! Unknown keys are errors: a misspelt limit or grant must not pass silently. Nothing
//! here loads a plugin, opens a backend or grants what is not written.

mod approvals;
mod audit;
mod cluster;
mod deny;
mod document;
mod effective;
mod encryption;
mod environment;
mod error;
mod grants;
mod host;
mod http;
mod in_code;
mod isolation;
mod kernel_key;
mod limits;
mod nats;
mod oauth;
mod of_cluster;
mod pin;
mod plugin;
mod polls;
mod process;
mod profile;
mod reach;
mod request;
mod schema;
mod secret_command;
mod secret_source;
mod settings_name;
mod settings_of_cluster;
mod state;
mod terminal;
#[cfg(feature = "http")]
mod tls;
mod traces;
mod trust;
mod webview;

pub use approvals::{ALWAYS, ALWAYS_COMMANDS, ALWAYS_ORIGINS, ApprovalSettings, AskWhom};
pub(crate) use approvals::{ActRules, MOST_RULE_BYTES};
pub use audit::{AuditKeyUnusable, AuditSettings, AuditSyslog, SyslogUnusable};
pub use cluster::{ClusterSettings, ClusterTls, ClusterWorkspaces};
pub use deny::{DenyFailure, DenySettings};
pub use document::{Configuration, ContextSettings};
pub use encryption::{EncryptionSettings, MasterKeySettings};
pub use environment::InvalidVariable;
pub use error::{ConfigurationError, InvalidConfiguration, NameUnavailable};
pub(crate) use grants::{granted_names, replaced_grants};
pub use host::{HostConfinement, HostSettings, HostUser};
pub use http::{HttpSection, TlsFiles, TokenSettings, TokenUnavailable};
pub use kernel_key::KernelKey;
pub use nats::NatsSection;
pub use oauth::{CertificateBinding, IntrospectionSettings, OAuthSettings};
pub use pin::{Confirmed, EffectiveGrants, KnownComponent, Pin, Unconfirmed};
pub use plugin::PluginSettings;
pub use polls::{GuidanceLanguage, PollGuidance, SessionPolls, TenantPolls};
pub(crate) use process::settings as process_settings;
pub use process::{RequiredContainment, WorkspaceSettings};
pub use profile::Profile;
pub use reach::ConfigurationReach;
pub use request::SecretSettings;
#[cfg(feature = "traces")]
pub(crate) use request::read_header;
pub(crate) use request::{look_at_header, look_at_secret, read_secrets};
pub use secret_command::SecretCommand;
pub use secret_source::{SecretSource, SecretUnavailable};
#[cfg(feature = "postgres")]
pub(crate) use settings_of_cluster::{has_settings, settings_of};
pub use state::{ConnectionUnreadable, Durability, StateSettings};
pub use terminal::TerminalSettings;
pub(crate) use terminal::{RECORDINGS, RECORDS};
pub(crate) use terminal::{SWEEP as TERMINAL_SWEEP, pool_settings as terminal_settings};
#[cfg(feature = "http")]
pub use tls::TlsFilesError;
pub use traces::TracesSettings;
pub use trust::{ComponentPlace, TrustSettings};
pub use webview::WebViewSettings;
/// Where a secret goes that `[plugin.NAME.secrets]` or `[traces.headers]` names.
pub use wharf_core::request::{InvalidSecret, SecretRule};
