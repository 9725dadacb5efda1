//! The programs that are known without configuration, by their names.
//!
//! Owns the guesses. Never knows what the operator configured.

use wharf_completion::detection::Preset;

use super::ProfileSettings;

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

/// The built-in profiles, each called what its preset is.
pub(super) fn profiles() -> impl Iterator<Item = ProfileSettings> {
    let known = [(Preset::Shell, SHELLS), (Preset::Repl, REPLS), (Preset::Agent, AGENTS), (Preset::Build, BUILDS)];
    known.into_iter().map(|(preset, programs)| ProfileSettings::new(preset.as_str(), programs, preset))
}
