//! The grant of child processes: which programs, with what, for how long, and
//! how many at once.

use std::fmt;

use schemars::JsonSchema;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeSeed, IntoDeserializer, MapAccess, Visitor, value::MapAccessDeserializer},
};

use super::child::{AllowedCommand, ChildGrant, GrantedChildren};
use crate::{Error, PluginName};

/// Child processes: all that a grant of children says, and how many there may
/// be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProcessGrant {
    /// What processes have and may do.
    #[serde(flatten)]
    pub children: ChildGrant,
    /// Processes of the plugin that a session may have starting or running.
    #[serde(default = "default_maximum_concurrent")]
    #[schemars(range(min = 1))]
    pub maximum_concurrent: u64,
}

/// The member that a grant of processes has beside those of every grant of
/// children.
const MAXIMUM_CONCURRENT: &str = "maximum_concurrent";

fn default_maximum_concurrent() -> u64 {
    20
}

impl ProcessGrant {
    /// No program, no shell, and every other default.
    #[must_use]
    pub fn with_reason(reason: impl Into<String>) -> Self {
        Self::of(ChildGrant::with_reason(reason))
    }

    /// These children, and as many as usual.
    #[must_use]
    pub fn of(children: ChildGrant) -> Self {
        Self { children, maximum_concurrent: default_maximum_concurrent() }
    }
}

/// By hand, since a flattened member is read from a copy of the table, of which
/// no error could say in which line it is.
impl<'de> Deserialize<'de> for ProcessGrant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Table)
    }
}

struct Table;

impl<'de> Visitor<'de> for Table {
    type Value = ProcessGrant;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a table of a grant")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ProcessGrant, A::Error> {
        let mut maximum_concurrent = None;
        let others = OfChildren { map, maximum_concurrent: &mut maximum_concurrent };
        let grant = ProcessGrant::of(ChildGrant::deserialize(MapAccessDeserializer::new(others))?);
        Ok(ProcessGrant { maximum_concurrent: maximum_concurrent.unwrap_or(grant.maximum_concurrent), ..grant })
    }
}

/// The members of a table but for [`MAXIMUM_CONCURRENT`], which is kept.
struct OfChildren<'m, A> {
    map: A,
    maximum_concurrent: &'m mut Option<u64>,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for OfChildren<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, mut seed: K) -> Result<Option<K::Value>, A::Error> {
        while let Some(read) = self.map.next_key_seed(Name(seed))? {
            seed = match read {
                Ok(name) => return Ok(Some(name)),
                Err(seed) => seed,
            };
            *self.maximum_concurrent = Some(self.map.next_value()?);
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

/// Reads the name of a member, or gives the seed back where it is
/// [`MAXIMUM_CONCURRENT`].
struct Name<K>(K);

impl<'de, K: DeserializeSeed<'de>> DeserializeSeed<'de> for Name<K> {
    type Value = Result<K::Value, K>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let name = String::deserialize(deserializer)?;
        if name == MAXIMUM_CONCURRENT { Ok(Err(self.0)) } else { self.0.deserialize(name.into_deserializer()).map(Ok) }
    }
}

/// Proof that a plugin may have processes. The way to an [`super::Owner`].
#[derive(Debug)]
pub struct GrantedProcess<'g> {
    pub(super) grant: &'g ProcessGrant,
    pub(super) children: GrantedChildren<'g>,
}

