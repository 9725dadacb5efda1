//! Command lines as an operator reads them and writes patterns of them. Starts nothing.

use std::borrow::Cow;

use wildmatch::WildMatch;

use crate::{grant::AllowedCommand, text};

/// Longest command line that patterns are compared with: a longer one matches them all.
const MOST_COMPARED_BYTES: usize = 64 << 10;
/// Longest pattern.
const MOST_PATTERN_BYTES: usize = 512;
/// What a shell is called that reads what is typed.
const INTERACTIVE: &str = "sh";

/// What a plugin asks to start, as one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine<'c> {
    /// The text for a shell; or a program and its arguments, quoted so that a shell would start the
    /// same: two commands that differ have different lines.
    pub exact: Cow<'c, str>,
    /// The same with nothing quoted, where that is another text.
    spaced: Option<String>,
    /// The program, unless it is for a shell.
    pub program: Option<&'c str>,
}

impl<'c> CommandLine<'c> {
    /// The line of a command and its arguments, which a text for a shell has none of.
    #[must_use]
    pub fn of(command: &AllowedCommand<'c>, arguments: &[String]) -> Self {
        let Some(program) = command.program() else {
            return Self { exact: command.shell_text().unwrap_or(INTERACTIVE).into(), spaced: None, program: None };
        };
        let words = || std::iter::once(program).chain(arguments.iter().map(String::as_str));
        let exact = words().map(text::for_shell).collect::<Vec<_>>().join(" ");
        let spaced = words().collect::<Vec<_>>().join(" ");
        let spaced = (spaced != exact).then_some(spaced);
        Self { exact: exact.into(), spaced, program: Some(program) }
    }
}

/// Command lines that an operator names: `*` stands for any text, `?` for one character.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandPattern(WildMatch);

/// A pattern that nobody can mean.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{}` is no pattern of commands: 1 to {MOST_PATTERN_BYTES} bytes that a person can see, as in \"git push*\"",
    text::line(written, 64)
)]
pub struct InvalidCommandPattern {
    written: String,
}

impl CommandPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// Where it is empty or too long, or has characters that nobody sees.
    pub fn new(written: &str) -> Result<Self, InvalidCommandPattern> {
        let is_blank = written.trim().is_empty();
        if is_blank || written.len() > MOST_PATTERN_BYTES || !text::is_visible(written) {
            return Err(InvalidCommandPattern { written: written.to_owned() });
        }
        Ok(Self(WildMatch::new(written)))
    }

    /// Whether it stands for this command, in either writing. A line of more than 64 KiB matches
    /// whatever the pattern is: nobody reads it.
    #[must_use]
    pub fn matches(&self, line: &CommandLine<'_>) -> bool {
        let compared = |text: &str| text.len() > MOST_COMPARED_BYTES || self.0.matches(text);
        compared(&line.exact) || line.spaced.as_deref().is_some_and(compared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Grants, PluginName,
        grant::{ChildGrant, ProcessGrant},
    };

    fn grants() -> (Grants, PluginName) {
        let children =
            ChildGrant { programs: vec!["**".to_owned()], shell: true, ..ChildGrant::with_reason("for tests") };
        let grants = Grants { process: Some(ProcessGrant::of(children)), ..Grants::default() };
        (grants, "p".parse().expect("legal"))
    }

    fn matches(pattern: &str, program: &str, arguments: &[&str]) -> bool {
        let (grants, plugin) = grants();
        let granted = grants.process(&plugin).expect("granted");
        let arguments: Vec<_> = arguments.iter().map(|one| (*one).to_owned()).collect();
        let command = granted.program(program).expect("granted");
        CommandPattern::new(pattern).expect("legal").matches(&CommandLine::of(&command, &arguments))
    }

    fn shell_matches(pattern: &str, text: &str) -> bool {
        let (grants, plugin) = grants();
        let granted = grants.process(&plugin).expect("granted");
        let command = granted.shell(text).expect("granted");
        CommandPattern::new(pattern).expect("legal").matches(&CommandLine::of(&command, &[]))
    }

    #[test]
    fn a_pattern_is_compared_with_the_whole_line() {
        assert!(matches("git push*", "git", &["push", "origin", "main"]));
        assert!(!matches("git push*", "git", &["pull"]) && !matches("git", "git", &["push"]));
        assert!(matches("git commit -m two words", "git", &["commit", "-m", "two words"]), "as lists show it");
        assert!(matches("git commit -m 'two*'", "git", &["commit", "-m", "two words"]), "as a question shows it");
        assert!(matches("*git push*", "sh", &["-c", "cd x && git push"]));
        assert!(shell_matches("git push*", "git push") && shell_matches("*git push*", "cd x\ngit push"));
        assert!(!shell_matches("git push*", "cd x && git push"));
        assert!(shell_matches("rm ?", "rm x") && !shell_matches("rm ?", "rm xy"));
    }

    #[test]
    fn commands_that_differ_have_lines_that_differ() {
        let (grants, plugin) = grants();
        let granted = grants.process(&plugin).expect("granted");
        let line = |arguments: &[&str]| {
            let arguments: Vec<_> = arguments.iter().map(|one| (*one).to_owned()).collect();
            CommandLine::of(&granted.program("git").expect("granted"), &arguments).exact.into_owned()
        };
        assert_eq!(line(&["commit", "-m", "it's"]), r"git commit -m 'it'\''s'");
        assert_ne!(line(&["-m", "x --amend"]), line(&["-m", "x", "--amend"]));
        assert_ne!(line(&["a", ""]), line(&["a"]));
    }

    #[test]
    fn a_line_that_nobody_reads_matches() {
        assert!(shell_matches("git push*", &format!("true {}", " ".repeat(MOST_COMPARED_BYTES))));
        assert!(!shell_matches("git push*", &format!("true {}", " ".repeat(1 << 10))));
    }

    #[test]
    fn what_no_command_can_match_is_no_pattern() {
        for wrong in ["", " ", "git\u{200b}push", "a\u{7}", &"a".repeat(MOST_PATTERN_BYTES + 1)] {
            let told = CommandPattern::new(wrong).expect_err(wrong).to_string();
            assert!(told.contains("no pattern of commands"), "{told}");
        }
    }
}
