//! The operator's view of a store: listing, export, import and clearing.

use wharf_core::ScopeKind;

use super::*;
use crate::{
    BucketSelection, BucketSummary, BucketTotals, ImportError, ImportMode, ImportReport, Inventory as _,
    InventoryError, SqliteInventory,
};

/// A directory with a store, and the clock that a test moves.
struct StoreFixture {
    directory: TempDir,
    clock: Arc<ManualClock>,
    store: SqliteStore,
}

impl StoreFixture {
    fn new() -> Self {
        // Later than any count of writes, as every real time is.
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let (directory, clock) = (temporary(), Arc::new(ManualClock::starting_at(start)));
        let options = SqliteOptions { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..SqliteOptions::default() };
        let store = SqliteStore::open(directory.path(), options).expect("a new store");
        Self { directory, clock, store }
    }

    /// Buckets of every scope, with every kind of key and value.
    async fn filled() -> Self {
        let place = Self::new();
        let texts = ["", "ship it", "가나다 \u{1}\"\\\n", "{\"a\":1}"];
        for (number, scope) in scopes().iter().enumerate() {
            let mut changes: Vec<StateChange> = texts
                .iter()
                .map(|text| StateChange { key: format!("text/{text}"), value: Some((*text).into()), if_revision: None })
                .collect();
            changes.extend(put("binary", &[0xff, 0, 0xfe]));
            changes.extend(put("large", &vec![b'0' + number as u8; 40_000]));
            place.store.apply(scope, &policy_of(scope), changes, soon()).await.expect("a put");
        }
        place
    }

    fn inventory(&self) -> SqliteInventory {
        let inventory = SqliteInventory::open(self.directory.path()).expect("the store");
        inventory.with_clock(Arc::clone(&self.clock) as Arc<dyn Clock>)
    }

    fn export(&self) -> String {
        self.export_of(&BucketSelection::default())
    }

    fn export_of(&self, selection: &BucketSelection) -> String {
        let mut out = Vec::new();
        self.inventory().export(selection, &mut out).expect("an export");
        String::from_utf8(out).expect("an export is text")
    }

    fn import(&self, text: &str, existing: ImportMode) -> Result<ImportReport, InventoryError> {
        self.inventory().import(&mut text.as_bytes(), existing)
    }

    fn holds_its_accounts(&self) {
        assert!(
            raw(self.directory.path())
                .query_row(
                    "SELECT NOT EXISTS (SELECT 1 FROM scope WHERE entries IS NOT (SELECT count(*) FROM kv WHERE scope = id)
                         OR bytes IS NOT (SELECT coalesce(sum(length(CAST(key AS BLOB)) + length(value)), 0) FROM kv
                             WHERE scope = id))
                     AND NOT EXISTS (SELECT 1 FROM total WHERE tenant <> '' AND (scopes, bytes) IS NOT
                         (SELECT count(*), sum(bytes) FROM scope WHERE scope.tenant = total.tenant AND entries > 0))
                     AND (SELECT coalesce(sum(scopes), 0) FROM total WHERE tenant = '')
                         IS (SELECT count(*) FROM scope WHERE entries > 0)",
                    [],
                    |row| row.get::<_, bool>(0)
                )
                .expect("a check"),
            "entries and accounts disagree"
        );
    }
}

fn scopes() -> Vec<ScopeKey> {
    let of = |tenant: &str, kind, session: &str, assistant: &str, thread: &str, bucket: &str| ScopeKey {
        tenant: tenant.parse().expect("legal"),
        plugin: "planning".parse().expect("legal"),
        kind,
        session: session.parse().ok(),
        assistant: assistant.parse().ok(),
        thread: thread.parse().ok(),
        bucket: bucket.parse().expect("legal"),
    };
    vec![
        of("local", ScopeKind::Thread, "s", "", "", "main"),
        of("local", ScopeKind::Thread, "s", "a", "t", "main"),
        of("local", ScopeKind::Session, "s", "", "", "main"),
        of("local", ScopeKind::Session, "s", "", "", "other"),
        of("local", ScopeKind::Assistant, "", "a", "", "main"),
        of("local", ScopeKind::Plugin, "", "", "", "main"),
        of("another", ScopeKind::Session, "s", "", "", "main"),
    ]
}

fn policy_of(scope: &ScopeKey) -> ScopePolicy {
    let idle_expiry = matches!(scope.kind, ScopeKind::Thread | ScopeKind::Session).then(|| Duration::from_secs(1_000));
    ScopePolicy { idle_expiry, ..policy() }
}

