//! Whose stream it is where many hosts serve as one.

use std::num::NonZeroU32;

use wharf_core::handle::HandleMint;

use super::*;

/// What is answered for a stream that is not there for this session.
fn refusals(streams: &Streams, session: &str, id: StreamId) -> [StreamError; 3] {
    let context = context(session);
    [
        streams.reader(&context, id).expect_err("absent"),
        streams.writer(&StreamOwner::host(&context), id).expect_err("absent"),
        streams.delete(&context, id).expect_err("absent"),
    ]
}

fn mint(incarnation: u32) -> HandleMint {
    HandleMint::of(NonZeroU32::new(incarnation).expect("not zero"))
}

/// The id of a stream that is nowhere.
fn id_of(mint: &HandleMint) -> StreamId {
    mint.handle().map(StreamId).expect("randomness")
}

#[tokio::test(start_paused = true)]
async fn what_ended_with_another_host_is_gone_and_what_this_one_never_had_is_not_found() {
    let streams = Streams::new(StreamLimits::default()).with_handles(mint(0xa1));
    let ids: Vec<_> = (0..2).map(|_| streams.open(owner(), one()).expect("opens").id()).collect();
    assert!(ids.iter().all(|id| id.to_string().starts_with("000000a1")) && ids[0] != ids[1], "{ids:?}");
    for error in refusals(&streams, "s", id_of(&mint(0xa2))) {
        assert!(error.to_string().contains("open another one"), "{error}");
        assert_eq!(code(error), Code::Gone);
    }
    for (session, id) in [("s", id_of(&mint(0xa1))), ("s", id_of(&HandleMint::default())), ("t", ids[0])] {
        assert_eq!(refusals(&streams, session, id).map(code), [Code::NotFound; 3]);
    }
    let alone = Streams::new(StreamLimits::default());
    assert_eq!(refusals(&alone, "s", ids[0]).map(code), [Code::NotFound; 3]);
}

#[tokio::test(start_paused = true)]
async fn what_an_earlier_incarnation_opened_is_gone_although_it_is_still_there() {
    let handles = mint(0xa1);
    let streams = Streams::new(StreamLimits::default()).with_handles(handles.clone());
    let id = streams.open(owner(), one()).expect("opens").id();
    say(&streams.writer(&owner(), id).expect("there"), "still").expect("open");
    handles.change(NonZeroU32::new(0xa2).expect("not zero"));
    // Nobody can tell whether it is there, nor whose it is.
    for (session, id) in [("s", id), ("t", id), ("t", id_of(&mint(0xa1)))] {
        assert_eq!(refusals(&streams, session, id).map(code), [Code::Gone; 3]);
    }
}
