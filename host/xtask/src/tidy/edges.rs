//! Which crates may depend on which: the table, and the check of every manifest
//! against it. And how: by a version beside the path.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::violation::Violation;
use crate::workspace::{Dependency, Package, Workspace};

/// Members of the workspace and the members each may depend on.
const MEMBERS: [(&str, &[&str]); 37] = [
    ("wharf-contract", &[]),
    ("wharf-core", &["wharf-contract"]),
    ("wharf-completion", &["wharf-contract", "wharf-core"]),
    // How files are opened, and nothing of what they are for.
    ("wharf-files", &[]),
    // What is encrypted, and not what it is for.
    ("wharf-encryption", &["wharf-files"]),
    ("wharf-audit", &["wharf-core", "wharf-files"]),
    ("wharf-state", &["wharf-core", "wharf-files"]),
    ("wharf-cell", &["wharf-core"]),
    ("wharf-postgres", &["wharf-cell", "wharf-core", "wharf-state"]),
    // What goes over it, the cell alone knows.
    ("wharf-nats", &["wharf-cell"]),
    ("wharf-spawn", &["wharf-contract", "wharf-core"]),
    (
        "wharf-process",
        &["wharf-contract", "wharf-core", "wharf-completion", "wharf-encryption", "wharf-files", "wharf-spawn"],
    ),
    (
        "wharf-terminal",
        &["wharf-contract", "wharf-core", "wharf-completion", "wharf-encryption", "wharf-files", "wharf-spawn"],
    ),
    ("wharf-network", &["wharf-core"]),
    ("wharf-webview", &["wharf-contract", "wharf-core", "wharf-completion", "wharf-network"]),
    // Only wharf knows what runs pages.
    ("wharf-chromium", &["wharf-contract", "wharf-core", "wharf-spawn", "wharf-webview"]),
    ("wharf-workspace", &["wharf-core", "wharf-files"]),
    (
        "wharf-engine",
        &[
            "wharf-contract",
            "wharf-core",
            "wharf-completion",
            "wharf-files",
            "wharf-state",
            "wharf-spawn",
            "wharf-process",
            "wharf-terminal",
            "wharf-webview",
            "wharf-network",
            "wharf-workspace",
        ],
    ),
    ("wharf-mcp", &["wharf-contract", "wharf-core"]),
    ("wharf-http", &["wharf-core", "wharf-completion"]),
    ("wharf-trace", &["wharf-core"]),
    ("wharf-sources", &["wharf-core", "wharf-files"]),
    // Bytes in, verdict out: neither files nor where they came from.
    ("wharf-trust", &["wharf-core"]),
    // What is said of a component, and not by whom.
    ("wharf-materials", &["wharf-core"]),
    (
        "wharf",
        &[
            "wharf-contract",
            "wharf-core",
            "wharf-completion",
            "wharf-encryption",
            "wharf-files",
            "wharf-audit",
            "wharf-state",
            "wharf-cell",
            "wharf-postgres",
            "wharf-nats",
            "wharf-spawn",
            "wharf-process",
            "wharf-terminal",
            "wharf-webview",
            "wharf-chromium",
            "wharf-network",
            "wharf-workspace",
            "wharf-engine",
            "wharf-mcp",
            "wharf-http",
            "wharf-trace",
            "wharf-trust",
            "wharf-sources",
            "wharf-materials",
        ],
    ),
    // Starts the tools of languages for their author, and opens no plugin.
    ("wharf-author", &["wharf-core"]),
    ("wharf-cli", &["wharf", "wharf-author"]),
    ("wharf-sdk-macros", &[]),
    ("wharf-sdk", &["wharf-contract", "wharf-sdk-macros"]),
    ("wharf-search", &["wharf-sdk"]),
    ("wharf-documents", &[]),
    ("wharf-test-support", &[]),
    ("wharf-escapes", &[]),
    ("wharf-tests", &["wharf", "wharf-core", "wharf-state", "wharf-engine", "wharf-mcp", SUPPORT]),
    (
        "wharf-bench",
        &[
            "wharf",
            "wharf-core",
            "wharf-state",
            "wharf-postgres",
            "wharf-spawn",
            "wharf-process",
            "wharf-engine",
            "wharf-mcp",
            "wharf-terminal-bench",
            SUPPORT,
        ],
    ),
    // Apart from the benchmark, so that terminals are measured without building
    // the rest.
    ("wharf-terminal-bench", &["wharf-core", "wharf-completion", "wharf-spawn", "wharf-terminal", SUPPORT]),
    ("xtask", &[]),
];

