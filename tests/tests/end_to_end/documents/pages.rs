//! The pages that readers have, and the fenced blocks in them.

use std::path::{Path, PathBuf};

/// A page of Markdown.
pub(super) struct Page {
    /// Relative to the repository.
    pub(super) path: String,
    pub(super) text: String,
}

/// A fenced block.
#[derive(Debug)]
pub(super) struct Block<'p> {
    /// `json`, `toml` and so on.
    pub(super) language: &'p str,
    pub(super) text: String,
    /// The line of its first fence, from 1.
    pub(super) line: usize,
}

/// The first pages, and all of the book.
pub(super) fn pages() -> Vec<Page> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut paths: Vec<PathBuf> =
        ["README.md", "README.ko.md", "SECURITY.md", "CONTRIBUTING.md"].map(|page| root.join(page)).into();
    below(&root.join("docs/src"), &mut paths);
    let read = |path: PathBuf| Page {
        text: std::fs::read_to_string(&path).expect("a page can be read"),
        path: path.strip_prefix(&root).expect("below the root").to_string_lossy().into_owned(),
    };
    paths.into_iter().map(read).collect()
}

fn below(folder: &Path, pages: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("the book is there").map(|entry| entry.expect("an entry").path());
    let mut entries: Vec<_> = entries.collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            below(&entry, pages);
        } else if entry.extension().is_some_and(|ending| ending == "md") {
            pages.push(entry);
        }
    }
}

impl Page {
    /// Its blocks, in order.
    pub(super) fn blocks(&self) -> Vec<Block<'_>> {
        let mut blocks = Vec::new();
        let mut open: Option<Block<'_>> = None;
        for (index, line) in self.text.lines().enumerate() {
            let fence = line.trim_start().strip_prefix("```");
            match (&mut open, fence) {
                (None, Some(named)) => {
                    let language = named.split([' ', ',']).next().unwrap_or_default();
                    open = Some(Block { language, text: String::new(), line: index + 1 });
                }
                (Some(_), Some(_)) => blocks.extend(open.take()),
                (Some(block), None) => {
                    block.text.push_str(line);
                    block.text.push('\n');
                }
                (None, None) => {}
            }
        }
        assert!(open.is_none(), "{}: a block has no end", self.path);
        blocks
    }

    /// What stands between single backticks outside of blocks, with its line.
    pub(super) fn spans(&self) -> Vec<(usize, &str)> {
        let mut inside = false;
        let mut spans = Vec::new();
        for (index, line) in self.text.lines().enumerate() {
            if line.trim_start().starts_with("```") {
                inside = !inside;
            } else if !inside {
                spans.extend(line.split('`').skip(1).step_by(2).map(|span| (index + 1, span)));
            }
        }
        spans
    }
}

#[test]
fn blocks_have_their_language_and_spans_are_those_outside_of_them() {
    let text = "a `b` c\n```toml Cargo.toml\n[x]\n`y`\n```\n```\nz\n```\nand `d`\n".to_owned();
    let page = Page { path: "p.md".into(), text };
    let blocks: Vec<_> = page.blocks().into_iter().map(|block| (block.language, block.text, block.line)).collect();
    assert_eq!(blocks, [("toml", "[x]\n`y`\n".to_owned(), 2), ("", "z\n".to_owned(), 6)]);
    assert_eq!(page.spans(), [(1, "b"), (9, "d")]);
}
