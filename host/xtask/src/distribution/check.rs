//! What is made for people to install, installed: each package from its file, as they would.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use super::{c_library, expect, image, make, sign};
use crate::command::{self, say};
use crate::workspace::Workspace;

/// Makes the packages of the program that the tests have, twice, and installs each.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let (place, again) = (workspace.target().join("package-check"), workspace.target().join("package-again"));
    let binary = workspace.binary("debug", "wharf");
    let made = make(workspace, &binary, &place)?;
    let of = |suffix: &str| -> Result<&PathBuf> {
        let found = made.iter().find(|file| file.to_string_lossy().ends_with(suffix));
        found.with_context(|| format!("there is no {suffix} among what was made"))
    };
    say("Installing each package");
    tarball(&place)?;
    debian(of(".deb")?, &place)?;
    bundle(of(".mcpb")?, &place)?;
    promise(workspace)?;
    image::check(workspace, of(".deb")?, &place)?;
    make(workspace, &binary, &again)?;
    let sums = |folder: &Path| fs::read_to_string(folder.join("SHA256SUMS"));
    expect(sums(&place)? == sums(&again)?, "the same program makes other packages the second time")?;
    for folder in [place, again] {
        fs::remove_dir_all(folder)?;
    }
    println!(
        "package: the tarball, the package of Debian and the bundle install and are the same the second time; the image serves"
    );
    Ok(())
}

fn version_of(program: &Path) -> Result<String> {
    command::capture(Command::new(program).arg("--version"))
}

fn tarball(place: &Path) -> Result<()> {
    let prefix = place.join("prefix");
    let install = || {
        let mut install = Command::new(place.join("install.sh"));
        install.arg("--prefix").arg(&prefix);
        install
    };
    command::capture(&mut install())?;
    expect(version_of(&prefix.join("bin/wharf"))?.starts_with("wharf "), "the installed program does not run")?;
    let files = [
        "share/bash-completion/completions/wharf",
        "share/man/man1/wharf-serve.1",
        "share/doc/wharf/licences.txt",
        "share/doc/wharf/sbom.cdx.json",
        "lib/systemd/system/wharf.service",
        "lib/systemd/system/wharf.socket",
    ];
    for file in files {
        expect(prefix.join(file).is_file(), &format!("{file} is not installed"))?;
    }
    let licences = fs::read_to_string(prefix.join("share/doc/wharf/licences.txt"))?;
    for part in ["wasmtime ", "tokio ", "Apache License", "ZETETIC", "sqlcipher-src "] {
        expect(licences.contains(part), &format!("the licences lack {part:?}"))?;
    }
    let bill: Value = serde_json::from_str(&fs::read_to_string(prefix.join("share/doc/wharf/sbom.cdx.json"))?)?;
    let parts = bill["components"].as_array().map(Vec::as_slice).unwrap_or_default();
    expect(parts.len() > 100, "the bill has too few parts")?;
    // The last one is compiled of sources that a dependency of a build brings.
    for part in ["wasmtime", "libsqlite3-sys", "openssl-src"] {
        expect(parts.iter().any(|found| found["name"] == part), &format!("the bill lacks {part}"))?;
    }
    units(&prefix)?;
    command::capture(install().arg("--uninstall"))?;
    expect(!prefix.join("bin/wharf").exists(), "the program stays when it is taken out")?;

    // What is not what its digest says is not installed.
    let sums = place.join("SHA256SUMS");
    let right = fs::read_to_string(&sums)?;
    let wrong: String = right.chars().map(|digit| if digit == 'a' { 'b' } else { digit }).collect();
    fs::write(&sums, wrong)?;
    let refused = install().output()?;
    fs::write(&sums, right)?;
    expect(
        !refused.status.success() && !prefix.join("bin/wharf").exists(),
        "a tarball with another digest is installed",
    )?;
    signatures(place, &prefix)
}

/// What another key has signed, or nobody, is not installed where a signer is named.
fn signatures(place: &Path, prefix: &Path) -> Result<()> {
    if !command::exists("ssh-keygen") {
        say("NOT TESTED: signatures, without ssh-keygen");
        return Ok(());
    }
    let (key, other) = (place.join("key"), place.join("other"));
    for key in [&key, &other] {
        let mut ssh = Command::new("ssh-keygen");
        command::capture(ssh.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(key))?;
    }
    let installs = |key: &Path| -> Result<bool> {
        let mut install = Command::new(place.join("install.sh"));
        let tried = install.arg("--prefix").arg(prefix).arg("--signer").arg(key.with_extension("pub")).output()?;
        Ok(tried.status.success() && prefix.join("bin/wharf").exists())
    };
    let sums = place.join("SHA256SUMS");
    expect(!installs(&key)?, "what nobody has signed is installed")?;
    let signature = sign(&sums, &key)?;
    expect(!installs(&other)?, "what another key has signed is installed")?;
    let right = fs::read_to_string(&sums)?;
    fs::write(&sums, format!("{right}\n"))?;
    expect(!installs(&key)?, "what was changed after it was signed is installed")?;
    fs::write(&sums, right)?;
    expect(installs(&key)?, "what the named key has signed is not installed")?;
    fs::remove_file(signature)?;
    Ok(())
}

