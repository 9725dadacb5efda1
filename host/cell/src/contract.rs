//! The suite that every implementation of [`Members`], [`Homes`], [`PluginShelf`],
//! [`ProtocolSessions`] and [`FrontEnds`] passes.

mod front_ends;

use std::time::Duration;

use wharf_core::{Digest, TenantId, handle::Handle, service::ShelvedSession};

use crate::{
    Beat, Claim, Claimant, FilesHere, FilesUse, FrontEnds, Homes, HostReport, Incarnation, JoinRefused, Members,
    NewMember, PluginShelf, ProtocolSessions, SessionKey, SessionName,
};

/// How long a dead home keeps its sessions in this suite.
const PATIENCE: Duration = Duration::from_millis(200);

/// What no machine needs for two calls, however busy it is.
const LONG_PATIENCE: Duration = Duration::from_secs(3600);

/// A cell in a database of its own, as it is when a test begins: empty.
pub trait CellUnderTest: Members + Homes + PluginShelf + ProtocolSessions + FrontEnds {}

impl<C: Members + Homes + PluginShelf + ProtocolSessions + FrontEnds> CellUnderTest for C {}

/// The life of a host of this suite.
#[must_use]
pub fn life(number: i64) -> Incarnation {
    Incarnation::from_i64(number).expect("a number")
}

fn session(tenant: &str, session: &str) -> SessionKey {
    SessionKey { tenant: tenant.parse::<TenantId>().expect("legal"), session: session.parse().expect("legal") }
}

/// A host of this suite, with files of its own.
#[must_use]
pub fn member(number: i64) -> NewMember {
    NewMember {
        incarnation: life(number),
        cell: "test".to_owned(),
        host: format!("host-{number}"),
        address: format!("localhost:{number}"),
        files: format!("files-{number}"),
        version: "0.1.0".to_owned(),
    }
}

fn claimant(incarnation: Incarnation, files: &str) -> Claimant<'_> {
    Claimant { incarnation, files, patience: PATIENCE }
}

async fn joined(cell: &impl CellUnderTest, numbers: &[i64]) {
    for number in numbers {
        cell.join(&member(*number)).await.expect("it answers").expect("it joins");
    }
}

async fn mine(cell: &impl CellUnderTest, key: &SessionKey, number: i64) -> i64 {
    let files = format!("files-{number}");
    match cell.claim(key, claimant(life(number), &files)).await.expect("it answers") {
        Claim::Mine { epoch } => epoch,
        other => panic!("{other:?}"),
    }
}

/// Claims until the mark of a dead home is old enough.
async fn taken_over(cell: &impl CellUnderTest, key: &SessionKey, by: i64, files: &str) -> i64 {
    loop {
        match cell.claim(key, claimant(life(by), files)).await.expect("it answers") {
            Claim::Mine { epoch } => return epoch,
            Claim::Dying { wait } => tokio::time::sleep(wait).await,
            other => panic!("{other:?}"),
        }
    }
}

/// Members join, beat and are listed with what they say.
pub async fn members_are_listed_as_they_say(cell: &impl CellUnderTest) {
    joined(cell, &[1, 2]).await;
    let report = HostReport { sessions: 3, calls: 4, is_ending: false, told: 5 };
    let beat = cell.beat(life(1), report).await.expect("it answers");
    assert!(matches!(beat, Beat::Alive { is_draining: false, .. }), "{beat:?}");
    let hosts = cell.list().await.expect("it answers");
    let [one, two] = hosts.as_slice() else { panic!("{hosts:?}") };
    assert_eq!((one.host.as_str(), one.address.as_str(), one.version.as_str()), ("host-1", "localhost:1", "0.1.0"));
    assert_eq!((one.report, two.report), (report, HostReport::default()));
    assert!(one.beat > two.beat && !one.is_dead && one.silent_milliseconds < 10_000, "{one:?}");
}

/// A database belongs to one cell, and a life to one host.
pub async fn a_database_belongs_to_one_cell(cell: &impl CellUnderTest) {
    joined(cell, &[1]).await;
    let other = NewMember { cell: "other".to_owned(), ..member(2) };
    let refused = cell.join(&other).await.expect("it answers").expect_err("another cell");
    assert!(matches!(&refused, JoinRefused::OtherCell { found, .. } if found == "test"), "{refused}");
    let refused = cell.join(&member(1)).await.expect("it answers").expect_err("the same life");
    assert!(matches!(refused, JoinRefused::Taken), "{refused}");
}

