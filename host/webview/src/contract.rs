//! The suite that every backend passes: what [`WebViewBackend`] promises, as plugins
//! see it through [`crate::WebViews`]. It knows nothing of how a backend runs a page.

mod bench;
mod crowds;
mod dialogs;
mod endings;
mod navigations;
mod reports;
mod results;
mod scripts;
mod server;
mod tap;
mod worlds;

use std::{fmt, sync::Arc};

use self::bench::Bench;
use crate::{PageId, WebViewBackend};

/// A backend, and the ways to hurt it that only it knows.
pub struct Subject {
    /// The backend. The suite ends it.
    pub backend: Arc<dyn WebViewBackend>,
    /// Crashes a page.
    pub crash: Option<Box<dyn Fn(PageId) + Send + Sync>>,
    /// Ends what runs the pages, as if it were killed.
    pub kill: Option<Box<dyn Fn() + Send + Sync>>,
}

/// What the suite found.
#[derive(Debug, Default)]
pub struct Report {
    /// The promises that are kept.
    pub kept: Vec<&'static str>,
    /// Those that were not tried, and why.
    pub skipped: Vec<(&'static str, &'static str)>,
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for kept in &self.kept {
            writeln!(formatter, "kept     {kept}")?;
        }
        for (skipped, why) in &self.skipped {
            writeln!(formatter, "skipped  {skipped}: {why}")?;
        }
        Ok(())
    }
}

/// Checks every promise, one after the other. Needs a tokio runtime with at least
/// two threads.
///
/// # Panics
/// Where a promise is broken.
pub async fn check(subject: Subject) -> Report {
    let mut report = Report::default();
    let bench = Bench::new(&subject.backend).await;
    let features = bench.features().await;
    macro_rules! keep {
        ($what:literal, $checked:expr) => {{
            tracing::info!("checks: {}", $what);
            $checked.await;
            report.kept.push($what);
        }};
    }
    macro_rules! keep_if {
        ($able:expr, $why:literal, $what:literal, $checked:expr) => {
            if $able { keep!($what, $checked) } else { report.skipped.push(($what, $why)) }
        };
    }
    let can = |operation| bench.pages_can(operation);
    keep!("a script that comes before its page is open waits for it", scripts::early(&bench));
    keep!("expressions, statements and promises come to what they say", scripts::values(&bench));
    keep!("what a script throws is told, and what cannot be parsed does not run", scripts::failures(&bench));
    keep!("a promise that never settles ends by its deadline and holds up nobody", scripts::never(&bench));
    keep_if!(
        can("stop"),
        "it stops no script",
        "an endless loop ends by deadline and by cancelling, and its page goes on",
        scripts::endless(&bench)
    );
    keep!("what cannot be JSON is refused with what to do", results::unserialisable(&bench));
    keep_if!(features.document, "it has no document", "nodes and windows are refused", results::nodes(&bench));
    keep!("half of a character becomes one that can be sent", results::surrogates(&bench));
    keep!("a cut result pages to exactly the whole", results::paged(&bench));
    keep!("50 MB are cut in the page and paged from there", results::large(&bench));
    keep!("a result that nobody polls is dropped and remembered as expired", results::never_polled(&bench));
    keep_if!(
        can("navigate"),
        "it cannot navigate",
        "navigating fails scripts that are pending, and tells where it went",
        navigations::navigate(&bench)
    );
    keep_if!(
        can("navigate"),
        "it cannot navigate",
        "a script that sends its page elsewhere ends with that",
        navigations::by_script(&bench)
    );
    keep_if!(
        features.document && can("navigate"),
        "it has no document",
        "a page sees no cookie and no storage of another",
        navigations::storage(&bench)
    );
    keep!("a dialog waits for its answer, and is told", dialogs::reported(&bench));
    keep!("dialogs are accepted and dismissed at once where that is asked for", dialogs::at_once(&bench));
    keep!("a dialog that nobody answers is dismissed in the end", dialogs::forgotten(&bench));
    keep_if!(
        bench.backend.abilities().isolated_world,
        "it has no isolated world",
        "the isolated world is out of reach of the page's scripts",
        worlds::isolated(&bench)
    );
    keep!("what is forged, late or told twice changes nothing", reports::check(&bench));
    keep_if!(
        can("stop"),
        "it stops no script",
        "100 scripts in 10 pages: one stuck, one behind a dialog, the others unharmed",
        crowds::check(&bench)
    );
    keep!("closing a page cancels what is pending", endings::close(&bench));
    match &subject.crash {
        Some(crash) if can("navigate") => {
            keep!("a crash fails what is pending, until the page is navigated", endings::crash(&bench, crash));
        }
        _ => report.skipped.push(("a crash fails what is pending", "nothing crashes a page here")),
    }
    match &subject.kill {
        Some(kill) => keep!("what runs pages may die: what is pending fails", endings::kill(&bench, kill)),
        None => report.skipped.push(("what runs pages may die", "nothing kills it here")),
    }
    keep!("after the end nothing is begun", endings::shut_down(&bench));
    report
}
