//! Why an engine cannot start, a plugin cannot be loaded, a call failed.

use wasmtime::Trap;
use wharf_core::{Code, Error, text};

use crate::{budget::ExceededLimit, call::ActiveCall};

/// Why the engine cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The runtime refuses its settings.
    #[error("the Wasm runtime cannot start: {0}")]
    Runtime(String),
    /// The system gives no thread.
    #[error("cannot start a thread")]
    Thread(#[source] std::io::Error),
}

/// Why a plugin cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// It is larger than allowed.
    #[error("the component has {bytes} bytes, more than {limit} (limit `component_bytes`)")]
    TooLarge {
        /// Its size.
        bytes: u64,
        /// What is allowed.
        limit: u64,
    },
    /// It is a core module.
    #[error(
        "this is a core Wasm module and no component; build it for the target wasm32-wasip2, or wrap it with \
         `wasm-tools component new`"
    )]
    CoreModule,
    /// It is neither.
    #[error("this is no Wasm component: it does not start with the bytes `\\0asm`")]
    NotWasm,
    /// It starts like a component and does not go on like one.
    #[error("the component is damaged or truncated: {0}")]
    Malformed(String),
    /// Compiling it takes too long.
    #[error(
        "compiling the component takes longer than {milliseconds} ms (limit `compile_milliseconds` under [host.limits])"
    )]
    CompileTime {
        /// What is allowed.
        milliseconds: u64,
    },
    /// The process that compiles it ended, most likely for want of memory.
    #[error(
        "compiling the component failed with {exit}; it may need more than {memory_bytes} bytes of memory (limit \
         `compile_memory_bytes` under [host.limits]){}{complaint}", if complaint.is_empty() { "" } else { ": " }
    )]
    CompileCrash {
        /// How it ended.
        exit: String,
        /// What it said last.
        complaint: String,
        /// What is allowed.
        memory_bytes: u64,
    },
    /// The process that compiles cannot be had.
    #[error("the component cannot be compiled here: {0}")]
    Compiler(String),
    /// What the compiling process answered is not the code of the component.
    #[error(
        "the compiled code is not that of the component, and is not used: {0}; do not use this component before its maker \
         and Wharf's know of it, since it may have taken over the process that compiles"
    )]
    Miscompiled(String),
    /// Nobody waits for it any more.
    #[error("compiling the component was stopped, since the host ends")]
    Stopped,
    /// It is right, and needs more than any instance here gets.
    #[error("the component needs more than this host has for one: {0}")]
    Demanding(String),
    /// It imports what the host does not have.
    #[error(
        "the component imports what this host does not offer: {0}; it was built for another world or a newer \
         version of wharf:plugin"
    )]
    Import(String),
    /// It imports a draft of WASI in a version that the host does not have.
    #[error("the component imports `{import}`, a draft; this host offers {offered}: build it against one of these")]
    Draft {
        /// What it imports.
        import: String,
        /// What there is of the same package.
        offered: String,
    },
    /// It does not export `tools`.
    #[error("the component does not export wharf:plugin/tools@0.1: {0}; build it for the world wharf:plugin/plugin")]
    World(String),
    /// It exports functions and no `tools`.
    #[error(
        "the component does not export wharf:plugin/tools@0.1: {0}; build it for the world wharf:plugin/plugin, or have \
         each of its functions be a tool: `--functions`, or `functions = true` under its [plugin.NAME]"
    )]
    Functions(String),
    /// Its functions were to be tools, and none can be.
    #[error("the component has no function that can be a tool: {0}")]
    NoFunctions(String),
    /// Its functions were to be tools, though it lists its tools itself.
    #[error(
        "the component exports wharf:plugin/tools and lists its tools itself; leave out `--functions`, and `functions` \
         under its [plugin.NAME]"
    )]
    HasTools,
    /// Its exports beside `tools` differ from the contract.
    #[error("the component exports less than the contract has: {0}; build it against the text that it names")]
    Offer(String),
    /// It failed while it listed its tools, or what else it offers.
    #[error("the plugin could not list its tools")]
    Metadata(#[source] Error),
    /// It lists tools that break the contract.
    #[error("the plugin is refused: {0}")]
    Refused(String),
    /// The engine itself failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// The whole chain of an error of the runtime, without its backtrace.
pub(crate) fn reason(error: &wasmtime::Error) -> String {
    let mut causes: Vec<String> = Vec::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        // A backtrace names the plugin's functions, which tell a client nothing.
        if !cause.starts_with("error while executing") && !causes.contains(&cause) {
            causes.push(cause);
        }
    }
    // It quotes names that the component has chosen.
    text::visible(causes.join(": "))
}

/// What the client is told of a call that the runtime ended.
pub(crate) fn of_call(error: &wasmtime::Error, call: &ActiveCall, stack_bytes: u64) -> Error {
    let ActiveCall { clock, budget, .. } = call;
    if let Some(told) = clock.stopped().and_then(|why| clock.describe(why)) {
        return told;
    }
    if let Some(exceeded) = error.downcast_ref::<ExceededLimit>().copied().or_else(|| budget.exceeded()) {
        return exceeded.into();
    }
    if let Some(trap) = error.downcast_ref::<Trap>() {
        return match trap {
            Trap::StackOverflow => Error::new(
                Code::Limit,
                format!("the tool was stopped: its stack exceeds {stack_bytes} bytes (limit `stack_bytes`)"),
            ),
            Trap::UnreachableCodeReached => Error::new(
                Code::Internal,
                "the tool panicked; the host's log has what it wrote. This call had no further effect",
            ),
            other => Error::new(Code::Internal, format!("the tool failed: {other}")),
        };
    }
    if let Some(exit) = error.downcast_ref::<wasmtime_wasi::I32Exit>() {
        return Error::new(Code::Internal, format!("the tool exited with code {} instead of answering", exit.0));
    }
    if error.downcast_ref::<wasmtime::PoolConcurrencyLimitError>().is_some() {
        return Error::retryable(Code::Limit, "the host runs as many instances as it can; try again later");
    }
    let text = reason(error);
    // These have no type of their own in the runtime.
    if text.contains("fuel allocated for hostcalls") {
        return Error::new(
            Code::Limit,
            "the tool was stopped: its answer or one of its host calls is far too large (limits `output_bytes` and \
             `host_call_bytes`)",
        );
    }
    let counts = [("instance count", "instances"), ("memory count", "memories"), ("table count", "tables")];
    for (count, limit) in counts {
        if text.contains(&format!("resource limit exceeded: {count}")) {
            return Error::new(Code::Limit, format!("the component has too many {limit} (limit `{limit}`)"));
        }
    }
    if text.contains("exceeds memory limits") {
        return Error::new(Code::Limit, format!("the tool was stopped: {text} (limit `memory_bytes`)"));
    }
    Error::new(Code::Internal, format!("the tool failed: {text}"))
}
