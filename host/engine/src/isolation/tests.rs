//! Workers that somebody else has taken over: the tests speak for them.

use std::{
    sync::{Arc, atomic::AtomicUsize},
    task::Poll,
    time::Duration,
};

use bytes::Bytes;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use tokio_util::sync::CancellationToken;
use wasmtime::{Store, component::Resource};
use wharf_core::{CallLimits, Code, HostLimits};
use wharf_spawn::packet;
use wharf_test_support::in_time;

use super::{
    connection::WorkerConnection,
    conversation::{WorkerFailure, serve},
    frames::{self, ASKED, AskedFunction, CallOrder, ENDED, EndedHead, RETURNED, ReturnedHead, ToWorker},
    inbox::Said,
    incoming::IncomingFrames,
    looking::Looks,
    process::{Conversation, Worker},
};
use crate::{
    bucket::Bucket, call::tests::active_call, code::CodeFile, guest::Guest, runtime::WasmRuntime, shared::EngineConfig,
    watch::crossing::to_bytes,
};

/// A worker whose other side the test has.
struct Taken {
    worker: Arc<Worker>,
    connection: WorkerConnection,
    from_host: IncomingFrames,
    _codes: std::os::fd::OwnedFd,
}

impl Taken {
    fn over() -> Self {
        let (own, other) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).expect("sockets");
        let (codes, other_codes) = packet::pair().expect("sockets");
        let most_bytes = Arc::new(AtomicUsize::new(64 << 10));
        let own = WorkerConnection::new(own).expect("a runtime");
        let frames = IncomingFrames::over(&own, Arc::clone(&most_bytes));
        let worker = Worker::over(
            (own, frames),
            codes,
            std::process::id(),
            most_bytes,
            Looks::apart(64),
            (CancellationToken::new(), Arc::default()),
        );
        let tending = Arc::clone(&worker).tend(HostLimits::default(), async { "it is gone".to_owned() });
        tokio::spawn(tending);
        let connection = WorkerConnection::new(other).expect("a runtime");
        tokio::spawn(connection.clone().write_on());
        let from_host = IncomingFrames::over(&connection, Arc::new(AtomicUsize::new(usize::MAX)));
        Self { worker, connection, from_host, _codes: other_codes }
    }

    fn begin(&self) -> Conversation {
        let code = CodeFile::new(b"code", false).expect("memory");
        let order = CallOrder {
            component: 0,
            declared: None,
            remaining: Duration::from_secs(60),
            charged: Duration::ZERO,
            limits: frames::limits_to_numbers(&CallLimits::default()),
            settings: "{}".to_owned(),
            clock_step: None,
            is_looked_for: false,
            function: AskedFunction::ListTools,
        };
        self.worker.begin(&code, 64 << 10, Box::new((0, order))).expect("it takes a call")
    }

    /// What the host says next.
    async fn heard(&mut self) -> Bytes {
        in_time("the host says something", self.from_host.next()).await.expect("a frame").expect("the host is there")
    }

    /// The number of the call that the host has begun.
    async fn call(&mut self) -> u64 {
        match ToWorker::of_frame(&self.heard().await).expect("legal") {
            ToWorker::Call(order) => order.0,
            ToWorker::Stop(_) => panic!("nothing was begun"),
        }
    }

    fn ask(&self, call: u64, request: u32, function: u16, parameters: &[u8]) {
        self.connection.send(&frames::frame(ASKED, &(call, request, function, 0_u64), parameters));
    }
}

fn ended(call: u64, has_returned: bool, rest: &[u8]) -> Vec<u8> {
    let head = EndedHead { call, computed: Duration::from_millis(1), memory_bytes: u64::MAX, has_returned };
    frames::frame(ENDED, &head, rest)
}

async fn is_lost(mut conversation: Conversation) -> String {
    let said = in_time("the worker is ended", conversation.next()).await;
    assert!(said.is_none(), "it is believed");
    conversation.lost().message
}

#[tokio::test]
async fn what_no_worker_says_ends_it_and_its_calls() {
    let nonsense: [&[u8]; 5] = [&[], &[77], &[ASKED, 1, 2], &[ENDED], &[ENDED, 0, 0, 0, 0, 0, 0, 0, 0]];
    for frame in nonsense {
        let mut taken = Taken::over();
        let conversation = taken.begin();
        taken.call().await;
        taken.connection.send(frame);
        assert!(is_lost(conversation).await.contains("it said what no worker says"), "{frame:?}");
        assert!(!taken.worker.is_usable());
    }
}

