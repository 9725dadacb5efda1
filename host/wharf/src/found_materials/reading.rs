//! From files that lie beside a component to what they say of it.

use wharf_core::text::{line, with_causes};
use wharf_materials::{BillError, BillOfMaterials, Statement, StatementContent, StatementError};
use wharf_trust::{SignedArtifact, TrustPolicy, sha256_hex};

use super::{Binding, FoundBill, FoundMaterials, FoundProvenance, Voucher};

/// What is kept of one component: a receipt has it, and strangers may add some in a registry.
const MAX_PACKAGES: usize = 10_000;
const MAX_PACKAGE_BYTES: usize = 1 << 20;
/// What a receipt has around the words of a package.
const AROUND_BYTES: usize = 100;
const MAX_BILLS: usize = 16;
const MAX_PROBLEMS: usize = 16;
/// Lines of a file of statements.
const MAX_LINES: usize = 16;
/// Bytes of where something was found, and of a problem.
const MAX_FROM_BYTES: usize = 512;

/// Reads what is said of one component.
#[derive(Default)]
pub(super) struct MaterialsReader<'c> {
    artifact: Option<(SignedArtifact<'c>, &'c TrustPolicy)>,
    /// The digests of the component, and of the manifest that names it.
    component: String,
    manifest: Option<String>,
    pub(super) found: FoundMaterials,
}

impl<'c> MaterialsReader<'c> {
    pub(super) fn new(component: &'c [u8], manifest: Option<&'c [u8]>, policy: &'c TrustPolicy) -> Self {
        Self {
            artifact: Some((SignedArtifact { component, manifest }, policy)),
            component: sha256_hex(component),
            manifest: manifest.map(sha256_hex),
            found: FoundMaterials::default(),
        }
    }

    /// Takes the list of libraries within the component.
    pub(super) fn take_list(&mut self, section: &[u8]) {
        let from = "the component's section .dep-v0";
        match BillOfMaterials::of_section(section) {
            Ok(bill) => self.keep_bill(from, bill, Binding::Within, Voucher::Nobody),
            Err(error) => self.problem(from, &with_causes(&error)),
        }
    }

    /// Takes a file: a bill, a statement, or several statements, one on each line.
    pub(super) fn take(&mut self, from: &str, bytes: &[u8]) {
        match BillOfMaterials::read(bytes) {
            Ok(bill) => return self.take_bill(from, bill),
            // It may be a statement.
            Err(BillError::Unknown | BillError::Malformed(_)) => {}
            Err(BillError::TooLong { .. }) if bytes.len() <= Statement::MAX_BYTES => {}
            Err(error) => return self.problem(from, &with_causes(&error)),
        }
        match Statement::read(bytes) {
            Err(StatementError::Malformed(_)) if bytes.trim_ascii().contains(&b'\n') => {
                let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
                for line in lines.take(MAX_LINES) {
                    self.take_statement(from, line, Statement::read(line));
                }
            }
            read => self.take_statement(from, bytes, read),
        }
    }

    fn take_bill(&mut self, from: &str, bill: BillOfMaterials) {
        let bound = match (bill.subjects.is_empty(), bill.subjects.contains(&self.component), &self.manifest) {
            (false, true, _) => Binding::Digest,
            (false, false, _) => return self.problem(from, "it is about another component: the digest is another one"),
            (true, _, Some(_)) => Binding::Manifest,
            (true, _, None) => Binding::Place,
        };
        self.keep_bill(from, bill, bound, Voucher::Nobody);
    }

    fn take_statement(&mut self, from: &str, bytes: &[u8], read: Result<Statement, StatementError>) {
        let statement = match read {
            Ok(statement) => statement,
            // Other things may be said, and signatures lie there, too.
            Err(StatementError::Signature | StatementError::OtherType(_)) => return,
            Err(error) => return self.problem(from, &with_causes(&error)),
        };
        let names = |digest: &String| statement.subjects.contains(digest);
        let bound = match &self.manifest {
            _ if names(&self.component) => Binding::Digest,
            Some(manifest) if names(manifest) => Binding::Manifest,
            _ => return self.problem(from, "it is about another component: none of its subjects has the digest"),
        };
        let voucher = self.voucher(&statement, bytes);
        match statement.content {
            StatementContent::Bill(bill) => self.keep_bill(from, bill, bound, voucher),
            StatementContent::Provenance(build) if self.found.provenance.len() < MAX_BILLS => {
                let from = line(from, MAX_FROM_BYTES);
                self.found.provenance.push(FoundProvenance { from, bound, voucher, build });
            }
            StatementContent::Provenance(_) => self.problem(from, "there is more provenance than is kept"),
            _ => {}
        }
    }

    fn voucher(&self, statement: &Statement, bytes: &[u8]) -> Voucher {
        let (Some((artifact, policy)), true, Ok(text)) = (self.artifact, statement.is_bundle, str::from_utf8(bytes))
        else {
            return Voucher::Nobody;
        };
        match policy.verify_statement(artifact, text) {
            Ok(evidence) => Voucher::Trusted(Box::new(evidence)),
            Err(untrusted) => Voucher::Untrusted(line(&with_causes(&untrusted), MAX_FROM_BYTES)),
        }
    }

    fn keep_bill(&mut self, from: &str, bill: BillOfMaterials, bound: Binding, voucher: Voucher) {
        let bills = &self.found.bills;
        let (mut packages, mut bytes) = (0, 0);
        for package in bills.iter().flat_map(|bill| &bill.packages).chain(&bill.packages) {
            let words = [Some(&package.name), package.version.as_ref(), package.ecosystem.as_ref()];
            packages += 1;
            bytes += AROUND_BYTES + words.into_iter().flatten().map(String::len).sum::<usize>();
        }
        if bills.len() >= MAX_BILLS || packages > MAX_PACKAGES || bytes > MAX_PACKAGE_BYTES {
            let told = format!(
                "with it there are {packages} packages in {} bills, which take {bytes} bytes; {MAX_PACKAGES} in {MAX_BILLS} \
                 are kept, and {MAX_PACKAGE_BYTES} bytes",
                bills.len() + 1
            );
            return self.problem(from, &told);
        }
        let from = line(from, MAX_FROM_BYTES);
        self.found.bills.push(FoundBill { format: bill.format, from, bound, voucher, packages: bill.packages });
    }

    fn problem(&mut self, from: &str, what: &str) {
        if self.found.problems.len() < MAX_PROBLEMS {
            self.found.problems.push(format!("{}: {}", line(from, MAX_FROM_BYTES), line(what, MAX_FROM_BYTES)));
        }
    }
}
