//! What is done to files, and what is found of it.

use std::{
    fs,
    fs::File,
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use wharf_core::{
    audit::{AuditAddresses, AuditSink as _},
    grant::GrantClock,
};

use super::*;
use crate::{AuditClock, AuditFileOptions, AuditSigner, FileSink, chain, line::tests::record};

const PATIENCE: Duration = Duration::from_secs(60);

/// A clock that goes on by a second whenever somebody looks at it.
fn clock() -> AuditClock {
    static SECONDS: AtomicU64 = AtomicU64::new(0);
    let now = GrantClock::new(|| SystemTime::now() + Duration::from_secs(SECONDS.fetch_add(1, Relaxed)));
    AuditClock { stamp: now, passed: GrantClock::new(SystemTime::now) }
}

fn write(directory: &Path, options: AuditFileOptions, lines: usize) {
    let sink = FileSink::open(directory.to_owned(), options, true, clock(), None, None).expect("opened");
    for _ in 0..lines {
        sink.record(record("echo"));
        sink.flush(PATIENCE);
    }
}

fn options() -> AuditFileOptions {
    AuditFileOptions {
        rotate_bytes: 8 << 10,
        keep_files: 3,
        keep: Duration::from_secs(3_600),
        addresses: AuditAddresses::Full,
    }
}

fn paths(directory: &Path) -> Vec<PathBuf> {
    let mut listed = list(directory).expect("listed");
    // Their names tell no more than the second.
    listed.sort_by_key(|file| file.modified);
    listed.into_iter().map(|file| file.path).collect()
}

fn findings(directory: &Path) -> Vec<AuditFinding> {
    let verdict = verify(directory, &[], &unsigned()).expect("read");
    verdict.files.into_iter().flat_map(|file| file.findings).collect()
}

/// Writes a file anew, and leaves its time as it was.
fn rewrite(path: &Path, text: &str) {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified()).expect("a time");
    fs::write(path, text).expect("written");
    File::options().append(true).open(path).and_then(|file| file.set_modified(modified)).expect("set");
}

