//! Members and homes of a cell on a real server.

use std::{sync::Arc, time::Duration};

use tokio::task::JoinSet;
use wharf_cell::{
    Claim, Claimant, Homes as _, Members as _, NewMember, SessionKey,
    contract::{self, life},
};
use wharf_postgres::{ConnectionOptions, PostgresCell};
use wharf_test_support::postgres::PostgresServer;

use super::{fresh, raw};

async fn open(connection: &str) -> PostgresCell {
    PostgresCell::open(connection, &ConnectionOptions::default()).await.expect("a cell")
}

fn member(number: i64) -> NewMember {
    NewMember { files: "shared".to_owned(), ..contract::member(number) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cell_on_a_server_keeps_the_contract() {
    let Some(server) = PostgresServer::start() else { return };
    contract::run(async || open(&fresh(&server).await).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_life_is_32_bits_whatever_they_are() {
    let Some(server) = PostgresServer::start() else { return };
    let cell = open(&fresh(&server).await).await;
    for number in [1, i64::from(u32::MAX)] {
        cell.join(&member(number)).await.expect("it answers").expect("it joins");
    }
    let lives: Vec<_> = cell.list().await.expect("it answers").into_iter().map(|host| host.incarnation).collect();
    assert!(lives.contains(&life(1)) && lives.contains(&life(i64::from(u32::MAX))), "{lives:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hosts_that_claim_and_give_up_at_once_never_share_a_session() {
    let Some(server) = PostgresServer::start() else { return };
    let connection = fresh(&server).await;
    let owner = Arc::new(parking_lot::Mutex::new(None::<i64>));
    let mut hosts = JoinSet::new();
    for number in 1..=4 {
        let cell = open(&connection).await;
        cell.join(&member(number)).await.expect("it answers").expect("it joins");
        let owner = Arc::clone(&owner);
        hosts.spawn(async move {
            let key = SessionKey { tenant: "acme".parse().expect("legal"), session: "s-1".parse().expect("legal") };
            let claimant = Claimant { incarnation: life(number), files: "shared", patience: Duration::ZERO };
            let mut tenures = 0;
            while tenures < 25 {
                let Claim::Mine { epoch } = cell.claim(&key, claimant).await.expect("it answers") else { continue };
                assert_eq!(owner.lock().replace(number), None, "two homes");
                tokio::task::yield_now().await;
                assert_eq!(owner.lock().take(), Some(number), "two homes");
                cell.release(&[(key.clone(), epoch)], life(number)).await.expect("it answers");
                tenures += 1;
            }
        });
    }
    while let Some(ended) = hosts.join_next().await {
        ended.expect("no two homes");
    }
    let left = raw(&connection).await.query_one("SELECT count(*) FROM wharf.home", &[]).await.expect("a count");
    assert_eq!(left.get::<_, i64>(0), 0, "what was given up and had no files leaves no row");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_does_not_answer_is_told_in_time() {
    let Some(mut server) = PostgresServer::start() else { return };
    let cell = open(&fresh(&server).await).await;
    cell.join(&member(1)).await.expect("it answers").expect("it joins");
    server.kill();
    cell.list().await.expect_err("it is gone");
    server.resume();
    wharf_test_support::until_async("it answers again", async || cell.list().await.is_ok()).await;
}
