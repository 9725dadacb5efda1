//! `search_content` of the content store through the whole host, beside tantivy
//! in this process.

use std::{collections::BTreeSet, path::Path, time::Instant};

use anyhow::{Result, anyhow, bail};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;
use wharf::{CallRequest, Context, Host, SessionId, TenantId};

use crate::{
    Setting,
    engine::{open_host, runtime},
    report::{Report, median, quantile},
    search_corpus::{self as corpus, DOCUMENT_PASSAGES},
    search_yardstick::Tantivy,
};

/// Passages that most is measured on, and those of the large store.
const PASSAGES: usize = 20_000;
const FEW: usize = 10_000;
const MANY: usize = 100_000;
/// Documents that are added at once.
const BULK: usize = 1_000;
/// Of these, those of one call.
const AT_ONCE: usize = 100;
const TOP: usize = 10;
const ROUNDS: usize = 5;

/// Room for more passages than the bundled plugin keeps; its limits are those
/// that users have.
const ROOM: &str = "\
[plugin.content-store.grants.state]
reason = \"it is measured\"
quota_bytes = 4_000_000_000
quota_entries = 10_000_000
";

/// A host whose content store is empty.
struct Store {
    runtime: Runtime,
    host: Host,
    context: Context,
    /// The contents that were added, in their order.
    contents: Vec<String>,
}

impl Store {
    fn open(setting: &Setting, data: &Path) -> Result<Self> {
        let runtime = runtime(2)?;
        let host = open_host(&runtime, &setting.echo_component, data, ROOM)?;
        if !host.installed().iter().any(|installed| installed.plugin.name().as_str() == "content-store") {
            bail!("the content store is not part of this build; run `cargo xtask plugins` first");
        }
        let context = Context::new(TenantId::local(), SessionId::default_session());
        Ok(Self { runtime, host, context, contents: Vec::new() })
    }

    fn call(&self, tool: &str, arguments: Value) -> Result<Map<String, Value>> {
        let Value::Object(arguments) = arguments else { bail!("arguments are an object") };
        let request = CallRequest::new(self.context.clone(), format!("content-store__{tool}"), arguments);
        let answer = self.runtime.block_on(self.host.call(request))?;
        match answer.structured {
            Some(Value::Object(structured)) => Ok(structured),
            other => bail!("{tool} answered {other:?}"),
        }
    }

    /// Adds passages as documents of several.
    fn add(&mut self, passages: &[String]) -> Result<()> {
        for part in passages.chunks(DOCUMENT_PASSAGES) {
            let added = self.call("add_content", json!({ "text": part.join("\n\n"), "name": "part.txt" }))?;
            let chunks = added.get("chunks").and_then(Value::as_u64);
            if chunks != Some(u64::try_from(part.len())?) {
                bail!("{} passages became {chunks:?} chunks", part.len());
            }
            let id = added.get("content_id").or_else(|| added.get("id")).and_then(Value::as_str);
            self.contents.push(id.ok_or_else(|| anyhow!("add_content answers no id: {added:?}"))?.to_owned());
        }
        Ok(())
    }

    /// The numbers of the best passages, and of those that score as the last of
    /// these: the order of equal ones says nothing.
    fn search(&self, query: &str) -> Result<BTreeSet<usize>> {
        let found = self.call("search_content", json!({ "query": query, "top_n": TOP * 3 }))?;
        let hits = found.get("hits").and_then(Value::as_array).ok_or_else(|| anyhow!("no hits: {found:?}"))?;
        let score = |hit: &Value| hit.get("score").and_then(Value::as_f64).unwrap_or_default();
        let last = hits.get(TOP - 1).map_or(0.0, score) - 1e-9;
        hits.iter()
            .filter(|hit| score(hit) >= last)
            .map(|hit| self.number(hit).ok_or_else(|| anyhow!("a hit of nothing known: {hit}")))
            .collect()
    }

    fn number(&self, hit: &Value) -> Option<usize> {
        let content = hit.get("content_id")?.as_str()?;
        let place = self.contents.iter().position(|added| added == content)?;
        let chunk: usize = hit.get("chunk_id")?.as_str()?.rsplit('#').next()?.parse().ok()?;
        Some(place * DOCUMENT_PASSAGES + chunk - 1)
    }

