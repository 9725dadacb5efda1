//! What a worker says, on its way to the calls. A task listens for it; a call that expects an answer
//! reads in its place for a moment, for all calls.

use bytes::{Buf as _, Bytes};
use tokio::sync::{
    Mutex, Notify,
    mpsc::{Sender, error::TrySendError},
};

use super::{
    connection::WorkerConnection,
    frames::{self, ASKED, AskedHead, ENDED, EndedHead},
    incoming::{Arrival, IncomingFrames},
};

/// Frames that a call hands on in one look. They may be those of others.
const FRAMES_OF_LOOK: usize = 16;
const BROKEN: &str = "it said what no worker says";

/// What a worker says of a call.
pub(super) enum Said {
    /// It asks for a function of the host.
    Asked { request: u32, function: u16, memory_bytes: u64, parameters: Bytes },
    /// The call is over.
    Ended { head: EndedHead, rest: Bytes },
}

/// Reads what a worker says.
pub(super) struct Inbox {
    connection: WorkerConnection,
    // The task that listens also holds it while a call has no room; a call that looks never waits for it.
    reading: Mutex<ReadFrames>,
    /// Told where a call has read what it cannot hand on.
    left: Notify,
}

struct ReadFrames {
    frames: IncomingFrames,
    /// What is for the task that listens. Nothing further is read before.
    left: Option<LeftFrame>,
    is_closed: bool,
}

/// A frame that cannot be handed on at once.
enum LeftFrame {
    /// Its call has no room for it.
    HeldUp(Sender<Said>, Said),
    /// No worker says that.
    Broken,
}

impl Inbox {
    pub(super) fn over(connection: WorkerConnection, frames: IncomingFrames) -> Self {
        let reading = Mutex::new(ReadFrames { frames, left: None, is_closed: false });
        Self { connection, reading, left: Notify::new() }
    }

    /// Hands on what comes; `call_of` is asked who hears what is said of a call. Ends where the worker is gone,
    /// or with what it did wrong.
    pub(super) async fn listen(&self, call_of: impl Fn(u64, &Said) -> Option<Sender<Said>>) -> Option<String> {
        loop {
            let mut reading = self.reading.lock().await;
            loop {
                match reading.left.take() {
                    None => {}
                    Some(LeftFrame::HeldUp(conversation, said)) => drop(conversation.send(said).await),
                    Some(LeftFrame::Broken) => return Some(BROKEN.to_owned()),
                }
                match reading.frames.next_at_once() {
                    Ok(Arrival::Frame(frame)) => reading.left = hand_on(frame, &call_of),
                    Ok(Arrival::Later) => break,
                    Ok(Arrival::End) => return None,
                    Err(_) => return Some(BROKEN.to_owned()),
                }
            }
            drop(reading);
            tokio::select! {
                readable = self.connection.stream().readable() => readable.ok()?,
                () = self.left.notified() => {}
            }
        }
    }

    /// Has nothing further read, and lets go of the call that has something held up: nobody listens any more.
    pub(super) async fn close(&self) {
        let mut reading = self.reading.lock().await;
        (reading.left, reading.is_closed) = (None, true);
    }

    /// Hands on what is there, and waits for nothing.
    pub(super) fn look(&self, call_of: impl Fn(u64, &Said) -> Option<Sender<Said>>) {
        let Ok(mut reading) = self.reading.try_lock() else { return };
        for _ in 0..FRAMES_OF_LOOK {
            if reading.left.is_some() || reading.is_closed {
                return;
            }
            reading.left = match reading.frames.look() {
                Ok(Some(frame)) => hand_on(frame, &call_of),
                Ok(None) => return,
                Err(_) => Some(LeftFrame::Broken),
            };
            if reading.left.is_some() {
                self.left.notify_one();
            }
        }
    }
}

/// Hands a frame on to its call, where that has room for it.
fn hand_on(frame: Bytes, call_of: impl Fn(u64, &Said) -> Option<Sender<Said>>) -> Option<LeftFrame> {
    let Some((call, said)) = read(frame) else { return Some(LeftFrame::Broken) };
    // A call that the host has stopped says its last words to nobody.
    let conversation = call_of(call, &said)?;
    match conversation.try_send(said) {
        Err(TrySendError::Full(said)) => Some(LeftFrame::HeldUp(conversation, said)),
        Ok(()) | Err(TrySendError::Closed(_)) => None,
    }
}

