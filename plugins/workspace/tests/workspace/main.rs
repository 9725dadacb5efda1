//! Every tool of the workspace that needs no process, called as the host calls
//! it, on real directories: JSON in, answers out, schemas checked on the way.
//! What needs a process is tested in the host.

mod editing;
mod exchanging;
mod listing;
mod paths;
mod reading;
mod schemas;
mod searching;
mod writing;

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;
use wharf_plugin_workspace::WharfPlugin;
use wharf_sdk::testing::{self, TestAgent, TestCall};

/// Where processes see the workspace.
const SHOWN: &str = "/home/agent/workspace";

/// A model at work in a session.
struct Agent {
    call: TestCall,
    folder: TempDir,
}

impl TestAgent for Agent {
    type Plugin = WharfPlugin;

    fn test_call(&self) -> &TestCall {
        &self.call
    }
}

impl Agent {
    /// In a workspace that does not exist yet.
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a directory");
        let call = TestCall::new().workspace(folder.path().join("files")).workspace_shown_as(SHOWN);
        Self { call, folder }
    }

    /// In a workspace with these files.
    fn with(files: &[(&str, &str)]) -> Self {
        let agent = Self::new();
        fs::create_dir(agent.folder.path().join("files")).expect("made");
        for (path, content) in files {
            agent.put(path, content);
        }
        agent
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join("files").join(path)
    }

    fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, content).expect("written");
    }

    #[track_caller]
    fn content(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).expect("a text")
    }

    /// Names of everything in the workspace, hidden files included.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.at(".")).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// Whether the host would let these arguments through.
fn accepts(tool: &str, arguments: &Value) -> bool {
    testing::accepts::<WharfPlugin>(tool, arguments)
}
