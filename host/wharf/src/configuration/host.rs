//! `[host]`: limits of the host as a whole, and what its process gives up when it serves.

use std::fmt;

use serde::Deserialize;

use super::limits::WrittenLimits;

/// `[host]`, as it is written.
#[derive(Debug, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct WrittenHost {
    /// Limits of the host.
    #[schemars(schema_with = "super::limits::of_host")]
    pub(super) limits: WrittenLimits,
    /// Whether `wharf serve` confines itself: `auto`, as far as this machine can; `required`, or it does not start;
    /// `off`. `auto` where absent.
    confined: HostConfinement,
    /// The user that a host becomes which root starts, by name or by number: it gets the data directory. A host that
    /// somebody else starts stays as it is.
    user: Option<HostUser>,
}

/// What the process of a host gives up when it serves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostSettings {
    /// Whether it confines itself.
    pub confined: HostConfinement,
    /// The user that it becomes where root starts it.
    pub user: Option<HostUser>,
}

/// Whether a host that serves confines itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HostConfinement {
    /// As far as the machine can.
    #[default]
    Auto,
    /// Wholly; else it does not serve.
    Required,
    /// Not at all.
    Off,
}

/// A user of the system.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(untagged)]
pub enum HostUser {
    /// By its number, which is that of its group as well.
    Number(u32),
    /// By its name.
    Name(String),
}

impl fmt::Display for HostUser {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(formatter),
            Self::Name(name) => name.fmt(formatter),
        }
    }
}

impl WrittenHost {
    pub(super) fn settings(&self) -> Result<HostSettings, String> {
        let problem = match &self.user {
            Some(HostUser::Number(0)) => Some("0 is root"),
            Some(HostUser::Name(name)) if name == "root" => Some("that is root"),
            Some(HostUser::Name(name)) if name.is_empty() => Some("it is empty"),
            _ => None,
        };
        if let Some(problem) = problem {
            return Err(format!("[host] `user`: {problem}; name a user that has nothing but this host"));
        }
        Ok(HostSettings { confined: self.confined, user: self.user.clone() })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Configuration;

    fn parse(text: &str) -> Result<HostSettings, String> {
        let parsed = Configuration::parse(text, Path::new("/")).map_err(|error| crate::with_causes(&error));
        parsed.map(|configuration| configuration.host)
    }

    #[test]
    fn a_host_confines_itself_as_far_as_it_can_unless_the_operator_says_otherwise() {
        assert_eq!(parse("").expect("nothing").confined, HostConfinement::Auto);
        let written = parse("[host]\nconfined = \"required\"\nuser = \"wharf\"\n").expect("read");
        assert_eq!(written.confined, HostConfinement::Required);
        assert_eq!(written.user, Some(HostUser::Name("wharf".to_owned())));
        assert_eq!(parse("[host]\nuser = 990\n").expect("read").user, Some(HostUser::Number(990)));
        for (text, problem) in [
            ("user = \"root\"", "root"),
            ("user = 0", "root"),
            ("user = \"\"", "empty"),
            ("confined = true", "confined"),
            ("confines = \"auto\"", "confines"),
        ] {
            let error = parse(&format!("[host]\n{text}\n")).expect_err(text);
            assert!(error.contains(problem), "{text}: {error}");
        }
    }
}
