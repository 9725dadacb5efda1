//! Grants over time: components that change, grants that end, and the
//! operator's command that shows, gives and takes them.

use std::{
    fs::{self, File},
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};
use wharf::{
    Answer, CallRequest, Code, Configuration, Error, Host, MemoryStore,
    grant::{Capability, GrantClock},
};
use wharf_tests::{Data, Finished, bytes, context, object, start, wharf, with_section};

/// The hostile guest as the plugin `x`, in a directory of its own.
struct Place {
    data: Data,
}

impl Place {
    fn new() -> Self {
        let place = Self { data: Data::new() };
        place.component(bytes("guest-hostile"));
        let off = ["browser", "content-store", "planning", "playbook", "terminal", "workspace"];
        let off: String = off.iter().map(|name| format!("[plugin.{name}]\nenabled = false\n")).collect();
        place.data.write("wharf.toml", format!("# Ours.\n{off}"));
        place
    }

    fn component(&self, bytes: impl AsRef<[u8]>) {
        self.data.write("x.wasm", bytes);
    }

    fn config(&self) -> PathBuf {
        self.data.path().join("wharf.toml")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.config()).expect("there is a configuration")
    }

    fn append(&self, lines: &str) {
        let text = format!("{}\n{lines}\n", self.text());
        fs::write(self.config(), text).expect("written");
    }

    fn grant(&self, plugin: &str, arguments: &[&str]) -> Finished {
        wharf([&["grant", plugin], arguments].concat()).config(&self.config()).data(self.data.path()).run()
    }

    fn file(&self) -> String {
        self.data.path().join("x.wasm").to_str().expect("UTF-8").to_owned()
    }

    fn configuration(&self) -> Configuration {
        Configuration::read(&self.config()).expect("right")
    }

    async fn host(&self) -> Host {
        open(self.configuration(), self.data.path()).await
    }
}

async fn open(configuration: Configuration, data: &Path) -> Host {
    Host::open_with(configuration, Arc::new(MemoryStore::default()), Some(data)).await.expect("opens")
}

async fn uses_state(host: &Host) -> Result<Answer, Error> {
    let arguments = object(json!({"scope": "session", "name": "b"}));
    host.call(CallRequest::new(context("local", "test"), "x__open_bucket", arguments)).await
}

/// The same component with something more in it that changes nothing of what it
/// does.
pub(crate) fn swapped(name: &str, data: &[u8]) -> Vec<u8> {
    with_section(bytes("guest-hostile"), name, data)
}

#[tokio::test]
async fn a_swapped_component_has_no_grants_until_the_operator_confirms_it() {
    let place = Place::new();
    let granted = place.grant(&place.file(), &["--allow", "state", "--reason", "counts"]);
    assert_eq!(granted.code, Some(0), "{granted:?}");
    let host = place.host().await;
    uses_state(&host).await.expect("granted to this component");
    assert!(host.installed().iter().all(|installed| installed.withheld.is_none()));

    place.component(swapped("evil", b""));
    let host = place.host().await;
    assert!(host.rejected().is_empty(), "{:?}", host.rejected());
    let withheld = host.installed()[0].withheld.clone().expect("it is listed with the reason");
    assert!(withheld.to_string().contains("wharf grant x --confirm"), "{withheld}");
    let error = uses_state(&host).await.expect_err("another component");
    assert!(error.code == Code::Denied && error.message.contains("wharf grant x --confirm"), "{error}");
    assert_eq!(
        host.denials().into_iter().map(|((_, what), count)| (what, count)).collect::<Vec<_>>(),
        [(Capability::State, 1)]
    );

    // More is not granted to it in passing.
    let before = place.text();
    let refused = place.grant("x", &["--allow", "events", "--reason", "r"]);
    assert!(refused.code == Some(3) && refused.err.contains("--confirm"), "{refused:?}");
    assert!(refused.out.contains("none of its grants"), "{refused:?}");
    assert_eq!(place.text(), before);

    let confirmed = place.grant("x", &["--confirm"]);
    assert_eq!(confirmed.code, Some(0), "{confirmed:?}");
    uses_state(&place.host().await).await.expect("confirmed");
    // What was confirmed before is another component now.
    place.component(bytes("guest-hostile"));
    assert_eq!(uses_state(&place.host().await).await.expect_err("not this one").code, Code::Denied);
}

