//! The previous version of the program, which tests have serve beside today's. It is built once, of the
//! repository's own history.
//!
//! Owns which version that is, how it is built and where it lies. Knows nothing of what is tested
//! with it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::command::{self, say};
use crate::components;
use crate::toolchain::{Choice, Toolchain};
use crate::workspace::Workspace;

/// Names the commit. Tests read it, too.
const NAMED_BY: &str = "tests/previous-version";

const PROGRAM: &str = "wharf";

/// What tests call: one plugin whose calls need no home, and one whose calls do.
const PLUGINS: [&str; 2] = ["planning", "workspace"];

/// Has members compiled in another form than today's, and no other crate: for those, `package."*"` says
/// what holds today. Cargo keeps another form under another name, so that neither build takes what the
/// other one compiled of a member for its own, and both share all the rest.
const OTHER_FORM: [&str; 3] =
    ["profile.dev.debug=0", "profile.dev.debug-assertions=false", "profile.dev.overflow-checks=false"];

/// The same for plugins.
const OTHER_FORM_OF_PLUGINS: [&str; 2] =
    ["profile.release.overflow-checks=true", "profile.release.package.\"*\".overflow-checks=false"];

/// Sees to it that the previous version is there for tests. What is not tested without it, where the
/// history does not reach so far.
pub(crate) fn ensure(workspace: &Workspace, choice: Choice) -> Result<Option<String>> {
    let named = fs::read_to_string(workspace.root.join(NAMED_BY)).with_context(|| format!("cannot read {NAMED_BY}"))?;
    let commit = commit_in(&named)?;
    let program = workspace.binary(&format!("previous/{commit}"), PROGRAM);
    if program.is_file() {
        return Ok(None);
    }
    if let Some(words) = missing(&workspace.root, commit) {
        say(&words);
        return Ok(Some(words));
    }
    build(workspace, commit, &program, choice).context("the previous version does not build")?;
    Ok(None)
}

/// What is not tested where the history of `root` does not have the commit; nothing where it does.
fn missing(root: &Path, commit: &str) -> Option<String> {
    let error = command::capture(git(root).args(["cat-file", "-e", &format!("{commit}^{{tree}}")])).err()?;
    Some(format!(
        "NOT TESTED: hosts of two versions as one: the history here does not have the previous one, which {NAMED_BY} \
         names. A shallow clone has it after `git fetch --unshallow`, and an archive never: {error:#}"
    ))
}

/// The commit that the file names.
fn commit_in(text: &str) -> Result<&str> {
    let commit = text.trim();
    let is_whole = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    ensure!(is_whole, "{NAMED_BY} does not hold the 40 digits of a commit: {commit:?}");
    Ok(commit)
}

/// Builds the program of a commit. What lies beside its folder is of no use then: another version, or
/// what a run left that was ended.
fn build(workspace: &Workspace, commit: &str, program: &Path, choice: Choice) -> Result<()> {
    let place = program.parent().context("a program lies in a folder")?;
    let folder = place.parent().context("versions lie in a folder")?;
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    let [source, plugins, output] = ["source", "plugins", "output"].map(|name| folder.join(name));
    say(&format!("Building the previous version, {commit}, once (minutes: its own crates)"));
    export(&workspace.root, commit, &source)?;
    let version = Workspace::at(source)?;
    let toolchain = Toolchain::prepare(workspace, choice)?;
    let further = beside(&components::builds(workspace), &OTHER_FORM_OF_PLUGINS);
    components::build_earlier(&version, &PLUGINS, &toolchain, &plugins, &further)?;
    let mut cargo = command::cargo(&version.root);
    cargo.args(["build", "--locked", "--workspace", "--bin", PROGRAM]).args(command::AS_WITH_TESTS);
    cargo.args(beside(&workspace.build_directory(), &OTHER_FORM)).arg("--target-dir").arg(&output);
    command::run(cargo.env("CARGO_INCREMENTAL", "0"))?;
    fs::create_dir(place)?;
    fs::rename(output.join("debug").join(program.file_name().unwrap_or_default()), program)?;
    for made in [&version.root, &plugins, &output] {
        fs::remove_dir_all(made)?;
    }
    Ok(())
}

/// Has cargo compile in another form beside what is compiled of today's in this folder. What is built of
/// it does not take the place of today's.
fn beside(compiled: &Path, form: &[&str]) -> Vec<String> {
    let shared = format!("build.build-dir='{}'", compiled.display());
    form.iter().copied().chain([shared.as_str()]).map(|value| format!("--config={value}")).collect()
}

/// Writes what a commit has into a folder. The files are of now and not of when it was committed:
/// cargo would take what it has compiled of a third version since then for theirs.
fn export(root: &Path, commit: &str, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    let archive = folder.with_extension("tar");
    command::capture(git(root).args(["archive", "--format=tar", "--output"]).arg(&archive).arg(commit))?;
    let mut unpack = Command::new("tar");
    command::capture(
        unpack.arg("--extract").arg("--touch").arg("--file").arg(&archive).arg("--directory").arg(folder),
    )?;
    Ok(fs::remove_file(&archive)?)
}

fn git(root: &Path) -> Command {
    let mut git = Command::new("git");
    git.current_dir(root);
    git
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_commit_is_named_by_all_its_digits() {
        assert!(commit_in(include_str!("../../../tests/previous-version")).is_ok());
        for other in ["edfc403e", "main", ""] {
            assert!(commit_in(other).is_err(), "{other}");
        }
    }

    #[test]
    fn what_a_commit_has_is_written_as_it_was_and_is_of_now() {
        let folder = tempfile::tempdir().expect("a folder");
        let (root, to) = (folder.path().join("root"), folder.path().join("to"));
        fs::create_dir(&root).expect("made");
        let ran = |arguments: &[&str]| {
            let mut git = git(&root);
            git.args(["-c", "user.name=test", "-c", "user.email=test@localhost"]).args(arguments);
            command::capture(git.env("GIT_COMMITTER_DATE", "2001-01-01T00:00:00Z")).expect("git runs")
        };
        ran(&["init", "--quiet"]);
        for text in ["before", "after"] {
            fs::write(root.join("file"), text).expect("written");
            ran(&["add", "file"]);
            ran(&["commit", "--quiet", "--message", text]);
        }
        let first = ran(&["rev-parse", "HEAD~"]);
        let begun = SystemTime::now() - std::time::Duration::from_secs(60);
        export(&root, first.trim(), &to).expect("exported");
        let file = to.join("file");
        assert_eq!(fs::read_to_string(&file).expect("there"), "before");
        assert!(fs::metadata(&file).and_then(|about| about.modified()).expect("a time") > begun);
        assert!(!to.with_extension("tar").exists());
    }

    #[test]
    fn a_history_without_the_commit_says_what_is_not_tested() {
        let folder = tempfile::tempdir().expect("a folder");
        let words = missing(folder.path(), &"0".repeat(40)).expect("no history at all");
        assert!(words.starts_with("NOT TESTED: hosts of two versions"), "{words}");
    }
}
