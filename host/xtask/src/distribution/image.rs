//! The image of a host: its file linted, and its root file system assembled and served from as the
//! file says. No builder of images is needed for that.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::expect;
use crate::command::{self, say};
use crate::debian;
use crate::python;
use crate::workspace::Workspace;

/// What the base of the image has of what is run here. The C library that packages of Debian leave
/// out elsewhere is one of them.
const BASE: [&str; 12] = [
    "libc6",
    "libgcc-s1",
    "zlib1g",
    "dash",
    "coreutils",
    "libacl1",
    "libattr1",
    "libselinux1",
    "mount",
    "libblkid1",
    "libmount1",
    "libsmartcols1",
];

/// Runs the image as a container does: a root file system that is read-only, a volume, processes and a
/// network of its own. Its first argument is the root, the second the volume, the third the user; then
/// come the program with its environment, `--`, and the check of health.
const CONTAINER: &str = r#"
set -e
root=$1 volume=$2 user=$3; shift 3
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount --bind "$volume" "$root/var/lib/wharf"
mount -o remount,bind,ro "$root"
ip link set lo up
cd "$root"
pivot_root . .
umount -l .
inside() { chroot --userspec="$user" / "$@"; }
serve=
while [ "$1" != -- ]; do serve="$serve '$1'"; shift; done
shift
eval "exec chroot --userspec=$user / $serve" &
host=$!
inside "$@" --retry 120 --retry-delay 1 --retry-connrefused && echo healthy
echo "user $(inside id -u)"
if inside touch /run/written 2>/dev/null || touch /run/written 2>/dev/null; then echo "root writable"; fi
inside env HOME=/tmp wharf doctor --profile developer || true
kill -TERM $host
wait $host && echo ended
"#;

pub(super) fn check(workspace: &Workspace, package: &Path, place: &Path) -> Result<()> {
    lint(workspace)?;
    let file = ContainerFile::read(&place.join("Containerfile"))?;
    expect(place.join("wharf-start").is_file(), "what the image is made of lacks wharf-start")?;
    let lacks = ["unshare", "pivot_root", "ip", "mount"].into_iter().find(|program| !command::exists(program));
    if !debian::available() || !debian::is_root() || lacks.is_some() {
        say("NOT TESTED: the image, which root assembles of Debian's packages, with unshare, pivot_root, ip and mount");
        return Ok(());
    }
    serve(workspace, &file, package, place)
}

/// By hadolint: what it calls an error or a warning is one.
fn lint(workspace: &Workspace) -> Result<()> {
    let requirements = workspace.root.join("tests/images/requirements.txt");
    let hadolint = match python::interpreter(workspace, "hadolint", &requirements) {
        Ok(python) => python.with_file_name("hadolint"),
        Err(error) => {
            say(&format!("NOT TESTED: the files of images by hadolint, which cannot be had: {error:#}"));
            return Ok(());
        }
    };
    let mut lint = Command::new(hadolint);
    lint.args(["--no-color", "--failure-threshold", "warning"]);
    lint.args(["container", "compose"].map(|folder| workspace.root.join("deploy").join(folder).join("Containerfile")));
    command::capture(&mut lint).map(drop)
}

/// What the first image of a file says, as far as it can be run here.
struct ContainerFile {
    packages: BTreeSet<String>,
    environment: Vec<String>,
    user: String,
    command: Vec<String>,
    health: Vec<String>,
}

impl ContainerFile {
    fn read(path: &Path) -> Result<Self> {
        Self::parse(&fs::read_to_string(path)?)
    }

