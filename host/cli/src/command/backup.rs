//! `wharf backup`: the data directory as one file.

use std::{
    io::{self, BufWriter, IsTerminal as _, Write, stderr, stdout},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use serde_json::json;
use wharf::backup::{BackupError, BackupManifest, BackupPart, BackupReport, back_up};

use crate::{
    bytes::size,
    exit::{Misused, Unusable},
    global::Global,
    operated,
    output_file::OutputFile,
    print::{self, print_json},
};

/// Write the data directory as one file, while hosts serve
///
/// The file has what plugins keep, the plugins that were added, the files of
/// sessions, the audit and recordings of terminals. What hosts acknowledged
/// before the command began is in it. State and plugins are of one moment each;
/// files and lines are as they are when their turn comes. Hosts go on meanwhile.
///
/// It has no compiled code, no tokens or other secrets, and nothing of processes
/// and terminals. wharf.toml is not in the data directory: keep it, too.
///
/// The file holds what plugins and sessions keep in the clear. Treat it like the
/// data directory. `wharf restore` verifies that it is whole, and not who wrote it.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wharf backup wharf.backup                             everything that a restore needs
  wharf backup nightly.backup --replace                 in the place of the last one
  wharf backup small.backup --without workspaces,audit  less
  wharf backup - | ssh elsewhere 'cat > wharf.backup'   through a pipe
  wharf restore wharf.backup --data elsewhere           a data directory made of it")]
pub(super) struct BackupArguments {
    /// The file, which appears once it is whole and is readable by its owner alone; `-` writes to standard output, and a device or a pipe gets it as it comes
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Replace a file that is there
    #[arg(long)]
    replace: bool,

    /// Leave this part out; several with commas, or several times
    #[arg(long, value_name = "PART", value_enum, value_delimiter = ',')]
    without: Vec<PartChoice>,

    /// Print one JSON object that says what is in the backup and what is not; with `-` on standard error
    #[arg(long)]
    json: bool,
}

/// What `--without` takes.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum PartChoice {
    /// What plugins keep
    State,
    /// The plugins that were added
    Plugins,
    /// The files of sessions
    Workspaces,
    /// The audit
    Audit,
    /// Recordings of terminals
    Recordings,
}

impl From<PartChoice> for BackupPart {
    fn from(choice: PartChoice) -> Self {
        match choice {
            PartChoice::State => Self::State,
            PartChoice::Plugins => Self::Plugins,
            PartChoice::Workspaces => Self::Workspaces,
            PartChoice::Audit => Self::Audit,
            PartChoice::Recordings => Self::Recordings,
        }
    }
}

impl BackupArguments {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        if self.file.as_os_str() == "-" {
            if stdout().is_terminal() {
                return Err(
                    Misused("a terminal shows no backup; name a file, or a program that reads it".to_owned()).into()
                );
            }
            // A cut backup must not pass for a whole one, so a reader that goes is an error.
            let mut out = BufWriter::new(stdout().lock());
            let report = self.back_up(global, &mut out)?;
            out.flush().context("the backup cannot be written")?;
            let mut told = stderr().lock();
            match self.json {
                true => serde_json::to_writer_pretty(&mut told, &report)?,
                false => tell(&mut told, None, &report)?,
            }
            if self.json {
                writeln!(told)?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        let cannot = || format!("cannot write {}", self.file.display());
        let opened = if self.replace { OutputFile::open(&self.file) } else { OutputFile::open_new(&self.file) };
        let mut output = match opened {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                anyhow::bail!(
                    "{} is there already; name another file, or replace it with --replace",
                    self.file.display()
                )
            }
            opened => opened.with_context(cannot)?,
        };
        let report = self.back_up(global, &mut output)?;
        output.finish().with_context(cannot)?;
        if self.json {
            let mut told = serde_json::to_value(&report)?;
            told["file"] = json!(self.file);
            print_json(&told)?;
        } else {
            let mut out = print::listing();
            tell(&mut out, Some(&self.file), &report)?;
            out.flush()?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn back_up(&self, global: &Global, out: &mut dyn Write) -> Result<BackupReport> {
        let configuration = global.configuration()?;
        let data = global.data(&configuration)?;
        let without = self.without.iter().map(|part| BackupPart::from(*part)).collect();
        let step = global.progress().step(format!("backing up {}", data.display()));
        let report = back_up(&configuration, &data, &without, out, &mut |bytes| step.came(bytes));
        let report = report.map_err(|error| match error {
            BackupError::Write(_) => anyhow::Error::from(error),
            _ => Unusable(wharf::with_causes(&error)).into(),
        })?;
        operated::tell(&configuration, &data, "backup", &self.file.display().to_string());
        Ok(report)
    }
}

fn tell(out: &mut dyn Write, file: Option<&Path>, report: &BackupReport) -> io::Result<()> {
    let file = file.map(|file| format!("{}: ", file.display())).unwrap_or_default();
    let (bytes, archive) = (size(report.bytes), size(report.archive_bytes));
    writeln!(out, "{file}{} files and directories, {bytes}, in {archive}", report.entries)?;
    tell_manifest(out, &report.manifest)?;
    if report.files_left_out > 0 {
        writeln!(out, "{} files could not be read:", report.files_left_out)?;
        for path in &report.files_left_out_named {
            writeln!(out, "  {path}")?;
        }
    }
    Ok(())
}

/// What a backup has, and what it has not.
pub(super) fn tell_manifest(out: &mut dyn Write, manifest: &BackupManifest) -> io::Result<()> {
    let parts: Vec<_> = manifest.contains.iter().map(|part| part.name()).collect();
    writeln!(out, "In it: {}", if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") })?;
    writeln!(out, "Not in it:")?;
    for left_out in &manifest.left_out {
        let (what, why) = (wharf::text::line(&left_out.what, 128), wharf::text::line(&left_out.why, 512));
        writeln!(out, "  {what}: {why}")?;
    }
    for note in &manifest.notes {
        writeln!(out, "{}", wharf::text::line(note, 512))?;
    }
    Ok(())
}
