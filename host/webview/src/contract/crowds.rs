//! Many scripts in many pages, some of which are stuck.

use std::time::Duration;

use super::bench::{Bench, PATIENCE, failure};
use crate::{DialogAnswer, FailureKind, OutcomeState, Script};

pub(super) async fn check(bench: &Bench) {
    let pages: Vec<_> = (0..10).map(|_| bench.open()).collect();
    for page in &pages {
        assert_eq!(page.value("1").await, 1);
    }
    let [stuck, asking, others @ ..] = pages.as_slice() else { return };
    let looping = stuck.begin(Script { deadline: Some(Duration::from_secs(3)), ..Script::new("while (true) {}") });
    let asks = asking.execute("confirm('sure?')");
    let expected = |number: usize| format!("\"result {number}\"");
    let run = |page: &super::bench::Page<'_>, number| page.execute(&format!("'result ' + {number}"));
    // Behind the loop, and before the dialog is told or behind it.
    let behind: Vec<_> = (0..10).map(|number| (run(stuck, number), number)).collect();
    let begun: Vec<_> = others
        .iter()
        .flat_map(|page| (0..10).map(move |number| (page, number)))
        .map(|(page, number)| (page, run(page, number), number))
        .collect();
    for (page, request, number) in begun {
        let outcome = page.wait(request).await;
        assert_eq!(outcome.state, OutcomeState::Done, "{:?}", outcome.failure);
        assert_eq!(outcome.data[..], *expected(number).as_bytes());
    }
    assert!(asking.wait(asks).await.dialog.is_some());
    let answer = DialogAnswer { accept: true, text: None };
    asking.pages().answer_dialog(&asking.owner, asking.id, answer).expect("a dialog");
    assert_eq!(asking.wait(asks).await.data[..], *b"true");
    for number in 0..10 {
        assert_eq!(asking.value(&format!("'result ' + {number}")).await, format!("result {number}"));
    }
    assert_eq!(failure("a loop", &stuck.pages().wait(&stuck.owner, looping, PATIENCE).await).0, FailureKind::TimeOut);
    for (request, number) in behind {
        let outcome = stuck.wait(request).await;
        assert_eq!(outcome.state, OutcomeState::Done, "{:?}", outcome.failure);
        assert_eq!(outcome.data[..], *expected(number).as_bytes());
    }
    for page in &pages {
        page.close().await;
    }
}