    fn parse(text: &str) -> Result<Self> {
        let joined =
            text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n").replace("\\\n", " ");
        let first = joined.lines().skip_while(|line| !line.starts_with("FROM ")).skip(1);
        let first: Vec<_> = first.take_while(|line| !line.starts_with("FROM ")).collect();
        let all =
            |name: &str| first.iter().filter_map(|line| line.strip_prefix(name)).map(str::trim).collect::<Vec<_>>();
        let one = |name: &str| all(name).pop().with_context(|| format!("the image has no {name}"));
        // In exec form: a shell would take the signal that ends the host.
        let exec = |text: &str| -> Result<Vec<String>> {
            serde_json::from_str(text).with_context(|| format!("{text} is not in exec form"))
        };
        let (runs, health) = (all("RUN ").join(" && "), one("HEALTHCHECK ")?);
        let Some((_, installed)) = runs.split_once("apt-get install ") else { bail!("the image installs nothing") };
        let installed = installed.split("&&").next().unwrap_or_default().split_whitespace();
        let packages = installed.filter(|word| !word.starts_with(['-', '/'])).map(str::to_owned).collect();
        let mut command = exec(one("ENTRYPOINT ")?)?;
        command.extend(exec(one("CMD ")?)?);
        let environment = all("ENV ").join(" ").split_whitespace().map(str::to_owned).collect();
        let health = exec(health.split_once("CMD ").context("the check of health has no command")?.1)?;
        Ok(Self { packages, environment, user: one("USER ")?.to_owned(), command, health })
    }
}

fn serve(workspace: &Workspace, file: &ContainerFile, package: &Path, place: &Path) -> Result<()> {
    let numbers: Vec<Option<u32>> = file.user.split(':').map(|number| number.parse().ok()).collect();
    expect(
        numbers.len() == 2 && numbers.iter().all(|number| number.is_some_and(|number| number > 0)),
        &format!("the image is of user {}, which is not two numbers above 0", file.user),
    )?;
    let (root, volume) = (place.join("image"), place.join("volume"));
    say("Assembling the root file system of the image of Debian's packages (10 MB, seconds)");
    let mut packages: BTreeSet<String> = BASE.map(str::to_owned).into();
    for package in file.packages.iter().map(String::as_str).chain(BASE) {
        let needed = debian::with_libraries(package)?;
        packages.extend(needed.into_iter().filter(|name| name.starts_with("lib") || name == package));
    }
    let downloads = workspace.target().join("image-packages");
    if let Err(error) = debian::refresh_lists().and_then(|()| debian::unpack(&packages, &downloads, &root)) {
        say(&format!("NOT TESTED: the image, whose packages cannot be had: {error:#}"));
        return Ok(());
    }
    command::capture(Command::new("dpkg").arg("-x").arg(package).arg(&root))?;
    for folder in ["proc", "dev", "tmp", "var/lib/wharf"] {
        fs::create_dir_all(root.join(folder))?;
    }
    fs::create_dir_all(&volume)?;
    command::capture(Command::new("chown").arg(&file.user).arg(&volume))?;
    let mut container = Command::new("unshare");
    container.args(["--mount", "--pid", "--fork", "--kill-child", "--net", "sh", "-c", CONTAINER, "sh"]);
    container.arg(&root).arg(&volume).arg(&file.user);
    container.args(["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"]).args(&file.environment).args(&file.command);
    let said = command::capture(container.arg("--").args(&file.health))?;
    let number = file.user.split(':').next().unwrap_or_default();
    for wanted in ["healthy", &format!("user {number}"), "ok containment", "ended"] {
        expect(said.contains(wanted), &format!("the image as a container says no {wanted:?}: {said}"))?;
    }
    expect(!said.contains("root writable"), "a root file system that is read-only can be written")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_image_of_a_file_is_read() {
        let text = "# words\nARG BASE\nFROM ${BASE} AS one\nRUN --mount=type=bind,source=.,target=/p \\\n    apt-get update \\\n    \
                    && apt-get install --yes curl /p/x.deb \\\n    && rm x\nUSER 1:2\nENV A=b C=d\nHEALTHCHECK --interval=1s \\\n    \
                    CMD [\"curl\", \"x\"]\nENTRYPOINT [\"w\"]\nCMD [\"serve\"]\nFROM one AS two\nUSER 0:0\n";
        let file = ContainerFile::parse(text).expect("read");
        assert_eq!(file.packages.into_iter().collect::<Vec<_>>(), ["curl"]);
        assert_eq!((file.user.as_str(), file.environment), ("1:2", vec!["A=b".to_owned(), "C=d".to_owned()]));
        assert_eq!(
            (file.command, file.health),
            (vec!["w".to_owned(), "serve".to_owned()], vec!["curl".to_owned(), "x".to_owned()])
        );
        assert!(ContainerFile::parse(&text.replace("[\"w\"]", "w")).is_err(), "a shell would run it");
        assert!(ContainerFile::parse(&text.replace("USER 1:2", "")).is_err());
    }
}