fn listed(inventory: &SqliteInventory, selection: &BucketSelection) -> Vec<BucketSummary> {
    let mut found = Vec::new();
    inventory
        .buckets(selection, &mut |bucket| {
            found.push(bucket);
            Ok(())
        })
        .expect("a listing");
    found
}

#[tokio::test]
async fn what_is_exported_and_imported_is_exported_as_the_same_bytes() {
    let (from, to) = (StoreFixture::filled().await, StoreFixture::new());
    let export = from.export();
    let done = to.import(&export, ImportMode::Refuse).expect("an import");
    assert_eq!((done.written.buckets, done.replaced, done.expired), (7, 0, 0));
    assert_eq!(to.export(), export);
    to.holds_its_accounts();
    // A host reads the exported content, which lives as long.
    for scope in scopes() {
        let page = |store: &SqliteStore| {
            block(store.scan(&scope, &policy_of(&scope), "", None, 100, 4 << 20)).entries.into_iter()
        };
        let content = |store: &SqliteStore| page(store).map(|entry| (entry.key, entry.value)).collect::<Vec<_>>();
        assert_eq!(content(&to.store), content(&from.store), "{scope:?}");
    }
    // The same into a store that has it, and into one that changed since.
    let changed = scopes().remove(2);
    from.store.apply(&changed, &policy_of(&changed), put("since", b"x"), soon()).await.expect("a put");
    let done = from.import(&export, ImportMode::Replace).expect("an import");
    assert_eq!((done.written.buckets, done.replaced), (7, 7));
    assert_eq!(from.export(), export);
    from.holds_its_accounts();
}

/// A read is ready at once and needs no runtime.
fn block<T>(future: impl Future<Output = Result<T, StateError>>) -> T {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
        std::task::Poll::Ready(done) => done.expect("a read"),
        std::task::Poll::Pending => panic!("a read waits"),
    }
}

#[tokio::test]
async fn a_revision_never_returns_by_an_import() {
    let (place, fresh) = (StoreFixture::new(), StoreFixture::new());
    let scope = scopes().remove(5);
    let write = |store: SqliteStore| async move {
        let revision = store.apply(&scopes()[5], &policy(), put("key", b"v"), soon()).await.expect("a put")[0];
        (store, revision)
    };
    let (store, first) = write(place.store).await;
    let place = StoreFixture { store, ..place };
    let export = place.export();
    let (store, second) = write(place.store).await;
    let place = StoreFixture { store, ..place };
    place.import(&export, ImportMode::Replace).expect("an import");
    let third = block(place.store.get_many(&scope, &policy(), &["key".into()], 100)).remove(0).expect("there").revision;
    assert!(first < second && second < third, "{first} {second} {third}");
    // A change that expects the former revision conflicts.
    let stale = vec![StateChange { if_revision: Some(second), ..put("key", b"w").remove(0) }];
    let error = place.store.apply(&scope, &policy(), stale, soon()).await.expect_err("stale");
    assert!(matches!(error, StateError::Conflict { .. }), "{error:?}");
    // Nor does it where the store is another one.
    fresh.import(&export, ImportMode::Refuse).expect("an import");
    let there = block(fresh.store.get_many(&scope, &policy(), &["key".into()], 100)).remove(0).expect("there").revision;
    assert!(there > second, "{there}");
    // Nor by clearing, and writing again.
    place.inventory().clear(&BucketSelection::default()).expect("cleared");
    let (_, last) = write(place.store).await;
    assert!(last > third, "{last} {third}");
}

