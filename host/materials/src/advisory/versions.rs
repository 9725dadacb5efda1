//! Whether a version is among those that an advisory names, as the specification of OSV says.

use std::cmp::Ordering;

use semver::Version;
use serde::Deserialize;

/// One range of versions.
#[derive(Debug, Deserialize)]
pub(super) struct Range {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    events: Vec<Event>,
}

/// What happens at a version. Each has one member.
#[derive(Debug, Deserialize)]
struct Event {
    introduced: Option<String>,
    fixed: Option<String>,
    last_affected: Option<String>,
    limit: Option<String>,
}

/// What a range says of a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is within; with the version in which that ends, where one is said.
    Affected(Option<String>),
    Unaffected,
    /// It is of an order of versions that is not known here.
    Unknown,
}

/// Where in the order of versions something happens.
#[derive(Debug, Clone, PartialEq, Eq)]
enum VersionPlace {
    Start,
    At(Version),
}

impl VersionPlace {
    fn read(written: &str) -> Option<Self> {
        match written {
            "0" => Some(Self::Start),
            _ => version(written).map(Self::At),
        }
    }

    /// Where a version is, seen from here. What is built of the same sources is the same.
    fn order_of(&self, version: &Version) -> Ordering {
        match self {
            Self::Start => Ordering::Greater,
            Self::At(place) => version.cmp_precedence(place),
        }
    }

    fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Start, Self::Start) => Ordering::Equal,
            (Self::Start, Self::At(_)) => Ordering::Less,
            (Self::At(_), Self::Start) => Ordering::Greater,
            (Self::At(one), Self::At(other)) => one.cmp_precedence(other),
        }
    }
}

/// A version by the rules of semver; Go writes a letter before it.
pub(super) fn version(written: &str) -> Option<Version> {
    Version::parse(written.strip_prefix('v').unwrap_or(written)).ok()
}

/// Ecosystems whose versions are ordered as semver says, also where a range does not say so.
const ORDERED: [&str; 5] = ["crates.io", "npm", "Go", "Hex", "Pub"];

#[derive(Clone, Copy)]
enum Happening {
    Introduced,
    Fixed,
    LastAffected,
}

impl Range {
    pub(super) fn verdict(&self, ecosystem: &str, written: &str) -> Verdict {
        // Commits say nothing of a version that was released.
        if self.kind == "GIT" {
            return Verdict::Unaffected;
        }
        if self.kind != "SEMVER" && !ORDERED.contains(&ecosystem) {
            return Verdict::Unknown;
        }
        let Some(version) = version(written) else { return Verdict::Unknown };
        let Some(events) = self.events() else { return Verdict::Unknown };
        let limits: Vec<_> = self.events.iter().filter_map(|event| event.limit.as_deref()).collect();
        let is_before = |limit: &&str| {
            *limit == "*" || VersionPlace::read(limit).is_some_and(|limit| limit.order_of(&version) == Ordering::Less)
        };
        if !limits.is_empty() && !limits.iter().any(is_before) {
            return Verdict::Unaffected;
        }
        let (mut is_affected, mut fixed) = (false, None);
        for (place, happening, written) in &events {
            let order = place.order_of(&version);
            match happening {
                Happening::Introduced if order.is_ge() => is_affected = true,
                Happening::Fixed if order.is_ge() => is_affected = false,
                Happening::LastAffected if order.is_gt() => is_affected = false,
                Happening::Fixed if fixed.is_none() => fixed = Some((*written).to_owned()),
                _ => {}
            }
        }
        if is_affected { Verdict::Affected(fixed) } else { Verdict::Unaffected }
    }

    /// What happens, in order; nothing where one of the versions is none.
    fn events(&self) -> Option<Vec<(VersionPlace, Happening, &str)>> {
        let mut events = Vec::new();
        for event in &self.events {
            let named = [
                (&event.introduced, Happening::Introduced),
                (&event.fixed, Happening::Fixed),
                (&event.last_affected, Happening::LastAffected),
            ];
            for (written, happening) in named {
                let Some(written) = written else { continue };
                events.push((VersionPlace::read(written)?, happening, written.as_str()));
            }
        }
        events.sort_by(|(one, ..), (other, ..)| one.order(other));
        Some(events)
    }
}