/// What tests of any member may use, and no package carries.
const OF_TESTS: [&str; 2] = [SUPPORT, "wharf-escapes"];
const SUPPORT: &str = "wharf-test-support";

/// What a plugin or a guest of the tests may depend on, whatever its name.
const PLUGIN: &[&str] = &["wharf-sdk", "wharf-search", "wharf-documents"];

/// Crates from outside that only some members may name: a crate or, with a
/// star, all whose names start so. The bench is the yardstick: it measures us
/// against what we are built on.
const RESERVED: [(&str, &[&str], &str); 23] = [
    ("wasmtime*", &["wharf-engine", "wharf-bench"], "only the engine knows wasmtime"),
    ("rmcp*", &["wharf-mcp", "wharf-bench"], "only mcp knows the protocol"),
    ("axum*", &["wharf-http"], "only http has routes"),
    (
        "hyper*",
        &["wharf-http", "wharf-network", "wharf-cell", "wharf-webview", "wharf-engine", "wharf", "wharf-bench"],
        "only crates with connections speak HTTP",
    ),
    (
        "tokio-rustls",
        &["wharf-http", "wharf-network", "wharf-cell"],
        "only http and cell serve TLS, and network asks for it",
    ),
    ("x509-cert", &["wharf-http"], "only http reads what a certificate says"),
    ("opentelemetry*", &["wharf-trace", "wharf-tests"], "only trace knows OpenTelemetry"),
    ("portable-pty", &["wharf-terminal"], "only terminal opens terminals"),
    ("rusqlite", &["wharf-state"], "only state knows its database"),
    ("tokio-postgres*", &["wharf-postgres", "wharf-bench"], "only postgres knows PostgreSQL"),
    ("deadpool-postgres", &["wharf-postgres"], "only postgres knows PostgreSQL"),
    ("async-nats", &["wharf-nats"], "only nats knows NATS"),
    ("tantivy*", &["wharf-bench"], "tantivy is the yardstick of search"),
    ("toml*", &["wharf", "wharf-cli"], "only wharf reads configuration, and only its command writes it"),
    ("serde-saphyr", &["wharf-cli"], "YAML is what other servers keep policies in; nothing of ours is"),
    ("oci-spec", &["wharf-sources"], "only sources knows registries"),
    ("sigstore*", &["wharf-trust"], "only trust verifies signatures of components"),
    ("minisign-verify", &["wharf-trust"], "only trust verifies signatures of components"),
    ("clap", &["wharf-cli", "wharf-bench"], "only cli has a command line"),
    ("clap_*", &["wharf-cli"], "only cli has a command line"),
    ("mimalloc", &["wharf-cli", "wharf-bench"], "an app that embeds the library keeps its own allocator"),
    ("tracing-subscriber", &["wharf-cli"], "an app that embeds the library decides where its log goes"),
    (
        "anyhow",
        &["wharf-cli", "xtask", "wharf-tests", "wharf-bench", "wharf-terminal-bench"],
        "libraries return typed errors",
    ),
];

/// The rest of the path says where a plugin lives.
const PLUGIN_FOLDERS: [&str; 2] = ["plugins", "tests/guests"];

