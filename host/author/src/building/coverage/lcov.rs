//! The format of lcov: records of files with the counts of their lines.

use std::path::{Path, PathBuf};

/// What tests reach of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoveredFile {
    /// Its path in the folder of the plugin.
    pub path: PathBuf,
    /// Lines with code.
    pub lines: usize,
    /// Those that no test reaches, in their order.
    pub missed: Vec<u32>,
}

/// What is told of the files of a plugin.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct LcovReport {
    pub(super) files: Vec<CoveredFile>,
    /// Their records.
    pub(super) text: String,
}

impl LcovReport {
    /// Takes the files below a folder out of a report, without those of some folders in it.
    pub(super) fn read(text: &str, folder: &Path, without: &[&str]) -> Self {
        let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let within = |path: &Path| -> Option<PathBuf> {
            let path = path.strip_prefix(folder).or_else(|_| path.strip_prefix(&real)).ok()?;
            (!without.iter().any(|without| path.starts_with(without))).then(|| path.to_owned())
        };
        let mut report = Self::default();
        for record in text.split_inclusive("end_of_record\n") {
            let file = record.lines().find_map(|line| line.strip_prefix("SF:"));
            let Some(path) = file.and_then(|file| within(Path::new(file))) else { continue };
            let counts = || record.lines().filter_map(|line| line.strip_prefix("DA:")?.split_once(','));
            let missed = counts().filter(|(_, count)| count.trim() == "0").filter_map(|(line, _)| line.parse().ok());
            report.files.push(CoveredFile { path, lines: counts().count(), missed: missed.collect() });
            report.text.push_str(record);
        }
        report.files.sort_by(|one, other| one.path.cmp(&other.path));
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_the_plugin_are_taken_and_no_others() {
        let text = "SF:/p/src/b.rs\nDA:1,3\nDA:2,0\nDA:9,0\nLF:3\nLH:1\nend_of_record\n\
                    SF:/p/kit/sdk/src/lib.rs\nDA:1,1\nend_of_record\n\
                    SF:/home/registry/serde/src/lib.rs\nDA:1,1\nend_of_record\n\
                    SF:/p/src/a.rs\nDA:4,1\nend_of_record\n";
        let report = LcovReport::read(text, Path::new("/p"), &["kit"]);
        let file = |path: &str, lines, missed| CoveredFile { path: path.into(), lines, missed };
        assert_eq!(report.files, [file("src/a.rs", 1, vec![]), file("src/b.rs", 3, vec![2, 9])]);
        assert_eq!(report.text.matches("end_of_record").count(), 2);
        assert!(report.text.contains("LF:3\n") && !report.text.contains("kit"));
    }
}