/// A host that starts again at its address ends its earlier life.
pub async fn a_host_that_starts_again_ends_its_earlier_life(cell: &impl CellUnderTest) {
    joined(cell, &[1, 2]).await;
    let again = NewMember { incarnation: life(3), ..member(1) };
    cell.join(&again).await.expect("it answers").expect("it joins");
    assert_eq!(cell.beat(life(1), HostReport::default()).await.expect("it answers"), Beat::Dead);
    assert!(matches!(cell.beat(life(2), HostReport::default()).await, Ok(Beat::Alive { .. })));
    assert!(matches!(cell.beat(life(3), HostReport::default()).await, Ok(Beat::Alive { .. })));
}

/// A host is declared dead by the beat that was seen of it, and by no older one.
pub async fn a_host_that_has_beaten_meanwhile_is_not_declared_dead(cell: &impl CellUnderTest) {
    joined(cell, &[1, 2]).await;
    let seen = cell.list().await.expect("it answers")[0].beat;
    cell.beat(life(1), HostReport::default()).await.expect("it answers");
    assert!(!cell.declare_dead(life(1), seen).await.expect("it answers"), "it has beaten");
    let before = revision(cell).await;
    assert!(cell.declare_dead(life(1), seen + 1).await.expect("it answers"));
    assert!(cell.declare_dead(life(1), seen).await.expect("it answers"), "it is dead");
    assert!(revision(cell).await > before, "the others notice");
    assert_eq!(cell.beat(life(1), HostReport::default()).await.expect("it answers"), Beat::Dead);
    let hosts = cell.list().await.expect("it answers");
    assert!(hosts.iter().any(|host| host.incarnation == life(1) && host.is_dead), "{hosts:?}");
}

async fn revision(cell: &impl CellUnderTest) -> i64 {
    match cell.beat(life(2), HostReport::default()).await.expect("it answers") {
        Beat::Alive { revision, .. } => revision,
        Beat::Dead => panic!("the second host lives"),
    }
}

/// An operator has hosts drain by their names.
pub async fn a_host_drains_and_serves_again_by_its_name(cell: &impl CellUnderTest) {
    joined(cell, &[1, 2]).await;
    assert!(!cell.drain("host-9", true).await.expect("it answers"), "there is none");
    assert!(cell.drain("host-1", true).await.expect("it answers"));
    for (number, drains) in [(1, true), (2, false)] {
        let beat = cell.beat(life(number), HostReport::default()).await.expect("it answers");
        assert!(matches!(beat, Beat::Alive { is_draining, .. } if is_draining == drains), "{number}: {beat:?}");
    }
    assert!(cell.drain("host-1", false).await.expect("it answers"));
    let beat = cell.beat(life(1), HostReport::default()).await.expect("it answers");
    assert!(matches!(beat, Beat::Alive { is_draining: false, .. }), "{beat:?}");
    let ending = HostReport { is_ending: true, ..HostReport::default() };
    cell.beat(life(2), ending).await.expect("it answers");
    let hosts = cell.list().await.expect("it answers");
    assert!(hosts.iter().all(|host| host.is_draining == (host.incarnation == life(2))), "{hosts:?}");
}

/// A session has one home, whichever other host claims it.
pub async fn a_session_has_one_home(cell: &impl CellUnderTest) {
    joined(cell, &[1, 2]).await;
    let key = session("acme", "s-1");
    let epoch = mine(cell, &key, 1).await;
    let held = cell.claim(&key, claimant(life(2), "files-2")).await.expect("it answers");
    assert_eq!(held, Claim::Held { by: life(1) });
    assert!(mine(cell, &key, 1).await > epoch, "each claim counts the epoch on");
    // Another tenant's session of the same name is another one.
    mine(cell, &session("other", "s-1"), 2).await;
}

/// Claims at once by many hosts make one home.
pub async fn claims_at_once_make_one_home(cell: &impl CellUnderTest) {
    let numbers: Vec<i64> = (1..=8).collect();
    joined(cell, &numbers).await;
    for round in 0..8 {
        let key = session("acme", &format!("s-{round}"));
        let files: Vec<String> = numbers.iter().map(|number| format!("files-{number}")).collect();
        let claims = numbers.iter().zip(&files).map(|(number, files)| cell.claim(&key, claimant(life(*number), files)));
        let claims = futures_util::future::join_all(claims).await;
        let claims: Vec<_> = claims.into_iter().map(|claim| claim.expect("it answers")).collect();
        let winners: Vec<_> =
            numbers.iter().zip(&claims).filter(|(_, claim)| matches!(claim, Claim::Mine { .. })).collect();
        let [(winner, _)] = winners.as_slice() else { panic!("{claims:?}") };
        let by = life(**winner);
        let others = claims.iter().filter(|claim| **claim == Claim::Held { by }).count();
        assert_eq!(others, numbers.len() - 1, "{claims:?}");
    }
}

