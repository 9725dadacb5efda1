//! Archives that are damaged, and archives that somebody made for this.

use super::*;

/// An archive in the making, with a list that fits what is in it: damage is found by the list, and
/// these are found by what they ask for.
struct Forged {
    tar: Vec<u8>,
    list: String,
}

const MANIFEST: &str = r#"{"format":1,"wharf":"0.1.0","made":"2026-01-02T03:04:05Z",
    "contains":["plugins","workspaces","audit"],"leftOut":[],"notes":[]}"#;
const WORKSPACE: &str = "workspaces/0123456789abcdef0123456789abcdef";

impl Forged {
    fn new() -> Self {
        Self { tar: Vec::new(), list: String::new() }.file("wharf-backup.json", MANIFEST)
    }

    fn file(self, path: &str, content: &str) -> Self {
        self.entry(tar::EntryType::Regular, path, content, "")
    }

    fn directory(self, path: &str) -> Self {
        self.entry(tar::EntryType::Directory, path, "", "")
    }

    fn entry(mut self, kind: tar::EntryType, path: &str, content: &str, target: &str) -> Self {
        let mut header = header(kind, path, content.len() as u64);
        header.set_link_name_literal(target).expect("short");
        header.set_cksum();
        self.raw(&header, content);
        let (word, digested) = match kind {
            tar::EntryType::Directory => ("directory", ""),
            tar::EntryType::Symlink => ("link", target),
            _ => ("file", content),
        };
        let (digest, bytes) = (Digest::of(digested.as_bytes()), digested.len());
        self.list.push_str(&format!("{digest} {word} 644 0 {bytes} {path}\n"));
        self
    }

    fn raw(&mut self, header: &tar::Header, content: &str) {
        self.tar.extend(header.as_bytes());
        self.tar.extend(content.as_bytes());
        self.tar.resize(self.tar.len().next_multiple_of(512), 0);
    }

    /// A session's workspace as a backup has it.
    fn workspace(self) -> Self {
        let key = session();
        let record = r#"{"tenant":"local","session":"s"}"#;
        let place = tempfile::tempdir().expect("a directory");
        let made = workspaces(place.path()).create(&key).expect("made").files;
        let name = made.parent().and_then(Path::file_name).expect("a name").to_string_lossy().into_owned();
        let at = |below: &str| format!("workspaces/{name}{below}");
        self.directory("workspaces")
            .directory(&at(""))
            .file(&at("/session.json"), record)
            .file(&at("/used"), "")
            .directory(&at("/files"))
            .directory(&at("/home"))
    }

    fn files(&self) -> String {
        let line = self.list.lines().find(|line| line.ends_with("/files")).expect("a workspace");
        line.rsplit(' ').next().expect("a path").to_owned()
    }

    fn whole(mut self) -> Vec<u8> {
        let list = self.list.clone();
        self = self.file("wharf-backup.list", &list);
        self.without_list()
    }

    fn without_list(mut self) -> Vec<u8> {
        self.tar.resize(self.tar.len() + 1_024, 0);
        zstd::encode_all(self.tar.as_slice(), 1).expect("compressed")
    }
}

fn header(kind: tar::EntryType, path: &str, size: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.as_gnu_mut().expect("GNU").name[..path.len()].copy_from_slice(path.as_bytes());
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(0o644);
    header.set_mtime(0);
    header.set_cksum();
    header
}

#[tokio::test]
async fn an_archive_that_was_made_well_is_taken() {
    let forged = Forged::new().workspace();
    let file = format!("{}/a", forged.files());
    let (place, report) = restored(&forged.file(&file, "text").directory("plugins").directory("audit").whole());
    assert_eq!(report.workspaces, 1);
    let found = workspaces(&place.path().join("below/data")).find(&session()).expect("is there");
    assert_eq!(fs::read_to_string(found.files.join("a")).expect("read"), "text");
    assert!(found.home.join("tmp").is_dir(), "what processes need is made");
}

