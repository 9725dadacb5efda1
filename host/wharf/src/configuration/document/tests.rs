//! What is read of `wharf.toml` as a whole, and what holds without one.

use super::*;

fn parse(text: &str) -> Result<Configuration, String> {
    Configuration::parse(text, Path::new("/etc/wharf")).map_err(|problem| problem.to_string())
}

#[test]
fn an_empty_configuration_is_the_default() {
    let configuration = parse("").expect("parses");
    assert_eq!(configuration.call_limits, CallLimits::default());
    assert!(configuration.plugins.is_empty());
}

#[test]
fn no_file_and_an_empty_file_say_the_same_to_the_last_field() {
    let (none, empty) = (Configuration::default(), parse("").expect("parses"));
    assert_eq!(format!("{none:#?}"), format!("{empty:#?}"));
    assert_eq!(none.call_ceilings, CallLimits::ceilings());
    for bundled in bundled::PLUGINS {
        let (mut needed, of_none) = (CallLimits::default(), none.limits_of_bundled(bundled.name));
        profile::raise_limits(bundled.name, &mut needed, |_| false);
        assert_eq!(of_none, needed, "{} has what it needs", bundled.name);
        assert_eq!(of_none, empty.limits_of_bundled(bundled.name), "{}", bundled.name);
    }
}

#[test]
fn every_path_is_absolute_wherever_the_file_is() {
    let text = "data = \"d\"\n[plugins]\nfolder = \"f\"\nindexes = [\"i.json\"]\n[plugin.x]\nsource = \"x.wasm\"\n[webview]\ntemporary = \"t\"\n\
                [http.tls]\ncertificate = \"c\"\nkey = \"k\"\n\
                [plugin.x.grants.process]\nreason = \"r\"\nreadable = [\"p\"]\n\
                [plugin.host.grants.terminal]\nreason = \"r\"\nreadable = [\"t\"]\n\
                [plugin.x.grants.workspace]\nreason = \"r\"\nexchange = [{name = \"e\", path = \"../e\"}]";
    for base in ["", ".", "below", "/etc/wharf"] {
        let configuration = Configuration::parse(text, Path::new(base)).expect("parses");
        let of_host = configuration.host_grants().terminal.expect("granted");
        let tls = configuration.http.tls.expect("written");
        let source = configuration.plugins[&"x".parse::<PluginName>().expect("legal")].source.clone();
        let paths = [configuration.data, configuration.plugin_folder, source, configuration.webview.temporary];
        let granted =
            configuration.plugins[&"x".parse::<PluginName>().expect("legal")].grants.clone().expect("written");
        let readable = granted.process.expect("granted").children.readable.into_iter();
        let readable = readable.chain(of_host.readable);
        let exchange = granted.workspace.expect("granted").exchange.into_iter().map(|folder| folder.path);
        let [PluginSource::File(index)] = &configuration.plugin_indexes[..] else { panic!("one file") };
        let named = paths.into_iter().flatten().chain([tls.certificate, tls.key, index.clone()]);
        for path in named.chain(readable).chain(exchange) {
            assert!(path.is_absolute(), "{base:?}: {}", path.display());
        }
    }
}

#[test]
fn an_index_is_a_file_an_address_or_a_reference() {
    let indexes = "[plugins]\nindexes = [\"https://example.com/i.json\", \"/srv/i.json\"]";
    let configuration = Configuration::parse(indexes, Path::new("/")).expect("right");
    assert_eq!(configuration.plugin_indexes.len(), 2);
    for wrong in ["http://example.com/i.json", "https://me:secret@example.com/i.json", "ftp://example.com/i.json"] {
        let refused = parse(&format!("[plugins]\nindexes = [\"{wrong}\"]")).expect_err(wrong);
        assert!(refused.contains("[plugins] `indexes`"), "{refused}");
    }
}

#[test]
fn a_text_that_nests_too_deeply_is_refused_with_a_hint_where_to_look() {
    let refused = parse(&format!("[plugin.a.settings]\n{}b = 1", "a.".repeat(200))).expect_err("nests too deeply");
    assert!(refused.contains("line ") || refused.contains("within each other"), "{refused}");
}

#[test]
fn an_unknown_key_is_an_error_that_names_it_and_what_is_known() {
    for (text, key) in [
        ("contxt = 1", "contxt"),
        ("[context]\nrequire_sesion = true", "require_sesion"),
        ("[limits]\nmemory = 1", "memory"),
        ("[host.limits]\ncalls = 1", "calls"),
        ("[plugin.x]\nsource = \"x.wasm\"\n[plugin.x.grants.stat]\nreason = \"r\"", "stat"),
    ] {
        let problem = parse(text).expect_err("unknown");
        assert!(problem.contains(key), "{problem}");
    }
}

#[test]
fn a_limit_is_checked_against_its_ceiling() {
    let problem = parse("[limits]\nwall_time_milliseconds = 600001").expect_err("too much");
    assert!(problem.contains("from 1 to 600000"), "{problem}");
    let problem = parse("[limits]\noutput_bytes = -1").expect_err("negative");
    assert!(problem.contains("output_bytes") || problem.contains("-1"), "{problem}");
}

#[test]
fn no_limit_of_a_call_is_above_the_operators_ceiling_whoever_sets_it() {
    let ceilings = "[ceilings]\noutput_bytes = 1000\nhost_calls = 50\n";
    let configuration =
        parse(&format!("[plugin.x]\nsource = \"x.wasm\"\n[plugin.x.limits]\nhost_calls = 50\n{ceilings}"));
    let configuration = configuration.expect("parses");
    let limits = &configuration.plugins[&"x".parse::<PluginName>().expect("legal")].limits;
    assert_eq!((limits.output_bytes, limits.host_calls), (1_000, 50), "a default is lowered");
    assert_eq!(configuration.call_limits.output_bytes, 1_000);
    for bundled in bundled::PLUGINS {
        assert_eq!(configuration.limits_of_bundled(bundled.name).output_bytes, 1_000, "{}", bundled.name);
    }
    for (table, text) in [
        ("[limits]", "[limits]\nhost_calls = 51\n"),
        ("[plugin.x.limits]", "[plugin.x]\nsource = \"x.wasm\"\n[plugin.x.limits]\nhost_calls = 51\n"),
    ] {
        let problem = parse(&format!("{text}{ceilings}")).expect_err("above");
        assert!(problem.contains(table) && problem.contains("`host_calls` under [ceilings]"), "{problem}");
    }
    let problem = parse("[ceilings]\nwall_time_milliseconds = 600001").expect_err("above what is built in");
    assert!(problem.contains("[ceilings]") && problem.contains("600000"), "{problem}");
}

#[test]
fn the_name_of_the_apps_own_tools_is_no_plugins() {
    let problem = parse("[plugin.app]\nsource = \"x.wasm\"").expect_err("reserved");
    assert!(problem.contains("[plugin.app]") && problem.contains("choose another name"), "{problem}");
}
