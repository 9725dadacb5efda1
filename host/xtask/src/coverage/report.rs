//! From LLVM's line counts to a verdict. Touches no file.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Lines that could run, and those that did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lines {
    all: u64,
    reached: u64,
}

impl Lines {
    fn add(&mut self, other: Self) {
        self.all += other.all;
        self.reached += other.reached;
    }

    fn percent(self) -> f64 {
        if self.all == 0 { 100.0 } else { self.reached as f64 * 100.0 / self.all as f64 }
    }
}

/// Prints the shares and fails below `minimum` percent.
pub(super) fn print(root: &Path, summary: &Value, minimum: f64) -> Result<()> {
    let crates = by_crate(root, summary)?;
    let mut total = Lines::default();
    for (name, files) in &crates {
        let mut sum = Lines::default();
        files.values().for_each(|lines| sum.add(*lines));
        total.add(sum);
        println!("{:6.1} %  {name} ({} of {} lines)", sum.percent(), sum.reached, sum.all);
        for (file, lines) in files {
            println!("{:6.1} %      {file}", lines.percent());
        }
    }
    println!("{:6.1} %  of all lines in host and plugins ({} of {})", total.percent(), total.reached, total.all);
    if total.all == 0 {
        bail!("no line of host or plugins was counted");
    }
    if total.percent() < minimum {
        bail!("coverage is {:.1} %, and at least {minimum} % is required", total.percent());
    }
    Ok(())
}

/// The files of the product, by the crate that they belong to.
fn by_crate(root: &Path, summary: &Value) -> Result<BTreeMap<String, BTreeMap<String, Lines>>> {
    let files = summary["data"][0]["files"].as_array().context("llvm-cov reports no files")?;
    let mut crates: BTreeMap<String, BTreeMap<String, Lines>> = BTreeMap::new();
    for file in files {
        let path = Path::new(file["filename"].as_str().context("a file without a name")?);
        let Ok(path) = path.strip_prefix(root) else { continue };
        let parts: Vec<_> = path.iter().filter_map(|part| part.to_str()).collect();
        let [area @ ("host" | "plugins"), name, "src", rest @ ..] = parts.as_slice() else { continue };
        // Tests always reach themselves: counting them would flatter.
        let tests = rest.iter().any(|part| matches!(*part, "tests" | "tests.rs"));
        if *name == "xtask" || tests {
            continue;
        }
        let lines = &file["summary"]["lines"];
        let lines = Lines {
            all: lines["count"].as_u64().unwrap_or_default(),
            reached: lines["covered"].as_u64().unwrap_or_default(),
        };
        crates.entry(format!("{area}/{name}")).or_default().entry(rest.join("/")).or_default().add(lines);
    }
    Ok(crates)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn summary() -> Value {
        let file = |name: &str, count: u64, covered: u64| json!({ "filename": name, "summary": { "lines": { "count": count, "covered": covered } } });
        json!({ "data": [{ "files": [
            file("/project/host/core/src/id.rs", 60, 60),
            file("/project/plugins/planning/src/lib.rs", 40, 15),
            file("/project/host/xtask/src/main.rs", 1000, 0),
            file("/project/tests/src/lib.rs", 1000, 1000),
            file("/project/host/state/src/sqlite/tests/files.rs", 1000, 1000),
            file("/elsewhere/host/core/src/id.rs", 1000, 0),
        ] }] })
    }

    #[test]
    fn only_the_host_and_the_plugins_count() {
        let crates = by_crate(Path::new("/project"), &summary()).expect("read");
        assert_eq!(crates.keys().collect::<Vec<_>>(), ["host/core", "plugins/planning"]);
        assert_eq!(crates["host/core"]["id.rs"], Lines { all: 60, reached: 60 });
    }

    #[test]
    fn less_than_the_minimum_fails_and_the_minimum_itself_passes() {
        assert!(print(Path::new("/project"), &summary(), 75.0).is_ok());
        assert!(print(Path::new("/project"), &summary(), 75.1).is_err());
        assert!(print(Path::new("/nowhere"), &summary(), 0.0).is_err());
    }
}
