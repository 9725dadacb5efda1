//! Components that export plain functions: each function becomes a tool, called by wasmtime's
//! dynamic values.
//!
//! Owns what such a component offers and how one of its functions is called. The JSON of a call is
//! made and read by the types that the component itself has; nothing is believed that it says
//! beside them.

mod documentation;
mod exported;
mod names;
mod reading;
mod refusal;
mod schema;
mod shape;
mod writing;

use std::collections::HashMap;

use wasmtime::{
    AsContextMut, Store,
    component::{Component, ComponentExportIndex, Instance, Val},
};
use wharf_core::{CallLimits, SchemaDocument, ToolDefinition};

use self::{
    documentation::Documentation,
    exported::FunctionExports,
    shape::{Parameters, Returned},
};
use crate::{
    bindings::{exports::wharf::plugin::tools, wharf::plugin::types},
    error::LoadError,
    guest::Guest,
};

/// Bytes that the dynamic values of a call may take for each byte of `output_bytes`: a value of one
/// byte takes about 48 in the host.
const VALUE_GROWTH: u64 = 16;

/// What the values of one call may take in the host: those of its arguments, and those of its result.
pub(crate) fn value_bytes(limits: &CallLimits) -> u64 {
    limits.output_bytes.saturating_mul(VALUE_GROWTH)
}

/// The functions of a component that are tools.
pub(crate) struct Functions {
    functions: Vec<ExportedFunction>,
    by_tool: HashMap<String, usize>,
    left_out: Vec<String>,
}

struct ExportedFunction {
    tool: String,
    /// The interface as the component exports it; nothing of a function that it exports by itself.
    interface: Option<String>,
    name: String,
    index: ComponentExportIndex,
    parameters: Parameters,
    returned: Returned,
}

impl Functions {
    /// Finds the functions of a component, and says which of its exports are no tools.
    pub(crate) fn find(component: &Component) -> Result<Self, LoadError> {
        let FunctionExports { functions, left_out } = exported::read(component)?;
        if functions.is_empty() {
            return Err(LoadError::NoFunctions(no_functions(&left_out)));
        }
        let by_tool = functions.iter().enumerate().map(|(place, function)| (function.tool.clone(), place)).collect();
        Ok(Self { functions, by_tool, left_out })
    }

    /// FunctionExports functions that are no tools, each with the reason.
    pub(crate) fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Each function as a tool, with what the component's bytes say of it.
    pub(crate) fn definitions(&self, component: &[u8]) -> Vec<ToolDefinition> {
        let documentation = Documentation::read(component);
        self.functions.iter().map(|function| function.definition(&documentation)).collect()
    }

    /// Calls the function that is this tool. `arguments` is the JSON text of an object.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: &str,
        instance: Instance,
        store: &mut Store<Guest>,
    ) -> wasmtime::Result<Result<tools::Answer, types::Error>> {
        let function = self.by_tool.get(tool).and_then(|place| self.functions.get(*place));
        let function = function.ok_or_else(|| wasmtime::format_err!("the component has no function for this tool"))?;
        let limits = store.data().call.limits();
        let (most_value_bytes, output_bytes) = (value_bytes(limits), limits.output_bytes);
        let parameters = match reading::parameters(&function.parameters, arguments, most_value_bytes) {
            Ok(parameters) => parameters,
            Err(error) => return Ok(Err(error)),
        };
        let callable = instance.get_func(store.as_context_mut(), function.index);
        let callable = callable.ok_or_else(|| wasmtime::format_err!("the component does not have its function"))?;
        let mut results = vec![Val::Bool(false); usize::from(function.returned.is_some())];
        callable.call_async(store, &parameters, &mut results).await?;
        Ok(writing::answer(&function.returned, results.pop(), output_bytes))
    }
}

impl ExportedFunction {
    fn definition(&self, documentation: &Documentation) -> ToolDefinition {
        let (interface, name) = (self.interface.as_deref(), self.name.as_str());
        let description = documentation.of(interface, name).unwrap_or_else(|| match interface {
            Some(interface) => format!("Calls `{name}` of `{interface}`."),
            None => format!("Calls `{name}`."),
        });
        ToolDefinition {
            name: self.tool.clone(),
            description,
            input_schema: SchemaDocument::from(schema::of_parameters(&self.parameters)),
            output_schema: schema::of_returned(&self.returned).map(SchemaDocument::from),
            meta: serde_json::Map::new(),
        }
    }
}

fn no_functions(left_out: &[String]) -> String {
    match left_out {
        [] => "it exports none".to_owned(),
        [one] => one.clone(),
        [first, rest @ ..] => format!("{first}; and {} more", rest.len()),
    }
}
