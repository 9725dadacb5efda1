//! `wharf test`: the cases of a plugin, in the engine that will run it.

mod case;
mod coverage;
mod pages;
mod player;
mod programs;
mod script;
mod servers;
mod stage;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use clap::Args;
use wharf::{
    CallRequest, Configuration, Digest, Host, PluginName, configuration::ApprovalSettings, sources::read_component,
};
use wharf_author::Project;

pub(crate) use self::player::play;
use self::{
    case::{Cases, TestCase},
    pages::ScriptedPages,
    programs::ScriptedPrograms,
    servers::ScriptedServers,
    stage::Stage,
};
use super::build::{build, unusable};
use crate::{
    exit::{FAILED, Unusable},
    global::{Global, runtime},
};

/// Run the cases of the plugin in a folder: calls with the answers that are expected
///
/// The component is built, and each case of `cases.toml` is a call in the sandbox, with
/// the grants of the folder's `wharf.toml`. Data is new for each run; cases of one
/// context see what earlier ones of it left. Programs, web pages and servers can be
/// scripted, so that cases need none of them.
///
/// Exit code 0 where all cases passed, 1 where one did not.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  wharf test                       the cases of the plugin here
  wharf test greet                 those whose names contain `greet`
  wharf test --folder plugins/tracker --no-build

A case of cases.toml:
  [[case]]
  name = \"a visit is counted\"
  tool = \"count_visit\"
  arguments = { visitor = \"Ada\" }
  session = \"one\"                  # also: assistant, thread
  structured = { count = 1 }       # also: text, text_contains, error, error_contains

  [[case.program]]                 # or [[program]], for all cases; also: page, response
  name = \"cc\"
  arguments = [\"--version\"]
  stdout = \"cc 12\\n\"")]
pub(super) struct TestArguments {
    /// Run the cases whose names contain this
    #[arg(value_name = "WORDS")]
    filter: Option<String>,

    /// The folder of the plugin
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,

    /// The file with the cases [default: cases.toml in the folder]
    #[arg(long, value_name = "FILE")]
    cases: Option<PathBuf>,

    /// Run the component that was built before
    #[arg(long)]
    no_build: bool,

    /// Print lines of the Test Anything Protocol (TAP 14), for other programs
    #[arg(long)]
    tap: bool,

    /// Then count the lines that the plugin's native tests reach (Rust)
    #[arg(long)]
    coverage: bool,

    /// Where those lines are written for other programs, in the format of lcov
    /// [default: coverage/lcov.info in cargo's target folder]
    #[arg(long, value_name = "FILE", requires = "coverage")]
    lcov: Option<PathBuf>,
}

/// What processes may take to end by themselves after the last case.
const GRACE: Duration = Duration::from_secs(1);

