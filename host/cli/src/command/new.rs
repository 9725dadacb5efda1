//! `wharf new`: the folder of a new plugin.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Result;
use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use wharf::reserved_name;
use wharf_author::{AuthorError, Language, PluginCapability, Scaffold};

use crate::exit::Misused;

/// Make the folder of a new plugin: sources, tests, a README, and a wharf.toml for trying it
///
/// It builds as it is, with `wharf build` in the folder. Each capability that is
/// named gets a tool which uses it. Nothing that is there is overwritten.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  wharf new greeter
  wharf new tracker --with state,http
  wharf new builder --language python --with process,workspace --folder plugins/builder")]
pub(super) struct NewArguments {
    /// Its name, by which hosts list it: lower-case letters, digits and `-`
    name: String,

    /// What it is written in
    #[arg(long, short, value_name = "LANGUAGE", default_value = "rust", value_parser = one_of(Language::ALL, Language::as_str))]
    language: Language,

    /// What it asks its operator for; several with commas between them
    #[arg(long, value_name = "CAPABILITIES", value_delimiter = ',', value_parser = one_of(PluginCapability::ALL, PluginCapability::as_str))]
    with: Vec<PluginCapability>,

    /// Where it is made [default: a folder of its name, here]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

/// One of these, by its word.
fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [T; N],
    word_of: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.map(word_of)).try_map(move |written| {
        let chosen = all.into_iter().find(|one| word_of(*one) == written);
        chosen.ok_or_else(|| format!("there is no `{written}`"))
    })
}

impl NewArguments {
    pub(super) fn run(self) -> Result<ExitCode> {
        if let Ok(name) = self.name.parse()
            && let Some(reason) = reserved_name(&name)
        {
            return Err(Misused(format!("a plugin cannot be called `{name}`: {reason}")).into());
        }
        let made = Scaffold::new(&self.name, self.language, self.with.iter().copied())
            .and_then(|scaffold| scaffold.write(self.folder.as_deref().unwrap_or(Path::new(&self.name))));
        let made = made.map_err(|error| match error {
            AuthorError::Name { .. } | AuthorError::Taken(_) => Misused(error.to_string()).into(),
            error => anyhow::Error::from(error),
        })?;
        let folder = made.folder.display();
        println!("Made {folder}: a plugin in {} with {}.\n", self.language.name(), made.tools.join(", "));
        let commands = [
            (format!("cd {}", wharf::text::for_shell(&folder.to_string())), ""),
            (made.test_command.to_owned(), "its tests, without Wasm"),
            ("wharf test".to_owned(), "its cases, in the sandbox"),
            ("wharf build".to_owned(), "the component, in dist/"),
            (
                format!("wharf call {}__greet '{{\"name\": \"Ada\"}}' --config wharf.toml", self.name),
                "a call, in the sandbox",
            ),
        ];
        let width = commands.iter().map(|(command, _)| command.len()).max().unwrap_or_default();
        for (command, does) in commands {
            println!("{}", format!("  {command:<width$}   {does}").trim_end());
        }
        Ok(ExitCode::SUCCESS)
    }
}
