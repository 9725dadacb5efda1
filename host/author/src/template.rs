//! The files of new plugins. Words in double braces are filled in; all else stays as it is.

mod tools;

use crate::{building::Project, capability::PluginCapability, kit, language::Language};
use tools::TemplateCase;
pub(crate) use tools::{TOOLS, TemplateRequest, TemplateTool};

/// A file of a new plugin.
pub(crate) type TemplateFile = (String, String);

/// A plugin that is about to be made.
pub(crate) struct Wanted<'w> {
    pub(crate) name: &'w str,
    pub(crate) language: Language,
    pub(crate) tools: &'w [&'static TemplateTool],
}

impl Wanted<'_> {
    /// All files, by their paths in the folder of the plugin.
    pub(crate) fn files(&self) -> Vec<TemplateFile> {
        let mut files = match self.language {
            Language::Rust => self.rust(),
            Language::TypeScript => self.javascript("ts"),
            Language::JavaScript => self.javascript("js"),
            Language::Python => self.python(),
        };
        files.push(("README.md".to_owned(), self.readme()));
        files.push((Project::CONFIGURATION.to_owned(), self.configuration()));
        files.push((Project::CASES.to_owned(), self.cases()));
        files
    }

    /// What its tools need from the operator.
    fn requests(&self) -> impl Iterator<Item = &'static TemplateRequest> {
        self.tools.iter().filter_map(|tool| tool.request.as_ref())
    }

    /// The commands that follow, in the folder of the plugin.
    pub(crate) const fn test_command(&self) -> &'static str {
        match self.language {
            Language::Rust => "cargo test",
            Language::TypeScript | Language::JavaScript => "npm install && npm test",
            Language::Python => "PYTHONPATH=kit python3 -m unittest discover -s tests -t .",
        }
    }

    fn rust(&self) -> Vec<TemplateFile> {
        let fixed = [
            (".gitignore", include_str!("../templates/rust/gitignore")),
            (".github/workflows/ci.yml", include_str!("../templates/rust/ci.yml")),
            (".vscode/settings.json", include_str!("../templates/rust/settings.json")),
        ];
        let mut files: Vec<_> = fixed.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect();
        let (sdk, for_tests) = match kit::RUST.is_carried() {
            true => {
                let path = r#"path = "kit/sdk/rust""#;
                (format!("{{ {path} }}"), format!("{{ {path}, features = [\"schema-checks\"] }}"))
            }
            false => {
                let version = env!("CARGO_PKG_VERSION");
                (format!("\"{version}\""), format!("{{ version = \"{version}\", features = [\"schema-checks\"] }}"))
            }
        };
        let manifest = include_str!("../templates/rust/Cargo.toml.template");
        let manifest = filled(manifest, &[("name", self.name), ("sdk", &sdk), ("sdk_for_tests", &for_tests)]);
        files.push(("Cargo.toml".to_owned(), manifest));
        files.push(("src/lib.rs".to_owned(), self.rust_library()));
        let crate_name = self.name.replace('-', "_");
        for tool in self.tools {
            files.push((format!("src/{}.rs", tool.module), tool.source.rust.to_owned()));
            if let Some(tests) = tool.source.rust_tests {
                files.push((format!("tests/{}.rs", tool.module), filled(tests, &[("crate", &crate_name)])));
            }
        }
        files
    }

    fn rust_library(&self) -> String {
        let modules = |line: fn(&str, &str) -> String| -> String {
            let mut lines: Vec<_> = self.tools.iter().map(|tool| line(tool.module, tool.name)).collect();
            lines.sort();
            lines.concat()
        };
        let declared = modules(|module, _| format!("mod {module};\n"));
        let used = modules(|module, name| format!("use {module}::{name};\n"));
        let names: Vec<_> = self.tools.iter().map(|tool| tool.name).collect();
        let reasons: String = self
            .requests()
            .map(|request| format!("    {} = {:?},\n", request.capability.as_str(), request.reason))
            .collect();
        let reasons = match reasons.is_empty() {
            true => String::new(),
            false => format!(
                "\n// The operator reads why it asks, before granting anything.\nwharf_sdk::reasons!(\n{reasons});\n"
            ),
        };
        let names = names.join(", ");
        format!(
            "//! The plugin `{}`: its tools, in the order of the list.\n\n{declared}\n{used}\nwharf_sdk::plugin!({names});\n{reasons}",
            self.name
        )
    }

    fn javascript(&self, extension: &str) -> Vec<TemplateFile> {
        let mut files = vec![
            (".gitignore".to_owned(), include_str!("../templates/javascript/gitignore").to_owned()),
            (".github/workflows/ci.yml".to_owned(), include_str!("../templates/javascript/ci.yml").to_owned()),
            (".vscode/settings.json".to_owned(), include_str!("../templates/javascript/settings.json").to_owned()),
            ("tsconfig.json".to_owned(), include_str!("../templates/javascript/tsconfig.json").to_owned()),
            ("test/greeting.test.mjs".to_owned(), include_str!("../templates/javascript/greeting.test.mjs").to_owned()),
            ("package.json".to_owned(), self.package_json(extension)),
        ];
        for tool in self.tools {
            files.push((format!("src/{}.{extension}", tool.module), tool.source.javascript.to_owned()));
        }
        let tools: Vec<_> = self.tools.iter().map(|tool| (tool.module, camel_case(tool.name))).collect();
        let imports: String = tools
            .iter()
            .map(|(module, name)| format!("import {{ {name} }} from \"./{module}.{extension}\";\n"))
            .collect();
        let names: Vec<_> = tools.into_iter().map(|(_, name)| name).collect();
        let plugin = format!(
            "// The plugin `{}`: its tools, in the order of the list.\n\nimport {{ plugin }} from \"@wharf/sdk\";\n\n{imports}\n\
             export default plugin({{ tools: [{}] }});\n",
            self.name,
            names.join(", ")
        );
        files.push((format!("src/plugin.{extension}"), plugin));
        files
    }

    fn package_json(&self, extension: &str) -> String {
        // The engine without a fetch is small; the other one is eight times as large.
        let fetches = self.requests().any(|request| request.capability == PluginCapability::Http);
        let engine = if fetches { "spidermonkey" } else { "quickjs" };
        let reasons: serde_json::Map<_, _> =
            self.requests().map(|request| (request.capability.as_str().to_owned(), request.reason.into())).collect();
        let mut development = serde_json::json!({ "@types/node": "^20.19.0", "typescript": "7.0.2" });
        if fetches {
            development["@bytecodealliance/componentize-js"] = "0.23.0".into();
            // It imports this one without depending on it; 0.26.1 hands it no folder.
            development["@bytecodealliance/preview2-shim"] = "0.26.0".into();
        } else {
            development["componentize-qjs"] = "0.4.5".into();
        }
        let carried = kit::JAVASCRIPT.is_carried();
        let sdk = if carried { "file:kit" } else { env!("CARGO_PKG_VERSION") };
        let bundle = "--bundle --packages=external --platform=node --format=esm --outfile=dist/plugin.mjs";
        let mut scripts = serde_json::json!({
            "test": format!("esbuild src/plugin.{extension} {bundle} --log-level=error && node --test test/*.test.mjs"),
            "check": "tsc --noEmit",
        });
        if carried {
            scripts["postinstall"] = "npm run --prefix kit build".into();
        }
        let manifest = serde_json::json!({
            "name": self.name,
            "version": "0.1.0",
            "description": "A plugin for Wharf.",
            "license": "Apache-2.0",
            "private": true,
            "type": "module",
            "scripts": scripts,
            "wharf": { "main": format!("src/plugin.{extension}"), "engine": engine, "reasons": reasons },
            "dependencies": { "@wharf/sdk": sdk },
            "devDependencies": development,
        });
        format!("{manifest:#}\n")
    }

    fn python(&self) -> Vec<TemplateFile> {
        let module = self.name.replace('-', "_");
        let fixed = [
            (".gitignore".to_owned(), include_str!("../templates/python/gitignore")),
            (".github/workflows/ci.yml".to_owned(), include_str!("../templates/python/ci.yml")),
            (".vscode/settings.json".to_owned(), include_str!("../templates/python/settings.json")),
            ("tests/__init__.py".to_owned(), ""),
        ];
        let own = self.tools.iter().map(|tool| (format!("{module}/{}.py", tool.module), tool.source.python));
        let mut files: Vec<_> = fixed.into_iter().chain(own).map(|(path, text)| (path, text.to_owned())).collect();
        files.push((
            "pyproject.toml".to_owned(),
            filled(include_str!("../templates/python/pyproject.toml.template"), &[("name", self.name)]),
        ));
        let test = filled(include_str!("../templates/python/test_greeting.py.template"), &[("module", &module)]);
        files.push(("tests/test_greeting.py".to_owned(), test));
        files.push((format!("{module}/__init__.py"), self.python_package()));
        files
    }

    fn python_package(&self) -> String {
        let mut imports: Vec<_> =
            self.tools.iter().map(|tool| format!("from .{} import {}\n", tool.module, tool.name)).collect();
        imports.sort();
        let names: Vec<_> = self.tools.iter().map(|tool| tool.name).collect();
        let reasons: String = self
            .requests()
            .map(|request| format!("        {:?}: {:?},\n", request.capability.as_str(), request.reason))
            .collect();
        let reasons = match reasons.is_empty() {
            true => String::new(),
            false => format!(
                "    # The operator reads why it asks, before granting anything.\n    reasons={{\n{reasons}    }},\n"
            ),
        };
        format!(
            "\"\"\"The plugin `{}`: its tools, in the order of the list.\"\"\"\n\nfrom wharf_sdk import plugin\n\n{}\n\
             PLUGIN = plugin(\n    {},\n{reasons})\nTools = PLUGIN.Tools\n",
            self.name,
            imports.concat(),
            names.join(",\n    "),
        )
    }

    fn readme(&self) -> String {
        let tools: String = self.tools.iter().map(|tool| format!("| `{}` | {} |\n", tool.name, tool.does)).collect();
        let kit = match self.language {
            Language::Rust if kit::RUST.is_carried() => {
                "`kit/` has the crates that it is built with, of the version that fits the host. They are no part of your code."
            }
            Language::Rust => "`wharf-sdk` is the crate that it is built with.",
            Language::TypeScript | Language::JavaScript => {
                "`kit/` has the package that it is built with, of the version that fits the host; `npm install` compiles it. It is no part of your code."
            }
            Language::Python => {
                "`kit/` has the package that it is built with, of the version that fits the host. It is no part of your code."
            }
        };
        let text = include_str!("../templates/README.md.template");
        let filling = [
            ("name", self.name),
            ("plugin", self.name),
            ("language", self.language.name()),
            ("tools", &tools),
            ("test_command", self.test_command()),
            ("kit", kit),
        ];
        filled(text, &filling)
    }

    /// Calls in the engine that will run it, with what is expected of their answers.
    fn cases(&self) -> String {
        let mut text =
            "# `wharf test` builds the plugin and makes these calls, with the grants of wharf.toml.\n".to_owned();
        for tool in self.tools {
            for case in tool.cases {
                let expected = case.expected(self.language);
                let TemplateCase { call, scripts, .. } = case;
                text.push_str(&format!("\n[[case]]\ntool = \"{}\"\n{call}{expected}{scripts}", tool.name));
            }
        }
        text
    }

    /// A configuration for the author alone.
    fn configuration(&self) -> String {
        let name = self.name;
        let mut text = format!(
            "# For trying the plugin: `wharf serve --stdio --config wharf.toml`.\ndata = \".wharf/data\"\n\n\
             [plugin.{name}]\nsource = \"dist/{name}.wasm\"\npin = \"none\"   # each build takes the place of the one before\n"
        );
        for TemplateRequest { capability, reason, grant } in self.requests() {
            let capability = capability.as_str();
            text.push_str(&format!("\n[plugin.{name}.grants.{capability}]\nreason = {reason:?}\n{grant}"));
        }
        text
    }
}

/// `count_visit` as `countVisit`.
fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (initial, rest) = word.split_at(word.len().min(1));
        name + &initial.to_uppercase() + rest
    })
}

/// A template with its words filled in.
fn filled(template: &str, words: &[(&str, &str)]) -> String {
    words.iter().fold(template.to_owned(), |text, (word, value)| text.replace(&format!("{{{{{word}}}}}"), value))
}
