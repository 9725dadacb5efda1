//! Waits until nothing is loaded.

use std::{sync::Arc, time::Duration};

use super::outcome::{OrderWork, nothing};
use crate::page::Page;

/// Done once nothing was loaded for as long as `idle`.
pub(super) fn wait(page: &Arc<Page>, idle: Duration) -> OrderWork {
    let page = Arc::clone(page);
    Box::pin(async move {
        loop {
            let since = page.until(|state| state.traffic.idle()).await;
            let left = idle.saturating_sub(since.elapsed());
            if left.is_zero() {
                return Ok(nothing());
            }
            tokio::time::sleep(left).await;
            if page.state().traffic.idle() == Some(since) {
                return Ok(nothing());
            }
        }
    })
}
