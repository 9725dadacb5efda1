//! `wharf token`: tokens for clients over HTTP.

use std::{process::ExitCode, rc::Rc};

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use wharf::{Configuration, TenantId, grant::Expiry, http::Token, with_causes};

use crate::{
    cluster_shelf::ClusterShelf,
    configuration_edit::{ConfigurationEdit, EditError, quoted},
    exit::Unusable,
    global::Global,
};

/// Make tokens for clients over HTTP, and take them back
///
/// A host accepts the tokens of the [[http.tokens]] entries of wharf.toml; where
/// there is none, the one in its data directory alone. The hosts of a cluster
/// accept those that all of them have, too.
#[derive(Debug, Args)]
pub(super) struct TokenArguments {
    #[command(subcommand)]
    command: TokensCommand,
}

#[derive(Debug, Subcommand)]
enum TokensCommand {
    New(NewToken),
    Remove(RemoveToken),
}

/// Take a token back
///
/// A token that all hosts of a cluster have is taken back at once, and one of
/// wharf.toml within 4 seconds of a host that serves: what its client follows ends,
/// and its next request is refused.
#[derive(Debug, Args)]
struct RemoveToken {
    /// Name of the token
    name: String,
}

/// Make a token, and the lines of wharf.toml that let it in
///
/// The token is printed this once; wharf.toml needs its digest alone. Give it to
/// the client, and add the lines: a host that serves accepts it within 4 seconds.
/// With --cluster all hosts of the cluster that wharf.toml names have the lines, and
/// accept it at once.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wharf token new --name ci --expires 2027-01-31
  wharf token new --name team --tenant team --plugin 'plan*' --plugin playbook --requests-per-second 20
  wharf token new --name reader --tool 'workspace__read_*' --tool 'workspace__search_*'
  wharf token new --name ui --plugin host        terminals and streams, and no tool
  wharf token new --name prometheus --metrics    the metrics of the whole host, and nothing else
  wharf token new --name page --plugin 'app_*' --front-ends    serves tools of its own
  wharf token new --name me --operator           the console and the routes of the operator
  wharf token new --name ci --cluster            at all hosts of the cluster, at once
  wharf token new --name agent --trusted-middleware    writes __sessionId and its like into arguments itself")]
struct NewToken {
    /// Name of the client, for you
    #[arg(long)]
    name: String,

    /// Until when it holds: a day (2027-01-31), which it still holds in UTC, or a time with its zone [default: for ever]
    #[arg(long, value_name = "WHEN")]
    expires: Option<Expiry>,

    /// On whose behalf its calls are: tenants have nothing of each other [default: local]
    #[arg(long)]
    tenant: Option<TenantId>,

    /// Pattern of the plugins that it may use, such as `planning` or `web-*`; `host` stands for terminals and streams [default: all, and none with --metrics or --operator]
    #[arg(long = "plugin", value_name = "PATTERN")]
    plugins: Vec<String>,

    /// Pattern of the tools that it may use, by their listed names, such as `planning__*` [default: all]
    #[arg(long = "tool", value_name = "PATTERN")]
    tools: Vec<String>,

    /// Pattern of tools that it may not use
    #[arg(long = "skip-tool", value_name = "PATTERN")]
    skip_tools: Vec<String>,

    /// Let it read `/metrics`, which is of all tenants; without --plugin it may then do nothing else
    #[arg(long)]
    metrics: bool,

    /// How often it may ask in a second
    #[arg(long, value_name = "NUMBER")]
    requests_per_second: Option<u64>,

    /// How many of its calls may run at once
    #[arg(long, value_name = "NUMBER")]
    calls: Option<u64>,

    /// Let it connect front ends, whose tools everybody of its tenant sees and calls
    #[arg(long)]
    front_ends: bool,

    /// Let it operate the host: see and steer what it does for all tenants; without --plugin it may then use no tool. For a person, not for an agent
    #[arg(long)]
    operator: bool,

    /// Give it to all hosts of the cluster that wharf.toml names; fail where it names none
    #[arg(long)]
    cluster: bool,

