//! An embedding app loads, replaces, switches and unloads plugins of its own.

use std::error::Error as _;

use serde_json::json;
use wharf::{
    Code, Configuration, Grants, Host, Origin, PluginError, PluginSpec, PluginState, StateGrant, TenantId, ToolService,
};
use wharf_tests::{Fixture, Setup, bytes, context, found};

use super::{listed, saying, with_tools};

fn spec(name: &str, component: Vec<u8>) -> PluginSpec {
    PluginSpec::new(name.parse().expect("legal"), component)
}

async fn says(fixture: &Fixture, tool: &str) -> Option<String> {
    let answer = fixture.call(tool, json!({})).await.ok()?;
    answer.content[0].as_text().map(str::to_owned)
}

#[tokio::test]
async fn a_plugin_comes_is_replaced_and_goes_while_the_host_serves() {
    let fixture = Setup::new().open().await;
    let (host, before) = (&fixture.host, listed(&fixture.host));
    let mut changes = host.changes(&TenantId::local()).expect("plugins come and go");
    let loaded = host.load_plugin(spec("late", saying(true))).await.expect("loads");
    assert_eq!((loaded.origin.clone(), loaded.digest()), (Origin::App, wharf::Digest::of(&saying(true))));
    assert!(changes.has_changed().expect("open"), "clients are told");
    changes.mark_unchanged();
    assert_eq!(says(&fixture, "late__run").await.as_deref(), Some("yes"));
    host.replace_plugin(spec("late", saying(false))).await.expect("replaced");
    assert!(changes.has_changed().expect("open"), "another component answers");
    assert_eq!(says(&fixture, "late__run").await.as_deref(), Some("no"));
    host.unload_plugin(&"late".parse().expect("legal")).expect("unloaded");
    assert_eq!(listed(host), before);
    let gone = fixture.call("late__run", json!({})).await.expect_err("is gone");
    assert_eq!(gone.code, Code::NotFound);
    fixture.works().await;
}

#[tokio::test]
async fn what_is_refused_changes_nothing_and_says_what_to_do() {
    let fixture = Setup::new().open().await;
    let (host, before) = (&fixture.host, listed(&fixture.host));
    let changes = host.changes(&TenantId::local()).expect("plugins come and go");
    let taken = host.load_plugin(spec("echo", saying(true))).await.expect_err("taken");
    assert!(matches!(&taken, PluginError::Taken { name } if name.as_str() == "echo"), "{taken}");
    // Bundled plugins that are off, and those that are switched off, have their names all the same.
    assert!(matches!(host.load_plugin(spec("planning", saying(true))).await, Err(PluginError::Taken { .. })));
    for name in ["app", "host"] {
        assert!(matches!(host.load_plugin(spec(name, saying(true))).await, Err(PluginError::Reserved(_))), "{name}");
    }
    let broken = host.load_plugin(spec("late", b"no component".to_vec())).await.expect_err("no component");
    assert!(broken.source().is_some_and(|cause| cause.to_string().contains("Wasm")), "{broken}");
    let missing = host.replace_plugin(spec("late", saying(true))).await.expect_err("is not there");
    assert!(matches!(missing, PluginError::Unknown { .. }), "{missing}");
    assert!(host.unload_plugin(&"late".parse().expect("legal")).is_err());
    assert_eq!(listed(host), before);
    assert!(!changes.has_changed().expect("open"), "there is nothing to tell");
}

#[tokio::test]
async fn what_the_app_grants_is_granted_and_nothing_else() {
    let fixture = Setup::bare().open_in(wharf_tests::Data::new()).await;
    let hostile = || spec("late", bytes("guest-hostile"));
    fixture.host.load_plugin(hostile()).await.expect("loads");
    let put = json!({"scope": "session", "key": "k", "value": "v"});
    let refused = fixture.call("late__state_put", put.clone()).await.expect_err("nothing is granted");
    assert_eq!(refused.code, Code::Denied, "{refused}");
    let grants = Grants { state: Some(StateGrant::with_reason("a test")), ..Grants::default() };
    fixture.host.replace_plugin(hostile().with_grants(grants)).await.expect("replaced");
    assert!(found(fixture.call("late__state_put", put).await)["revision"].is_u64());
}