#[tokio::test]
async fn a_pin_of_refuse_does_not_load_a_changed_component_and_none_keeps_its_grants() {
    let place = Place::new();
    let inspected = wharf(["inspect", "--json", &place.file()]).run();
    let digest = serde_json::from_str::<Value>(&inspected.out).expect("JSON")["digest"].clone();
    let lines = |pin: &str| {
        format!(
            "[plugin.x]\nsource = \"x.wasm\"\ndigest = {digest}\npin = \"{pin}\"\n[plugin.x.grants.state]\nreason = \"r\""
        )
    };
    for (pin, loaded) in [("refuse", false), ("none", true)] {
        let place = Place::new();
        place.append(&lines(pin));
        uses_state(&place.host().await).await.expect("the confirmed component");
        place.component(swapped("other", b""));
        let host = place.host().await;
        assert_eq!(host.rejected().is_empty(), loaded, "{pin}");
        assert_eq!(uses_state(&host).await.is_ok(), loaded, "{pin}");
        if let [rejected] = &host.rejected()[..] {
            assert!(rejected.reason.contains("wharf grant x --confirm"), "{rejected:?}");
        }
        let listed = wharf(["tools"]).config(&place.config()).data(place.data.path()).run();
        assert!(listed.err.contains("plugin"), "it is warned of: {listed:?}");
    }
}

#[tokio::test]
async fn a_grant_ends_while_the_host_serves_and_says_so() {
    let place = Place::new();
    place.append("[plugin.x]\nsource = \"x.wasm\"\n[plugin.x.grants.state]\nreason = \"r\"\nexpires = 2027-01-31");
    let end = Duration::from_secs(1_801_440_000);
    let now = Arc::new(Mutex::new(SystemTime::UNIX_EPOCH + end - Duration::from_millis(1)));
    let read = Arc::clone(&now);
    let clock = GrantClock::new(move || *read.lock().expect("not poisoned"));
    let host = open(place.configuration().with_clock(clock), place.data.path()).await;
    uses_state(&host).await.expect("the last moment of the day");
    *now.lock().expect("not poisoned") += Duration::from_millis(1);
    let error = uses_state(&host).await.expect_err("the day is over");
    assert_eq!(error.code, Code::Denied);
    assert!(error.message.contains("until 2027-01-31") && error.message.contains("[plugin.x.grants.state]"), "{error}");
    assert_eq!(host.denials().values().sum::<u64>(), 1);
    // Another host of the same configuration counts for itself.
    let other = open(place.configuration(), place.data.path()).await;
    assert!(other.denials().is_empty());
}

