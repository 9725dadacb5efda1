//! What variables of the environment say in place of `wharf.toml`.

use wharf_core::text::line;

use super::{document::Configuration, polls::GuidanceLanguage};

/// The variables of the environment that set what `[process.polls]` sets.
const THRESHOLD: &str = "WHARF_POLL_THRESHOLD";
const GUIDANCE: &str = "WHARF_POLL_GUIDANCE";
const LANGUAGE: &str = "WHARF_LANGUAGE";

/// Why a variable of the environment is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidVariable {
    /// `WHARF_POLL_THRESHOLD` is no number of polls.
    #[error("{THRESHOLD} is a number from 1, not `{value}`")]
    Threshold {
        /// What it is.
        value: String,
    },
    /// `WHARF_POLL_GUIDANCE` is neither word.
    #[error("{GUIDANCE} is `on` or `off`, not `{value}`")]
    Guidance {
        /// What it is.
        value: String,
    },
}

impl Configuration {
    /// Sets what variables of the environment say, which goes before the file:
    /// `WHARF_POLL_THRESHOLD` (a number), `WHARF_POLL_GUIDANCE` (`on`, `off`)
    /// and `WHARF_LANGUAGE` (`en`, `ko`, or a locale such as `ko_KR.UTF-8`; any other
    /// language is told in the log and is English). `variable` finds one by its name;
    /// one that is empty counts as not set.
    ///
    /// # Errors
    /// Which variable has a value that is not accepted, and what is.
    pub fn apply_environment(&mut self, variable: impl Fn(&str) -> Option<String>) -> Result<(), InvalidVariable> {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        if let Some(value) = variable(THRESHOLD) {
            let threshold = value.parse().ok().filter(|threshold| *threshold > 0);
            self.polls.threshold = threshold.ok_or(InvalidVariable::Threshold { value })?;
        }
        if let Some(value) = variable(GUIDANCE) {
            self.polls.guidance = match value.as_str() {
                "on" => true,
                "off" => false,
                _ => return Err(InvalidVariable::Guidance { value }),
            };
        }
        if let Some(value) = variable(LANGUAGE) {
            self.polls.language = GuidanceLanguage::of_locale(&value).unwrap_or_else(|| {
                let value = line(&value, 64);
                tracing::warn!(
                    "{LANGUAGE} is `{value}`, and guidance is in English (en) or Korean (ko): English it is"
                );
                GuidanceLanguage::English
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn parse(text: &str) -> Result<Configuration, String> {
        Configuration::parse(text, Path::new("/etc/wharf")).map_err(|problem| problem.to_string())
    }

    #[test]
    fn the_environment_goes_before_the_file_and_its_mistakes_are_named() {
        let mut configuration = parse("[process.polls]\nthreshold = 9\nlanguage = \"ko\"").expect("parses");
        configuration.apply_environment(|_| None).expect("nothing to apply");
        configuration.apply_environment(|_| Some(String::new())).expect("nothing that is set");
        assert_eq!((configuration.polls.threshold, configuration.polls.language), (9, GuidanceLanguage::Korean));
        let set = |name: &str| (name == THRESHOLD).then(|| "3".to_owned());
        configuration.apply_environment(set).expect("applies");
        assert_eq!(configuration.polls.threshold, 3);
        for (variable, value) in [(THRESHOLD, "0"), (GUIDANCE, "yes")] {
            let problem = configuration.apply_environment(|name| (name == variable).then(|| value.to_owned()));
            assert!(problem.expect_err(variable).to_string().contains(variable));
        }
    }

    #[test]
    fn a_locale_is_taken_by_its_language_and_an_unknown_one_is_english() {
        let korean = ["ko", "KO", "ko_KR", "ko_KR.UTF-8", "ko-KR", "ko.UTF-8", "ko_KR.eucKR@x"];
        let english =
            ["en", "en_US", "en_US.UTF-8", "en-GB", "C", "POSIX", "C.UTF-8", "fr_FR.UTF-8", "korean", "_", "한국어"];
        let korean = korean.map(|locale| (locale, GuidanceLanguage::Korean));
        let english = english.map(|locale| (locale, GuidanceLanguage::English));
        for (locale, language) in korean.into_iter().chain(english) {
            let mut configuration = parse("[process.polls]\nlanguage = \"ko\"").expect("parses");
            let set = |name: &str| (name == LANGUAGE).then(|| locale.to_owned());
            configuration.apply_environment(set).expect("a language never keeps a host from starting");
            assert_eq!(configuration.polls.language, language, "{locale}");
        }
    }
}
