//! What a component is made of, and how it was built, as somebody says.
//!
//! Owns the forms of bills of materials ([`BillOfMaterials`]: CycloneDX, SPDX, and the list that
//! `cargo auditable` writes), statements about a component ([`Statement`]: in-toto, with SLSA
//! provenance or a bill), and advisories in the form of OSV ([`AdvisoryDatabase`]). It compares
//! digests and versions.
//!
//! It asks no server and verifies no signature: who says something, and whether that counts, is
//! decided elsewhere. All that it reads is a stranger's, and bounded.

mod advisory;
mod bill;
mod package;
mod provenance;
mod statement;

pub use advisory::{AdvisoryDatabase, AdvisoryMatch, DatabaseError, DatabaseReport};
pub use bill::{BillError, BillFormat, BillOfMaterials};
pub use package::Package;
pub use provenance::BuildProvenance;
pub use statement::{Statement, StatementContent, StatementError};
