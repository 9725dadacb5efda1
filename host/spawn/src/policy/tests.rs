use wharf_core::{Grants, TerminalGrant};

use super::*;
use crate::MissingAbility;

fn capabilities(mechanism: Option<SandboxMechanism>) -> Capabilities {
    Capabilities {
        containment: mechanism.ok_or_else(|| MissingAbility("nothing".to_owned())),
        another_user: false,
        ..Capabilities::whole()
    }
}

/// The plan for the shell under a grant of terminals.
fn planned(
    mechanism: Option<SandboxMechanism>,
    directory: &str,
    environment: &[(String, String)],
) -> Result<SpawnPlan, PolicyError> {
    let terminal = TerminalGrant {
        shell: true,
        environment: vec!["PATH".into()],
        readable: vec!["/srv".into()],
        ..TerminalGrant::with_reason("a test")
    };
    let grants = Grants { terminal: Some(terminal), ..Grants::default() };
    planned_with(&grants, &capabilities(mechanism), directory, environment)
}

fn planned_with(
    grants: &Grants,
    capabilities: &Capabilities,
    directory: &str,
    environment: &[(String, String)],
) -> Result<SpawnPlan, PolicyError> {
    let plugin = "p".parse().expect("legal");
    let granted = grants.terminal(&plugin).expect("granted");
    let request = CommandRequest {
        command: granted.shell().expect("a shell"),
        arguments: &[],
        directory,
        environment,
        terminal: "xterm-256color",
        stand_in: None,
    };
    let workspace =
        ChildWorkspace { files: "/data/files".into(), home: "/data/home".into(), user: Some(7), stay: None };
    plan(&granted.children(), &workspace, &request, capabilities, &ProcessLimits::default())
}

fn variable(plan: &SpawnPlan, name: &str) -> Option<OsString> {
    plan.environment.iter().find(|(given, _)| given == name).map(|(_, value)| value.clone())
}

#[test]
fn an_interactive_shell_sees_its_workspace_as_its_containment_shows_it() {
    let contained = planned(Some(SandboxMechanism::Namespaces), "src", &[]).expect("a plan");
    assert_eq!((contained.directory.to_str(), contained.user), (Some("/workspace/src"), Some(7)));
    assert_eq!(variable(&contained, "HOME"), Some("/home/wharf".into()));
    assert_eq!(variable(&contained, "TERM"), Some("xterm-256color".into()));
    assert_eq!(contained.arguments, ["-i"]);
    let Containment::Required(sandbox) = contained.containment else { panic!("it is contained") };
    assert_eq!(sandbox.readable, [Bind::same("/srv")]);
    let landlock = planned(Some(SandboxMechanism::Landlock), "/workspace/src", &[]).expect("a plan");
    assert_eq!(landlock.directory.to_str(), Some("/data/files/src"));
}

#[test]
fn where_nothing_contains_a_grant_that_requires_it_still_asks_for_it() {
    let plan = planned(None, "", &[]).expect("a plan");
    assert!(matches!(plan.containment, Containment::Required(_)));
    // Should a mechanism work by the time that the child starts, its user is the right one.
    assert_eq!(plan.user, Some(7));
}

#[test]
fn what_the_operator_requires_of_the_whole_host_no_grant_gives_up() {
    let terminal = TerminalGrant { shell: true, require_containment: false, ..TerminalGrant::with_reason("a test") };
    let grants = Grants { terminal: Some(terminal), ..Grants::default() };
    let plan = |namespaces_required| {
        let capabilities = Capabilities { namespaces_required, ..capabilities(None) };
        planned_with(&grants, &capabilities, "", &[]).expect("a plan").containment
    };
    assert!(matches!(plan(false), Containment::None));
    assert!(matches!(plan(true), Containment::Required(_)));
}

