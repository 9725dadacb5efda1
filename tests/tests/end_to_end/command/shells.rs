//! What shells and `man` are given.

use std::process::Command;

use wharf_tests::{Data, wharf};

#[test]
fn bash_completes_commands_options_and_values() {
    let files = Data::alone();
    let run = wharf(["completions", "bash"]).run();
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let script = files.write("completions", run.out);
    let completed = |words: &str, at: usize| {
        let complete = format!(
            "source \"$1\"; COMP_WORDS=({words}); COMP_CWORD={at}; _wharf wharf \"${{COMP_WORDS[$COMP_CWORD]}}\" \
             \"${{COMP_WORDS[$COMP_CWORD-1]}}\"; echo \"${{COMPREPLY[*]}}\""
        );
        let shell = Command::new("bash").args(["--norc", "-c", &complete, "bash"]).arg(&script).output().expect("bash");
        assert!(shell.stderr.is_empty(), "{}", String::from_utf8_lossy(&shell.stderr));
        String::from_utf8_lossy(&shell.stdout).trim().to_owned()
    };
    assert_eq!(completed("wharf conn", 1), "connect");
    assert_eq!(completed("wharf connect curs", 2), "cursor");
    assert_eq!(completed("wharf serve --std", 2), "--stdio");
    assert_eq!(completed("wharf --profile dev", 2), "developer");
    for shell in ["elvish", "fish", "powershell", "zsh"] {
        let run = wharf(["completions", shell]).run();
        assert!(run.code == Some(0) && run.out.contains("connect"), "{shell}: {run:?}");
    }
}

#[test]
fn each_command_has_a_manual_page_without_what_this_machine_says() {
    let files = Data::alone();
    let pages = files.path().join("share/man/man1");
    let path = pages.to_str().expect("text");
    let run = wharf(["man", "--output", path]).env("WHARF_DATA", "/of/this/machine").run();
    assert_eq!((run.code, run.out.as_str()), (Some(0), ""), "{run:?}");
    let read = |name: &str| std::fs::read_to_string(pages.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    for (page, told) in
        [("wharf.1", "wharf\\-serve(1)"), ("wharf-serve.1", "\\-\\-stdio"), ("wharf-approvals.1", "Examples")]
    {
        let text = read(page);
        assert!(text.contains(told), "{page}: {text}");
        assert!(!text.contains("/of/this/machine"), "{page}");
    }
    let run = wharf(["man"]).run();
    assert!(run.code == Some(0) && run.out.contains(".TH wharf 1") && !run.out.contains("/of/this/machine"), "{run:?}");
    files.write("file", "");
    let run = wharf(["man", "--output", files.path().join("file/x").to_str().expect("text")]).run();
    assert!(run.code == Some(1) && run.err.contains("file/x"), "{run:?}");
}
