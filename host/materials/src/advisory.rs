//! Advisories in the form of OSV, in a directory of the operator's, against packages.

mod database;
mod entry;
mod versions;

use serde::Serialize;

use crate::package::Package;

pub use database::{AdvisoryDatabase, DatabaseError, DatabaseReport};

/// A package that an advisory is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct AdvisoryMatch {
    /// What the database calls it.
    pub id: String,
    /// What others call it: `CVE-…`.
    pub aliases: Vec<String>,
    /// What it is about, in one line.
    pub summary: Option<String>,
    /// A word such as `HIGH`, or the vector of CVSS; nothing where it says neither.
    pub severity: Option<String>,
    /// What is affected.
    pub package: Package,
    /// The first version after that in which it is mended, where the advisory says one.
    pub fixed: Option<String>,
}

#[cfg(test)]
mod tests;
