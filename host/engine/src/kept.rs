//! What a plugin lists, as the cache and the program keep it: a line of JSON, then the texts of all
//! schemas, one after the other. A start reads the line alone; a schema is parsed when somebody
//! looks into it.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wharf_core::{SchemaDocument, SchemaLimits, Tool, ToolDefinition, tool::CompactSchemas};

use crate::metadata::{Listed, Offerings};

/// What is written so is read by hosts of the same format alone.
pub(crate) const FORMAT: &str = concat!("6-", env!("CARGO_PKG_VERSION"));

#[derive(Serialize, Deserialize)]
struct KeptList {
    tools: Vec<KeptTool>,
    offered: Offerings,
    imports: Vec<String>,
}

/// A tool without the texts of its schemas, which have these lengths and this order.
#[derive(Serialize, Deserialize)]
struct KeptTool {
    name: String,
    description: String,
    meta: Map<String, Value>,
    repeats_arguments: bool,
    input: usize,
    output: Option<usize>,
    compact_input: usize,
    compact_output: Option<usize>,
}

/// Writes what passed every check.
pub(crate) fn write((tools, offered, imports): &Listed) -> serde_json::Result<Vec<u8>> {
    let mut texts = Vec::new();
    let mut text = |schema: &SchemaDocument| {
        let before = texts.len();
        serde_json::to_writer(&mut texts, schema.object()).map(|()| texts.len() - before)
    };
    let mut kept = Vec::with_capacity(tools.len());
    for Tool { definition, compact, repeats_arguments, .. } in tools {
        kept.push(KeptTool {
            name: definition.name.clone(),
            description: definition.description.clone(),
            meta: definition.meta.clone(),
            repeats_arguments: *repeats_arguments,
            input: text(&definition.input_schema)?,
            output: definition.output_schema.as_ref().map(&mut text).transpose()?,
            compact_input: text(&compact.input)?,
            compact_output: compact.output.as_ref().map(&mut text).transpose()?,
        });
    }
    let mut bytes = serde_json::to_vec(&KeptList { tools: kept, offered: offered.clone(), imports: imports.clone() })?;
    bytes.push(b'\n');
    bytes.append(&mut texts);
    Ok(bytes)
}

/// Reads it again. The schemas share the bytes.
pub(crate) fn read(bytes: Bytes, limits: SchemaLimits) -> Option<Listed> {
    let line = bytes.iter().position(|byte| *byte == b'\n')?;
    let KeptList { tools, offered, imports } = serde_json::from_slice(&bytes[..line]).ok()?;
    let mut texts = bytes.slice(line + 1..);
    let mut text =
        |length: usize| (length <= texts.len()).then(|| SchemaDocument::checked_before(texts.split_to(length)));
    let mut read = Vec::with_capacity(tools.len());
    for tool in tools {
        let KeptTool { name, description, meta, repeats_arguments, .. } = tool;
        let input_schema = text(tool.input)?;
        let output_schema = tool.output.map(&mut text).map_or(Some(None), |text| text.map(Some))?;
        let input = text(tool.compact_input)?;
        let output = tool.compact_output.map(&mut text).map_or(Some(None), |text| text.map(Some))?;
        let definition = ToolDefinition { name, description, input_schema, output_schema, meta };
        read.push(Tool::checked_before(definition, CompactSchemas { input, output }, repeats_arguments, limits));
    }
    Some((read, offered, imports))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use wharf_core::SchemaBudget;

    use super::*;

    fn listed() -> Listed {
        let object = |value: Value| SchemaDocument::from(value.as_object().expect("an object").clone());
        let tool = |name: &str, output: Option<Value>| {
            let definition = ToolDefinition {
                name: name.to_owned(),
                description: "Says\n\"hello\".".to_owned(),
                input_schema: object(json!({"type": "object", "properties": {
                    "name": {"type": "string", "maxLength": 9, "description": "two\nlines", "x-mcp-header": "Name"},
                }})),
                output_schema: output.map(object),
                meta: Map::from_iter([
                    ("title".to_owned(), json!("Hello")),
                    ("timeout-milliseconds".to_owned(), json!(5)),
                ]),
            };
            Tool::compile(definition, &mut SchemaBudget::default()).expect("a tool")
        };
        let output = json!({"type": "object", "required": ["said"], "properties": {"said": {"type": "string"}}});
        let tools = vec![tool("one", Some(output)), tool("two", None)];
        (tools, Offerings::default(), vec!["wharf:plugin/state@0.1.0".to_owned()])
    }

    #[test]
    fn what_was_listed_comes_back_whole() {
        let listed = listed();
        let bytes = write(&listed).expect("written");
        let (tools, _, imports) =
            read(bytes.into(), SchemaLimits::new(&wharf_core::HostLimits::default())).expect("read");
        assert_eq!((tools.len(), &imports), (2, &listed.2));
        for (read, written) in tools.iter().zip(&listed.0) {
            assert_eq!(read.definition, written.definition);
            assert_eq!((&read.compact.input, &read.compact.output), (&written.compact.input, &written.compact.output));
            assert_eq!((read.wall_time, read.repeats_arguments), (written.wall_time, written.repeats_arguments));
            assert!(read.input.check(&json!({"name": "far too long"})).is_err());
            assert_eq!(read.output.is_some(), written.output.is_some());
        }
    }

    #[test]
    fn what_is_cut_short_is_not_read() {
        let bytes = write(&listed()).expect("written");
        let limits = SchemaLimits::new(&wharf_core::HostLimits::default());
        for end in 0..bytes.len() {
            assert!(read(bytes[..end].to_vec().into(), limits).is_none(), "{end} of {}", bytes.len());
        }
    }
}