impl TestArguments {
    pub(super) fn run(self, mut global: Global) -> Result<ExitCode> {
        let project = Project::open(&self.folder).map_err(unusable)?;
        let file = self.cases.clone().unwrap_or_else(|| project.folder().join(Project::CASES));
        let mut cases = Cases::read(&file)?;
        let stage = Arc::new(Stage::set(&mut cases));
        let component = if self.no_build {
            project.built().map_err(unusable)?
        } else {
            build(&project, None, &[], &global).map_err(unusable)?
        };
        global.prefer_configuration(project.folder().join(Project::CONFIGURATION));
        let name: PluginName = component.name.parse().map_err(|error| Unusable(format!("{error}")))?;
        let configuration = configuration(&global, &name, &component.file)?;
        // Cases leave nothing but that: a component that did not change is not compiled again.
        let compiled = global.compiled_code();
        // What earlier runs left would make a case pass or fail.
        let data = tempfile::tempdir().context("cannot make a directory for the data of the cases")?;
        let wanted: Vec<_> = cases
            .list
            .iter()
            .enumerate()
            .filter(|(_, case)| self.filter.as_deref().is_none_or(|filter| case.name.contains(filter)))
            .collect();
        let summary = runtime()?.block_on(async {
            let host = host(configuration, (data.path(), compiled), &cases, &stage).await?;
            if let Some(rejected) = host.rejected().iter().find(|rejected| rejected.name == name) {
                return Err(Unusable(format!("{name}: {}", rejected.reason)).into());
            }
            let summary = self.each(&host, &name, &cases, &wanted, &stage).await;
            host.shut_down(GRACE).await;
            anyhow::Ok(summary)
        })?;
        let native = !self.coverage || coverage::report(&project, self.lcov, self.tap)?;
        Ok(if summary && native { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
    }

    /// Runs the cases in their order, and says whether all passed.
    async fn each(
        &self,
        host: &Host,
        plugin: &PluginName,
        file: &Cases,
        cases: &[(usize, &TestCase)],
        stage: &Stage,
    ) -> bool {
        if self.tap {
            println!("TAP version 14\n1..{}", cases.len());
        } else {
            println!("running {} cases", cases.len());
        }
        let began = Instant::now();
        let mut failed = Vec::new();
        for (number, (place, case)) in (1..).zip(cases) {
            stage.begin(*place, file.only_scripted(case));
            let request = CallRequest::new(case.context(), format!("{plugin}__{}", case.tool), case.arguments.clone());
            let wrong = case.problem(&host.call(request).await).map(|problem| with_unscripted(&problem, stage));
            match (self.tap, &wrong) {
                (true, None) => println!("ok {number} - {}", case.name),
                (true, Some(problem)) => println!("not ok {number} - {}\n{}", case.name, commented(problem)),
                (false, None) => println!("case {} ... ok", case.name),
                (false, Some(_)) => println!("case {} ... FAILED", case.name),
            }
            failed.extend(wrong.map(|problem| (&case.name, problem)));
        }
        if !self.tap {
            for (name, problem) in &failed {
                println!("\n---- {name} ----\n{problem}");
            }
            let (verdict, passed) = (if failed.is_empty() { "ok" } else { "FAILED" }, cases.len() - failed.len());
            let took = began.elapsed().as_secs_f64();
            println!("\ntest result: {verdict}. {passed} passed; {} failed; finished in {took:.2}s", failed.len());
        }
        failed.is_empty()
    }
}

/// The host of the cases, with what they script in the place of the real things.
async fn host(
    configuration: Configuration,
    (data, compiled): (&Path, Option<PathBuf>),
    cases: &Cases,
    stage: &Arc<Stage>,
) -> Result<Host> {
    let programs = ScriptedPrograms::write(Arc::clone(stage))?;
    let mut builder = Host::builder(configuration)
        .data(data)
        .program_stand_ins(Arc::new(programs))
        .server_stand_ins(Arc::new(ScriptedServers(Arc::clone(stage))));
    if let Some(compiled) = compiled {
        builder = builder.compiled_code(compiled);
    }
    if let Some(functions) = Global::compiled_functions() {
        builder = builder.compiled_functions(functions);
    }
    // A page is opened before anybody says where it goes, so all of them are scripted, or none.
    if stage.has_pages() || cases.is_any_only_scripted() {
        builder = builder.webview_backend(Arc::new(ScriptedPages::new(Arc::clone(stage))));
    }
    Ok(builder.open().await.map_err(|error| Unusable(wharf::with_causes(&error)))?)
}

/// A problem with what the case asked for that no script is about.
fn with_unscripted(problem: &str, stage: &Stage) -> String {
    let told = stage.unscripted().into_iter().map(|what| format!("\nno script is about {what}"));
    std::iter::once(problem.to_owned()).chain(told).collect()
}

/// What the folder says of its plugin, with the component that was built.
fn configuration(global: &Global, name: &PluginName, component: &Path) -> Result<Configuration> {
    let mut configuration = global.configuration()?;
    // The person who types the command has allowed its calls.
    configuration.approvals = ApprovalSettings::default();
    if !configuration.plugins.contains_key(name) {
        let table = format!("[plugin.{name}]\n");
        let own = Configuration::parse(&table, Path::new("/")).map_err(|error| Unusable(wharf::with_causes(&error)))?;
        configuration.plugins.extend(own.plugins);
    }
    let bytes = read_component(component, configuration.host_limits.component_bytes)
        .with_context(|| format!("cannot read {}", component.display()))?;
    if let Some(settings) = configuration.plugins.get_mut(name) {
        settings.source = Some(component.to_owned());
        // It was built just now, by the person who runs this.
        (settings.digest, settings.pin) = (Some(Digest::of(&bytes)), None);
    }
    configuration.plugins.retain(|plugin, _| plugin == name);
    Ok(configuration)
}

/// Lines that a reader of the protocol passes on.
fn commented(problem: &str) -> String {
    problem.lines().map(|line| format!("# {line}")).collect::<Vec<_>>().join("\n")
}