/// A dead home's session is another host's a while after its mark, and no sooner.
pub async fn a_dead_home_is_taken_over_after_a_while(cell: &impl CellUnderTest) {
    joined(cell, &[1, 2]).await;
    let key = session("acme", "s-1");
    let epoch = mine(cell, &key, 1).await;
    let beat = cell.list().await.expect("it answers")[0].beat;
    assert!(cell.declare_dead(life(1), beat).await.expect("it answers"));
    let patient = Claimant { patience: LONG_PATIENCE, ..claimant(life(2), "files-2") };
    let dying = cell.claim(&key, patient).await.expect("it answers");
    assert!(matches!(dying, Claim::Dying { wait } if wait <= LONG_PATIENCE && !wait.is_zero()), "{dying:?}");
    assert_eq!(cell.claim(&key, claimant(life(1), "files-1")).await.expect("it answers"), Claim::ClaimantDead);
    assert!(taken_over(cell, &key, 2, "files-2").await > epoch, "the epoch goes on");
}

async fn files(cell: &impl CellUnderTest, key: &SessionKey, by: i64, here: FilesHere) -> FilesUse {
    cell.use_files(key, life(by), here).await.expect("it answers")
}

/// Files that stayed behind are lost until the new home has none, and only where there were some.
pub async fn lost_files_are_lost_until_the_new_home_has_none(cell: &impl CellUnderTest) {
    joined(cell, &[1, 2]).await;
    let (with, without, back) = (session("acme", "with"), session("acme", "without"), session("acme", "back"));
    for key in [&with, &without, &back] {
        mine(cell, key, 1).await;
    }
    for key in [&with, &back] {
        assert_eq!(files(cell, key, 1, FilesHere::AsTheyWere).await, FilesUse::Kept);
    }
    // The same files are there for the next life of the host.
    let again = NewMember { incarnation: life(3), ..member(1) };
    cell.join(&again).await.expect("it answers").expect("it joins");
    taken_over(cell, &back, 3, "files-1").await;
    assert_eq!(files(cell, &back, 3, FilesHere::AsTheyWere).await, FilesUse::Kept);
    cell.leave(life(3)).await.expect("it answers");
    for key in [&with, &without] {
        taken_over(cell, key, 2, "files-2").await;
    }
    assert_eq!(files(cell, &with, 1, FilesHere::Removed).await, FilesUse::NotHome);
    for _ in 0..2 {
        assert_eq!(files(cell, &with, 2, FilesHere::AsTheyWere).await, FilesUse::Lost);
    }
    assert_eq!(files(cell, &with, 2, FilesHere::Removed).await, FilesUse::Kept);
    assert_eq!(files(cell, &with, 2, FilesHere::AsTheyWere).await, FilesUse::Kept);
    assert_eq!(files(cell, &without, 2, FilesHere::AsTheyWere).await, FilesUse::Kept);
    // The host that had them before has old ones now.
    let again = NewMember { incarnation: life(5), ..member(1) };
    cell.join(&again).await.expect("it answers").expect("it joins");
    cell.leave(life(2)).await.expect("it answers");
    taken_over(cell, &with, 5, "files-1").await;
    assert_eq!(files(cell, &with, 5, FilesHere::AsTheyWere).await, FilesUse::Lost);
}

