//! The tool that finds passages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::{Call, Reply, ToolError, tool};
use wharf_search::{MatchCount, SearchResults};

use crate::content::{ContentId, unknown};
use crate::limits::{self, check_count, check_length, check_range, check_text};
use crate::passage::{Heading, Passage};
use crate::shelf::{SearchFilter, Shelf};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchContent {
    /// Words to look for. `"words in quotes"` must stand together, and `-word` must not occur.
    #[schemars(length(min = 1, max = limits::QUERY))]
    query: String,
    /// How many passages to answer, the best first.
    #[serde(default = "default_hits")]
    #[schemars(range(min = 1, max = limits::HITS))]
    top_n: usize,
    /// Look into these contents alone.
    #[serde(default)]
    #[schemars(length(max = limits::FILTERS))]
    content_ids: Vec<String>,
    /// Look into contents of these types alone, such as `text/markdown`, or `text/*` for all of a kind.
    #[serde(default)]
    #[schemars(length(max = limits::FILTERS))]
    mime_types: Vec<String>,
    /// Leave out passages with a lower score. Scores compare within one search, not from one to the next.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    threshold: f64,
    /// Characters of each snippet; fewer come where there are many hits.
    #[serde(default = "default_snippet")]
    #[schemars(range(min = 20, max = limits::SNIPPET))]
    snippet_characters: usize,
}

fn default_hits() -> usize {
    limits::DEFAULT_HITS
}

fn default_snippet() -> usize {
    limits::DEFAULT_SNIPPET
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Hits {
    /// The best first.
    hits: Vec<Hit>,
    /// How many passages match in all, of those that were looked at.
    matches: usize,
    /// Whether all were looked at; what cannot be among the best is passed over in large stores.
    matches_all_counted: bool,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Hit {
    content_id: String,
    /// The passage: the content's id and the passage's number in it, from 1.
    chunk_id: String,
    /// BM25 over the words of the query: higher is better.
    score: f64,
    /// The lines that the passage begins and ends in; read_content shows them.
    first_line: u32,
    last_line: u32,
    /// The page or slide.
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The headings above the passage, outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    headings: Vec<String>,
    /// The part of the passage that answers best, with **matched words** marked.
    snippet: String,
}

/// Finds the passages of all contents that answer a query best, with the lines where they stand. Words are found whatever
/// their case and, in English, their ending; Korean, Chinese and Japanese are found within words. read_content shows more
/// around a hit.
#[tool(title = "Search contents", read_only, idempotent)]
pub(crate) fn search_content(call: &Call, input: SearchContent) -> Result<Reply<Hits>, ToolError> {
    check_text("query", &input.query, limits::QUERY)?;
    check_range("top_n", input.top_n, limits::HITS)?;
    check_range("snippet_characters", input.snippet_characters, limits::SNIPPET)?;
    check_count("content_ids", input.content_ids.len(), limits::FILTERS)?;
    check_count("mime_types", input.mime_types.len(), limits::FILTERS)?;
    for mime in &input.mime_types {
        check_length("mime_types", mime, limits::MIME)?;
    }
    let contents = input.content_ids.iter().map(|id| ContentId::parse(id)).collect::<Result<Vec<_>, _>>()?;
    let narrowed = SearchFilter { contents, mime_types: input.mime_types };
    let shelf = Shelf::open(call)?;
    let found = shelf.search(&input.query, input.top_n, &narrowed)?;
    if found.hits.is_empty()
        && !narrowed.contents.is_empty()
        && let Some(missing) = shelf.missing(&narrowed.contents)?
    {
        return Err(unknown(missing));
    }
    let characters = input.snippet_characters.min(limits::SNIPPETS / found.hits.len().max(1));
    let mut hits = Vec::with_capacity(found.hits.len());
    for hit in &found.hits {
        if hit.score >= input.threshold {
            hits.push(shown(&found, hit, characters)?);
        }
    }
    let text = text(&hits, found.matches);
    let matches_all_counted = matches!(found.matches, MatchCount::Exact(_));
    Ok(Reply::new(text, Hits { hits, matches: found.matches.seen(), matches_all_counted }))
}

fn shown(found: &SearchResults, hit: &wharf_search::Hit, characters: usize) -> Result<Hit, ToolError> {
    let Passage { heading, text } = Passage::decode(&hit.stored)?;
    let Heading { content, name, number, lines, page, headings } = heading;
    let first = hit.id.0.saturating_sub(u64::from(number));
    let content_id = ContentId { first, random: content }.to_string();
    Ok(Hit {
        chunk_id: format!("{content_id}#{}", u64::from(number) + 1),
        content_id,
        score: hit.score,
        first_line: lines.0,
        last_line: lines.1,
        page,
        name,
        headings,
        snippet: found.query.snippet(text, characters).marked("**", "**"),
    })
}

fn text(hits: &[Hit], matches: MatchCount) -> String {
    if hits.is_empty() {
        return "Nothing matches. Other words may: each word of a query counts by itself, unless it stands in quotes."
            .to_owned();
    }
    let of = match matches {
        MatchCount::Exact(count) => count.to_string(),
        MatchCount::AtLeast(count) => format!("at least {count}"),
    };
    let mut text = format!("{} of {of} passages that match, the best first:", hits.len());
    for hit in hits {
        let Hit { content_id, score, first_line, last_line, name, snippet, .. } = hit;
        let called = name.as_deref().unwrap_or(content_id);
        let lines = if first_line == last_line {
            format!("line {first_line}")
        } else {
            format!("lines {first_line} to {last_line}")
        };
        // One line each; the structured answer has the snippet as it stands.
        let snippet: Vec<&str> = snippet.split_whitespace().collect();
        text.push_str(&format!("\n\n{called}, {lines} ({content_id}, score {score:.2})\n{}", snippet.join(" ")));
    }
    text
}