/// What covers a part of `/proc` in a unit. Linux forbids a namespace its own `/proc` then, and programs
/// of tools would be contained by less.
const COVERING: [&str; 5] =
    ["ProtectKernelTunables=", "ProtectKernelLogs=", "ProtectHostname=", "ProtectProc=", "ProcSubset="];

/// The most that `systemd-analyze security` may find exposed, in tenths. 48 before system calls and
/// families of sockets were restricted, 36 now by systemd 252; what is left is what namespaces need.
const EXPOSED: u32 = 40;

/// Whether systemd understands the units, where it is there to ask. Here the program is below the prefix.
fn units(prefix: &Path) -> Result<()> {
    let units = prefix.join("lib/systemd/system");
    let service = fs::read_to_string(units.join("wharf.service"))?;
    let covering = COVERING.into_iter().find(|name| service.lines().any(|line| line.starts_with(name)));
    expect(covering.is_none(), &format!("wharf.service has {}, which forbids namespaces", covering.unwrap_or("")))?;
    if !command::exists("systemd-analyze") {
        say("NOT TESTED: the units of systemd, which is not on this machine");
        return Ok(());
    }
    let here = |name: &str| prefix.join(name);
    fs::write(here("wharf.service"), service.replace("/usr/bin/wharf", &prefix.join("bin/wharf").to_string_lossy()))?;
    fs::copy(units.join("wharf.socket"), here("wharf.socket"))?;
    let mut verify = Command::new("systemd-analyze");
    verify.args(["verify", "--man=no"]).args([here("wharf.service"), here("wharf.socket")]);
    let checked = verify.output()?;
    let said = String::from_utf8_lossy(&checked.stderr);
    let complaints: Vec<_> = said.lines().filter(|line| line.contains("wharf.")).collect();
    expect(complaints.is_empty(), &format!("systemd says of the units: {}", complaints.join("; ")))?;
    let mut security = Command::new("systemd-analyze");
    security.args(["security", "--no-pager", "--offline=true", &format!("--threshold={EXPOSED}")]);
    let judged = security.arg(here("wharf.service")).output()?;
    let said = String::from_utf8_lossy(&judged.stdout);
    let verdict = said.lines().last().unwrap_or_default().trim();
    expect(judged.status.success(), &format!("systemd says of the unit: {verdict}"))
}

/// What the book says of the C library.
fn promise(workspace: &Workspace) -> Result<()> {
    let book = fs::read_to_string(workspace.root.join("docs/src/operating/packages.md"))?;
    let said = format!("glibc {}", c_library::PROMISED);
    expect(book.contains(&said), &format!("packages.md does not say {said:?}"))
}

fn debian(package: &Path, place: &Path) -> Result<()> {
    let field = |name: &str| command::capture(Command::new("dpkg-deb").arg("--field").arg(package).arg(name));
    expect(field("Depends")?.contains("libc6 (>= 2."), "the package of Debian names no C library")?;
    let root = place.join("root");
    command::capture(Command::new("dpkg-deb").arg("--extract").arg(package).arg(&root))?;
    expect(version_of(&root.join("usr/bin/wharf"))?.starts_with("wharf "), "the program of the package does not run")
}

/// The bundle, unpacked and started as its manifest says.
fn bundle(file: &Path, place: &Path) -> Result<()> {
    let folder = place.join("bundle");
    command::capture(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(file).arg(&folder))?;
    let manifest: Value = serde_json::from_str(&fs::read_to_string(folder.join("manifest.json"))?)?;
    let server = &manifest["server"]["mcp_config"];
    let here = folder.to_string_lossy();
    let filled = |text: &Value| {
        let profile = manifest["user_config"]["profile"]["default"].as_str().unwrap_or_default();
        text.as_str().unwrap_or_default().replace("${__dirname}", &here).replace("${user_config.profile}", profile)
    };
    let program = filled(&server["command"]);
    // Python's module unpacks without the mode, which clients set.
    command::capture(Command::new("chmod").arg("+x").arg(&program))?;
    let arguments: Vec<_> = server["args"].as_array().into_iter().flatten().map(filled).collect();
    let hello = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\
                 \"capabilities\":{},\"clientInfo\":{\"name\":\"check\",\"version\":\"1\"}}}";
    let mut client = Command::new("sh");
    client.args(["-c", "printf '%s\\n' \"$HELLO\" | \"$@\"", "sh", &program]).args(&arguments);
    client.arg("--data").arg(place.join("data")).env("HELLO", hello);
    let answer = command::capture(&mut client)?;
    expect(answer.contains("serverInfo"), "the bundle's program does not answer a client")
}
