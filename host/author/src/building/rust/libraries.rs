//! The crates that a component was built of, as cargo resolves them for its target. They go into
//! the component in the form of `cargo auditable`, which scanners for advisories read.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use auditable_serde::{DependencyKind, Package, Source, VersionInfo};
use serde::Deserialize;

/// What `cargo metadata` says of a plugin with all that it depends on.
#[derive(Debug, Deserialize)]
pub(super) struct ResolvedPackages {
    packages: Vec<ResolvedPackage>,
    resolve: Resolution,
}

#[derive(Debug, Deserialize)]
struct ResolvedPackage {
    id: String,
    name: String,
    version: semver::Version,
    source: Option<String>,
    targets: Vec<CargoTarget>,
}

#[derive(Debug, Deserialize)]
struct CargoTarget {
    kind: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Resolution {
    nodes: Vec<ResolvedNode>,
    root: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ResolvedNode {
    id: String,
    deps: Vec<ResolvedDependency>,
}

#[derive(Debug, Deserialize)]
struct ResolvedDependency {
    pkg: String,
    dep_kinds: Vec<ResolvedKind>,
}

#[derive(Debug, Deserialize)]
struct ResolvedKind {
    kind: Option<String>,
}

/// Revision of the form in which macros count as tools of the build.
const FORMAT: u32 = 1;

/// The crates in the component and those that only built it; nothing where cargo names no root.
pub(super) fn libraries(resolved: &ResolvedPackages) -> Option<VersionInfo> {
    let root = resolved.resolve.root.as_deref()?;
    let packages: HashMap<_, _> = resolved.packages.iter().map(|package| (package.id.as_str(), package)).collect();
    let nodes: HashMap<_, _> = resolved.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let is_macro = |id: &str| {
        let targets = packages.get(id).map_or(&[][..], |package| package.targets.as_slice());
        targets.iter().any(|target| target.kind.iter().any(|kind| kind == "proc-macro"))
    };
    // Each once for what it is reached as; what a tool of the build needs is one, too.
    let mut kinds: BTreeMap<&str, DependencyKind> = BTreeMap::new();
    let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut reached = vec![(root, DependencyKind::Runtime)];
    while let Some((id, kind)) = reached.pop() {
        if kinds.get(id).is_some_and(|known| *known >= kind) {
            continue;
        }
        kinds.insert(id, kind);
        for dependency in nodes.get(id).map_or(&[][..], |node| node.deps.as_slice()) {
            let is = |wanted: Option<&str>| dependency.dep_kinds.iter().any(|kind| kind.kind.as_deref() == wanted);
            let is_in_it = is(None) && kind == DependencyKind::Runtime && !is_macro(&dependency.pkg);
            if is(None) || is(Some("build")) {
                edges.entry(id).or_default().insert(&dependency.pkg);
                let kind = if is_in_it { DependencyKind::Runtime } else { DependencyKind::Build };
                reached.push((&dependency.pkg, kind));
            }
        }
    }
    let mut listed: Vec<_> = kinds.iter().filter_map(|(id, kind)| Some((*packages.get(id)?, *kind))).collect();
    listed.sort_by(|(one, _), (other, _)| {
        (&one.name, &one.version, &one.id).cmp(&(&other.name, &other.version, &other.id))
    });
    let places: HashMap<_, _> = listed.iter().enumerate().map(|(at, (package, _))| (package.id.as_str(), at)).collect();
    let packages = listed.iter().map(|(package, kind)| {
        let needed = edges.get(package.id.as_str()).into_iter().flatten();
        let mut dependencies: Vec<_> = needed.filter_map(|id| places.get(id).copied()).collect();
        dependencies.sort_unstable();
        Package {
            name: package.name.clone(),
            version: package.version.clone(),
            source: source(package.source.as_deref()),
            kind: *kind,
            dependencies,
            root: package.id == root,
        }
    });
    Some(VersionInfo { packages: packages.collect(), format: FORMAT })
}

fn source(source: Option<&str>) -> Source {
    match source {
        None => Source::Local,
        Some(source)
            if source.contains("github.com/rust-lang/crates.io-index") || source.contains("index.crates.io") =>
        {
            Source::CratesIo
        }
        Some(source) if source.starts_with("git+") => Source::Git,
        Some(_) => Source::Registry,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn package(name: &str, kind: &str, source: Option<&str>) -> Value {
        json!({ "id": name, "name": name, "version": "1.2.3", "source": source, "targets": [{ "kind": [kind] }] })
    }

    fn node(name: &str, needs: &[(&str, Option<&str>)]) -> Value {
        let deps: Vec<_> =
            needs.iter().map(|(pkg, kind)| json!({ "pkg": pkg, "dep_kinds": [{ "kind": kind }] })).collect();
        json!({ "id": name, "deps": deps })
    }

    #[test]
    fn what_is_in_the_component_is_told_from_what_built_it() {
        let registry = Some("registry+https://github.com/rust-lang/crates.io-index");
        let resolved = json!({
            "packages": [
                package("plugin", "cdylib", None),
                package("library", "lib", registry),
                package("macros", "proc-macro", registry),
                package("syntax", "lib", registry),
                package("builder", "lib", Some("git+https://example.com/b")),
                package("tester", "lib", registry),
                package("both", "lib", registry),
            ],
            "resolve": { "root": "plugin", "nodes": [
                node("plugin", &[("library", None), ("macros", None), ("builder", Some("build")), ("tester", Some("dev"))]),
                node("library", &[("both", None)]),
                node("macros", &[("syntax", None), ("both", None)]),
                node("syntax", &[]), node("builder", &[]), node("tester", &[]), node("both", &[]),
            ] },
        });
        let listed = libraries(&serde_json::from_value(resolved).expect("as cargo says it")).expect("a root");
        let said: Vec<_> =
            listed.packages.iter().map(|package| (package.name.as_str(), package.kind, package.root)).collect();
        let (build, runtime) = (DependencyKind::Build, DependencyKind::Runtime);
        let expected = [
            ("both", runtime, false),
            ("builder", build, false),
            ("library", runtime, false),
            ("macros", build, false),
            ("plugin", runtime, true),
            ("syntax", build, false),
        ];
        assert_eq!(said, expected);
        assert_eq!(listed.packages[4].dependencies, [1, 2, 3]);
        assert_eq!((&listed.packages[1].source, &listed.packages[4].source), (&Source::Git, &Source::Local));
        // As readers of components check it.
        let again: VersionInfo = serde_json::to_string(&listed).expect("JSON").parse().expect("one root and no circle");
        assert_eq!(again, listed);
    }
}