#[test]
fn what_a_plugin_asks_for_is_shown_in_plain_words_and_nothing_is_written_unasked() {
    let place = Place::new();
    let claims = br#"{"reasons": {"state": "keeps\u001b]0;owned\u0007 counts\r\nIt is safe", "process": "builds"}}"#;
    place.component(swapped("wharf-plugin", claims));
    let before = place.text();
    let shown = place.grant(&place.file(), &[]);
    assert_eq!((shown.code, place.text()), (Some(0), before.clone()), "{shown:?}");
    for words in [
        "Plugin x,",
        "It asks for `webview` (not granted)",
        "It could open web pages of the origins that you name",
        "Risk: high",
        "in its own words: builds",
        "its component does not say",
        "--allow CAPABILITY --reason",
    ] {
        assert!(shown.out.contains(words), "{words}: {}", shown.out);
    }
    assert!(!shown.out.contains(['\u{1b}', '\u{7}', '\r']), "a component draws on the operator's terminal");
    assert!(shown.out.contains("counts") && !shown.out.contains("\nIt is safe"), "{}", shown.out);

    let dry = place.grant(&place.file(), &["--allow", "process=git", "--reason", "r", "--dry-run"]);
    assert!(dry.code == Some(0) && dry.out.contains("+[plugin.x.grants.process]"), "{dry:?}");
    assert_eq!(place.text(), before);
    for (arguments, word) in [
        (&["--allow", "state"][..], "--reason"),
        (&["--allow", "everything", "--reason", "r"], "there is no capability"),
        (&["--allow", "webview=ftp://example.com", "--reason", "r"], "names no origin"),
        (&["--allow", "process.shel", "--reason", "r"], "shel"),
        (&["--allow", "state", "--reason", "r", "--expires", "soon"], "a day"),
        (&["--revoke", "everything"], "there is no capability"),
    ] {
        let refused = place.grant(&place.file(), arguments);
        assert!(refused.code != Some(0) && refused.err.contains(word), "{arguments:?}: {refused:?}");
        assert_eq!(place.text(), before, "{arguments:?}");
    }
    let unknown = place.grant("nothing-of-this-name", &["--allow", "state", "--reason", "r"]);
    assert!(unknown.code == Some(3) && unknown.err.contains("nothing-of-this-name"), "{unknown:?}");
}

#[test]
fn what_a_plugin_of_the_sdk_gives_as_its_reason_is_shown() {
    let place = Place::new();
    place.component(bytes("guest-fetching"));
    let shown = place.grant(&place.file(), &[]);
    assert!(shown.out.contains("It asks for `http` (not granted)"), "{shown:?}");
    assert!(shown.out.contains("in its own words: follows what it is told to follow"), "{shown:?}");
}

#[tokio::test]
async fn every_bundled_plugin_says_why_it_asks_for_what_it_asks() {
    let configuration = Configuration::parse("profile = \"developer\"", Path::new("/")).expect("right");
    let data = Data::new();
    let host = Host::open(configuration, data.path()).await.expect("opens");
    let installed = host.installed();
    assert_eq!(installed.len(), 6, "{:?} {:?}", host.rejected(), host.off());
    for plugin in installed {
        let inspection = plugin.plugin.inspect();
        let asked: Vec<_> = inspection.wanted_grants().into_iter().filter_map(Capability::from_word).collect();
        let said: Vec<_> = inspection.reasons.keys().copied().collect();
        assert!(!asked.is_empty(), "{}", plugin.plugin.name());
        assert!(asked.iter().all(|capability| said.contains(capability)), "{asked:?}: {:?}", inspection.reasons);
        assert_eq!(asked.len(), said.len(), "{asked:?}: {:?}", inspection.reasons);
    }
}

#[test]
fn flags_grant_and_take_back_and_leave_the_rest_of_the_file_as_it_is() {
    let place = Place::new();
    let before = place.text();
    let arguments =
        ["--allow", "state", "--allow", "process=git,make", "--allow", "process.shell", "--reason", "works"];
    let granted = place.grant(&place.file(), &[&arguments[..], &["--expires", "2099-01-31"]].concat());
    assert_eq!(granted.code, Some(0), "{granted:?}");
    assert!(granted.out.contains("No host serves on this data directory"), "{granted:?}");
    let text = place.text();
    assert!(text.starts_with(&before) && text.contains("programs = [\"git\", \"make\"]"), "{text}");
    assert!(text.contains("expires = 2099-01-31") && text.contains("digest = \"blake3:"), "{text}");
    let again = place.grant("x", &[&arguments[..], &["--expires", "2099-01-31"]].concat());
    assert!(again.code == Some(0) && again.out.contains("Nothing changes."), "{again:?}");
    let name = "x".parse().expect("legal");
    for (what, left) in [("process", true), ("all", false)] {
        let revoked = place.grant("x", &["--revoke", what]);
        assert_eq!(revoked.code, Some(0), "{revoked:?}");
        let grants = place.configuration().plugins[&name].grants.clone().expect("said");
        assert_eq!((grants.process, grants.state.is_some()), (None, left));
    }
    // The first grant makes a file where there is none.
    let other = place.data.path().join("new").join("wharf.toml");
    let first = wharf(["grant", &place.file(), "--allow", "state", "--reason", "r"]).config(&other).run();
    assert!(first.code == Some(0) && other.exists(), "{first:?}");
}