/// Changes the lines of a file; gives back what it was.
fn change(path: &Path, change: impl FnOnce(&mut Vec<String>)) -> String {
    let text = fs::read_to_string(path).expect("text");
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    change(&mut lines);
    rewrite(path, &lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    text
}

#[test]
fn what_hosts_wrote_is_whole_over_rotated_and_removed_files_and_over_their_ends() {
    let directory = tempfile::tempdir().expect("a directory");
    for _ in 0..5 {
        write(directory.path(), options(), 40);
    }
    let verdict = verify(directory.path(), &[], &unsigned()).expect("read");
    assert!(verdict.is_whole() && verdict.files.len() >= 3, "{verdict:#?}");
    let notes: Vec<_> = verdict.files.iter().flat_map(|file| &file.notes).collect();
    assert!(notes.iter().any(|note| matches!(note, AuditNote::Removed { .. })), "{notes:?}");
    let last = verdict.files.iter().filter_map(|file| file.chain.clone()).next_back().expect("a chain");
    assert!(verify(directory.path(), &[last], &unsigned()).expect("read").is_whole());
    assert!(verify(&directory.path().join("absent"), &[], &unsigned()).expect("read").is_whole());
}

#[test]
fn a_line_that_was_changed_taken_out_put_in_or_moved_is_found() {
    let directory = tempfile::tempdir().expect("a directory");
    write(directory.path(), AuditFileOptions { rotate_bytes: 1 << 20, ..options() }, 10);
    let path = paths(directory.path()).remove(0);
    let changed = |line| vec![AuditFinding::Changed { line }];
    type Change = fn(&mut Vec<String>);
    let cases: [(Change, Vec<AuditFinding>); 5] = [
        (|lines| lines[3] = lines[3].replace("echo", "other"), changed(4)),
        (|lines| drop(lines.remove(4)), changed(5)),
        (|lines| lines.insert(5, lines[5].clone()), changed(7)),
        (|lines| lines.insert(2, "{}".to_owned()), Vec::new()),
        (|lines| drop(lines.remove(0)), vec![AuditFinding::Headless]),
    ];
    for (at, (alter, wanted)) in cases.into_iter().enumerate() {
        let whole = change(&path, alter);
        let found = findings(directory.path());
        // A line without a chain is what a host that was killed leaves, whatever it says.
        assert_eq!(found, wanted, "case {at}");
        rewrite(&path, &whole);
    }
    let whole = change(&path, |lines| lines.swap(4, 5));
    assert!(!findings(directory.path()).is_empty());
    rewrite(&path, &whole);
    let other = path.with_file_name(format!("20200101T000000-{}.jsonl", "0".repeat(8)));
    fs::rename(&path, other).expect("renamed");
    assert_eq!(findings(directory.path()), [AuditFinding::Headless]);
}

#[test]
fn an_end_that_was_cut_off_and_a_file_that_is_gone_are_named_by_the_files_after_them() {
    let directory = tempfile::tempdir().expect("a directory");
    write(directory.path(), AuditFileOptions { keep_files: 100, ..options() }, 120);
    let mut all = paths(directory.path());
    // A party that has filled its part of the shared file has files of its own.
    all.retain(|path| group_of(path).is_some());
    assert!(all.len() > 3, "{all:?}");
    let name = |path: &Path| name_of(path).to_owned();
    let whole = change(&all[1], |lines| drop(lines.pop()));
    assert_eq!(findings(directory.path()), [AuditFinding::Cut { said_by: name(&all[2]) }]);
    rewrite(&all[1], &whole);
    assert!(findings(directory.path()).is_empty());
    fs::remove_file(&all[1]).expect("removed");
    assert_eq!(findings(directory.path()), [AuditFinding::Missing { file: name(&all[1]) }]);
    fs::remove_file(&all[0]).expect("removed");
    let verdict = verify(directory.path(), &[], &unsigned()).expect("read");
    let after = verdict.files.iter().find(|file| file.file == name(&all[2])).expect("the next one");
    assert_eq!(after.notes, [AuditNote::Oldest { file: name(&all[1]) }]);
    // The last file has none after it: what was kept elsewhere tells.
    let last = all.last().expect("files");
    let of_last = verdict.files.iter().find(|file| file.file == name(last)).expect("the last one");
    let kept = of_last.chain.clone().expect("a chain");
    change(last, |lines| drop(lines.pop()));
    assert!(findings(directory.path()).is_empty());
    assert_eq!(verify(directory.path(), std::slice::from_ref(&kept), &unsigned()).expect("read").lost, [kept]);
}

#[test]
fn what_a_killed_host_left_unfinished_and_files_of_older_versions_are_no_faults() {
    let directory = tempfile::tempdir().expect("a directory");
    let options = AuditFileOptions { rotate_bytes: 1 << 20, ..options() };
    write(directory.path(), options.clone(), 3);
    let path = paths(directory.path()).remove(0);
    let text = fs::read_to_string(&path).expect("text");
    fs::write(&path, format!("{text}{{\"time\":\"20")).expect("written");
    write(directory.path(), options.clone(), 3);
    assert_eq!(paths(directory.path()).len(), 1, "the next host goes on with it");
    let verdict = verify(directory.path(), &[], &unsigned()).expect("read");
    assert_eq!((verdict.is_whole(), &verdict.files[0].notes[..]), (true, &[AuditNote::Unfinished { line: 5 }][..]));

    let older = path.with_file_name("29990101T000000-00000000.jsonl");
    fs::write(&older, crate::line(&record("echo")) + "\n").expect("written");
    write(directory.path(), options, 1);
    let verdict = verify(directory.path(), &[], &unsigned()).expect("read");
    assert!(verdict.is_whole(), "{verdict:#?}");
    assert_eq!(verdict.files.last().expect("a file").notes, [AuditNote::WithoutChain]);
}

fn unsigned() -> RequiredSignatures {
    RequiredSignatures::default()
}

fn by(key: &AuditKey) -> RequiredSignatures {
    RequiredSignatures::by(vec![key.clone()])
}

/// Makes all chains of a file anew, as a program can that writes the data directory.
fn rechain<'l>(path: &Path, lines: impl Iterator<Item = &'l str>) {
    let (mut chain, mut out) = (Chain::of_file(name_of(path)), Vec::new());
    for line in lines {
        chain.write(&chain::parted(line.as_bytes()).expect("a chain").0, &mut out);
    }
    rewrite(path, &String::from_utf8(out).expect("text"));
}