    /// The median time of a query in microseconds, and a high quantile.
    fn times(&self, queries: &[String]) -> Result<(f64, f64)> {
        times(queries, |query| self.call("search_content", json!({ "query": query, "top_n": TOP })).map(drop))
    }
}

fn times(queries: &[String], mut search: impl FnMut(&str) -> Result<()>) -> Result<(f64, f64)> {
    let mut samples = Vec::with_capacity(queries.len());
    for query in queries {
        let start = Instant::now();
        search(query)?;
        samples.push(start.elapsed().as_secs_f64() * 1e6);
    }
    Ok((quantile(&mut samples, 0.5), quantile(&mut samples, 0.99)))
}

/// How alike the best hits are, how long a query takes, and how long it takes
/// until a new document is found.
pub(crate) fn beside_tantivy(setting: &Setting, report: &mut Report) -> Result<()> {
    let passages = corpus::distinct_passages(setting.calls(PASSAGES))?;
    let queries = corpus::queries(&passages, setting.calls(2_000));
    let (data, yardstick) = (setting.data()?, tempfile::tempdir()?);
    let mut store = Store::open(setting, data.path())?;
    store.add(&passages)?;
    let mut tantivy = Tantivy::create(yardstick.path())?;
    for (number, passage) in passages.iter().enumerate() {
        tantivy.add(number, passage)?;
    }
    tantivy.commit()?;
    overlap(&store, &tantivy, &queries[..queries.len() / 4], report)?;
    latency(setting.rounds(ROUNDS), &store, &tantivy, &queries, report)?;
    add(&mut store, &mut tantivy, passages.len(), setting.calls(100), report)
}

/// Documents of one passage each, many of them at once: in as few calls as the tool takes them
/// in, beside one writer and one commit.
#[expect(clippy::cast_precision_loss, reason = "a count of documents")]
pub(crate) fn bulk(setting: &Setting, report: &mut Report) -> Result<()> {
    let documents = corpus::distinct_passages(setting.calls(BULK))?;
    let (mut ratios, mut ours, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..setting.rounds(ROUNDS) {
        let (data, yardstick) = (setting.data()?, tempfile::tempdir()?);
        let store = Store::open(setting, data.path())?;
        // The first call of a host is not what is measured here.
        store.call("list_contents", json!({}))?;
        let start = Instant::now();
        for texts in documents.chunks(AT_ONCE) {
            let texts: Vec<_> = texts.iter().map(|text| json!({ "text": text })).collect();
            store.call("add_contents", json!({ "texts": texts }))?;
        }
        let took = start.elapsed().as_secs_f64();
        let mut tantivy = Tantivy::create(yardstick.path())?;
        let start = Instant::now();
        for (number, document) in documents.iter().enumerate() {
            tantivy.add(number, document)?;
        }
        tantivy.commit()?;
        let other = start.elapsed().as_secs_f64();
        ratios.push(other / took);
        ours.push(documents.len() as f64 / took);
        theirs.push(documents.len() as f64 / other);
    }
    let absolute = format!(
        "{} documents, {AT_ONCE} by each call, {:.0}/s, tantivy with one commit {:.0}/s",
        documents.len(),
        median(ours),
        median(theirs)
    );
    report.note("search_bulk", median(ratios), &absolute);
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "counts of hits")]
fn overlap(store: &Store, tantivy: &Tantivy, queries: &[String], report: &mut Report) -> Result<()> {
    let (mut shared, mut wanted) = (0, 0);
    for query in queries {
        let ours = store.search(query)?;
        let theirs = tantivy.search(query, TOP)?;
        wanted += theirs.len();
        shared += theirs.iter().filter(|number| ours.contains(number)).count();
    }
    let ratio = shared as f64 / wanted.max(1) as f64;
    let absolute = format!("{shared} of tantivy's {wanted} hits of {} queries", queries.len());
    report.note("search_overlap", ratio, &absolute);
    Ok(())
}

fn latency(rounds: usize, store: &Store, tantivy: &Tantivy, queries: &[String], report: &mut Report) -> Result<()> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        let tantivy = times(queries, |query| tantivy.search(query, TOP).map(drop))?;
        let store = store.times(queries)?;
        // The first round warms up.
        if round > 0 {
            ours.push(store);
            theirs.push(tantivy);
        }
    }
    let of = |side: &[(f64, f64)]| {
        let (middle, high): (Vec<f64>, Vec<f64>) = side.iter().copied().unzip();
        (median(middle), median(high))
    };
    let ((ours, ours_high), (theirs, theirs_high)) = (of(&ours), of(&theirs));
    let absolute = format!(
        "through the tool p50 {ours:.0} us, p99 {ours_high:.0} us; tantivy p50 {theirs:.0} us, p99 {theirs_high:.0} us"
    );
    report.note("search_latency", ours / theirs, &absolute);
    Ok(())
}

