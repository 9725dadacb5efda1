//! Plays a scripted program: this very program, started in the place of another one, with its
//! pipes or its terminal.

use std::{
    ffi::OsStr,
    fs,
    io::{self, BufRead as _, Read as _, Write as _},
    path::Path,
    process::ExitCode,
    thread,
    time::Duration,
};

use super::script::{Chunk, ProgramAnswer, ProgramScript};

/// The first argument of a start that plays a script; no command has this name.
pub(super) const PLAY: &str = "--play-scripted-program";

/// The longest line that is read.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// How it exits where its script cannot be played, as a shell does where a program cannot run.
const UNPLAYABLE: u8 = 126;

/// Plays the script of this start, where it is one. Asked before the command line is read, since
/// what stands in for a program has none.
pub(crate) fn play() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() != Some(OsStr::new(PLAY)) {
        return None;
    }
    let script = arguments.next().unwrap_or_default();
    let played = read(Path::new(&script)).and_then(|script| played(&script));
    Some(match played {
        Ok(code) => ExitCode::from(code),
        // Its reader has gone, as for any program.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("wharf test: the script cannot be played: {error}");
            ExitCode::from(UNPLAYABLE)
        }
    })
}

fn read(file: &Path) -> io::Result<ProgramScript> {
    Ok(serde_json::from_slice(&fs::read(file)?)?)
}

/// Plays to the end, and says how it exits.
fn played(script: &ProgramScript) -> io::Result<u8> {
    print(script.after_milliseconds, &script.stdout, &script.stderr)?;
    for Chunk { stdout, stderr, after_milliseconds } in &script.then {
        print(*after_milliseconds, stdout, stderr)?;
    }
    if script.reads() {
        let exited = answer_lines(script)?;
        if let Some(code) = exited {
            return Ok(code);
        }
    }
    if script.never_ends {
        wait_for_ever();
    }
    Ok(script.code)
}

/// Answers line by line until the input ends, or an answer exits.
fn answer_lines(script: &ProgramScript) -> io::Result<Option<u8>> {
    let mut input = io::stdin().lock();
    loop {
        print(0, &script.prompt, "")?;
        let mut line = Vec::new();
        if input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end_matches(['\n', '\r']);
        // A line that no answer is about is answered with nothing.
        let Some(answer) = script.answers.iter().find(|answer| answer.input == line) else { continue };
        let ProgramAnswer { stdout, stderr, after_milliseconds, exits, never_ends, .. } = answer;
        print(*after_milliseconds, stdout, stderr)?;
        if *never_ends {
            wait_for_ever();
        }
        if exits.is_some() {
            return Ok(*exits);
        }
    }
}

fn print(after_milliseconds: u64, stdout: &str, stderr: &str) -> io::Result<()> {
    if after_milliseconds > 0 {
        thread::sleep(Duration::from_millis(after_milliseconds));
    }
    let mut out = io::stdout().lock();
    out.write_all(stdout.as_bytes())?;
    out.flush()?;
    let mut err = io::stderr().lock();
    err.write_all(stderr.as_bytes())?;
    err.flush()
}

/// Until somebody stops it.
fn wait_for_ever() -> ! {
    loop {
        thread::park();
    }
}
