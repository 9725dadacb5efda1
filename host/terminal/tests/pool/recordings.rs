//! Recordings, read by what their format says and by nothing of ours.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use serde_json::Value;
use wharf_terminal::{RecordingSettings, TerminalError, TerminalSize, TurnInput};
use wharf_test_support::until;

use crate::support::{Somebody, TestPool, somebody};

/// A recording as the published description of asciicast v2 has it: a line with
/// an object, then lines with an array of time, code and data each.
struct Cast {
    header: Value,
    events: Vec<(f64, String, String)>,
}

impl Cast {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).expect("UTF-8");
        let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let header = lines.next().expect("a header");
        let events: Vec<(f64, String, String)> = lines
            .map(|event| {
                let parts = event.as_array().expect("an array");
                assert_eq!(parts.len(), 3, "{event}");
                let text = |part: &Value| part.as_str().expect("a text").to_owned();
                (parts[0].as_f64().expect("a time"), text(&parts[1]), text(&parts[2]))
            })
            .collect();
        assert!(events.windows(2).all(|pair| pair[0].0 <= pair[1].0), "times go on");
        assert!(events.iter().all(|(_, code, _)| matches!(&code[..], "o" | "i" | "r" | "m")));
        Self { header, events }
    }

    fn all(&self, code: &str) -> String {
        self.events.iter().filter(|(_, kind, _)| kind == code).map(|(.., data)| data.as_str()).collect()
    }
}

fn pool(directory: &Path, change: impl FnOnce(&mut RecordingSettings)) -> TestPool {
    let mut recording = RecordingSettings::in_directory(directory.join("recordings"));
    change(&mut recording);
    TestPool::with(|settings| settings.recording = Some(recording))
}

async fn recorded(pool: &TestPool, who: &Somebody) -> (wharf_terminal::TerminalId, std::path::PathBuf) {
    let id = pool.shell_with(who, |wanted| wanted.record = true).await.expect("a terminal").id;
    pool.prompted(who, id).await;
    let path = pool.info(who, id).recording.expect("it is recorded");
    (id, path)
}

async fn whole(path: &Path) -> Cast {
    let ended = || fs::read_to_string(path).expect("a file").contains("the terminal was closed");
    until("the recording has ended", ended).await;
    Cast::read(path)
}

#[tokio::test]
async fn a_recording_is_an_asciicast_of_what_was_shown() {
    let directory = tempfile::tempdir().expect("a directory");
    let (pool, owner) = (pool(directory.path(), |_| {}), somebody("one"));
    let (id, path) = recorded(&pool, &owner).await;
    // A character in two writes, and a question that no player is to answer.
    let split = r"printf '\303'; sleep 0.05; printf '\251 \033[1mbold\033[0m\033[6n\n'; read -s -d R word";
    pool.answer(&owner, id, split).await;
    pool.terminals.resize(&owner.owner(), id, TerminalSize::new(100, 30).expect("a size")).expect("resized");
    pool.answer(&owner, id, "stty size; read -s -p 'Password: ' word").await;
    pool.answer(&owner, id, "hunter2").await;
    pool.close(&owner, id).await;
    let cast = whole(&path).await;
    assert_eq!(
        (&cast.header["version"], &cast.header["width"], &cast.header["height"]),
        (&2.into(), &80.into(), &24.into())
    );
    assert_eq!(cast.header["env"]["TERM"], "xterm-256color");
    assert_eq!(cast.header["title"], "bash --norc --noprofile");
    assert!(cast.header["timestamp"].as_i64().is_some_and(|seconds| seconds > 1_700_000_000));
    let output = cast.all("o");
    assert!(output.contains("é \u{1b}[1mbold\u{1b}[0m\r\n") && output.contains("30 100\r\n"), "{output:?}");
    assert!(!output.contains("\u{1b}[6n") && !output.contains('\u{fffd}'));
    assert_eq!(
        (cast.all("r"), cast.all("i"), cast.all("m")),
        ("100x30".into(), String::new(), "the terminal was closed".into())
    );
    assert!(!fs::read_to_string(&path).expect("a file").contains("hunter2"));
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().expect("a directory"))), (0o600, 0o700));
}

#[tokio::test]
async fn what_is_typed_is_recorded_only_where_that_is_configured_and_never_a_password() {
    let directory = tempfile::tempdir().expect("a directory");
    let (pool, owner) = (pool(directory.path(), |recording| recording.input = true), somebody("one"));
    let (id, path) = recorded(&pool, &owner).await;
    // Bash reads its passwords in another mode than most programs.
    pool.answer(&owner, id, "stty -echo; sh -c 'printf \"Password: \"; read word'; stty echo").await;
    pool.answer(&owner, id, "hunter2").await;
    pool.answer(&owner, id, "echo seen").await;
    pool.close(&owner, id).await;
    let cast = whole(&path).await;
    assert!(cast.all("i").contains("stty -echo") && cast.all("i").ends_with("echo seen\r"), "{:?}", cast.all("i"));
    assert!(!fs::read_to_string(&path).expect("a file").contains("hunter2"));
}