/// A session without a home goes to the host that has its files, also after that host started
/// again; not to one that drains.
pub async fn a_session_goes_where_its_files_are(cell: &impl CellUnderTest) {
    joined(cell, &[1, 2]).await;
    let (idle, died) = (session("acme", "idle"), session("acme", "died"));
    let epoch = mine(cell, &idle, 1).await;
    mine(cell, &died, 1).await;
    for key in [&idle, &died] {
        assert_eq!(files(cell, key, 1, FilesHere::AsTheyWere).await, FilesUse::Kept);
    }
    cell.release(&[(idle.clone(), epoch)], life(1)).await.expect("it answers");
    let claim = async |key| cell.claim(key, claimant(life(2), "files-2")).await.expect("it answers");
    assert_eq!(claim(&idle).await, Claim::FilesAt { by: life(1) });
    assert_eq!(claim(&died).await, Claim::Held { by: life(1) });
    let again = NewMember { incarnation: life(3), ..member(1) };
    cell.join(&again).await.expect("it answers").expect("it joins");
    loop {
        match claim(&died).await {
            Claim::FilesAt { by } => break assert_eq!(by, life(3)),
            Claim::Dying { wait } => tokio::time::sleep(wait).await,
            other => panic!("{other:?}"),
        }
    }
    taken_over(cell, &died, 3, "files-1").await;
    assert_eq!(files(cell, &died, 3, FilesHere::AsTheyWere).await, FilesUse::Kept);
    assert!(cell.drain("host-1", true).await.expect("it answers"));
    assert!(matches!(claim(&idle).await, Claim::Mine { .. }), "they are lost, as its operator wants it");
    assert_eq!(files(cell, &idle, 2, FilesHere::AsTheyWere).await, FilesUse::Lost);
}

/// A tenure that was given up is free at once; one that goes on under a later epoch is not.
pub async fn a_tenure_that_is_given_up_is_free(cell: &impl CellUnderTest) {
    joined(cell, &[1, 2]).await;
    let (key, used) = (session("acme", "s-1"), session("acme", "s-2"));
    let epoch = mine(cell, &key, 1).await;
    let first = mine(cell, &used, 1).await;
    mine(cell, &used, 1).await;
    cell.release(&[(key.clone(), epoch), (used.clone(), first)], life(1)).await.expect("it answers");
    mine(cell, &key, 2).await;
    let held = cell.claim(&used, claimant(life(2), "files-2")).await.expect("it answers");
    assert_eq!(held, Claim::Held { by: life(1) }, "a call claimed it while it was given up");
}

/// A host that leaves in order frees its sessions at once.
pub async fn a_host_that_leaves_frees_its_sessions(cell: &impl CellUnderTest) {
    joined(cell, &[1, 2]).await;
    let (key, with) = (session("acme", "s-1"), session("acme", "with"));
    mine(cell, &key, 1).await;
    mine(cell, &with, 1).await;
    assert_eq!(files(cell, &with, 1, FilesHere::AsTheyWere).await, FilesUse::Kept);
    cell.leave(life(1)).await.expect("it answers");
    assert!(cell.list().await.expect("it answers").iter().all(|host| host.incarnation != life(1)));
    mine(cell, &key, 2).await;
    mine(cell, &with, 2).await;
    assert_eq!(files(cell, &with, 2, FilesHere::AsTheyWere).await, FilesUse::Lost);
}

/// Names with quotes, percent signs and the like are names.
pub async fn names_are_no_code(cell: &impl CellUnderTest) {
    let name = "'; DROP TABLE wharf.host; --";
    let hostile = NewMember { host: name.to_owned(), version: "%s\\'".to_owned(), ..member(1) };
    cell.join(&hostile).await.expect("it answers").expect("it joins");
    assert!(cell.drain(name, true).await.expect("it answers"));
    assert_eq!(cell.list().await.expect("it answers")[0].host, name);
}

async fn revision_of_plugins(cell: &impl CellUnderTest) -> i64 {
    match cell.beat(life(1), HostReport::default()).await.expect("it answers") {
        Beat::Alive { plugins, .. } => plugins,
        Beat::Dead => panic!("it is dead"),
    }
}

/// What is installed is written by one of those who would at once, and beats tell of it.
pub async fn what_is_installed_is_one_set_for_all(cell: &impl CellUnderTest) {
    joined(cell, &[1]).await;
    let before = cell.installed().await.expect("it answers");
    assert_eq!((before.text.as_str(), revision_of_plugins(cell).await), ("", before.revision));
    let component: Vec<u8> = (0..3_000_000_u32).map(|number| number.to_le_bytes()[1]).collect();
    let digest = Digest::of(&component);
    let named = [digest];
    let refused = cell.install(before.revision, "one", &named).await.expect("it answers");
    assert!(!refused, "its component is not there");
    cell.keep_component(&digest, &component).await.expect("it answers");
    assert_eq!(cell.installed().await.expect("it answers"), before);
    let writers = ["one", "two"].map(|text| cell.install(before.revision, text, &named));
    let [one, two] = <[_; 2]>::try_from(futures_util::future::join_all(writers).await).expect("two");
    let (one, two) = (one.expect("it answers"), two.expect("it answers"));
    assert!(one != two, "{one} {two}");
    let after = cell.installed().await.expect("it answers");
    assert_eq!((after.text.as_str(), after.revision), (if one { "one" } else { "two" }, before.revision + 1));
    assert_eq!(revision_of_plugins(cell).await, after.revision);
    let length = component.len() as u64;
    assert!(cell.component(&digest, length).await.expect("it answers").is_some_and(|found| found == component));
    assert_eq!(cell.component(&digest, length - 1).await.expect("it answers"), None, "longer than was asked for");
    assert_eq!(cell.component(&Digest::of(b"other"), length).await.expect("it answers"), None);
    assert!(cell.install(after.revision, "none", &[]).await.expect("it answers"));
    assert!(cell.component(&digest, length).await.expect("it answers").is_some(), "somebody may be about to name it");
}

