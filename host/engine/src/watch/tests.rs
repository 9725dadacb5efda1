//! Functions that count nothing themselves, called by a small component.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use parking_lot::Mutex;
use wasmtime::component::{Component, InstancePre};
use wharf_core::{
    AuditRecord, AuditSink, CallLimits,
    audit::{AuditId, AuditKind, AuditSubject, CallAudit},
};

use super::*;
use crate::{call::tests::active_call, compile::CompileTarget, guest::Guest};

/// What the probe does each time, and the export that has it called as often as is asked.
const PROBE: &str = r#"(component
    (import "wharf:plugin/probe@0.1.0" (instance $probe
        (export "at-once" (func))
        (export "later" (func))
        (export "untold" (func))
        (export "untold-later" (func))
        (export "send" (func (param "text" string)))
        (export "fetch" (func (result string)))))
    (core module $heap
        (memory (export "memory") 1)
        (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024))
    (core instance $heap (instantiate $heap))
    (core func $at-once (canon lower (func $probe "at-once")))
    (core func $later (canon lower (func $probe "later")))
    (core func $untold (canon lower (func $probe "untold")))
    (core func $untold-later (canon lower (func $probe "untold-later")))
    (core func $send (canon lower (func $probe "send") (memory (core memory $heap "memory"))))
    (core func $fetch (canon lower (func $probe "fetch")
        (memory (core memory $heap "memory")) (realloc (core func $heap "realloc"))))
    (core module $program
        (import "probe" "at-once" (func $at-once))
        (import "probe" "later" (func $later))
        (import "probe" "untold" (func $untold))
        (import "probe" "untold-later" (func $untold-later))
        (import "probe" "send" (func $send (param i32 i32)))
        (import "probe" "fetch" (func $fetch (param i32)))
        (func $fetch-there (call $fetch (i32.const 16)))
        (table funcref (elem $at-once $later $untold $untold-later $fetch-there))
        (func (export "repeat") (param $function i32) (param $times i32)
            (loop $on
                (if (i32.eqz (local.get $times)) (then return))
                (call_indirect (local.get $function))
                (local.set $times (i32.sub (local.get $times) (i32.const 1)))
                (br $on)))
        (func (export "send") (param $bytes i32)
            (call $send (i32.const 4096) (local.get $bytes))))
    (core instance $run (instantiate $program (with "probe" (instance
        (export "at-once" (func $at-once))
        (export "later" (func $later))
        (export "untold" (func $untold))
        (export "untold-later" (func $untold-later))
        (export "send" (func $send))
        (export "fetch" (func $fetch))))))
    (func (export "repeat") (param "function" u32) (param "times" u32) (canon lift (core func $run "repeat")))
    (func (export "send") (param "bytes" u32) (canon lift (core func $run "send"))))"#;

/// The functions that `repeat` knows, by their numbers.
const COUNTED: [u32; 4] = [0, 1, 2, 3];
const FETCH: u32 = 4;
/// What `fetch` returns.
const FETCHED_BYTES: usize = 100;

struct Probe {
    instances: InstancePre<Guest>,
    /// How often `send` ran.
    sent: Arc<AtomicUsize>,
}

impl Probe {
    fn new() -> Self {
        let settings = CompileTarget { stack_bytes: 512 << 10, small_memories: true }.settings();
        let engine = Engine::new(&settings).expect("starts");
        let component = Component::new(&engine, wat::parse_str(PROBE).expect("a component")).expect("compiles");
        let mut linker = wasmtime::component::Linker::new(&engine);
        let sent = Arc::new(AtomicUsize::new(0));
        let sending = Arc::clone(&sent);
        watched(&mut linker, &mut LinkedFunctions::here(), Guest::view, |linker| {
            let mut probe = linker.instance("wharf:plugin/probe@0.1.0")?;
            probe.func_wrap("at-once", |_, ()| Ok(()))?;
            probe.func_wrap_async("later", |_, ()| Box::new(async { Ok(()) }))?;
            probe.func_wrap_untold("untold", |_, ()| Ok(()))?;
            probe.func_wrap_async_untold("untold-later", |_, ()| Box::new(async { Ok(()) }))?;
            probe.func_wrap("send", move |_, (_text,): (String,)| {
                sending.fetch_add(1, Relaxed);
                Ok(())
            })?;
            probe.func_wrap("fetch", |_, ()| Ok(("x".repeat(FETCHED_BYTES),)))
        })
        .expect("links");
        Self { instances: linker.instantiate_pre(&component).expect("fits"), sent }
    }

    async fn store(&self, limits: CallLimits, audit: Option<Arc<CallAudit>>) -> (Store<Guest>, component::Instance) {
        let guest = Guest::new(active_call(limits, audit), &Arc::default(), "", false);
        let mut store = Store::new(self.instances.engine(), guest);
        store.set_epoch_deadline(u64::MAX / 2);
        let instance = self.instances.instantiate_async(&mut store).await.expect("starts");
        (store, instance)
    }

