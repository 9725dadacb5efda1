//! What `wharf.toml` names: a table for a plugin that is nowhere is told with the
//! nearest name, and `wharf config check` opens all that is named.

use std::{
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use serde_json::Value;
use wharf_tests::{Authority, Data, Finished, Holds, component, wharf};

/// A directory with all that a right configuration names, and its text.
fn right(files: &Data) -> String {
    let secret = files.write("secret", "0123456789abcdef0123456789abcdef\n");
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).expect("ours");
    let key = rcgen::KeyPair::generate().expect("a key");
    let parameters = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
    files.write("certificate.pem", parameters.self_signed(&key).expect("a certificate").pem());
    files.write_private("key.pem", key.serialize_pem());
    for folder in ["folder", "exchange", "temporary", "readable"] {
        std::fs::create_dir(files.path().join(folder)).expect("made");
    }
    let at = |name: &str| files.path().join(name).display().to_string();
    format!(
        "[plugins]\nfolder = \"folder\"\n[plugin.echo]\nsource = '{}'\n\
         [plugin.echo.secrets.token]\nfile = \"secret\"\nto = \"* https://api.example.com\"\n\
         header = \"Authorization: Bearer {{}}\"\n\
         [plugin.echo.grants.process]\nreason = \"r\"\nreadable = ['{}']\n\
         [plugin.echo.grants.workspace]\nreason = \"r\"\nexchange = [{{name = \"e\", path = '{}'}}]\n\
         [[http.tokens]]\nname = \"a\"\nfile = \"secret\"\n[http.tls]\ncertificate = \"certificate.pem\"\n\
         key = \"key.pem\"\n[webview]\ntemporary = \"temporary\"\n\
         [terminal.profile.db]\nprograms = [\"psql\"]\npreset = \"repl\"\nstrict_prompts = ['^db> $']\n\
         [traces]\nendpoint = \"https://c.example/v1/traces\"\n[traces.headers.a]\nfile = \"secret\"\n\
         header = \"Authorization: Bearer {{}}\"\n",
        component("guest-echo").display(),
        at("readable"),
        at("exchange")
    )
}

fn check(files: &Data, text: &str) -> Finished {
    let file = files.write("wharf.toml", text);
    wharf(["config", "check"]).config(&file).data(&files.path().join("data")).run()
}

#[test]
fn config_check_opens_all_that_is_named_and_fails_where_it_is_wrong() {
    let files = Data::alone();
    let text = right(&files);
    let run = check(&files, &text);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(!files.path().join("data").exists(), "checking makes nothing");
    let missing = |name: &str| {
        let (from, to) = (files.path().join(name), files.path().join("away"));
        std::fs::rename(&from, &to).expect("moved");
        let run = check(&files, &text);
        std::fs::rename(&to, &from).expect("moved back");
        run
    };
    for (name, told) in [
        ("secret", &["[plugin.echo.secrets.token]", "[[http.tokens]]", "[traces.headers.a]"][..]),
        ("certificate.pem", &["[http.tls]"]),
        ("key.pem", &["[http.tls]"]),
        ("folder", &["[plugins] `folder`"]),
        ("readable", &["[plugin.echo.grants.process] `readable`"]),
        ("temporary", &["[webview] `temporary`"]),
    ] {
        let run = missing(name);
        assert_eq!((run.code, run.out.as_str()), (Some(3), ""), "{name}: {run:?}");
        for told in told {
            assert!(run.err.contains(told), "{name} lacks {told}: {run:?}");
        }
    }
    // A folder to exchange files in may be on a disk that comes and goes.
    let run = missing("exchange");
    assert!(run.code == Some(0) && run.err.contains("warning: [plugin.echo.grants.workspace] `exchange`"), "{run:?}");
    let named = |name: &str| {
        let plugins = format!("[[http.tokens]]\nplugins = [\"{name}\", \"host\", \"app_*\", \"echo\"]\n");
        check(&files, &text.replace("[[http.tokens]]\n", &plugins))
    };
    let run = named("planing");
    assert!(
        run.code == Some(3) && run.err.contains("`planing`, which is no plugin (did you mean `planning`?)"),
        "{run:?}"
    );
    assert_eq!(run.err.matches("which is no plugin").count(), 1, "{run:?}");
    let run = check(
        &files,
        &format!("{text}[approvals]\napprove = [\"workspce__execute_shell\", \"b*__x\", \"app_x__y\"]\n"),
    );
    assert!(run.code == Some(3) && run.err.contains("(did you mean `workspace`?)"), "{run:?}");
    assert_eq!(run.err.matches("which is no plugin").count(), 1, "{run:?}");
    // What may be added yet.
    let run = named("tickets");
    assert!(run.code == Some(0) && run.err.contains("`tickets`, which is no plugin"), "{run:?}");
    let broken = files.write("broken.wasm", "no component");
    let (echo, broken) = (component("guest-echo").display().to_string(), broken.display().to_string());
    for (from, to, told) in [
        (echo.as_str(), broken.as_str(), "no Wasm component"),
        (echo.as_str(), "/nowhere/echo.wasm", "[plugin.echo] `source` /nowhere/echo.wasm"),
        ("\"certificate.pem\"", "\"key.pem\"", "[http.tls]"),
        ("'^db> $'", "'('", "[terminal.profile.db]"),
        ("[plugin.echo]\n", "[plugin.echo]\npin = \"refuse\"\n", "--confirm"),
    ] {
        let run = check(&files, &text.replace(from, to));
        assert_eq!(run.code, Some(3), "{to}: {run:?}");
        assert!(run.err.contains(told), "{to}: {run:?}");
    }
    std::fs::set_permissions(files.path().join("secret"), std::fs::Permissions::from_mode(0o644)).expect("ours");
    let run = check(&files, &text);
    assert!(run.code == Some(3) && run.err.contains("chmod 600"), "{run:?}");
    let file = files.path().join("wharf.toml");
    let run = wharf(["config", "check", "--json"]).config(&file).data(&files.path().join("data")).run();
    let told: Value = serde_json::from_str(&run.out).expect("JSON");
    assert!(run.code == Some(3) && told["problems"].as_array().is_some_and(|problems| !problems.is_empty()), "{told}");
}

