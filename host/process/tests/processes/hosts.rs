//! Whose process it is where many hosts serve as one.

use std::{collections::HashSet, num::NonZeroU32};

use chrono::TimeDelta;
use wharf_core::{Code, Error, handle::HandleMint};
use wharf_process::{ProcessError, ProcessId, ProcessSettings, Status};

use crate::{
    owners::refusals,
    support::{TestRegistry, owner, settings, shell},
};

fn mint(incarnation: u32) -> HandleMint {
    HandleMint::of(NonZeroU32::new(incarnation).expect("not zero"))
}

/// The id of a process that is nowhere.
fn id_of(mint: &HandleMint) -> ProcessId {
    mint.handle().expect("randomness").to_string().parse().expect("an id")
}

#[tokio::test]
async fn what_ended_with_another_host_is_gone_and_what_this_one_never_had_is_not_found() {
    let registry = TestRegistry::with(ProcessSettings { handles: mint(0xa1), ..settings() }).await;
    let mut ids = HashSet::new();
    for _ in 0..5 {
        let id = registry.shell("true").await;
        assert!(id.to_string().starts_with("000000a1"), "{id}");
        assert!(ids.insert(id));
        assert_eq!(registry.exit(id).await.status, Status::Finished);
    }
    for error in refusals(&registry.processes, &owner("one"), id_of(&mint(0xa2))).await {
        assert!(matches!(error, ProcessError::HostEnded), "{error:?}");
        let error = Error::from(error);
        assert_eq!((error.code, error.retryable), (Code::Gone, false));
        assert!(error.message.contains("start another one"), "{}", error.message);
    }
    let own = ids.into_iter().next().expect("one");
    for (whose, id) in [("one", id_of(&mint(0xa1))), ("one", id_of(&HandleMint::default())), ("two", own)] {
        for error in refusals(&registry.processes, &owner(whose), id).await {
            assert!(matches!(error, ProcessError::NotFound), "{error:?}");
        }
    }
    registry.close().await;
}

#[tokio::test]
async fn a_host_alone_takes_no_id_for_that_of_another_host() {
    let registry = TestRegistry::new().await;
    for error in refusals(&registry.processes, &owner("one"), id_of(&mint(0xa1))).await {
        assert!(matches!(error, ProcessError::NotFound), "{error:?}");
    }
    registry.close().await;
}

#[tokio::test]
async fn what_an_earlier_incarnation_started_is_gone_although_its_output_is_still_there() {
    let handles = mint(0xa1);
    let registry = TestRegistry::with(ProcessSettings { handles: handles.clone(), ..settings() }).await;
    let id = registry.shell("echo kept").await;
    let finished = registry.exit(id).await.finished.expect("a time");
    assert_eq!(registry.tail(id), "kept\n");
    handles.change(NonZeroU32::new(0xa2).expect("not zero"));
    let later = registry.processes.spawn(&owner("one"), shell("true"), usize::MAX).await.expect("a process");
    assert!(later.to_string().starts_with("000000a2"), "{later}");
    // Nobody can tell whether it is there, nor whose it is.
    for (whose, id) in [("one", id), ("two", id), ("two", id_of(&mint(0xa1)))] {
        for error in refusals(&registry.processes, &owner(whose), id).await {
            assert!(matches!(error, ProcessError::HostEnded), "{error:?}");
        }
    }
    registry.exit(later).await;
    assert_eq!(registry.processes.sweep(finished + TimeDelta::days(2)).await.processes, 2);
    for error in refusals(&registry.processes, &owner("one"), id).await {
        assert!(matches!(error, ProcessError::HostEnded), "{error:?}");
    }
    for error in refusals(&registry.processes, &owner("one"), later).await {
        assert!(matches!(error, ProcessError::NotFound), "{error:?}");
    }
    registry.close().await;
}
