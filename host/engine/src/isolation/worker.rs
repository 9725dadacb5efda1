//! The program of a worker: the host's program, run again with a hidden first argument, as
//! supervisors and compilers are.
//!
//! It has two sockets and nothing else: one for frames, one over which code comes. It locks itself
//! down before it reads from either.

use std::{
    collections::HashMap,
    io::{self, ErrorKind, Write as _},
    num::NonZero,
    os::fd::{FromRawFd as _, OwnedFd},
    process::exit,
    ptr::NonNull,
    sync::{Arc, OnceLock, atomic::AtomicUsize},
    time::Duration,
};

use bytes::{Buf as _, Bytes};
use parking_lot::Mutex;
use rustix::mm::{MapFlags, ProtFlags, mmap};
use tokio_util::sync::CancellationToken;
use wasmtime::component::Component;
use wharf_core::{Error, HostLimits, PluginName};
use wharf_spawn::packet;
use wharf_state::MemoryStore;

use super::{
    connection::WorkerConnection,
    frames::{
        self, AskedFunction, CallOrder, ComponentCode, ENDED, EndedHead, READY, RETURNED, ReturnedHead, ToWorker,
    },
    incoming::IncomingFrames,
    link::{HostLink, Returned},
    looking::Looks,
    setup::{CODES, FRAMES, WORKER, WorkerSetup},
};
use crate::{
    backends::Backends,
    call::{ActiveCall, Call},
    coarse::ClockResolution,
    error::{LoadError, reason},
    execution::{self, EndedCall},
    function::{
        CallTool, Completing, GetPrompt, GuestFunction, LinkedPlugin, ListClaims, ListPrompts, ListResources,
        ListTemplates, ListTools, ReadResource,
    },
    runtime::WasmRuntime,
    shared::{EngineConfig, SharedEngine},
    start::Start,
    watch::crossing::{Malformed, to_bytes},
};

/// The longest answer of a function of the host. The host knows what it may send.
const MOST_BYTES: usize = u32::MAX as usize;

/// Decides, before `main`, whether this process is a worker.
#[ctor::ctor(unsafe)]
fn before_main() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|first| first != WORKER) {
        return;
    }
    let setup = arguments.next().and_then(|setup| setup.into_string().ok());
    let Some(setup) = setup.and_then(|setup| serde_json::from_str(&setup).ok()) else { exit(EXIT_USAGE) };
    match run(&setup) {
        Ok(()) => exit(0),
        Err(error) => {
            // The host that started it reads this.
            let _ = writeln!(io::stderr(), "{error}");
            exit(EXIT_FAILED)
        }
    }
}

const EXIT_USAGE: i32 = 64;
const EXIT_FAILED: i32 = 70;

fn run(setup: &WorkerSetup) -> io::Result<()> {
    let (frames, codes) = sockets();
    // Before there is a second thread, which would keep them.
    wharf_spawn::give_up_capabilities()?;
    let config = config(setup);
    let runtime = WasmRuntime::start_in_worker(&config, setup.target).map_err(io::Error::other)?;
    let shared = SharedEngine::new(config, Backends::with_state(Arc::new(MemoryStore::default())));
    // Before it can read no file any more: one tells how much of the processors it may use.
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    wharf_spawn::lock_down()?;
    let executor = tokio::runtime::Builder::new_multi_thread().worker_threads(processors).enable_all().build()?;
    // As a task, so that calls begin on the thread that reads: none has to be woken.
    executor.block_on(executor.spawn(WorkerProgram::serve(runtime, shared, (frames, codes), Looks::on(processors))))?
}

/// What its engine has: a part of what that of the host has.
fn config(setup: &WorkerSetup) -> EngineConfig {
    let limits = HostLimits {
        stack_bytes: setup.target.stack_bytes,
        calls_in_flight: setup.calls_in_flight,
        ..HostLimits::default()
    };
    EngineConfig { limits, table_elements: setup.table_elements, ..EngineConfig::default() }
}

#[expect(unsafe_code, reason = "descriptors come by their numbers")]
fn sockets() -> (OwnedFd, OwnedFd) {
    let of = |number: u32| {
        // SAFETY: the host starts this program with these two, and nothing else of this process
        // has run yet that could own them.
        unsafe { OwnedFd::from_raw_fd(number.cast_signed()) }
    };
    (of(FRAMES), of(CODES))
}

/// A running worker.
struct WorkerProgram {
    runtime: Arc<WasmRuntime>,
    shared: SharedEngine,
    connection: WorkerConnection,
    plugin: PluginName,
    /// The calls that run.
    calls: Mutex<HashMap<u64, RunningCall>>,
}