    /// Take `__sessionId`, `__assistantId` and `__threadId` in arguments as its own word: only for a middleware that writes them itself, over whatever a model wrote
    #[arg(long)]
    trusted_middleware: bool,
}

impl TokenArguments {
    pub(super) fn run(&self, global: &Global) -> Result<ExitCode> {
        match &self.command {
            TokensCommand::New(new) => new.run(global),
            TokensCommand::Remove(remove) => remove.run(global),
        }
    }
}

impl RemoveToken {
    fn run(&self, global: &Global) -> Result<ExitCode> {
        if global.configuration()?.cluster.is_some() {
            let shelf = Rc::new(ClusterShelf::of_command(global)?);
            if self.taken_out(ConfigurationEdit::of_cluster(&shelf))? {
                return Ok(ExitCode::SUCCESS);
            }
        }
        if !self.taken_out(ConfigurationEdit::open(&global.configuration_target()?))? {
            bail!(Unusable(format!("there is no token {:?}", self.name)));
        }
        Ok(ExitCode::SUCCESS)
    }

    fn taken_out(&self, edit: Result<ConfigurationEdit, EditError>) -> Result<bool> {
        let unusable = |error: EditError| Unusable(with_causes(&error));
        let mut edit = edit.map_err(unusable)?;
        if !edit.remove_token(&self.name) {
            return Ok(false);
        }
        edit.save().map_err(unusable)?;
        println!("{:?} is taken out of {}.", self.name, edit.place());
        Ok(true)
    }
}

impl NewToken {
    fn run(&self, global: &Global) -> Result<ExitCode> {
        let text = Token::generate()?;
        let lines = self.lines(&Token::new(&text)?.digest());
        // What is printed here is accepted there.
        if let Err(problem) = Configuration::parse(&lines, std::path::Path::new(".")) {
            bail!("{problem}");
        }
        if self.cluster {
            let shelf = Rc::new(ClusterShelf::of_command(global)?);
            let unusable = |error: EditError| Unusable(with_causes(&error));
            let mut edit = ConfigurationEdit::of_cluster(&shelf).map_err(unusable)?;
            edit.add_token(&lines).and_then(|()| edit.save()).map_err(unusable)?;
        }
        println!("token (shown this once; the client sends it as `Authorization: Bearer TOKEN`):\n{text}\n");
        let place = if self.cluster { "all hosts of the cluster have" } else { "for wharf.toml" };
        println!("{place}:\n{lines}");
        Ok(ExitCode::SUCCESS)
    }

    fn lines(&self, digest: &str) -> String {
        let mut lines = format!("[[http.tokens]]\nname = {}\ndigest = {}\n", quoted(&self.name), quoted(digest));
        if let Some(expires) = &self.expires {
            lines.push_str(&format!("expires = {expires}\n"));
        }
        if let Some(tenant) = &self.tenant {
            lines.push_str(&format!("tenant = {}\n", quoted(tenant.as_str())));
        }
        if self.metrics {
            lines.push_str("metrics = true\n");
        }
        let lists = [
            ("plugins", &self.plugins, self.metrics || self.operator),
            ("tools", &self.tools, false),
            ("skip_tools", &self.skip_tools, false),
        ];
        for (name, patterns, even_empty) in lists {
            if even_empty || !patterns.is_empty() {
                let patterns: Vec<_> = patterns.iter().map(|pattern| quoted(pattern)).collect();
                lines.push_str(&format!("{name} = [{}]\n", patterns.join(", ")));
            }
        }
        let numbers = [("requests_per_second", self.requests_per_second), ("calls", self.calls)];
        for (name, number) in numbers.into_iter().filter_map(|(name, number)| Some((name, number?))) {
            lines.push_str(&format!("{name} = {number}\n"));
        }
        if self.front_ends {
            lines.push_str("front_ends = true\n");
        }
        if self.operator {
            lines.push_str("operator = true\n");
        }
        if self.trusted_middleware {
            lines.push_str("trusted_middleware = true\n");
        }
        lines
    }
}
