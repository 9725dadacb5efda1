//! Policies as other tool servers keep them, and as nobody should.

use wharf::{
    Grants, HttpGrant, WorkspaceGrant,
    grant::{Access, Capability, ExchangeFolder},
};

use super::{
    translation::{Present, Translation},
    *,
};
use crate::configuration_edit::GrantValue;

const MEMORY: u64 = 64 << 20;

fn parse(permissions: &str) -> Result<Policy, PolicyError> {
    Policy::parse(format!("version: \"1.0\"\npermissions:\n{permissions}").as_bytes(), "p.yaml")
}

fn translated_beside(permissions: &str, grants: &Grants) -> Translation {
    let policy = parse(permissions).unwrap_or_else(|error| panic!("{error}\n{permissions}"));
    let name = "x".parse().expect("legal");
    Translation::of(&policy, &Present { name: &name, grants, memory_bytes: MEMORY }, "r", None)
}

fn translated(permissions: &str) -> Translation {
    translated_beside(permissions, &Grants::default())
}

/// The requests that these rules of the network grant.
fn requests(rules: &str) -> Vec<String> {
    let mut grantings = translated(&format!("  network: {{{rules}}}")).grantings;
    let Some(granting) = grantings.pop() else { return Vec::new() };
    assert!(grantings.is_empty() && granting.capability == Capability::Http && granting.keys.len() == 1);
    match &granting.keys[0] {
        (key, GrantValue::Names(names)) if key == "requests" => names.clone(),
        other => panic!("{other:?}"),
    }
}

/// What these rules of storage grant of the workspace: its access, and folders.
fn files(rules: &str) -> (Option<String>, Vec<ExchangeFolder>) {
    let grantings = translated(&format!("  storage: {{{rules}}}")).grantings;
    let mut granted = (None, Vec::new());
    for (key, value) in grantings.into_iter().flat_map(|granting| granting.keys) {
        match (key.as_str(), value) {
            ("access", GrantValue::Plain(access)) => granted.0 = Some(access),
            ("exchange", GrantValue::Folders(folders)) => granted.1 = folders,
            other => panic!("{other:?}"),
        }
    }
    granted
}

#[test]
fn a_host_is_granted_by_https_on_its_usual_port_unless_the_policy_says_otherwise() {
    for (host, request) in [
        ("api.example.com", "* https://api.example.com"),
        ("API.Example.com.", "* https://api.example.com"),
        ("https://api.search.brave.com/", "* https://api.search.brave.com"),
        ("http://example.com", "* http://example.com"),
        ("example.com:8443", "* https://example.com:8443"),
        ("*.example.com", "* https://*.example.com"),
        ("1.1.1.1", "* https://1.1.1.1"),
        ("[2606:4700::1111]", "* https://[2606:4700::1111]"),
    ] {
        assert_eq!(requests(&format!("allow: [{{host: \"{host}\"}}]")), [request], "{host}");
    }
    for host in [
        "*",
        "https://*",
        "example*.com",
        "*.*.example.com",
        "example.com:*",
        "example.com/v1",
        "https://example.com/v1/",
        "user@example.com",
        "exämple.com",
        "two words",
        "ftp://example.com",
        "localhost",
        "127.0.0.1",
        "10.1.2.3",
        "192.168.0.1:80",
        "[::1]",
        "[fd00::1]",
        "0x7f.1",
        "2130706433",
        "*.1.1.1.1",
        "example.com:99999",
        "//",
    ] {
        assert_eq!(requests(&format!("allow: [{{host: \"{host}\"}}]")), [""; 0], "{host}");
    }
    for rule in ["{cidr: \"1.1.1.0/24\"}", "{defaults: true}"] {
        assert_eq!(requests(&format!("allow: [{rule}]")), [""; 0], "{rule}");
    }
}

