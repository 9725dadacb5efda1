//! What has changed of what is served, from all who say so, as one sequence.

use tokio::sync::{
    broadcast::{self, error::RecvError},
    watch,
};
use wharf_core::service::offer::Change;

/// Something has changed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// The list of tools.
    Tools,
    /// Something beside tools, or what a plugin says of its tools.
    Offer(Change),
    /// More of what is beside tools than could be followed.
    Missed,
}

/// Where news comes from.
pub(crate) struct Source {
    pub(crate) tools: Option<watch::Receiver<u64>>,
    pub(crate) offers: Option<broadcast::Receiver<Change>>,
}

enum Heard {
    Tools(Result<(), watch::error::RecvError>),
    Offer(Result<Change, RecvError>),
}

impl Source {
    /// The next news; never, where nothing changes any more. Loses nothing where it is
    /// dropped.
    pub(crate) async fn next(&mut self) -> News {
        loop {
            let heard = tokio::select! {
                changed = of_tools(&mut self.tools) => Heard::Tools(changed),
                change = of_offers(&mut self.offers) => Heard::Offer(change),
            };
            match heard {
                Heard::Tools(Ok(())) => return News::Tools,
                Heard::Tools(Err(_)) => self.tools = None,
                Heard::Offer(Ok(change)) => return News::Offer(change),
                Heard::Offer(Err(RecvError::Lagged(_))) => return News::Missed,
                Heard::Offer(Err(RecvError::Closed)) => self.offers = None,
            }
        }
    }
}

async fn of_tools(tools: &mut Option<watch::Receiver<u64>>) -> Result<(), watch::error::RecvError> {
    match tools {
        Some(tools) => tools.changed().await,
        None => std::future::pending().await,
    }
}

async fn of_offers(offers: &mut Option<broadcast::Receiver<Change>>) -> Result<Change, RecvError> {
    match offers {
        Some(offers) => offers.recv().await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use wharf_core::service::Audience;

    use super::*;

    #[tokio::test]
    async fn news_of_one_kind_goes_on_when_the_other_has_ended() {
        let (tools, seen) = watch::channel(0);
        let (offers, changes) = broadcast::channel(2);
        let mut source = Source { tools: Some(seen), offers: Some(changes) };
        tools.send_replace(1);
        assert_eq!(source.next().await, News::Tools);
        drop(tools);
        offers.send(Change::Prompts(Audience::default())).expect("heard");
        assert_eq!(source.next().await, News::Offer(Change::Prompts(Audience::default())));
        for _ in 0..5 {
            offers.send(Change::Resources(Audience::default())).expect("heard");
        }
        assert_eq!(source.next().await, News::Missed);
        assert_eq!(source.next().await, News::Offer(Change::Resources(Audience::default())));
    }
}
