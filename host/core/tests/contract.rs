//! What core says in the words of the contract.

use serde_json::json;
use wharf_contract::{state::Scope, tools, types::ErrorCode};
use wharf_core::{Code, InputRequired, ScopeKind};

#[test]
fn a_round_of_input_asks_by_every_method_of_the_contract() {
    for method in tools::InputMethod::ALL {
        let asked = json!({ (tools::REQUESTS): { "a": { "method": method } } });
        let read = InputRequired::read(&asked).unwrap_or_else(|error| panic!("{method}: {error}"));
        assert_eq!(read.requests["a"].method.as_str(), method.as_str());
        let answer = json!({ (tools::INPUT_REQUIRED): asked });
        let mut meta = answer.as_object().cloned().expect("an object");
        assert_eq!(InputRequired::take(&mut meta).expect("legal"), Some(read));
    }
}

#[test]
fn every_code_leads_to_its_word_and_back_and_no_plugin_claims_a_cancellation() {
    for code in ErrorCode::ALL {
        assert_eq!(Code::from_guest(code.as_str()).as_str(), code.as_str());
    }
    assert_eq!(Code::from_guest(Code::Cancelled.as_str()), Code::Internal);
}

#[test]
fn every_scope_but_the_chosen_one_has_a_kind() {
    for scope in Scope::ALL {
        let kind = ScopeKind::from_word(scope.as_str()).map(ScopeKind::as_str);
        assert_eq!(kind, Some(scope.as_str()).filter(|_| scope != Scope::Default));
    }
    // Configuration and routes write them as the contract does.
    for kind in ScopeKind::ALL {
        assert_eq!(json!(kind), kind.as_str());
    }
}
