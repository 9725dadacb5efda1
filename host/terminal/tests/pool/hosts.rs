//! Whose terminal it is where many hosts serve as one.

use std::num::NonZeroU32;

use wharf_core::{Code, Error, handle::HandleMint};
use wharf_terminal::{TerminalError, TerminalId};

use crate::{
    owners::refusals,
    support::{TestPool, somebody},
};

fn mint(incarnation: u32) -> HandleMint {
    HandleMint::of(NonZeroU32::new(incarnation).expect("not zero"))
}

/// The id of a terminal that is nowhere.
fn id_of(mint: &HandleMint) -> TerminalId {
    mint.handle().expect("randomness").to_string().parse().expect("an id")
}

#[tokio::test]
async fn what_ended_with_another_host_is_gone_and_what_this_one_never_had_is_not_found() {
    let (pool, owner) = (TestPool::with(|settings| settings.handles = mint(0xa1)), somebody("one"));
    let (first, second) = (pool.shell(&owner).await, pool.shell(&somebody("two")).await);
    assert!(first.to_string().starts_with("000000a1"), "{first}");
    assert!(second.to_string().starts_with("000000a1") && first != second, "{second}");

    let foreign = id_of(&mint(0xa2));
    let mut errors = Vec::from(refusals(&pool, &owner, foreign).await);
    errors.extend(pool.terminals.watch(owner.context(), foreign, None).err());
    errors.extend(pool.terminals.attach(foreign).err());
    assert_eq!(errors.len(), 14);
    for error in errors {
        assert!(matches!(error, TerminalError::HostEnded), "{error:?}");
        let error = Error::from(error);
        assert_eq!((error.code, error.retryable), (Code::Gone, false));
        assert!(error.message.contains("start another one"), "{}", error.message);
    }
    for id in [id_of(&mint(0xa1)), id_of(&HandleMint::default()), second] {
        for error in refusals(&pool, &owner, id).await {
            assert!(matches!(error, TerminalError::NotFound), "{error:?}");
        }
        assert!(matches!(pool.terminals.watch(owner.context(), id, None), Err(TerminalError::NotFound)));
    }
    assert!(matches!(pool.terminals.attach(id_of(&mint(0xa1))), Err(TerminalError::NotFound)));
}

#[tokio::test]
async fn a_host_alone_takes_no_id_for_that_of_another_host() {
    let (pool, owner) = (TestPool::new(), somebody("one"));
    for error in refusals(&pool, &owner, id_of(&mint(0xa1))).await {
        assert!(matches!(error, TerminalError::NotFound), "{error:?}");
    }
}

#[tokio::test]
async fn what_an_earlier_incarnation_opened_is_gone_although_it_is_still_there() {
    let handles = mint(0xa1);
    let (pool, owner) = (TestPool::with(|settings| settings.handles = handles.clone()), somebody("one"));
    let id = pool.shell(&owner).await;
    assert!(pool.answer(&owner, id, "echo st''ill").await.0.contains("still"));
    handles.change(NonZeroU32::new(0xa2).expect("not zero"));
    // Nobody can tell whether it is there, nor whose it is.
    for (whose, id) in [(&owner, id), (&somebody("two"), id), (&somebody("two"), id_of(&mint(0xa1)))] {
        let mut errors = Vec::from(refusals(&pool, whose, id).await);
        errors.extend(pool.terminals.watch(whose.context(), id, None).err());
        errors.extend(pool.terminals.attach(id).err());
        assert_eq!(errors.len(), 14);
        for error in errors {
            assert!(matches!(error, TerminalError::HostEnded), "{error:?}");
        }
    }
}
