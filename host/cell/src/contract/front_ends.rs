//! Front ends are written down once, and go with their host.

use std::slice;

use wharf_core::{
    handle::{Handle, HandleMint},
    service::{
        ConnectTerms, FrontEndPlace, FrontEndsVersion, ShelvedFrontEnd, TenantFrontEnds, front_end::FrontEndOwner,
    },
};

use super::{CellUnderTest, joined, life, member};
use crate::{Beat, FrontEnds, HostReport, NewMember};

const FREE: ConnectTerms = ConnectTerms { replaces: false, present: None, per_client: 2, per_tenant: 3 };

fn front_end(at: i64, tenant: &str, client: &str, name: &str) -> ShelvedFrontEnd {
    let id = HandleMint::of(life(at).number()).handle().expect("randomness");
    let owner = FrontEndOwner { tenant: tenant.parse().expect("legal"), client: client.to_owned() };
    ShelvedFrontEnd { id, owner, name: name.to_owned(), tools: format!("[\"of {name}'\"]") }
}

async fn connected(cell: &impl CellUnderTest, at: i64, front_end: &ShelvedFrontEnd) -> i64 {
    match FrontEnds::connect(cell, front_end, FREE, life(at)).await.expect("it answers") {
        FrontEndPlace::Taken(change) => change,
        other => panic!("{other:?}"),
    }
}

async fn refused(
    cell: &impl CellUnderTest,
    at: i64,
    front_end: &ShelvedFrontEnd,
    terms: ConnectTerms,
) -> FrontEndPlace {
    FrontEnds::connect(cell, front_end, terms, life(at)).await.expect("it answers")
}

/// What a tenant has that is not known yet; nothing where it is known.
async fn changed(cell: &impl CellUnderTest, tenant: &str, known: FrontEndsVersion) -> Option<TenantFrontEnds> {
    let tenant = tenant.parse().expect("legal");
    let mut changed = cell.changed(&[(tenant, known)]).await.expect("it answers").tenants;
    assert!(changed.len() < 2, "{changed:?}");
    changed.pop()
}

async fn of(cell: &impl CellUnderTest, tenant: &str) -> Vec<ShelvedFrontEnd> {
    let read = changed(cell, tenant, FrontEndsVersion::UNREAD).await.expect("it was never read");
    read.front_ends
}

async fn beaten(cell: &impl CellUnderTest, by: i64) -> i64 {
    match cell.beat(life(by), HostReport::default()).await.expect("it answers") {
        Beat::Alive { front_ends, .. } => front_ends,
        Beat::Dead => panic!("it lives"),
    }
}

pub(super) async fn run(first: &impl CellUnderTest, second: &impl CellUnderTest) {
    names_are_taken_once_and_within_their_limits(first).await;
    what_a_host_had_goes_with_it(second).await;
}