pub(super) fn check(workspace: &Workspace) -> Result<Vec<Violation>> {
    let packages = workspace.packages()?;
    let names: Vec<_> = packages.iter().map(|package| package.name.clone()).collect();
    let mut violations = Vec::new();
    for package in &packages {
        let folder = package.folder.strip_prefix(&workspace.root).context("a member outside the workspace")?;
        let manifest = folder.join("Cargo.toml");
        let text = fs::read_to_string(workspace.root.join(&manifest))?;
        let found = edges(package, folder, &names).into_iter().chain(lints(&text));
        violations.extend(found.map(|(wanted, message)| {
            let line = text.lines().position(|line| line.trim_start().starts_with(&wanted));
            Violation::new(&manifest, line.map_or(0, |line| line + 1), message)
        }));
    }
    Ok(violations)
}

/// Broken rules of one package: how the line starts that breaks it, and what to
/// say.
fn edges(package: &Package, folder: &Path, members: &[String]) -> Vec<(String, String)> {
    let is_plugin = PLUGIN_FOLDERS.iter().any(|place| folder.parent() == Some(Path::new(place)));
    let allowed = match MEMBERS.iter().find(|(name, _)| *name == package.name) {
        Some((_, allowed)) => *allowed,
        None if is_plugin => PLUGIN,
        None => {
            let message = format!("the project knows no crate {} - add it to the table in tidy/edges.rs", package.name);
            return vec![("name".into(), message)];
        }
    };
    let mut broken = Vec::new();
    for Dependency { name, development, has_path_alone } in &package.dependencies {
        if let Some(message) = version(package, name, *development, *has_path_alone) {
            broken.push((name.clone(), message));
        }
        let is_of_tests = *development && OF_TESTS.contains(&name.as_str());
        if members.contains(name) && !is_of_tests && !allowed.contains(&name.as_str()) {
            let message = format!(
                "{} must not know {name} - give core a small trait and let wharf wire the two (ARCHITECTURE.md)",
                package.name
            );
            broken.push((name.clone(), message));
        }
        // Tests of a library may print any error.
        if *development && name == "anyhow" {
            continue;
        }
        if let Some((_, owners, why)) = RESERVED.iter().find(|(pattern, _, _)| matches(pattern, name))
            && !owners.contains(&package.name.as_str())
        {
            let message = format!("{} must not name {name}: {why} - use what {} offers", package.name, owners[0]);
            broken.push((name.clone(), message));
        }
    }
    broken
}

/// What a package would lack: cargo puts versions where paths were, and leaves out a dependency of
/// tests that has a path alone.
fn version(package: &Package, name: &str, development: bool, has_path_alone: bool) -> Option<String> {
    let package = &package.name;
    match (OF_TESTS.contains(&name), has_path_alone) {
        (false, true) => Some(format!("{name} has a path and no version, so {package} cannot be packaged - name both")),
        (true, false) if development => {
            Some(format!("{name} is in no registry, so {package} cannot be packaged - name its path alone"))
        }
        _ => None,
    }
}

/// Whether a crate's name is this one or, with a star, starts so.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

