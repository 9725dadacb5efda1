//! What is known of programs by their names: how their turns are judged, what
//! is not typed into them, whether they are started again.
//!
//! A guess that the operator corrects by configuration and the caller by
//! request. Knows nothing of running terminals.

use std::path::Path;

use wharf_core::completion::{InvalidPrompt, Parameters, Preset};
use wildmatch::WildMatch;

use super::Restart;
use crate::{InputRules, RefusedWord};

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
            refused: Vec::new(),
            restart: None,
        }
    }
}

/// A profile cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the profile `{name}` has a prompt that cannot be used")]
pub struct InvalidProfile {
    /// Which one.
    pub name: String,
    /// What is wrong.
    pub source: InvalidPrompt,
}

/// What holds for one program.
#[derive(Debug, Clone)]
pub(super) struct Profile {
    pub(super) name: String,
    pub(super) preset: Preset,
    pub(super) rules: InputRules,
    pub(super) restart: Option<Restart>,
    strict: Vec<String>,
    broad: Vec<String>,
}

impl Profile {
    /// The parameters of a turn of this kind, with the prompts of the program.
    pub(super) fn parameters(&self, preset: Preset) -> Result<Parameters, InvalidPrompt> {
        fn all(patterns: &[String]) -> Vec<&str> {
            patterns.iter().map(String::as_str).collect()
        }
        let mut parameters = preset.parameters();
        if !self.strict.is_empty() {
            parameters.prompts = parameters.prompts.with_strict(&all(&self.strict))?;
        }
        if !self.broad.is_empty() {
            parameters.prompts = parameters.prompts.with_broad(&all(&self.broad))?;
        }
        Ok(parameters)
    }
}

const SHELLS: &[&str] = &["bash", "sh", "zsh", "dash", "ash", "ksh", "mksh", "fish", "ssh", "su", "docker", "kubectl"];
const REPLS: &[&str] = &[
    "python*",
    "ipython*",
    "pypy*",
    "node",
    "nodejs",
    "deno",
    "bun",
    "irb",
    "pry",
    "lua*",
    "php*",
    "sqlite3",
    "duckdb",
    "psql",
    "mysql",
    "mariadb",
    "redis-cli",
    "mongosh",
    "gdb",
    "lldb",
    "bc",
    "dc",
    "R",
    "ghci",
    "julia",
    "octave*",
    "gnuplot",
    "perl",
    "jshell",
    "scala",
    "iex",
    "erl",
    "guile",
    "racket",
    "sbcl",
    "clisp",
    "ocaml",
    "utop",
    "swipl",
    "maxima",
    "gp",
    "ftp",
    "sftp",
    "telnet",
];
const AGENTS: &[&str] =
    &["claude", "codex", "gemini", "opencode", "aider", "goose", "amp", "cursor-agent", "copilot", "crush", "qwen"];
const BUILDS: &[&str] = &[
    "make", "gmake", "ninja", "cmake", "cargo", "npm", "npx", "yarn", "pnpm", "mvn", "gradle", "gradlew", "go",
    "bazel", "meson", "tox", "pytest",
];

/// Whether all prompts of these profiles can be used.
///
/// # Errors
/// Which profile has one that cannot.
pub fn check_profiles(profiles: &[ProfileSettings]) -> Result<(), InvalidProfile> {
    Profiles::new(profiles).map(drop)
}

/// All profiles of a host.
#[derive(Debug)]
pub(super) struct Profiles(Vec<ProfileSettings>);

impl Profiles {
    pub(super) fn new(configured: &[ProfileSettings]) -> Result<Self, InvalidProfile> {
        for profile in configured {
            let failed = |source| InvalidProfile { name: profile.name.clone(), source };
            // The presets differ in how many prompts they have themselves.
            for preset in Preset::ALL {
                of(profile).parameters(preset).map_err(failed)?;
            }
        }
        let known = [
            ("shell", SHELLS, Preset::Shell),
            ("repl", REPLS, Preset::Repl),
            ("agent", AGENTS, Preset::Agent),
            ("build", BUILDS, Preset::Build),
        ];
        let known = known.map(|(name, programs, preset)| ProfileSettings::new(name, programs, preset));
        Ok(Self(configured.iter().cloned().chain(known).collect()))
    }

    /// What holds for a program that is started with these arguments.
    pub(super) fn find(&self, program: &Path, arguments: &[String]) -> Profile {
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        let matches = |pattern: &String| WildMatch::new(pattern).matches(&name);
        let found = self.0.iter().find(|profile| profile.programs.iter().any(matches));
        let mut profile = found.map_or_else(|| of(&ProfileSettings::new("program", &[], Preset::Shell)), of);
        // What runs a script, or is one, does what it does once more.
        if profile.restart.is_none()
            && (found.is_none() || !is_interactive(arguments) || profile.preset == Preset::Build)
        {
            profile.restart = Some(Restart::Never);
        }
        profile
    }
}

fn of(settings: &ProfileSettings) -> Profile {
    Profile {
        name: settings.name.clone(),
        preset: settings.preset,
        rules: InputRules { refused: settings.refused.clone() },
        restart: settings.restart,
        strict: settings.strict_prompts.clone(),
        broad: settings.broad_prompts.clone(),
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
        let profiles = Profiles::new(&[]).expect("profiles");
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
        let profiles = Profiles::new(&[own.clone()]).expect("profiles");
        let profile = profiles.find(Path::new("/usr/bin/python3"), &[]);
        assert_eq!((&profile.name[..], profile.preset), ("own", Preset::Agent));
        let parameters = profile.parameters(Preset::Build).expect("parameters");
        assert!(parameters.prompts.find("ready> ").is_some() && parameters.prompts.find("well~").is_some());
        own.strict_prompts = vec!["(".into()];
        let error = Profiles::new(&[own]).expect_err("no expression");
        assert!(error.to_string().contains("`own`"), "{error}");
    }
}
