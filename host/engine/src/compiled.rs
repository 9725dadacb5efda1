//! Whether compiled code describes the component that it is to be the code of.
//!
//! Code comes from a child that read a stranger's component. If that child was taken over, it may
//! answer with anything. The host therefore parses the component itself, and compares: what is
//! imported and exported, with every type, and how many memories and tables an instance gets.
//!
//! It does not look at machine code. Code that describes itself rightly and does something else
//! passes, and so may code whose very format attacks what reads it.

mod needs;
mod types;

use wasmparser::{
    Parser, Payload, Validator, WasmFeatures, component_types::ComponentItem as ParsedItem, types::Types,
};
use wasmtime::{
    Engine,
    component::{self as wasm, types::ComponentExtern},
};
use wharf_core::text;

use self::{
    needs::{InstanceNeeds, NeedsReader},
    types::TypeComparison,
};
use crate::{
    compile::CompileTarget,
    error::{LoadError, reason},
};

/// What an error shows of a name, which the component has chosen.
const MAX_NAME_BYTES: usize = 96;

/// What the parser finds in a component, without looking at the bodies of its functions.
struct ParsedComponent<'c> {
    types: Types,
    imports: Vec<&'c str>,
    exports: Vec<&'c str>,
    /// Nothing where it cannot be told before there is an instance.
    needs: Option<InstanceNeeds>,
}

impl<'c> ParsedComponent<'c> {
    fn read(component: &'c [u8]) -> Result<Self, LoadError> {
        let malformed = |error: wasmparser::BinaryReaderError| LoadError::Malformed(text::visible(error.to_string()));
        // What may be used was decided when it was compiled.
        let mut validator = Validator::new_with_features(WasmFeatures::all());
        let mut reader = NeedsReader::default();
        let (mut imports, mut exports) = (Vec::new(), Vec::new());
        for payload in Parser::new(0).parse_all(component) {
            let payload = payload.map_err(malformed)?;
            let valid = validator.payload(&payload).map_err(malformed)?;
            match &payload {
                Payload::ComponentImportSection(section) if reader.depth() == 1 => {
                    for import in section.clone() {
                        imports.push(import.map_err(malformed)?.name.name);
                    }
                }
                Payload::ComponentExportSection(section) if reader.depth() == 1 => {
                    for export in section.clone() {
                        exports.push(export.map_err(malformed)?.name.name);
                    }
                }
                _ => {}
            }
            let whole = reader.note(payload).map_err(malformed)?;
            if let (Some(needs), wasmparser::ValidPayload::End(types)) = (whole, valid) {
                return Ok(Self { types, imports, exports, needs });
            }
        }
        Err(LoadError::Malformed("it does not end".to_owned()))
    }
}

/// Refuses code that is not described as this component is.
pub(crate) fn check(engine: &Engine, code: &wasm::Component, component: &[u8]) -> Result<(), LoadError> {
    let parsed = ParsedComponent::read(component)?;
    let described = code.component_type();
    let mut comparison = TypeComparison::new(engine, parsed.types.as_ref());
    let mut same = |kind, name: &str, parsed: Option<&ParsedItem>, described: Option<ComponentExtern<'_>>| {
        let same = parsed.zip(described).is_some_and(|(parsed, described)| comparison.same_item(parsed, &described));
        let told = || LoadError::Miscompiled(format!("its {kind} `{}` is another", text::line(name, MAX_NAME_BYTES)));
        if same { Ok(()) } else { Err(told()) }
    };
    let counts = (described.imports(engine).len(), described.exports(engine).len());
    if counts != (parsed.imports.len(), parsed.exports.len()) {
        return Err(LoadError::Miscompiled(format!(
            "it has {} imports and {} exports, and the component {} and {}",
            counts.0,
            counts.1,
            parsed.imports.len(),
            parsed.exports.len()
        )));
    }
    for name in &parsed.imports {
        same("import", name, parsed.types.component_item_for_import(name), described.get_import(engine, name))?;
    }
    for name in &parsed.exports {
        same("export", name, parsed.types.component_item_for_export(name), described.get_export(engine, name))?;
    }
    // Unknown where it instantiates a module or component that it imports. Hosts offer none, so it is never linked.
    let Some(needs) = parsed.needs else { return Ok(()) };
    match code.resources_required().map(InstanceNeeds::from) {
        Some(described) if described == needs => Ok(()),
        Some(described) => {
            Err(LoadError::Miscompiled(format!("an instance of it has {described}, and one of the component {needs}")))
        }
        None => Err(LoadError::Miscompiled("it does not say how many memories an instance of it has".to_owned())),
    }
}

/// Code that was compiled in this very process, and what it passes for. For tests and fuzzing: a
/// host compiles in a child.
#[derive(Debug)]
pub struct CompiledProbe {
    engine: Engine,
    code: wasm::Component,
}

impl CompiledProbe {
    /// Compiles a component.
    ///
    /// # Errors
    /// Where it is none, or has what this host does not run.
    pub fn compile(component: &[u8]) -> Result<Self, LoadError> {
        let target = CompileTarget { stack_bytes: 1 << 20, small_memories: false };
        let failed = |error: wasmtime::Error| LoadError::Malformed(reason(&error));
        let engine = Engine::new(&target.settings()).map_err(failed)?;
        let code = wasm::Component::from_binary(&engine, component).map_err(failed)?;
        Ok(Self { engine, code })
    }

    /// Whether a host takes it for the code of this component.
    ///
    /// # Errors
    /// Where it does not, and where that is no component.
    pub fn passes_for(&self, component: &[u8]) -> Result<(), LoadError> {
        check(&self.engine, &self.code, component)
    }
}

#[cfg(test)]
mod tests;