#[test]
fn a_host_that_a_denial_may_touch_is_not_granted() {
    let denied =
        |allow: &str, deny: &str| requests(&format!("allow: [{{host: \"{allow}\"}}], deny: [{deny}]")).is_empty();
    for (allow, deny) in [
        ("a.example.com", "{host: \"a.example.com\"}"),
        ("a.example.com", "{host: \"A.EXAMPLE.com:443\"}"),
        ("a.example.com", "{host: \"http://a.example.com\"}"),
        ("a.example.com", "{host: \"*.example.com\"}"),
        ("a.example.com", "{host: \"*.com\"}"),
        ("a.example.com", "{host: \"*\"}"),
        ("*.example.com", "{host: \"a.example.com\"}"),
        ("*.example.com", "{host: \"*.a.example.com\"}"),
        ("*.a.example.com", "{host: \"*.example.com\"}"),
        ("1.1.1.1", "{host: \"0x01010101\"}"),
        ("a.example.com", "{cidr: \"0.0.0.0/0\"}"),
        ("a.example.com", "{cidr: \"192.0.0.0/8\"}"),
        ("a.example.com", "{cidr: \"::/0\"}"),
        ("a.example.com", "{defaults: true}"),
    ] {
        assert!(denied(allow, deny), "{allow} {deny}");
    }
    for deny in [
        "{host: \"b.example.com\"}",
        "{host: \"*.malicious.com\"}",
        "{host: \"*.ample.com\"}",
        "{host: localhost}",
        "{host: \"10.0.0.1\"}",
        "{cidr: \"10.0.0.0/8\"}",
        "{cidr: \"127.0.0.1/32\"}",
    ] {
        assert!(!denied("a.example.com", deny), "{deny}");
    }
}

#[test]
fn a_grant_that_is_wider_already_is_not_added_to() {
    let grants = Grants {
        http: Some(HttpGrant { private_addresses: true, ..HttpGrant::with_reason("r") }),
        workspace: Some(WorkspaceGrant::with_reason("r")),
        ..Grants::default()
    };
    let both =
        "  network: {allow: [{host: a.example.com}]}\n  storage: {allow: [{uri: \"fs://workspace\", access: [read]}]}";
    let translation = translated_beside(both, &grants);
    assert!(translation.grantings.is_empty(), "{translation:?}");
    assert!(translation.refused.iter().any(|told| told.words.contains("private_addresses")), "{translation:?}");
}

#[test]
fn the_workspace_and_absolute_folders_beside_it_are_granted_and_no_other_path() {
    let workspace = "{uri: \"fs://workspace/**\", access: [read, write]}";
    assert_eq!(files(&format!("allow: [{workspace}]")).0.as_deref(), Some("\"write\""));
    assert_eq!(files("allow: [{uri: \"fs://workspace\", access: [read]}]").0.as_deref(), Some("\"read\""));
    let rules = format!(
        "allow: [{workspace}, {{uri: \"fs:///srv/data/**\", access: [read]}}, {{uri: \"fs:///home/a b\", access: [read, \
         write]}}, {{uri: \"fs:///mnt/data\", access: [read]}}]"
    );
    let folder = |name: &str, path: &str, access| ExchangeFolder { name: name.to_owned(), path: path.into(), access };
    let expected = [
        folder("data", "/srv/data", Access::Read),
        folder("a-b", "/home/a b", Access::Write),
        folder("data-2", "/mnt/data", Access::Read),
    ];
    assert_eq!(files(&rules).1, expected);
    // A folder comes with the files of the session, which are more.
    assert_eq!(files("allow: [{uri: \"fs:///srv/data/**\", access: [read]}]"), (None, Vec::new()));
    for uri in [
        "fs://workspace/data/**",
        "fs://workspace/*",
        "fs://jobs/agent/**",
        "fs://tmp/**",
        "fs:///",
        "fs:///**",
        "fs:///srv/*/data",
        "fs:///srv/../etc",
        "fs://workspace/../..",
        "file:///srv/data",
        "/srv/data",
        "http://not-fs",
    ] {
        let rules = format!("allow: [{workspace}, {{uri: \"{uri}\", access: [read]}}]");
        assert_eq!(files(&rules).1, [], "{uri}");
        let alone = format!("allow: [{{uri: \"{uri}\", access: [read, write]}}]");
        assert_eq!(files(&alone), (None, Vec::new()), "{uri}");
    }
    // Here who writes also reads.
    assert_eq!(files("allow: [{uri: \"fs://workspace/**\", access: [write]}]"), (None, Vec::new()));
}