#[tokio::test]
async fn an_export_that_is_not_whole_or_not_ours_changes_nothing() {
    let (from, to) = (StoreFixture::filled().await, StoreFixture::new());
    let export = from.export();
    let lines: Vec<&str> = export.lines().collect();
    let before = to.export();
    let refused = |text: &str| match to.import(text, ImportMode::Refuse).expect_err("refused") {
        InventoryError::Import(error) => error,
        other => panic!("{other:?}"),
    };
    for length in [0, 1, 2, 3, 10, lines.len() - 1] {
        let cut = lines[..length].iter().map(|line| format!("{line}\n")).collect::<String>();
        assert!(matches!(refused(&cut), ImportError::Cut { .. }), "{length} lines: {:?}", refused(&cut));
    }
    let middle = (1..export.len()).rev().find(|at| export.is_char_boundary(*at) && *at < export.len() / 2);
    assert!(matches!(refused(&export[..middle.expect("long")]), ImportError::Cut { .. }));
    for foreign in ["not ours\n", "{\"format\":\"other\",\"version\":1}\n", "[]\n", &export[lines[0].len() + 1..]] {
        assert!(matches!(refused(foreign), ImportError::Foreign), "{foreign:.40}");
    }
    let newer = export.replacen("\"version\":1", "\"version\":2", 1);
    assert!(matches!(refused(&newer), ImportError::Newer { found: 2, known: 1 }));

    let without = |number: usize| -> String {
        lines.iter().enumerate().filter(|(at, _)| *at != number).map(|(_, line)| format!("{line}\n")).collect()
    };
    let bucket = lines[1];
    for (text, expected) in [
        (without(2), "were read"),
        (without(1), "before the first bucket"),
        (format!("{export}{bucket}\n"), "follows the line"),
        (export.replacen("\"kind\":\"session\"", "\"kind\":\"plugin\"", 1), "other ids"),
        (export.replacen("\"entries\":6", "\"entries\":7", 1), "7 entries"),
        (export.replacen("\"key\":\"large\"", "\"key\":\"binary\"", 1), "twice"),
        (export.replacen("\"text\":", "\"base64\":\"\",\"text\":", 1), "either"),
        (export.replacen("\"base64\":\"", "\"base64\":\"?", 1), "decoded"),
        (export.replacen("\"expires\":\"", "\"expires\":\"x", 1), "RFC 3339"),
        (export.replacen(lines[2], "{\"other\":1}", 1), "unknown variant"),
        (export.replacen("\"key\":\"large\"", &format!("\"key\":\"{}\"", "x".repeat(513)), 1), "512 bytes"),
        (format!("{}\n{}", lines[0], "x".repeat(8 << 20)), "more than"),
    ] {
        let error = refused(&text);
        assert!(matches!(error, ImportError::Line { .. }), "{expected}: {error:?}");
        assert!(error.to_string().contains(expected), "{expected}: {error}");
    }
    let doubled = format!("{}\n{}\n{}\n", lines[0], lines[1..8].join("\n"), lines[1..8].join("\n"));
    assert!(refused(&doubled).to_string().contains("this bucket is there twice"), "{}", refused(&doubled));
    assert_eq!(to.export(), before);
    to.holds_its_accounts();
}

#[tokio::test]
async fn content_is_not_replaced_unless_that_is_asked_for() {
    let (from, to) = (StoreFixture::filled().await, StoreFixture::new());
    let scope = scopes().remove(4);
    to.store.apply(&scope, &policy(), put("mine", b"mine"), soon()).await.expect("a put");
    let before = to.export();
    let error = to.import(&from.export(), ImportMode::Refuse).expect_err("occupied");
    assert!(error.to_string().contains("assistant a has content already"), "{error}");
    assert_eq!(to.export(), before, "the buckets before it are not there either");
    assert_eq!(to.import(&from.export(), ImportMode::Replace).expect("an import").replaced, 1);
    assert_eq!(to.export(), from.export());
    assert_eq!(value(&to.store, &scope, "mine").await, None);
    to.holds_its_accounts();
}

#[tokio::test]
async fn what_expired_is_neither_listed_nor_brought_back() {
    let (from, to) = (StoreFixture::filled().await, StoreFixture::new());
    let export = from.export();
    from.clock.advance(Duration::from_secs(1_000));
    let inventory = from.inventory();
    assert_eq!(listed(&inventory, &BucketSelection::default()).len(), 2, "assistant and plugin state stay");
    assert_eq!(inventory.totals(&BucketSelection::default()).expect("totals").buckets, 2);
    to.clock.advance(Duration::from_secs(1_000));
    let done = to.import(&export, ImportMode::Refuse).expect("an import");
    assert_eq!((done.written.buckets, done.expired), (2, 5));
    assert_eq!(to.export(), from.export());
    // An expired bucket is no obstacle, whether it was swept or not.
    let again = StoreFixture::filled().await;
    again.clock.advance(Duration::from_secs(999));
    let fresh = again.export();
    again.clock.advance(Duration::from_secs(1));
    let selection = BucketSelection { kind: Some(ScopeKind::Session), ..BucketSelection::default() };
    assert_eq!(again.inventory().totals(&selection).expect("totals"), BucketTotals::default());
    assert!(fresh.contains("\"kind\":\"session\""));
    again.holds_its_accounts();
}

