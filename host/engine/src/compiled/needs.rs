//! How many memories and tables one instance of a component has, counted as it instantiates its
//! modules. Counts add up: a component that instantiates another many times over is read once.

use std::fmt;

use wasmparser::{
    BinaryReaderError, ComponentAlias, ComponentExternalKind, ComponentInstance, ComponentOuterAliasKind,
    ComponentTypeRef, Instance, Payload,
};
use wasmtime::ResourcesRequired;

/// The counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct InstanceNeeds {
    memories: u64,
    /// Pages of the largest, at first.
    memory_pages: Option<u64>,
    tables: u64,
    /// Elements of the largest, at first.
    table_elements: Option<u64>,
}

impl InstanceNeeds {
    fn and(self, other: Self) -> Self {
        Self {
            memories: self.memories.saturating_add(other.memories),
            memory_pages: self.memory_pages.max(other.memory_pages),
            tables: self.tables.saturating_add(other.tables),
            table_elements: self.table_elements.max(other.table_elements),
        }
    }
}

impl From<ResourcesRequired> for InstanceNeeds {
    fn from(required: ResourcesRequired) -> Self {
        Self {
            memories: required.num_memories.into(),
            memory_pages: required.max_initial_memory_size,
            tables: required.num_tables.into(),
            table_elements: required.max_initial_table_size,
        }
    }
}

impl fmt::Display for InstanceNeeds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { memories, memory_pages, tables, table_elements } = self;
        let (pages, elements) = (memory_pages.unwrap_or_default(), table_elements.unwrap_or_default());
        write!(formatter, "{memories} memories (up to {pages} pages) and {tables} tables (up to {elements} elements)")
    }
}

/// What an instance of a module or a component has; nothing where that comes from outside.
type Needs = Option<InstanceNeeds>;

/// A component or module that is being read.
struct Scope {
    is_module: bool,
    needs: Needs,
    /// What its indices name.
    modules: Vec<Needs>,
    components: Vec<Needs>,
}

impl Scope {
    fn new(is_module: bool) -> Self {
        Self { is_module, needs: Some(InstanceNeeds::default()), modules: Vec::new(), components: Vec::new() }
    }

    fn add(&mut self, needs: Needs) {
        self.needs = self.needs.zip(needs).map(|(all, needs)| all.and(needs));
    }
}

/// Reads along with the parser.
#[derive(Default)]
pub(super) struct NeedsReader {
    scopes: Vec<Scope>,
}

fn at(space: &[Needs], index: u32) -> Needs {
    space.get(index as usize).copied().flatten()
}

impl NeedsReader {
    /// How deep within each other what is being read is: 1 in the component itself.
    pub(super) fn depth(&self) -> usize {
        self.scopes.len()
    }

    /// Reads on. At the end of the whole, says what an instance of it has.
    pub(super) fn note(&mut self, payload: Payload<'_>) -> Result<Option<Needs>, BinaryReaderError> {
        match payload {
            Payload::Version { encoding, .. } => {
                self.scopes.push(Scope::new(encoding == wasmparser::Encoding::Module));
            }
            Payload::End(_) => return Ok(self.end()),
            payload => {
                if let Some(scope) = self.scopes.pop() {
                    let scope = self.read(scope, payload)?;
                    self.scopes.push(scope);
                }
            }
        }
        Ok(None)
    }

    fn end(&mut self) -> Option<Needs> {
        let ended = self.scopes.pop()?;
        let Some(outer) = self.scopes.last_mut() else { return Some(ended.needs) };
        let space = if ended.is_module { &mut outer.modules } else { &mut outer.components };
        space.push(ended.needs);
        None
    }

    /// One section of the scope within the others.
    fn read(&self, mut scope: Scope, payload: Payload<'_>) -> Result<Scope, BinaryReaderError> {
        match payload {
            Payload::MemorySection(section) => {
                for memory in section {
                    let memory_pages = Some(memory?.initial);
                    scope.add(Some(InstanceNeeds { memories: 1, memory_pages, ..InstanceNeeds::default() }));
                }
            }
            Payload::TableSection(section) => {
                for table in section {
                    let table_elements = Some(table?.ty.initial);
                    scope.add(Some(InstanceNeeds { tables: 1, table_elements, ..InstanceNeeds::default() }));
                }
            }
            Payload::InstanceSection(section) => {
                for instance in section {
                    if let Instance::Instantiate { module_index, .. } = instance? {
                        scope.add(at(&scope.modules, module_index));
                    }
                }
            }
            Payload::ComponentInstanceSection(section) => {
                for instance in section {
                    if let ComponentInstance::Instantiate { component_index, .. } = instance? {
                        scope.add(at(&scope.components, component_index));
                    }
                }
            }
            Payload::ComponentImportSection(section) => {
                for import in section {
                    match import?.ty {
                        ComponentTypeRef::Module(_) => scope.modules.push(None),
                        ComponentTypeRef::Component(_) => scope.components.push(None),
                        _ => {}
                    }
                }
            }
            Payload::ComponentExportSection(section) => {
                // What is exported gets a further index.
                for export in section {
                    let export = export?;
                    match export.kind {
                        ComponentExternalKind::Module => scope.modules.push(at(&scope.modules, export.index)),
                        ComponentExternalKind::Component => scope.components.push(at(&scope.components, export.index)),
                        _ => {}
                    }
                }
            }
            Payload::ComponentAliasSection(section) => {
                for alias in section {
                    self.alias(&mut scope, &alias?);
                }
            }
            _ => {}
        }
        Ok(scope)
    }

    fn alias(&self, scope: &mut Scope, alias: &ComponentAlias<'_>) {
        match *alias {
            ComponentAlias::InstanceExport { kind: ComponentExternalKind::Module, .. } => scope.modules.push(None),
            ComponentAlias::InstanceExport { kind: ComponentExternalKind::Component, .. } => {
                scope.components.push(None);
            }
            ComponentAlias::Outer { kind, count, index } => {
                let outer = match count.checked_sub(1) {
                    None => Some(&*scope),
                    Some(out) => self.scopes.len().checked_sub(1 + out as usize).and_then(|at| self.scopes.get(at)),
                };
                let of = |space: fn(&Scope) -> &Vec<Needs>| outer.and_then(|outer| at(space(outer), index));
                match kind {
                    ComponentOuterAliasKind::CoreModule => {
                        let needs = of(|scope| &scope.modules);
                        scope.modules.push(needs);
                    }
                    ComponentOuterAliasKind::Component => {
                        let needs = of(|scope| &scope.components);
                        scope.components.push(needs);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
}
