//! What is to be granted: from flags, from a profile, or from answers on a
//! terminal.

use std::{
    io::{BufRead, Write},
    str::FromStr,
};

use anyhow::{Result, bail};
use wharf::{
    Profile,
    grant::{Capability, Expiry},
};

use super::words;
use crate::configuration_edit::{GrantChange, GrantValue};

/// One `--allow`: `state`, `process=git,make`, `process.shell`,
/// `webview.maximum_pages=2`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Allow {
    pub(super) capability: Capability,
    key: Option<String>,
    values: Option<String>,
}

/// Keys of grants whose values are lists.
const LISTS: [&str; 7] =
    ["programs", "environment", "inherited_environment", "readable", "origins", "scopes", "requests"];

impl FromStr for Allow {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        let (what, values) = match written.split_once('=') {
            Some((what, values)) => (what, Some(values.to_owned())),
            None => (written, None),
        };
        let (word, key) = match what.split_once('.') {
            Some((word, key)) => (word, Some(key.to_owned())),
            None => (what, None),
        };
        let capability = capability(word)?;
        if let (None, Some(_), None) = (&key, &values, words::of(capability).list) {
            return Err(format!("say which key of `{capability}` has this value, as in `{capability}.KEY=VALUE`"));
        }
        Ok(Self { capability, key, values })
    }
}

/// The capability of this name.
pub(super) fn capability(word: &str) -> Result<Capability, String> {
    Capability::from_word(word).ok_or_else(|| {
        let known = Capability::ALL.map(Capability::as_str).join(", ");
        format!("there is no capability `{word}`; there are {known}")
    })
}

impl Allow {
    fn value(&self) -> Option<(String, GrantValue)> {
        let key = match &self.key {
            Some(key) => key.clone(),
            None => {
                self.values.as_ref()?;
                words::of(self.capability).list?.0.to_owned()
            }
        };
        let value = match &self.values {
            None => GrantValue::Plain("true".to_owned()),
            Some(values) if LISTS.contains(&&*key) => names(&key, values),
            Some(value) => GrantValue::Plain(value.clone()),
        };
        Some((key, value))
    }
}

fn names(key: &str, written: &str) -> GrantValue {
    // Methods of requests have commas between them.
    let between = if key == "requests" { ';' } else { ',' };
    let names = written.split(between).map(str::trim).filter(|name| !name.is_empty());
    GrantValue::Names(names.map(str::to_owned).collect())
}

/// What flags grant. Several of one capability are one grant.
pub(super) fn by_flags(allowed: &[Allow], reason: Option<&str>, expires: Option<&Expiry>) -> Result<Vec<GrantChange>> {
    let Some(reason) = reason.filter(|reason| !reason.trim().is_empty()) else {
        bail!("a grant needs a reason, for later readers of the configuration: --reason \"…\"");
    };
    let mut grantings: Vec<GrantChange> = Vec::new();
    for allow in allowed {
        let known = grantings.iter().position(|granting| granting.capability == allow.capability);
        let at = known.unwrap_or_else(|| {
            grantings.push(GrantChange {
                capability: allow.capability,
                reason: reason.to_owned(),
                expires: expires.cloned(),
                keys: Vec::new(),
            });
            grantings.len() - 1
        });
        grantings[at].keys.extend(allow.value());
    }
    Ok(grantings)
}

/// What a profile allows of a capability; nothing where it does not.
pub(super) fn by_profile(profile: Profile, capability: Capability) -> Vec<Allow> {
    let keys: &[&str] = match (profile, capability) {
        (_, Capability::State | Capability::Events) | (Profile::Developer, Capability::Workspace) => &[""],
        (Profile::Developer, Capability::Process | Capability::Terminal) => &["=*", ".shell", ".environment=*"],
        (Profile::Developer, Capability::WebView) => &["=*", ".downloads", ".uploads", ".private_addresses"],
        (_, Capability::Http) | (Profile::Default, _) => &[],
    };
    keys.iter().filter_map(|key| format!("{capability}{key}").parse().ok()).collect()
}

/// Questions to the person at the terminal.
pub(super) struct Questions<R, W> {
    pub(super) input: R,
    pub(super) output: W,
}

impl<R: BufRead, W: Write> Questions<R, W> {
    /// The answer to a question; nothing is granted where input ends.
    fn answer(&mut self, question: &str) -> Result<String> {
        write!(self.output, "{question} ")?;
        self.output.flush()?;
        let mut line = String::new();
        if self.input.read_line(&mut line)? == 0 {
            bail!("there was no answer, and nothing was changed");
        }
        Ok(line.trim().to_owned())
    }

