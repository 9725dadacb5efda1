//! `cargo xtask package`: what people install. A tarball with an installer, a Debian package and a
//! bundle for desktop clients, made of one binary.
//!
//! Knows where files of a program belong; what the program is made of is in `parts`.

mod building;
mod c_library;
mod check;
mod image;
mod parts;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use lexopt::Arg;
use lexopt::ValueExt as _;
use serde_json::json;

use crate::command::{self, say};
use crate::workspace::Workspace;

pub(crate) use building::{PROFILE, build, committed};
pub(crate) use check::check;

const HELP: &str = "\
Makes what people install, in target/package:

  wharf-VERSION-linux-ARCH.tar.gz   the program, completions for shells, manual pages, units of
                                    systemd, licences of everything in it, and a list of its parts
  install.sh, SHA256SUMS            install the tarball, once its digest is checked
  wharf_VERSION_ARCH.deb            the same as a package of Debian
  Containerfile, wharf-start        an image, of the package of Debian: docker build target/package
  wharf-ARCH.mcpb                   a bundle for desktop clients of the Model Context Protocol

It says which C library the program needs, and refuses one that is newer than packages promise: build on
the oldest system that they are for. The same sources and tools make the same bytes.

Usage: cargo xtask package [OPTIONS]

Options:
  --binary FILE     Take this program instead of one that is built for it (20 minutes, 6 GB of memory)
  --output FOLDER   Where to leave the files [default: target/package]
  --sign KEY        Sign SHA256SUMS with this SSH key; install.sh --signer checks it
  -h, --help        This text
";

/// What lies beside the packages as `deploy/` has it.
const BESIDE: [&str; 3] = ["install.sh", "container/Containerfile", "container/wharf-start"];

/// The program of a set of packages.
pub(super) struct Release {
    binary: PathBuf,
    version: String,
    /// As the kernel calls it: `x86_64`.
    architecture: &'static str,
    /// What it needs of glibc.
    c_library: c_library::GlibcVersion,
}

