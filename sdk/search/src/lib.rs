//! Full-text search over the state of a plugin.
//!
//! An [`Index`] lives in a bucket beside the plugin's own entries. Adding a
//! document writes its part of the index, and whatever else the plugin wants to
//! change, in one atomic step: a host that is killed leaves all of it or
//! nothing. What was added is found at once, what was deleted counts no more at
//! once, and statistics are those of this index only.
//!
//! ```
//! use wharf_sdk::testing::TestCall;
//! use wharf_sdk::{Change, Scope};
//! use wharf_search::{CallStore, Document, Index, Search, IndexSettings};
//!
//! # fn main() -> Result<(), wharf_sdk::ToolError> {
//! let call = TestCall::new().call();
//! let bucket = call.state(Scope::Session, "notes")?;
//! let index = Index::new(CallStore::new(&call, &bucket), "index/", IndexSettings::default())?;
//!
//! let text = "The harbour opens at six.";
//! let document = Document { text, tags: &["harbour.txt"], stored: text.as_bytes() };
//! index.add(&[document], |ids| Ok(vec![Change::put("notes/1", ids[0].0.to_string())]))?;
//!
//! let found = index.search("harbour opening -closed", &Search::default())?;
//! assert_eq!(found.hits[0].stored, text.as_bytes());
//! assert_eq!(found.query.snippet(text, 80).marked("**", "**"), "The **harbour** opens at six.");
//! # Ok(())
//! # }
//! ```
//!
//! # How it is stored
//!
//! Documents are numbered. A *segment* holds the postings of a range of numbers,
//! spread over buckets by the hash of the term, and is never changed; a *header*
//! names the segments and what was deleted from them, and is replaced by
//! compare-and-swap. Small segments are merged, and what was deleted goes then.
//! A search reads the header, then the buckets of its terms, then what is stored
//! with its hits: three host calls, however large the index.

mod analysis;
mod bytes;
mod error;
mod header;
mod index;
mod lookup;
mod merge;
mod payload;
mod phrase;
mod postings;
mod query;
mod rank;
mod read;
mod score;
mod seal;
mod search;
mod segment;
mod snippet;
mod store;

pub use analysis::{Analysis, Token};
pub use error::SearchError;
pub use index::{Document, DocumentId, Index, IndexSettings, Statistics};
pub use query::Query;
pub use score::Bm25;
pub use search::{Hit, MatchCount, Search, SearchResults};
pub use snippet::Snippet;
pub use store::{CallStore, Store};