#[tokio::test]
async fn a_frame_is_no_longer_than_what_a_call_may_move() {
    let mut taken = Taken::over();
    let conversation = taken.begin();
    let call = taken.call().await;
    taken.ask(call, 1, 0, &vec![0; 1 << 20]);
    assert!(is_lost(conversation).await.contains("what no worker says"));
}

#[tokio::test]
async fn a_call_that_goes_on_after_its_end_ends_the_worker() {
    let mut taken = Taken::over();
    let (first, other) = (taken.begin(), taken.begin());
    let (call, _) = (taken.call().await, taken.call().await);
    drop(first);
    assert_eq!(ToWorker::of_frame(&taken.heard().await), Ok(ToWorker::Stop(call)));
    let lost = is_lost(other).await;
    assert!(lost.contains("it did not end a call that was over"), "{lost}");
}

#[tokio::test]
async fn a_call_that_ends_in_time_leaves_the_worker_and_words_for_no_call_are_heard_by_nobody() {
    let mut taken = Taken::over();
    let conversation = taken.begin();
    let call = taken.call().await;
    drop(conversation);
    taken.heard().await;
    taken.connection.send(&ended(
        call,
        false,
        &to_bytes(&frames::refusal(&wharf_core::Error::new(Code::Cancelled, ""))),
    ));
    // Of calls that are over, or never were.
    taken.connection.send(&ended(call, true, &[]));
    taken.ask(call, 1, 0, &[]);
    taken.ask(9_999, 1, 0, &[]);
    let mut next = taken.begin();
    let call = taken.call().await;
    taken.connection.send(&ended(call, true, b"returned"));
    match in_time("it ends", next.next()).await {
        Some(Said::Ended { head, rest }) => assert_eq!((head.call, &rest[..]), (call, &b"returned"[..])),
        _ => panic!("it returned"),
    }
    assert!(taken.worker.is_usable());
}

/// Serves a call whose worker says this, until the call ends.
async fn served(say: impl FnOnce(&Taken, u64)) -> (Taken, Result<EndedHead, WorkerFailure>) {
    let runtime = WasmRuntime::start(&EngineConfig::default()).expect("starts");
    let mut store =
        Store::new(&runtime.engine, Guest::new(active_call(CallLimits::default(), None), &Arc::default(), "", false));
    let mut taken = Taken::over();
    let mut conversation = taken.begin();
    let call = taken.call().await;
    say(&taken, call);
    let served = in_time("the call ends", serve(&runtime.functions, &mut store, &mut conversation)).await;
    (taken, served.map(|(head, _)| head))
}

#[tokio::test]
async fn no_number_no_value_and_no_handle_that_a_worker_invents_does_anything() {
    // A line of the log, which is the first function of all.
    let line = to_bytes(&("info".to_owned(), "hello".to_owned()));
    let (mut taken, head) = served(|taken, call| {
        taken.ask(call, 1, 0, &line);
        taken.connection.send(&ended(call, true, &[]));
    })
    .await;
    head.expect("a line may be written");
    let answer = taken.heard().await;
    assert_eq!(answer[0], RETURNED);
    let ((_, request, remaining), rest): (ReturnedHead, _) = frames::split(&answer.slice(1..)).expect("legal");
    assert!(request == 1 && remaining > Duration::ZERO && rest.is_empty());

    let own = to_bytes(&(Resource::<Bucket>::new_own(7),));
    let read = to_bytes(&(Resource::<Bucket>::new_borrow(7), 1_u64));
    for (function, parameters) in
        [(u16::MAX, &line[..]), (0, &[]), (0, &[&line[..], &[0]].concat()), (1, &read), (2, &own), (4, &own), (9, &own)]
    {
        let (_, served) = served(|taken, call| taken.ask(call, 1, function, parameters)).await;
        assert!(matches!(served, Err(WorkerFailure::Trap(_))), "{function}: {served:?}");
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_while_it_looks_loses_no_frame_of_another() {
    let mut taken = Taken::over();
    let (mut first, mut other) = (taken.begin(), taken.begin());
    let (_, call) = (taken.call().await, taken.call().await);
    taken.connection.send(&ended(call, true, b"returned"));
    // It reads what is there for all at its second step at the latest, and hears nothing itself.
    let mut looking = Box::pin(first.next_soon());
    for _ in 0..2 {
        assert!(std::future::poll_fn(|task| Poll::Ready(looking.as_mut().poll(task))).await.is_pending());
    }
    drop(looking);
    drop(first);
    match in_time("it ends", other.next_soon()).await {
        Some(Said::Ended { head, rest }) => assert_eq!((head.call, &rest[..]), (call, &b"returned"[..])),
        _ => panic!("it returned"),
    }
}