#[test]
fn whether_anything_can_be_started_is_told_by_the_same_rule_as_it_is_refused() {
    for (mechanism, required, gives_up, refused) in [
        (Some(SandboxMechanism::Landlock), true, true, false),
        (None, false, true, false),
        (None, false, false, true),
        (None, true, true, true),
    ] {
        let found = Capabilities { namespaces_required: required, ..capabilities(mechanism) };
        let grant = TerminalGrant { require_containment: !gives_up, ..TerminalGrant::with_reason("a test") };
        let grants = Grants { terminal: Some(grant), ..Grants::default() };
        let plugin = "x".parse().expect("a name");
        let granted = grants.terminal(&plugin).expect("granted");
        let refusal = super::refusal(&granted.children(), &found);
        assert_eq!(refusal.as_deref(), refused.then_some("nothing"), "{mechanism:?} {required} {gives_up}");
    }
}

#[test]
fn where_the_system_limits_nothing_no_limit_is_asked_for() {
    let limits = |process_limit| {
        let terminal =
            TerminalGrant { shell: true, require_containment: false, ..TerminalGrant::with_reason("a test") };
        let grants = Grants { terminal: Some(terminal), ..Grants::default() };
        planned_with(&grants, &Capabilities { process_limit, ..capabilities(None) }, "", &[]).expect("a plan").limits
    };
    assert_eq!(limits(ProcessLimitScope::Nothing), ChildLimits::default());
    assert!(limits(ProcessLimitScope::User).memory_bytes.is_some());
}

#[test]
fn no_directory_leaves_the_workspace_and_no_variable_is_set_that_is_not_granted() {
    for directory in ["..", "/etc", "a/../../b"] {
        assert!(matches!(planned(None, directory, &[]), Err(PolicyError::Invalid { .. })), "{directory}");
    }
    let set = |name: &str| planned(None, "", &[(name.to_owned(), "x".to_owned())]);
    assert!(matches!(set("LD_PRELOAD"), Err(PolicyError::Refused { .. })));
    assert_eq!(variable(&set("PATH").expect("granted"), "PATH"), Some("x".into()));
    let many = vec![("PATH".to_owned(), String::new()); 1_001];
    assert!(matches!(planned(None, "", &many), Err(PolicyError::Invalid { .. })));
}

#[test]
fn a_stand_in_changes_the_file_that_runs_and_nothing_that_was_decided() {
    let grant = TerminalGrant { programs: vec!["absent".into()], ..TerminalGrant::with_reason("a test") };
    let grants = Grants { terminal: Some(grant), ..Grants::default() };
    let plugin = "p".parse().expect("legal");
    let granted = grants.terminal(&plugin).expect("granted");
    let workspace =
        ChildWorkspace { files: "/data/files".into(), home: "/data/home".into(), user: Some(7), stay: None };
    let arguments = ["--version".to_owned()];
    let planned = |stand_in| {
        let command = granted.program("absent").expect("granted");
        let request = CommandRequest {
            command,
            arguments: &arguments,
            directory: "",
            environment: &[],
            terminal: "dumb",
            stand_in,
        };
        let found = capabilities(Some(SandboxMechanism::Namespaces));
        plan(&granted.children(), &workspace, &request, &found, &ProcessLimits::default())
    };
    assert!(matches!(planned(None), Err(PolicyError::Invalid { .. })), "there is no such program");
    let stand_in =
        StandIn { program: "/opt/player".into(), arguments: vec!["--play".into()], readable: vec!["/opt".into()] };
    let plan = planned(Some(stand_in)).expect("a plan");
    assert_eq!((plan.program.to_str(), plan.arguments.as_slice()), (Some("/opt/player"), ["--play".into()].as_slice()));
    assert_eq!((plan.command.as_str(), plan.user), ("absent --version", Some(7)));
    let Containment::Required(sandbox) = plan.containment else { panic!("it is contained") };
    assert_eq!((sandbox.readable, sandbox.network), (vec![Bind::same("/opt")], false));
    assert!(granted.program("other").is_err(), "what is not granted never gets so far");
}
