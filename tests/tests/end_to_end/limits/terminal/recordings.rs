//! Limits of recordings. A short one takes a block of the disk.

use std::{fs, io, time::Duration};

use serde_json::Value;
use wharf::Context;
use wharf_tests::{Fixture, Setup, context, until};

use super::{close, get, idle, limited, session, start};

const BLOCK: u64 = 4 << 10;

fn recorded(name: &str, blocks: u64) -> Setup {
    limited(name, blocks * BLOCK).with_tables("[terminal.recording]\nenabled = true")
}

/// The recordings that are there, by tenant and session, the oldest first: whether each has
/// ended, and its last note.
fn recordings(fixture: &Fixture) -> Vec<(String, Option<String>)> {
    let directory = fixture.data.path().join("recordings");
    let files = fs::read_dir(directory).expect("recordings").map(|entry| entry.expect("a file").path());
    let mut found: Vec<_> = files.collect();
    // Their names begin with the time.
    found.sort();
    let read = |path| {
        let text = match fs::read_to_string(path) {
            // The host has removed it since it was listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            text => text.expect("UTF-8"),
        };
        let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let owner = &lines[0]["wharf"];
        let whose = format!("{}/{}", owner["tenant"].as_str().expect("one"), owner["session"].as_str().expect("one"));
        let note = lines.last().filter(|event| event[1] == "m");
        Some((whose, note.and_then(|event| event[2].as_str()).map(str::to_owned)))
    };
    found.into_iter().filter_map(read).collect()
}

fn owners(fixture: &Fixture) -> Vec<String> {
    recordings(fixture).into_iter().map(|(whose, _)| whose).collect()
}

/// Opens a terminal, closes it, and waits until its recording has ended.
async fn ended(fixture: &Fixture, session: &Context) {
    let id = idle(fixture, session).await;
    close(fixture, session, &id).await;
    until("every recording has ended", || {
        let all = recordings(fixture);
        if all.iter().all(|(_, note)| note.is_some()) { Ok(()) } else { Err(all) }
    })
    .await;
}

#[tokio::test]
pub(super) async fn one_block_of_a_session_too_many_removes_its_oldest_recording() {
    let fixture = recorded("recording_bytes_per_session", 2).open().await;
    let (one, two) = (session("one"), session("two"));
    for session in [&two, &one, &one] {
        ended(&fixture, session).await;
    }
    assert_eq!(owners(&fixture), ["local/two", "local/one", "local/one"], "as many as may be");
    ended(&fixture, &one).await;
    assert_eq!(owners(&fixture), ["local/two", "local/one", "local/one"], "its own made room, and no other did");
    // One that is being written grows at the cost of the others, and then ends with a note.
    let text = "seq 1 10000; exec cat";
    let (id, _) = start(&fixture, &one, text, "never").await.expect("starts");
    let note = until("the recording has no room", || {
        let own: Vec<_> = recordings(&fixture).into_iter().filter(|(whose, _)| whose == "local/one").collect();
        match &own[..] {
            [(_, Some(note))] if note.contains("no room") => Ok(note.clone()),
            _ => Err(own),
        }
    })
    .await;
    assert!(note.contains("`recording_bytes_per_session` of [terminal.limits]"), "{note}");
    close(&fixture, &one, &id).await;
    fixture.works().await;
}

#[tokio::test]
pub(super) async fn one_block_of_a_tenant_too_many_removes_its_oldest_recording() {
    let fixture = recorded("recording_bytes_per_tenant", 2).open().await;
    let stranger = context("other", "one");
    for session in [&stranger, &session("one"), &session("two")] {
        ended(&fixture, session).await;
    }
    assert_eq!(owners(&fixture), ["other/one", "local/one", "local/two"], "as many as may be");
    ended(&fixture, &session("three")).await;
    assert_eq!(owners(&fixture), ["other/one", "local/two", "local/three"]);
    // What is being written stays: a further terminal works, and is not recorded.
    for name in ["four", "five", "six"] {
        idle(&fixture, &session(name)).await;
    }
    assert_eq!(owners(&fixture), ["other/one", "local/four", "local/five"]);
}

#[tokio::test]
pub(super) async fn one_block_too_many_removes_nothing_of_another_tenant() {
    let setup = recorded("recording_bytes", 2);
    let fixture = setup.open().await;
    let (own, other, third) = (session("one"), context("other", "one"), context("third", "one"));
    for session in [&own, &other] {
        ended(&fixture, session).await;
    }
    assert_eq!(owners(&fixture), ["local/one", "other/one"], "as many as may be");
    // A host that begins knows whose they are.
    let Fixture { host, data } = fixture;
    host.shut_down(Duration::ZERO).await;
    let fixture = setup.open_in(data).await;
    ended(&fixture, &session("two")).await;
    assert_eq!(owners(&fixture), ["other/one", "local/two"]);
    let id = idle(&fixture, &third).await;
    assert_eq!(owners(&fixture), ["other/one", "local/two"], "it has none that could make room");
    assert_eq!(get(&fixture, &third, &id).await["ok"]["recording"], false);
}
