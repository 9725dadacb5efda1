//! Terminals that are lost with their host.

use wharf_terminal::{
    CloseReason, KilledBy, ProgramExit, Status, TerminalError, TerminalPoolSettings, Terminals, TurnInput,
};
use wharf_test_support::until;

use crate::support::{Somebody, TestPool, somebody, spawner};

/// Files that a host leaves when it is killed: a copy of them, while it lives.
fn left(records: &std::path::Path, to: &std::path::Path) {
    for host in std::fs::read_dir(records).expect("records").flatten() {
        if !host.path().is_dir() {
            continue;
        }
        for terminal in std::fs::read_dir(host.path()).expect("a host").flatten() {
            if terminal.path().is_dir() {
                let into = to.join("dead").join(terminal.file_name());
                std::fs::create_dir_all(&into).expect("a directory");
                for name in ["record.json", "text"] {
                    std::fs::copy(terminal.path().join(name), into.join(name)).expect("a file");
                }
            }
        }
    }
}

#[tokio::test]
async fn the_next_host_lists_what_was_lost_with_the_end_of_its_text_and_within_its_limits() {
    let (records, next) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let pool = TestPool::with(|settings| settings.records = Some(records.path().to_owned()));
    let owner = somebody("one");
    let id = pool.shell(&owner).await;
    pool.answer(&owner, id, "echo la''st words").await;
    let is_recorded = || {
        let hosts = std::fs::read_dir(records.path()).into_iter().flatten().flatten();
        let mut texts =
            hosts.filter_map(|host| std::fs::read_to_string(host.path().join(id.to_string()).join("text")).ok());
        texts.any(|text| text.contains("last words"))
    };
    until("it is recorded", is_recorded).await;
    left(records.path(), next.path());
    let settings = TerminalPoolSettings {
        pty: crate::PTY,
        records: Some(next.path().to_owned()),
        ..TerminalPoolSettings::default()
    };
    let terminals = Terminals::open(spawner(), settings).expect("a pool");

    let listed = terminals.list(&owner.owner());
    assert_eq!((listed.len(), listed[0].id, listed[0].status), (1, id, Status::Closed));
    assert_eq!(
        (listed[0].why, listed[0].exit),
        (Some(CloseReason::HostLost), Some(ProgramExit::Killed { by: KilledBy::HostLost }))
    );
    let text = terminals.read_text(&owner.owner(), id, 0, usize::MAX).expect("kept");
    assert!(text.content.contains("last words") && text.next == listed[0].text_bytes, "{text:?}");
    let shown = terminals.screen(&owner.owner(), id, 10).expect("kept").view;
    assert!(shown.lines.iter().any(|line| line == "last words"), "{shown:?}");
    let error = terminals.send(&owner.owner(), id, TurnInput::Submit("x"), None).await.expect_err("it is lost");
    assert!(matches!(&error, TerminalError::Over { because } if because.contains("its host ended")), "{error}");
    // Viewers of the session are told so, too, and the metrics count it.
    let seen = terminals.of_session(owner.context());
    assert_eq!(seen.iter().map(|(_, info)| info.id).collect::<Vec<_>>(), [id]);
    let error = terminals.watch(owner.context(), id, None).expect_err("it is lost");
    assert!(matches!(&error, TerminalError::Over { because } if because.contains("its host ended")), "{error}");
    assert!(terminals.of_session(somebody("two").context()).is_empty());
    let metrics = terminals.metrics();
    assert_eq!((metrics.host_lost, metrics.closed, metrics.open), (1, 1, 0));
    for other in [somebody("two"), Somebody::of("other", "terminal", "one", None)] {
        assert!(terminals.list(&other.owner()).is_empty());
        assert!(matches!(terminals.info(&other.owner(), id), Err(TerminalError::NotFound)));
    }
    // It is forgotten as what ended here is, with its files.
    let later = tokio::time::Instant::now() + std::time::Duration::from_secs(3_601);
    assert_eq!(terminals.sweep_as_of(later).await.forgotten, 1);
    assert!(matches!(terminals.info(&owner.owner(), id), Err(TerminalError::NotFound)));

    // What ends in an orderly way leaves nothing.
    pool.terminals.close_all().await;
    drop(terminals);
    let settings = TerminalPoolSettings {
        pty: crate::PTY,
        records: Some(records.path().to_owned()),
        ..TerminalPoolSettings::default()
    };
    let terminals = Terminals::open(spawner(), settings).expect("a pool");
    assert!(terminals.all().is_empty());
}

#[tokio::test]
async fn what_is_printed_while_a_record_is_written_is_in_the_next_one() {
    let records = tempfile::tempdir().expect("a directory");
    let pool = TestPool::with(|settings| settings.records = Some(records.path().to_owned()));
    let owner = somebody("one");
    let id = pool.shell(&owner).await;
    let find = || {
        let hosts = std::fs::read_dir(records.path()).into_iter().flatten().flatten();
        let mut found = hosts.map(|host| host.path().join(id.to_string()));
        found.find(|files| files.join("record.json").exists())
    };
    let files = until("it is recorded", find).await;
    let text = files.join("text");
    let written = || std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(&text).expect("the text"));
    // The next record waits here for a reader, with its text written already.
    let held_up = files.join("record.json.new");
    let permissions = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    let make = || rustix::fs::mknodat(rustix::fs::CWD, &held_up, rustix::fs::FileType::Fifo, permissions, 0).is_ok();
    until("nothing is being recorded", make).await;
    let before = written();
    pool.answer(&owner, id, "echo fir''st").await;
    until("a record is being written", || written() != before).await;
    pool.answer(&owner, id, "echo la''st words").await;
    let read = tokio::task::spawn_blocking(move || std::fs::read(held_up));
    assert!(!read.await.expect("no panic").expect("the record").is_empty());
    let is_recorded = || std::fs::read_to_string(&text).is_ok_and(|text| text.contains("last words"));
    until("the last text is recorded", is_recorded).await;
    pool.terminals.close_all().await;
}
