use super::*;

fn kinds<const N: usize>(prompts: &Prompts, rows: [&str; N]) -> [Option<PromptKind>; N] {
    rows.map(|row| prompts.find(row))
}

#[test]
fn every_pattern_of_this_file_compiles_and_counts() {
    for patterns in [QUESTIONS, REPLS, SHELLS, ENDINGS] {
        let compiled = compile(patterns, &mut CompileBudget::new(CompileBudget::OPERATOR)).expect("legal");
        assert_eq!(compiled.len(), patterns.len());
    }
    let all = Prompts::interactive();
    assert_eq!((all.strict.len(), all.broad.len()), (QUESTIONS.len() + REPLS.len() + SHELLS.len(), ENDINGS.len()));
    assert_eq!(Prompts::questions().broad.len(), 0);
}

#[test]
fn questions_and_pagers_are_strict_everywhere() {
    let rows = [
        "Proceed (y/n)",
        "Do you want to continue? [Y/n] ",
        "Overwrite? (yes/no): ",
        "Are you sure you want to continue connecting (yes/no/[fingerprint])? ",
        "[sudo] password for ann: ",
        "Password:",
        "Enter passphrase for key 'id': ",
        "(END)",
        "lines 1-23/80 (END)",
        "lines 1-23",
        "--More--",
        "--More--(12%)",
        "Press ENTER or type command to continue",
    ];
    assert_eq!(kinds(&Prompts::questions(), rows), [Some(PromptKind::Strict); 13]);
}

#[test]
fn the_prompt_of_the_document_on_interactive_sessions_is_broad() {
    assert_eq!(kinds(&Prompts::standard(), [">", "> ", "agent> "]), [Some(PromptKind::Broad); 3]);
}

#[test]
fn prompts_of_shells_and_of_programs_that_nobody_knows_are_broad() {
    let rows = ["/srv$ ", "host:/# ", "host% ", "~/src ❯ ", "Your name: ", "What now? ", "(myapp) >> "];
    assert_eq!(kinds(&Prompts::standard(), rows), [Some(PromptKind::Broad); 7]);
}

#[test]
fn a_shell_that_says_who_is_where_is_strict_as_a_whole_row() {
    let rows = [
        "ann@host:~/src$ ",
        "root@vm:/# ",
        "[ann@host src]$ ",
        "(venv) ann@host.example.org:~/my project$ ",
        "ann@host:~/v2 (main)$ ",
    ];
    assert_eq!(kinds(&Prompts::standard(), rows), [Some(PromptKind::Strict); 5]);
    let rows = ["ann@host:/var/log 50%", "to ann@host:~$ ", "ann@host:~$", "ann@host: #", "ann@host:~$ ls $ "];
    for row in rows {
        assert_ne!(Prompts::standard().find(row), Some(PromptKind::Strict), "{row}");
    }
}

#[test]
fn whole_rows_of_known_interpreters_are_strict_only_as_whole_rows() {
    let rows =
        [">>> ", "sqlite> ", "(gdb) ", "(Pdb) ", "In [3]: ", "postgres=# ", "... ", "   ...> ", "irb(main):4:1*   "];
    assert_eq!(kinds(&Prompts::interactive(), rows), [Some(PromptKind::Strict); 9]);
    let rows = ["echo >>> ", "use sqlite> ", "see In [3]: "];
    assert_eq!(kinds(&Prompts::interactive(), rows), [Some(PromptKind::Broad); 3]);
    assert_eq!(Prompts::interactive().find("wait (gdb) "), None);
}

#[test]
fn progress_is_no_prompt() {
    let rows = [
        "",
        "   ",
        " 50%",
        "100% ",
        "[=====>",
        "[----->",
        "a --> ",
        "########",
        "#### 12%",
        "...",
        "Compiling",
        "12/80",
        "|",
        "1.2 MB/s",
        "[3/7] Linking",
        "downloading ===> ",
    ];
    assert_eq!(kinds(&Prompts::interactive(), rows), [None; 16]);
}

#[test]
fn a_row_of_more_than_a_kibibyte_is_no_prompt() {
    let row = |bytes: usize| format!("{}> ", "x".repeat(bytes - 2));
    assert_eq!(Prompts::standard().find(&row(1_024)), Some(PromptKind::Broad));
    assert_eq!(Prompts::standard().find(&row(1_025)), None);
}

#[test]
fn a_pattern_that_would_cost_too_much_or_match_every_line_break_is_refused() {
    let budget = || CompileBudget::new(CompileBudget::OPERATOR);
    let new = |strict: &[&str], broad: &[&str]| Prompts::new(strict, broad, &mut budget());
    let refused = |patterns: &[&str]| new(patterns, &[]).expect_err("refused").to_string();
    assert_eq!(
        refused(&["ok> $", ">?$"]),
        r#"the pattern ">?$" matches an empty row, so every line break would be a prompt"#
    );
    assert_eq!(refused(&[&"x".repeat(1_025)]), "a pattern has at most 1024 bytes, this one has 1025");
    assert_eq!(refused(&["x"; 65]), "there are at most 64 patterns of one kind, not 65");
    assert!(matches!(new(&[], &["("]), Err(InvalidPrompt::Syntax { .. })));
    assert!(matches!(new(&[r"(\w{1000}){1000}"], &[]), Err(InvalidPrompt::Costly(_))));
    assert!(matches!(new(&["(a{1000}){100}"], &[]), Err(InvalidPrompt::Syntax { .. })));
    assert!(Prompts::standard().with_strict(&["x*"], &mut budget()).is_err());
    // Those of the preset count, too.
    let many = ["x"; 64];
    let more = Prompts::interactive().with_strict(&many, &mut budget()).expect_err("too many together").to_string();
    assert!(more.starts_with("there are at most 64 patterns of one kind, not 7"), "{more}");
}

#[test]
fn a_profile_adds_its_own_prompt_and_keeps_the_others() {
    let mut budget = CompileBudget::new(CompileBudget::REQUEST);
    let own = Prompts::standard().with_strict(&[r"^widget\d+! $"], &mut budget).expect("legal");
    let rows = ["widget7! ", "Password: ", "> "];
    assert_eq!(kinds(&own, rows), [Some(PromptKind::Strict), Some(PromptKind::Strict), Some(PromptKind::Broad)]);
    assert_eq!(kinds(&Prompts::none(), rows), [None; 3]);
}

#[test]
fn patterns_that_take_too_long_to_compile_together_are_refused() {
    let slow = format!("(?i){}", "[!-\u{10fffd}]{0}".repeat(90));
    let mut budget = CompileBudget::new(CompileBudget::REQUEST);
    let refused = Prompts::standard().with_strict(&[slow.as_str(); 16], &mut budget).expect_err("it takes too long");
    assert!(matches!(refused, InvalidPrompt::Costly(_)) && refused.to_string().contains("`(?-i:"), "{refused}");
    // Each alone is no matter, and sixteen are.
    let words = [r"^\w+ \w+> $"; 16];
    let with =
        |patterns: &[&str]| Prompts::standard().with_strict(patterns, &mut CompileBudget::new(CompileBudget::REQUEST));
    assert!(with(&words[..4]).is_ok() && matches!(with(&words), Err(InvalidPrompt::Costly(_))));
}
