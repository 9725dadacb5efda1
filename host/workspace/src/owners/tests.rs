use super::*;

fn owners() -> FolderOwners {
    let limits =
        ProcessLimits { exchange_bytes_per_tenant: 100, exchange_entries_per_tenant: 3, ..ProcessLimits::default() };
    FolderOwners::new(&limits)
}

fn tenant(name: &str) -> TenantId {
    name.parse().expect("legal")
}

const fn file(inode: u64) -> FileNumber {
    FileNumber { device: 1, inode }
}

const BORN: Option<FileBirth> = Some(FileBirth(1, 1));

impl FolderOwners {
    /// A new file of a tenant's.
    fn writes(&mut self, by: &TenantId, number: FileNumber, bytes: u64) {
        self.take(by, 0, 1).expect("an entry");
        self.changed(by, 1, SpaceChange { file: Some(number), made: 1, ..SpaceChange::default() });
        self.adds(by, number, bytes);
    }

    fn adds(&mut self, by: &TenantId, number: FileNumber, bytes: u64) {
        self.take(by, bytes, 0).expect("room");
        self.wrote(by, number, bytes, bytes, 0);
    }

    /// A measurement that finds these files with so many bytes each.
    fn measure(&mut self, found: &[(FileNumber, u64)], born: Option<FileBirth>) {
        let walk = self.begin();
        found.iter().for_each(|(number, bytes)| self.see(&walk, *number, *bytes, born));
        self.end(&walk, true);
    }

    /// Bytes and entries that count for a tenant.
    fn held(&self, tenant: &TenantId) -> (u64, u64) {
        (self.bytes.used_by_tenant(tenant), self.entries.used_by_tenant(tenant))
    }
}

#[test]
fn a_write_counts_for_the_tenant_of_its_call_and_leaves_the_share_of_another() {
    let (mut owners, a, b) = (owners(), tenant("a"), tenant("b"));
    owners.writes(&a, file(1), 100);
    assert_eq!(owners.take(&a, 1, 0).expect_err("full").bound.0, "exchange_bytes_per_tenant");
    owners.writes(&b, file(2), 99);
    owners.take(&b, 1, 2).expect("its own share");
    assert_eq!(owners.take(&b, 0, 1).expect_err("full").bound.0, "exchange_entries_per_tenant");
    owners.give_back(&b, 1, 2);
    assert_eq!((owners.held(&a), owners.held(&b)), ((100, 1), (99, 1)));
    assert_eq!(owners.excess(&a), None, "full is not too much");
}

#[test]
fn what_each_tenant_adds_to_a_file_counts_for_it_and_goes_with_the_file() {
    let (mut owners, a, b) = (owners(), tenant("a"), tenant("b"));
    owners.writes(&a, file(1), 40);
    owners.adds(&b, file(1), 30);
    // It is written over, and nothing more is taken.
    owners.take(&b, 20, 0).expect("room");
    owners.wrote(&b, file(1), 20, 0, 0);
    assert_eq!((owners.held(&a), owners.held(&b)), ((40, 1), (30, 0)));
    owners.wrote(&a, file(1), 0, 0, 50);
    assert_eq!((owners.held(&a), owners.held(&b)), ((20, 1), (0, 0)), "what was added last goes first");
    owners.adds(&b, file(1), 5);
    let removed = SpaceChange { file: Some(file(1)), freed_bytes: 25, gone: 1, ..SpaceChange::default() };
    owners.changed(&b, 0, removed);
    assert_eq!((owners.held(&a), owners.held(&b), owners.files.len()), ((0, 0), (0, 0), 0));
}

#[test]
fn a_file_that_is_cut_when_it_is_opened_is_an_entry_still() {
    let (mut owners, a) = (owners(), tenant("a"));
    owners.writes(&a, file(1), 40);
    // One that opens it has taken room for a file that may be made.
    owners.take(&a, 0, 1).expect("an entry");
    owners.changed(&a, 1, SpaceChange { file: Some(file(1)), freed_bytes: 40, ..SpaceChange::default() });
    assert_eq!(owners.held(&a), (0, 1));
    owners.measure(&[(file(1), 0)], BORN);
    assert_eq!(owners.held(&a), (0, 1));
}

#[test]
fn a_measurement_finds_what_the_operator_removed_or_put_in_its_place() {
    let (mut owners, a) = (owners(), tenant("a"));
    owners.writes(&a, file(1), 40);
    owners.writes(&a, file(2), 30);
    owners.measure(&[(file(1), 40), (file(2), 10), (file(9), 1_000)], BORN);
    assert_eq!(owners.held(&a), (50, 2), "one is shorter, and what is nobody's counts for nobody");
    owners.measure(&[(file(1), 40)], BORN);
    assert_eq!(owners.held(&a), (40, 1));
    owners.measure(&[(file(1), 1_000)], Some(FileBirth(2, 2)));
    assert_eq!((owners.held(&a), owners.tenants.len()), ((0, 0), 0), "another file has its number");
}

#[test]
fn a_measurement_forgets_nothing_that_it_may_have_missed() {
    let (mut owners, a, b) = (owners(), tenant("a"), tenant("b"));
    owners.writes(&a, file(1), 40);
    owners.writes(&b, file(2), 40);
    let walk = owners.begin();
    owners.end(&walk, false);
    assert_eq!((owners.held(&a), owners.held(&b)), ((40, 1), (40, 1)), "it did not read the whole folder");
    let walk = owners.begin();
    owners.changed(&a, 0, SpaceChange { moved: true, ..SpaceChange::default() });
    owners.writes(&b, file(3), 10);
    owners.end(&walk, true);
    assert_eq!(owners.held(&a), (40, 1), "it may have gone where the measurement had been");
    assert_eq!(owners.held(&b), (20, 2), "one is gone; what was made meanwhile counts, and was taken meanwhile");
    owners.measure(&[(file(1), 40), (file(3), 10)], BORN);
    assert_eq!((owners.held(&a), owners.held(&b)), ((40, 1), (10, 1)));
}
