//! Every limit of the host: its name, unit, default, ceiling and whose it is, in one table.
//!
//! Configuration, documentation and enforcement all read this table, so that
//! none of them can know a limit that the others do not.

/// Whose a limit is: what each has an account of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitScope {
    /// The host: all tenants share it.
    Host,
    /// Each tenant.
    Tenant,
    /// Each session of a tenant.
    Session,
    /// Each plugin, session and assistant together.
    Owner,
    /// Each client: a token, or a client of an app.
    Client,
    /// Each address of the network.
    Address,
    /// Each web page.
    Page,
    /// Each call of a tool.
    Call,
    /// Each request of a client.
    Request,
    /// Each thing that the limit is about by itself: a file, a wait, a terminal.
    Each,
}

impl LimitScope {
    /// In one word, as the documents have it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Tenant => "tenant",
            Self::Session => "session",
            Self::Owner => "owner",
            Self::Client => "client",
            Self::Address => "address",
            Self::Page => "page",
            Self::Call => "call",
            Self::Request => "request",
            Self::Each => "each",
        }
    }
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitInfo {
    /// The name in the configuration; its last word is the unit.
    pub name: &'static str,
    /// The value where nothing is configured.
    pub default: u64,
    /// The value that no configuration may exceed.
    pub ceiling: u64,
    /// Whose use it counts.
    pub scope: LimitScope,
    /// What is limited, and what happens at the limit.
    pub description: &'static str,
}

/// A limit that cannot be set so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidLimit {
    /// There is no such limit.
    #[error("there is no limit `{name}`; `wharf config limits` lists them")]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// The value is zero or above the ceiling.
    #[error("`{name}` must be from 1 to {ceiling}, not {value}")]
    OutOfRange {
        /// Which limit.
        name: &'static str,
        /// What was asked for.
        value: u64,
        /// What is allowed at most.
        ceiling: u64,
    },
}

macro_rules! limits {
    (
        $(#[$doc:meta])* $group:ident {
            $($name:ident = $default:expr, up to $ceiling:expr, of $scope:ident, $description:literal;)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $group {
            $(#[doc = $description] pub $name: u64,)*
        }

        impl Default for $group {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        impl $group {
            /// The rows of this group, in the order of the documentation.
            pub const TABLE: &'static [$crate::limit::LimitInfo] = &[
                $($crate::limit::LimitInfo {
                    name: stringify!($name), default: $default, ceiling: $ceiling,
                    scope: $crate::limit::LimitScope::$scope, description: $description,
                },)*
            ];

            /// Sets a limit by its name.
            ///
            /// # Errors
            /// Where there is no such limit, or the value is 0 or above the
            /// ceiling; nothing is changed then.
            pub fn set(&mut self, name: &str, value: u64) -> Result<(), $crate::limit::InvalidLimit> {
                match name {
                    $(stringify!($name) => {
                        if value == 0 || value > $ceiling {
                            return Err($crate::limit::InvalidLimit::OutOfRange {
                                name: stringify!($name), value, ceiling: $ceiling,
                            });
                        }
                        self.$name = value;
                        Ok(())
                    })*
                    _ => Err($crate::limit::InvalidLimit::Unknown { name: name.to_owned() }),
                }
            }

            /// The most that any configuration may set.
            #[must_use]
            pub fn ceilings() -> Self {
                Self { $($name: $ceiling,)* }
            }

            /// The same, with nothing above these.
            #[must_use]
            pub fn at_most(&self, ceilings: &Self) -> Self {
                Self { $($name: self.$name.min(ceilings.$name),)* }
            }

            /// Every limit with its present value.
            pub fn values(&self) -> impl Iterator<Item = (&'static $crate::limit::LimitInfo, u64)> + '_ {
                Self::TABLE.iter().zip([$(self.$name),*])
            }
        }
    };
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const MINUTE: u64 = 60_000;
const HOUR_SECONDS: u64 = 3_600;

mod call;
mod host;
mod http;
mod process;
mod request;
mod stream;
mod terminal;
mod time;
mod web_view;

pub use call::CallLimits;
pub use host::HostLimits;
pub use http::HttpLimits;
pub use process::ProcessLimits;
pub use request::RequestLimits;
pub use stream::StreamLimits;
pub use terminal::TerminalLimits;
pub use time::{TimeLeft, WallTime};
pub use web_view::WebViewLimits;

#[cfg(test)]
mod tests;