/// Whether a manifest takes the workspace's lints over.
fn lints(manifest: &str) -> Option<(String, String)> {
    let mut section = "";
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        }
        let line: String = line.split_whitespace().collect();
        if (section == "[lints]" && line == "workspace=true") || line == "lints.workspace=true" {
            return None;
        }
    }
    Some(("[lints]".into(), "does not inherit the lints - add `[lints]` with `workspace = true`".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(package: &str, folder: &str, dependency: &str, development: bool) -> Vec<String> {
        let package = Package {
            name: package.into(),
            folder: folder.into(),
            dependencies: vec![Dependency { name: dependency.into(), development, has_path_alone: false }],
            component: None,
            is_published: false,
        };
        let members = ["wharf-core", "wharf-state", "wharf-engine", "wharf-mcp", "wharf-http", "wharf", "wharf-sdk"];
        let members: Vec<_> = members.map(str::to_owned).to_vec();
        edges(&package, Path::new(folder), &members).into_iter().map(|(_, message)| message).collect()
    }

    #[test]
    fn edges_of_the_table_are_allowed_and_all_others_are_not() {
        assert!(broken("wharf-engine", "host/engine", "wharf-core", false).is_empty());
        assert!(broken("wharf", "host/wharf", "wharf-engine", false).is_empty());
        assert_eq!(broken("wharf-core", "host/core", "wharf-state", false).len(), 1);
        assert_eq!(broken("wharf-mcp", "host/mcp", "wharf-engine", true).len(), 1);
        assert_eq!(broken("wharf-http", "host/http", "wharf-mcp", true).len(), 1);
    }

    #[test]
    fn plugins_see_only_the_sdk_whatever_their_names() {
        assert!(broken("wharf-planning", "plugins/planning", "wharf-sdk", false).is_empty());
        assert_eq!(broken("wharf-planning", "plugins/planning", "wharf-core", false).len(), 1);
        assert_eq!(broken("wharf-guest", "tests/guests/some", "wharf-engine", false).len(), 1);
    }

    #[test]
    fn a_crate_that_the_table_lacks_is_named() {
        let messages = broken("wharf-cellar", "host/cellar", "serde", false);
        assert!(messages[0].contains("no crate wharf-cellar"), "{messages:?}");
    }

    #[test]
    fn reserved_crates_stay_with_their_owners() {
        assert!(broken("wharf-engine", "host/engine", "wasmtime-wasi", false).is_empty());
        assert!(broken("wharf-bench", "tests/bench", "wasmtime", false).is_empty());
        assert_eq!(broken("wharf-state", "host/state", "wasmtime", true).len(), 1);
        assert!(broken("wharf-mcp", "host/mcp", "rmcp", false).is_empty());
        assert_eq!(broken("wharf-http", "host/http", "rmcp", false).len(), 1);
        assert_eq!(broken("wharf-mcp", "host/mcp", "axum", false).len(), 1);
        assert_eq!(broken("wharf-core", "host/core", "anyhow", false).len(), 1);
        assert!(broken("wharf-core", "host/core", "anyhow", true).is_empty());
    }

    #[test]
    fn a_member_is_found_by_its_version_too() {
        let mut package = Package {
            name: "wharf-engine".into(),
            folder: "host/engine".into(),
            dependencies: vec![Dependency { name: "wharf-core".into(), development: false, has_path_alone: true }],
            component: None,
            is_published: true,
        };
        let members = ["wharf-core".to_owned()];
        let found = edges(&package, Path::new("host/engine"), &members);
        assert!(matches!(found.as_slice(), [(_, message)] if message.contains("no version")), "{found:?}");
        package.dependencies[0].has_path_alone = false;
        assert!(edges(&package, Path::new("host/engine"), &members).is_empty());
    }

    #[test]
    fn tests_alone_use_their_support_and_by_its_path_alone() {
        let found = |package: &str, development, has_path_alone| {
            let package = Package {
                name: package.into(),
                folder: "host/core".into(),
                dependencies: vec![Dependency { name: SUPPORT.into(), development, has_path_alone }],
                component: None,
                is_published: true,
            };
            let messages = edges(&package, Path::new("host/core"), &[SUPPORT.to_owned()]);
            messages.into_iter().map(|(_, message)| message).collect::<Vec<_>>()
        };
        assert!(found("wharf-core", true, true).is_empty());
        assert!(found("wharf-tests", false, true).is_empty());
        assert!(matches!(found("wharf-core", true, false).as_slice(), [message] if message.contains("path alone")));
        assert!(matches!(found("wharf-core", false, true).as_slice(), [message] if message.contains("must not know")));
    }

    #[test]
    fn a_manifest_without_the_lints_is_found() {
        assert!(lints("[package]\nname = \"a\"\n\n[lints]\nworkspace = true\n").is_none());
        assert!(lints("[package]\nname = \"a\"\nversion.workspace = true\n[other]\nworkspace = true\n").is_some());
    }
}
