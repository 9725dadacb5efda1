//! Changes of what is served, from all sources, as one sequence.

use tokio::sync::{
    broadcast::{self, error::RecvError},
    watch,
};
use wharf_core::service::offer::Change;

/// A change of what is served.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ChangeNotice {
    /// The list of tools.
    Tools,
    /// Something beside tools, or what a plugin says of its tools.
    Offer(Change),
    /// More of what is beside tools than could be followed.
    Missed,
}

/// Where changes come from.
pub(crate) struct ChangeSource {
    pub(crate) tools: Option<watch::Receiver<u64>>,
    pub(crate) offers: Option<broadcast::Receiver<Change>>,
}

enum SourceEvent {
    Tools(Result<(), watch::error::RecvError>),
    Offer(Result<Change, RecvError>),
}

impl ChangeSource {
    /// The next change; never, where nothing changes any more. Loses nothing where it is
    /// dropped.
    pub(crate) async fn next(&mut self) -> ChangeNotice {
        loop {
            let heard = tokio::select! {
                changed = of_tools(&mut self.tools) => SourceEvent::Tools(changed),
                change = of_offers(&mut self.offers) => SourceEvent::Offer(change),
            };
            match heard {
                SourceEvent::Tools(Ok(())) => return ChangeNotice::Tools,
                SourceEvent::Tools(Err(_)) => self.tools = None,
                SourceEvent::Offer(Ok(change)) => return ChangeNotice::Offer(change),
                SourceEvent::Offer(Err(RecvError::Lagged(_))) => return ChangeNotice::Missed,
                SourceEvent::Offer(Err(RecvError::Closed)) => self.offers = None,
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
        let mut source = ChangeSource { tools: Some(seen), offers: Some(changes) };
        tools.send_replace(1);
        assert_eq!(source.next().await, ChangeNotice::Tools);
        drop(tools);
        offers.send(Change::Prompts(Audience::default())).expect("heard");
        assert_eq!(source.next().await, ChangeNotice::Offer(Change::Prompts(Audience::default())));
        for _ in 0..5 {
            offers.send(Change::Resources(Audience::default())).expect("heard");
        }
        assert_eq!(source.next().await, ChangeNotice::Missed);
        assert_eq!(source.next().await, ChangeNotice::Offer(Change::Resources(Audience::default())));
    }
}
