//! `wharf test` with programs, pages and servers that its cases script: nothing of them has to be
//! on the machine, and the grants are those that the plugin has.

use std::fs;

use wharf_tests::{Data, Finished, component, wharf};

/// The folder of a plugin that was built before, with its grants and its cases.
fn tested(plugin: &str, built: &str, grants: &str, cases: &str) -> Finished {
    let folder = Data::alone();
    folder.write("package.json", format!(r#"{{"name": "{plugin}", "version": "1.0.0"}}"#));
    folder.write("wharf.toml", format!("[plugin.{plugin}]\npin = \"none\"\n{grants}"));
    folder.write("cases.toml", cases);
    fs::create_dir(folder.path().join("dist")).expect("a folder");
    fs::copy(component(built), folder.path().join(format!("dist/{plugin}.wasm"))).expect("copied");
    wharf(["test", "--no-build", "--tap"]).inside(folder.path()).run()
}

/// Whether each case passed, and all that was printed where the run is not as expected.
#[track_caller]
fn assert_outcomes(run: &Finished, expected: &[bool]) {
    let outcomes: Vec<_> = run
        .out
        .lines()
        .filter_map(|line| match line.split_once(' ') {
            Some(("ok", _)) => Some(true),
            Some(("not", _)) => Some(false),
            _ => None,
        })
        .collect();
    assert_eq!(outcomes, expected, "{run:?}");
    assert_eq!(run.code, Some(i32::from(expected.contains(&false))), "{run:?}");
}

#[test]
fn a_server_that_is_scripted_answers_what_is_granted_and_nothing_else() {
    let grants = "[plugin.fetching.grants.http]\nreason = \"a test\"\nrequests = [\"GET https://wharf.invalid/*\"]\n";
    let run = tested(
        "fetching",
        "guest-fetching",
        grants,
        r#"
        [[response]]
        url = "https://wharf.invalid/old"
        status = 302
        headers = { location = "https://wharf.invalid/new?page=1" }

        [[response]]
        url = "https://elsewhere.invalid/"
        body = "never"

        [[case]]
        name = "it follows where it leads"
        tool = "fetch"
        arguments = { url = "https://wharf.invalid/old" }
        text = "201 here"
        [[case.response]]
        url = "https://wharf.invalid/new?page=1"
        status = 201
        body = "here"

        [[case]]
        name = "the next case has not heard of it"
        tool = "fetch"
        arguments = { url = "https://wharf.invalid/old" }
        error = "unavailable"
        error_contains = "its server is scripted, and no [[response]] is about this"

        [[case]]
        name = "a script is no grant"
        tool = "fetch"
        arguments = { url = "https://elsewhere.invalid/" }
        error = "denied"

        [[case]]
        name = "this one cannot pass"
        tool = "fetch"
        arguments = { url = "https://wharf.invalid/nowhere" }
        text = "200 x"
        "#,
    );
    assert_outcomes(&run, &[true, true, true, false]);
    assert!(run.out.contains("\n# no script is about the request `GET https://wharf.invalid/nowhere`\n"), "{run:?}");
}

#[test]
fn a_page_that_is_scripted_needs_no_browser() {
    let grants = "[plugin.browser.grants.webview]\nreason = \"a test\"\norigins = [\"https://wharf.invalid\"]\n\
                  [plugin.browser.grants.state]\nreason = \"a test\"\n";
    let run = tested(
        "browser",
        "browser",
        grants,
        r#"
        [[page]]
        url = "https://wharf.invalid/"
        title = "A Harbour"
        scripts = [
            { script = "1 + 1", value = 2 },
            { script = "tides()", value = [{ at = "noon", metres = 1.5 }] },
            { script = "storm()", throws = "too much wind" },
        ]

        [[page]]
        url = "https://elsewhere.invalid/"

        [[case]]
        name = "it goes there"
        tool = "navigate"
        arguments = { url = "https://wharf.invalid" }
        text_contains = "A Harbour"

        [[case]]
        name = "a script comes to its value"
        tool = "evaluate"
        arguments = { script = "return tides()" }
        text_contains = "[{\"at\":\"noon\",\"metres\":1.5}]"

        [[case]]
        name = "what stands there itself comes first"
        tool = "evaluate"
        arguments = { script = "1 + 1" }
        text_contains = "2"

        [[case]]
        name = "a script throws"
        tool = "evaluate"
        arguments = { script = "storm()" }
        error_contains = "too much wind"

        [[case]]
        name = "a script that nobody wrote down"
        tool = "evaluate"
        arguments = { script = "ebb()" }
        text_contains = "low"

        [[case]]
        name = "a page is no grant"
        tool = "navigate"
        arguments = { url = "https://elsewhere.invalid/" }
        error_contains = "elsewhere.invalid"
        "#,
    );
    assert_outcomes(&run, &[true, true, true, true, false, true]);
    assert!(run.out.contains("# no script is about the script `ebb()` in the page https://wharf.invalid/"), "{run:?}");
}

#[test]
fn a_program_that_is_scripted_runs_in_its_sandbox_and_has_its_pipes_and_its_exit() {
    let grants = "[plugin.workspace.grants.process]\nreason = \"a test\"\nshell = true\n\
                  [plugin.workspace.grants.workspace]\nreason = \"a test\"\naccess = \"write\"\n";
    let run = tested(
        "workspace",
        "workspace",
        grants,
        r#"
        [[program]]
        name = "sh"
        arguments = ["-c", "make"]
        once = true
        stdout = "compiling\n"
        then = [{ after_milliseconds = 20, stderr = "main.c:1: no such file\n" }]
        code = 2

        [[program]]
        name = "sh"
        arguments = ["-c", "make"]
        stdout = "nothing to do\n"

        [[program]]
        name = "sh"
        arguments_contain = ["serve"]
        stdout = "listening\n"
        never_ends = true

        [[case]]
        name = "it fails"
        tool = "execute_shell"
        arguments = { command = "make" }
        text_contains = "main.c:1: no such file"

        [[case]]
        name = "it is served until it is stopped"
        tool = "execute_shell"
        arguments = { command = "serve", wait_seconds = 1 }
        text_contains = "listening"

        [[case]]
        name = "another text of the same shell"
        tool = "execute_shell"
        arguments = { command = "echo real" }
        error_contains = "its scripts are about other arguments"
        "#,
    );
    assert_outcomes(&run, &[true, true, true]);
}

#[test]
fn a_program_that_no_script_names_is_the_real_one_unless_only_scripted_ones_may_run() {
    let grants = "[plugin.workspace.grants.process]\nreason = \"a test\"\nshell = true\n\
                  [plugin.workspace.grants.workspace]\nreason = \"a test\"\naccess = \"write\"\n";
    let cases = r#"
        [[case]]
        name = "the real shell"
        tool = "execute_shell"
        arguments = { command = "echo $((6 * 7))" }
        text_contains = "42"
        "#;
    assert_outcomes(&tested("workspace", "workspace", grants, cases), &[true]);
    let run = tested("workspace", "workspace", grants, &format!("only_scripted = true\n{cases}"));
    assert_outcomes(&run, &[false]);
    assert!(run.out.contains("`only_scripted` keeps real ones away"), "{run:?}");
    assert!(run.out.contains("# no script is about the program `sh -c echo $((6 * 7))`"), "{run:?}");
}

#[test]
fn a_script_of_a_program_that_is_not_granted_is_denied_as_in_any_host() {
    let cases = r#"
        [[program]]
        name = "sh"
        stdout = "never"

        [[case]]
        name = "no shell"
        tool = "execute_shell"
        arguments = { command = "make" }
        error = "denied"
        "#;
    let grants = "[plugin.workspace.grants.process]\nreason = \"a test\"\nprograms = [\"make\"]\n\
                  [plugin.workspace.grants.workspace]\nreason = \"a test\"\naccess = \"write\"\n";
    assert_outcomes(&tested("workspace", "workspace", grants, cases), &[true]);
}

#[test]
fn a_script_that_cannot_be_is_told_with_its_line() {
    let case = "[[case]]\nname = \"n\"\ntool = \"t\"\ntext = \"x\"\n";
    for (script, line, words) in [
        ("[[program]]\nname = \"cc\"\noutput = \"x\"\n", 3, "unknown field `output`"),
        ("[[program]]\nname = \"\"\n", 2, "this names no program"),
        ("[[program]]\nname = \"cc\"\ncode = 256\n", 3, "expected u8"),
        ("[[program]]\nname = \"cc\"\nafter_milliseconds = 99999999\n", 3, "at most 600000 milliseconds"),
        ("[[program]]\nname = \"cc\"\nanswers = [{ input = \"a\\nb\" }]\n", 3, "line by line"),
        ("[[page]]\nurl = \"example.com\"\n", 2, "begins with http:// or https://"),
        ("[[page]]\nurl = \"https://a.invalid/\"\nstatus = 99\n", 3, "is 200 to 599"),
        ("[[response]]\nurl = \"https://a.invalid/\"\nheaders = { \"a b\" = \"\" }\n", 3, "head of an answer"),
        ("[[response]]\nurl = \"https://a.invalid/\"\nheaders = { Content-Length = \"1\" }\n", 3, "leave it out"),
    ] {
        let run = tested("echo", "guest-echo", "", &format!("{script}{case}"));
        assert_eq!(run.code, Some(3), "{script}{run:?}");
        for told in ["cases.toml", &format!("line {line}"), words] {
            assert!(run.err.contains(told), "{told}: {script}{run:?}");
        }
    }
}
