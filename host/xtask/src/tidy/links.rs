//! Local links of Markdown files: each must lead to a file that exists, and to a
//! heading in it where it names one.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use super::{source::SourceFile, violation::Violation};

/// What there is to link to.
pub(super) struct Targets<E> {
    /// Whether a path relative to the root is there.
    exists: E,
    /// The anchors of each Markdown file.
    anchors: HashMap<PathBuf, Vec<String>>,
}

impl<E: Fn(&Path) -> bool> Targets<E> {
    /// `sources` are all files of the repository.
    pub(super) fn new(sources: &[SourceFile], exists: E) -> Self {
        let pages = sources.iter().filter(|source| source.is("md"));
        Self { exists, anchors: pages.map(|page| (page.path.clone(), anchors(&page.text))).collect() }
    }

    /// Links of `source` that lead nowhere.
    pub(super) fn check(&self, source: &SourceFile) -> Vec<Violation> {
        let links = outside_of_code(&source.text).flat_map(|(line, text)| targets(text).map(move |link| (line, link)));
        let broken = links.filter(|(_, link)| !self.leads(source, link));
        broken
            .map(|(line, link)| {
                let text = format!("the link to `{link}` leads nowhere - correct it");
                Violation::new(&source.path, line, text)
            })
            .collect()
    }

    fn leads(&self, source: &SourceFile, link: &str) -> bool {
        if !is_local(link) {
            return true;
        }
        let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
        let page = if path.is_empty() {
            Some(source.path.clone())
        } else {
            let folder = source.path.parent().unwrap_or(Path::new(""));
            resolve(folder, path).filter(|path| (self.exists)(path))
        };
        // Only the anchors of Markdown are known.
        page.is_some_and(|page| {
            let known = self.anchors.get(&page);
            anchor.is_none_or(|anchor| known.is_none_or(|known| known.iter().any(|there| there == anchor)))
        })
    }
}

/// Local links of a page that leave `folder`, with their lines.
pub(super) fn leaving<'s>(source: &'s SourceFile, folder: &Path) -> Vec<(usize, &'s str)> {
    let links = outside_of_code(&source.text).flat_map(|(line, text)| targets(text).map(move |link| (line, link)));
    let beside = source.path.parent().unwrap_or(Path::new(""));
    let leaves = |link: &str| {
        let path = link.split('#').next().unwrap_or_default();
        !resolve(beside, path).is_some_and(|path| path.starts_with(folder))
    };
    links.filter(|(_, link)| is_local(link) && leaves(link)).collect()
}

fn is_local(link: &str) -> bool {
    !link.contains("://") && !link.starts_with("mailto:")
}

/// Lines that no fence encloses, with their numbers from 1.
fn outside_of_code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        (!in_code && !fence).then_some((index + 1, line))
    })
}

/// What stands in the round brackets of `[text](target)`.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next()).filter(|target| !target.is_empty())
}

/// The anchors of a page's headings, as GitHub and mdBook both make them.
fn anchors(text: &str) -> Vec<String> {
    let mut anchors = Vec::<String>::new();
    let mut met = HashMap::<String, usize>::new();
    for (_, line) in outside_of_code(text) {
        let heading = line.trim_start_matches('#');
        if heading.len() < line.len() && heading.starts_with(' ') {
            let anchor = anchor(heading.trim());
            let before = met.entry(anchor.clone()).or_insert(0);
            anchors.push(if *before == 0 { anchor } else { format!("{anchor}-{before}") });
            *before += 1;
        }
    }
    anchors
}

/// Lower case; blanks become hyphens; of the rest letters, digits, `-` and `_` stay.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        letter => letter.is_alphanumeric().then_some(letter),
    });
    kept.flat_map(char::to_lowercase).collect()
}

/// Joins without touching the file system; none where it would leave the root.
fn resolve(folder: &Path, path: &str) -> Option<PathBuf> {
    let mut resolved = PathBuf::new();
    for component in folder.join(path).components() {
        match component {
            Component::Normal(part) => resolved.push(part),
            Component::CurDir => {}
            Component::ParentDir => resolved.pop().then_some(())?,
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(resolved)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(path: &str, text: &str) -> usize {
        let there = ["README.md", "wit/README.md", "wit"].map(PathBuf::from);
        let page = |path: &str, text: &str| SourceFile { path: path.into(), text: text.into() };
        let crates = "# A map\n\n## The `crates`, in order\n\n## Notes\n\n```sh\n# no heading\n```\n\n## Notes\n";
        let mut sources = vec![page("README.md", crates), page("wit/README.md", "")];
        sources.retain(|source| source.path != Path::new(path));
        sources.push(page(path, text));
        let targets = Targets::new(&sources, |path: &Path| there.iter().any(|file| file == path));
        targets.check(&page(path, text)).len()
    }

    #[test]
    fn links_are_followed_from_the_folder_of_the_document() {
        assert_eq!(broken("README.md", "[contract](wit/README.md) and [crates](wit)"), 0);
        assert_eq!(broken("wit/README.md", "[map](../README.md#the-crates-in-order)"), 0);
        assert_eq!(broken("wit/README.md", "[map](README.txt) [out](../../x)"), 2);
    }

    #[test]
    fn an_anchor_must_be_a_heading_of_its_page() {
        assert_eq!(broken("wit/README.md", "[a](../README.md#notes) [b](../README.md#notes-1)"), 0);
        assert_eq!(broken("wit/README.md", "[a](../README.md#crates) [b](../README.md#no-heading)"), 2);
        assert_eq!(broken("README.md", "## Crates\n[a](#crates) [b](#cellar)"), 1);
        assert_eq!(broken("README.md", "[a](wit#anything)"), 0, "a folder has no anchors that are known");
    }

    #[test]
    fn links_to_other_sites_and_in_code_are_not_followed() {
        assert_eq!(broken("README.md", "[a](https://example.org/x) [c](mailto:a@b.c)"), 0);
        assert_eq!(broken("README.md", "```\n[a](nowhere)\n```\n"), 0);
    }
}
