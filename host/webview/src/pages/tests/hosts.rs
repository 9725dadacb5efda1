//! Whose page it is where many hosts serve as one.

use std::{num::NonZeroU32, time::Duration};

use wharf_core::{Code, Context, Error, handle::HandleMint};

use super::support::Bench;
use crate::{DialogAnswer, LogName, OutcomeState, PageId, RequestId, Script, Settings, WebViewError};

const SHORT: Duration = Duration::from_millis(1);

fn mint(incarnation: u32) -> HandleMint {
    HandleMint::of(NonZeroU32::new(incarnation).expect("not zero"))
}

/// Ids of a page and a request that are nowhere.
fn ids_of(mint: &HandleMint) -> (PageId, RequestId) {
    let handle = || mint.handle().expect("randomness");
    (PageId(handle()), RequestId(handle()))
}

fn bench(handles: HandleMint) -> Bench {
    Bench::with(Settings { handles, ..Settings::default() })
}

fn stranger(bench: &Bench) -> Bench {
    bench.seen_by(Context { session: "two".parse().expect("an id"), ..bench.context.clone() }, "browser")
}

/// What is answered to all that an owner can ask of a page and a request that are not
/// there for it.
async fn refusals(bench: &Bench, (page, request): (PageId, RequestId)) -> [WebViewError; 11] {
    let (pages, owner) = (&bench.pages, &bench.owner());
    let answer = DialogAnswer { accept: true, text: None };
    let errors = [
        pages.info(owner, page).err(),
        pages.close(owner, page, SHORT).await.err(),
        pages.execute(owner, page, Script::new("1")).err(),
        bench.try_perform(page, "stop", "").err(),
        pages.answer_dialog(owner, page, answer).err(),
        pages.entries(owner, page, LogName::Console, 0, 10).err(),
        pages.requests(owner, page).err(),
        pages.page_of(owner, request).err(),
        pages.acknowledge(owner, request).err(),
        pages.cancel(owner, request).err(),
        pages.read_result(owner, request, 0, 10, SHORT).await.err(),
    ];
    errors.map(|error| error.expect("refused"))
}

async fn assert_gone(bench: &Bench, ids: (PageId, RequestId)) {
    let refusals = refusals(bench, ids).await;
    let is_gone = |error: &WebViewError, of| matches!(error, WebViewError::HostEnded { what } if *what == of);
    assert!(refusals[..7].iter().all(|error| is_gone(error, "page")), "{refusals:?}");
    assert!(refusals[7..].iter().all(|error| is_gone(error, "request")), "{refusals:?}");
    for error in refusals.map(Error::from) {
        assert_eq!((error.code, error.retryable), (Code::Gone, false));
        assert!(error.message.contains("open another page"), "{}", error.message);
    }
    assert_eq!(states(bench, ids.1).await, [OutcomeState::Expired; 2]);
}

async fn assert_not_found(bench: &Bench, ids: (PageId, RequestId)) {
    let refusals = refusals(bench, ids).await;
    assert!(refusals[..7].iter().all(|error| matches!(error, WebViewError::NoPage)), "{refusals:?}");
    assert!(refusals[7..].iter().all(|error| matches!(error, WebViewError::NoRequest)), "{refusals:?}");
    assert_eq!(states(bench, ids.1).await, [OutcomeState::Unknown; 2]);
}

async fn states(bench: &Bench, request: RequestId) -> [OutcomeState; 2] {
    [bench.poll(request).state, bench.pages.wait(&bench.owner(), request, SHORT).await.state]
}

#[tokio::test(start_paused = true)]
async fn what_ended_with_another_host_is_gone_and_what_this_one_never_had_is_not_found() {
    let bench = bench(mint(0xa1));
    let (page, other_page) = (bench.open(), bench.open());
    let (request, other_request) = (bench.execute(page), bench.execute(page));
    for id in [page.to_string(), other_page.to_string(), request.to_string(), other_request.to_string()] {
        assert!(id.starts_with("000000a1"), "{id}");
    }
    assert!(page != other_page && request != other_request);
    assert_gone(&bench, ids_of(&mint(0xa2))).await;
    assert_not_found(&bench, ids_of(&mint(0xa1))).await;
    assert_not_found(&bench, ids_of(&HandleMint::default())).await;
    assert_not_found(&stranger(&bench), (page, request)).await;
}

#[tokio::test(start_paused = true)]
async fn a_host_alone_takes_no_id_for_that_of_another_host() {
    assert_not_found(&bench(HandleMint::default()), ids_of(&mint(0xa1))).await;
}

#[tokio::test(start_paused = true)]
async fn what_an_earlier_incarnation_opened_is_gone_although_it_is_still_there() {
    let handles = mint(0xa1);
    let bench = bench(handles.clone());
    let page = bench.open();
    let request = bench.execute(page);
    bench.settle(page, 10);
    assert_eq!(bench.word(request), "done");
    handles.change(NonZeroU32::new(0xa2).expect("not zero"));
    assert!(bench.open().to_string().starts_with("000000a2"));
    // Nobody can tell whether it is there, nor whose it is.
    assert_gone(&bench, (page, request)).await;
    assert_gone(&stranger(&bench), (page, request)).await;
    assert_gone(&stranger(&bench), ids_of(&mint(0xa1))).await;
}