#[tokio::test]
async fn a_selection_takes_what_has_all_of_its_parts() {
    let place = StoreFixture::filled().await;
    let inventory = place.inventory();
    let all = BucketSelection::default();
    for (selection, count) in [
        (all.clone(), 7),
        (BucketSelection { tenant: "local".parse().ok(), ..all.clone() }, 6),
        (BucketSelection { plugin: "planning".parse().ok(), ..all.clone() }, 7),
        (BucketSelection { plugin: "playbook".parse().ok(), ..all.clone() }, 0),
        (BucketSelection { session: "s".parse().ok(), ..all.clone() }, 5),
        (BucketSelection { session: "s".parse().ok(), tenant: "another".parse().ok(), ..all.clone() }, 1),
        (BucketSelection { assistant: "a".parse().ok(), ..all.clone() }, 2),
        (BucketSelection { thread: "t".parse().ok(), ..all.clone() }, 1),
        (BucketSelection { bucket: "other".parse().ok(), ..all.clone() }, 1),
        (BucketSelection { kind: Some(ScopeKind::Thread), ..all.clone() }, 2),
    ] {
        let found = listed(&inventory, &selection);
        assert_eq!(found.len(), count, "{selection:?}");
        assert!(found.is_sorted_by(|one, next| one.scope.tenant <= next.scope.tenant));
        assert_eq!(inventory.totals(&selection).expect("totals").buckets, count as u64, "{selection:?}");
        assert_eq!(place.export_of(&selection).matches("{\"bucket\":").count(), count, "{selection:?}");
    }
    let groups = inventory.groups(&all).expect("groups");
    assert_eq!(groups.len(), 5);
    let of_sessions = &groups[2];
    assert_eq!((of_sessions.kind, of_sessions.buckets, of_sessions.most_entries), (ScopeKind::Plugin, 1, 6));
}

#[tokio::test]
async fn clearing_takes_what_was_chosen_and_all_of_it() {
    let place = StoreFixture::filled().await;
    let kept = BucketSelection { tenant: "another".parse().ok(), ..BucketSelection::default() };
    let others = place.export_of(&kept);
    let cleared = place
        .inventory()
        .clear(&BucketSelection { tenant: "local".parse().ok(), ..BucketSelection::default() })
        .expect("cleared");
    assert_eq!((cleared.buckets, cleared.entries), (6, 36));
    assert_eq!(place.export(), others);
    place.holds_its_accounts();
    let left = "SELECT (SELECT count(DISTINCT scope) FROM kv) + (SELECT count(*) FROM discarded)";
    assert_eq!(raw(place.directory.path()).query_row(left, [], |row| row.get::<_, i64>(0)).expect("a count"), 1);
    // A cleared scope has not expired.
    assert_eq!(place.store.expired_at(&scopes()[0]).await.expect("expired-at"), None);
    place.store.apply(&scopes()[0], &policy(), put("again", b"x"), soon()).await.expect("a put");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_beside_writers_is_of_one_moment() {
    let place = StoreFixture::new();
    let pair: Vec<ScopeKey> = scopes().into_iter().take(2).collect();
    let (store, scopes) = (Arc::new(place.store), pair.clone());
    let writing = tokio::spawn({
        let store = Arc::clone(&store);
        async move {
            // Always the first one first: it is never behind by more than one.
            for number in 0..400_u32 {
                for scope in &scopes {
                    let changes = put("number", number.to_string().as_bytes());
                    store.apply(scope, &policy(), changes, soon()).await.expect("a put");
                }
            }
        }
    });
    let mut exports = 0;
    while !writing.is_finished() {
        let mut out = Vec::new();
        let inventory = SqliteInventory::open(place.directory.path()).expect("the store");
        let inventory = inventory.with_clock(Arc::clone(&place.clock) as Arc<dyn Clock>);
        inventory.export(&BucketSelection::default(), &mut out).expect("an export");
        let text = String::from_utf8(out).expect("text");
        let numbers: Vec<u32> = text
            .lines()
            .filter_map(|line| line.strip_prefix("{\"entry\":{\"key\":\"number\",\"text\":\"")?.strip_suffix("\"}}"))
            .map(|number| number.parse().expect("a number"))
            .collect();
        if let [first, second] = numbers[..] {
            assert!(first == second || first == second + 1, "{first} and {second} were never there at once");
            exports += 1;
        }
        tokio::task::yield_now().await;
    }
    writing.await.expect("the writer ends");
    assert!(exports > 3, "{exports} exports prove little");
}

#[test]
fn a_directory_without_a_store_is_named_and_stays_empty() {
    let directory = temporary();
    let error = SqliteInventory::open(directory.path()).expect_err("nothing there");
    assert!(matches!(error, InventoryError::Absent { .. }), "{error:?}");
    assert!(error.to_string().contains("--data"), "{error}");
    assert_eq!(std::fs::read_dir(directory.path()).expect("a listing").count(), 0);
    SqliteInventory::open_or_make(directory.path()).expect("made");
    SqliteInventory::open(directory.path()).expect("there now");
}
