//! Types as the parser has them and as compiled code describes them, walked together: the walk
//! ends at the first difference, and is never longer than the parsed type.

use std::collections::HashMap;

use wasmparser::{
    PrimitiveValType,
    component_types::{
        ComponentAnyTypeId, ComponentDefinedType, ComponentEntityType, ComponentFuncTypeId,
        ComponentItem as ParsedItem, ComponentValType, ResourceId,
    },
    types::TypesRef,
};
use wasmtime::{
    Engine,
    component::{
        ResourceType, Type,
        types::{ComponentExtern, ComponentFunc, ComponentItem},
    },
};

/// A type that has more parts than this is not compared, and its component refused. The parser
/// allows a million.
const MAX_STEPS: u32 = 8 << 20;

pub(super) struct TypeComparison<'t> {
    engine: &'t Engine,
    types: TypesRef<'t>,
    /// What the code calls each resource: one name for one resource, wherever it occurs.
    resources: HashMap<ResourceId, ResourceType>,
    steps: u32,
}

impl<'t> TypeComparison<'t> {
    pub(super) fn new(engine: &'t Engine, types: TypesRef<'t>) -> Self {
        Self { engine, types, resources: HashMap::new(), steps: 0 }
    }

    pub(super) fn same_item(&mut self, parsed: &ParsedItem, described: &ComponentExtern<'_>) -> bool {
        self.same_entity(parsed.ty, &described.ty)
    }

    fn step(&mut self) -> bool {
        self.steps += 1;
        self.steps <= MAX_STEPS
    }

    fn same_entity(&mut self, parsed: ComponentEntityType, described: &ComponentItem) -> bool {
        if !self.step() {
            return false;
        }
        match parsed {
            ComponentEntityType::Func(id) => self.same_function_item(id, described),
            ComponentEntityType::Instance(id) => self.same_any(ComponentAnyTypeId::Instance(id), described),
            ComponentEntityType::Component(id) => self.same_any(ComponentAnyTypeId::Component(id), described),
            ComponentEntityType::Type { created, .. } => self.same_any(created, described),
            ComponentEntityType::Module(id) => {
                let (ComponentItem::Module(described), parsed) = (described, &self.types[id]) else { return false };
                let imports: Vec<_> = described.imports(self.engine).map(|(name, _)| name).collect();
                let exports: Vec<_> = described.exports(self.engine).map(|(name, _)| name).collect();
                parsed.imports.len() == imports.len()
                    && imports
                        .iter()
                        .all(|(module, name)| parsed.imports.contains_key(&((*module).to_owned(), (*name).to_owned())))
                    && parsed.exports.len() == exports.len()
                    && exports.iter().all(|name| parsed.exports.contains_key(*name))
            }
            ComponentEntityType::Value(_) => false,
        }
    }

    fn same_any(&mut self, parsed: ComponentAnyTypeId, described: &ComponentItem) -> bool {
        let engine = self.engine;
        match (parsed, described) {
            (ComponentAnyTypeId::Resource(parsed), ComponentItem::Resource(described)) => {
                self.same_resource(parsed.resource(), *described)
            }
            (ComponentAnyTypeId::Defined(parsed), ComponentItem::Type(described)) => {
                self.same_value(ComponentValType::Type(parsed), described)
            }
            (ComponentAnyTypeId::Func(parsed), described) => self.same_function_item(parsed, described),
            (ComponentAnyTypeId::Instance(parsed), ComponentItem::ComponentInstance(described)) => {
                let types = self.types;
                let exports = &types[parsed].exports;
                exports.len() == described.exports(engine).len()
                    && exports.iter().all(|(name, parsed)| {
                        described.get_export(engine, name).is_some_and(|described| self.same_item(parsed, &described))
                    })
            }
            (ComponentAnyTypeId::Component(parsed), ComponentItem::Component(described)) => {
                let types = self.types;
                let parsed = &types[parsed];
                parsed.imports.len() == described.imports(engine).len()
                    && parsed.exports.len() == described.exports(engine).len()
                    && parsed.imports.iter().all(|(name, parsed)| {
                        described.get_import(engine, name).is_some_and(|described| self.same_item(parsed, &described))
                    })
                    && parsed.exports.iter().all(|(name, parsed)| {
                        described.get_export(engine, name).is_some_and(|described| self.same_item(parsed, &described))
                    })
            }
            _ => false,
        }
    }

    fn same_function_item(&mut self, parsed: ComponentFuncTypeId, described: &ComponentItem) -> bool {
        match described {
            ComponentItem::ComponentFunc(described) => self.same_function(parsed, described),
            _ => false,
        }
    }

