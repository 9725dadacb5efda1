//! What is scripted for the case that runs, and what it asked for that no script is about.

use parking_lot::Mutex;
use wharf::{Code, Error};

use super::{
    case::{Cases, TestCase},
    script::{PageScript, ProgramScript, ResponseScript, Scripts},
};

/// Things of one case that are told at most.
const MOST_TOLD: usize = 20;

/// The scripts of a file and of the case that runs, and what they are asked for.
#[derive(Debug)]
pub(super) struct Stage {
    /// Those of the file, then those of each case.
    scripts: Vec<Scripts>,
    scene: Mutex<Scene>,
}

/// Where a script is: whose, and which of those of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ScriptPlace {
    pub(super) whose: usize,
    pub(super) number: usize,
}

#[derive(Debug, Default)]
struct Scene {
    /// The case that runs: the place of its scripts.
    case: usize,
    only_scripted: bool,
    used: Vec<(Kind, ScriptPlace)>,
    unscripted: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Program,
    Response,
}

/// What the scripts say of something that a case asks for.
pub(super) enum Cue<T> {
    /// They play it.
    Scripted(T),
    /// The real one is asked.
    Real,
}

impl Stage {
    /// Takes the scripts out of the cases.
    pub(super) fn set(cases: &mut Cases) -> Self {
        let own = cases.list.iter_mut().map(TestCase::take_scripts).collect::<Vec<_>>();
        let scripts = std::iter::once(cases.take_scripts()).chain(own).collect();
        Self { scripts, scene: Mutex::default() }
    }

    /// Whether anything says what pages are.
    pub(super) fn has_pages(&self) -> bool {
        self.scripts.iter().any(|scripts| !scripts.pages.is_empty())
    }

    /// All programs that are scripted, with their places.
    pub(super) fn programs(&self) -> impl Iterator<Item = (ScriptPlace, &ProgramScript)> {
        self.scripts.iter().enumerate().flat_map(|(whose, scripts)| {
            let place = move |number| ScriptPlace { whose, number };
            scripts.programs.iter().enumerate().map(move |(number, program)| (place(number), program))
        })
    }

    /// Begins the case of this number, from 0.
    pub(super) fn begin(&self, number: usize, only_scripted: bool) {
        *self.scene.lock() = Scene { case: number + 1, only_scripted, ..Scene::default() };
    }

    /// What the case asked for that no script is about.
    pub(super) fn unscripted(&self) -> Vec<String> {
        std::mem::take(&mut self.scene.lock().unscripted)
    }

    /// The script of a start of a program.
    pub(super) fn program(&self, name: &str, arguments: &[String]) -> Result<Cue<ScriptPlace>, Error> {
        let mut scene = self.scene.lock();
        let mut is_scripted = false;
        for (place, script) in self.heard(scene.case, |scripts| &scripts.programs) {
            if script.name != name {
                continue;
            }
            is_scripted = true;
            if script.is_about(arguments) && scene.takes(Kind::Program, place, script.once) {
                return Ok(Cue::Scripted(place));
            }
        }
        let command = std::iter::once(name).chain(arguments.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
        let other = is_scripted.then_some("its scripts are about other arguments, or are used up");
        scene.unscripted(&format!("the program `{command}`"), other)
    }

    /// The answer to a request.
    pub(super) fn response(&self, method: &str, url: &str) -> Result<Cue<&ResponseScript>, Error> {
        let mut scene = self.scene.lock();
        let mut is_scripted = false;
        for (place, script) in self.heard(scene.case, |scripts| &scripts.responses) {
            is_scripted |= origin(&script.url) == origin(url);
            let is_about = script.method.eq_ignore_ascii_case(method) && same_address(&script.url, url);
            if is_about && scene.takes(Kind::Response, place, script.once) {
                return Ok(Cue::Scripted(script));
            }
        }
        let other =
            is_scripted.then_some("its server is scripted, and no [[response]] is about this, or it is used up");
        scene.unscripted(&format!("the request `{method} {url}`"), other)
    }

    /// The page at an address.
    pub(super) fn page(&self, url: &str) -> Option<&PageScript> {
        let mut scene = self.scene.lock();
        let found = self.heard(scene.case, |scripts| &scripts.pages).find(|(_, page)| same_address(&page.url, url));
        if found.is_none() {
            scene.tell(format!("the page {url}"));
        }
        found.map(|(_, page)| page)
    }

    /// Keeps in mind that no page says what a script comes to.
    pub(super) fn without_result(&self, url: &str, script: &str) {
        let shown: String = script.trim().chars().take(200).collect();
        self.scene.lock().tell(format!("the script `{shown}` in the page {url}"));
    }

    /// The scripts that a case hears: its own first.
    fn heard<'s, T>(
        &'s self,
        case: usize,
        of: fn(&'s Scripts) -> &'s [T],
    ) -> impl Iterator<Item = (ScriptPlace, &'s T)> {
        let own = Some(case).filter(|case| *case > 0);
        let scripts = own.into_iter().chain([0]).filter_map(|whose| Some((whose, self.scripts.get(whose)?)));
        scripts.flat_map(move |(whose, scripts)| {
            let place = move |number| ScriptPlace { whose, number };
            of(scripts).iter().enumerate().map(move |(number, script)| (place(number), script))
        })
    }
}

impl Scene {
    /// Whether a script is not used up; it is then, where it is for one time.
    fn takes(&mut self, kind: Kind, place: ScriptPlace, once: bool) -> bool {
        let is_used = self.used.contains(&(kind, place));
        if once && !is_used {
            self.used.push((kind, place));
        }
        !is_used
    }

