//! What is known of programs by their names: how their turns are judged, what
//! is not typed into them, whether they are started again.
//!
//! A guess (`built_in`) that the operator corrects by configuration and the caller
//! by request. Never knows a terminal that runs.

mod built_in;

use std::path::Path;

use wharf_completion::detection::{InvalidParameter, InvalidPrompt, Parameters, Preset, Prompts, Tuning};
use wharf_contract::terminal::Restart;
use wharf_core::expression::CompileBudget;
use wildmatch::WildMatch;

use crate::{InputRules, RefusedWord, TerminalError};

/// What the operator says of some programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileSettings {
    /// What it is called.
    pub name: String,
    /// Names of programs, without their directories; `*` stands for any
    /// characters, `?` for one.
    pub programs: Vec<String>,
    /// How turns are judged.
    pub preset: Preset,
    /// Rows that nothing but a prompt of these looks like, as regular
    /// expressions; beside those of the preset.
    pub strict_prompts: Vec<String>,
    /// Rows that may be a prompt of these.
    pub broad_prompts: Vec<String>,
    /// Numbers of the preset that are otherwise for these programs.
    pub tuning: Tuning,
    /// Lines that are not typed.
    pub refused: Vec<RefusedWord>,
    /// Whether they are started again when they crash.
    pub restart: Option<Restart>,
}

impl ProfileSettings {
    /// A profile that only chooses a preset.
    #[must_use]
    pub fn new(name: &str, programs: &[&str], preset: Preset) -> Self {
        Self {
            name: name.to_owned(),
            programs: programs.iter().map(|program| (*program).to_owned()).collect(),
            preset,
            strict_prompts: Vec::new(),
            broad_prompts: Vec::new(),
            tuning: Tuning::default(),
            refused: Vec::new(),
            restart: None,
        }
    }
}

/// A profile cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the profile `{name}` of terminals cannot be used")]
pub struct InvalidProfile {
    /// Which one.
    pub name: String,
    /// What is wrong.
    pub source: ProfileProblem,
}

/// What is wrong with a profile.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileProblem {
    /// A prompt that is not valid. What is wrong with it is told with it, and so
    /// is no further cause.
    #[error("`{list}`: {problem}")]
    Prompt {
        /// The list that it stands in.
        list: &'static str,
        /// What is wrong with it.
        problem: InvalidPrompt,
    },
    /// Numbers that contradict themselves.
    #[error(transparent)]
    Parameter(#[from] InvalidParameter),
}

/// What holds for one program.
#[derive(Debug, Clone)]
pub(crate) struct ProgramProfile {
    pub(crate) name: String,
    pub(crate) preset: Preset,
    pub(crate) rules: InputRules,
    pub(crate) restart: Option<Restart>,
    /// Beside those of a preset.
    prompts: Prompts,
    tuning: Tuning,
    own_preset: Preset,
}

impl ProgramProfile {
    /// This one for a program that another would be for, by its name.
    pub(crate) fn started_as(mut self, by_name: &Self) -> Self {
        self.restart = self.restart.or(by_name.restart);
        self
    }

    /// The parameters of a turn of this kind, with the prompts of the program.
    /// What is otherwise for the program is so for turns of its own kind.
    pub(crate) fn parameters(&self, preset: Preset) -> Result<Parameters, ProfileProblem> {
        let mut parameters = Parameters::from(preset);
        let prompts = parameters.prompts.with_strict_of(&self.prompts).map_err(of_list(STRICT))?;
        parameters.prompts = prompts.with_broad_of(&self.prompts).map_err(of_list(BROAD))?;
        Ok(if preset == self.own_preset { parameters.tuned(&self.tuning)? } else { parameters })
    }
}

const STRICT: &str = "strict_prompts";
const BROAD: &str = "broad_prompts";

fn of_list(list: &'static str) -> impl Fn(InvalidPrompt) -> ProfileProblem {
    move |problem| ProfileProblem::Prompt { list, problem }
}

/// Whether all prompts of these profiles can be used.
///
/// # Errors
/// Which profile has one that cannot.
pub fn check_profiles(profiles: &[ProfileSettings]) -> Result<(), InvalidProfile> {
    ProgramProfiles::new(profiles, 1).map(drop)
}

/// What a name of a way to judge turns stands for.
#[derive(Debug)]
pub(crate) enum ProfileChoice {
    Preset(Preset),
    Profile(Box<ProgramProfile>),
}