#[test]
fn config_check_opens_what_a_host_of_a_cluster_needs() {
    let files = Data::alone();
    let authority = Authority::new();
    let (certificate, key) = authority.certificate("localhost", Holds::Now);
    files.write("host.pem", certificate);
    files.write_private("host.key", key);
    files.write("authority.pem", authority.pem());
    files.write_private("database", "host=localhost dbname=wharf user=wharf");
    files.write_private("secret", "0123456789abcdef0123456789abcdef");
    let text = "[state]\ndatabase_file = \"database\"\n[cluster]\nname = \"test\"\naddress = \"localhost:7443\"\n\
                secret_files = [\"secret\"]\n[cluster.tls]\ncertificate = \"host.pem\"\nkey = \"host.key\"\n\
                authority = \"authority.pem\"\n";
    let run = check(&files, text);
    assert_eq!(run.code, Some(0), "{run:?}");
    let wrong = |run: Finished, told: &str| assert!(run.code == Some(3) && run.err.contains(told), "{told}: {run:?}");
    for (name, told) in [
        ("database", "state.database_file"),
        ("secret", "[cluster] secret_files"),
        ("host.pem", "[cluster.tls]"),
        ("host.key", "[cluster.tls]"),
        ("authority.pem", "[cluster.tls]"),
    ] {
        let (from, to) = (files.path().join(name), files.path().join("away"));
        std::fs::rename(&from, &to).expect("moved");
        let run = check(&files, text);
        std::fs::rename(&to, &from).expect("moved back");
        wrong(run, told);
    }
    wrong(check(&files, &text.replace("\"host.pem\"", "\"authority.pem\"")), "[cluster.tls]");
    wrong(check(&files, &text.replace("database_file = \"database\"", "")), "`database_file`");
    std::fs::create_dir(files.path().join("folder")).expect("made");
    wrong(check(&files, &format!("{text}[plugins]\nfolder = \"folder\"\n")), "[plugins] `folder` is for one host");
    std::fs::set_permissions(files.path().join("secret"), std::fs::Permissions::from_mode(0o644)).expect("ours");
    wrong(check(&files, text), "chmod 600");
    let open = text.replace("[cluster.tls]", "secrets_allow_unprotected = true\n[cluster.tls]");
    assert_eq!(check(&files, &open).code, Some(0), "its operator allows it");
    files.write_private("secret", "short");
    wrong(check(&files, text), "at least 32");
}

