//! Both sides of the child that compiles: the host's program, run again with a
//! hidden first argument, as supervisors are.
//!
//! It reads the functions that were kept, where there are to be any, and the component to the end of its
//! input. It writes one byte (0 for code, 1 for a refusal) and then the code and the functions to keep, or
//! the reason. What more follows has its length before it, in eight bytes, the lowest first.

use std::{
    io::{Read as _, Write as _},
    process::exit,
    time::Duration,
};

use bytes::{Buf as _, Bytes};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    time::timeout,
};
use wharf_core::HostLimits;
use wharf_spawn::{ChildExit, ChildInput, ChildLimits, ChildOutput, Containment, SpawnRequest, Spawner};

use super::{CompileTarget, Compiled};
use crate::error::LoadError;

/// First argument that makes this program compile. No user types it.
const COMPILE: &str = "wharf-engine:compile";

const CODE: u8 = 0;
const REFUSED: u8 = 1;

/// What the child is told by its second argument.
#[derive(serde::Serialize, serde::Deserialize)]
struct CompileOrder {
    target: CompileTarget,
    /// Whether functions come before the component, and go back after the code.
    keeps_functions: bool,
}

/// The most that is kept of what the child says where it fails.
const MAX_COMPLAINT_BYTES: u64 = 4 << 10;
/// Code is larger than its component, yet not without bound.
const MAX_CODE_BYTES: u64 = 2 << 30;

/// Asks the child for code; with functions that were kept, where there are to be any.
pub(crate) async fn compile(
    spawner: &Spawner,
    target: CompileTarget,
    component: &[u8],
    kept: Option<Bytes>,
    limits: &HostLimits,
) -> Result<Compiled, LoadError> {
    let failed = |error: wharf_spawn::SpawnError| LoadError::Compiler(wharf_core::Error::from(error).message);
    let broken = |error: std::io::Error| LoadError::Compiler(error.to_string());
    let order = CompileOrder { target, keeps_functions: kept.is_some() };
    let order = serde_json::to_string(&order).map_err(|error| LoadError::Compiler(error.to_string()))?;
    let milliseconds = limits.compile_milliseconds;
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let request = SpawnRequest {
        // This very program, even if its file has been replaced.
        program: "/proc/self/exe".into(),
        arguments: vec![COMPILE.into(), order.into()],
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
        if let Some(kept) = kept {
            let _ = input.write_all(&length(&kept)).await;
            let _ = input.write_all(&kept).await;
        }
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
    let (answer, complaint) = talked.map_err(broken)?;
    let ended = child.wait().await.map_err(failed)?;
    let kind = answer.first().copied();
    match (ended.exit, kind) {
        (ChildExit::Exited { code: 0 }, Some(CODE)) => made(Bytes::from(answer).split_off(1))
            .ok_or_else(|| LoadError::Compiler("the compiling process answers in part".to_owned())),
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

/// What stands before bytes that are followed by more.
fn length(bytes: &[u8]) -> [u8; 8] {
    (bytes.len() as u64).to_le_bytes()
}

/// Takes bytes with their length before them off the front; none where they are not whole.
fn take_counted(bytes: &mut Bytes) -> Option<Bytes> {
    let length = usize::try_from(bytes.try_get_u64_le().ok()?).ok()?;
    (length <= bytes.len()).then(|| bytes.split_to(length))
}

/// The code, and the functions behind it.
fn made(mut answer: Bytes) -> Option<Compiled> {
    let code = take_counted(&mut answer)?;
    Some(Compiled { code, functions: Some(answer).filter(|functions| !functions.is_empty()) })
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
    let order = arguments.next().and_then(|order| order.into_string().ok());
    let order = order.and_then(|order| serde_json::from_str(&order).ok());
    let Some(order) = order else { exit(EXIT_USAGE) };
    match serve(order) {
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

fn serve(CompileOrder { target, keeps_functions }: CompileOrder) -> std::io::Result<()> {
    wharf_spawn::lock_down()?;
    let mut input = Vec::new();
    std::io::stdin().lock().read_to_end(&mut input)?;
    let mut input = Bytes::from(input);
    let kept = if keeps_functions { take_counted(&mut input) } else { None };
    let mut output = std::io::stdout().lock();
    match target.compile(&input, kept) {
        Ok(Compiled { code, functions }) => {
            output.write_all(&[CODE])?;
            output.write_all(&length(&code))?;
            output.write_all(&code)?;
            output.write_all(&functions.unwrap_or_default())?;
        }
        Err(reason) => {
            output.write_all(&[REFUSED])?;
            output.write_all(reason.as_bytes())?;
        }
    }
    output.flush()
}
