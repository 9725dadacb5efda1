//! What is searched: passages from documentation that is on a plain machine
//! with Rust, Korean texts that a package ships, and queries made from them.
//! It knows nothing of how they are searched.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fs,
    hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail};

/// Bytes of a passage, about. The content store makes one chunk of each: two
/// would be too long together, and one is not cut.
const PASSAGE_BYTES: std::ops::Range<usize> = 520..960;
/// Passages of one document.
pub(crate) const DOCUMENT_PASSAGES: usize = 400;
/// Letters of a Korean passage.
const KOREAN_LETTERS: usize = 150;

/// `count` passages that differ in most of what they say, the same on every run.
pub(crate) fn distinct_passages(count: usize) -> Result<Vec<String>> {
    let mut seen = Seen::default();
    gathered(count, count, |passage| seen.is_new(passage))
}

/// `count` passages, no two of them the same. Where there are fewer, others are
/// made of two halves: words and their frequencies are those of real text.
pub(crate) fn passages(count: usize) -> Result<Vec<String>> {
    let mut seen = HashSet::new();
    let mut passages = gathered(count / 4, count, |passage| seen.insert(passage.to_owned()))?;
    let real = passages.len();
    let mut random = Random(4);
    while passages.len() < count {
        let (one, other) = (&passages[random.below(real)], &passages[random.below(real)]);
        let (one, other) = (one.split_at(one.len() / 2).0, other.split_at(other.len() / 2).1);
        passages.push(format!("{one} {other}"));
    }
    Ok(passages)
}

/// At most `most` passages that are `wanted`, or an error where there are fewer
/// than `least`.
fn gathered(least: usize, most: usize, mut wanted: impl FnMut(&str) -> bool) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for folder in folders() {
        gather(&folder, &mut files);
    }
    files.sort();
    // Spread over all folders, whatever their sizes.
    let mut random = Random(1);
    for place in (1..files.len()).rev() {
        files.swap(place, random.below(place + 1));
    }
    let mut passages = Vec::with_capacity(most);
    for file in files {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let text = if file.extension().is_some_and(|extension| extension == "html") { readable(&text) } else { text };
        for passage in cut(&text) {
            if passages.len() == most {
                return Ok(passages);
            }
            if wanted(&passage) {
                passages.push(passage);
            }
        }
    }
    if passages.len() >= least {
        return Ok(passages);
    }
    bail!(
        "there are only {} passages of documentation here, and {least} are needed: install Rust's documentation \
         (`rustup component add rust-docs`), or Debian's packages perl-doc and python3-doc",
        passages.len()
    )
}

/// Runs of words that were seen. Generated documentation says the same on many
/// pages, and which of the same is found first says nothing.
#[derive(Default)]
struct Seen {
    runs: HashSet<u64>,
    hasher: BuildHasherDefault<DefaultHasher>,
}

impl Seen {
    /// Whether most of a passage was not seen before.
    fn is_new(&mut self, passage: &str) -> bool {
        let words: Vec<&str> = passage.split(' ').collect();
        // Every fourth run, by what is in it.
        let runs = words.windows(5).map(|run| self.hasher.hash_one(run)).filter(|run| run % 4 == 0);
        let runs: Vec<u64> = runs.collect();
        let known = runs.iter().filter(|run| self.runs.contains(run)).count();
        let new = known * 4 < runs.len().max(1);
        if new {
            self.runs.extend(runs);
        }
        new
    }
}

/// Where documentation may be.
fn folders() -> Vec<PathBuf> {
    let mut folders = vec![PathBuf::from("/usr/share/doc"), "/usr/share/perl".into(), "/usr/lib/python3".into()];
    if let Ok(output) = Command::new("rustc").args(["--print", "sysroot"]).output() {
        let root = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        folders.push(Path::new(&root).join("share/doc"));
    }
    folders
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => gather(&path, files),
            Ok(kind) if kind.is_file() => {
                let extension = path.extension().and_then(|extension| extension.to_str());
                if matches!(extension, Some("html" | "md" | "txt" | "pod" | "pm" | "py" | "rst")) {
                    files.push(path);
                }
            }
            _ => {}
        }
    }
}

/// The text of a page, roughly: tags and scripts left out.
fn readable(page: &str) -> String {
    let mut text = String::with_capacity(page.len() / 3);
    let mut rest = page.split_once("<main").map_or(page, |(_, main)| main);
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        text.push(' ');
        let hidden = ["script", "style"].iter().find(|name| tag.starts_with(**name));
        let after = match hidden {
            Some(name) => tag.split_once(&format!("</{name}>")),
            None => tag.split_once('>'),
        };
        rest = after.map_or("", |(_, after)| after);
    }
    for (entity, letter) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")] {
        text = text.replace(entity, letter);
    }
    text
}

