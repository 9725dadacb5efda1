//! The known name that an unknown one was probably meant to be.

/// Characters of a name that are compared: comparing takes as long as they are many.
const COMPARED: usize = 128;

/// The names that look most like this one, the likest first: at most `count`, each as
/// like it as `least` says, from 0 to 1: by the letters that are to be changed, left out, added or swapped.
pub(crate) fn nearest<'n>(name: &str, known: &[&'n str], count: usize, least: f64) -> Vec<&'n str> {
    let name = cut(name);
    let alike = known.iter().map(|known| (strsim::normalized_damerau_levenshtein(name, cut(known)), *known));
    let mut alike: Vec<_> = alike.filter(|(how, _)| *how >= least).collect();
    alike.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    alike.into_iter().take(count).map(|(_, known)| known).collect()
}

fn cut(name: &str) -> &str {
    name.char_indices().nth(COMPARED).map_or(name, |(end, _)| &name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_keyboard_finds_the_name_and_another_name_finds_none() {
        let known = ["browser", "content-store", "planning", "playbook", "terminal", "workspace"];
        for (slip, meant) in [
            ("brwser", "browser"),
            ("browsr", "browser"),
            ("contentstore", "content-store"),
            ("plannning", "planning"),
            ("work-space", "workspace"),
            ("terminals", "terminal"),
        ] {
            assert_eq!(nearest(slip, &known, 1, 0.75), [meant], "{slip}");
        }
        for other in ["greeter", "tracker", "a", "host", ""] {
            assert!(nearest(other, &known, 1, 0.75).is_empty(), "{other}");
        }
        assert!(nearest(&"x".repeat(1 << 20), &known, 1, 0.75).is_empty());
    }
}