#[test]
fn config_check_finds_what_a_host_would_refuse_of_plugins_without_a_source() {
    let files = Data::alone();
    let other = format!("digest = \"blake3:{}\"", "0".repeat(64));
    let run = check(&files, &format!("[plugin.planning]\n{other}\npin = \"refuse\"\n"));
    assert!(run.code == Some(3) && run.err.contains("[plugin.planning]") && run.err.contains("--confirm"), "{run:?}");
    // A pin without a word for it withholds the grants, and the host starts.
    let run = check(&files, &format!("[plugin.planning]\n{other}\n"));
    assert!(run.code == Some(0) && run.err.contains("has none of its grants"), "{run:?}");
    let echo = std::fs::read(component("guest-echo")).expect("built");
    for (name, content, told) in [
        ("broken.wasm", b"no component".as_slice(), "no Wasm component"),
        ("planning.wasm", &echo, "another plugin has its name"),
        ("host.wasm", &echo, "stands for the host itself"),
    ] {
        let folder = files.path().join("plugins");
        std::fs::create_dir(&folder).expect("made");
        std::fs::write(folder.join(name), content).expect("written");
        let run = check(&files, "[plugins]\nfolder = \"plugins\"\n");
        assert!(run.code == Some(3) && run.err.contains(name) && run.err.contains(told), "{name}: {run:?}");
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}

#[test]
fn what_is_named_as_a_file_and_is_a_pipe_is_refused_and_hangs_nobody() {
    let files = Data::alone();
    let text = right(&files);
    let pipe = files.path().join("pipe");
    let made = std::process::Command::new("mkfifo").args(["-m", "600"]).arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    let source = component("guest-echo").display().to_string();
    for (from, to, told) in [
        (
            "[[http.tokens]]\nname = \"a\"\nfile = \"secret\"",
            "[[http.tokens]]\nname = \"a\"\nfile = \"pipe\"",
            "[[http.tokens]]",
        ),
        ("secrets.token]\nfile = \"secret\"", "secrets.token]\nfile = \"pipe\"", "[plugin.echo.secrets.token]"),
        (
            "secrets.token]\nfile = \"secret\"",
            "secrets.token]\nfile = \"pipe\"\nallow_unprotected = true",
            "[plugin.echo.secrets.token]",
        ),
        ("headers.a]\nfile = \"secret\"", "headers.a]\nfile = \"pipe\"", "[traces.headers.a]"),
        ("\"certificate.pem\"", "\"pipe\"", "[http.tls]"),
        ("\"key.pem\"", "\"pipe\"", "[http.tls]"),
        ("\"key.pem\"", "\"pipe\"\nallow_unprotected = true", "[http.tls]"),
        (source.as_str(), pipe.to_str().expect("a path"), "[plugin.echo] `source`"),
    ] {
        let text = text.replace(from, to);
        assert!(text.contains("pipe"), "{from}");
        let run = check(&files, &text);
        assert_eq!((run.code, run.out.as_str()), (Some(3), ""), "{to}: {run:?}");
        let line = run.err.lines().find(|line| line.contains(told)).unwrap_or_else(|| panic!("{to}: {run:?}"));
        assert!(line.contains("it is no regular file"), "{to}: {line}");
    }
    // A host that serves opens them the same way.
    let token = files.write("token.toml", "[[http.tokens]]\nname = \"a\"\nfile = \"pipe\"\n");
    let data = Data::new();
    let serve = ["serve", "--http", "127.0.0.1:0"];
    let run = wharf(serve).config(&token).data(data.path()).run();
    assert!(run.code == Some(3) && run.err.contains("it is no regular file"), "{run:?}");
    let source = files.write("source.toml", "[plugin.piped]\nsource = \"pipe\"\n");
    let run = wharf(["tools"]).config(&source).data(data.path()).run();
    assert!(run.err.contains("it is no regular file"), "{run:?}");
}

fn configured(files: &Data, text: &str) -> PathBuf {
    files.write("wharf.toml", text)
}

#[test]
fn a_table_for_a_plugin_that_nobody_knows_is_an_error_with_the_nearest_name() {
    let files = Data::new();
    for (text, nearest) in [
        ("[plugin.brwser]\nenabled = false", "browser"),
        ("[plugin.planing]\nenabled = false", "planning"),
        ("[plugin.work-space]\ngrants = {}", "workspace"),
        ("[plugin.contentstore.limits]\nhost_calls = 1", "content-store"),
    ] {
        let file = configured(&files, text);
        let serve = &["serve", "--stdio", "--profile", "developer"][..];
        for command in [&["config", "check"][..], &["tools"], &["call", "planning__get_current_state"], serve] {
            let run = wharf(command).config(&file).data(files.path()).run();
            assert_eq!((run.code, run.out.as_str()), (Some(3), ""), "{text} {command:?}: {run:?}");
            assert!(run.err.contains(&format!("`{nearest}`")), "{text} {command:?}: {run:?}");
        }
        // No host starts, so none loads what would be listed.
        let run = wharf(["plugin", "list"]).config(&file).data(files.path()).run();
        assert_eq!((run.code, run.out.as_str()), (Some(3), ""), "{text}: {run:?}");
        assert!(run.err.contains(&format!("`{nearest}`")), "{text}: {run:?}");
        let run = wharf(["doctor"]).config(&file).data(files.path()).run();
        assert_eq!(run.code, Some(1), "{text}: {run:?}");
        let line = run.out.lines().find(|line| line.starts_with("!! configuration")).unwrap_or_default();
        assert!(line.contains(&format!("`{nearest}`")), "{text}: {run:?}");
        assert!(run.out.contains("ok data "), "nothing is wrong with it: {run:?}");
    }
}

#[test]
fn a_table_that_is_like_no_other_keeps_nobody_else_from_being_served() {
    let files = Data::new();
    for text in ["[plugin.greeter]\nenabled = false", "[plugin.greeter.grants.state]\nreason = \"later\""] {
        let file = configured(&files, text);
        let run = wharf(["config", "check"]).config(&file).data(files.path()).run();
        assert!(run.code == Some(3) && run.err.contains("plugin add SOURCE --name greeter"), "{text}: {run:?}");
        let run = wharf(["tools"]).config(&file).data(files.path()).run();
        assert!(run.code == Some(3) && run.out.contains("planning__create_goal"), "{text}: {run:?}");
        assert_eq!(run.err.matches("there is no such plugin").count(), 1, "{text}: {run:?}");
        let call = ["call", "planning__create_goal", r#"{"goal": "Ship it"}"#];
        assert_eq!(wharf(call).config(&file).data(files.path()).run().code, Some(0), "{text}");
    }
    // Whatever it comes from: a file, the binary, a command, the folder.
    let echo = component("guest-echo");
    let added = wharf(["plugin", "add", echo.to_str().expect("a path"), "--name", "added"]).data(files.path()).run();
    assert_eq!(added.code, Some(0), "{added:?}");
    let folder = files.path().join("folder");
    std::fs::create_dir(&folder).expect("made");
    std::fs::copy(&echo, folder.join("lying.wasm")).expect("copied");
    let names = ["added", "lying", "browser"].map(|name| format!("[plugin.{name}]\nenabled = false\n")).concat();
    let text = format!("[plugins]\nfolder = \"folder\"\n[plugin.own]\nsource = '{}'\n{names}", echo.display());
    let file = configured(&files, &text);
    for command in [&["config", "check"][..], &["tools"]] {
        let run = wharf(command).config(&file).data(files.path()).run();
        assert_eq!(run.code, Some(0), "{command:?}: {run:?}");
    }
}

#[test]
fn a_component_inspected_from_anywhere_prints_tables_that_load_where_they_are_pasted() {
    let (files, other) = (Data::alone(), Data::new());
    for guest in ["guest-hostile", "guest-fetching", "guest-echo", "planning"] {
        files.write("some_guest.wasm", wharf_tests::bytes(guest));
        let run = wharf(["inspect", "./some_guest.wasm"]).inside(files.path()).run();
        assert_eq!(run.code, Some(0), "{guest}: {run:?}");
        let begin = run.out.find("[plugin.some-guest]").unwrap_or_else(|| panic!("{guest}: {run:?}"));
        let tables = &run.out[begin..];
        let tables = &tables[..tables.find("`wharf grant").unwrap_or(tables.len())];
        let file = configured(&other, tables);
        let checked = wharf(["config", "check"]).config(&file).data(other.path()).run();
        assert_eq!(checked.code, Some(0), "{guest}: {tables}\n{checked:?}");
        let listed = wharf(["tools", "--json"]).config(&file).data(other.path()).inside(Path::new("/")).run();
        assert!(listed.code == Some(0) && listed.out.contains("some-guest__"), "{guest}: {listed:?}");
        let inspected = wharf(["inspect", "--json", "some_guest.wasm"]).inside(files.path()).run();
        let inspected: Value = serde_json::from_str(&inspected.out).expect("JSON");
        for (capability, reason) in inspected["reasons"].as_object().expect("reasons") {
            let reason = reason.as_str().expect("a text");
            assert!(tables.contains(reason), "{guest}: the reason for {capability} is dropped:\n{tables}");
        }
    }
}
