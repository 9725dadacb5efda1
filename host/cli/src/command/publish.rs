//! `wharf publish`: a plugin's component, into a registry that others have it from.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context as _, Result};
use clap::Args;
use wharf::{
    HostLimits,
    component::{CompileCaches, Component, ComponentAbout},
    sources::{OciError, OciReference, Publication, RegistryLogins, publish, read_component, signature_files},
    with_causes,
};
use wharf_author::Project;

use super::{
    build::{build, unusable},
    inspect::{Look, plugin_name},
};
use crate::{exit::Misused, global::Global, signature::read_signature};

/// Publish a plugin's component in an OCI registry, where `wharf plugin add` has it from
///
/// The plugin in the folder is built first. The artifact has the layout that `wkg`
/// reads, with version, description, licence and addresses as annotations. A tag that
/// names another component already is not moved: raise the version instead.
///
/// Logins are those of `docker login`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  wharf publish oci://ghcr.io/me/greeter                    under the version of its manifest
  wharf publish oci://127.0.0.1:5000/me/greeter:0.2.0 --component greeter.wasm")]
pub(super) struct PublishArguments {
    /// Where to: oci://REGISTRY/NAME:TAG; without a tag, the version of the component is taken
    #[arg(value_name = "REFERENCE")]
    reference: String,

    /// The folder of the plugin
    #[arg(long, value_name = "FOLDER", default_value = ".", conflicts_with = "component")]
    folder: PathBuf,

    /// A component that was built before, instead of the folder's
    #[arg(long, value_name = "FILE")]
    component: Option<PathBuf>,

    /// Move the tag where it names another component
    #[arg(long)]
    replace: bool,

    /// Publish a signature with it, by minisign or as a sigstore bundle; several times for several. Signatures beside
    /// the file that --component names are taken without being named
    #[arg(long, value_name = "FILE")]
    signature: Vec<PathBuf>,
}

/// How long all of it may take.
const TIME: Duration = Duration::from_secs(600);

/// What a component says of itself, by the names that registries know.
const ANNOTATIONS: [(&str, &str); 6] = [
    ("version", "org.opencontainers.image.version"),
    ("description", "org.opencontainers.image.description"),
    ("licenses", "org.opencontainers.image.licenses"),
    ("homepage", "org.opencontainers.image.url"),
    ("source", "org.opencontainers.image.source"),
    ("authors", "org.opencontainers.image.authors"),
];

impl PublishArguments {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let file = match &self.component {
            Some(file) => file.clone(),
            None => {
                let project = Project::open(&self.folder).map_err(unusable)?;
                build(&project, None, &[], global).map_err(unusable)?.file
            }
        };
        let limits = HostLimits::default();
        let bytes =
            read_component(&file, limits.component_bytes).with_context(|| format!("cannot read {}", file.display()))?;
        // Who publishes a component adds it next, or has just tested it. Another author's leaves no functions.
        let functions = if self.component.is_none() { Global::compiled_functions() } else { None };
        let caches = CompileCaches { code: global.compiled_code(), functions };
        let look = Look { limits, caches, progress: global.progress() };
        // What no host would load is not published.
        let inspection = look.at(&plugin_name(&file), Component::new(bytes.clone()), &file.display().to_string())?;
        let reference = versioned(&self.reference, &inspection.about)?;
        let annotations = annotations(&file, &inspection.about);
        let signatures = self.signatures(&file)?;
        let publication = Publication {
            component: &bytes,
            annotations: &annotations,
            imports: &inspection.imports,
            exports: &[],
            replaces: self.replace,
            signatures: &signatures,
        };
        let published = {
            let _publishing = global.progress().step(format!("publishing {reference}"));
            publish(&reference, publication, TIME, &RegistryLogins::of_docker())
        };
        let published = published.map_err(|error| {
            let hint = if matches!(error, OciError::Moves { .. }) { " (--replace)" } else { "" };
            anyhow::anyhow!("{}{hint}", with_causes(&error))
        })?;
        println!("{} {reference}", if published.was_there { "There already:" } else { "Published" });
        println!("  always this very component: {}", published.reference);
        match signatures.len() {
            0 => {}
            1 => println!("  with one signature"),
            many => println!("  with {many} signatures"),
        }
        println!("  to add it: wharf plugin add {reference}");
        println!("  where a version of it was added: wharf plugin update NAME {reference}");
        Ok(ExitCode::SUCCESS)
    }
}

impl PublishArguments {
    /// The signatures that are published: those that are named, and those beside a file that was built before.
    fn signatures(&self, component: &Path) -> Result<Vec<Vec<u8>>> {
        let beside = self.component.is_some().then(|| signature_files(component)).into_iter().flatten();
        let beside = beside.filter(|file| file.exists());
        let files: BTreeSet<PathBuf> = self.signature.iter().cloned().chain(beside).collect();
        files.iter().map(|file| Ok(read_signature(file)?.text().as_bytes().to_vec())).collect()
    }
}

/// The reference with a tag: the one that is written, or the version of the component.
fn versioned(written: &str, about: &ComponentAbout) -> Result<OciReference> {
    let has_tag = written.rsplit('/').next().is_some_and(|last| last.contains([':', '@']));
    let text = match (has_tag, about.words.get("version")) {
        (true, _) => written.to_owned(),
        (false, Some(version)) => format!("{written}:{version}"),
        (false, None) => {
            let told = format!("{written} has no tag, and the component says no version; write one, such as `:0.1.0`");
            return Err(Misused(told).into());
        }
    };
    text.parse().map_err(|error| Misused(with_causes(&error)).into())
}

fn annotations(file: &Path, about: &ComponentAbout) -> BTreeMap<String, String> {
    let said = ANNOTATIONS.iter().filter_map(|(word, name)| Some(((*name).to_owned(), about.words.get(word)?.clone())));
    let title = plugin_name(file).to_string();
    said.chain([("org.opencontainers.image.title".to_owned(), title)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_without_a_tag_has_the_version_of_the_component() {
        let mut about = ComponentAbout::default();
        assert!(versioned("oci://127.0.0.1:5000/me/a", &about).is_err());
        about.words.insert("version", "1.2.3".to_owned());
        for (written, expected) in [
            ("oci://127.0.0.1:5000/me/a", "oci://127.0.0.1:5000/me/a:1.2.3"),
            ("oci://127.0.0.1:5000/me/a:2", "oci://127.0.0.1:5000/me/a:2"),
        ] {
            assert_eq!(versioned(written, &about).expect("a reference").to_string(), expected);
        }
        assert!(versioned("me/a:1", &about).is_err());
    }
}
