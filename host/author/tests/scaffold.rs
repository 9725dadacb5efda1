//! The folders of new plugins.

use std::{fs, path::Path};

use wharf_author::{AuthorError, Language, PluginCapability, Scaffold};

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a plain name"))
        .collect();
    names.sort();
    names
}

#[test]
fn each_capability_brings_a_tool_a_reason_and_a_grant() {
    let here = tempfile::tempdir().expect("a folder");
    let every =
        Language::ALL.into_iter().flat_map(|language| PluginCapability::ALL.map(|capability| (language, capability)));
    for (language, capability) in every {
        let folder = here.path().join(language.as_str()).join(capability.as_str());
        // One that is named twice counts once.
        let scaffold = Scaffold::new("my-plugin", language, [capability, capability]).expect("a legal name");
        let made = scaffold.write(&folder).expect("made");
        assert_eq!(made.tools.len(), 2, "{made:?}");
        assert_eq!(Language::of(&folder), Some(language));
        let read = |path: &str| fs::read_to_string(folder.join(path)).expect("there");
        let all: String = made.files.iter().map(|path| read(path)).collect();
        // In the source, the README and a case.
        assert!(all.matches(made.tools[1]).count() >= 3, "{all}");
        assert!(all.contains(&format!("[[case]]\ntool = \"{}\"\n", made.tools[1])), "{all}");
        let table = format!("[plugin.my-plugin.grants.{}]\nreason = \"", capability.as_str());
        assert!(read("wharf.toml").contains(&table));
        assert!(read("README.md").contains(&format!("| `{}` |", made.tools[1])));
        for path in &made.files {
            let text = read(path);
            assert!(
                !text.contains("{{") || path == ".github/workflows/ci.yml",
                "{path} has a word that was not filled in"
            );
        }
    }
}

#[test]
fn a_plugin_is_whole_with_the_kit_that_it_is_built_with() {
    let here = tempfile::tempdir().expect("a folder");
    let folder = here.path().join("deep/er/plain");
    let made = Scaffold::new("plain", Language::Rust, []).and_then(|scaffold| scaffold.write(&folder)).expect("made");
    assert_eq!(made.tools, ["greet"]);
    let expected = [
        ".github",
        ".gitignore",
        ".vscode",
        "Cargo.toml",
        "README.md",
        "cases.toml",
        "kit",
        "src",
        "tests",
        "wharf.toml",
    ];
    assert_eq!(names(&folder), expected);
    assert_eq!(names(&folder.join("kit")), ["Cargo.toml", "contract", "sdk", "wit"]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for file in ["sdk/rust/src/lib.rs", "sdk/macros/src/lib.rs", "contract/build.rs", "wit/worlds.wit"] {
        let carried = fs::read(folder.join("kit").join(file)).expect("carried");
        assert!(carried == fs::read(root.join(file)).expect("there"), "{file} is another one");
    }
    assert!(!fs::read_to_string(folder.join("src/lib.rs")).expect("there").contains("reasons!"));
}

#[test]
fn nothing_is_overwritten_and_nothing_is_left_by_half() {
    let here = tempfile::tempdir().expect("a folder");
    let scaffold = Scaffold::new("mine", Language::Rust, []).expect("a legal name");
    let (folder, file) = (here.path().join("folder"), here.path().join("file"));
    fs::create_dir(&folder).expect("made");
    fs::write(&file, "mine").expect("written");
    for taken in [&folder, &file] {
        assert!(matches!(scaffold.write(taken), Err(AuthorError::Taken(path)) if path == *taken));
    }
    // A file stands where a folder is needed.
    assert!(matches!(scaffold.write(&file.join("below")), Err(AuthorError::File { .. })));
    assert_eq!(names(here.path()), ["file", "folder"]);
    assert_eq!(fs::read_to_string(&file).expect("there"), "mine");
}

#[test]
fn names_that_no_plugin_has_are_refused() {
    for name in ["", "Upper", "under_score", "1st", "-a", "a/b", "../a", "ä", &"a".repeat(65)] {
        let refused = Scaffold::new(name, Language::Rust, []).expect_err("refused");
        assert!(refused.to_string().starts_with("a plugin cannot be called `"), "{refused}");
    }
}