struct RunningCall {
    link: Arc<HostLink>,
    cancel: CancellationToken,
}

/// A component whose code has come, linked at its first call.
struct KnownComponent {
    code: OwnedFd,
    bytes: u64,
    exports_functions: bool,
    linked: OnceLock<Result<LinkedPlugin, String>>,
}

impl WorkerProgram {
    /// Runs calls until the host is gone.
    async fn serve(
        runtime: WasmRuntime,
        shared: SharedEngine,
        (socket, codes): (OwnedFd, OwnedFd),
        looks: Looks,
    ) -> io::Result<()> {
        let broken = |_: Malformed| io::Error::from(ErrorKind::InvalidData);
        let connection = WorkerConnection::new(socket)?;
        let plugin = "plugin".parse().map_err(io::Error::other)?;
        let program = Arc::new(Self {
            runtime: Arc::new(runtime),
            shared,
            connection: connection.clone(),
            plugin,
            calls: Mutex::default(),
        });
        let mut components: Vec<Arc<KnownComponent>> = Vec::new();
        let mut incoming = IncomingFrames::over(&connection, Arc::new(AtomicUsize::new(MOST_BYTES)));
        tokio::spawn(connection.clone().write_on());
        connection.send(&[READY]);
        while let Some(mut frame) = program.next(&mut incoming, &looks).await? {
            if frame.first() == Some(&RETURNED) {
                frame.advance(1);
                let ((call, request, remaining), bytes): (ReturnedHead, _) = frames::split(&frame).map_err(broken)?;
                program.returned(call, request, Returned { remaining, bytes });
                continue;
            }
            match ToWorker::of_frame(&frame).map_err(broken)? {
                ToWorker::Stop(call) => {
                    if let Some(running) = program.calls.lock().get(&call) {
                        running.cancel.cancel();
                    }
                }
                ToWorker::Call(order) => {
                    let (call, order) = *order;
                    while components.len() <= order.component as usize {
                        components.push(Arc::new(receive(&codes, components.len())?));
                    }
                    let component = Arc::clone(&components[order.component as usize]);
                    let running = RunningCall {
                        link: Arc::new(HostLink::new(call, connection.clone(), order.is_looked_for)),
                        cancel: CancellationToken::new(),
                    };
                    let (link, cancel) = (Arc::clone(&running.link), running.cancel.clone());
                    program.calls.lock().insert(call, running);
                    tokio::spawn(Arc::clone(&program).call(call, order, component, link, cancel));
                }
            }
        }
        Ok(())
    }

    /// The next frame. Where the host has just been told what it may answer at once, this looks for a while.
    async fn next(&self, incoming: &mut IncomingFrames, looks: &Looks) -> io::Result<Option<Bytes>> {
        loop {
            tokio::select! {
                biased;
                frame = incoming.next() => return frame,
                () = self.connection.expects() => {}
            }
            if let Some(frame) = looks.look_for(|| incoming.look().transpose()).await {
                return frame.map(Some);
            }
        }
    }

    fn returned(&self, call: u64, request: u32, returned: Returned) {
        let link = self.calls.lock().get(&call).map(|running| Arc::clone(&running.link));
        if let Some(link) = link {
            link.returned(request, returned);
        }
    }

    /// Runs a call, and tells the host how it ended.
    async fn call(
        self: Arc<Self>,
        number: u64,
        order: CallOrder,
        component: Arc<KnownComponent>,
        link: Arc<HostLink>,
        cancel: CancellationToken,
    ) {
        let ended = self.ended(order, component, Arc::clone(&link), cancel).await;
        self.calls.lock().remove(&number);
        let head = EndedHead {
            call: number,
            computed: ended.computed,
            memory_bytes: ended.memory_bytes,
            has_returned: ended.returned.is_ok(),
        };
        let rest = match &ended.returned {
            Ok(returned) => returned,
            Err(error) => &to_bytes(&frames::refusal(error)),
        };
        link.say(&frames::frame(ENDED, &head, rest));
    }