#[tokio::test]
async fn a_backup_that_is_cut_anywhere_or_changed_anywhere_is_refused() {
    let data = filled().await;
    let (archive, _) = backed_up(data.path(), &[]);
    for length in [0, 3, 100, archive.len() / 2, archive.len() - 100, archive.len() - 1] {
        refused(&archive[..length], "backup");
    }
    let plain = zstd::decode_all(archive.as_slice()).expect("decompressed");
    for place in (0..archive.len()).step_by(archive.len() / 40) {
        let mut changed = archive.clone();
        changed[place] ^= 0x10;
        // Zstandard can write some things in two ways, and then nothing is changed.
        if zstd::decode_all(changed.as_slice()).is_ok_and(|same| same == plain) {
            continue;
        }
        refused(&changed, "backup");
    }
    refused(&[archive.as_slice(), b"more"].concat(), "backup");
    refused(&[archive.as_slice(), archive.as_slice()].concat(), "backup");
    // Compressed anew, so that no checksum of the compression says so.
    let compressed = |tar: &[u8]| zstd::encode_all(tar, 1).expect("compressed");
    let at = plain.windows(11).position(|window| window == b"\0component\0").expect("the component");
    let mut changed = plain.clone();
    changed[at + 1] ^= 1;
    refused(&compressed(&changed), "is not what was written: line");
    let mut cut = plain.clone();
    cut.truncate(plain.len() / 2);
    refused(&compressed(&cut), "backup");
    let mut longer = plain;
    longer.extend(b"more");
    refused(&compressed(&longer), "more follows it");
    refused(b"no archive, but a text that is long enough to be looked at", "this is no backup");
    refused(&compressed(b"a text in an archive"), "backup");
    refused(&compressed(&[0; 2_048]), "this is no backup");
}

#[tokio::test]
async fn an_archive_with_more_or_less_than_its_list_is_refused() {
    refused(&Forged::new().workspace().without_list(), "ends before the list");
    let mut more = Forged::new().directory("plugins").directory("audit").directory("workspaces");
    let list = more.list.clone();
    more = more.file("audit/20260101T000000-1.jsonl", "{}").file("wharf-backup.list", &list);
    refused(&more.without_list(), "of more or fewer files");
    let mut less = Forged::new().directory("plugins").directory("audit").directory("workspaces");
    less.list.push_str(&format!("{} file 644 0 0 audit/x.jsonl\n", Digest::of(b"")));
    refused(&less.whole(), "of more or fewer files");
    let mut after = Forged::new().directory("plugins");
    let list = after.list.clone();
    after = after.file("wharf-backup.list", &list).directory("audit");
    refused(&after.without_list(), "comes after the list");
    refused(&Forged::new().directory("plugins").whole(), "says that it has it, and has not");
    refused(&Forged::new().file("state.sqlite3", "x").whole(), "does not have this part");
}