#[tokio::test]
async fn what_is_typed_as_soon_as_the_terminal_is_open_is_in_the_recording() {
    let directory = tempfile::tempdir().expect("a directory");
    let (pool, owner) = (pool(directory.path(), |recording| recording.input = true), somebody("one"));
    // The recorder and the program begin at once: either may be first.
    for _ in 0..40 {
        let id = pool.shell_with(&owner, |wanted| wanted.record = true).await.expect("a terminal").id;
        pool.terminals.send(&owner.owner(), id, TurnInput::Type("early"), None).await.expect("is typed");
        let path = pool.info(&owner, id).recording.expect("it is recorded");
        pool.close(&owner, id).await;
        assert_eq!(whole(&path).await.all("i"), "early");
    }
}

#[tokio::test]
async fn a_recording_is_bounded_and_says_where_it_ends_and_the_terminal_goes_on() {
    let directory = tempfile::tempdir().expect("a directory");
    let (pool, owner) = (pool(directory.path(), |recording| recording.maximum_bytes = 20_000), somebody("one"));
    let (id, path) = recorded(&pool, &owner).await;
    pool.answer(&owner, id, "seq 1 20000").await;
    let (answer, _) = pool.answer(&owner, id, "echo aft''er").await;
    assert!(answer.contains("\nafter\n"), "{answer:?}");
    let full = || fs::read_to_string(&path).expect("a file").contains("the recording is full");
    until("the recording is full", full).await;
    let cast = Cast::read(&path);
    assert!(fs::metadata(&path).expect("there").len() <= 20_000);
    assert_eq!(cast.events.last().map(|(_, code, _)| code.as_str()), Some("m"));
    pool.until(&owner, id, |info| info.viewers == 0).await;
}

#[tokio::test]
async fn a_recording_without_room_for_more_says_so_and_removes_nobody_elses() {
    let directory = tempfile::tempdir().expect("a directory");
    let recordings = RecordingSettings::in_directory(directory.path().join("recordings"));
    let pool = TestPool::with(|settings| {
        settings.recording = Some(recordings);
        settings.limits.recording_bytes_per_tenant = 32 << 10;
        settings.limits.recording_bytes = 36 << 10;
    });
    let (owner, stranger) = (somebody("one"), Somebody::of("other", "terminal", "one", None));
    let (theirs, their_file) = recorded(&pool, &stranger).await;
    pool.close(&stranger, theirs).await;
    whole(&their_file).await;
    let (id, path) = recorded(&pool, &owner).await;
    pool.answer(&owner, id, "seq 1 20000").await;
    let (answer, _) = pool.answer(&owner, id, "echo aft''er").await;
    assert!(answer.contains("\nafter\n"), "{answer:?}");
    pool.until(&owner, id, |info| info.viewers == 0).await;
    let marks = Cast::read(&path).all("m");
    assert!(marks.contains("no room for more") && marks.contains("`recording_bytes_per_tenant`"), "{marks:?}");
    assert!(fs::metadata(&path).expect("there").len() <= 32 << 10 && their_file.exists());
}

#[tokio::test]
async fn a_recording_goes_on_when_the_program_is_started_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let (pool, owner) = (pool(directory.path(), |_| {}), somebody("one"));
    let (id, path) = recorded(&pool, &owner).await;
    pool.answer(&owner, id, "kill -9 $$").await;
    pool.until(&owner, id, |info| info.restarts == 1 && info.pid.is_some()).await;
    pool.prompted(&owner, id).await;
    pool.answer(&owner, id, "echo aga''in").await;
    pool.close(&owner, id).await;
    let output = whole(&path).await.all("o");
    assert!(output.contains("started again]\r\n") && output.contains("\ragain\r\n"), "{output:?}");
}

#[tokio::test]
async fn nothing_is_recorded_unless_it_is_configured_and_asked_for() {
    let (pool_without, owner) = (TestPool::new(), somebody("one"));
    let error = pool_without.shell_with(&owner, |wanted| wanted.record = true).await.expect_err("not configured");
    assert!(matches!(error, TerminalError::Invalid { .. }), "{error}");
    let directory = tempfile::tempdir().expect("a directory");
    let pool_with = pool(directory.path(), |_| {});
    let id = pool_with.shell(&owner).await;
    assert_eq!(pool_with.info(&owner, id).recording, None);
    assert!(!directory.path().join("recordings").exists());
    let every = pool(directory.path(), |recording| recording.every = true);
    let id = every.shell(&owner).await;
    assert!(every.info(&owner, id).recording.is_some());
}
