//! The names of functions as tools.

use std::collections::HashMap;

/// The ways to name a function, the shortest first: `interface_function`, then with the package,
/// then with its namespace. `-` becomes `_`.
pub(super) fn candidates(interface: Option<&str>, function: &str) -> Vec<String> {
    let Some(interface) = interface else { return vec![tool_name(&[function])] };
    let unversioned = interface.split_once('@').map_or(interface, |(path, _)| path);
    let Some((package, name)) = unversioned.split_once('/') else {
        return vec![tool_name(&[unversioned, function])];
    };
    let (namespace, package) = package.split_once(':').unwrap_or(("", package));
    vec![
        tool_name(&[name, function]),
        tool_name(&[package, name, function]),
        tool_name(&[namespace, package, name, function]),
    ]
}

fn tool_name(parts: &[&str]) -> String {
    parts
        .iter()
        .filter(|part| !part.is_empty())
        .map(|part| part.replace(['-', ':', '/'], "_"))
        .collect::<Vec<_>>()
        .join("_")
}

/// For each function the shortest name that no other one has when it gets it; nothing for those that
/// share even their longest.
pub(super) fn chosen(functions: &[Vec<String>]) -> Vec<Option<String>> {
    let longest = functions.iter().map(Vec::len).max().unwrap_or_default();
    let mut chosen: Vec<Option<String>> = vec![None; functions.len()];
    for length in 0..longest {
        let at_this_length = |candidates: &Vec<String>| candidates.get(length).or(candidates.last()).cloned();
        let names: Vec<_> =
            functions.iter().zip(&chosen).map(|(own, chosen)| chosen.clone().or_else(|| at_this_length(own))).collect();
        let mut owners: HashMap<&str, u32> = HashMap::new();
        names.iter().flatten().for_each(|name| *owners.entry(name).or_default() += 1);
        chosen = names.iter().map(|name| name.clone().filter(|name| owners.get(name.as_str()) == Some(&1))).collect();
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(functions: &[(Option<&str>, &str)]) -> Vec<Option<String>> {
        let candidates: Vec<_> = functions.iter().map(|(interface, name)| candidates(*interface, name)).collect();
        chosen(&candidates)
    }

    fn some(name: &str) -> Option<String> {
        Some(name.to_owned())
    }

    #[test]
    fn a_tool_is_named_after_its_interface_and_function() {
        let named =
            names(&[(Some("docs:calculator/operations@1.0.0"), "add-two"), (None, "echo"), (Some("maths"), "pi")]);
        assert_eq!(named, [some("operations_add_two"), some("echo"), some("maths_pi")]);
    }

    #[test]
    fn names_that_are_shared_get_their_packages() {
        let named = names(&[
            (Some("docs:one/math"), "add"),
            (Some("docs:two/math"), "add"),
            (Some("docs:two/math"), "sub"),
            (Some("other:two/math"), "add"),
        ]);
        assert_eq!(
            named,
            [some("one_math_add"), some("docs_two_math_add"), some("math_sub"), some("other_two_math_add")]
        );
        let twice = names(&[(Some("a:b/c@1.0.0"), "d"), (Some("a:b/c@2.0.0"), "d"), (None, "c-d")]);
        assert_eq!(twice, [None, None, some("c_d")]);
    }
}