/// All profiles of a host.
#[derive(Debug)]
pub(crate) struct ProgramProfiles {
    /// Those of the operator first.
    all: Vec<KnownProfile>,
    configured: usize,
    input_characters: usize,
}

/// A profile whose prompts are compiled: once, and not for each turn.
#[derive(Debug)]
struct KnownProfile {
    settings: ProfileSettings,
    prompts: Prompts,
}

impl KnownProfile {
    fn new(settings: ProfileSettings) -> Result<Self, ProfileProblem> {
        fn all(patterns: &[String]) -> Vec<&str> {
            patterns.iter().map(String::as_str).collect()
        }
        let compile = |strict: &[String], broad: &[String], list| {
            let mut budget = CompileBudget::new(CompileBudget::OPERATOR);
            Prompts::new(&all(strict), &all(broad), &mut budget).map_err(of_list(list))
        };
        let strict = compile(&settings.strict_prompts, &[], STRICT)?;
        let broad = compile(&[], &settings.broad_prompts, BROAD)?;
        let prompts = strict.with_broad_of(&broad).map_err(of_list(BROAD))?;
        Ok(Self { settings, prompts })
    }
}

impl ProgramProfiles {
    pub(crate) fn new(configured: &[ProfileSettings], input_characters: u64) -> Result<Self, InvalidProfile> {
        let input_characters = usize::try_from(input_characters).unwrap_or(usize::MAX);
        let mut all = Vec::new();
        for settings in configured.iter().cloned().chain(built_in::profiles()) {
            let name = settings.name.clone();
            let failed = |source| InvalidProfile { name: name.clone(), source };
            all.push(KnownProfile::new(settings).map_err(failed)?);
        }
        for profile in all.iter().take(configured.len()) {
            let failed = |source| InvalidProfile { name: profile.settings.name.clone(), source };
            // The presets differ in how many prompts they have themselves.
            for preset in Preset::ALL {
                of(profile, input_characters).parameters(preset).map_err(failed)?;
            }
        }
        Ok(Self { all, configured: configured.len(), input_characters })
    }

    /// The names of those that the operator configured.
    pub(crate) fn configured(&self) -> impl Iterator<Item = &str> {
        self.all.iter().take(self.configured).map(|profile| profile.settings.name.as_str())
    }

    /// The operator's profile of this name.
    pub(crate) fn named(&self, name: &str) -> Option<ProgramProfile> {
        let found = self.all.iter().take(self.configured).find(|profile| profile.settings.name == name);
        found.map(|profile| of(profile, self.input_characters))
    }

    /// The named way to judge turns: a profile of the operator's or a preset.
    pub(crate) fn kind(&self, name: &str) -> Result<ProfileChoice, TerminalError> {
        if let Some(profile) = self.named(name) {
            return Ok(ProfileChoice::Profile(Box::new(profile)));
        }
        name.parse().map(ProfileChoice::Preset).map_err(|error| {
            let own: Vec<_> = self.configured().collect();
            let own = if own.is_empty() { "none".to_owned() } else { own.join(", ") };
            TerminalError::Invalid { problem: format!("{error}; of profiles, the operator configured {own}") }
        })
    }

    /// What holds for a program that is started with these arguments.
    pub(crate) fn find(&self, program: &Path, arguments: &[String]) -> ProgramProfile {
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        let matches = |pattern: &String| WildMatch::new(pattern).matches(&name);
        let found = self.all.iter().find(|profile| profile.settings.programs.iter().any(matches));
        let settings = ProfileSettings::new("program", &[], Preset::Shell);
        let unknown = KnownProfile { settings, prompts: Prompts::none() };
        let mut profile = of(found.unwrap_or(&unknown), self.input_characters);
        // What runs a script, or is one, does what it does once more.
        if profile.restart.is_none()
            && (found.is_none() || !is_interactive(arguments) || profile.preset == Preset::Build)
        {
            profile.restart = Some(Restart::Never);
        }
        profile
    }
}

fn of(KnownProfile { settings, prompts }: &KnownProfile, maximum_characters: usize) -> ProgramProfile {
    ProgramProfile {
        name: settings.name.clone(),
        preset: settings.preset,
        own_preset: settings.preset,
        tuning: settings.tuning.clone(),
        rules: InputRules { refused: settings.refused.clone(), maximum_characters },
        restart: settings.restart,
        prompts: prompts.clone(),
    }
}