    /// Whether the answer was an explicit yes.
    pub(super) fn yes(&mut self, question: &str) -> Result<bool> {
        let answer = self.answer(&format!("{question} [y/N]"))?;
        Ok(matches!(answer.to_lowercase().as_str(), "y" | "yes"))
    }

    /// Asks for each of these capabilities whether and how it is granted;
    /// `claimed` is the plugin's own reason.
    pub(super) fn grants(&mut self, wanted: &[(Capability, Option<String>)]) -> Result<Vec<GrantChange>> {
        let mut grantings = Vec::new();
        for (capability, claimed) in wanted {
            if !self.yes(&format!("Allow `{capability}`?"))? {
                continue;
            }
            let mut keys = Vec::new();
            if let Some((key, question)) = words::of(*capability).list {
                keys.push((key.to_owned(), names(key, &self.answer(question)?)));
            }
            let reason = self.reason(claimed.as_deref())?;
            let expires = self.expiry()?;
            grantings.push(GrantChange { capability: *capability, reason, expires, keys });
        }
        Ok(grantings)
    }

    fn reason(&mut self, claimed: Option<&str>) -> Result<String> {
        loop {
            let question = match claimed {
                Some(claimed) => format!("Why? [{claimed}]"),
                None => "Why? (for later readers of the configuration)".to_owned(),
            };
            let answer = self.answer(&question)?;
            match claimed {
                Some(claimed) if answer.is_empty() => return Ok(claimed.to_owned()),
                _ if !answer.is_empty() => return Ok(answer),
                _ => writeln!(self.output, "A grant needs a reason.")?,
            }
        }
    }

    fn expiry(&mut self) -> Result<Option<Expiry>> {
        loop {
            let answer = self.answer("Until when? (a day, as 2027-01-31; empty for no end)")?;
            if answer.is_empty() {
                return Ok(None);
            }
            match answer.parse() {
                Ok(expiry) => return Ok(Some(expiry)),
                Err(error) => writeln!(self.output, "{error}")?,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(answers: &str, wanted: &[Capability]) -> (Result<Vec<GrantChange>>, String) {
        let wanted: Vec<_> = wanted.iter().map(|capability| (*capability, None)).collect();
        let mut questions = Questions { input: answers.as_bytes(), output: Vec::new() };
        let granted = questions.grants(&wanted);
        (granted, String::from_utf8(questions.output).expect("text"))
    }

    #[test]
    fn nothing_but_an_explicit_yes_grants_and_input_that_ends_grants_nothing() {
        let wanted = [Capability::State, Capability::WebView];
        let (granted, _) = asked("\nno\n", &wanted);
        assert!(granted.expect("answered").is_empty());
        let (granted, _) = asked("y\nwhy\n\n", &wanted);
        assert!(granted.is_err(), "the second question has no answer");
        let (granted, shown) =
            asked("y\n\ncounts\nsoon\n2027-01-31\nyes\nhttps://a.example, https://b.example\nr\n\n", &wanted);
        let granted = granted.expect("answered");
        assert_eq!((granted[0].capability, granted[0].reason.as_str()), (Capability::State, "counts"));
        assert_eq!(granted[0].expires.as_ref().map(Expiry::as_str), Some("2027-01-31"));
        assert!(
            matches!(&granted[1].keys[..], [(key, GrantValue::Names(names))] if key == "origins" && names.len() == 2),
            "{granted:?}"
        );
        assert!(shown.contains("needs a reason") && shown.contains("not `soon`"), "{shown}");
    }

    #[test]
    fn flags_name_a_capability_and_how_far_it_reaches() {
        let allow = |written: &str| written.parse::<Allow>();
        for wrong in ["", "everything", "state=5", "STATE"] {
            assert!(allow(wrong).is_err(), "{wrong}");
        }
        let allowed = ["process=git,make", "process.shell", "state", "process.lifetime_seconds=60"];
        let allowed: Vec<_> = allowed.into_iter().map(|written| allow(written).expect(written)).collect();
        assert!(by_flags(&allowed, Some(" "), None).is_err() && by_flags(&allowed, None, None).is_err());
        let granted = by_flags(&allowed, Some("r"), None).expect("a reason");
        assert_eq!(granted.len(), 2);
        assert_eq!(granted[0].keys.len(), 3, "{granted:?}");
        assert!(granted[1].keys.is_empty());
    }

    #[test]
    fn the_default_profile_allows_nothing_that_reaches_the_machine() {
        for capability in Capability::ALL {
            let harmless = matches!(capability, Capability::State | Capability::Events);
            assert_eq!(by_profile(Profile::Default, capability).is_empty(), !harmless, "{capability}");
            // No profile can know which servers a plugin needs.
            let is_unknown = capability == Capability::Http;
            assert_eq!(by_profile(Profile::Developer, capability).is_empty(), is_unknown, "{capability}");
        }
    }
}
