//! A plugin that was built for a released text of the contract still loads.

use std::path::{Path, PathBuf};

use serde_json::json;
use wharf_tests::{Data, Setup};

/// The folder of each released text, with its components.
fn released() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("contract");
    let entries = std::fs::read_dir(folder).expect("the released texts");
    let versions: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir()).collect();
    assert!(!versions.is_empty(), "no released text is stored");
    versions
}

#[tokio::test]
async fn every_function_of_every_released_text_is_still_there() {
    for version in released() {
        let files = Data::alone();
        let component = wat::parse_file(version.join("imports.wat")).expect("a component");
        let path = files.write("imports.wasm", component);
        let fixture = Setup::new().plugin("imports", &path, "").open_in(Data::new()).await;
        // Its bodies trap, so it is linked and then cannot list its tools.
        let reason = &fixture.host.rejected()[0].reason;
        assert!(reason.contains("could not list its tools"), "{}: {reason}", version.display());
    }
}

#[tokio::test]
async fn a_plugin_of_every_released_text_still_runs() {
    for version in released() {
        let files = Data::alone();
        let component = wat::parse_file(version.join("running.wat")).expect("a component");
        let path = files.write("running.wasm", component);
        let fixture = Setup::new().plugin("running", &path, "").open().await;
        let answer = fixture.call("running__run", json!({})).await.expect("answers");
        assert_eq!(answer.content[0].as_text(), Some("yes"), "{}", version.display());
    }
}
