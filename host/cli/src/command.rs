//! The command line, and which subcommand it leads to.

mod approvals;
mod attach;
mod audit;
mod backup;
mod build;
mod call;
mod completions;
mod config;
mod connect;
mod console;
mod dev;
mod doctor;
mod grant;
#[cfg(feature = "postgres")]
mod hosts;
mod inspect;
mod line;
mod new;
mod plugin;
mod processes;
mod publish;
mod restore;
mod serve;
mod sessions;
mod state;
mod terminals;
mod test;
#[cfg(test)]
mod tests;
mod token;
mod tools;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

pub(crate) use self::test::play;
use crate::global::Global;

/// A host for tools that nobody has to trust.
///
/// Tools are Wasm components. Each call runs in a sandbox of its own and has
/// nothing but what you granted: no files, no network, no other session's
/// state. Agents reach the tools over the Model Context Protocol.
#[derive(Debug, Parser)]
#[command(
    name = "wharf",
    version,
    after_long_help = "\
Examples:
  wharf connect claude-code              have an MCP client use this host; also cursor, vscode, codex and others
  wharf serve --stdio --session new      what an MCP client starts, with a session of its own
  wharf console                          what the host does, live, in a browser
  wharf tools                            which tools there are
  wharf call planning__create_goal '{\"goal\": \"Ship it\"}' --session demo
  wharf inspect my-plugin.wasm           what a component is and asks for
  wharf grant my-plugin.wasm             what it could do with that, and whether it may
  wharf new greeter --with state         a plugin of your own; `wharf build` makes its component
  wharf plugin add my-plugin.wasm        add it, also to hosts that serve; `list`, `update`, `remove`
  wharf config check                     whether wharf.toml is right
  wharf doctor                           what holds on this machine
  wharf hosts                            the hosts of a cluster; `drain` before one is stopped
  wharf sessions                         the files of sessions, with their sizes
  wharf processes                        the processes of running hosts, and how they are polled
  wharf terminals                        the terminals of running hosts; `wharf attach ID` shows one
  wharf approvals                        the calls that wait until you allow them
  wharf token new --name ci              a token for a client over HTTP
  wharf state usage                      what plugins keep, and how much of it there may be
  wharf backup wharf.backup              the data directory as one file; `wharf restore` reads it
  wharf audit --last 20                  what was called lately, and what plugins asked for

Exit codes: 0 done; 1 the tool or the command failed; 2 wrong usage;
3 the configuration, a plugin or the data directory is not usable."
)]
pub(crate) struct Wharf {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::ServeArguments),
    Tools(tools::ToolsArguments),
    Call(call::CallArguments),
    Inspect(inspect::InspectArguments),
    Grant(grant::GrantArguments),
    New(new::NewArguments),
    Build(build::BuildArguments),
    Dev(dev::DevArguments),
    Test(test::TestArguments),
    Publish(publish::PublishArguments),
    Connect(connect::ConnectArguments),
    Console(console::ConsoleArguments),
    Config(config::ConfigArguments),
    Plugin(plugin::PluginArguments),
    State(state::StateArguments),
    Backup(backup::BackupArguments),
    Restore(restore::RestoreArguments),
    #[cfg(feature = "postgres")]
    Hosts(hosts::HostsArguments),
    Sessions(sessions::SessionsArguments),
    Processes(processes::ProcessesArguments),
    Terminals(terminals::TerminalsArguments),
    Attach(attach::AttachArguments),
    Approvals(approvals::ApprovalsArguments),
    Audit(Box<audit::AuditArguments>),
    Token(token::TokenArguments),
    Doctor(doctor::DoctorArguments),
    Completions(completions::CompletionsArguments),
    Man(completions::ManArguments),
}

impl Wharf {
    pub(crate) fn run(mut self) -> Result<ExitCode> {
        // What these say themselves, of plugins that were refused and of those that were loaded.
        self.global.start_log(match self.command {
            Command::Tools(_) => &["wharf::refused"],
            Command::Doctor(_) => &["wharf::refused", "wharf::loading"],
            _ => &[],
        });
        self.global.make_absolute()?;
        match self.command {
            Command::Serve(serve) => serve.run(&self.global),
            Command::Tools(tools) => tools.run(&self.global),
            Command::Call(call) => call.run(&self.global),
            Command::Inspect(inspect) => inspect.run(&self.global),
            Command::Grant(grant) => grant.run(&self.global),
            Command::New(new) => new.run(),
            Command::Build(build) => build.run(&self.global),
            Command::Dev(dev) => dev.run(self.global),
            Command::Test(test) => test.run(self.global),
            Command::Publish(publish) => publish.run(&self.global),
            Command::Connect(connect) => connect.run(&self.global),
            Command::Console(console) => console.run(&self.global),
            Command::Config(config) => config.run(&self.global),
            Command::Plugin(plugin) => plugin.run(&self.global),
            Command::State(state) => state.run(&self.global),
            Command::Backup(backup) => backup.run(&self.global),
            Command::Restore(restore) => restore.run(&self.global),
            #[cfg(feature = "postgres")]
            Command::Hosts(hosts) => hosts.run(&self.global),
            Command::Sessions(sessions) => sessions.run(&self.global),
            Command::Processes(processes) => processes.run(&self.global),
            Command::Terminals(terminals) => terminals.run(&self.global),
            Command::Approvals(approvals) => approvals.run(&self.global),
            Command::Attach(attach) => attach.run(&self.global),
            Command::Audit(audit) => audit.run(&self.global),
            Command::Token(tokens) => tokens.run(&self.global),
            Command::Doctor(doctor) => doctor.run(&self.global),
            Command::Completions(completions) => completions.run(),
            Command::Man(man) => man.run(),
        }
    }
}