async fn names_are_taken_once_and_within_their_limits(cell: &impl CellUnderTest) {
    joined(cell, &[1, 2]).await;
    assert_eq!(beaten(cell, 2).await, 0, "none was ever connected");
    let editor = front_end(1, "a", "page", "editor");
    let change = connected(cell, 1, &editor).await;
    assert_eq!(beaten(cell, 2).await, change, "the others notice");
    assert_eq!(cell.changed(&[]).await.expect("it answers").change, change);
    let read = changed(cell, "a", FrontEndsVersion::UNREAD).await.expect("it is new");
    assert_eq!(read.front_ends, slice::from_ref(&editor));
    assert_eq!(changed(cell, "a", read.version).await, None, "it is known");
    assert!(of(cell, "b").await.is_empty(), "another tenant has none");

    // The name is taken, for another client and at another host.
    let replaces = ConnectTerms { replaces: true, ..FREE };
    assert_eq!(refused(cell, 2, &front_end(2, "a", "other", "editor"), replaces).await, FrontEndPlace::Named);
    let elsewhere = front_end(2, "a", "page", "editor");
    assert_eq!(refused(cell, 2, &elsewhere, FREE).await, FrontEndPlace::Named);
    connected(cell, 2, &front_end(2, "b", "page", "editor")).await;
    // Unless the same client replaces it.
    assert!(matches!(refused(cell, 2, &elsewhere, replaces).await, FrontEndPlace::Taken(_)));
    cell.disconnect(&[editor.id], life(1)).await.expect("it answers");
    assert_eq!(of(cell, "a").await, slice::from_ref(&elsewhere), "the one that was replaced takes nothing with it");
    let before = beaten(cell, 1).await;
    cell.disconnect(&[elsewhere.id], life(1)).await.expect("it answers");
    assert_eq!(of(cell, "a").await, slice::from_ref(&elsewhere), "it is none of that host's");
    assert_eq!(beaten(cell, 1).await, before, "nothing has changed");

    // What a host does not have any more is free.
    let again = front_end(2, "a", "other", "editor");
    let present = ConnectTerms { present: Some(elsewhere.id), ..FREE };
    assert_eq!(refused(cell, 2, &again, present).await, FrontEndPlace::Named);
    connected(cell, 2, &again).await;

    // Two of one client, three of one tenant.
    let of_page = [front_end(1, "a", "page", "one"), front_end(2, "a", "page", "two")];
    for (at, front_end) in (1..).zip(&of_page) {
        connected(cell, at, front_end).await;
    }
    let third = front_end(1, "a", "page", "three");
    assert_eq!(refused(cell, 1, &third, FREE).await, FrontEndPlace::ClientFull);
    assert_eq!(refused(cell, 1, &front_end(1, "a", "c", "three"), FREE).await, FrontEndPlace::TenantFull);
    let read = changed(cell, "a", FrontEndsVersion::UNREAD).await.expect("it was never read");
    cell.disconnect(&[of_page[1].id], life(2)).await.expect("it answers");
    let later = changed(cell, "a", read.version).await.expect("one has gone");
    assert_eq!(later.front_ends.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["editor", "one"]);
    connected(cell, 1, &third).await;
    assert!(changed(cell, "a", later.version).await.is_some(), "as many as before, and not the same");
    assert!(changed(cell, "a", read.version).await.is_some());

    let hostile = front_end(1, "c", "'; DROP TABLE wharf.front_end; --", "x\u{1F980}'\\");
    connected(cell, 1, &hostile).await;
    assert_eq!(of(cell, "c").await, [hostile]);
    cell.disconnect(&[Handle::random().expect("randomness")], life(1)).await.expect("it answers");
}

async fn what_a_host_had_goes_with_it(cell: &impl CellUnderTest) {
    joined(cell, &[1, 2, 3, 4]).await;
    for at in 1..=3 {
        connected(cell, at, &front_end(at, "a", &format!("client-{at}"), &format!("editor-{at}"))).await;
    }
    let names = async || -> Vec<_> { of(cell, "a").await.into_iter().map(|row| row.name).collect() };
    let mut seen = beaten(cell, 4).await;
    let mut has_changed = async |what: &str| {
        let now = beaten(cell, 4).await;
        assert!(now > seen, "{what}");
        seen = now;
    };
    let beat =
        cell.list().await.expect("it answers").iter().find(|host| host.incarnation == life(1)).map(|host| host.beat);
    assert!(cell.declare_dead(life(1), beat.expect("it is there")).await.expect("it answers"));
    has_changed("a death").await;
    assert_eq!(names().await, ["editor-2", "editor-3"]);
    let late = front_end(1, "a", "client-1", "editor-1");
    assert_eq!(refused(cell, 1, &late, FREE).await, FrontEndPlace::HostDead);
    cell.leave(life(2)).await.expect("it answers");
    has_changed("a host that leaves").await;
    assert_eq!(names().await, ["editor-3"]);
    let again = NewMember { incarnation: life(5), ..member(3) };
    cell.join(&again).await.expect("it answers").expect("it joins");
    has_changed("another life at the address").await;
    assert!(names().await.is_empty());
}
