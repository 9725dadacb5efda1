//! Every `wharf …` that a page says exists, with its flags.

use std::collections::HashMap;

use wharf_tests::wharf;

use super::pages::{Page, pages};

/// What each command says of itself.
#[derive(Default)]
struct Helps(HashMap<Vec<String>, String>);

impl Helps {
    fn of(&mut self, path: &[String]) -> &str {
        self.0.entry(path.to_vec()).or_insert_with(|| {
            let run = wharf(path.iter().map(String::as_str).chain(["--help"])).run();
            assert_eq!(run.code, Some(0), "{path:?}: {run:?}");
            run.out
        })
    }

    /// The commands below one.
    fn below(&mut self, path: &[String]) -> Vec<String> {
        let help = self.of(path);
        let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
        listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).map(str::to_owned).collect()
    }

    /// What is wrong with the words behind `wharf`.
    fn problem(&mut self, words: &[String]) -> Option<String> {
        let mut path = Vec::new();
        for word in words {
            if word.starts_with('-') || !self.below(&path).contains(word) {
                break;
            }
            path.push(word.clone());
        }
        let rest = &words[path.len()..];
        let usage = self.of(&path).lines().skip_while(|line| !line.starts_with("Usage:"));
        let needs_another = usage.take_while(|line| !line.is_empty()).all(|line| line.contains("<COMMAND>"));
        if needs_another && rest.iter().any(|word| !word.starts_with('-')) {
            return Some(format!("`wharf {}` has no command like that", path.join(" ")));
        }
        let flags = rest.iter().filter(|word| word.starts_with("--") && word.len() > 2);
        let names = flags.map(|flag| flag.split('=').next().unwrap_or(flag));
        let help = self.of(&path);
        let unknown: Vec<_> = names.filter(|flag| !help.split_whitespace().any(|word| word == *flag)).collect();
        (!unknown.is_empty()).then(|| format!("`wharf {}` has no {}", path.join(" "), unknown.join(", ")))
    }
}

/// The commands in a line of shell: the words behind each `wharf`.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut commands: Vec<Vec<String>> = Vec::new();
    let mut starts = true;
    let mut inside = false;
    for word in words(line) {
        let ends = matches!(word.as_str(), "&&" | "||" | ";" | "|" | "&" | "--");
        if ends {
            (starts, inside) = (true, false);
        } else if starts && (word == "wharf" || word.ends_with("/wharf")) {
            commands.push(Vec::new());
            (starts, inside) = (false, true);
        } else if inside {
            // What goes into a file is none of its words.
            if word == ">" {
                inside = false;
            } else if let Some(command) = commands.last_mut() {
                command.push(word);
            }
        } else {
            // `claude mcp add wharf -- …`: a command is behind its own `--`.
            starts = false;
        }
    }
    commands
}

/// The words of a line, less its comment; what is quoted is one word.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None, '#') if word.is_empty() => break,
            (None, ' ' | ';') => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                words.extend((letter == ';').then(|| letter.to_string()));
            }
            _ => word.push(letter),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// All of a page, each with its line.
fn commands_of(page: &Page) -> Vec<(usize, Vec<String>)> {
    let mut found = Vec::new();
    for block in page.blocks() {
        for (index, line) in block.text.lines().enumerate() {
            let line = match block.language {
                "sh" => line,
                "console" => line.strip_prefix("$ ").unwrap_or_default(),
                _ => continue,
            };
            found.extend(commands(line).into_iter().map(|command| (block.line + 1 + index, command)));
        }
    }
    let spans = page.spans().into_iter().filter(|(_, span)| span.contains("wharf "));
    found.extend(spans.flat_map(|(line, span)| commands(span).into_iter().map(move |command| (line, command))));
    found
}

#[test]
fn every_command_in_the_documents_exists_with_its_flags() {
    let mut helps = Helps::default();
    let mut seen = 0;
    let mut problems = Vec::new();
    for page in pages() {
        for (line, words) in commands_of(&page) {
            seen += 1;
            problems.extend(helps.problem(&words).map(|problem| format!("{}:{line}: {problem}", page.path)));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(seen > 100, "{seen} commands were found");
}

#[test]
fn every_server_in_the_documents_has_a_session_of_its_own() {
    for page in pages() {
        for line in page.text.lines().filter(|line| line.contains("--stdio")) {
            let shown = line.matches("serve --stdio").count() + line.matches(r#""serve", "--stdio""#).count();
            let new = line.matches("serve --stdio --session new").count()
                + line.matches(r#""serve", "--stdio", "--session", "new""#).count();
            assert_eq!(shown, new, "{}: {line}", page.path);
        }
    }
}

#[test]
fn commands_are_found_in_lines_of_shell_and_wrong_ones_are_told() {
    let line = r#"cargo build && wharf call a__b '{"c": "wharf x"}' --json > out   # wharf nothing"#;
    assert_eq!(commands(line), [["call", "a__b", r#"{"c": "wharf x"}"#, "--json"]]);
    assert_eq!(commands("claude mcp add wharf -- /path/to/wharf serve --stdio"), [["serve", "--stdio"]]);
    let mut helps = Helps::default();
    let mut problem = |line: &str| commands(line).iter().find_map(|words| helps.problem(words));
    assert_eq!(problem("wharf plugin add x.wasm --name x; wharf audit summary --since 7d"), None);
    assert!(problem("wharf plugin frobnicate x").is_some() && problem("wharf frobnicate").is_some());
    assert!(problem("wharf audit --frobnicate").is_some() && problem("wharf audit --las 2").is_some());
}
