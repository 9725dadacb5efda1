//! The book: its summary names every page once and nothing else, its pages link to each
//! other alone, and blocks of JSON parse.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::{links, source::SourceFile, violation::Violation};

/// Where the pages are.
const PAGES: &str = "docs/src";

/// What names them.
const SUMMARY: &str = "docs/src/SUMMARY.md";

/// `sources` are all files of the repository.
pub(super) fn check(sources: &[SourceFile]) -> Vec<Violation> {
    let summary = sources.iter().find(|source| source.path == Path::new(SUMMARY));
    let listed = summary.map(|summary| listed(&summary.text)).unwrap_or_default();
    let mut violations = Vec::new();
    let mut met = HashSet::new();
    for (line, path) in &listed {
        if !met.insert(path) {
            violations.push(Violation::new(Path::new(SUMMARY), *line, "names this page twice - leave one out"));
        }
    }
    let pages = sources.iter().filter(|source| source.is("md") && source.path.starts_with(PAGES));
    for page in pages.filter(|page| page.path != Path::new(SUMMARY) && !met.contains(&page.path)) {
        violations.push(Violation::new(&page.path, 0, format!("no reader finds it - name it in {SUMMARY}")));
    }
    for page in sources.iter().filter(|source| source.is("md") && source.path.starts_with(PAGES)) {
        let leaving = links::leaving(page, Path::new(PAGES));
        violations.extend(leaving.into_iter().map(|(line, link)| {
            let text = format!("`{link}` is not in the book that is built - name it without a link");
            Violation::new(&page.path, line, text)
        }));
    }
    violations
}

/// The pages that a summary names, with their lines from 1.
fn listed(summary: &str) -> Vec<(usize, PathBuf)> {
    let lines = summary.lines().enumerate();
    let links = lines.filter_map(|(index, line)| {
        let target = line.split_once("](")?.1.split(')').next()?;
        Some((index + 1, Path::new(PAGES).join(target)))
    });
    links.collect()
}

/// Blocks of a Markdown file that are fenced as JSON, and are none.
pub(super) fn json(source: &SourceFile) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut block: Option<(usize, String)> = None;
    for (index, line) in source.text.lines().enumerate() {
        match (&mut block, line.trim()) {
            (None, "```json") => block = Some((index + 1, String::new())),
            (Some((first, text)), "```") => {
                if let Err(error) = serde_json::from_str::<serde_json::Value>(text) {
                    violations.push(Violation::new(&source.path, *first, format!("no JSON: {error} - mend it")));
                }
                block = None;
            }
            (Some((_, text)), _) => text.extend([line, "\n"]),
            (None, _) => {}
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> SourceFile {
        SourceFile { path: path.into(), text: text.into() }
    }

    #[test]
    fn every_page_is_in_the_summary_once_and_links_within_the_book() {
        let summary = "# Summary\n\n[A](a.md)\n- [B](b/index.md)\n- [A again](a.md)\n";
        let sources = [
            source(SUMMARY, summary),
            source("docs/src/a.md", "[b](b/index.md#x)"),
            source("docs/src/b/index.md", "\n[a](../a.md) [out](../../../README.md) [site](https://example.org)"),
            source("docs/src/c.md", ""),
            source("wit/README.md", ""),
        ];
        let violations: Vec<_> = check(&sources).iter().map(ToString::to_string).collect();
        let places: Vec<_> = violations.iter().filter_map(|violation| violation.split(": ").next()).collect();
        assert_eq!(places, ["docs/src/SUMMARY.md:5", "docs/src/c.md:1", "docs/src/b/index.md:2"]);
    }

    #[test]
    fn a_block_of_json_has_to_be_json() {
        let lines = |text: &str| json(&source("a.md", text)).iter().map(|violation| violation.line).collect::<Vec<_>>();
        assert_eq!(lines("```json\n{\"a\": 1}\n```\n```text\n{\n```\n"), [0; 0]);
        assert_eq!(lines("x\n```json\n{a: 1}\n```\n"), [2]);
    }
}
