//! Both sides of the child that compiles: the host's program, run again with a
//! hidden first argument, as supervisors are.
//!
//! It reads the component to the end of its input, and writes one byte (0 for
//! code, 1 for a refusal) and then the code or the reason.

use std::{
    io::{Read as _, Write as _},
    process::exit,
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    time::timeout,
};
use wharf_core::HostLimits;
use wharf_spawn::{ChildExit, ChildInput, ChildLimits, ChildOutput, Containment, SpawnRequest, Spawner};

use super::CompileTarget;
use crate::error::LoadError;

/// First argument that makes this program compile. No user types it.
const COMPILE: &str = "wharf-engine:compile";

const CODE: u8 = 0;
const REFUSED: u8 = 1;

/// The most that is kept of what the child says where it fails.
const MAX_COMPLAINT_BYTES: u64 = 4 << 10;
/// Code is larger than its component, yet not without bound.
const MAX_CODE_BYTES: u64 = 2 << 30;

/// Asks the child for code.
pub(crate) async fn compile(
    spawner: &Spawner,
    target: CompileTarget,
    component: &[u8],
    limits: &HostLimits,
) -> Result<Vec<u8>, LoadError> {
    let failed = |error: wharf_spawn::SpawnError| LoadError::Compiler(wharf_core::Error::from(error).message);
    let broken = |error: std::io::Error| LoadError::Compiler(error.to_string());
    let target = serde_json::to_string(&target).map_err(|error| LoadError::Compiler(error.to_string()))?;
    let milliseconds = limits.compile_milliseconds;
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let request = SpawnRequest {
        // This very program, even if its file has been replaced.
        program: "/proc/self/exe".into(),
        arguments: vec![COMPILE.into(), target.into()],
        environment: Vec::new(),
        working_directory: "/".into(),
        stdin: ChildInput::Pipe,
        stdout: ChildOutput::Pipe,
        stderr: ChildOutput::Pipe,
        descriptors: Vec::new(),
        limits: ChildLimits {
            // The clock below ends it first, unless the host hangs.
            cpu_seconds: Some(milliseconds.div_ceil(1_000).saturating_mul(cores)),
            memory_bytes: Some(limits.compile_memory_bytes),
            tree_memory_bytes: None,
            open_files: Some(256),
            processes: None,
            file_size_bytes: Some(0),
        },
        // It locks itself down before it reads anything.
        containment: Containment::None,
        user: None,
    };
    let mut child = spawner.spawn(request).await.map_err(failed)?;
    let (Some(mut input), Some(output), Some(complaints)) =
        (child.take_stdin(), child.take_stdout(), child.take_stderr())
    else {
        return Err(LoadError::Compiler("the compiling process has no pipes".to_owned()));
    };
    let give = async {
        // It may end before it has read everything, and then says why.
        let _ = input.write_all(component).await;
        drop(input);
    };
    let talk = async {
        let ((), answer, complaint) =
            tokio::join!(give, all(output, MAX_CODE_BYTES), all(complaints, MAX_COMPLAINT_BYTES));
        Ok::<_, std::io::Error>((answer?, complaint?))
    };
    let Ok(talked) = timeout(Duration::from_millis(milliseconds), talk).await else {
        // Dropping the child ends it.
        return Err(LoadError::CompileTime { milliseconds });
    };
    let (mut answer, complaint) = talked.map_err(broken)?;
    let ended = child.wait().await.map_err(failed)?;
    let kind = answer.first().copied();
    match (ended.exit, kind) {
        (ChildExit::Exited { code: 0 }, Some(CODE)) => {
            answer.remove(0);
            Ok(answer)
        }
        (ChildExit::Exited { code: 0 }, Some(REFUSED)) => {
            Err(LoadError::Malformed(String::from_utf8_lossy(&answer[1..]).into_owned()))
        }
        (exit, _) => {
            let complaint = String::from_utf8_lossy(&complaint).trim().to_owned();
            let exit = match exit {
                ChildExit::Exited { code } => format!("code {code}"),
                ChildExit::Signaled { signal } => format!("signal {signal}"),
            };
            Err(LoadError::CompileCrash { exit, complaint, memory_bytes: limits.compile_memory_bytes })
        }
    }
}

async fn all(stream: impl AsyncRead + Unpin, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(most).read_to_end(&mut bytes).await?;
    Ok(bytes)
}

/// Decides, before `main`, whether this process is here to compile.
#[ctor::ctor(unsafe)]
fn before_main() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|first| first != COMPILE) {
        return;
    }
    let target = arguments.next().and_then(|target| target.into_string().ok());
    let target = target.and_then(|target| serde_json::from_str(&target).ok());
    let Some(target) = target else { exit(EXIT_USAGE) };
    match serve(target) {
        Ok(()) => exit(0),
        Err(error) => {
            // The host that started it reads this.
            let _ = writeln!(std::io::stderr(), "{error}");
            exit(EXIT_FAILED)
        }
    }
}

const EXIT_USAGE: i32 = 64;
const EXIT_FAILED: i32 = 70;

fn serve(target: CompileTarget) -> std::io::Result<()> {
    wharf_spawn::lock_down()?;
    let mut component = Vec::new();
    std::io::stdin().lock().read_to_end(&mut component)?;
    let (kind, answer) = match target.compile(&component) {
        Ok(code) => (CODE, code),
        Err(reason) => (REFUSED, reason.into_bytes()),
    };
    let mut output = std::io::stdout().lock();
    output.write_all(&[kind])?;
    output.write_all(&answer)?;
    output.flush()
}
