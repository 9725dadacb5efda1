use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::Map;

use super::*;
use crate::PageShares;

const SCRIPT: RequestWork = RequestWork::Script { isolated: false, frame: None, max_bytes: 100 };

fn limits() -> WebViewLimits {
    WebViewLimits {
        requests_per_page: 4,
        result_bytes_per_page: 100,
        kept_seconds: 10,
        tombstones_per_page: 3,
        ..WebViewLimits::default()
    }
}

fn task(work: RequestWork) -> RequestTask {
    RequestTask { kind: "script", work, shares: PageShares::alone(&WebViewLimits::default()).request(0).expect("room") }
}

fn done(bytes: usize) -> RequestEnd {
    let data: Vec<u8> = vec![b'x'; bytes];
    let (bytes, data) = (bytes as u64, data.into());
    RequestEnd::Done(RequestResult { mime_type: "application/json", data, bytes, rest: None, meta: Map::new() })
}

struct Begun {
    id: RequestId,
    token: Token,
}

fn begin(requests: &mut Requests, now: Instant, seconds: u64) -> Result<Begun, AllPending> {
    let begun = Begun { id: RequestId::random().expect("randomness"), token: Token::random().expect("randomness") };
    requests.begin(now, begun.id, begun.token, task(SCRIPT), Duration::from_secs(seconds))?;
    Ok(begun)
}

fn word(requests: &Requests, id: RequestId) -> &'static str {
    match requests.look(id) {
        RequestLookup::Kept(Request { state: RequestState::Pending { .. }, .. }) => "pending",
        RequestLookup::Kept(Request { state: RequestState::Ended { ended: RequestEnd::Done(_), .. }, .. }) => "done",
        RequestLookup::Kept(Request {
            state: RequestState::Ended { ended: RequestEnd::Failed(failure), .. }, ..
        }) => failure.kind.as_str(),
        RequestLookup::Expired => "expired",
        RequestLookup::Unknown => "unknown",
    }
}

#[test]
fn a_request_goes_from_pending_to_done_to_expired_to_unknown() {
    let (mut requests, start) = (Requests::new(Arc::new(limits())), Instant::now());
    let at = |seconds| start + Duration::from_secs(seconds);
    let one = begin(&mut requests, start, 30).expect("room");
    assert_eq!((word(&requests, one.id), requests.next()), ("pending", Some(at(30))));
    assert_eq!(requests.claim(one.token), Some((one.id, SCRIPT)));
    assert_eq!(requests.claim(one.token), None, "a token settles once");
    assert!(requests.finish(at(1), one.id, done(5), None));
    assert!(!requests.finish(at(1), one.id, done(6), None), "what came first stays");
    assert_eq!((word(&requests, one.id), requests.held(), requests.next()), ("done", (1, 5), Some(at(11))));
    assert!(requests.pass(at(10)).is_empty());
    assert_eq!(word(&requests, one.id), "done");
    assert!(requests.pass(at(11)).is_empty());
    assert_eq!((word(&requests, one.id), requests.held(), requests.next()), ("expired", (0, 0), None));
    for _ in 0..3 {
        let other = begin(&mut requests, at(12), 30).expect("room");
        requests.finish(at(12), other.id, done(1), None);
        assert!(requests.acknowledge(other.id));
        assert_eq!(word(&requests, other.id), "expired");
    }
    assert_eq!(word(&requests, one.id), "unknown", "the fourth in a row pushes out the first");
}

#[test]
fn a_deadline_ends_a_request_as_of_its_time_and_says_whom_to_interrupt() {
    let (mut requests, start) = (Requests::new(Arc::new(limits())), Instant::now());
    let one = begin(&mut requests, start, 5).expect("room");
    let two = begin(&mut requests, start, 2).expect("room");
    assert_eq!(requests.pass(start + Duration::from_secs(60)), [two.token, one.token]);
    // Both are long over, and even their ends are not kept any more.
    assert_eq!([word(&requests, one.id), word(&requests, two.id)], ["expired"; 2]);
    let three = begin(&mut requests, start, 5).expect("room");
    assert_eq!(requests.pass(start + Duration::from_secs(5)), [three.token]);
    assert_eq!(word(&requests, three.id), "time-out");
    assert_eq!(requests.claim(three.token), None, "a result that comes later is nobody's");
}