    /// Calls a function so often in a call with these limits.
    async fn repeat(&self, limits: CallLimits, function: u32, times: u32) -> Result<()> {
        let (mut store, instance) = self.store(limits, None).await;
        let repeat = instance.get_typed_func::<(u32, u32), ()>(&mut store, "repeat")?;
        repeat.call_async(&mut store, (function, times)).await
    }

    async fn send(&self, limits: CallLimits, bytes: u32) -> Result<()> {
        let (mut store, instance) = self.store(limits, None).await;
        let send = instance.get_typed_func::<(u32,), ()>(&mut store, "send")?;
        send.call_async(&mut store, (bytes,)).await
    }
}

fn exceeded(ended: Result<()>) -> ExceededLimit {
    *ended.expect_err("beyond the limit").downcast_ref().expect("a limit of the call")
}

#[tokio::test]
async fn a_function_that_counts_nothing_is_counted() {
    let probe = Probe::new();
    let limits = || CallLimits { host_calls: 100, ..CallLimits::default() };
    for function in COUNTED {
        probe.repeat(limits(), function, 100).await.expect("as many as there may be");
        assert_eq!(exceeded(probe.repeat(limits(), function, 101).await), ExceededLimit::Calls(100), "{function}");
    }
}

#[tokio::test]
async fn what_a_guest_sends_is_counted_before_the_function_runs() {
    let probe = Probe::new();
    let limits = || CallLimits { host_call_bytes: 1_000, ..CallLimits::default() };
    probe.send(limits(), 1_000).await.expect("as much as there may be");
    assert_eq!(exceeded(probe.send(limits(), 1_001).await), ExceededLimit::BytesAtOnce(1_000));
    assert_eq!(probe.sent.load(Relaxed), 1, "it did not run again");
}

#[tokio::test]
async fn what_a_guest_gets_is_counted() {
    let probe = Probe::new();
    let limits = || CallLimits { host_call_total_bytes: 10 * FETCHED_BYTES as u64, ..CallLimits::default() };
    probe.repeat(limits(), FETCH, 10).await.expect("as much as there may be");
    assert_eq!(exceeded(probe.repeat(limits(), FETCH, 11).await), ExceededLimit::TotalBytes(1_000));
}

#[derive(Default)]
struct Records(Mutex<Vec<AuditRecord>>);

impl AuditSink for Records {
    fn record(&self, record: AuditRecord) {
        self.0.lock().push(record);
    }
}

fn subject() -> AuditSubject {
    let id = AuditId { host: 1, number: 1 };
    AuditSubject { tool: "probe".into(), ..AuditSubject::outside_calls(id) }
}

#[tokio::test]
async fn the_audit_hears_what_a_host_call_moved_and_of_one_too_many() {
    let probe = Probe::new();
    let records = Arc::new(Records::default());
    let running = CallAudit::begin(records.clone(), AuditKind::Call, subject());
    let limits = CallLimits { host_calls: 3, ..CallLimits::default() };
    let (mut store, instance) = probe.store(limits, Some(Arc::clone(running.audit()))).await;
    let send = instance.get_typed_func::<(u32,), ()>(&mut store, "send").expect("there");
    send.call_async(&mut store, (5,)).await.expect("sent");
    let repeat = instance.get_typed_func::<(u32, u32), ()>(&mut store, "repeat").expect("there");
    repeat.call_async(&mut store, (2, 1)).await.expect("untold");
    exceeded(repeat.call_async(&mut store, (FETCH, 2)).await);
    let records = records.0.lock();
    let told: Vec<_> = records
        .iter()
        .map(|record| (record.function.as_deref().unwrap_or(""), record.outcome, record.bytes_in, record.bytes_out))
        .collect();
    assert_eq!(
        told,
        [
            ("probe.send", AuditOutcome::Ok, 5, 0),
            ("probe.fetch", AuditOutcome::Ok, 0, FETCHED_BYTES as u64),
            ("probe.fetch", AuditOutcome::Failed(Code::Limit), 0, 0),
        ]
    );
}

#[test]
fn a_function_is_named_by_its_interface_without_version_and_kind() {
    for (interface, name, called) in [
        ("wharf:plugin/process@0.1.4", "spawn", "process.spawn"),
        ("wharf:plugin/state@0.1.0", "[method]bucket.get-many", "state.bucket.get-many"),
        ("wasi:filesystem/types@0.2.12", "[method]descriptor.open-at", "filesystem.descriptor.open-at"),
        ("wasi:keyvalue/store@0.2.0-draft2", "[method]bucket.get", "state.keyvalue.bucket.get"),
        ("wasi:keyvalue/atomics@0.2.0-draft2", "[static]cas.new", "state.keyvalue.cas.new"),
        ("wasi:config/store@0.2.0-rc.1", "get", "settings.config.get"),
        ("odd", "name", "odd.name"),
    ] {
        assert_eq!(&*function_name(interface, name), called, "{interface}");
    }
}
