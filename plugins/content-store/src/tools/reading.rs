//! Tools that show contents as they are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::{ContentReference, ContentView};
use crate::content::ContentId;
use crate::limits::{self, check_range};
use crate::shelf::{ContentList, Shelf};

/// Shows what is known of one content: its name, type, size, lines, when it was added, and what of it could not be read.
#[tool(title = "Show what a content is", read_only, idempotent)]
pub(crate) fn get_content_info(call: &Call, input: ContentReference) -> Result<Reply<ContentView>, ToolError> {
    let shown = ContentView::from(Shelf::open(call)?.get(&ContentId::parse(&input.content_id)?)?);
    let mut text = shown.line();
    for warning in &shown.about.warnings {
        text.push_str("\nNote: ");
        text.push_str(warning);
    }
    Ok(Reply::new(text, shown))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListContents {
    /// How many contents a page has.
    #[serde(default = "default_page_size")]
    #[schemars(range(min = 1, max = limits::PAGE_SIZE))]
    limit: usize,
    /// The id of the last content of the page before; left out, the newest come.
    #[schemars(length(min = 1, max = limits::ID))]
    after: Option<String>,
}

fn default_page_size() -> usize {
    limits::DEFAULT_PAGE_SIZE
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ContentPage {
    /// The newest first.
    contents: Vec<ContentView>,
    /// How many there are on all pages.
    total: u64,
    /// Bytes of their texts.
    total_text_bytes: u64,
    /// Whether there is a further page; `after` with the last id of this one asks for it.
    has_more: bool,
    /// Said where there are none because they expired.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

/// Lists the contents, the newest first, with their ids, names, types and sizes. A page may be shorter than asked for:
/// `has_more` says whether there are further ones.
#[tool(title = "List contents", read_only, idempotent)]
pub(crate) fn list_contents(call: &Call, input: ListContents) -> Result<Reply<ContentPage>, ToolError> {
    check_range("limit", input.limit, limits::PAGE_SIZE)?;
    let after = input.after.as_deref().map(ContentId::parse).transpose()?;
    let shelf = Shelf::open(call)?;
    let ContentList { contents, has_more, totals } = shelf.list(after.as_ref(), input.limit)?;
    let expired_at = if totals.contents == 0 { shelf.expired_at()? } else { None };
    let notice = expired_at.map(|at| format!("Earlier contents expired at {at} because nobody used them for long."));
    let contents: Vec<ContentView> = contents.into_iter().map(ContentView::from).collect();
    let mut text = match (totals.contents, contents.len()) {
        (0, _) => format!("There is no content yet. {}", notice.as_deref().unwrap_or_default()),
        (total, 0) => format!("There is nothing after this one; there are {total} contents in all."),
        (total, shown) => format!("{shown} of {total} contents, the newest first:"),
    };
    for content in &contents {
        text.push('\n');
        text.push_str(&content.line());
    }
    if let Some(last) = contents.last().filter(|_| has_more) {
        text.push_str(&format!("\nThere are more: list_contents with \"after\": \"{}\".", last.content_id));
    }
    let page = ContentPage { contents, total: totals.contents, total_text_bytes: totals.text_bytes, has_more, notice };
    Ok(Reply::new(text.trim_end(), page))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadContent {
    /// Of add_content, list_contents or search_content.
    #[schemars(length(min = 1, max = limits::ID))]
    content_id: String,
    /// The first line to read, counted from 1.
    #[serde(default = "first")]
    #[schemars(range(min = 1))]
    from_line: u32,
    /// The last line to read; left out, up to 1,000 lines come.
    #[schemars(range(min = 1))]
    to_line: Option<u32>,
    /// Characters of the first line to leave out, as `next_character` of an answer that was cut within a line.
    #[serde(default)]
    from_character: u32,
}

fn first() -> u32 {
    1
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ContentLines {
    content_id: String,
    from_line: u32,
    /// The last line of which `text` has something.
    to_line: u32,
    /// Lines of the whole content.
    total_lines: u32,
    /// Exactly what stands there, line breaks and blanks included.
    text: String,
    /// Whether the content goes on after this.
    has_more: bool,
    /// The line to go on with, where there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_line: Option<u32>,
    /// How many characters of that line were in this answer already, where it was cut within a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_character: Option<u32>,
}

/// Reads lines of a content, exactly as they are. At most 128 KiB come at once; `has_more`, `next_line` and `next_character`
/// say how to go on. To find something in a long content, search_content is quicker.
#[tool(title = "Read a content", read_only, idempotent)]
pub(crate) fn read_content(call: &Call, input: ReadContent) -> Result<Reply<ContentLines>, ToolError> {
    let id = ContentId::parse(&input.content_id)?;
    let shelf = Shelf::open(call)?;
    let (content, lines) = shelf.lines(&id)?;
    let total = content.about.lines;
    let from = input.from_line;
    let last = input.to_line.unwrap_or_else(|| from.saturating_add(limits::DEFAULT_LINES - 1)).min(total);
    if from > total {
        return Err(ToolError::invalid(format!("`from_line` is {from}, and the content has {total} lines")));
    }
    if from == 0 || last < from {
        return Err(ToolError::invalid(format!(
            "`from_line` is {from} and `to_line` {last}; lines are counted from 1, and the first comes first"
        )));
    }
    let place = lines.place(from).ok_or_else(|| ToolError::internal("the lines of this content are not known"))?;
    let mut window = LineWindow::new(place.breaks, input.from_character, last - from + 1);
    let mut passage = place.passage;
    while passage < lines.passages() && !window.is_full() {
        let some = lines.enough(passage, limits::READ_BYTES);
        passage = some.end;
        window.take(&shelf.text(&id, some)?);
    }
    let LineWindow { text, cut_after, .. } = window;
    let (next_line, next_character) = match cut_after {
        // Cut within a line, after so many of its characters.
        Some((line, character)) => (Some(from + line), Some(character).filter(|character| *character > 0)),
        None => (Some(last + 1).filter(|next| *next <= total), None),
    };
    let to_line = match (next_line, next_character) {
        (Some(next), Some(_)) => next,
        (Some(next), None) => next - 1,
        (None, _) => total,
    };
    let answer = ContentLines {
        content_id: input.content_id,
        from_line: from,
        to_line,
        total_lines: total,
        has_more: next_line.is_some(),
        next_line,
        next_character,
        text,
    };
    Ok(Reply::new(answer.text.clone(), answer))
}

/// What is wanted of a text that comes in pieces: from a line on, so many
/// lines, as much as one answer takes.
struct LineWindow {
    /// Line breaks to pass over.
    skip_breaks: u32,
    /// Characters of the first line to pass over.
    skip_characters: u32,
    /// Lines that are still wanted.
    wanted: u32,
    text: String,
    /// Lines that were taken as a whole, and characters of the next one, where
    /// the answer is full before it has all.
    cut_after: Option<(u32, u32)>,
    taken: u32,
    /// Characters taken or passed over of the line that is being read.
    column: u32,
}

impl LineWindow {
    fn new(skip_breaks: u32, skip_characters: u32, wanted: u32) -> Self {
        let text = String::new();
        Self { skip_breaks, skip_characters, wanted, text, cut_after: None, taken: 0, column: 0 }
    }

    fn is_full(&self) -> bool {
        self.wanted == 0 || self.cut_after.is_some()
    }

    fn take(&mut self, text: &str) {
        for character in text.chars() {
            if self.is_full() {
                return;
            }
            if self.skip_breaks > 0 {
                self.skip_breaks -= u32::from(character == '\n');
                continue;
            }
            let passed_over = self.taken == 0 && self.column < self.skip_characters;
            if !passed_over {
                if self.text.len() + character.len_utf8() > limits::READ_BYTES {
                    self.cut_after = Some((self.taken, self.column));
                    return;
                }
                self.text.push(character);
            }
            if character == '\n' {
                self.taken += 1;
                self.wanted -= 1;
                self.column = 0;
            } else {
                self.column += 1;
            }
        }
    }
}
