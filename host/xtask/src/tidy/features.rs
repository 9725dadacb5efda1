//! What an app leaves out with a feature of the library `wharf`: the crates that must not
//! come back by another way.
//!
//! Owns which crate belongs to which feature. Cargo says what a set of features compiles, from
//! the manifests alone; what is not there yet it downloads.

use std::path::Path;

use anyhow::{Context, Result};

use super::violation::Violation;
use crate::command;
use crate::workspace::Workspace;

const MANIFEST: &str = "host/wharf/Cargo.toml";

/// A feature of the library, the features beside it that do without it, and the crates that
/// nothing else brings: each by name or, with a star, all whose names start so.
const FEATURES: [(&str, &str, &[&str]); 7] = [
    (
        "http",
        "chromium,nats,oci,postgres,traces",
        &["axum*", "jsonwebtoken", "sse-stream", "tokio-io-timeout", "wharf-http"],
    ),
    ("oauth", "chromium,http,nats,oci,postgres,traces", &["jsonwebtoken"]),
    ("traces", "chromium,http,nats,oauth,oci,postgres", &["opentelemetry*", "prost*", "wharf-trace"]),
    ("oci", "chromium,http,nats,oauth,postgres,traces", &["http-auth", "oci-spec"]),
    ("chromium", "http,nats,oauth,oci,postgres,traces", &["wharf-chromium"]),
    ("nats", "chromium,http,oauth,oci,postgres,traces", &["async-nats", "wharf-nats"]),
    (
        "postgres",
        "chromium,http,oauth,oci,traces",
        &["async-nats", "deadpool-postgres", "tokio-postgres*", "wharf-cell", "wharf-nats", "wharf-postgres"],
    ),
];

pub(super) fn check(workspace: &Workspace) -> Result<Vec<Violation>> {
    let mut violations = Vec::new();
    for (feature, others, crates) in FEATURES {
        let mut cargo = command::cargo(&workspace.root);
        cargo.args(["tree", "--locked", "--package", "wharf", "--no-default-features", "--features", others]);
        cargo.args(["--edges", "normal", "--prefix", "none", "--format", "{p}"]);
        let tree = command::capture(&mut cargo).context("cargo does not say what a feature compiles")?;
        violations.extend(returned(crates, &tree).into_iter().map(|name| {
            let text = format!(
                "an app without the feature `{feature}` compiles {name} - see which crate brings it, and make that \
                 dependency optional"
            );
            Violation::new(Path::new(MANIFEST), 0, text)
        }));
    }
    Ok(violations)
}

/// The packages of a tree that are among these crates.
fn returned<'t>(crates: &[&str], tree: &'t str) -> Vec<&'t str> {
    let names = tree.lines().filter_map(|line| line.split_whitespace().next());
    let mut returned: Vec<_> =
        names.filter(|name| crates.iter().any(|pattern| super::edges::matches(pattern, name))).collect();
    returned.sort_unstable();
    returned.dedup();
    returned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_that_comes_back_is_named_once() {
        let tree =
            "wharf v0.1.0 (/repository/host/wharf)\naxum v0.8.1\nhttp v1.5.0\naxum-core v0.5.0\naxum v0.8.1 (*)\n";
        assert_eq!(returned(&["axum*", "tokio-io-timeout"], tree), ["axum", "axum-core"]);
        assert!(returned(&["oci-spec"], tree).is_empty());
    }

    #[test]
    fn the_features_beside_one_are_all_that_do_without_it() {
        for (feature, others, _) in FEATURES {
            let others: Vec<_> = others.split(',').collect();
            // The feature that needs this one, too.
            let dependent = match feature {
                "http" => Some("oauth"),
                "postgres" => Some("nats"),
                _ => None,
            };
            assert!(!others.contains(&feature) && dependent.is_none_or(|other| !others.contains(&other)), "{feature}");
            assert_eq!(others.len() + 1 + usize::from(dependent.is_some()), FEATURES.len(), "{feature}");
        }
    }
}