    fn tell(&mut self, what: String) {
        if self.unscripted.len() < MOST_TOLD && !self.unscripted.contains(&what) {
            self.unscripted.push(what);
        }
    }

    /// The real one, unless there is a reason against that.
    fn unscripted<T>(&mut self, what: &str, scripted_otherwise: Option<&str>) -> Result<Cue<T>, Error> {
        self.tell(what.to_owned());
        let why = scripted_otherwise.or_else(|| self.only_scripted.then_some("`only_scripted` keeps real ones away"));
        match why {
            Some(why) => {
                let message = format!("no script of the case is about {what}: {why}");
                // Another try finds the same scripts.
                Err(Error { retryable: false, ..Error::new(Code::Unavailable, message) })
            }
            None => Ok(Cue::Real),
        }
    }
}

/// An address without its fragment, which no server sees; a missing path is `/`.
fn same_address(one: &str, other: &str) -> bool {
    fn plain(url: &str) -> (&str, &str) {
        let url = url.split('#').next().unwrap_or(url);
        let (origin, path) = url.split_at(origin(url).len());
        (origin, path.strip_prefix('/').unwrap_or(path))
    }
    let ((one_origin, one_path), (other_origin, other_path)) = (plain(one), plain(other));
    one_origin.eq_ignore_ascii_case(other_origin) && one_path == other_path
}

fn origin(url: &str) -> &str {
    let begin = url.find("://").map_or(0, |at| at + 3);
    let end = url[begin..].find(['/', '?', '#']).map_or(url.len(), |at| begin + at);
    &url[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(text: &str) -> Stage {
        let mut cases: Cases = toml::from_str(text).expect("cases");
        Stage::set(&mut cases)
    }

    fn words(cue: Result<Cue<ScriptPlace>, Error>) -> String {
        match cue {
            Ok(Cue::Scripted(ScriptPlace { whose, number })) => format!("{whose}/{number}"),
            Ok(Cue::Real) => "real".to_owned(),
            Err(error) => error.message,
        }
    }

    const CASES: &str = r#"
        [[program]]
        name = "cc"
        arguments = ["--version"]
        [[program]]
        name = "cc"
        arguments_contain = ["-c"]
        once = true
        [[response]]
        url = "https://example.com/a"
        [[case]]
        name = "first"
        tool = "t"
        text = "x"
        [[case.program]]
        name = "cc"
        arguments = ["--version"]
        [[case]]
        name = "second"
        tool = "t"
        text = "x"
    "#;

    #[test]
    fn the_scripts_of_a_case_come_before_those_of_the_file_and_are_its_own() {
        let stage = stage(CASES);
        let version = ["--version".to_owned()];
        stage.begin(0, false);
        assert_eq!(words(stage.program("cc", &version)), "1/0");
        stage.begin(1, false);
        assert_eq!(words(stage.program("cc", &version)), "0/0");
    }

    #[test]
    fn what_is_scripted_in_other_words_never_runs_for_real_and_is_told() {
        let stage = stage(CASES);
        stage.begin(1, false);
        let object = ["-c".to_owned(), "a.c".to_owned()];
        assert_eq!(words(stage.program("cc", &object)), "0/1");
        let again = words(stage.program("cc", &object));
        assert!(again.contains("the program `cc -c a.c`: its scripts are about other arguments"), "{again}");
        assert_eq!(words(stage.program("git", &[])), "real");
        assert!(matches!(stage.response("get", "https://example.com/a#part"), Ok(Cue::Scripted(_))));
        assert!(stage.response("POST", "https://example.com/a").is_err(), "its server is scripted");
        assert!(matches!(stage.response("GET", "https://example.org/a"), Ok(Cue::Real)));
        assert!(stage.page("https://example.com/").is_none());
        let told = stage.unscripted();
        assert_eq!(told.len(), 5, "{told:?}");
        stage.begin(1, true);
        let refused = words(stage.program("git", &["status".to_owned()]));
        assert!(refused.contains("`git status`: `only_scripted` keeps real ones away"), "{refused}");
        assert_eq!(words(stage.program("cc", &object)), "0/1", "each case begins anew");
    }

    #[test]
    fn addresses_are_compared_as_servers_see_them() {
        assert!(same_address("https://example.com", "https://EXAMPLE.com/#top"));
        assert!(same_address("https://example.com?a=1", "https://example.com/?a=1"));
        assert!(!same_address("https://example.com/a", "https://example.com/a?b"));
        assert!(!same_address("http://example.com/", "https://example.com/"));
    }
}