#[tokio::test]
async fn a_name_without_a_prefix_is_taken_once() {
    let fixture = Setup::new().open().await;
    let plain = |name: &str| spec(name, with_tools(&["run"])).without_prefix();
    fixture.host.load_plugin(plain("one")).await.expect("a free name");
    let taken = fixture.host.load_plugin(plain("two")).await.expect_err("taken");
    assert!(matches!(&taken, PluginError::Conflict { reason, .. } if reason.contains("plugin one")), "{taken}");
    fixture.host.unload_plugin(&"one".parse().expect("legal")).expect("unloaded");
    fixture.host.load_plugin(plain("two")).await.expect("a free name now");
    assert_eq!(says(&fixture, "run").await.as_deref(), Some("yes"));
}

#[tokio::test]
async fn a_plugin_is_switched_off_and_on_and_what_is_configured_stays_so_in_the_next_host() {
    let setup = Setup::new();
    let fixture = setup.open().await;
    let (echo, late) = ("echo".parse().expect("legal"), "late".parse().expect("legal"));
    fixture.host.load_plugin(spec("late", saying(true))).await.expect("loads");
    for name in [&echo, &late] {
        assert!(fixture.host.disable_plugin(name).await.expect("known"));
        assert!(!fixture.host.disable_plugin(name).await.expect("known"), "is off already");
    }
    let off = fixture.call("echo__echo", json!({"text": "x"})).await.expect_err("is off");
    assert!(off.message.contains("switched off"), "{off}");
    assert!(
        fixture
            .host
            .plugins()
            .iter()
            .filter(|plugin| [&echo, &late].contains(&&plugin.name))
            .all(|plugin| { plugin.state == PluginState::Disabled && plugin.reason.is_some() })
    );
    let next = Host::open(setup.configuration(), fixture.data.path()).await.expect("opens");
    assert!(!listed(&next).iter().any(|name| name.starts_with("echo__")), "it is remembered");
    for name in [&echo, &late] {
        assert!(fixture.host.enable_plugin(name).await.expect("known"));
        assert!(!fixture.host.enable_plugin(name).await.expect("known"), "is on already");
    }
    assert_eq!(says(&fixture, "late__run").await.as_deref(), Some("yes"));
    fixture.works().await;
    let configured = Setup::new().with_tables("[plugin.late]\nenabled = false\nsource = 'late.wasm'");
    let fixture = configured.open().await;
    let refused = fixture.host.enable_plugin(&late).await.expect_err("wharf.toml says otherwise");
    assert!(matches!(refused, PluginError::Configured { .. }) && refused.to_string().contains("enabled = false"));
}

#[tokio::test]
async fn a_configuration_that_has_changed_is_taken_for_plugins_while_calls_go_on() {
    let setup = Setup::new();
    let fixture = setup.open().await;
    let slow = fixture.start(&context("local", "test"), "echo__echo", json!({"text": "before"}));
    assert!(!fixture.host.reload_plugins().await.expect("reloads"), "nothing has changed");
    let plain = fixture.data.write("plain.wasm", with_tools(&["run"]));
    let with = setup.clone().plugin("plain", &plain, "prefix = false").state("");
    assert!(fixture.host.reconfigure_plugins(with.configuration()).await.expect("reloads"));
    assert_eq!(says(&fixture, "run").await.as_deref(), Some("yes"));
    std::fs::write(&plain, with_tools(&["walk"])).expect("written");
    assert!(fixture.host.reload_plugins().await.expect("reloads"), "the file has changed");
    assert_eq!(says(&fixture, "walk").await.as_deref(), Some("yes"));
    std::fs::write(&plain, "no component").expect("written");
    fixture.host.reload_plugins().await.expect("reloads");
    assert_eq!(fixture.host.rejected().len(), 1);
    assert!(fixture.host.reconfigure_plugins(setup.configuration()).await.expect("reloads"));
    assert!(fixture.host.rejected().is_empty());
    slow.outcome().await.expect("finishes");
    fixture.works().await;
}

#[tokio::test]
async fn a_host_without_data_loads_plugins_too() {
    let host = Host::builder(Configuration::default()).open().await.expect("opens");
    let loaded = host.load_plugin(spec("late", bytes("guest-echo"))).await.expect("loads");
    assert!(!loaded.plugin.tools().is_empty());
    let call = wharf::CallRequest::new(
        context("local", "s"),
        "late__echo",
        wharf_tests::object(json!({"text": "without data"})),
    );
    let answer = host.call(call).await.expect("answers");
    assert_eq!(answer.content[0].as_text(), Some("without data"));
}
