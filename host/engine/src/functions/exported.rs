//! Which of a component's exports are functions that can be tools.

use wasmtime::component::{
    Component, ComponentExportIndex,
    types::{ComponentFunc, ComponentItem},
};
use wharf_core::{
    text,
    tool::{MAX_NAME_BYTES, MAX_TOOLS},
};

use super::{ExportedFunction, names, shape};
use crate::error::LoadError;

/// Exports that are told of as left out.
const MOST_LEFT_OUT: usize = 64;
/// Bytes that are told of a name.
const MOST_NAME_BYTES: usize = 120;

/// What was found.
pub(super) struct FunctionExports {
    pub(super) functions: Vec<ExportedFunction>,
    pub(super) left_out: Vec<String>,
}

/// A function that was found and is not looked into yet.
struct FunctionExport {
    interface: Option<String>,
    name: String,
    kind: ComponentFunc,
    index: ComponentExportIndex,
}

pub(super) fn read(component: &Component) -> Result<FunctionExports, LoadError> {
    let mut left_out = LeftOut::default();
    let found = found(component, &mut left_out)?;
    let candidates: Vec<_> =
        found.iter().map(|found| names::candidates(found.interface.as_deref(), &found.name)).collect();
    let mut functions = Vec::with_capacity(found.len());
    for (FunctionExport { interface, name, kind, index }, tool) in found.into_iter().zip(names::chosen(&candidates)) {
        let shown = shown(interface.as_deref(), &name);
        let Some(tool) = tool else {
            left_out.note(&shown, "another function has its name");
            continue;
        };
        if tool.len() > MAX_NAME_BYTES {
            left_out.note(&shown, format!("its name as a tool has more than {MAX_NAME_BYTES} characters"));
            continue;
        }
        match shape::of_function(&kind) {
            Ok((parameters, returned)) => {
                functions.push(ExportedFunction { tool, interface, name, index, parameters, returned });
            }
            Err(why) => left_out.note(&shown, why),
        }
    }
    Ok(FunctionExports { functions, left_out: left_out.told() })
}

/// The functions that the component exports by itself and in interfaces, and the first that are
/// not looked for.
fn found(component: &Component, left_out: &mut LeftOut) -> Result<Vec<FunctionExport>, LoadError> {
    let mut found = Vec::new();
    let engine = component.engine();
    for (name, item) in component.component_type().exports(engine) {
        match item.ty {
            ComponentItem::ComponentFunc(kind) => {
                let index = component.get_export_index(None, name);
                add(&mut found, FunctionExport::new(None, name, kind, index))?;
            }
            ComponentItem::ComponentInstance(_) if name.starts_with("wasi:") => {
                left_out.note(&shown(None, name), "it is an entry point of WASI, and no tool");
            }
            ComponentItem::ComponentInstance(instance) => {
                let within = component.get_export_index(None, name);
                for (function, item) in instance.exports(engine) {
                    let ComponentItem::ComponentFunc(kind) = item.ty else { continue };
                    if function.starts_with('[') {
                        left_out
                            .note(&shown(Some(name), function), "it belongs to a resource, which has no form in JSON");
                    } else {
                        let index = component.get_export_index(within.as_ref(), function);
                        add(&mut found, FunctionExport::new(Some(name), function, kind, index))?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

/// One more than the tools that a plugin may have is refused, and not cut.
fn add(functions: &mut Vec<FunctionExport>, found: Option<FunctionExport>) -> Result<(), LoadError> {
    functions.extend(found);
    if functions.len() > MAX_TOOLS {
        return Err(LoadError::Refused(format!("it exports more than {MAX_TOOLS} functions")));
    }
    Ok(())
}

impl FunctionExport {
    fn new(
        interface: Option<&str>,
        name: &str,
        kind: ComponentFunc,
        index: Option<ComponentExportIndex>,
    ) -> Option<Self> {
        Some(Self { interface: interface.map(str::to_owned), name: name.to_owned(), kind, index: index? })
    }
}

/// What is left out, as far as it is told.
#[derive(Default)]
struct LeftOut {
    told: Vec<String>,
    more: usize,
}

impl LeftOut {
    fn note(&mut self, what: &str, why: impl std::fmt::Display) {
        if self.told.len() < MOST_LEFT_OUT {
            self.told.push(format!("`{what}`: {why}"));
        } else {
            self.more += 1;
        }
    }

    fn told(mut self) -> Vec<String> {
        if self.more > 0 {
            self.told.push(format!("{} more", self.more));
        }
        self.told
    }
}

fn shown(interface: Option<&str>, name: &str) -> String {
    let whole = interface.map_or_else(|| name.to_owned(), |interface| format!("{interface}#{name}"));
    text::line(&whole, MOST_NAME_BYTES)
}
