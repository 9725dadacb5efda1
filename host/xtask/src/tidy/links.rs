//! Local links of Markdown files: each must lead to a file that exists.

use std::path::{Component, Path, PathBuf};

use super::{Source, Violation};

/// `exists` says whether a path relative to the root is there.
pub(super) fn check(source: &Source, exists: impl Fn(&Path) -> bool) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut in_code = false;
    for (index, line) in source.text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        for target in targets(line) {
            let folder = source.path.parent().unwrap_or(Path::new(""));
            if local(target).is_some_and(|path| !resolve(folder, path).is_some_and(|path| exists(&path))) {
                let text = format!("the link to `{target}` leads nowhere - correct it");
                violations.push(Violation::new(&source.path, index + 1, text));
            }
        }
    }
    violations
}

/// What stands in the round brackets of `[text](target)`.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next())
}

/// The path of a link, less its anchor; none for links that leave the
/// repository or stay in the document.
fn local(target: &str) -> Option<&str> {
    let path = target.split('#').next().unwrap_or_default();
    (!path.is_empty() && !target.contains("://") && !target.starts_with("mailto:")).then_some(path)
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
        check(&Source { path: path.into(), text: text.into() }, |path| there.iter().any(|file| file == path)).len()
    }

    #[test]
    fn links_are_followed_from_the_folder_of_the_document() {
        assert_eq!(broken("README.md", "[contract](wit/README.md) and [rooms](wit)"), 0);
        assert_eq!(broken("wit/README.md", "[house](../README.md#rooms)"), 0);
        assert_eq!(broken("wit/README.md", "[house](README.txt) [out](../../x)"), 2);
    }

    #[test]
    fn links_to_other_sites_anchors_and_code_are_not_followed() {
        assert_eq!(broken("README.md", "[a](https://example.org/x) [b](#rooms) [c](mailto:a@b.c)"), 0);
        assert_eq!(broken("README.md", "```\n[a](nowhere)\n```\n"), 0);
    }
}