#[test]
fn the_oldest_end_makes_room_and_where_all_are_pending_nothing_does() {
    let (mut requests, start) = (Requests::new(Arc::new(limits())), Instant::now());
    let all: Vec<_> = (0..4).map(|_| begin(&mut requests, start, 30).expect("room")).collect();
    assert_eq!(begin(&mut requests, start, 30).err(), Some(AllPending));
    requests.finish(start, all[2].id, done(1), None);
    requests.finish(start, all[0].id, done(1), None);
    begin(&mut requests, start, 30).expect("room");
    assert_eq!([word(&requests, all[2].id), word(&requests, all[0].id)], ["expired", "done"]);
    assert!(!requests.acknowledge(all[1].id), "what is pending is as it was");
    assert_eq!(word(&requests, all[1].id), "pending");
}

#[test]
fn results_are_kept_up_to_their_bytes_and_the_newest_always() {
    let (mut requests, start) = (Requests::new(Arc::new(limits())), Instant::now());
    let all: Vec<_> = (0..3).map(|_| begin(&mut requests, start, 30).expect("room")).collect();
    requests.finish(start, all[0].id, done(60), None);
    requests.finish(start, all[1].id, done(40), None);
    assert_eq!(requests.held(), (2, 100));
    requests.finish(start, all[2].id, done(1), None);
    assert_eq!(requests.held(), (2, 41));
    let last = begin(&mut requests, start, 30).expect("room");
    requests.finish(start, last.id, done(100), None);
    assert_eq!((requests.held(), word(&requests, last.id)), ((1, 100), "done"));
}

#[test]
fn leaving_a_document_ends_what_is_about_it_and_nothing_else() {
    let (mut requests, start) = (Requests::new(Arc::new(WebViewLimits::default())), Instant::now());
    let works = [
        (SCRIPT, "navigated"),
        (RequestWork::Order(OrderEffect::Document), "navigated"),
        (RequestWork::Order(OrderEffect::Navigation), "pending"),
        (RequestWork::Order(OrderEffect::Resize { width: 1, height: 1 }), "pending"),
        (RequestWork::Order(OrderEffect::Other), "pending"),
    ];
    let begun: Vec<_> = works
        .into_iter()
        .map(|(work, expected)| {
            let (id, token) = (RequestId::random().expect("randomness"), Token::random().expect("randomness"));
            requests.begin(start, id, token, task(work), Duration::from_secs(1)).expect("room");
            (id, expected)
        })
        .collect();
    requests.leave_document(start, &Failure::new(FailureKind::Navigated, "elsewhere"));
    for (id, expected) in begun {
        assert_eq!(word(&requests, id), expected);
    }
}

/// What may happen to requests.
#[derive(Debug, Clone)]
enum Step {
    Begin { seconds: u64 },
    BeginFailed,
    Settle { which: usize, bytes: usize },
    SettleAgain { which: usize },
    Cancel { which: usize },
    Acknowledge { which: usize },
    Leave,
    Wait { seconds: u64 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (1..20_u64).prop_map(|seconds| Step::Begin { seconds }),
        1 => Just(Step::BeginFailed),
        3 => (0..100_usize, 0..90_usize).prop_map(|(which, bytes)| Step::Settle { which, bytes }),
        1 => (0..100_usize).prop_map(|which| Step::SettleAgain { which }),
        1 => (0..100_usize).prop_map(|which| Step::Cancel { which }),
        1 => (0..100_usize).prop_map(|which| Step::Acknowledge { which }),
        1 => Just(Step::Leave),
        3 => (0..15_u64).prop_map(|seconds| Step::Wait { seconds }),
    ];
    prop::collection::vec(step, 1..120)
}