#[test]
fn a_path_that_a_denial_may_touch_is_not_granted() {
    let denied = |deny: &str, kinds: &str| {
        let rules = format!(
            "allow: [{{uri: \"fs://workspace/**\", access: [read]}}], deny: [{{uri: \"{deny}\", access: [{kinds}]}}]"
        );
        files(&rules).0.is_none()
    };
    for deny in [
        "fs://workspace/secret/*",
        "fs://workspace",
        "fs://**",
        "fs://*/x",
        "fs:///workspace",
        "fs://a/../workspace",
        "file://x",
    ] {
        assert!(denied(deny, "read"), "{deny}");
    }
    assert!(!denied("fs://etc/**", "read") && !denied("fs://workspace/secret", "write"));
}

#[test]
fn memory_is_lowered_and_never_raised() {
    let limit = |resources: &str| translated(&format!("  resources: {{{resources}}}")).memory_bytes;
    assert_eq!(limit("memory: 32"), Some(32 << 20));
    assert_eq!(limit("limits: {memory: \"16Mi\", cpu: \"500m\"}, memory: 32, cpu: 50.5, io: 10"), Some(16 << 20));
    assert_eq!(limit("limits: {memory: 1M}"), Some(1_000_000));
    for wide in
        ["memory: 64", "memory: 512", "limits: {memory: 1Gi}", "limits: {memory: 16}", "memory: 0", "memory: -1"]
    {
        assert_eq!(limit(wide), None, "{wide}");
    }
}

