//! One thing that a component is made of, under the name that advisories have for it.

use serde::{Deserialize, Serialize};
use wharf_core::text::line;

/// Bytes of a name and of a version; longer ones are no package's.
const MAX_WORD_BYTES: usize = 256;

/// Types of package URLs, and what the database of OSV calls their ecosystems.
const ECOSYSTEMS: [(&str, &str); 13] = [
    ("cargo", "crates.io"),
    ("composer", "Packagist"),
    ("conan", "ConanCenter"),
    ("cran", "CRAN"),
    ("gem", "RubyGems"),
    ("golang", "Go"),
    ("hackage", "Hackage"),
    ("hex", "Hex"),
    ("maven", "Maven"),
    ("npm", "npm"),
    ("nuget", "NuGet"),
    ("pub", "Pub"),
    ("pypi", "PyPI"),
];

/// A package in one version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Package {
    /// Where it comes from, as OSV names it: `crates.io`, `npm`, `PyPI`. Nothing where that is not
    /// said, or no database knows it: then nobody can say whether it has holes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecosystem: Option<String>,
    /// Its name there.
    pub name: String,
    /// Its version; nothing where none is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

impl Package {
    /// One of no ecosystem, with words that a stranger chose; nothing where they are empty.
    pub(crate) fn named(name: &str, version: Option<&str>) -> Option<Self> {
        let version = version.map(|version| line(version.trim(), MAX_WORD_BYTES)).filter(|version| !version.is_empty());
        let name = line(name.trim(), MAX_WORD_BYTES);
        (!name.is_empty()).then_some(Self { ecosystem: None, name, version })
    }

    pub(crate) fn of_ecosystem(self, ecosystem: &str) -> Self {
        let name = match ecosystem {
            "PyPI" => normal_python_name(&self.name),
            _ => self.name,
        };
        Self { ecosystem: Some(ecosystem.to_owned()), name, ..self }
    }

    /// What a package URL names: `pkg:npm/%40scope/name@1.2.3?qualifiers#path`.
    pub(crate) fn of_url(url: &str) -> Option<Self> {
        let rest = url.strip_prefix("pkg:")?.trim_start_matches('/');
        let rest = rest.split(['?', '#']).next()?;
        let (path, version) = match rest.rsplit_once('@') {
            Some((path, version)) if !version.contains('/') => (path, Some(decoded(version)?)),
            _ => (rest, None),
        };
        let (kind, path) = path.split_once('/')?;
        let parts = path.split('/').map(decoded).collect::<Option<Vec<_>>>()?;
        let kind = kind.to_ascii_lowercase();
        let separator = if kind == "maven" { ":" } else { "/" };
        // Go writes versions with a letter, and advisories without.
        let version = version.map(|version| match kind.as_str() {
            "golang" => version.strip_prefix('v').map_or(version.clone(), str::to_owned),
            _ => version,
        });
        let package = Self::named(&parts.join(separator), version.as_deref())?;
        Some(match ECOSYSTEMS.iter().find(|(known, _)| *known == kind) {
            Some((_, ecosystem)) => package.of_ecosystem(ecosystem),
            None => package,
        })
    }
}

/// The form of a name in which Python's index compares names.
pub(crate) fn normal_python_name(name: &str) -> String {
    let words = name.split(['-', '_', '.']).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

/// Without `%XX`; nothing where that is no text.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, after @ ..] = rest {
        rest = after;
        match (byte, after) {
            (b'%', [high, low, after @ ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                bytes.push(digit(high)? << 4 | digit(low)?);
                rest = after;
            }
            (b'%', _) => return None,
            _ => bytes.push(*byte),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_url_is_read_as_advisories_name_packages() {
        let read = |url: &str| {
            let package = Package::of_url(url)?;
            Some(format!(
                "{} {} {}",
                package.ecosystem.as_deref().unwrap_or("-"),
                package.name,
                package.version.as_deref().unwrap_or("-")
            ))
        };
        for (url, expected) in [
            ("pkg:cargo/serde@1.0.200", Some("crates.io serde 1.0.200")),
            ("pkg:npm/%40scope/name@1.2.3?arch=x#lib", Some("npm @scope/name 1.2.3")),
            ("pkg:npm/@scope/name@1.2.3", Some("npm @scope/name 1.2.3")),
            ("pkg:npm/@scope/name", Some("npm @scope/name -")),
            ("pkg:golang/golang.org/x/net@v0.17.0", Some("Go golang.org/x/net 0.17.0")),
            ("pkg:maven/org.apache/commons@1", Some("Maven org.apache:commons 1")),
            ("pkg:pypi/Zope.Interface@5.0%2Blocal", Some("PyPI zope-interface 5.0+local")),
            ("pkg:generic/zlib@1.3", Some("- zlib 1.3")),
            ("pkg:cargo/", None),
            ("pkg:cargo", None),
            ("https://example.com", None),
            ("pkg:cargo/%zz@1", None),
            ("pkg:cargo/%e4@1", None),
        ] {
            assert_eq!(read(url).as_deref(), expected, "{url}");
        }
    }
}