fn read(mut frame: Bytes) -> Option<(u64, Said)> {
    if frame.is_empty() {
        return None;
    }
    match frame.get_u8() {
        ASKED => {
            let ((call, request, function, memory_bytes), parameters): (AskedHead, _) = frames::split(&frame).ok()?;
            Some((call, Said::Asked { request, function, memory_bytes, parameters }))
        }
        ENDED => {
            let (head, rest): (EndedHead, _) = frames::split(&frame).ok()?;
            Some((head.call, Said::Ended { head, rest }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write as _,
        os::unix::net::UnixStream,
        sync::{Arc, atomic::AtomicUsize},
    };

    use tokio::sync::mpsc::{self, Receiver};
    use wharf_test_support::in_time;

    use super::*;

    /// An inbox, the calls 0 and 1 whose frames it reads, and where they come from.
    struct TestCalls {
        inbox: Inbox,
        senders: [Sender<Said>; 2],
        heard: [Receiver<Said>; 2],
        worker: UnixStream,
    }

    impl TestCalls {
        fn with_room_for(frames: usize) -> Self {
            let (own, worker) = UnixStream::pair().expect("sockets");
            let connection = WorkerConnection::new(own.into()).expect("a runtime");
            let frames_of = IncomingFrames::over(&connection, Arc::new(AtomicUsize::new(1 << 10)));
            let (one, other) = (mpsc::channel(frames), mpsc::channel(frames));
            Self {
                inbox: Inbox::over(connection, frames_of),
                senders: [one.0, other.0],
                heard: [one.1, other.1],
                worker,
            }
        }

        fn call_of(&self) -> impl Fn(u64, &Said) -> Option<Sender<Said>> + use<> {
            let senders = self.senders.clone();
            move |call, _| senders.get(usize::try_from(call).expect("small")).cloned()
        }
    }

    fn asked(call: u64, request: u32) -> Vec<u8> {
        let frame = frames::frame(ASKED, &(call, request, 0_u16, 0_u64), &[7_u8; 100]);
        [&u32::try_from(frame.len()).expect("small").to_le_bytes()[..], &frame].concat()
    }

    fn request(said: Option<Said>) -> u32 {
        match said {
            Some(Said::Asked { request, parameters, .. }) if parameters == [7_u8; 100][..] => request,
            Some(_) => panic!("nobody said this"),
            None => panic!("nothing comes any more"),
        }
    }

    #[tokio::test]
    async fn frames_that_come_in_pieces_while_a_call_looks_reach_their_calls() {
        let mut calls = TestCalls::with_room_for(8);
        let sent = [asked(0, 1), asked(1, 2), asked(0, 3)].concat();
        for byte in &sent {
            (&calls.worker).write_all(&[*byte]).expect("room");
            calls.inbox.look(calls.call_of());
        }
        let [one, other] = &mut calls.heard;
        assert_eq!((request(one.try_recv().ok()), request(one.try_recv().ok())), (1, 3));
        assert_eq!(request(other.try_recv().ok()), 2);
        assert!(one.try_recv().is_err() && other.try_recv().is_err());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn calls_that_look_beside_the_task_that_listens_leave_every_frame_in_order() {
        const FRAMES: u32 = 2_000;
        let mut calls = TestCalls::with_room_for(4);
        let (call_of, looking) = (calls.call_of(), calls.call_of());
        let [mut one, mut other] = calls.heard;
        let inbox = Arc::new(calls.inbox);
        let listening = tokio::spawn({
            let inbox = Arc::clone(&inbox);
            async move { inbox.listen(call_of).await }
        });
        // Its pieces are no frames.
        let sent: Vec<u8> = (0..FRAMES).flat_map(|number| asked(u64::from(number % 2), number)).collect();
        let sending = std::thread::spawn(move || {
            sent.chunks(97).for_each(|piece| calls.worker.write_all(piece).expect("it is read"));
            calls.worker
        });
        let hearing = async {
            for number in 0..FRAMES {
                inbox.look(&looking);
                let said = if number % 2 == 0 { one.recv().await } else { other.recv().await };
                assert_eq!(request(said), number);
            }
        };
        in_time("all frames come", hearing).await;
        drop(sending.join().expect("sent"));
        assert_eq!(in_time("the end is told", listening).await.expect("it ends"), None);
    }

    #[tokio::test]
    async fn a_call_that_looks_leaves_what_has_no_room_and_what_is_broken_to_the_task_that_listens() {
        let mut calls = TestCalls::with_room_for(1);
        let nonsense = [&1_u32.to_le_bytes()[..], &[77]].concat();
        calls.worker.write_all(&[asked(0, 1), asked(0, 2), asked(1, 3), nonsense].concat()).expect("room");
        calls.inbox.look(calls.call_of());
        calls.inbox.look(calls.call_of());
        let call_of = calls.call_of();
        let [one, other] = &mut calls.heard;
        assert!(other.try_recv().is_err(), "it overtook one that came before");
        let hearing = async {
            assert_eq!((request(one.recv().await), request(one.recv().await)), (1, 2));
            assert_eq!(request(other.recv().await), 3);
        };
        let (why, ()) = in_time("it ends", async { tokio::join!(calls.inbox.listen(call_of), hearing) }).await;
        assert_eq!(why.as_deref(), Some(BROKEN));

        // Found by a call, and the task sleeps.
        let mut calls = TestCalls::with_room_for(1);
        calls.worker.write_all(&u32::MAX.to_le_bytes()).expect("room");
        calls.inbox.look(calls.call_of());
        let why = in_time("it ends", calls.inbox.listen(calls.call_of())).await;
        assert_eq!(why.as_deref(), Some(BROKEN));
    }

    #[tokio::test]
    async fn a_closed_inbox_reads_nothing_and_holds_no_call() {
        let mut calls = TestCalls::with_room_for(1);
        calls.worker.write_all(&[asked(0, 1), asked(0, 2), asked(1, 3)].concat()).expect("room");
        calls.inbox.look(calls.call_of());
        calls.inbox.close().await;
        calls.inbox.look(calls.call_of());
        let ([one, other], senders) = (&mut calls.heard, calls.senders);
        drop(senders);
        assert_eq!(request(one.recv().await), 1);
        assert!(in_time("its sender is gone", one.recv()).await.is_none());
        assert!(other.recv().await.is_none());
    }
}
