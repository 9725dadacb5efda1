//! The account of what the JSON of answers takes: by answer, tenant and host.
//!
//! An answer may be kept for as long as its client takes to read it, so it carries its
//! share with it.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::Estimate;
use crate::{
    CallLimits, Code, Content, Error, HostLimits, Quota, SessionId, Share, TenantId, quota::Bounds, tool::Answer,
};

/// How much memory the JSON of answers may take: of all answers of a tenant, and of all.
/// Clones share the account.
#[derive(Debug, Clone)]
pub struct AnswerMemory {
    quota: Arc<Quota>,
}

impl AnswerMemory {
    /// Nothing is taken.
    #[must_use]
    pub fn new(limits: &HostLimits) -> Self {
        let bounds = Bounds {
            resource: "bytes of memory for JSON of answers",
            section: "[host.limits]",
            session: None,
            tenant: ("answer_json_bytes_per_tenant", limits.answer_json_bytes_per_tenant),
            host: ("answer_json_total_bytes", limits.answer_json_total_bytes),
        };
        Self { quota: Quota::new(bounds) }
    }

    /// The account of an answer of which nothing has been read yet.
    #[must_use]
    pub fn begin(&self, tenant: &TenantId, limits: &CallLimits) -> AnswerReader {
        let share = self.quota.open(tenant, &SessionId::default_session());
        AnswerReader { most: limits.answer_json_bytes, share }
    }

    /// Charges an answer that is in memory already, since the host did not read it from text.
    ///
    /// # Errors
    /// As [`AnswerReader::take`].
    pub fn charge(&self, answer: &mut Answer, tenant: &TenantId, limits: &CallLimits) -> Result<(), Error> {
        let mut reader = self.begin(tenant, limits);
        if let Some(structured) = &answer.structured {
            reader.take(&Estimate::of_value(structured))?;
        }
        let parts = answer.content.iter().map(|Content { meta, .. }| meta);
        reader.take_objects(&mut parts.chain([&answer.meta]))?;
        answer.memory = reader.finish();
        Ok(())
    }

    /// Charges objects that are in memory already, as parts of one answer.
    ///
    /// # Errors
    /// As [`AnswerReader::take`].
    pub fn charge_objects(
        &self,
        objects: &mut dyn Iterator<Item = &Map<String, Value>>,
        tenant: &TenantId,
        limits: &CallLimits,
    ) -> Result<AnswerShare, Error> {
        let mut reader = self.begin(tenant, limits);
        reader.take_objects(objects)?;
        Ok(reader.finish())
    }
}

/// Charges an answer while it is read, part by part.
#[derive(Debug)]
pub struct AnswerReader {
    most: u64,
    share: Share,
}

impl AnswerReader {
    /// Takes what a text of JSON takes once it is parsed, which may be done then.
    ///
    /// # Errors
    /// `limit`, where the answer takes more than it may; retryable, where the tenant or the
    /// host has no more.
    pub fn take(&mut self, estimate: &Estimate) -> Result<(), Error> {
        let (most, bytes) = (self.most, self.share.amount().saturating_add(estimate.bytes()));
        if bytes > most {
            return Err(Error::new(
                Code::Limit,
                format!(
                    "the JSON of this answer takes about {bytes} bytes of memory or more, beyond {most} (limit \
                     `answer_json_bytes`); ask for less at a time"
                ),
            ));
        }
        Ok(self.share.grow(estimate.bytes())?)
    }

    fn take_objects(&mut self, objects: &mut dyn Iterator<Item = &Map<String, Value>>) -> Result<(), Error> {
        for object in objects.filter(|object| !object.is_empty()) {
            self.take(&Estimate::of_value(object))?;
        }
        Ok(())
    }

    /// All of it is read: what it takes, for as long as it is kept.
    #[must_use]
    pub fn finish(self) -> AnswerShare {
        let Self { share, .. } = self;
        AnswerShare((share.amount() > 0).then(|| Arc::new(share)))
    }
}

/// What the JSON of an answer takes of the account. The last clone gives it back, so it is
/// kept for as long as the answer is.
#[derive(Debug, Clone, Default)]
pub struct AnswerShare(Option<Arc<Share>>);

impl AnswerShare {
    /// Whether nothing was charged.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

/// An answer is the same whatever it was charged.
impl PartialEq for AnswerShare {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for AnswerShare {}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn limits() -> (HostLimits, CallLimits) {
        let host = HostLimits {
            answer_json_bytes_per_tenant: 15_000,
            answer_json_total_bytes: 20_000,
            ..HostLimits::default()
        };
        (host, CallLimits { answer_json_bytes: 10_000, ..CallLimits::default() })
    }

    #[test]
    fn an_answer_a_tenant_and_the_host_each_have_a_limit_and_what_is_gone_gives_back() {
        let (host, call) = limits();
        let memory = AnswerMemory::new(&host);
        let numbers = |count: usize| Estimate::of(format!("[{}]", vec!["1"; count].join(",")).as_bytes());
        let take = |tenant: &str| {
            let mut reader = memory.begin(&tenant.parse().expect("legal"), &call);
            // Parts of one answer count together.
            reader.take(&numbers(70))?;
            reader.take(&numbers(70))?;
            Ok::<_, Error>(reader.finish())
        };
        let refused = |outcome: Result<AnswerShare, Error>| outcome.expect_err("too much");
        let first = take("a").expect("the first");
        let full = refused(take("a"));
        assert!(full.retryable && full.message.contains("`answer_json_bytes_per_tenant`"), "{full}");
        let second = take("b").expect("of another tenant");
        assert!(refused(take("c")).message.contains("`answer_json_total_bytes`"));
        let kept = first.clone();
        drop((first, second));
        assert!(!kept.is_empty() && memory.quota.used() > 0, "a clone is kept");
        drop(kept);
        assert_eq!(memory.quota.used(), 0);
        let mut reader = memory.begin(&TenantId::local(), &call);
        reader.take(&numbers(100)).expect("the first part");
        let long = reader.take(&numbers(100)).expect_err("too much together");
        assert!(!long.retryable && long.message.contains("`answer_json_bytes`"), "{long}");
        drop(reader);
        assert_eq!(memory.quota.used(), 0, "a part that was read is given back");
    }

    #[test]
    fn an_answer_in_memory_is_charged_with_all_its_parts() {
        let (host, call) = limits();
        let memory = AnswerMemory::new(&host);
        let numbers = json!({"a": vec![1; 60]});
        let meta = numbers.as_object().expect("an object").clone();
        let part = Content { meta: meta.clone(), ..Content::text("x") };
        let mut answer = Answer { content: vec![part], structured: Some(numbers), ..Answer::default() };
        memory.charge(&mut answer, &TenantId::local(), &call).expect("it fits");
        let charged = memory.quota.used();
        assert!(charged > 2 * 60 * 64, "{charged}");
        answer.meta = meta;
        answer.memory = AnswerShare::default();
        let refused = memory.charge(&mut answer, &TenantId::local(), &call).expect_err("one part too many");
        assert!(refused.message.contains("`answer_json_bytes`"), "{refused}");
        drop(answer);
        assert_eq!(memory.quota.used(), 0);
        let mut text = Answer { content: vec![Content::text("x")], ..Answer::default() };
        memory.charge(&mut text, &TenantId::local(), &call).expect("it has no JSON");
        assert!(text.memory.is_empty());
    }
}
