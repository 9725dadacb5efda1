//! `wharf new`: the folder of a new plugin.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Result;
use clap::{Args, ValueEnum, builder::PossibleValue};
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
    #[arg(long, short, value_name = "LANGUAGE", default_value = "rust")]
    language: LanguageChoice,

    /// What it asks its operator for; several with commas between them
    #[arg(long, value_name = "CAPABILITIES", value_delimiter = ',')]
    with: Vec<CapabilityChoice>,

    /// Where it is made [default: a folder of its name, here]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy)]
struct LanguageChoice(Language);

impl ValueEnum for LanguageChoice {
    fn value_variants<'v>() -> &'v [Self] {
        &[Self(Language::Rust), Self(Language::TypeScript), Self(Language::JavaScript), Self(Language::Python)]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.as_str()))
    }
}

#[derive(Debug, Clone, Copy)]
struct CapabilityChoice(PluginCapability);

impl ValueEnum for CapabilityChoice {
    fn value_variants<'v>() -> &'v [Self] {
        const ALL: [CapabilityChoice; 6] = {
            let [state, process, terminal, webview, http, workspace] = PluginCapability::ALL;
            [
                CapabilityChoice(state),
                CapabilityChoice(process),
                CapabilityChoice(terminal),
                CapabilityChoice(webview),
                CapabilityChoice(http),
                CapabilityChoice(workspace),
            ]
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.as_str()))
    }
}

impl NewArguments {
    pub(super) fn run(self) -> Result<ExitCode> {
        if let Ok(name) = self.name.parse()
            && let Some(reason) = reserved_name(&name)
        {
            return Err(Misused(format!("a plugin cannot be called `{name}`: {reason}")).into());
        }
        let capabilities = self.with.iter().map(|choice| choice.0);
        let made = Scaffold::new(&self.name, self.language.0, capabilities)
            .and_then(|scaffold| scaffold.write(self.folder.as_deref().unwrap_or(Path::new(&self.name))));
        let made = made.map_err(|error| match error {
            AuthorError::Name { .. } | AuthorError::Taken(_) => Misused(error.to_string()).into(),
            error => anyhow::Error::from(error),
        })?;
        let folder = made.folder.display();
        println!("Made {folder}: a plugin in {} with {}.\n", self.language.0.name(), made.tools.join(", "));
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