impl<'g> GrantedProcess<'g> {
    /// What was granted.
    #[must_use]
    pub fn grant(&self) -> &'g ProcessGrant {
        self.grant
    }

    pub(super) fn plugin(&self) -> &PluginName {
        self.children.holder.plugin
    }

    /// The same in the words that all grants of children share.
    #[must_use]
    pub fn children(&self) -> GrantedChildren<'g> {
        self.children
    }

    /// Checks that this program may be started. `program` is a name, or a path
    /// as the process will see it.
    ///
    /// # Errors
    /// `denied`, with what is granted.
    pub fn program<'c>(&self, program: &'c str) -> Result<AllowedCommand<'c>, Error> {
        self.children.program(program)
    }

    /// Checks that a text may be handed to a shell.
    ///
    /// # Errors
    /// `denied`, naming the line of configuration that would allow it.
    pub fn shell<'c>(&self, text: &'c str) -> Result<AllowedCommand<'c>, Error> {
        self.children.shell_command(text)
    }

    /// Checks that the plugin may set a variable of this name.
    ///
    /// # Errors
    /// `denied`, naming the line of configuration that would allow it.
    pub fn variable(&self, name: &str) -> Result<(), Error> {
        self.children.variable(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Code, Grants};

    fn grants(programs: &[&str]) -> Grants {
        let mut process = ProcessGrant::with_reason("a test");
        process.children.programs = programs.iter().map(|program| (*program).to_owned()).collect();
        process.children.environment = vec!["LC_*".to_owned()];
        Grants { process: Some(process), ..Grants::default() }
    }

    #[test]
    fn what_is_not_named_is_denied_with_the_line_that_would_allow_it() {
        let plugin: PluginName = "p".parse().expect("legal");
        let error = Grants::default().process(&plugin).expect_err("nothing is granted");
        assert_eq!(error.code, Code::Denied);
        assert!(error.message.contains("[plugin.p.grants.process]"), "{error}");
        let grants = grants(&["git"]);
        let granted = grants.process(&plugin).expect("granted");
        let error = granted.shell("true").expect_err("no shell");
        assert!(error.message.contains("`shell = true`"), "{error}");
        assert_eq!(granted.variable("LD_PRELOAD").expect_err("not named").code, Code::Denied);
        assert!(granted.variable("LC_ALL").is_ok());
    }

    #[test]
    fn a_program_is_allowed_by_its_name_or_its_path_and_by_no_part_of_either() {
        let plugin: PluginName = "p".parse().expect("legal");
        let grants = grants(&["git", "python3*", "/workspace/*", "/opt/tools/**"]);
        let granted = grants.process(&plugin).expect("granted");
        for allowed in ["git", "python3", "python3.11", "/workspace/build.sh", "/opt/tools/a", "/opt/tools/bin/a"] {
            assert_eq!(granted.program(allowed).expect("allowed").program(), Some(allowed));
        }
        for refused in ["gitk", "/tmp/git", "git/../sh", "sh", "", "./git", "GIT", "/workspace", "/opt/tools", "/opt"] {
            assert_eq!(granted.program(refused).expect_err(refused).code, Code::Denied);
        }
    }

    #[test]
    fn a_star_stops_at_a_slash_so_that_no_file_of_a_guest_is_named_by_it() {
        let plugin: PluginName = "p".parse().expect("legal");
        let named = |pattern: &str, program: &str| {
            let grants = grants(&[pattern]);
            grants.process(&plugin).expect("granted").program(program).is_ok()
        };
        for (pattern, program) in [
            ("git*", "git-x/.git/hooks/pre-commit"),
            ("git*", "git/x"),
            ("*", "a/b"),
            ("*", "/usr/bin/git"),
            ("?/a", "a/b/a"),
            ("/workspace/*", "/workspace/a/b"),
            ("/workspace/*/run", "/workspace/a/b/run"),
        ] {
            assert!(!named(pattern, program), "{pattern} names {program}");
        }
        for (pattern, program) in [
            ("git*", "git-upload-pack"),
            ("*", "git"),
            ("**", "git"),
            ("**", "/usr/bin/git"),
            ("/workspace/*/run", "/workspace/a/run"),
        ] {
            assert!(named(pattern, program), "{pattern} does not name {program}");
        }
    }

    #[test]
    fn a_table_is_flat_and_a_member_that_no_grant_has_is_named() {
        let table = r#"{"reason":"r","maximum_concurrent":3,"shell":true,"lifetime_seconds":60}"#;
        let read: ProcessGrant = serde_json::from_str(table).expect("a grant");
        assert_eq!((read.maximum_concurrent, read.children.shell, read.children.lifetime_seconds), (3, true, 60));
        let written = serde_json::to_value(&read).expect("JSON");
        assert!(written.get("children").is_none() && written["maximum_concurrent"] == 3, "{written}");
        assert_eq!(serde_json::from_value::<ProcessGrant>(written).expect("a grant"), read);
        let usual: ProcessGrant = serde_json::from_str(r#"{"reason":"r"}"#).expect("a grant");
        assert_eq!(usual, ProcessGrant::with_reason("r"));
        for (table, told) in [
            (r#"{"reason":"r","shel":true}"#, "unknown field `shel`, expected one of `reason`, "),
            (r#"{"shell":true}"#, "missing field `reason`"),
            (r#"{"reason":"r","maximum_concurrent":"many"}"#, "expected u64"),
            (r#"["r"]"#, "expected a table of a grant"),
        ] {
            let error = serde_json::from_str::<ProcessGrant>(table).expect_err(table).to_string();
            assert!(error.contains(told), "{table}: {error}");
        }
    }
}
