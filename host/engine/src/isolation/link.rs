//! The way of a guest in a worker to the functions of the host.

#[cfg(target_os = "linux")]
mod asking {
    use std::{
        collections::HashMap,
        sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
        time::Duration,
    };

    use bytes::Bytes;
    use parking_lot::Mutex;
    use tokio::sync::oneshot;

    use crate::{
        isolation::{
            connection::WorkerConnection,
            frames::{self, ASKED, TOLD},
        },
        watch::crossing::{Crossing, to_bytes},
    };

    /// What a function came to, and how long the call may still take.
    pub(in crate::isolation) struct Returned {
        pub(in crate::isolation) remaining: Duration,
        pub(in crate::isolation) bytes: Bytes,
    }

    /// What a call in a worker has of the host.
    pub(crate) struct HostLink {
        call: u64,
        connection: WorkerConnection,
        /// The host answers at once where it can.
        is_looked_for: bool,
        // Held for an insertion or a removal.
        waiting: Mutex<HashMap<u32, oneshot::Sender<Returned>>>,
        next: AtomicU32,
        /// What the memories of the guest hold.
        memory_bytes: AtomicU64,
    }

    impl std::fmt::Debug for HostLink {
        fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.debug_struct("HostLink").field("call", &self.call).finish_non_exhaustive()
        }
    }

    impl HostLink {
        pub(in crate::isolation) fn new(call: u64, connection: WorkerConnection, is_looked_for: bool) -> Self {
            let (next, memory_bytes) = (AtomicU32::new(TOLD + 1), AtomicU64::new(0));
            Self { call, connection, is_looked_for, waiting: Mutex::default(), next, memory_bytes }
        }

        /// Hands on what a request came to.
        pub(in crate::isolation) fn returned(&self, request: u32, returned: Returned) {
            if let Some(waiting) = self.waiting.lock().remove(&request) {
                let _ = waiting.send(returned);
            }
        }

        /// The memories of the guest hold so much.
        pub(crate) fn held_memory(&self, bytes: u64) {
            self.memory_bytes.store(bytes, Relaxed);
        }

        /// Sends a frame that the host answers, now or with the next call.
        pub(in crate::isolation) fn say(&self, frame: &[u8]) {
            self.connection.send(frame);
            if self.is_looked_for {
                self.connection.expect_more();
            }
        }

        fn frame(&self, request: u32, number: u16, parameters: &[u8]) -> Vec<u8> {
            frames::frame(ASKED, &(self.call, request, number, self.memory_bytes.load(Relaxed)), parameters)
        }

        pub(super) fn tell(&self, number: u16, parameters: &impl Crossing) {
            self.connection.send(&self.frame(TOLD, number, &to_bytes(parameters)));
        }

        pub(super) async fn ask(&self, number: u16, parameters: &[u8]) -> Option<Returned> {
            let (sender, returned) = oneshot::channel();
            let request = self.next.fetch_add(1, Relaxed);
            self.waiting.lock().insert(request, sender);
            self.say(&self.frame(request, number, parameters));
            returned.await.ok()
        }
    }
}

#[cfg(target_os = "linux")]
pub(crate) use asking::HostLink;
#[cfg(target_os = "linux")]
pub(super) use asking::Returned;

/// There are no workers.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(crate) enum HostLink {}

#[cfg(not(target_os = "linux"))]
impl HostLink {
    pub(crate) fn held_memory(&self, _bytes: u64) {
        match *self {}
    }
}

#[cfg(target_os = "linux")]
use crate::watch::crossing::from_bytes;
use crate::{call::ActiveCall, watch::crossing::Crossing};

/// The host is gone, or has ended the call.
fn no_host() -> wasmtime::Error {
    wasmtime::format_err!("the host does not answer this call any more")
}

impl ActiveCall {
    /// Whether the guest runs in a worker.
    pub(crate) fn is_in_worker(&self) -> bool {
        self.host.is_some()
    }

    /// Has the host call a function. The call's time is that of the host meanwhile.
    #[cfg(target_os = "linux")]
    pub(crate) async fn ask_host<R: Crossing>(&self, number: u16, parameters: Vec<u8>) -> wasmtime::Result<R> {
        let link = self.host.as_ref().ok_or_else(no_host)?;
        let pause = self.clock.pause();
        let returned = link.ask(number, &parameters).await.ok_or_else(no_host)?;
        drop(pause);
        self.clock.set_remaining(returned.remaining);
        from_bytes(&returned.bytes).map_err(wasmtime::Error::new)
    }

    /// Has the host call a function of which nothing comes back.
    #[cfg(target_os = "linux")]
    pub(crate) fn tell_host(&self, number: u16, parameters: &impl Crossing) -> wasmtime::Result<()> {
        self.host.as_ref().ok_or_else(no_host)?.tell(number, parameters);
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) async fn ask_host<R: Crossing>(&self, _number: u16, _parameters: Vec<u8>) -> wasmtime::Result<R> {
        Err(no_host())
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn tell_host(&self, _number: u16, _parameters: &impl Crossing) -> wasmtime::Result<()> {
        Err(no_host())
    }
}