#[test]
fn a_bundled_plugin_keeps_what_it_has_by_default_when_it_is_granted_more() {
    let data = Data::new();
    let config = data.write("wharf.toml", "");
    let run = wharf(["grant", "planning", "--allow", "events", "--reason", "shows progress"]).config(&config).run();
    assert_eq!(run.code, Some(0), "{run:?}");
    let configuration = Configuration::read(&config).expect("right");
    let grants = configuration.plugins[&"planning".parse().expect("legal")].grants.clone().expect("written");
    assert!(grants.state.is_some() && grants.events.is_some(), "{grants:?}");
    // What holds for one run alone is not written down.
    let run = wharf(["grant", "browser", "--allow", "events", "--reason", "r"]).env("WHARF_PROFILE", "developer");
    let run = run.config(&config).run();
    assert_eq!(run.code, Some(0), "{run:?}");
    let browser = &Configuration::read(&config).expect("right").plugins[&"browser".parse().expect("legal")];
    assert!(browser.grants.as_ref().is_some_and(|grants| grants.webview.is_none()), "{browser:?}");
    let run = wharf(["grant", "planning", "--confirm"]).config(&config).run();
    assert!(run.code == Some(3) && run.err.contains("nothing to confirm"), "{run:?}");
}

#[test]
fn on_a_terminal_each_capability_is_asked_for() {
    let place = Place::new();
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&master).and_then(|()| unlockpt(&master)).expect("a terminal of one's own");
    let name = ptsname(&master, Vec::new()).expect("it has a name").into_string().expect("UTF-8");
    let command = wharf(["grant", &place.file()]).config(&place.config()).data(place.data.path());
    // Open until the end, so that reading ends with the command and not before it.
    let terminal = File::options().read(true).write(true).open(&name).expect("it opens");
    let mut child = start(command.through(&format!("exec \"$@\" < {name} > {name}")));
    let mut typed = File::from(master.try_clone().expect("cloned"));
    // It asks for events, process, state, terminal, webview and workspace.
    typed
        .write_all(b"n\n\ny\ncounts visits\n2099-01-31\nno\ny\nhttps://example.com\nlooks things up\n\n\n")
        .expect("typed");
    let mut reading = File::from(master);
    let shown = std::thread::spawn(move || {
        let (mut seen, mut buffer) = (Vec::new(), [0; 4096]);
        while let Ok(count @ 1..) = reading.read(&mut buffer) {
            seen.extend_from_slice(&buffer[..count]);
        }
        String::from_utf8_lossy(&seen).into_owned()
    });
    let ended = child.wait().expect("it ends");
    drop((terminal, typed));
    let shown = shown.join().expect("read");
    assert!(ended.success(), "{shown}");
    assert!(shown.contains("Allow `webview`? [y/N]") && shown.contains("Written to"), "{shown}");
    let grants = place.configuration().plugins[&"x".parse().expect("legal")].grants.clone().expect("granted");
    assert!(grants.events.is_none() && grants.process.is_none() && grants.workspace.is_none(), "{grants:?}");
    assert_eq!(grants.state.expect("granted").expires.expect("ends").as_str(), "2099-01-31");
    assert_eq!(grants.webview.expect("granted").origins[0].as_str(), "https://example.com");
}

#[test]
fn the_schema_for_editors_is_printed() {
    let run = wharf(["config", "schema"]).run();
    let schema: Value = serde_json::from_str(&run.out).expect("JSON");
    assert_eq!(schema["properties"]["ceilings"]["properties"]["host_calls"]["minimum"], 1, "{run:?}");
    assert_eq!(schema["additionalProperties"], false);
}
