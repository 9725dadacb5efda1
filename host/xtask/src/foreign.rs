//! Components that know nothing of wharf, in several languages: each is added with `--functions`, and
//! its functions are called as tools.

use std::path::Path;
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

/// `here` is a folder for what is made. What a language's tools cannot make here is not tested, which
/// is said.
pub(crate) fn check(workspace: &Workspace, here: &Path) -> Result<()> {
    say("Adding components that know nothing of wharf, and calling their functions");
    let wharf = workspace.binary("debug", "wharf");
    let guest = workspace.root.join("tests/guests/foreign");
    let mut components = vec![("rust", workspace.target().join("plugins/components/guest-foreign.wasm"))];
    for (language, componentize) in LANGUAGES {
        let component = here.join(format!("{language}.wasm"));
        let folder = guest.join(language);
        let source = Source { folder: &folder, program: "app", wit: &guest.join("wit"), world: "languages" };
        match componentize(workspace, &source, &component) {
            Ok(()) => components.push((language, component)),
            Err(error) => println!("author: NOT TESTED in {language}: no component can be made here: {error:#}"),
        }
    }
    let data = here.join("data");
    for (language, component) in &components {
        let mut add = Command::new(&wharf);
        add.args(["plugin", "add", "--functions", "--name", language]).arg(component).arg("--data").arg(&data);
        command::run_and_capture(add.current_dir(here))?;
    }
    for (language, _) in &components {
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
    let languages: Vec<_> = components.iter().map(|(language, _)| *language).collect();
    println!("author: components of functions in {} are tools", languages.join(", "));
    Ok(())
}