#[test]
fn every_rule_is_told_once() {
    let policy = "  storage: {allow: [{uri: \"fs://workspace/**\", access: [read]}], deny: [{uri: \"fs://etc/**\", access: [read]}]}
  network: {allow: [{host: a.example.com}, {cidr: \"1.0.0.0/8\"}, {defaults: true}], deny: [{cidr: \"10.0.0.0/8\"}]}
  environment: {allow: [{key: API_KEY}, {key: HOME}]}
  ipc: {allow: [{uri: \"ipc://a\"}], deny: [{uri: \"ipc://b\"}]}
  runtime:
    docker: {security: {privileged: true, no_new_privileges: false, capabilities: {drop: [ALL], add: [SYS_ADMIN]}}}
    hyperlight: {anything: [1, {goes: here}]}
    wasm: {engine: wasmtime, module: \"fs://a\", wasi: {inherit_env: true, args: [serve], preopens: [{host_path: \"fs://c\", guest_path: /c, access: [read]}]}}
  resources: {cpu: 50.0, memory: 16, io: 100}";
    let translation = translated(policy);
    let rules: Vec<_> = translation.granted.iter().chain(&translation.refused).map(|told| told.rule.as_str()).collect();
    let expected = [
        "storage.allow: fs://workspace/**",
        "network.allow: a.example.com",
        "resources.memory: 16",
        "storage.deny: fs://etc/**",
        "network.allow: 1.0.0.0/8",
        "network.allow: defaults",
        "network.deny: 10.0.0.0/8",
        "environment.allow: API_KEY",
        "environment.allow: HOME",
        "runtime: docker",
        "runtime: hyperlight",
        "runtime: wasm",
        "runtime.wasm.wasi: inherit_env",
        "runtime.wasm.wasi: args",
        "runtime.wasm.wasi.preopens: fs://c as /c",
        "resources.cpu: 50.0",
        "resources.io: 100",
        "ipc.allow: ipc://a",
        "ipc.deny: ipc://b",
    ];
    let sorted = |mut rules: Vec<&str>| {
        rules.sort_unstable();
        rules.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(sorted(rules), sorted(expected.to_vec()));
}

#[test]
fn a_policy_without_permissions_grants_nothing() {
    for text in [
        "version: \"1.0\"",
        "version: '1.2'\npermissions:\n",
        "$schema: https://example.com/x\nversion: 1.0\npermissions: {}",
    ] {
        let policy = Policy::parse(text.as_bytes(), "p.yaml").unwrap_or_else(|error| panic!("{error}: {text}"));
        let (name, grants) = ("x".parse().expect("legal"), Grants::default());
        let translation =
            Translation::of(&policy, &Present { name: &name, grants: &grants, memory_bytes: 1 }, "r", None);
        assert!(translation.grantings.is_empty() && translation.refused.is_empty());
    }
}

#[test]
fn what_is_no_policy_is_refused_with_its_place() {
    let mut wrong = Vec::new();
    for (text, word) in [
        ("", "end of input"),
        ("version: \"2.0\"\npermissions: {}", "1.x is known"),
        ("version: \"1.\"\n", "1.x is known"),
        ("permissions: {}", "version"),
        ("version: \"1.0\"\npermisions: {}", "permisions"),
        ("version: \"1.0\"\npermissions: {filesystem: {}}", "filesystem"),
        ("version: \"1.0\"\npermissions: {storage: {allow: [{uri: \"fs://a\", access: [execute]}]}}", "execute"),
        ("version: \"1.0\"\npermissions: {storage: {allow: [{uri: \"fs://a\", access: []}]}}", "`access`"),
        ("version: \"1.0\"\npermissions: {network: {allow: [{host: a, cidr: b}]}}", "one of"),
        ("version: \"1.0\"\npermissions: {network: {allow: [{}]}}", "one of"),
        ("version: \"1.0\"\npermissions: {network: {allow: [{hosts: a}]}}", "hosts"),
        ("version: \"1.0\"\npermissions: {network: {allow: {host: a}}}", "sequence"),
        ("version: \"1.0\"\npermissions: {environment: {deny: []}}", "deny"),
        ("version: \"1.0\"\npermissions: {environment: {allow: [{key: \"A*\"}]}}", "without wildcards"),
        ("version: \"1.0\"\nversion: \"1.1\"\n", "version"),
        ("version: \"1.0\"\n---\nversion: \"1.0\"\n", "document"),
        ("version: [\n", "line"),
        ("version: \"1.0\u{1b}[2J\"\n", ""),
    ] {
        let refused = Policy::parse(text.as_bytes(), "p.yaml").expect_err(text).to_string();
        if !refused.contains(word) || !refused.starts_with("the policy p.yaml") || refused.contains(['\u{1b}', '\n']) {
            wrong.push(format!("{text}: {refused}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
    assert!(Policy::parse(b"version: \"\xff\"", "p.yaml").is_err());
}

#[test]
fn a_bomb_of_aliases_depth_or_length_is_refused() {
    let mut bomb =
        "version: \"1.0\"\npermissions:\n  runtime:\n    hyperlight:\n      a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
            .to_owned();
    for level in 1..12 {
        let before = level - 1;
        bomb.push_str(&format!("      a{level}: &a{level} [{}]\n", vec![format!("*a{before}"); 9].join(", ")));
    }
    let deep = format!(
        "version: \"1.0\"\npermissions: {{runtime: {{hyperlight: {}{}}}}}",
        "[".repeat(2_000),
        "]".repeat(2_000)
    );
    let rules = "{host: a.example.com}, ".repeat(MOST_RULES + 1);
    let many = format!("version: \"1.0\"\npermissions: {{network: {{allow: [{rules}]}}}}");
    let nodes =
        format!("version: \"1.0\"\npermissions: {{runtime: {{hyperlight: [{}]}}}}", "x, ".repeat(MOST_NODES + 1));
    let merged = "version: \"1.0\"\npermissions:\n  runtime: &r {hyperlight: {}}\n  network: {<<: *r}\n".to_owned();
    for text in [bomb, deep, many, nodes, merged] {
        Policy::parse(text.as_bytes(), "p.yaml").expect_err("too much");
    }
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("long.yaml");
    std::fs::write(&path, format!("version: \"1.0\"\n{}", "# long\n".repeat(40_000))).expect("written");
    assert!(matches!(Policy::read(&path), Err(PolicyError::TooLarge { .. })));
    assert!(matches!(Policy::read(&directory.path().join("none.yaml")), Err(PolicyError::File { .. })));
}