pub(crate) fn signer() -> AuditSigner {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let random = ring::rand::SystemRandom::new();
    let pkcs8 = ring::signature::Ed25519KeyPair::generate_pkcs8(&random).expect("a key");
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", STANDARD.encode(pkcs8.as_ref()));
    AuditSigner::read(pem.as_bytes()).expect("a key")
}

#[test]
fn what_was_flushed_is_signed_whatever_still_holds_the_sink() {
    let directory = tempfile::tempdir().expect("a directory");
    let signer = signer();
    let key = signer.public().clone();
    let sink =
        FileSink::open(directory.path().to_owned(), options(), true, clock(), Some(signer), None).expect("opened");
    let signed = || {
        let verdict = verify(directory.path(), &[], &by(&key)).expect("read");
        verdict.files.iter().all(|file| file.signed == Some(file.lines))
    };
    (0..20).for_each(|_| sink.record(record("echo")));
    sink.flush(PATIENCE);
    assert!(signed());
    // Nothing came since, or it was written before anybody asked.
    sink.flush(PATIENCE);
    assert!(signed());
    sink.record(record("echo"));
    sink.flush(PATIENCE);
    assert!(signed());
}

#[test]
fn nobody_makes_a_signed_chain_anew_without_its_key() {
    let directory = tempfile::tempdir().expect("a directory");
    let (signer, stranger) = (signer(), signer());
    let (key, other) = (signer.public().clone(), stranger.public().clone());
    let sink =
        FileSink::open(directory.path().to_owned(), options(), true, clock(), Some(signer), None).expect("opened");
    for _ in 0..60 {
        sink.record(record("echo"));
        sink.flush(PATIENCE);
    }
    drop(sink);
    let verdict = verify(directory.path(), &[], &by(&key)).expect("read");
    assert!(verdict.is_whole() && verdict.files.len() > 2, "{verdict:#?}");
    for file in &verdict.files {
        assert_eq!(file.signed, Some(file.lines), "each ends with a signature: {verdict:#?}");
    }
    let by_other = verify(directory.path(), &[], &by(&other)).expect("read");
    assert!(!by_other.is_whole() && by_other.files.iter().all(|file| file.signed.is_none()));
    assert_eq!(by_other.files[0].notes[0], AuditNote::OtherKey { key: key.name() });
    let both = RequiredSignatures::by(vec![other, key.clone()]);
    assert!(verify(directory.path(), &[], &both).expect("read").is_whole(), "one of them signed each line");

    // All chains of a file made anew, with another line and the signature that was there.
    let path = paths(directory.path()).remove(0);
    let text = fs::read_to_string(&path).expect("text").replacen("echo", "other", 1);
    rechain(&path, text.lines());
    let forged = verify(directory.path(), &[], &by(&key)).expect("read");
    let file = forged.files.iter().find(|file| file.file == name_of(&path)).expect("the file");
    assert!(matches!(file.findings[0], AuditFinding::Forged { .. }) && file.signed.is_none(), "{forged:#?}");
}

/// A clock that stood an hour ago when this began.
fn an_hour_ago() -> AuditClock {
    let now = GrantClock::new(|| SystemTime::now() - Duration::from_secs(3_600));
    AuditClock { stamp: now, passed: GrantClock::new(SystemTime::now) }
}