    async fn ended(
        &self,
        order: CallOrder,
        component: Arc<KnownComponent>,
        link: Arc<HostLink>,
        cancel: CancellationToken,
    ) -> EndedCall<Vec<u8>> {
        let failed = |message: String| EndedCall::failed(Error::new(wharf_core::Code::Internal, message));
        let loading = Arc::clone(&component);
        if component.linked.get().is_none() {
            let runtime = Arc::clone(&self.runtime);
            let load = move || {
                loading.linked.get_or_init(|| loading.link(&runtime).map_err(|error| error.to_string()));
            };
            if let Err(error) = tokio::task::spawn_blocking(load).await {
                return failed(error.to_string());
            }
        }
        let linked = match component.linked.get() {
            Some(Ok(linked)) => linked,
            Some(Err(error)) => return failed(format!("the plugin cannot be loaded in its process: {error}")),
            None => return failed("the plugin is not there".to_owned()),
        };
        let Ok(limits) = frames::limits_of_numbers(&order.limits) else {
            return failed("limits that no call has".to_owned());
        };
        let step = order.clock_step.and_then(resolution);
        let call = Call::of_nobody(limits, order.settings.into(), step, cancel);
        let call = Call { charged: order.charged, ..call };
        let (backends, handles) = (&self.shared.backends, &self.shared.open_handles);
        let mut active = ActiveCall::begin(call, &self.plugin, &Arc::default(), backends, handles, order.declared);
        active.clock.set_remaining(order.remaining);
        active.host = Some(link);
        let active = Arc::new(active);
        match order.function {
            AskedFunction::Start => self.run(active, linked, Start::now()).await,
            AskedFunction::ListTools => self.run(active, linked, ListTools).await,
            AskedFunction::CallTool((name, arguments)) => {
                self.run(active, linked, CallTool { name: &name, arguments: &arguments }).await
            }
            AskedFunction::ListPrompts => self.run(active, linked, ListPrompts).await,
            AskedFunction::GetPrompt((name, arguments)) => {
                self.run(active, linked, GetPrompt { name: &name, arguments: &arguments }).await
            }
            AskedFunction::ListClaims => self.run(active, linked, ListClaims).await,
            AskedFunction::ListTemplates => self.run(active, linked, ListTemplates).await,
            AskedFunction::ListResources => self.run(active, linked, ListResources).await,
            AskedFunction::ReadResource(uri) => self.run(active, linked, ReadResource { uri: &uri }).await,
            AskedFunction::Complete(completing) => match Completing::of_crossed(completing) {
                Ok(completing) => self.run(active, linked, &completing).await,
                Err(error) => EndedCall::failed(error),
            },
        }
    }

    async fn run<F: GuestFunction>(
        &self,
        call: Arc<ActiveCall>,
        linked: &LinkedPlugin,
        function: F,
    ) -> EndedCall<Vec<u8>> {
        let ended = execution::in_instance(&self.shared, &self.runtime, &call, linked, function).await;
        EndedCall {
            returned: ended.returned.map(|returned| to_bytes(&returned)),
            computed: ended.computed,
            memory_bytes: ended.memory_bytes,
        }
    }
}

fn resolution(step: Duration) -> Option<ClockResolution> {
    u64::try_from(step.as_micros()).ok().and_then(|step| ClockResolution::from_microseconds(step).ok())
}

/// Takes the code of the next component, which the host has sent before the call that needs it.
fn receive(codes: &OwnedFd, number: usize) -> io::Result<KnownComponent> {
    let packet = packet::receive::<ComponentCode>(codes)?.ok_or(ErrorKind::UnexpectedEof)?;
    let code = packet.descriptors.into_iter().next().ok_or(ErrorKind::InvalidData)?;
    let ComponentCode { number: sent, bytes, exports_functions } = packet.message;
    if sent as usize != number {
        return Err(ErrorKind::InvalidData.into());
    }
    Ok(KnownComponent { code, bytes, exports_functions, linked: OnceLock::new() })
}

impl KnownComponent {
    #[expect(unsafe_code, reason = "loading compiled code is what this crate is for")]
    fn link(&self, runtime: &WasmRuntime) -> Result<LinkedPlugin, LoadError> {
        let unloaded = |error: io::Error| LoadError::Demanding(error.to_string());
        let length = usize::try_from(self.bytes).map_err(|_| unloaded(ErrorKind::OutOfMemory.into()))?;
        // SAFETY: a new mapping, which is never taken away: a component lasts as long as the worker.
        let mapped = unsafe { mmap(std::ptr::null_mut(), length, ProtFlags::READ, MapFlags::PRIVATE, &self.code, 0) };
        let mapped = mapped.map_err(|error| unloaded(error.into()))?;
        let memory = NonNull::new(mapped.cast::<u8>()).ok_or_else(|| unloaded(ErrorKind::OutOfMemory.into()))?;
        let memory = NonNull::slice_from_raw_parts(memory, length);
        // SAFETY: the host has sealed the file, and gives a worker no other code than what it would
        // run itself (see `source::load_compiled`).
        let component = unsafe { Component::deserialize_raw(&runtime.engine, memory) };
        let component = component.map_err(|error| LoadError::Demanding(reason(&error)))?;
        let instances =
            runtime.linker.instantiate_pre(&component).map_err(|error| LoadError::Import(reason(&error)))?;
        LinkedPlugin::find(instances, self.exports_functions, None)
    }
}