/// A session of the protocol is gone on with by one host at a time, and by another one only once
/// that has died or left.
pub async fn a_session_of_the_protocol_outlives_its_host(cell: &impl CellUnderTest) {
    joined(cell, &[1, 2, 3]).await;
    let name = SessionName::of(&Handle::random().expect("randomness"));
    let mut session = ShelvedSession {
        owner: "whose'".to_owned(),
        parameters: "{\"a\": \"\u{1F980}\"}".to_owned(),
        settings: String::new(),
    };
    assert_eq!(cell.adopt(&name, life(2)).await.expect("it answers"), None);
    cell.begin(&name, &session, life(1)).await.expect("it answers");
    assert_eq!(cell.read(&name, life(1)).await.expect("it answers").as_ref(), Some(&session));
    assert_eq!(cell.adopt(&name, life(2)).await.expect("it answers"), Some(life(1)), "it lives");
    assert_eq!(cell.read(&name, life(2)).await.expect("it answers"), None);
    for (settings, by) in [("level'", 1), ("of another host", 2)] {
        cell.set(&name, settings, life(by)).await.expect("it answers");
    }
    "level'".clone_into(&mut session.settings);
    assert_eq!(cell.read(&name, life(1)).await.expect("it answers").as_ref(), Some(&session));
    assert!(!cell.end(&name, life(2)).await.expect("it answers"));
    let beat = cell.list().await.expect("it answers")[0].beat;
    assert!(cell.declare_dead(life(1), beat).await.expect("it answers"));
    assert_eq!(cell.adopt(&name, life(1)).await.expect("it answers"), None, "the dead take nothing over");
    let adopting = [2, 3].map(|number| cell.adopt(&name, life(number)));
    let [two, three] = <[_; 2]>::try_from(futures_util::future::join_all(adopting).await).expect("two");
    let holder = two.expect("it answers").expect("there is one");
    assert_eq!(three.expect("it answers"), Some(holder), "both find the same");
    assert!(holder != life(1) && !cell.end(&name, life(1)).await.expect("it answers"));
    assert_eq!(cell.read(&name, holder).await.expect("it answers"), Some(session));
    cell.leave(holder).await.expect("it answers");
    let other = if holder == life(2) { life(3) } else { life(2) };
    assert_eq!(cell.adopt(&name, other).await.expect("it answers"), Some(other));
    assert!(cell.end(&name, other).await.expect("it answers"));
    assert_eq!(cell.adopt(&name, other).await.expect("it answers"), None);
}

/// Runs the suite: each case on a cell of its own, which `make` opens.
pub async fn run<C: CellUnderTest>(make: impl AsyncFn() -> C) {
    members_are_listed_as_they_say(&make().await).await;
    a_database_belongs_to_one_cell(&make().await).await;
    a_host_that_starts_again_ends_its_earlier_life(&make().await).await;
    a_host_that_has_beaten_meanwhile_is_not_declared_dead(&make().await).await;
    a_host_drains_and_serves_again_by_its_name(&make().await).await;
    a_session_has_one_home(&make().await).await;
    claims_at_once_make_one_home(&make().await).await;
    a_dead_home_is_taken_over_after_a_while(&make().await).await;
    lost_files_are_lost_until_the_new_home_has_none(&make().await).await;
    a_session_goes_where_its_files_are(&make().await).await;
    a_tenure_that_is_given_up_is_free(&make().await).await;
    a_host_that_leaves_frees_its_sessions(&make().await).await;
    names_are_no_code(&make().await).await;
    what_is_installed_is_one_set_for_all(&make().await).await;
    a_session_of_the_protocol_outlives_its_host(&make().await).await;
    front_ends::run(&make().await, &make().await).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_cell_in_memory_keeps_the_contract() {
        run(async || crate::MemoryCell::default()).await;
    }
}
