//! Every combination of hosts, origins and fetch metadata that a hostile page can cause, and those of real clients.
//! Of the real server, `e2e/http/gate.rs` tries fewer on every route.

use super::*;

const OWN: &str = "127.0.0.1:7717";
/// Hosts that are not this server. An empty one is no header at all.
const STRANGE_HOSTS: &[&str] = &[
    "",
    "evil.example",
    "evil.example:7717",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "localhost.",
    "evil@localhost",
    "localhost@evil.example",
    "127.0.0.2",
    "0.0.0.0:7717",
    "[::]:7717",
    "2130706433",
    "127.1",
    "localhost:",
    "localhost:77x",
    "localhost evil.example",
];
const STRANGE_ORIGINS: &[&str] = &[
    "null",
    "http://evil.example",
    "https://127.0.0.1:7717",
    "http://127.0.0.1",
    "http://127.0.0.1:7718",
    "http://localhost:7717",
    "http://127.0.0.1:7717.evil.example",
    "http://127.0.0.1:7717/",
    "http://evil@127.0.0.1:7717",
    "file://",
    "",
];
const STRANGE_SITES: &[&str] = &["cross-site", "same-site", "unknown", "", "none, cross-site"];

/// The status of a refusal; none if the request passes.
fn refusal(doors: &Doors, uri: &str, fields: &[(&str, &str)]) -> Option<StatusCode> {
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        headers.append(name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap());
    }
    let refused = doors.admit(&uri.parse().unwrap(), &headers).err()?;
    Some(refused.into_response().status())
}

/// What each header adds to a request, from the harmless first.
fn cases<'a>(name: &'a str, good: &[&'a str], strange: &[&'a str]) -> Vec<(Vec<(&'a str, &'a str)>, bool)> {
    let one = |value: &&'a str, is_good| {
        (if value.is_empty() && name == "host" { vec![] } else { vec![(name, *value)] }, is_good)
    };
    good.iter().map(|value| one(value, true)).chain(strange.iter().map(|value| one(value, false))).collect()
}

#[test]
fn of_all_combinations_only_those_of_this_server_pass() {
    let doors = Doors::new(None).unwrap();
    let hosts = cases("host", &[OWN], STRANGE_HOSTS);
    let mut origins = cases("origin", &["http://127.0.0.1:7717"], STRANGE_ORIGINS);
    let mut sites = cases("sec-fetch-site", &["same-origin", "none"], STRANGE_SITES);
    origins.push((Vec::new(), true));
    sites.push((Vec::new(), true));
    let (mut refused, mut passed) = (0, 0);
    for (host, host_is_good) in &hosts {
        for (origin, origin_is_good) in &origins {
            for (site, site_is_good) in &sites {
                let fields = [host.as_slice(), origin, site].concat();
                let is_good = *host_is_good && *origin_is_good && *site_is_good;
                let expected = (!is_good).then_some(StatusCode::FORBIDDEN);
                assert_eq!(refusal(&doors, "/api/v1/tasks", &fields), expected, "{fields:?}");
                if is_good { passed += 1 } else { refused += 1 }
            }
        }
    }
    assert_eq!((passed, refused), (6, 17 * 13 * 8 - 6));
}

#[test]
fn a_header_that_comes_twice_or_disagrees_with_the_address_is_refused() {
    let doors = Doors::new(None).unwrap();
    let own = ("host", OWN);
    assert!(refusal(&doors, "/", &[own]).is_none());
    assert!(refusal(&doors, "/", &[own, own]).is_some());
    assert!(
        refusal(&doors, "/", &[own, ("origin", "http://127.0.0.1:7717"), ("origin", "http://evil.example")]).is_some()
    );
    assert!(refusal(&doors, "/", &[own, ("sec-fetch-site", "none"), ("sec-fetch-site", "cross-site")]).is_some());
    assert!(refusal(&doors, "http://evil.example/", &[own]).is_some());
    assert!(refusal(&doors, "http://127.0.0.1:7717/", &[("host", "evil.example")]).is_some());
    assert!(refusal(&doors, "http://127.0.0.1:7717/", &[own]).is_none());
}

#[test]
fn names_of_this_machine_on_any_port_are_own() {
    let doors = Doors::new(None).unwrap();
    for host in ["localhost", "LOCALHOST:9000", "127.0.0.1", "[::1]:7717"] {
        assert!(refusal(&doors, "/", &[("host", host), ("origin", &format!("http://{host}"))]).is_none(), "{host}");
    }
}

#[test]
fn behind_a_proxy_its_public_name_is_own_too() {
    let doors = Doors::new(Some("https://longhaul.example")).unwrap();
    let public = ("host", "longhaul.example");
    assert!(refusal(&doors, "/", &[public]).is_none());
    assert!(refusal(&doors, "/", &[public, ("origin", "https://longhaul.example")]).is_none());
    assert!(refusal(&doors, "/", &[public, ("origin", "http://longhaul.example")]).is_some());
    assert!(refusal(&doors, "/", &[("host", "longhaul.example:8443")]).is_some());
    assert!(refusal(&doors, "/", &[("host", OWN), ("origin", "https://longhaul.example")]).is_some());
    for bad in [
        "longhaul.example",
        "http://longhaul.example",
        "https://",
        "https://a@longhaul.example",
        "https://longhaul.example/x",
    ] {
        assert!(Doors::new(Some(bad)).is_err(), "{bad}");
    }
}

#[test]
fn a_key_comes_once_and_in_one_form() {
    let presented = |values: &[&str]| {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::AUTHORIZATION, value.parse().unwrap());
        }
        key(&headers).map(str::to_owned)
    };
    assert_eq!(presented(&["Bearer lh_1"]).as_deref(), Some("lh_1"));
    assert_eq!(presented(&["bearer lh_1"]).as_deref(), Some("lh_1"));
    for bad in [&[][..], &["lh_1"], &["Basic lh_1"], &["Bearer lh_1", "Bearer lh_2"], &["Bearer"]] {
        assert_eq!(presented(bad), None, "{bad:?}");
    }
}
