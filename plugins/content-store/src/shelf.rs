//! The contents of the scope that a call belongs to, kept beside their index.
//!
//! A content is a record, a map of its lines, and its passages, which the index
//! keeps for its hits. All of it comes and goes with the index in one step, so that a call that
//! is killed on the way leaves a content absent or whole, and every hit leads to a content.

use serde::{Deserialize, Serialize};
use wharf_documents::Chunk;
use wharf_sdk::{Bucket, Call, Change, Entry, Scope, ToolError};
use wharf_search::{Analysis, Bm25, CallStore, DocumentId, Index, IndexSettings, Search, SearchResults};

use crate::content::{ContentId, ContentMetadata, RECORDS, StoredContent, unknown};
use crate::document::ReceivedDocument;
use crate::limits;
use crate::lines::LineIndex;
use crate::passage::{Heading, Passage};

const BUCKET: &str = "contents";
const INDEX: &str = "i/";
const TOTALS: &str = "t";

/// How the words of contents and queries are understood. An index keeps what it
/// was made with, so this never changes.
const ANALYSIS: Analysis = Analysis { english_stems: true, english_stop_words: true };

/// What the scope holds in all. Changes with the index only, so it needs no
/// revision of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Totals {
    pub(crate) contents: u64,
    pub(crate) text_bytes: u64,
}

pub(crate) struct Shelf<'call> {
    call: &'call Call,
    bucket: Bucket<'call>,
}

/// A document on its way in.
pub(crate) struct NewContent {
    pub(crate) name: Option<String>,
    /// Bytes of the document that it was read from.
    pub(crate) document_bytes: usize,
    pub(crate) document: ReceivedDocument,
}

/// All of a content that does not depend on where its passages come to lie.
struct PreparedContent {
    random: String,
    text: String,
    passages: Vec<Chunk>,
    /// What the index keeps of each passage.
    stored: Vec<Vec<u8>>,
    tags: [String; 3],
    lines: Vec<u8>,
    about: ContentMetadata,
}

impl PreparedContent {
    fn new(NewContent { name, document_bytes, document }: NewContent) -> Result<Self, ToolError> {
        let random = ContentId::random()?;
        let ReceivedDocument { format, title, text, passages, warnings } = document;
        let mime = format.mime();
        let mut stored = Vec::with_capacity(passages.len());
        for (number, passage) in (0..).zip(&passages) {
            let heading = Heading {
                content: random.clone(),
                name: name.clone(),
                number,
                lines: (passage.first_line, passage.last_line),
                page: passage.page,
                headings: passage.headings.clone(),
            };
            stored.push(Passage { heading, text: &text[passage.bytes.clone()] }.encode()?);
        }
        let about = ContentMetadata {
            name,
            title,
            mime_type: mime.to_owned(),
            lines: passages.last().map_or(0, |passage| passage.last_line),
            text_bytes: text.len(),
            document_bytes,
            chunks: passages.len(),
            created_at: wharf_sdk::clock::now(),
            warnings,
        };
        let lines = LineIndex::of(passages.iter().map(|passage| &text[passage.bytes.clone()])).encode();
        let tags = [content_tag(&random), mime_tag(mime), kind_tag(mime)];
        Ok(Self { random, text, passages, stored, tags, lines, about })
    }
}

/// A page of contents.
pub(crate) struct ContentList {
    pub(crate) contents: Vec<StoredContent>,
    pub(crate) has_more: bool,
    pub(crate) totals: Totals,
}

/// What a search may be narrowed to.
#[derive(Debug, Default)]
pub(crate) struct SearchFilter {
    pub(crate) contents: Vec<ContentId>,
    /// Such as `text/html`, or `text/*` for all of a kind.
    pub(crate) mime_types: Vec<String>,
}

impl<'call> Shelf<'call> {
    pub(crate) fn open(call: &'call Call) -> Result<Self, ToolError> {
        let bucket = call.state(Scope::Default, BUCKET)?;
        let bucket = bucket.when_full("delete_content makes room, and list_contents shows what there is");
        Ok(Self { call, bucket })
    }

