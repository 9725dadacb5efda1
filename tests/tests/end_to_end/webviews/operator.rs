//! What an operator is told of the browser.

use wharf_tests::{Client, Command, Data, Setup, wharf};

fn doctor(data: &Data, tables: &str) -> Command {
    let setup = Setup::new().webviews("origins = [\"*\"]").with_tables(tables);
    wharf(["doctor"]).config(&data.write("wharf.toml", setup.text())).data(data.path())
}

#[test]
fn the_doctor_says_which_browser_there_is_and_whether_its_sandbox_works() {
    let data = Data::new();
    let run = doctor(&data, "").run();
    let line = run.out.lines().find(|line| line.contains(" browser ")).unwrap_or_else(|| panic!("{run:?}"));
    assert!(line.starts_with("ok ") && line.contains("Chrom") && line.contains("in its own sandbox"), "{line}");
    assert_eq!(run.code, Some(0), "{run:?}");
    // Where it is given up, that is said; where there is none, what to do about it.
    let run = doctor(&data, "[webview]\nsandbox = false").run();
    assert!(run.out.contains("WITHOUT its own sandbox"), "{run:?}");
    for program in ["/nowhere/chromium", "true"] {
        let run = doctor(&data, &format!("[webview]\nprogram = \"{program}\"")).run();
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.out.contains("!! browser") && run.out.contains("chromium-headless-shell"), "{run:?}");
    }
    // Without a use for it, no browser is started.
    let setup = Setup::new();
    let none = wharf(["doctor"]).config(&data.write("wharf.toml", setup.text())).data(data.path()).run();
    assert!(none.out.contains("not tried") && none.code == Some(0), "{none:?}");
}

#[test]
fn the_doctor_tries_the_browser_where_only_the_host_itself_may_have_pages() {
    let data = Data::new();
    let tables = "[plugin.host.grants.webview]\nreason = \"a test\"\norigins = [\"*\"]\n";
    let config = data.write("wharf.toml", Setup::new().with_tables(tables).text());
    let run = wharf(["doctor"]).config(&config).data(data.path()).run();
    assert!(run.out.contains(" browser ") && !run.out.contains("not tried"), "{run:?}");
}

#[test]
fn a_browser_without_its_sandbox_is_told_at_each_start() {
    let data = Data::new();
    for (tables, told) in [("", false), ("[webview]\nsandbox = false", true)] {
        let setup = Setup::new().webviews("origins = [\"*\"]").with_tables(tables);
        let configuration = data.write("wharf.toml", setup.text());
        let client = Client::connect(wharf(["serve", "--stdio"]).config(&configuration).data(data.path()));
        let (_, log, code) = client.leave();
        assert_eq!(code, Some(0), "{log}");
        assert_eq!(log.contains("without the browser's sandbox"), told, "{log}");
    }
}
