//! New clusters. PostgreSQL takes a second of a processor to make one, and there are more than a hundred
//! tests: so it makes the first one, and the others are copies of that.

use std::{
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::Programs;
use crate::unpacked::target;

const ARGUMENTS: [&str; 6] =
    ["--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", "--no-sync", "-D"];

/// Makes a new cluster in this folder, which is not there yet.
pub(super) fn make(programs: &Programs, cluster: &Path) {
    let template = template(programs);
    if copy(&template, cluster) {
        return;
    }
    // What was copied in part is of no use.
    let _ = fs::remove_dir_all(cluster);
    let mut make = programs.command("initdb");
    let made = make.args(ARGUMENTS).arg(cluster).stdin(Stdio::null()).output().expect("initdb runs");
    assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
    keep(cluster, &template);
}

/// Where the first cluster is kept that these programs made for this user.
fn template(programs: &Programs) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    (ARGUMENTS, &programs.directory, programs.user).hash(&mut hasher);
    let made = fs::metadata(programs.directory.join("initdb")).and_then(|about| about.modified());
    made.ok().hash(&mut hasher);
    target().join("postgresql-clusters").join(format!("{:016x}", hasher.finish()))
}

/// Keeps a cluster for others to copy: whole, or not at all. Another test may be first, also one of this
/// process.
fn keep(cluster: &Path, template: &Path) {
    let (folder, own) = (template.parent().expect("it lies in a folder"), cluster.parent().and_then(Path::file_name));
    let unfinished = folder.join(own.expect("a folder of the test's own"));
    let kept = fs::create_dir_all(folder).is_ok() && copy(cluster, &unfinished);
    if !kept || fs::rename(&unfinished, template).is_err() {
        let _ = fs::remove_dir_all(&unfinished);
    }
}

/// Copies a folder with the owners of what is in it; whether it did.
fn copy(from: &Path, to: &Path) -> bool {
    from.is_dir() && {
        let mut copy = Command::new("cp");
        copy.args(["--archive", "--no-target-directory"]).args([from, to]).stdin(Stdio::null()).stderr(Stdio::null());
        copy.status().is_ok_and(|status| status.success())
    }
}
