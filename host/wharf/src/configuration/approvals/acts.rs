//! Commands and origins that a person has to allow in the course of a call.

use std::collections::BTreeSet;

use wharf_core::{CommandLine, CommandPattern, Origin, origin::OriginPattern};

use crate::service::operator::ApprovalRule;

/// The keys that `wharf approvals allow --always` adds to.
pub const ALWAYS_COMMANDS: &str = "always_commands";
/// The same for origins.
pub const ALWAYS_ORIGINS: &str = "always_origins";
/// Entries of each of the lists.
const MOST_ENTRIES: usize = 1_000;
/// Longest command of a rule that allows it for good.
pub(crate) const MOST_RULE_BYTES: usize = 4 << 10;

/// Which commands and origins wait for a person.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ActRules {
    commands: Vec<CommandPattern>,
    always_commands: BTreeSet<String>,
    origins: Vec<OriginPattern>,
    always_origins: Vec<OriginPattern>,
}

impl ActRules {
    pub(super) fn new(
        commands: &[String],
        always_commands: Vec<String>,
        origins: &[String],
        always_origins: &[String],
    ) -> Result<Self, String> {
        for (key, count) in [
            ("commands", commands.len()),
            (ALWAYS_COMMANDS, always_commands.len()),
            ("origins", origins.len()),
            (ALWAYS_ORIGINS, always_origins.len()),
        ] {
            if count > MOST_ENTRIES {
                return Err(format!("[approvals] `{key}` has {count} entries; it may have {MOST_ENTRIES}"));
            }
        }
        if always_commands.iter().any(|command| !(1..=MOST_RULE_BYTES).contains(&command.len())) {
            return Err(format!("[approvals] `{ALWAYS_COMMANDS}` has commands of 1 to {MOST_RULE_BYTES} bytes alone"));
        }
        let patterns = |key: &str, written: &[String]| -> Result<Vec<OriginPattern>, String> {
            let read = |one: &String| one.parse().map_err(|error| format!("[approvals] `{key}`: {error}"));
            written.iter().map(read).collect()
        };
        let command =
            |written: &String| CommandPattern::new(written).map_err(|error| format!("[approvals] `commands`: {error}"));
        Ok(Self {
            commands: commands.iter().map(command).collect::<Result<_, _>>()?,
            always_commands: always_commands.into_iter().collect(),
            origins: patterns("origins", origins)?,
            always_origins: patterns(ALWAYS_ORIGINS, always_origins)?,
        })
    }

    /// Whether no command and no origin waits.
    pub(crate) fn is_off(&self) -> bool {
        self.commands.is_empty() && self.origins.is_empty()
    }

    /// Whether this command waits.
    pub(crate) fn asks_command(&self, line: &CommandLine<'_>) -> bool {
        self.commands.iter().any(|pattern| pattern.matches(line)) && !self.always_commands.contains(&*line.exact)
    }

    /// Whether what goes to this origin waits.
    pub(crate) fn asks_origin(&self, origin: &Origin) -> bool {
        self.asking(origin).next().is_some()
    }

    /// The patterns that have what goes to this origin wait.
    pub(crate) fn asking(&self, origin: &Origin) -> impl Iterator<Item = &OriginPattern> {
        let is_free = self.always_origins.iter().any(|pattern| pattern.matches(origin));
        self.origins.iter().filter(move |pattern| !is_free && pattern.matches(origin))
    }

    /// Whether a rule allows this for good by now, or nothing asks about its kind any more.
    pub(crate) fn frees(&self, rule: &ApprovalRule) -> bool {
        match rule {
            ApprovalRule::Command(exact) => self.commands.is_empty() || self.always_commands.contains(exact),
            ApprovalRule::Origin(origin) => Origin::of_text(origin).is_some_and(|origin| !self.asks_origin(&origin)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(written: &[&str]) -> Vec<String> {
        written.iter().map(|one| (*one).to_owned()).collect()
    }

    #[test]
    fn an_origin_waits_unless_a_rule_allows_it() {
        let rules = ActRules::new(
            &[],
            Vec::new(),
            &texts(&["https://*.bank.example", "http://localhost:*"]),
            &texts(&["https://open.bank.example"]),
        )
        .expect("legal");
        for (origin, asks) in [
            ("https://www.bank.example/path", true),
            ("https://open.bank.example/", false),
            ("https://bank.example/", false),
            ("http://www.bank.example/", false),
            ("http://localhost:81/", true),
        ] {
            assert_eq!(rules.asks_origin(&Origin::of_text(origin).expect("an origin")), asks, "{origin}");
        }
        assert!(rules.frees(&ApprovalRule::Origin("https://open.bank.example".to_owned())));
        assert!(!rules.frees(&ApprovalRule::Origin("https://www.bank.example".to_owned())));
    }

    #[test]
    fn a_command_that_is_allowed_for_good_is_no_pattern() {
        let rules = ActRules::new(&texts(&["rm *"]), texts(&["rm *"]), &[], &[]).expect("legal");
        let frees = |command: &str| rules.frees(&ApprovalRule::Command(command.to_owned()));
        assert!(frees("rm *") && !frees("rm x") && !frees("rm **"));
    }

    #[test]
    fn lists_are_bounded() {
        let many = vec!["a".to_owned(); MOST_ENTRIES + 1];
        let told = ActRules::new(&many, Vec::new(), &[], &[]).expect_err("too many");
        assert_eq!(told, "[approvals] `commands` has 1001 entries; it may have 1000");
        let long = vec!["a".repeat(MOST_RULE_BYTES + 1)];
        assert!(ActRules::new(&[], long, &[], &[]).is_err());
    }
}