/// Whether a program that is started so reads what is typed, and nothing else:
/// it is given no file and no text to carry out.
fn is_interactive(arguments: &[String]) -> bool {
    arguments.iter().all(|argument| {
        let carried_out = |flag: &str| argument == flag;
        argument.starts_with('-')
            && !["-c", "-e", "-m", "-p", "-r", "-f", "--eval", "--command"].iter().any(|flag| carried_out(flag))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(program: &str, arguments: &[&str]) -> (String, Preset, Option<Restart>) {
        let profiles = ProgramProfiles::new(&[], 10_000).expect("profiles");
        let arguments: Vec<_> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let profile = profiles.find(Path::new(program), &arguments);
        (profile.name, profile.preset, profile.restart)
    }

    #[test]
    fn a_program_is_judged_by_what_its_name_says() {
        for (program, preset) in [
            ("/bin/bash", Preset::Shell),
            ("/usr/bin/python3.11", Preset::Repl),
            ("sqlite3", Preset::Repl),
            ("/opt/bin/claude", Preset::Agent),
            ("make", Preset::Build),
            ("/workspace/own", Preset::Shell),
        ] {
            assert_eq!(found(program, &[]).1, preset, "{program}");
        }
    }

    #[test]
    fn only_what_reads_what_is_typed_is_started_again_by_itself() {
        assert_eq!(found("/bin/bash", &["-i", "--norc"]).2, None);
        assert_eq!(found("python3", &[]).2, None);
        for (program, arguments) in
            [("/bin/bash", &["deploy.sh"][..]), ("/bin/sh", &["-c"]), ("make", &[]), ("/workspace/own", &[])]
        {
            assert_eq!(found(program, arguments).2, Some(Restart::Never), "{program}");
        }
    }

    #[test]
    fn what_the_operator_says_of_a_program_comes_first() {
        let mut own = ProfileSettings::new("own", &["python*"], Preset::Agent);
        own.strict_prompts = vec!["^ready> $".into()];
        own.broad_prompts = vec!["~$".into()];
        own.tuning.broad_quiet_milliseconds = Some(700);
        let profiles = ProgramProfiles::new(&[own.clone()], 10_000).expect("profiles");
        let profile = profiles.find(Path::new("/usr/bin/python3"), &[]);
        assert_eq!((&profile.name[..], profile.preset), ("own", Preset::Agent));
        let parameters = profile.parameters(Preset::Build).expect("parameters");
        assert!(parameters.prompts.find("ready> ").is_some() && parameters.prompts.find("well~").is_some());
        // What is otherwise for the program is so for turns of its own kind alone.
        let quiet = |preset| profile.parameters(preset).expect("parameters").broad_quiet.as_millis();
        assert_eq!((quiet(Preset::Agent), quiet(Preset::Build)), (700, 2_000));
        assert_eq!(profiles.configured().collect::<Vec<_>>(), ["own"]);
        assert!(matches!(profiles.kind("own"), Ok(ProfileChoice::Profile(_))));
        assert!(matches!(profiles.kind("repl"), Ok(ProfileChoice::Preset(Preset::Repl))));
        let error = profiles.kind("agents").expect_err("no such").to_string();
        assert!(error.contains("shell, repl") && error.ends_with("configured own"), "{error}");
        for change in [
            |own: &mut ProfileSettings| own.strict_prompts = vec!["(".into()],
            |own: &mut ProfileSettings| own.tuning.max_attempts = Some(0),
        ] {
            let mut own = own.clone();
            change(&mut own);
            let error = ProgramProfiles::new(&[own], 10_000).expect_err("it cannot be used");
            assert!(error.to_string().contains("`own`"), "{error}");
        }
    }

    #[test]
    fn a_pattern_that_is_none_is_told_once_with_the_list_that_it_stands_in() {
        for (list, other, strict) in
            [("`strict_prompts`", "`broad_prompts`", true), ("`broad_prompts`", "`strict_prompts`", false)]
        {
            let mut own = ProfileSettings::new("own", &["x"], Preset::Shell);
            let patterns = if strict { &mut own.strict_prompts } else { &mut own.broad_prompts };
            *patterns = vec!["[unclosed".into()];
            let error = ProgramProfiles::new(&[own], 1).expect_err("no pattern");
            let told = wharf_core::text::with_causes(&error);
            assert!(told.contains(list) && !told.contains(other), "{told}");
            assert_eq!(told.matches("unclosed character class").count(), 1, "{told}");
        }
    }
}