fn rank(word: &str) -> u8 {
    match word {
        "pending" => 0,
        "expired" => 2,
        "unknown" => 3,
        _ => 1,
    }
}

proptest! {
    #[test]
    fn no_request_ever_goes_back_and_every_limit_holds_after_each_step(steps in steps()) {
        let limits = limits();
        let (mut requests, mut now) = (Requests::new(Arc::new(limits)), Instant::now());
        let mut all: Vec<Begun> = Vec::new();
        // What each was when somebody last looked.
        let mut known: HashMap<RequestId, &'static str> = HashMap::new();
        for step in steps {
            let pick = |which: usize| (!all.is_empty()).then(|| which % all.len());
            match step {
                Step::Begin { seconds } => {
                    let pending = requests.pending();
                    match begin(&mut requests, now, seconds) {
                        Ok(begun) => {
                            known.insert(begun.id, "pending");
                            all.push(begun);
                        }
                        Err(AllPending) => prop_assert_eq!(pending, 4),
                    }
                }
                Step::BeginFailed => {
                    let id = RequestId::random().expect("randomness");
                    let failure = Failure::new(FailureKind::DialogOpen, "a dialog");
                    let _ = requests.begin_failed(now, id, task(SCRIPT), failure);
                }
                Step::Settle { which, bytes } => if let Some(which) = pick(which) {
                    let Begun { id, token } = all[which];
                    let pending = word(&requests, id) == "pending";
                    let claimed = requests.claim(token).is_some();
                    prop_assert_eq!(claimed, pending);
                    prop_assert_eq!(requests.finish(now, id, done(bytes), None), pending);
                },
                Step::SettleAgain { which } => if let Some(which) = pick(which) {
                    let before = word(&requests, all[which].id);
                    if before != "pending" {
                        prop_assert!(requests.claim(all[which].token).is_none());
                        prop_assert!(!requests.finish(now, all[which].id, done(1), None));
                        prop_assert_eq!(word(&requests, all[which].id), before);
                    }
                },
                Step::Cancel { which } => if let Some(which) = pick(which) {
                    let pending = word(&requests, all[which].id) == "pending";
                    let failure = Failure::new(FailureKind::Cancelled, "cancelled");
                    let token = requests.fail(now, all[which].id, failure);
                    prop_assert_eq!(token, pending.then_some(all[which].token));
                },
                Step::Acknowledge { which } => if let Some(which) = pick(which) {
                    let ended = rank(word(&requests, all[which].id)) == 1;
                    prop_assert_eq!(requests.acknowledge(all[which].id), ended);
                },
                Step::Leave => {
                    requests.leave_document(now, &Failure::new(FailureKind::Navigated, "elsewhere"));
                    prop_assert_eq!(requests.pending(), 0);
                }
                Step::Wait { seconds } => now += Duration::from_secs(seconds),
            }
            requests.pass(now);
            let (mut pending, mut ended) = (0, 0);
            for Begun { id, token } in &all {
                let word = word(&requests, *id);
                let before = known.insert(*id, word).expect("known");
                prop_assert!(rank(before) < rank(word) || before == word, "{} became {}", before, word);
                prop_assert_eq!(requests.awaits(*token), word == "pending");
                pending += usize::from(rank(word) == 0);
                ended += usize::from(rank(word) == 1);
            }
            let (held, bytes) = requests.held();
            prop_assert_eq!(requests.pending(), pending);
            prop_assert!(held >= ended && held + pending <= 4);
            prop_assert!(bytes <= 100 || held == 1);
            prop_assert!(requests.remembered() <= 3);
            prop_assert!(requests.next().is_none_or(|next| next > now), "what is due is done");
        }
    }
}
