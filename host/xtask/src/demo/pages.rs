//! The part of the demo in which the agent uses a web site.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Child, ChildStdin, Command, Stdio},
};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::{FIRMWARE, GARDEN, Stage, answer, chapter, must, prose};
use crate::command::exists;
use crate::workspace::Workspace;

/// Browsers that the host finds by itself.
const BROWSERS: [&str; 3] = ["chromium-headless-shell", "chromium", "google-chrome-stable"];
/// The first bytes of a PNG.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

impl Stage {
    pub(super) fn use_a_site(&mut self, workspace: &Workspace) -> Result<()> {
        chapter("12. It uses a web site as a person would");
        if !exists("python3") || !BROWSERS.into_iter().any(exists) {
            prose("This chapter needs python3, which serves its site, and a Chromium; with both: cargo xtask demo");
            return Ok(());
        }
        let site = Site::serve(workspace)?;
        prose("The operator grants one site, and that it is on this machine; whatever a page asks of another fails:");
        let grants = format!(
            "[plugin.browser.grants.webview]\nreason = \"the harbour's own site\"\norigins = [\"{}\"]\nprivate_addresses = true\n\
             downloads = true\n",
            site.address
        );
        grants.lines().for_each(|line| println!("     wharf.toml | {line}"));
        let file = self.folder.join("wharf.toml");
        fs::write(&file, fs::read_to_string(&file)? + &grants)?;
        self.start()?;
        self.see_to_an_order(&site)?;
        self.fill_its_form(&site)?;
        prose("What is not granted is not reached, and another conversation has pages of its own:");
        let elsewhere = self.call(FIRMWARE, "browser__navigate", &json!({ "url": "https://example.com/" }))?;
        must(elsewhere.is_error, "a site that is not granted is not reached")?;
        let foreign = self.call(GARDEN, "browser__get_snapshot", &json!({}))?;
        must(foreign.is_error, "a page belongs to its session")
    }

    fn see_to_an_order(&mut self, site: &Site) -> Result<()> {
        prose("It signs in; no answer says what a password is:");
        self.done("browser__navigate", &json!({ "url": site.address }))?;
        let fields = [
            json!({ "element": "text=Name", "value": "ada" }),
            json!({ "element": "text=Password", "value": "lovelace" }),
        ];
        let filled = self.done("browser__fill", &json!({ "fields": fields }))?;
        must(!filled.to_string().contains("lovelace"), "no password is told")?;
        let signed = self.done("browser__press_key", &json!({ "key": "Enter", "element": "text=Password" }))?;
        must(signed["url"] == format!("{}/orders", site.address), "it is signed in")?;
        prose("A part of the next page comes late, and is waited for. A table is read as one:");
        self.done("browser__wait_for", &json!({ "text": "berths are taken" }))?;
        let read = self.done("browser__get_page_content", &json!({}))?;
        must(read["text"].as_str().unwrap_or_default().contains("| 101 | Albatross |"), "a table is read as one")?;
        prose("A click may open a dialog, which is told at once and waits for its answer:");
        self.done("browser__click", &json!({ "element": "text=Cancel order 102" }))?;
        self.done("browser__handle_dialog", &json!({ "accept": true }))?;
        self.done("browser__wait_for", &json!({ "element": "[aria-label='Cancel order 102']:disabled" }))?;
        prose("What the site has for download goes to the files of the session:");
        self.done("browser__click", &json!({ "element": "text=Download all orders" }))?;
        let listed = self.done("browser__list_downloads", &json!({ "wait_seconds": 30 }))?;
        must(listed["entries"][0]["state"] == "done", "the orders are downloaded")
    }

    fn fill_its_form(&mut self, site: &Site) -> Result<()> {
        prose(
            "A snapshot says what can be used, each with a reference. What a page says stands between two marks that",
        );
        prose("it cannot know, so that no page is taken for the host:");
        let form = format!("{}/form", site.address);
        self.done("browser__navigate", &json!({ "url": form }))?;
        let snapshot = self.done("browser__get_snapshot", &json!({}))?;
        let tree = snapshot["text"].as_str().unwrap_or_default();
        let ship = reference(tree, "textbox \"Ship\"").context("the form has a field for the ship")?;
        prose("A whole form is filled in one call. What is clicked has to be visible, enabled, still and not covered:");
        let fields = json!({ "fields": [
            { "element": ship, "value": "Weather station WS-0042" },
            { "element": "text=Arrival", "value": "2026-12-31" },
            { "element": "text=Flag", "value": "Norway" },
            { "element": "text=A pilot is needed", "value": "true" },
        ] });
        self.done("browser__fill", &fields)?;
        let mistaken = self.call(FIRMWARE, "browser__click", &json!({ "element": "#registre" }))?;
        must(mistaken.is_error, "an element that is not there is not clicked")?;
        prose("It says what is there instead. The button itself:");
        self.done("browser__click", &json!({ "element": "text=Register" }))?;
        let read = self.done("browser__get_page_content", &json!({}))?;
        let told = read["text"].as_str().unwrap_or_default();
        must(
            told.contains("ship: Weather station WS-0042") && told.contains("flag: no"),
            "the site has what was filled",
        )?;
        let drawn = self.call(FIRMWARE, "browser__screenshot", &json!({}))?;
        let picture = drawn.pictures.first().context("a screenshot has a picture")?;
        must(picture.starts_with(PNG), "a screenshot is a PNG")?;
        let place = self.folder.join("registered.png");
        fs::write(&place, picture)?;
        answer(&format!("a picture of {} bytes, kept as {}", picture.len(), name_of(&place)));
        Ok(())
    }

    /// A call that has to succeed: what it answers for programs.
    fn done(&mut self, tool: &str, arguments: &Value) -> Result<Value> {
        let given = self.call(FIRMWARE, tool, arguments)?;
        must(!given.is_error, &format!("{tool} does what it should"))?;
        Ok(given.structured)
    }
}

fn name_of(place: &std::path::Path) -> String {
    place.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The reference in the line of a snapshot that has this text.
fn reference<'t>(tree: &'t str, part: &str) -> Option<&'t str> {
    let line = tree.lines().find(|line| line.contains(part))?;
    line.split("[ref=").nth(1)?.split(']').next()
}

/// The site of the tests, served until this is dropped.
struct Site {
    address: String,
    server: Child,
    /// The server ends with it.
    _input: ChildStdin,
}

impl Site {
    fn serve(workspace: &Workspace) -> Result<Self> {
        let script: PathBuf = workspace.root.join("tests/clients/site_of_harbour.py");
        let mut command = Command::new("python3");
        command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().context("cannot start python3")?;
        let input = server.stdin.take().context("the server of the site has an input")?;
        let output = server.stdout.take().context("the server of the site has an output")?;
        let mut address = String::new();
        BufReader::new(output).read_line(&mut address).context("the server of the site says where it is")?;
        Ok(Self { address: address.trim().to_owned(), server, _input: input })
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // What has ended by itself is as good.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
