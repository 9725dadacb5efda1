//! What every backend promises of a pair, on each.

use std::{
    fs::File,
    future::poll_fn,
    io::{Read as _, Write as _},
    task::Poll,
    time::Duration,
};

use rustix::termios::{OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};

use super::*;

/// A pair, and the wait until the terminal has what is typed.
struct Pair<P> {
    pty: P,
    program: File,
    has_all: fn(&P) -> bool,
}

fn direct() -> Pair<DirectPty> {
    let (pty, program) = DirectPty::open(TerminalSize::default()).expect("a terminal");
    Pair { pty, program, has_all: |_| true }
}

fn portable() -> Pair<PortablePty> {
    let (pty, slave) = PortablePty::open(TerminalSize::default()).expect("a terminal");
    let ProgramEnd(program) = pty.program_end(slave).expect("its other end");
    Pair { pty, program, has_all: PortablePty::is_typed_out }
}

impl<P: Pty> Pair<P> {
    async fn typed(&self, text: &str) {
        let count = poll_fn(|context| self.pty.poll_write(context, text.as_bytes())).await.expect("written");
        assert_eq!(count, text.len());
        while !(self.has_all)(&self.pty) {
            tokio::task::yield_now().await;
        }
    }
}

async fn what_is_printed_is_unread(mut pair: Pair<impl Pty>) {
    let pty = &pair.pty;
    assert!(!pty.has_unread_output());
    pair.program.write_all(b"x").expect("printed");
    assert!(pty.has_unread_output());
    let mut buffer = [0; 10];
    assert_eq!(poll_fn(|context| pty.poll_read(context, &mut buffer)).await.expect("read"), 1);
    // It may not have looked at it yet.
    assert!(pty.has_unread_output());
    let waits = poll_fn(|context| Poll::Ready(pty.poll_read(context, &mut buffer).is_pending())).await;
    assert!(waits);
    assert!(!pty.has_unread_output());
}

#[tokio::test]
async fn what_is_printed_is_unread_until_its_reader_comes_for_more() {
    what_is_printed_is_unread(direct()).await;
    what_is_printed_is_unread(portable()).await;
}

async fn what_is_typed_is_unread(mut pair: Pair<impl Pty>) {
    pair.typed("ab").await;
    let unread = |pair: &Pair<_>| Pty::slave_state(&pair.pty).expect("it is open").has_unread_input;
    assert!(!unread(&pair), "no line is whole");
    pair.typed("\r").await;
    assert!(unread(&pair));
    let mut buffer = [0; 10];
    assert_eq!(pair.program.read(&mut buffer).expect("read"), 3);
    assert!(!unread(&pair));
    let mut settings = tcgetattr(&pair.program).expect("settings");
    settings.make_raw();
    (settings.special_codes[SpecialCodeIndex::VMIN], settings.special_codes[SpecialCodeIndex::VTIME]) = (0, 15);
    tcsetattr(&pair.program, OptionalActions::Now, &settings).expect("set");
    assert_eq!(pair.pty.slave_state().expect("it is open").read_limit, Some(Duration::from_millis(1500)));
    pair.typed("c").await;
    assert!(unread(&pair));
    // Looking left no end of it open.
    drop(pair.program);
    let read = async {
        loop {
            if let Ok(0) | Err(_) = poll_fn(|context| pair.pty.poll_read(context, &mut buffer)).await {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), read).await.expect("its end");
}

#[tokio::test]
async fn what_is_typed_is_unread_once_a_program_could_read_it() {
    what_is_typed_is_unread(direct()).await;
    what_is_typed_is_unread(portable()).await;
}

/// Far more than a terminal holds, both ways, in order.
async fn all_arrives(pair: Pair<impl Pty>) {
    let mut settings = tcgetattr(&pair.program).expect("settings");
    settings.make_raw();
    tcsetattr(&pair.program, OptionalActions::Now, &settings).expect("set");
    let sent: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    let mut program = pair.program.try_clone().expect("a copy");
    let printing = std::thread::spawn({
        let sent = sent.clone();
        move || program.write_all(&sent).expect("printed")
    });
    let (mut came, mut buffer) = (Vec::<u8>::new(), [0; 1000]);
    while came.len() < sent.len() {
        let count = poll_fn(|context| pair.pty.poll_read(context, &mut buffer)).await.expect("read");
        came.extend(&buffer[..count]);
    }
    assert!(came == sent, "what is printed arrives");
    printing.join().expect("it printed");

    let (mut program, length) = (pair.program, sent.len());
    let reading = std::thread::spawn(move || {
        let mut read = vec![0; length];
        program.read_exact(&mut read).map(|()| read)
    });
    let mut rest = &sent[..];
    while !rest.is_empty() {
        let count = poll_fn(|context| pair.pty.poll_write(context, rest)).await.expect("written");
        rest = &rest[count..];
    }
    assert!(reading.join().expect("it read").expect("all") == sent, "what is typed arrives");
    // Nobody holds the other end, and that is told once.
    assert!(matches!(poll_fn(|context| pair.pty.poll_read(context, &mut buffer)).await, Ok(0)));
}

#[tokio::test]
async fn all_that_is_printed_and_typed_arrives_in_order_and_then_the_end() {
    all_arrives(direct()).await;
    all_arrives(portable()).await;
}
