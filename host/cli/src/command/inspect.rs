//! `wharf inspect`: what a component is, before anybody grants it anything.

mod lint;

use std::{
    io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Result;
use clap::Args;
use serde_json::json;
use wharf::{
    Configuration, HostLimits, PluginName,
    component::{self, CompileCaches, Component, Inspection, LanguageRuntime, LoadError, StartReport},
    grant::Capability,
    reserved_name,
    sources::{PluginSource, SourceError, read_component},
    with_causes,
};

use crate::{
    bytes::size,
    exit::{Misused, Unusable},
    global::{Global, absolute},
    print::print_json,
    progress::ProgressDisplay,
    tables,
};

/// Problems of its tools that are printed.
const MOST_PROBLEMS: usize = 20;

/// Show what a component is: digest, size, start, imports, tools, prompts and resources, and which grants it asks for
///
/// The component is compiled and asked for its tools in a sandbox without any
/// grant, and ten instances of it are made to say how long the slowest start takes.
/// Nothing is installed or kept. Its languages are known by marks that its builder left.
#[derive(Debug, Args)]
pub(super) struct InspectArguments {
    /// The component
    file: PathBuf,

    /// Take each function that it exports for a tool, as `wharf plugin add --functions` does
    #[arg(long)]
    functions: bool,

    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

impl InspectArguments {
    /// Why there is no component. What is no file may be somewhere else.
    fn unread(&self, error: io::Error) -> anyhow::Error {
        let named = self.file.to_str().filter(|_| error.kind() == io::ErrorKind::NotFound).map(str::parse);
        let is_elsewhere = matches!(
            named,
            Some(Ok(PluginSource::Address(_) | PluginSource::Registry(_)) | Err(SourceError::NoScheme(_)))
        );
        if is_elsewhere {
            let told = "`wharf inspect` reads a file, and this names what is elsewhere: the console of a host looks at it before \
                        it is added, and `wharf plugin add` adds it with nothing granted";
            return Misused(told.to_owned()).into();
        }
        anyhow::Error::new(error).context(format!("cannot read {}", self.file.display()))
    }

    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let name = plugin_name(&self.file);
        let limits = HostLimits::default();
        let bytes = read_component(&self.file, limits.component_bytes).map_err(|error| self.unread(error))?;
        let look = Look { limits, caches: CompileCaches::default(), progress: global.progress() };
        let (inspection, start) = look.at_start(
            &name,
            Component::new(bytes).with_functions(self.functions),
            &self.file.display().to_string(),
        )?;
        if self.json {
            let reasons: serde_json::Map<_, _> =
                inspection.reasons.iter().map(|(capability, reason)| (capability.to_string(), json!(reason))).collect();
            print_json(&json!({
                "digest": inspection.digest,
                "bytes": inspection.bytes,
                "about": inspection.about.words,
                "lists_libraries": inspection.about.lists_libraries,
                "parts": inspection.about.parts,
                "runtimes": inspection.about.runtimes,
                "start": {
                    "starts": start.starts,
                    "slowest_milliseconds": milliseconds(&start),
                    "memory_bytes": start.memory_bytes,
                    "failure": start.failure.as_deref().map(one_line),
                },
                "imports": inspection.imports,
                "grants": inspection.wanted_grants(),
                "reasons": reasons,
                "tools": inspection.tools,
                "prompts": inspection.prompts,
                "claims": inspection.claims,
                "templates": inspection.templates,
                "functions": inspection.functions,
                "left_out": inspection.left_out,
                "lints": lint::problems(&inspection),
            }))?;
        } else {
            print(&absolute(&self.file)?, &name, (&inspection, &start));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// How a component is looked at.
type Inspect<T> = fn(&PluginName, Component, HostLimits, CompileCaches) -> Result<T, LoadError>;

/// A look at components, in a sandbox without any grant.
pub(super) struct Look {
    pub(super) limits: HostLimits,
    pub(super) caches: CompileCaches,
    pub(super) progress: ProgressDisplay,
}

impl Look {
    /// Beside hosts on a data directory, which may have compiled the component and find what is
    /// compiled here.
    pub(super) fn beside(configuration: &Configuration, data: &Path, progress: ProgressDisplay) -> Self {
        Self {
            limits: configuration.host_limits.clone(),
            caches: CompileCaches { code: Some(data.join("cache")), functions: None },
            progress,
        }
    }

    /// Asks a component what it is; `shown` names it in an error.
    pub(super) fn at(self, name: &PluginName, component: Component, shown: &str) -> Result<Inspection> {
        self.look(name, component, shown, component::inspect)
    }

    /// The same, and says how its instances begin.
    fn at_start(self, name: &PluginName, component: Component, shown: &str) -> Result<(Inspection, StartReport)> {
        self.look(name, component, shown, component::inspect_start)
    }

    fn look<T>(self, name: &PluginName, component: Component, shown: &str, inspect: Inspect<T>) -> Result<T> {
        let _compiling = self.progress.step(format!("compiling {name} ({})", size(component.size())));
        let inspected = inspect(name, component, self.limits, self.caches);
        Ok(inspected.map_err(|error| Unusable(format!("{shown}: {}", with_causes(&error))))?)
    }
}

/// The name that the file would have as a plugin; `plugin`, where its own is none or no
/// plugin may have it.
pub(super) fn plugin_name(file: &Path) -> PluginName {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().to_lowercase().replace('_', "-");
    let name = stem.parse().ok().filter(|name| reserved_name(name).is_none());
    name.unwrap_or_else(|| match "plugin".parse() {
        Ok(name) => name,
        Err(_) => unreachable!("a legal name"),
    })
}

fn print_offers(inspection: &Inspection) {
    if !inspection.prompts.is_empty() {
        println!("\nPrompts ({})", inspection.prompts.len());
    }
    for prompt in &inspection.prompts {
        println!("  {:<24} {}", prompt.name, prompt.description.lines().next().unwrap_or_default());
    }
    if !inspection.claims.is_empty() {
        println!("\nResources at {}", inspection.claims.join(", "));
    }
    for template in &inspection.templates {
        println!("  {:<24} {}", template.uri_template, template.name);
    }
}

/// To a hundredth: more is noise.
fn milliseconds(start: &StartReport) -> f64 {
    (start.slowest.as_secs_f64() * 100_000.0).round() / 100.0
}

fn one_line(text: &str) -> String {
    wharf::text::line(text, 512)
}

fn print_start(start: &StartReport) {
    if start.starts > 0 {
        let (slowest, memory) = (milliseconds(start), size(start.memory_bytes));
        println!(
            "  {:<12} {slowest} ms, the slowest of {}; {memory} of memory in each instance",
            "start", start.starts
        );
    }
    if let Some(failure) = &start.failure {
        println!("  {:<12} number {} failed: {}", "start", start.starts + 1, one_line(failure));
    }
}

fn print_runtimes(runtimes: &[LanguageRuntime]) {
    for (at, LanguageRuntime { name, version, mark, .. }) in runtimes.iter().enumerate() {
        let version = version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
        println!("  {:<12} {name}{version} ({mark})", if at == 0 { "runtimes" } else { "" });
    }
}

fn print(file: &Path, name: &PluginName, (inspection, start): (&Inspection, &StartReport)) {
    println!("{}", file.display());
    println!("  {:<12} {}", "digest", inspection.digest);
    let parts: Vec<_> = inspection.about.parts.iter().map(|(part, bytes)| format!("{part} {}", size(*bytes))).collect();
    println!("  {:<12} {} bytes ({})", "size", inspection.bytes, parts.join(", "));
    print_start(start);
    print_runtimes(&inspection.about.runtimes);
    for (word, said) in &inspection.about.words {
        println!("  {word:<12} {said}");
    }
    if inspection.about.lists_libraries {
        println!("  {:<12} listed in it (.dep-v0)", "libraries");
    }
    println!("\nTools ({})", inspection.tools.len());
    for tool in &inspection.tools {
        println!("  {:<24} {}", tool.name, tool.description.lines().next().unwrap_or_default());
    }
    if !inspection.left_out.is_empty() {
        println!("\nNo tools ({})", inspection.left_out.len());
    }
    for left_out in &inspection.left_out {
        println!("  {left_out}");
    }
    print_offers(inspection);
    let problems = lint::problems(inspection);
    if !problems.is_empty() {
        println!("\nFor its author ({})", problems.len());
    }
    for problem in problems.iter().take(MOST_PROBLEMS) {
        println!("  {problem}");
    }
    if let Some(more) = problems.len().checked_sub(MOST_PROBLEMS).filter(|more| *more > 0) {
        println!("  and {more} more; --json has them all");
    }
    println!("\nImports ({})", inspection.imports.len());
    for import in &inspection.imports {
        println!("  {import}");
    }
    println!("\nWASI imports are linked with nothing granted: no files, environment, arguments or network.");
    let wanted = inspection.wanted_grants();
    if wanted.is_empty() {
        println!("It asks for no grant. To install it, add to wharf.toml:\n");
    } else {
        println!("It asks for: {}. To install it and grant that, add to wharf.toml:\n", wanted.join(", "));
    }
    print!("{}", tables::of_plugin(name, file, inspection.digest, inspection.functions));
    for capability in wanted {
        let reason = Capability::from_word(capability).and_then(|capability| inspection.reasons.get(&capability));
        print!("\n{}", tables::of_grant(name, capability, reason.map(String::as_str)));
    }
    let word = wharf::text::for_shell(&file.display().to_string());
    println!("\n`wharf grant {word}` says what it could do with that, and writes it.");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_whose_name_no_plugin_may_have_gets_another() {
        for (file, name) in
            [("My_Tool.wasm", "my-tool"), ("host.wasm", "plugin"), ("app.wasm", "plugin"), ("ä.wasm", "plugin")]
        {
            assert_eq!(plugin_name(Path::new(file)).as_str(), name, "{file}");
        }
    }
}
