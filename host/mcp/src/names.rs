//! What to tell a caller who named nothing of ours.

use wharf_core::text;

/// How many names an answer suggests.
const SUGGESTIONS: usize = 5;

/// Says that there is no such `kind` (`tool`, `prompt`), and which of `names` come near.
pub(crate) fn unknown<'n>(kind: &str, names: impl Iterator<Item = &'n str>, name: &str) -> String {
    let shown = text::line(name, 100);
    let mut ranked: Vec<(usize, &str)> = names
        .map(|known| {
            let common = common(name, known) + common(own_part(name), own_part(known));
            (common, known)
        })
        .collect();
    if ranked.is_empty() {
        return format!("there is no {kind} {shown:?}; this host offers none");
    }
    ranked.sort_by_key(|(common, name)| (std::cmp::Reverse(*common), *name));
    let near: Vec<&str> = ranked.into_iter().take(SUGGESTIONS).map(|(_, name)| name).collect();
    format!("there is no {kind} {shown:?}; {kind}s/list has all, among them {}", near.join(", "))
}

/// The name within its plugin.
fn own_part(name: &str) -> &str {
    name.split_once("__").map_or(name, |(_, own)| own)
}

/// With how many bytes both begin.
fn common(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_answered_with_near_ones() {
        let names = ["browser__open", "planning__add_todo", "planning__create_goal"];
        for slip in ["create_goal", "planning__create_gaol", "plan__create_goal"] {
            let told = unknown("tool", names.into_iter(), slip);
            assert!(told.contains("among them planning__create_goal,"), "{told}");
        }
        assert!(unknown("prompt", names.into_iter(), "x").contains("prompts/list has all"));
        assert!(unknown("tool", names.into_iter(), &"x\u{1b}".repeat(100_000)).len() < 400);
        assert!(unknown("tool", [].into_iter(), "x").contains("offers none"));
    }
}