#[test]
fn lines_whose_signatures_were_taken_out_are_found_where_the_key_is_given() {
    let directory = tempfile::tempdir().expect("a directory");
    let signer = signer();
    let key = signer.public().clone();
    let options = AuditFileOptions { rotate_bytes: 1 << 20, ..options() };
    let mut of_then = record("echo");
    of_then.time -= Duration::from_secs(3_600);
    let open = |signer| {
        FileSink::open(directory.path().to_owned(), options.clone(), true, an_hour_ago(), signer, None).expect("opened")
    };
    let sink = open(Some(signer));
    for _ in 0..6 {
        sink.record(of_then.clone());
        sink.flush(PATIENCE);
    }
    drop(sink);
    let path = paths(directory.path()).remove(0);
    let whole = fs::read_to_string(&path).expect("text");
    let lines: Vec<_> = whole.lines().collect();
    let is_head = |line: &&&str| line.contains(r#""kind":"head""#);
    let found = |required: &RequiredSignatures| {
        let verdict = verify(directory.path(), &[], required).expect("read");
        assert_eq!(verdict.is_whole(), verdict.files.iter().all(|file| file.findings.is_empty()));
        verdict.files.into_iter().flat_map(|file| file.findings).collect::<Vec<_>>()
    };
    assert_eq!(found(&by(&key)), []);

    // All signatures, and a line.
    rechain(&path, lines.iter().filter(|line| !is_head(line)).copied().filter(|line| *line != lines[3]));
    assert_eq!(found(&unsigned()), [], "the chains are right");
    assert_eq!(found(&by(&key)), [AuditFinding::Unsigned { after: 0 }]);
    // The same, with a line of now before the others.
    let mut of_now: Vec<_> = lines.iter().filter(|line| !is_head(line)).map(|line| (*line).to_owned()).collect();
    let time = r#"{"time":""#.len();
    of_now[0].replace_range(time..time + stamp(SystemTime::now()).len(), &stamp(SystemTime::now()));
    rechain(&path, of_now.iter().map(String::as_str));
    assert_eq!(found(&by(&key)), [AuditFinding::Unsigned { after: 0 }]);
    // Those after the third one.
    let third = lines.iter().enumerate().filter(|(_, line)| is_head(line)).nth(2).expect("signatures").0;
    rechain(
        &path,
        lines[..=third].iter().copied().chain(lines[third + 1..].iter().filter(|line| !is_head(line)).copied()),
    );
    assert_eq!(found(&by(&key)), [AuditFinding::Unsigned { after: third as u64 + 1 }]);
    // All chains: it looks like a file of an earlier version.
    let bare: Vec<_> = lines.iter().map(|line| chain::parted(line.as_bytes()).expect("a chain").0).collect();
    rewrite(&path, &bare.iter().map(|line| format!("{}\n", String::from_utf8_lossy(line))).collect::<String>());
    assert_eq!(found(&unsigned()), []);
    assert_eq!(found(&by(&key)), [AuditFinding::Unsigned { after: 0 }]);
    // No line is of the time when hosts had a key.
    assert_eq!(found(&by(&key).since(Some(SystemTime::now()))), []);

    // Nothing is left.
    fs::remove_file(&path).expect("removed");
    let gone = verify(directory.path(), &[], &by(&key)).expect("read");
    assert!(gone.empty && !gone.is_whole());
    assert!(verify(directory.path(), &[], &unsigned()).expect("read").is_whole());
}

#[test]
fn lines_of_now_may_wait_for_their_signature_and_those_of_other_times_may_not() {
    let directory = tempfile::tempdir().expect("a directory");
    let (signer, now) = (signer(), SystemTime::now());
    let key = signer.public().clone();
    let away = Duration::from_secs(3_600);
    for (time, is_whole) in [(now, true), (now - away, false), (now + away, false)] {
        let clock = GrantClock::new(move || time);
        let clock = AuditClock { stamp: clock, passed: GrantClock::new(SystemTime::now) };
        let of = directory.path().join(format!("{is_whole}{}", time > now));
        let sink = FileSink::open(of.clone(), options(), true, clock, None, None).expect("opened");
        let mut line = record("echo");
        line.time = time;
        sink.record(line);
        sink.flush(PATIENCE);
        let verdict = verify(&of, &[], &by(&key)).expect("read");
        assert_eq!(verdict.is_whole(), is_whole, "{time:?}: {verdict:#?}");
    }
}
