//! Components that no toolchain would make: metadata to order, and a body of
//! `call-tool` in Wasm text.
//!
//! Lays out the records of the contract by the canonical ABI, so it is also a
//! check from outside that the contract is what it is documented to be.

/// A tool as the component lists it; the raw bytes of each text are taken as
/// they are.
#[derive(Debug, Clone)]
pub struct CraftedTool {
    /// Its name.
    pub name: Vec<u8>,
    /// Its description.
    pub description: Vec<u8>,
    /// Its input schema.
    pub input_schema: Vec<u8>,
    /// Its output schema.
    pub output_schema: Option<Vec<u8>>,
    /// Its meta.
    pub meta: Option<Vec<u8>>,
}

impl CraftedTool {
    /// A tool that is in order.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            description: "A crafted tool.".into(),
            input_schema: r#"{"type":"object"}"#.into(),
            output_schema: None,
            meta: None,
        }
    }

    /// With another input schema.
    #[must_use]
    pub fn schema(mut self, schema: &str) -> Self {
        self.input_schema = schema.into();
        self
    }

    /// With a meta.
    #[must_use]
    pub fn meta(mut self, meta: &str) -> Self {
        self.meta = Some(meta.into());
        self
    }
}

/// A component in the making.
#[derive(Debug, Clone)]
pub struct Crafted {
    /// What `list-tools` returns.
    pub tools: Vec<CraftedTool>,
    /// Instructions of `list-tools`, with one i32 as their result: where the
    /// list lies; none for the right place.
    pub list: Option<String>,
    /// Instructions of `call-tool`, with one i32 as their result: 0 makes the
    /// tool answer `no`, another number `yes`. They may call `$remaining`.
    pub call: String,
    /// Further fields of the core module.
    pub module: String,
    /// Further fields of the component.
    pub component: String,
    /// Pages that its memory has from the start.
    pub pages: u32,
    /// JSON text of the structured part of the answer `yes`.
    pub structured: Option<Vec<u8>>,
}

impl Default for Crafted {
    fn default() -> Self {
        Self {
            tools: vec![CraftedTool::new("run")],
            list: None,
            call: "i32.const 1".into(),
            module: String::new(),
            component: String::new(),
            pages: 0,
            structured: None,
        }
    }
}

/// Where the laid-out data begins.
const BASE: usize = 1024;
/// Where strings of the host are put: after the data, 16 pages of it.
const HEAP_PAGES: u32 = 17;

#[derive(Default)]
struct Image(Vec<u8>);

impl Image {
    fn put(&mut self, bytes: &[u8]) -> u32 {
        while !self.0.len().is_multiple_of(4) {
            self.0.push(0);
        }
        let at = BASE + self.0.len();
        self.0.extend_from_slice(bytes);
        u32::try_from(at).expect("small")
    }

    fn slice(&mut self, bytes: &[u8]) -> [u32; 2] {
        [self.put(bytes), u32::try_from(bytes.len()).expect("small")]
    }

    fn option(&mut self, bytes: Option<&[u8]>) -> [u32; 3] {
        bytes.map_or([0; 3], |bytes| {
            let [at, length] = self.slice(bytes);
            [1, at, length]
        })
    }

    fn words(&mut self, words: &[u32]) -> u32 {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.put(&bytes)
    }

    /// The `ok` case of `result<answer, error>` with one text and a structured part.
    fn answer(&mut self, text: &str, structured: Option<&[u8]>) -> u32 {
        let (mime, data) = (self.slice(b"text/plain"), self.slice(text.as_bytes()));
        let content = self.words(&[mime[0], mime[1], data[0], data[1], 0, 0, 0]);
        let [is_there, at, length] = self.option(structured);
        self.words(&[0, content, 1, is_there, at, length, 0, 0, 0, 0])
    }
}

impl Crafted {
    /// A plugin of these tools.
    #[must_use]
    pub fn of(tools: impl IntoIterator<Item = CraftedTool>) -> Self {
        Self { tools: tools.into_iter().collect(), ..Self::default() }
    }

    /// A plugin whose one tool, `run`, runs these instructions.
    #[must_use]
    pub fn calling(instructions: &str) -> Self {
        Self { call: instructions.into(), ..Self::default() }
    }

    /// Pages of its main memory at the start.
    #[must_use]
    pub fn initial_pages(&self) -> u32 {
        self.pages.max(HEAP_PAGES + 1)
    }