/// Passages of one line each, cut between words.
fn cut(text: &str) -> Vec<String> {
    let (mut passages, mut passage) = (Vec::new(), String::new());
    let mut random = Random(u64::try_from(text.len()).unwrap_or(0));
    let mut wanted = PASSAGE_BYTES.start + random.below(PASSAGE_BYTES.len());
    for word in text.split_whitespace().filter(|word| word.len() < 80) {
        if !passage.is_empty() {
            passage.push(' ');
        }
        passage.push_str(word);
        if passage.len() >= wanted {
            // Rows of numbers and signs are no text.
            let letters = passage.bytes().filter(|byte| byte.is_ascii_alphabetic() || *byte == b' ').count();
            if letters * 10 > passage.len() * 8 && passage.is_ascii() {
                passages.push(std::mem::take(&mut passage));
            }
            passage.clear();
            wanted = PASSAGE_BYTES.start + random.below(PASSAGE_BYTES.len());
        }
    }
    passages
}

/// Queries of three words that stand in one passage.
pub(crate) fn queries(passages: &[String], count: usize) -> Vec<String> {
    let mut random = Random(2);
    let mut queries = Vec::with_capacity(count);
    while queries.len() < count {
        let passage = &passages[random.below(passages.len())];
        let words: Vec<&str> = passage
            .split(|letter: char| !letter.is_ascii_alphanumeric())
            .filter(|word| word.len() >= 4 && word.bytes().all(|byte| byte.is_ascii_alphabetic()))
            .filter(|word| !STOP_WORDS.contains(&word.to_ascii_lowercase().as_str()))
            .collect();
        let mut chosen = BTreeSet::new();
        for _ in 0..20 {
            if words.is_empty() || chosen.len() == 3 {
                break;
            }
            chosen.insert(words[random.below(words.len())].to_ascii_lowercase());
        }
        if chosen.len() == 3 {
            queries.push(chosen.into_iter().collect::<Vec<_>>().join(" "));
        }
    }
    queries
}

/// Those of the stop words of both sides that are long enough for a query.
const STOP_WORDS: [&str; 9] = ["into", "such", "that", "their", "then", "there", "these", "they", "this"];

/// Passages of the Korean texts below a folder.
pub(crate) fn korean_passages(folder: &Path) -> Result<Vec<String>> {
    let mut files = Vec::new();
    gather(folder, &mut files);
    files.sort();
    let mut passages = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        let mut passage = String::new();
        for word in text.split_whitespace() {
            passage.push_str(word);
            passage.push(' ');
            if passage.chars().count() >= KOREAN_LETTERS {
                passages.push(passage.trim_end().to_owned());
                passage.clear();
            }
        }
        if !passage.is_empty() {
            passages.push(passage.trim_end().to_owned());
        }
    }
    if passages.len() < 100 {
        bail!("there are only {} Korean passages in {}", passages.len(), folder.display());
    }
    Ok(passages)
}

/// A query of two nouns, and the passages that have both.
pub(crate) struct NounQuery {
    pub(crate) text: String,
    pub(crate) relevant: BTreeSet<usize>,
}

/// Endings that grow onto nouns, longer ones first.
const PARTICLES: [&str; 19] = [
    "에서는",
    "으로서",
    "으로써",
    "에서",
    "에게",
    "으로",
    "부터",
    "까지",
    "은",
    "는",
    "이",
    "가",
    "을",
    "를",
    "의",
    "에",
    "로",
    "과",
    "와",
];

/// Queries of two nouns of one passage, of which some passages have both. A
/// noun is what stands before at least three different particles.
pub(crate) fn noun_queries(passages: &[String], count: usize) -> Result<Vec<NounQuery>> {
    let mut particles: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for word in passages.iter().flat_map(|passage| passage.split(|letter: char| !letter.is_alphanumeric())) {
        for particle in PARTICLES {
            if let Some(noun) = word.strip_suffix(particle).filter(|noun| (2..=5).contains(&noun.chars().count())) {
                particles.entry(noun).or_default().insert(particle);
                break;
            }
        }
    }
    let hangul = |noun: &str| noun.chars().all(|letter| ('가'..='힣').contains(&letter));
    let nouns: Vec<&str> =
        particles.into_iter().filter(|(noun, found)| found.len() >= 3 && hangul(noun)).map(|(noun, _)| noun).collect();
    let having = |noun: &str| -> BTreeSet<usize> {
        (0..).zip(passages).filter(|(_, passage)| passage.contains(noun)).map(|(number, _)| number).collect()
    };
    let having: Vec<BTreeSet<usize>> = nouns.iter().map(|noun| having(noun)).collect();
    let (mut random, mut queries, mut seen) = (Random(3), Vec::new(), HashSet::new());
    for _ in 0..count * 200 {
        if nouns.is_empty() || queries.len() == count {
            break;
        }
        let (one, other) = (random.below(nouns.len()), random.below(nouns.len()));
        let relevant: BTreeSet<usize> = having[one].intersection(&having[other]).copied().collect();
        let apart = !nouns[one].contains(nouns[other]) && !nouns[other].contains(nouns[one]);
        if apart && (1..=10).contains(&relevant.len()) && seen.insert((one.min(other), one.max(other))) {
            queries.push(NounQuery { text: format!("{} {}", nouns[one], nouns[other]), relevant });
        }
    }
    if queries.len() < count { bail!("only {} queries of two nouns were found", queries.len()) } else { Ok(queries) }
}

/// Numbers that are the same on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % limit.max(1)
    }
}
