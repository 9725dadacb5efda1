//! Memos.

use serde_json::json;

use crate::{TestAgent as _, Thread};

#[test]
fn the_eleventh_memo_takes_the_place_of_the_oldest_and_says_so() {
    let thread = Thread::new();
    for number in 1..=10 {
        let added = thread.ok("add_memo", &json!({ "memo": format!("memo {number}") }));
        assert_eq!((added["memo"]["id"].as_u64(), added.get("evictedMemo")), (Some(number), None));
    }
    let (added, text) = thread.answer("add_memo", &json!({ "memo": "memo 11" }));
    assert_eq!(added["evictedMemo"], json!({ "id": 1, "content": "memo 1" }));
    assert_eq!(text, "Memo 11 is kept. Memo 1 had to go for it: memo 1");
    let memos = thread.state()["memos"].clone();
    assert_eq!((memos.as_array().map(Vec::len), &memos[0]["id"]), (Some(10), &json!(2)));
}

#[test]
fn an_id_of_a_memo_is_never_given_twice() {
    let thread = Thread::new();
    thread.ok("add_memo", &json!({ "memo": "a" }));
    thread.ok("add_memo", &json!({ "memo": "b" }));
    assert_eq!(
        thread.ok("clear_memo", &json!({ "id": 2 })),
        json!({
            "memo": { "id": 2, "content": "b" }, "remaining": 1,
        })
    );
    assert_eq!(thread.ok("add_memo", &json!({ "memo": "c" }))["memo"]["id"], 3);
    assert_eq!(thread.refused("clear_memo", &json!({ "id": 2 })), "not-found: there is no memo 2; valid ids: 1, 3");
}