    fn index(&self) -> Result<Index<CallStore<'_>>, ToolError> {
        let settings = IndexSettings { analysis: ANALYSIS, bm25: Bm25::default(), step_bytes: limits::STEP_BYTES };
        Ok(Index::new(CallStore::new(self.call, &self.bucket), INDEX, settings)?)
    }

    /// Keeps documents in one step, in their order.
    pub(crate) fn add(&self, contents: Vec<NewContent>) -> Result<Vec<StoredContent>, ToolError> {
        let contents = contents.into_iter().map(PreparedContent::new).collect::<Result<Vec<_>, _>>()?;
        let tags: Vec<Vec<&str>> =
            contents.iter().map(|content| content.tags.iter().map(String::as_str).collect()).collect();
        let documents: Vec<wharf_search::Document<'_>> = contents
            .iter()
            .zip(&tags)
            .flat_map(|(content, tags)| {
                let texts = content.passages.iter().map(|passage| &content.text[passage.bytes.clone()]);
                texts.zip(&content.stored).map(move |(text, stored)| wharf_search::Document { text, tags, stored })
            })
            .collect();
        let mut added = Vec::new();
        self.index()?.add(&documents, |ids| {
            let mut totals = totals(self.bucket.get(TOTALS)?.as_ref())?;
            let mut changes = Vec::with_capacity(2 * contents.len() + 1);
            let mut ids = ids.iter();
            added.clear();
            for content in &contents {
                let first = ids.next().map(|DocumentId(first)| *first);
                let first = first.ok_or_else(|| ToolError::internal("a document without a passage"))?;
                // Its other passages follow.
                ids.by_ref().take(content.passages.len() - 1).for_each(drop);
                let id = ContentId { first, random: content.random.clone() };
                let stored = StoredContent { id, about: content.about.clone() };
                totals.contents = totals.contents.saturating_add(1);
                totals.text_bytes = totals.text_bytes.saturating_add(content.text.len() as u64);
                changes.push(Change::put(stored.id.record_key(), stored.encode()?));
                changes.push(Change::put(stored.id.lines_key(), content.lines.clone()));
                added.push(stored);
            }
            changes.push(Change::put_json(TOTALS, &totals)?);
            Ok(changes)
        })?;
        Ok(added)
    }

    pub(crate) fn get(&self, id: &ContentId) -> Result<StoredContent, ToolError> {
        found(id, self.bucket.get(&id.record_key())?.as_ref())
    }

    /// Removes a content with all of its passages, and returns it.
    pub(crate) fn delete(&self, id: &ContentId) -> Result<StoredContent, ToolError> {
        let content = self.get(id)?;
        let count = u64::try_from(content.about.chunks).unwrap_or(u64::MAX);
        let passages: Vec<DocumentId> = (id.first..id.first.saturating_add(count)).map(DocumentId).collect();
        let key = id.record_key();
        self.index()?.delete(&passages, || {
            let [record, before] = self.two(&key, TOTALS)?;
            // Somebody else may have been faster.
            found(id, record.as_ref())?;
            let mut totals = totals(before.as_ref())?;
            totals.contents = totals.contents.saturating_sub(1);
            totals.text_bytes = totals.text_bytes.saturating_sub(content.about.text_bytes as u64);
            Ok(vec![Change::delete(key.clone()), Change::delete(id.lines_key()), Change::put_json(TOTALS, &totals)?])
        })?;
        Ok(content)
    }

    /// Contents from the newest one after `after` on.
    pub(crate) fn list(&self, after: Option<&ContentId>, limit: usize) -> Result<ContentList, ToolError> {
        let totals = totals(self.bucket.get(TOTALS)?.as_ref())?;
        let mut after = after.map(ContentId::record_key);
        let (mut contents, mut bytes) = (Vec::new(), 0);
        loop {
            let ask = u32::try_from(limit - contents.len()).unwrap_or(u32::MAX);
            let page = self.bucket.scan(RECORDS, after.as_deref(), ask)?;
            for (position, entry) in page.entries.iter().enumerate() {
                bytes += entry.value.len();
                if bytes > limits::PAGE_BYTES && position + contents.len() > 0 {
                    return Ok(ContentList { contents, has_more: true, totals });
                }
                contents.push(StoredContent::decode(entry)?);
            }
            let has_more = page.next.is_some();
            if contents.len() >= limit || !has_more {
                return Ok(ContentList { contents, has_more, totals });
            }
            after = page.next;
        }
    }

    /// When the contents expired, if that is why there are none.
    pub(crate) fn expired_at(&self) -> Result<Option<String>, ToolError> {
        self.bucket.expired_at()
    }

    /// A content and where its lines are.
    pub(crate) fn lines(&self, id: &ContentId) -> Result<(StoredContent, LineIndex), ToolError> {
        let key = id.lines_key();
        let [record, lines] = self.two(&id.record_key(), &key)?;
        let content = found(id, record.as_ref())?;
        let lines = lines.ok_or_else(|| ToolError::internal(format!("the stored entry `{key}` is missing")))?;
        Ok((content, LineIndex::decode(&key, &lines.value)?))
    }

    /// The texts of some passages of a content, one after the other.
    pub(crate) fn text(&self, id: &ContentId, passages: std::ops::Range<usize>) -> Result<String, ToolError> {
        let ids: Vec<DocumentId> = passages.map(|number| DocumentId(id.first.saturating_add(number as u64))).collect();
        let mut text = String::new();
        for stored in self.index()?.stored(&ids)? {
            // A content that is deleted while it is read is unknown as a whole.
            let stored = stored.ok_or_else(|| unknown(id))?;
            text.push_str(Passage::decode(&stored)?.text);
        }
        Ok(text)
    }

    /// The passages that answer a query best.
    pub(crate) fn search(&self, query: &str, top: usize, narrowed: &SearchFilter) -> Result<SearchResults, ToolError> {
        let contents: Vec<String> = narrowed.contents.iter().map(|id| content_tag(&id.random)).collect();
        let mime_types: Vec<String> = narrowed
            .mime_types
            .iter()
            .map(|mime| mime.strip_suffix("/*").map_or_else(|| mime_tag(mime), kind_tag))
            .collect();
        let contents: Vec<&str> = contents.iter().map(String::as_str).collect();
        let mime_types: Vec<&str> = mime_types.iter().map(String::as_str).collect();
        let groups: Vec<&[&str]> =
            [contents.as_slice(), mime_types.as_slice()].into_iter().filter(|group| !group.is_empty()).collect();
        Ok(self.index()?.search(query, &Search { top, tags: &groups, ..Search::default() })?)
    }

    /// The first of these that is not here.
    pub(crate) fn missing<'ids>(&self, ids: &'ids [ContentId]) -> Result<Option<&'ids ContentId>, ToolError> {
        let keys: Vec<String> = ids.iter().map(ContentId::record_key).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let entries = self.bucket.get_many(&keys)?;
        let mut pairs = ids.iter().zip(&entries);
        Ok(pairs.find(|(id, entry)| found(id, entry.as_ref()).is_err()).map(|(id, _)| id))
    }

    fn two(&self, first: &str, second: &str) -> Result<[Option<Entry>; 2], ToolError> {
        let mut entries = self.bucket.get_many(&[first, second])?.into_iter();
        Ok([entries.next().flatten(), entries.next().flatten()])
    }
}

fn found(id: &ContentId, entry: Option<&Entry>) -> Result<StoredContent, ToolError> {
    let content = entry.map(StoredContent::decode).transpose()?;
    content.filter(|content| content.id == *id).ok_or_else(|| unknown(id))
}

fn totals(entry: Option<&Entry>) -> Result<Totals, ToolError> {
    entry.map_or_else(|| Ok(Totals::default()), Entry::json)
}

fn content_tag(random: &str) -> String {
    format!("c:{random}")
}

fn mime_tag(mime: &str) -> String {
    format!("m:{mime}")
}

/// The tag of all MIME types of a kind: what stands before the slash.
fn kind_tag(mime: &str) -> String {
    format!("k:{}", mime.split('/').next().unwrap_or_default())
}