    /// Its text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut image = Image::default();
        let mut records = Vec::new();
        for tool in &self.tools {
            records.extend(image.slice(&tool.name));
            records.extend(image.slice(&tool.description));
            records.extend(image.slice(&tool.input_schema));
            records.extend(image.option(tool.output_schema.as_deref()));
            records.extend(image.option(tool.meta.as_deref()));
        }
        let first = image.words(&records);
        let list = image.words(&[first, u32::try_from(self.tools.len()).expect("few")]);
        let (no, yes) = (image.answer("no", None), image.answer("yes", self.structured.as_deref()));
        assert!(image.0.len() + BASE < HEAP_PAGES as usize * 65_536, "the data does not fit");
        let data: String = image.0.iter().map(|byte| format!("\\{byte:02x}")).collect();
        let list = self.list.clone().unwrap_or_else(|| format!("i32.const {list}"));
        let Self { call, module, component, .. } = self;
        let (pages, heap) = (self.initial_pages(), HEAP_PAGES * 65_536);
        let types = |error: &str, tool: &str, content: &str| {
            format!(
                r#"(type {error} (record (field "code" string) (field "message" string) (field "retryable" bool)))
  (type {tool} (record (field "name" string) (field "description" string) (field "input-schema" string)
    (field "output-schema" (option string)) (field "meta" (option string))))
  (type {content} (record (field "mime-type" string) (field "data" (list u8)) (field "meta" (option string))))"#,
            )
        };
        let answer = |name: &str, content: &str| {
            format!(
                r#"(type {name} (record (field "content" (list {content})) (field "structured" (option string))
    (field "is-error" bool) (field "meta" (option string))))"#
            )
        };
        let (outer, inner) = (types("$error", "$tool", "$content"), types("$error0", "$tool0", "$content0"));
        let (outer_answer, inner_answer) = (answer("$answer", "$content"), answer("$answer0", "$content"));
        // What is exported names the exported types only.
        let exported_answer = answer("$answer2", "$content1");
        let canonical = r#"(memory (core memory $main "memory")) (realloc (core func $main "realloc"))"#;
        format!(
            r#"(component
  (import "wharf:plugin/caller@0.1.0" (instance $caller (export "remaining" (func (result u64)))))
  (core func $remaining (canon lower (func $caller "remaining")))
  (core module $main
    (import "host" "remaining" (func $remaining (result i64)))
    (memory (export "memory") {pages})
    (data (i32.const {BASE}) "{data}")
    (global $free (mut i32) (i32.const {heap}))
    {module}
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (local $at i32)
      (local.set $at (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
      (global.set $free (i32.add (local.get $at) (local.get 3)))
      (local.get $at))
    (func (export "list-tools") (result i32) {list})
    (func (export "call-tool") (param i32 i32 i32 i32) (result i32) (local $i i32) (local $start i64)
      (select (i32.const {yes}) (i32.const {no}) (block (result i32) {call}))))
  (core instance $main (instantiate $main (with "host" (instance (export "remaining" (func $remaining))))))
  {component}
  {outer}
  {outer_answer}
  (func $list-tools (result (list $tool))
    (canon lift (core func $main "list-tools") {canonical}))
  (func $call-tool (param "name" string) (param "arguments" string) (result (result $answer (error $error)))
    (canon lift (core func $main "call-tool") {canonical}))
  (component $shim
    {inner}
    (import "type-error" (type $error (eq $error0)))
    (import "type-tool" (type $tool (eq $tool0)))
    (import "type-content" (type $content (eq $content0)))
    {inner_answer}
    (import "type-answer" (type $answer (eq $answer0)))
    (import "list-tools" (func $list-tools (result (list $tool))))
    (import "call-tool" (func $call-tool (param "name" string) (param "arguments" string)
      (result (result $answer (error $error)))))
    (export $error1 "error" (type $error))
    (export $tool1 "tool" (type $tool))
    (export $content1 "content" (type $content))
    {exported_answer}
    (export $answer1 "answer" (type $answer2))
    (export "list-tools" (func $list-tools) (func (result (list $tool1))))
    (export "call-tool" (func $call-tool) (func (param "name" string) (param "arguments" string)
      (result (result $answer1 (error $error1))))))
  (instance $tools (instantiate $shim
    (with "type-error" (type $error)) (with "type-tool" (type $tool)) (with "type-content" (type $content))
    (with "type-answer" (type $answer)) (with "list-tools" (func $list-tools)) (with "call-tool" (func $call-tool))))
  (export "wharf:plugin/tools@0.1.0" (instance $tools)))"#
        )
    }

    /// Its bytes.
    ///
    /// # Panics
    /// Where the text is no component.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let text = self.text();
        wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crafted_component_is_one() {
        assert!(Crafted::default().bytes().starts_with(b"\0asm\x0d\0\x01\0"));
    }
}
