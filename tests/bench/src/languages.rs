//! The same tool written in other languages: what a call of each costs, a fresh instance
//! with its language's engine included.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, ensure};

use crate::{
    Setting,
    engine::{echo_p50, open_host, runtime},
    report::{Report, median},
};

pub(crate) const KEYS: [&str; 3] = ["guest_rust", "guest_javascript", "guest_python"];

const ROUNDS: usize = 5;

/// A component of a language other than Rust.
#[derive(Debug, Clone)]
pub(crate) struct Guest {
    key: &'static str,
    component: PathBuf,
}

/// Reads `LANGUAGE=FILE`.
pub(crate) fn parse(text: &str) -> Result<Guest> {
    let (language, file) = text.split_once('=').context("write LANGUAGE=FILE")?;
    // The one of Rust is always measured.
    let known = KEYS.into_iter().skip(1).find(|key| key.strip_prefix("guest_") == Some(language));
    let key = known.with_context(|| format!("`{language}` is neither javascript nor python"))?;
    let component = PathBuf::from(file);
    ensure!(component.is_file(), "there is no {file}");
    Ok(Guest { key, component })
}

/// Milliseconds of a call, one after the other.
pub(crate) fn measure(setting: &Setting, report: &mut Report) -> Result<()> {
    let rust = (KEYS[0], setting.echo_component.as_path());
    let others = setting.guests.iter().map(|guest| (guest.key, guest.component.as_path()));
    for (key, component) in std::iter::once(rust).chain(others) {
        let milliseconds = calls(setting, component)?;
        let mebibytes = fs::metadata(component)?.len() as f64 / f64::from(1 << 20);
        report.note(key, milliseconds, &format!("p50 {milliseconds:.3} ms, a component of {mebibytes:.1} MiB"));
    }
    Ok(())
}

fn calls(setting: &Setting, component: &Path) -> Result<f64> {
    let (runtime, data) = (runtime(2)?, setting.data()?);
    let host = open_host(&runtime, component, data.path(), "")?;
    let rounds = 0..=setting.rounds(ROUNDS);
    let medians =
        rounds.map(|_| Ok(echo_p50(&runtime, &host, setting.calls(500))? / 1e3)).collect::<Result<Vec<_>>>()?;
    // The first round warms up.
    Ok(median(medians[1..].to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_is_of_a_known_language_and_is_there() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let told = |language: &str| parse(&format!("{language}={}", file.path().display())).map(|guest| guest.key);
        assert_eq!(told("python").expect("is known"), "guest_python");
        assert!(told("guest_python").is_err() && told("rust").is_err() && parse("python").is_err());
        assert!(parse("python=/nowhere/echo.wasm").expect_err("is not there").to_string().contains("/nowhere"));
    }
}