pub(crate) fn run(mut arguments: lexopt::Parser) -> Result<()> {
    let workspace = Workspace::find()?;
    let (mut binary, mut output, mut key) = (None, workspace.target().join("package"), None);
    while let Some(argument) = arguments.next()? {
        match argument {
            Arg::Long("binary") => binary = Some(PathBuf::from(arguments.value()?.string()?)),
            Arg::Long("output") => output = PathBuf::from(arguments.value()?.string()?),
            Arg::Long("sign") => key = Some(PathBuf::from(arguments.value()?.string()?)),
            Arg::Short('h') | Arg::Long("help") => {
                print!("{HELP}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    let build = || build(&workspace, PROFILE, committed(&workspace.root).as_deref());
    let binary = binary.map_or_else(build, Ok)?;
    let mut made = make(&workspace, &binary, &output)?;
    if let Some(key) = key {
        made.push(sign(&output.join("SHA256SUMS"), &key)?);
    }
    for file in made {
        println!("{}", workspace.shown(&file));
    }
    Ok(())
}

/// Signs the digests, as SSH does: the key may be in an agent or on a token. The file of the signature.
pub(super) fn sign(sums: &Path, key: &Path) -> Result<PathBuf> {
    let mut ssh = Command::new("ssh-keygen");
    command::capture(ssh.args(["-q", "-Y", "sign", "-n", "wharf", "-f"]).arg(key).arg(sums))?;
    Ok(sums.with_extension("sig"))
}

/// Makes all packages of a program, in a folder that has nothing else afterwards.
pub(super) fn make(workspace: &Workspace, binary: &Path, output: &Path) -> Result<Vec<PathBuf>> {
    let binary = fs::canonicalize(binary).with_context(|| format!("there is no program {}", binary.display()))?;
    let said = command::capture(Command::new(&binary).arg("--version"))?;
    let version = said.split_whitespace().nth(1).context("the program says no version")?.to_owned();
    let c_library = c_library::needed(&binary)?;
    say(&format!("The program needs glibc {c_library} or later"));
    let release = Release { binary, version, architecture: std::env::consts::ARCH, c_library };
    if output.exists() {
        fs::remove_dir_all(output)?;
    }
    fs::create_dir_all(output)?;
    let work = output.join("work");
    let tree = work.join(format!("wharf-{}", release.version));
    say("Gathering what is installed");
    parts::gather(workspace, &release, &tree)?;
    let made = [tarball(&release, &tree, output)?, debian(&release, &tree, output)?, bundle(&release, &tree, output)?];
    for file in BESIDE {
        let name = Path::new(file).file_name().context("a file has a name")?;
        fs::copy(workspace.root.join("deploy").join(file), output.join(name))?;
    }
    let mut sums = Command::new("sha256sum");
    sums.current_dir(output).args(made.iter().filter_map(|file| file.file_name()));
    fs::write(output.join("SHA256SUMS"), command::capture(&mut sums)?)?;
    fs::remove_dir_all(work)?;
    let beside = BESIDE.iter().filter_map(|file| Path::new(file).file_name()).chain([OsStr::new("SHA256SUMS")]);
    Ok(made.into_iter().chain(beside.map(|name| output.join(name))).collect())
}

/// The order, the owner and the time of entries are always the same.
fn tarball(release: &Release, tree: &Path, output: &Path) -> Result<PathBuf> {
    let file = output.join(format!("wharf-{}-linux-{}.tar.gz", release.version, release.architecture));
    let mut tar = Command::new("tar");
    tar.args([
        "--sort=name",
        "--mtime=@0",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--use-compress-program=gzip -n",
    ]);
    tar.arg("-cf").arg(&file).arg("-C").arg(tree.parent().context("a tree has a parent")?);
    command::capture(tar.arg(tree.file_name().context("a tree has a name")?))?;
    Ok(file)
}

fn debian(release: &Release, tree: &Path, output: &Path) -> Result<PathBuf> {
    let architecture = match release.architecture {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let root = tree.with_file_name("debian");
    parts::copy(tree, &root.join("usr"))?;
    let control = format!(
        "Package: wharf\nVersion: {}\nArchitecture: {architecture}\nMaintainer: The Wharf authors\n\
         Section: utils\nPriority: optional\nDepends: libc6 (>= {}), libgcc-s1\n\
         Recommends: chromium-headless-shell | chromium\n\
         Description: host for tools that nobody has to trust\n \
         Tools are WebAssembly components. Each call runs in a sandbox of its own and has nothing but what\n \
         was granted. Agents reach the tools over the Model Context Protocol.\n",
        release.version, release.c_library
    );
    fs::create_dir_all(root.join("DEBIAN"))?;
    fs::write(root.join("DEBIAN/control"), control)?;
    let file = output.join(format!("wharf_{}_{architecture}.deb", release.version));
    let mut dpkg = Command::new("dpkg-deb");
    dpkg.env("SOURCE_DATE_EPOCH", "0").args(["--root-owner-group", "-Zzstd", "--build"]).arg(&root).arg(&file);
    command::capture(&mut dpkg)?;
    Ok(file)
}

/// What a desktop client installs: a manifest and the program.
fn bundle(release: &Release, tree: &Path, output: &Path) -> Result<PathBuf> {
    let folder = tree.with_file_name("bundle");
    fs::create_dir_all(folder.join("server"))?;
    fs::copy(tree.join("bin/wharf"), folder.join("server/wharf"))?;
    let serve = ["serve", "--stdio", "--session", "new", "--profile", "${user_config.profile}"];
    let manifest = json!({
        "manifest_version": "0.3",
        "name": "wharf",
        "display_name": "Wharf",
        "version": release.version,
        "description": "Sandboxed tools: planning, notes, files, commands, terminals, web pages",
        "author": {"name": "The Wharf authors"},
        "license": "Apache-2.0",
        "server": {
            "type": "binary",
            "entry_point": "server/wharf",
            "mcp_config": {"command": "${__dirname}/server/wharf", "args": serve},
        },
        "tools_generated": true,
        "prompts_generated": true,
        "compatibility": {"platforms": ["linux"]},
        "user_config": {"profile": {
            "type": "string",
            "title": "Profile",
            "description": "`default`: tools that keep notes and plans. `developer`: commands and files, too, contained and without a network",
            "default": "default",
        }},
    });
    fs::write(folder.join("manifest.json"), serde_json::to_string_pretty(&manifest)?)?;
    let file = output.join(format!("wharf-{}.mcpb", release.architecture));
    // Python's own module: the order and the times are as they are given.
    let script = "import sys, zipfile, os\n\
                  target, folder = sys.argv[1:]\n\
                  with zipfile.ZipFile(target, 'w', zipfile.ZIP_DEFLATED) as archive:\n\
                  \x20   for name, mode in (('manifest.json', 0o644), ('server/wharf', 0o755)):\n\
                  \x20       entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))\n\
                  \x20       entry.external_attr = (0o100000 | mode) << 16\n\
                  \x20       entry.compress_type = zipfile.ZIP_DEFLATED\n\
                  \x20       archive.writestr(entry, open(os.path.join(folder, name), 'rb').read())\n";
    command::capture(Command::new("python3").args(["-c", script]).arg(&file).arg(&folder))?;
    Ok(file)
}

/// Fails with words where something of a package is not as it should be.
fn expect(holds: bool, what: &str) -> Result<()> {
    if !holds {
        bail!("package: {what}");
    }
    Ok(())
}
