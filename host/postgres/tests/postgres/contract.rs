//! The contract of stores.

use std::sync::Arc;

use wharf_postgres::{PostgresOptions, PostgresStore};
use wharf_state::{StateStore, contract};
use wharf_test_support::postgres::PostgresServer;

use super::fresh;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgresql_keeps_the_contract() {
    let Some(server) = PostgresServer::start() else { return };
    contract::check(|ceilings, clock| {
        let options = PostgresOptions { ceilings, clock: Some(clock), ..PostgresOptions::default() };
        tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(async {
                let store = PostgresStore::open(&fresh(&server).await, options).await.expect("a store");
                Arc::new(store) as Arc<dyn StateStore>
            })
        })
    })
    .await;
}
