//! Components that know nothing of wharf, in several languages: each is added with `--functions`, and
//! its functions are called as tools.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::command::{self, say};
use crate::languages::{LANGUAGES, Source};
use crate::workspace::Workspace;

/// Functions, arguments, and what the answers contain. `factor` is left out: it is an `option`.
const CALLS: [(&str, &str, &str); 6] = [
    ("greet", r#"{"name": "Ada"}"#, "Hello, Ada."),
    ("shapes_divide", r#"{"dividend": 7, "divisor": 2}"#, "3"),
    ("shapes_scale", r#"{"points": [{"x": 1, "y": -2}]}"#, r#"[{"x":2,"y":-4}]"#),
    ("shapes_describe", r#"{"shape": {"circle": 2}}"#, "a circle of radius 2"),
    ("shapes_describe", r#"{"shape": "empty"}"#, "nothing"),
    ("shapes_unbounded", "{}", r#"["NaN","Infinity","-Infinity"]"#),
];

/// A component that knows nothing of wharf.
pub(crate) struct ForeignComponent {
    /// What it was written in.
    pub(crate) language: &'static str,
    pub(crate) path: PathBuf,
}

/// `here` is a folder for what is made, which is handed back. What a language's tools cannot make here
/// is not tested, which is said.
pub(crate) fn check(workspace: &Workspace, here: &Path) -> Result<Vec<ForeignComponent>> {
    say("Adding components that know nothing of wharf, and calling their functions");
    let wharf = workspace.binary("debug", "wharf");
    let guest = workspace.root.join("tests/guests/foreign");
    let path = workspace.target().join("plugins/components/guest-foreign.wasm");
    let mut components = vec![ForeignComponent { language: "rust", path }];
    for (language, componentize) in LANGUAGES {
        let path = here.join(format!("{language}.wasm"));
        let folder = guest.join(language);
        let source = Source { folder: &folder, program: "app", wit: &guest.join("wit"), world: "languages" };
        match componentize(workspace, &source, &path) {
            Ok(()) => components.push(ForeignComponent { language, path }),
            Err(error) => println!("author: NOT TESTED in {language}: no component can be made here: {error:#}"),
        }
    }
    let data = here.join("data");
    for ForeignComponent { language, path } in &components {
        let mut add = Command::new(&wharf);
        add.args(["plugin", "add", "--functions", "--name", language]).arg(path).arg("--data").arg(&data);
        command::run_and_capture(add.current_dir(here))?;
    }
    for ForeignComponent { language, .. } in &components {
        for (function, arguments, expected) in CALLS {
            let mut call = Command::new(&wharf);
            call.args(["call", &format!("{language}__{function}"), arguments, "--data"]).arg(&data);
            let answer = command::run_and_capture(call.current_dir(here))?;
            ensure!(answer.contains(expected), "{function} in {language} answered {answer:?} and not {expected:?}");
        }
        let mut call = Command::new(&wharf);
        call.args(["call", &format!("{language}__shapes_divide"), r#"{"dividend": 1, "divisor": 0}"#, "--data"]);
        let output = call.arg(&data).current_dir(here).output().context("`wharf call` cannot be started")?;
        let told = String::from_utf8_lossy(&output.stdout);
        let is_told = told.contains("1 cannot be divided by 0") && !output.status.success();
        ensure!(is_told, "an error in {language} is told as {told:?}, with {}", output.status);
    }
    let languages: Vec<_> = components.iter().map(|component| component.language).collect();
    println!("author: components of functions in {} are tools", languages.join(", "));
    Ok(components)
}
