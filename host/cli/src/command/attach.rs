//! `wharf attach`: a terminal of a session, live in the operator's own.

use std::{
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
};

use anyhow::{Result, bail};
use clap::Args;
use tokio::{io::AsyncReadExt as _, sync::mpsc};
use wharf::control::{ControlError, TerminalAttachment, TerminalFrame};
use wharf::service::operator::OperatorList;

use crate::{
    exit::FAILED,
    global::{Global, runtime},
    hosts,
    own_terminal::{RawTerminal, Resizes, size},
};

/// What detaches: Ctrl-], as of telnet.
const DETACH: u8 = 0x1d;
/// Leaves nothing of the terminal that was shown: modes, colours, cursor.
const RESET: &[u8] =
    b"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?1l\x1b>\x1b[0m\x1b[?25h\x1b[r\x1b[?1049l\r\n";

/// Show a terminal of a session live in your own
///
/// What you type goes to its program, unless --read-only. Ctrl-] detaches; the
/// program goes on. Your terminal should be at least as large as the one that
/// is shown; --resize makes that one as large as yours. Without a terminal of
/// your own the output is written as it comes.
#[derive(Debug, Args)]
pub(super) struct AttachArguments {
    /// Which terminal; `wharf terminals` lists them. The beginning of an id will do
    id: String,

    /// Only watch: nothing that you type reaches the program
    #[arg(long)]
    read_only: bool,

    /// Type while a turn of a tool runs, too: it is taken for a part of that
    #[arg(long, conflicts_with = "read_only")]
    force: bool,

    /// Give the terminal the size of yours, now and when yours changes
    #[arg(long, conflicts_with = "read_only")]
    resize: bool,
}

impl AttachArguments {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let data = global.data(&global.configuration()?)?;
        let runtime = runtime()?;
        let shown = runtime.block_on(async {
            let attachment = self.find(&data).await?;
            self.show(attachment).await
        });
        // A blocked read of standard input must not keep the process alive.
        runtime.shutdown_background();
        shown
    }

    /// Attaches to the one terminal whose id begins so.
    async fn find(&self, data: &std::path::Path) -> Result<TerminalAttachment> {
        let hosts = hosts::running(data)?;
        let mut found = Vec::new();
        for host in &hosts {
            let ids = host.list(OperatorList::Terminals).await.unwrap_or_default().into_iter();
            let ids = ids.filter_map(|terminal| terminal["id"].as_str().map(str::to_owned));
            found.extend(ids.filter(|id| id.starts_with(&self.id)).map(|id| (host, id)));
        }
        match found.as_slice() {
            [(host, id)] => Ok(host.attach(id, self.read_only).await?),
            [] if hosts.is_empty() => {
                bail!("no host serves on {}; name its data directory with --data", data.display())
            }
            [] => bail!("no terminal's id begins with `{}`; `wharf terminals` lists them", self.id),
            many => bail!("{} terminals' ids begin with `{}`; give more of it", many.len(), self.id),
        }
    }

    async fn show(&self, mut attachment: TerminalAttachment) -> Result<ExitCode> {
        let interactive = io::stdin().is_terminal() && io::stdout().is_terminal();
        let mut raw = if interactive { Some(RawTerminal::enter()?) } else { None };
        let mut typed = (raw.is_some() || !self.read_only).then(keys);
        let mut resized = Resizes::watch()?;
        if self.resize {
            take_size(&mut attachment).await?;
        }
        let end = loop {
            tokio::select! {
                frame = attachment.next() => match frame? {
                    Some(TerminalFrame::Screen { bytes, columns, rows }) => {
                        if raw.is_some() {
                            draw(b"\x1b[H\x1b[2J\x1b[3J")?;
                            warn_if_small(columns, rows);
                        }
                        draw(&bytes)?;
                    }
                    Some(TerminalFrame::Output(bytes)) => draw(&bytes)?,
                    Some(TerminalFrame::Resized { columns, rows }) if raw.is_some() => warn_if_small(columns, rows),
                    Some(TerminalFrame::Resized { .. }) => {}
                    // Typed again once the host takes it; until then the bell.
                    Some(TerminalFrame::Refused(_)) if raw.is_some() => draw(b"\x07")?,
                    Some(TerminalFrame::Refused(message)) => eprintln!("{}", wharf::text::line(&message, 512)),
                    Some(TerminalFrame::Ended(message)) => break message,
                    None => break "the host has ended".to_owned(),
                },
                bytes = next(&mut typed), if typed.is_some() => match bytes {
                    Some(bytes) => {
                        let detach = bytes.iter().position(|byte| *byte == DETACH).filter(|_| raw.is_some());
                        let bytes = bytes[..detach.unwrap_or(bytes.len())].to_vec();
                        if !self.read_only && !bytes.is_empty() {
                            attachment.type_bytes(bytes, self.force).await?;
                        }
                        if detach.is_some() {
                            break "detached; the program goes on".to_owned();
                        }
                    }
                    // Standard input has ended; what comes is still shown.
                    None => typed = None,
                },
                () = resized.next(), if self.resize => take_size(&mut attachment).await?,
            }
        };
        if let Some(raw) = raw.take() {
            draw(RESET)?;
            drop(raw);
        }
        eprintln!("[{}]", wharf::text::line(&end, 512));
        Ok(ExitCode::from(if end.starts_with("the host") { FAILED } else { 0 }))
    }
}

fn draw(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

fn warn_if_small(columns: u16, rows: u16) {
    let Some((own_columns, own_rows)) = size() else { return };
    if own_columns < columns || own_rows < rows {
        eprint!("[{columns}x{rows} is larger than this terminal: enlarge it, or attach with --resize]\r\n");
    }
}

async fn take_size(attachment: &mut TerminalAttachment) -> Result<(), ControlError> {
    let Some((columns, rows)) = size() else { return Ok(()) };
    attachment.resize(columns, rows).await
}

/// What is typed here.
fn keys() -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel(16);
    tokio::spawn(async move {
        let mut input = tokio::io::stdin();
        let mut buffer = [0; 1024];
        while let Ok(count @ 1..) = input.read(&mut buffer).await {
            if sender.send(buffer[..count].to_vec()).await.is_err() {
                return;
            }
        }
    });
    receiver
}

async fn next(typed: &mut Option<mpsc::Receiver<Vec<u8>>>) -> Option<Vec<u8>> {
    typed.as_mut()?.recv().await
}
