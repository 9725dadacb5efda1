use std::sync::Arc;

use super::Fake;
use crate::contract::{self, Subject};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_fake_keeps_the_contract() {
    let fake = Arc::new(Fake::new());
    let (crashing, dying) = (Arc::clone(&fake), Arc::clone(&fake));
    let report = contract::check(Subject {
        backend: Arc::clone(&fake) as Arc<_>,
        crash: Some(Box::new(move |page| crashing.crash(page))),
        kill: Some(Box::new(move || dying.kill())),
    })
    .await;
    let skipped: Vec<_> = report.skipped.iter().map(|(what, _)| *what).collect();
    assert_eq!(skipped, ["nodes and windows are refused", "a page sees no cookie and no storage of another"]);
    assert!(fake.is_empty());
}
