//! The operator's work on a store: export, import, listing and clearing.

use tokio::runtime::Runtime;
use wharf_core::ScopeKey;
use wharf_postgres::{ConnectionOptions, PostgresInventory};
use wharf_state::{
    BucketSelection, BucketTotals, ImportError, ImportMode, ImportReport, Inventory, InventoryError, SqliteInventory,
    SqliteOptions, SqliteStore, StateStore as _,
};
use wharf_test_support::{postgres::PostgresServer, soon};

use super::{fresh, open, policy, put, session, sharing::accounts_hold};

fn all() -> BucketSelection {
    BucketSelection::default()
}

fn export(inventory: &dyn Inventory) -> String {
    let mut out = Vec::new();
    inventory.export(&all(), &mut out).expect("an export");
    String::from_utf8(out).expect("an export is text")
}

fn import(inventory: &dyn Inventory, text: &str, mode: ImportMode) -> Result<ImportReport, InventoryError> {
    inventory.import(&mut text.as_bytes(), mode)
}

fn scopes() -> Vec<ScopeKey> {
    let other = ScopeKey { tenant: "another".parse().expect("legal"), ..session("s") };
    vec![session("a"), session("b"), ScopeKey { bucket: "other".parse().expect("legal"), ..session("a") }, other]
}

/// A database with an inventory, and a runtime for what is not the inventory's.
struct Place {
    runtime: Runtime,
    connection: String,
    inventory: PostgresInventory,
    _server: PostgresServer,
}

impl Place {
    fn new() -> Option<Self> {
        let server = PostgresServer::start()?;
        let runtime = Runtime::new().expect("a runtime");
        let connection = runtime.block_on(fresh(&server));
        let inventory = PostgresInventory::open(&connection, &ConnectionOptions::default()).expect("a database");
        Some(Self { runtime, connection, inventory, _server: server })
    }

    fn accounts_hold(&self) -> bool {
        self.runtime.block_on(accounts_hold(&self.connection))
    }
}

/// An export of a store on disk with every kind of key and value.
fn exported_from_disk() -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let store = SqliteStore::open(directory.path(), SqliteOptions::default()).expect("a store");
    let runtime = Runtime::new().expect("a runtime");
    runtime.block_on(async {
        for (number, scope) in (0_u8..).zip(scopes()) {
            let mut changes =
                vec![put("binary", &[0xff, 0, 0xfe]), put("nul \0 in it", b""), put("가나다", "라".as_bytes())];
            changes.push(put("large", &vec![b'0' + number; 900_000]));
            // More than goes to the database at once.
            changes.extend((0..700).map(|number| put(&format!("many/{number:03}"), b"x")));
            store.apply(&scope, &policy(), changes, soon()).await.expect("a write");
        }
    });
    let inventory = SqliteInventory::open(directory.path()).expect("the store");
    export(&inventory)
}

#[test]
fn what_goes_from_disk_to_the_database_and_back_is_the_same_byte_for_byte() {
    let Some(place) = Place::new() else { return };
    let exported = exported_from_disk();
    let imported = import(&place.inventory, &exported, ImportMode::Refuse).expect("an import");
    assert_eq!((imported.written.buckets, imported.replaced, imported.expired), (4, 0, 0));
    assert_eq!(export(&place.inventory), exported);
    assert!(place.accounts_hold());

    let back = tempfile::tempdir().expect("a directory");
    let on_disk = SqliteInventory::open_or_make(back.path()).expect("a store");
    import(&on_disk, &exported, ImportMode::Refuse).expect("an import");
    assert_eq!(export(&on_disk), exported);

    let listed = place.inventory.totals(&all()).expect("totals");
    assert_eq!(listed, imported.written);
    let mut buckets = Vec::new();
    let mut each = |bucket: wharf_state::BucketSummary| {
        buckets.push(bucket.scope);
        Ok(())
    };
    place.inventory.buckets(&all(), &mut each).expect("a listing");
    let mut expected = scopes();
    expected.sort();
    assert_eq!(buckets, expected);
}

#[test]
fn an_import_that_is_refused_leaves_the_database_as_it_was() {
    let Some(place) = Place::new() else { return };
    let exported = exported_from_disk();
    import(&place.inventory, &exported, ImportMode::Refuse).expect("an import");
    let refused = |text: &str, mode| match import(&place.inventory, text, mode).expect_err("refused") {
        InventoryError::Import(error) => error,
        other => panic!("{other:?}"),
    };
    assert!(matches!(refused(&exported, ImportMode::Refuse), ImportError::Occupied { .. }));
    let cut: String = exported.split_inclusive('\n').take(500).collect();
    assert!(matches!(refused(&cut, ImportMode::Replace), ImportError::Cut { .. }));

    let lines: Vec<&str> = exported.split_inclusive('\n').collect();
    let twice: String = lines[..10].iter().chain([&lines[4]]).chain(&lines[10..]).copied().collect();
    let error = refused(&twice, ImportMode::Replace);
    assert!(matches!(&error, ImportError::Line { line: 11, .. }), "{error:?}");
    assert!(error.to_string().contains("is there twice"), "{error}");
    assert_eq!(export(&place.inventory), exported, "something of a refused import stayed");

    let replaced = import(&place.inventory, &exported, ImportMode::Replace).expect("an import");
    assert_eq!(replaced.replaced, 4);
    assert_eq!(export(&place.inventory), exported);
    assert!(place.accounts_hold());
}

#[test]
fn imported_entries_get_revisions_that_no_store_gave() {
    let Some(place) = Place::new() else { return };
    let before = place.runtime.block_on(async {
        let store = open(&place.connection).await;
        store.apply(&session("a"), &policy(), vec![put("binary", b"own")], soon()).await.expect("a write")[0]
    });
    import(&place.inventory, &exported_from_disk(), ImportMode::Replace).expect("an import");
    place.runtime.block_on(async {
        let store = open(&place.connection).await;
        let imported = store.get_many(&session("a"), &policy(), &["binary".into()], 100).await.expect("a read");
        let imported = imported[0].as_ref().expect("an entry").revision;
        // In the year 2020 there was no store.
        assert!(imported > before && imported > 1_577_836_800_000, "{imported} after {before}");
        let later =
            store.apply(&session("a"), &policy(), vec![put("binary", b"new")], soon()).await.expect("a write")[0];
        assert!(later > imported, "{later} after {imported}");
    });
}

#[test]
fn clearing_removes_the_chosen_buckets_with_their_content() {
    let Some(place) = Place::new() else { return };
    import(&place.inventory, &exported_from_disk(), ImportMode::Refuse).expect("an import");
    let of_another = BucketSelection { tenant: Some("another".parse().expect("legal")), ..all() };
    let cleared = place.inventory.clear(&of_another).expect("cleared");
    assert_eq!((cleared.buckets, cleared.entries), (1, 704));
    assert_eq!(place.inventory.totals(&of_another).expect("totals"), BucketTotals::default());
    assert_eq!(place.inventory.totals(&all()).expect("totals").buckets, 3);
    assert!(place.accounts_hold());
    assert_eq!(place.inventory.clear(&all()).expect("cleared").buckets, 3);
    let left = place.runtime.block_on(async {
        let raw = super::raw(&place.connection).await;
        raw.query_one("SELECT count(*) FROM wharf.kv", &[]).await.expect("a count").get::<_, i64>(0)
    });
    assert_eq!(left, 0, "content of cleared buckets stayed");
    let refused = place.inventory.confirm_clock().expect_err("no clock of its own");
    assert!(matches!(refused, InventoryError::ForeignClock), "{refused:?}");
}
