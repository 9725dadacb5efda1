//! `wharf audit verify`: whether lines were changed, taken out or cut off.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
    time::SystemTime,
};

use anyhow::Result;
use clap::Args;
use serde_json::json;
use wharf::{
    audit::{AuditFinding, AuditKey, AuditNote, AuditVerdict, RequiredSignatures, VerifiedFile, directory, verify},
    text,
};

use super::filters;
use crate::{
    exit::{FAILED, Unusable},
    global::Global,
    print::{self, print_json},
};

/// Say whether lines were changed, taken out or cut off
///
/// Each line ends with a digest of itself and of all lines before it in its file, and each file names
/// the one before it. The command computes all of it again, also while hosts write. It exits with 1 where
/// something is wrong. Nobody can tell by the files alone whether the end of the last one is gone: keep a
/// chain that this prints elsewhere, and name it later. Without signatures, a program that can write the
/// files can make all chains anew. With `key` under `[audit]` hosts sign them, and `--key` requires that:
/// lines without a signature are a fault, unless they were written in the last two minutes.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wharf audit verify                        all files below the data directory
  wharf audit verify --json                 the same as one JSON object, with the last chain of each file
  wharf audit verify --key audit.pub        and the key of `[audit]` has signed all lines
  wharf audit verify --key audit.pub --signed-since 2026-11-22T18:00:00Z
                                            all since then, when hosts got the key
  wharf audit verify --chain HEX            and this chain, which was kept elsewhere, is in one of them")]
pub(super) struct Verify {
    /// A chain that has to be in a file: 64 hexadecimal digits; several times for several
    #[arg(long, value_name = "HEX", value_parser = chain)]
    chain: Vec<String>,

    /// The key of hosts, of which the public half is enough: it must have signed each line; several times where one of several must have
    #[arg(long, value_name = "FILE")]
    key: Vec<PathBuf>,

    /// Lines before this need no signature, since hosts had no key: 90s, 15m, 2h, 7d ago, or a time such as 2026-11-22T18:00:00Z
    #[arg(long, value_name = "TIME", value_parser = filters::time, requires = "key")]
    signed_since: Option<SystemTime>,

    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

fn chain(written: &str) -> Result<String, String> {
    let is_chain = written.len() == 64 && written.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_chain { Ok(written.to_ascii_lowercase()) } else { Err("a chain is 64 hexadecimal digits".to_owned()) }
}

fn key(path: &Path) -> Result<AuditKey> {
    let unusable = |problem: &dyn std::fmt::Display| {
        Unusable(format!("{} is no key: {problem}", text::line(&path.display().to_string(), 512)))
    };
    let pem = fs::read(path).map_err(|error| unusable(&error))?;
    Ok(AuditKey::read(&pem).map_err(|error| unusable(&error))?)
}

impl Verify {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let directory = directory(&global.data(&global.configuration()?)?);
        let keys = self.key.iter().map(|path| key(path)).collect::<Result<Vec<_>>>()?;
        let is_signed = !keys.is_empty();
        let required = RequiredSignatures::by(keys).since(self.signed_since);
        let verdict = verify(&directory, &self.chain, &required).map_err(|error| {
            Unusable(format!(
                "the audit in {} cannot be read: {error}",
                text::line(&directory.display().to_string(), 512)
            ))
        })?;
        if self.json {
            print_json(&json!({"whole": verdict.is_whole(), "files": verdict.files, "lost": verdict.lost,
                "empty": verdict.empty}))?;
        } else {
            tell(&verdict, is_signed)?;
        }
        Ok(if verdict.is_whole() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
    }
}

fn tell(verdict: &AuditVerdict, is_signed: bool) -> io::Result<()> {
    let mut out = print::listing();
    for file in &verdict.files {
        let name = text::line(&file.file, 256);
        for finding in &file.findings {
            writeln!(out, "{name}: {}", wrong(finding))?;
        }
        let more = file.faults.saturating_sub(file.findings.len() as u64);
        if more > 0 {
            writeln!(out, "{name}: {more} more like these")?;
        }
        for note in &file.notes {
            writeln!(out, "{name}: {}", noted(note))?;
        }
    }
    if is_signed {
        for file in &verdict.files {
            let signed = file.signed.unwrap_or(0);
            writeln!(out, "{}: {signed} of {} lines are signed", text::line(&file.file, 256), file.lines)?;
        }
    }
    for chain in &verdict.lost {
        writeln!(out, "the chain {chain} is in no file: lines were cut off, or their file is gone")?;
    }
    if verdict.empty {
        writeln!(out, "no line is there that the key could have signed: a host that serves with it writes some")?;
    }
    let lines: u64 = verdict.files.iter().map(|file| file.lines).sum();
    let faults = verdict.files.iter().map(|file| file.faults).sum::<u64>()
        + verdict.lost.len() as u64
        + u64::from(verdict.empty);
    let counted = format!("{lines} line(s) in {} file(s)", verdict.files.len());
    match (faults, verdict.files.is_empty()) {
        (0, true) => writeln!(out, "there is no file: no host wrote a line yet, or all of them are gone")?,
        (0, false) => writeln!(out, "{counted}: nothing was changed, taken out or cut off")?,
        _ => writeln!(out, "{counted}: {faults} fault(s)")?,
    }
    if let Some((file, chain)) = verdict.files.iter().rev().find_map(chain_of) {
        writeln!(out, "the chain of {} stands at {chain}", text::line(file, 256))?;
    }
    out.flush()
}

fn chain_of(file: &VerifiedFile) -> Option<(&str, &str)> {
    Some((file.file.as_str(), file.chain.as_deref()?))
}

fn wrong(finding: &AuditFinding) -> String {
    match finding {
        AuditFinding::Changed { line } => format!("line {line} was changed, or lines before it are gone"),
        AuditFinding::Foreign { line } => format!("line {line} is none that a host wrote"),
        AuditFinding::Forged { line } => format!("the signature in line {line} is not of its key"),
        AuditFinding::Unsigned { after: 0 } => "no line has a signature of the key".to_owned(),
        AuditFinding::Unsigned { after } => format!(
            "lines after {after} have no signature of the key: a host that was killed leaves some until the next one \
             goes on with the file, and others can have written them"
        ),
        AuditFinding::Headless => "its beginning is gone, or it had another name".to_owned(),
        AuditFinding::Cut { said_by } => {
            format!("lines are gone that {} says it had", text::line(said_by, 256))
        }
        AuditFinding::Missing { file } => format!("{}, which was before it, is gone", text::line(file, 256)),
        _ => "it is not what hosts wrote".to_owned(),
    }
}

fn noted(note: &AuditNote) -> String {
    match note {
        AuditNote::Unfinished { line } => format!("line {line} is unfinished: a host ended while it wrote it"),
        AuditNote::OtherKey { key } => format!("the key {} signed lines of it", text::line(key, 64)),
        AuditNote::WithoutChain => "a version without chains wrote it, so nothing is known of it".to_owned(),
        AuditNote::Removed { file } => format!("{}, which was before it, made room", text::line(file, 256)),
        AuditNote::Oldest { file } => {
            format!("it is the oldest of its kind; {}, which was before it, is gone", text::line(file, 256))
        }
        _ => "something is noted that this version does not know".to_owned(),
    }
}