#[tokio::test]
async fn what_no_backup_has_is_refused_whatever_its_list_says() {
    use tar::EntryType;
    let files = Forged::new().workspace().files();
    let below = |name: &str| format!("{files}/{name}");
    let outside = "no backup has a file there";
    let link = |path: &str, target: &str| Forged::new().workspace().entry(EntryType::Symlink, path, "", target);
    for (archive, word) in [
        (Forged::new().file("/etc/evil", "x"), outside),
        (Forged::new().file("../evil", "x"), outside),
        (Forged::new().workspace().file(&below("../../../../evil"), "x"), outside),
        (Forged::new().file("audit/../../evil.jsonl", "x"), outside),
        (Forged::new().file("http-token", "x"), outside),
        (Forged::new().file("state.sqlite3-wal", "x"), outside),
        (Forged::new().directory("plugins").entry(EntryType::Symlink, "plugins/components", "", "/etc"), "neither"),
        (Forged::new().entry(EntryType::Symlink, "audit", "", "/etc"), "neither"),
        (Forged::new().entry(EntryType::Symlink, "workspaces", "", "/tmp"), "neither"),
        (link(&below("out"), "/etc").file(&below("out/evil"), "x"), "no directory of the backup is above it"),
        (link(&below("in"), ".").file(&below("in/evil"), "x"), "no directory of the backup is above it"),
        (link(&below("a"), "/etc").entry(EntryType::Symlink, &below("a"), "", "/usr"), "there twice"),
        (link(&below("a"), "/etc/evil").file(&below("a"), "x"), "there twice"),
        (Forged::new().workspace().entry(EntryType::Char, &below("null"), "", ""), "no file, directory or link"),
        (Forged::new().workspace().entry(EntryType::Block, &below("disk"), "", ""), "no file, directory or link"),
        (Forged::new().workspace().entry(EntryType::Fifo, &below("pipe"), "", ""), "no file, directory or link"),
        (Forged::new().workspace().entry(EntryType::Link, &below("hard"), "", "/etc/passwd"), "no file, directory or"),
        (Forged::new().workspace().entry(EntryType::GNUSparse, &below("holes"), "", ""), "no file, directory or link"),
        (Forged::new().workspace().entry(EntryType::XHeader, &below("x"), "30 path=/etc/evil\n", ""), "has content"),
        (Forged::new().workspace().file(&below("a"), "x").file(&below("a"), "y"), "there twice"),
        (Forged::new().workspace().directory(&below("a")).directory(&below("a")), "there twice"),
        (Forged::new().directory("audit").directory("audit"), "there twice"),
        (Forged::new().file("wharf-backup.json", MANIFEST), "there twice"),
        (Forged::new().workspace().file(&below("absent/a"), "x"), "no directory of the backup is above it"),
        (Forged::new().directory("plugins").file("plugins/components/x.wasm", "x"), "no directory of the backup"),
        (Forged::new().directory("workspaces").directory("workspaces/.half-x"), "no directory of a workspace"),
        (
            Forged::new()
                .directory("workspaces")
                .directory(WORKSPACE)
                .file(&format!("{WORKSPACE}/session.json"), r#"{"tenant":"local","session":"s"}"#),
            "another session",
        ),
        (Forged::new().directory("workspaces").directory(WORKSPACE).directory("plugins"), "is not whole"),
        (Forged::new().directory("workspaces").directory(WORKSPACE).directory(WORKSPACE), "is not whole"),
        (Forged::new().directory("workspaces").file(&format!("{WORKSPACE}/used"), ""), "right before it"),
        (
            Forged::new().directory("workspaces").directory(WORKSPACE).file(&format!("{WORKSPACE}/lock"), "x"),
            "no such file",
        ),
    ] {
        refused(&archive.whole(), word);
    }
    assert!(!Path::new("/etc/evil").exists() && !std::env::temp_dir().join("evil").exists());
}

#[tokio::test]
async fn lengths_that_an_archive_names_take_no_memory() {
    for kind in [tar::EntryType::GNULongName, tar::EntryType::GNULongLink] {
        let mut forged = Forged::new();
        // A name of 8 EiB, of which some come.
        let mut header = header(kind, "@LongLink", 0);
        header.set_size(1 << 62);
        header.set_cksum();
        forged.raw(&header, &"x".repeat(100_000));
        refused(&forged.without_list(), "its name is too long");
    }
    let mut forged = Forged::new().workspace();
    let mut header = header(tar::EntryType::Regular, &format!("{}/a", forged.files()), 0);
    header.set_size(1 << 62);
    header.set_cksum();
    forged.raw(&header, "short");
    refused(&forged.without_list(), "backup");
    let long = Forged::new().directory("workspaces").directory(WORKSPACE);
    refused(&long.file(&format!("{WORKSPACE}/session.json"), &"x".repeat(100_000)).whole(), "too long");
}

#[tokio::test]
async fn a_backup_of_a_later_version_says_which_version_reads_it() {
    let mut later = Forged { tar: Vec::new(), list: String::new() };
    later = later.file("wharf-backup.json", r#"{"format":2,"wharf":"9.8.7","sections":{}}"#).file("new/thing", "x");
    refused(&later.whole(), "Use Wharf 9.8.7 or a later version");
    let other = Forged { tar: Vec::new(), list: String::new() }.file("wharf-backup.json", r#"{"name":"x"}"#);
    refused(&other.whole(), "this is no backup");
    let other = Forged { tar: Vec::new(), list: String::new() }.file("README", "of another program");
    refused(&other.whole(), "no backup");
}

#[tokio::test]
async fn state_that_this_version_cannot_use_is_refused() {
    let manifest = MANIFEST.replace(r#"["plugins","workspaces","audit"]"#, r#"["state"]"#);
    let empty = || Forged { tar: Vec::new(), list: String::new() }.file("wharf-backup.json", &manifest);
    refused(&empty().file("state.sqlite3", &"no database at all. ".repeat(100)).whole(), "is not a database");
    refused(&empty().file("state.sqlite3", "").whole(), "the state of the backup cannot be used");
}