    fn same_function(&mut self, parsed: ComponentFuncTypeId, described: &ComponentFunc) -> bool {
        let types = self.types;
        let parsed = &types[parsed];
        let (parameters, results) = (described.params(), described.results());
        parsed.async_ == described.async_()
            && parsed.params.len() == parameters.len()
            && usize::from(parsed.result.is_some()) == results.len()
            && parsed.params.iter().zip(parameters).all(|((parsed_name, parsed), (name, described))| {
                parsed_name.as_str() == name && self.same_value(*parsed, &described)
            })
            && parsed.result.iter().zip(results).all(|(parsed, described)| self.same_value(*parsed, &described))
    }

    fn same_resource(&mut self, parsed: ResourceId, described: ResourceType) -> bool {
        *self.resources.entry(parsed).or_insert(described) == described
    }

    fn same_optional(&mut self, parsed: Option<ComponentValType>, described: Option<Type>) -> bool {
        match (parsed, described) {
            (None, None) => true,
            (Some(parsed), Some(described)) => self.same_value(parsed, &described),
            _ => false,
        }
    }

    fn same_value(&mut self, parsed: ComponentValType, described: &Type) -> bool {
        if !self.step() {
            return false;
        }
        match parsed {
            ComponentValType::Primitive(parsed) => same_primitive(parsed, described),
            ComponentValType::Type(id) => {
                let types = self.types;
                self.same_defined(&types[id], described)
            }
        }
    }

    fn same_defined(&mut self, parsed: &ComponentDefinedType, described: &Type) -> bool {
        use ComponentDefinedType as Parsed;
        match (parsed, described) {
            (Parsed::Primitive(parsed), described) => same_primitive(*parsed, described),
            (Parsed::Record(parsed), Type::Record(described)) => {
                let fields = described.fields();
                parsed.fields.len() == fields.len()
                    && parsed.fields.iter().zip(fields).all(|((name, parsed), field)| {
                        name.as_str() == field.name && self.same_value(*parsed, &field.ty)
                    })
            }
            (Parsed::Variant(parsed), Type::Variant(described)) => {
                let cases = described.cases();
                parsed.cases.len() == cases.len()
                    && parsed.cases.iter().zip(cases).all(|((name, parsed), case)| {
                        name.as_str() == case.name && self.same_optional(parsed.ty, case.ty)
                    })
            }
            (Parsed::List { element, .. }, Type::List(described)) => self.same_value(*element, &described.ty()),
            (Parsed::FixedLengthList { element, length, .. }, Type::FixedLengthList(described)) => {
                *length == described.len() && self.same_value(*element, &described.ty())
            }
            (Parsed::Map { key, value, .. }, Type::Map(described)) => {
                self.same_value(*key, &described.key()) && self.same_value(*value, &described.value())
            }
            (Parsed::Tuple(parsed), Type::Tuple(described)) => {
                let types = described.types();
                parsed.types.len() == types.len()
                    && parsed.types.iter().zip(types).all(|(parsed, described)| self.same_value(*parsed, &described))
            }
            (Parsed::Flags(parsed), Type::Flags(described)) => {
                parsed.iter().map(|name| name.as_str()).eq(described.names())
            }
            (Parsed::Enum(parsed), Type::Enum(described)) => {
                parsed.iter().map(|name| name.as_str()).eq(described.names())
            }
            (Parsed::Option { ty, .. }, Type::Option(described)) => self.same_value(*ty, &described.ty()),
            (Parsed::Result { ok, err, .. }, Type::Result(described)) => {
                self.same_optional(*ok, described.ok()) && self.same_optional(*err, described.err())
            }
            (Parsed::Own(parsed), Type::Own(described)) | (Parsed::Borrow(parsed), Type::Borrow(described)) => {
                self.same_resource(parsed.resource(), *described)
            }
            (Parsed::Future { ty, .. }, Type::Future(described)) => self.same_optional(*ty, described.ty()),
            (Parsed::Stream { ty, .. }, Type::Stream(described)) => self.same_optional(*ty, described.ty()),
            _ => false,
        }
    }
}

fn same_primitive(parsed: PrimitiveValType, described: &Type) -> bool {
    match parsed {
        PrimitiveValType::Bool => matches!(described, Type::Bool),
        PrimitiveValType::S8 => matches!(described, Type::S8),
        PrimitiveValType::U8 => matches!(described, Type::U8),
        PrimitiveValType::S16 => matches!(described, Type::S16),
        PrimitiveValType::U16 => matches!(described, Type::U16),
        PrimitiveValType::S32 => matches!(described, Type::S32),
        PrimitiveValType::U32 => matches!(described, Type::U32),
        PrimitiveValType::S64 => matches!(described, Type::S64),
        PrimitiveValType::U64 => matches!(described, Type::U64),
        PrimitiveValType::F32 => matches!(described, Type::Float32),
        PrimitiveValType::F64 => matches!(described, Type::Float64),
        PrimitiveValType::Char => matches!(described, Type::Char),
        PrimitiveValType::String => matches!(described, Type::String),
        PrimitiveValType::ErrorContext => matches!(described, Type::ErrorContext),
    }
}
