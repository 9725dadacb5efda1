//! The previous version of the program, which tests have serve beside today's. It is built once, of the
//! repository's own history.
//!
//! Owns which version that is, how it is built and where it lies. Knows nothing of what is tested
//! with it.

mod shared;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::command::{self, say};
use crate::components;
use crate::toolchain::{Choice, Toolchain};
use crate::workspace::Workspace;

/// Names the commit. Tests read it, too.
const NAMED_BY: &str = "tests/previous-version";

const PROGRAM: &str = "wharf";

/// Folders of a build, which are removed once it ended.
const SOURCE: &str = "source";
const BUILT_PLUGINS: &str = "plugins";

/// What tests call: one plugin whose calls need no home, and one whose calls do.
const PLUGINS: [&str; 2] = ["planning", "workspace"];

/// Has members compiled in another form than today's, and no other crate: for those, `package."*"` says
/// what holds today. Cargo keeps another form under another name, so that neither build takes what the
/// other one compiled of a member for its own, and both share all the rest.
const OTHER_FORM: [&str; 3] =
    ["profile.dev.debug=0", "profile.dev.debug-assertions=false", "profile.dev.overflow-checks=false"];

/// [`OTHER_FORM`] for plugins.
const OTHER_FORM_OF_PLUGINS: [&str; 2] =
    ["profile.release.overflow-checks=true", "profile.release.package.\"*\".overflow-checks=false"];

/// What there is of the previous version, and what has to be built.
pub(crate) enum PreviousVersion {
    /// No test asks for it, or its program is there.
    Unwanted,
    /// The history does not reach so far: what is not tested.
    Missing(String),
    /// It is built in two steps, between which today's plugins are.
    Unbuilt(Unbuilt),
}

/// A version whose program is not there yet.
pub(crate) struct Unbuilt {
    commit: String,
    program: PathBuf,
}

/// Looks for the previous version.
pub(crate) fn find(workspace: &Workspace) -> Result<PreviousVersion> {
    let named = fs::read_to_string(workspace.root.join(NAMED_BY)).with_context(|| format!("cannot read {NAMED_BY}"))?;
    let commit = commit_in(&named)?;
    let program = workspace.binary(&format!("previous/{commit}"), PROGRAM);
    if program.is_file() {
        return Ok(PreviousVersion::Unwanted);
    }
    if let Some(words) = missing(&workspace.root, commit) {
        say(&words);
        return Ok(PreviousVersion::Missing(words));
    }
    Ok(PreviousVersion::Unbuilt(Unbuilt { commit: commit.to_owned(), program }))
}

impl PreviousVersion {
    /// Writes its sources and builds its plugins. What lies beside their folder is of no use then: another
    /// version, or what a run left that was ended.
    pub(crate) fn build_plugins(&self, workspace: &Workspace, choice: Choice) -> Result<()> {
        let Self::Unbuilt(version) = self else { return Ok(()) };
        version.build_plugins(workspace, choice).context("the previous version's plugins do not build")
    }

    /// Builds its program, with the plugins.
    pub(crate) fn build_program(&self, workspace: &Workspace) -> Result<()> {
        let Self::Unbuilt(version) = self else { return Ok(()) };
        version.build_program(workspace).context("the previous version does not build")
    }

    /// What is not tested without it.
    pub(crate) fn untested(self) -> Vec<String> {
        if let Self::Missing(words) = self { vec![words] } else { Vec::new() }
    }
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

impl Unbuilt {
    /// Where the program comes to lie.
    fn place(&self) -> Result<&Path> {
        self.program.parent().context("a program lies in a folder")
    }

    /// A folder beside it, for the build alone.
    fn beside(&self, name: &str) -> Result<PathBuf> {
        Ok(self.place()?.with_file_name(name))
    }

    fn build_plugins(&self, workspace: &Workspace, choice: Choice) -> Result<()> {
        let folder = self.place()?.parent().context("versions lie in a folder")?;
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        say(&format!("Building plugins of the previous version, {}, once (a minute: its own crates)", self.commit));
        let source = self.beside(SOURCE)?;
        export(&workspace.root, &self.commit, &source)?;
        let toolchain = Toolchain::prepare(workspace, choice)?;
        let further = sharing(&components::builds(workspace), &OTHER_FORM_OF_PLUGINS);
        components::build_earlier(&Workspace::at(source)?, &PLUGINS, &toolchain, &self.beside(BUILT_PLUGINS)?, &further)
    }

    fn build_program(&self, workspace: &Workspace) -> Result<()> {
        say(&format!("Building the previous version, {}, once (minutes: its own crates)", self.commit));
        let [source, plugins, output] = [self.beside(SOURCE)?, self.beside(BUILT_PLUGINS)?, self.beside("output")?];
        let mut cargo = command::cargo(&source);
        let profile = shared::align(&workspace.root, &source)?;
        cargo.args(["build", "--workspace", "--bin", PROGRAM]).args(command::AS_WITH_TESTS);
        let form: Vec<&str> = OTHER_FORM.into_iter().chain(profile.iter().map(String::as_str)).collect();
        cargo.args(sharing(&workspace.build_directory(), &form)).arg("--target-dir").arg(&output);
        command::run(cargo.env("CARGO_INCREMENTAL", "0"))?;
        fs::create_dir(self.place()?)?;
        fs::rename(output.join("debug").join(self.program.file_name().unwrap_or_default()), &self.program)?;
        for made in [&source, &plugins, &output] {
            fs::remove_dir_all(made)?;
        }
        Ok(())
    }
}

/// Has cargo compile in another form beside what is compiled of today's in this folder. What is built of
/// it does not take the place of today's.
fn sharing(compiled: &Path, form: &[&str]) -> Vec<String> {
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
