use wharf_cell::MemoryCell;

use super::*;
use crate::added::tests::receipt;

/// The plugins of a cluster as hosts with data directories of their own have them.
struct Hosts {
    shelf: Arc<MemoryCell>,
    data: [tempfile::TempDir; 2],
}

impl Hosts {
    fn new() -> Self {
        let data = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
        Self { shelf: Arc::default(), data }
    }

    fn plugins(&self) -> [ClusterPlugins; 2] {
        self.data.each_ref().map(|data| {
            let shelf = Arc::clone(&self.shelf);
            ClusterPlugins::new(shelf, AddedPlugins::of(data.path()), 1 << 20, None)
        })
    }
}

async fn add(plugins: &ClusterPlugins, name: &str, component: &[u8]) -> Result<bool, ClusterPluginsError> {
    plugins.apply(InstalledChange::Add { receipt: &receipt(name, component), component }).await
}

fn names(plugins: &ClusterPlugins) -> Vec<String> {
    plugins.copy().list().expect("read").into_keys().map(|name| name.to_string()).collect()
}

#[tokio::test]
async fn what_one_host_changes_another_one_takes_as_it_is() {
    let hosts = Hosts::new();
    let [one, two] = hosts.plugins();
    assert!(add(&one, "added", b"component").await.expect("added"));
    assert!(names(&two).is_empty());
    two.catch_up().await.expect("it answers");
    let name = "added".parse().expect("legal");
    assert_eq!(two.copy().receipt(&name).expect("read"), one.copy().receipt(&name).expect("read"));
    let component = two.copy().component_of(&name, 1 << 20).expect("read").expect("is there").component;
    assert_eq!(component.bytes().as_ref(), b"component");

    let off = InstalledChange::Switch { name: &name, on: false };
    assert!(two.apply(off).await.expect("switched"));
    assert!(!one.apply(off).await.expect("it is off"), "the other host has said so");
    one.catch_up().await.expect("it answers");
    assert_eq!(one.copy().disabled().expect("read").len(), 1);
    assert!(one.apply(InstalledChange::Remove(&name)).await.expect("removed"));
    let removed = two.apply(InstalledChange::Remove(&name)).await;
    assert!(matches!(removed, Err(ClusterPluginsError::Added(AddedError::Unknown { .. }))), "{removed:?}");
}

#[tokio::test]
async fn changes_at_once_are_all_made() {
    let hosts = Hosts::new();
    let [one, two] = hosts.plugins();
    let (first, second) = tokio::join!(add(&one, "first", b"1"), add(&two, "second", b"2"));
    assert!(first.expect("added") && second.expect("added"));
    one.catch_up().await.expect("it answers");
    two.catch_up().await.expect("it answers");
    assert_eq!((names(&one), names(&two)), (vec!["first".to_owned(), "second".to_owned()], names(&one)));
}

#[tokio::test]
async fn a_component_that_was_changed_in_the_database_is_not_taken() {
    let hosts = Hosts::new();
    let [one, two] = hosts.plugins();
    add(&one, "evil", b"good").await.expect("added");
    add(&one, "other", b"component").await.expect("added");
    hosts.shelf.keep_component(&Digest::of(b"good"), b"evil").await.expect("it answers");
    two.catch_up().await.expect("the others are taken");
    assert_eq!(names(&two), ["evil", "other"]);
    assert!(two.copy().component_of(&"evil".parse().expect("legal"), 1 << 20).is_err());
    assert!(two.copy().component_of(&"other".parse().expect("legal"), 1 << 20).is_ok());
}

#[tokio::test]
async fn a_database_that_does_not_answer_changes_nothing() {
    let hosts = Hosts::new();
    let [one, two] = hosts.plugins();
    add(&one, "added", b"component").await.expect("added");
    hosts.shelf.answer(false);
    assert!(matches!(add(&one, "other", b"2").await, Err(ClusterPluginsError::Unavailable(_))));
    assert!(matches!(two.catch_up().await, Err(ClusterPluginsError::Unavailable(_))));
    assert_eq!((names(&one), names(&two)), (vec!["added".to_owned()], Vec::new()));
    hosts.shelf.answer(true);
    two.catch_up().await.expect("it answers");
    assert_eq!(names(&two), ["added"]);
}

#[tokio::test]
async fn a_text_of_another_version_is_refused_and_the_copy_stays() {
    let hosts = Hosts::new();
    let [one, _] = hosts.plugins();
    add(&one, "added", b"component").await.expect("added");
    let installed = hosts.shelf.installed().await.expect("it answers");
    assert!(hosts.shelf.install(installed.revision, "{\"format\":7}", &[]).await.expect("it answers"));
    let caught = one.catch_up().await;
    assert!(matches!(caught, Err(ClusterPluginsError::Unreadable { .. })), "{caught:?}");
    assert_eq!(names(&one), ["added"]);
}