fn add(store: &mut Store, tantivy: &mut Tantivy, first: usize, count: usize, report: &mut Report) -> Result<()> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for number in 0..count {
        let word = format!("fresh{number}x");
        let text = format!("A document with the word {word}, which nothing else has, and a few others.");
        let start = Instant::now();
        store.call("add_content", json!({ "text": text }))?;
        let found = store.call("search_content", json!({ "query": word }))?;
        ours.push(start.elapsed().as_secs_f64() * 1e6);
        if found.get("hits").and_then(Value::as_array).map(Vec::len) != Some(1) {
            bail!("{word} is not found");
        }
        let start = Instant::now();
        tantivy.add(first + number, &text)?;
        tantivy.commit()?;
        let found = tantivy.search(&word, TOP)?;
        theirs.push(start.elapsed().as_secs_f64() * 1e6);
        if found != [first + number] {
            bail!("tantivy does not find {word}");
        }
    }
    let (ours, theirs) = (median(ours), median(theirs));
    let absolute = format!("until it is found p50 {ours:.0} us, tantivy's add, commit and reload {theirs:.0} us");
    report.note("search_add", theirs / ours, &absolute);
    Ok(())
}

/// How many of the passages that have both words of a query are among the best.
#[expect(clippy::cast_precision_loss, reason = "counts of passages")]
pub(crate) fn korean(setting: &Setting, report: &mut Report) -> Result<()> {
    let passages = corpus::korean_passages(&setting.korean_corpus)?;
    let queries = corpus::noun_queries(&passages, setting.calls(300))?;
    let data = setting.data()?;
    let mut store = Store::open(setting, data.path())?;
    for passage in &passages {
        let added = store.call("add_content", json!({ "text": passage }))?;
        let id = added.get("content_id").or_else(|| added.get("id")).and_then(Value::as_str);
        store.contents.push(id.ok_or_else(|| anyhow!("add_content answers no id"))?.to_owned());
    }
    let mut recall = 0.0;
    for query in &queries {
        let found = store.call("search_content", json!({ "query": query.text, "top_n": TOP }))?;
        let hits = found.get("hits").and_then(Value::as_array).ok_or_else(|| anyhow!("no hits: {found:?}"))?;
        let found: BTreeSet<usize> = hits
            .iter()
            .filter_map(|hit| hit.get("content_id")?.as_str())
            .filter_map(|content| store.contents.iter().position(|added| added == content))
            .collect();
        recall += found.intersection(&query.relevant).count() as f64 / query.relevant.len() as f64;
    }
    let recall = recall / queries.len() as f64;
    let absolute = format!("of {} queries of two nouns over {} passages", queries.len(), passages.len());
    report.note("search_korean", recall, &absolute);
    Ok(())
}

/// How much longer a query takes where ten times as much is kept.
pub(crate) fn scaling(setting: &Setting, report: &mut Report) -> Result<()> {
    let passages = corpus::passages(setting.calls(MANY))?;
    let few = &passages[..setting.calls(FEW)];
    let queries = corpus::queries(few, setting.calls(1_000));
    let (small_data, large_data) = (setting.data()?, setting.data()?);
    let mut small = Store::open(setting, small_data.path())?;
    small.add(few)?;
    let mut large = Store::open(setting, large_data.path())?;
    large.add(&passages)?;
    let (mut ratios, mut figures) = (Vec::new(), Vec::new());
    for round in 0..=setting.rounds(ROUNDS) {
        let (small, large) = (small.times(&queries)?.0, large.times(&queries)?.0);
        if round > 0 {
            ratios.push(large / small);
            figures.push((small, large));
        }
    }
    let of = |side: fn(&(f64, f64)) -> f64| median(figures.iter().map(side).collect());
    let absolute = format!(
        "p50 {:.0} us at {} chunks, {:.0} us at {}",
        of(|pair| pair.0),
        few.len(),
        of(|pair| pair.1),
        passages.len()
    );
    report.note("search_scaling", median(ratios), &absolute);
    Ok(())
}
