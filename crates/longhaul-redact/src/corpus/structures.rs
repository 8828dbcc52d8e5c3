//! Secrets that only what stands around them tells, and texts of the same look that must stay.
//! Each place is cut at every byte; each text that must stay is compared byte for byte.

use serde_json::{Value, json};

use super::{leaks, redacted};
use crate::tests::Random;
use crate::{Secrets, redact_text};

fn drawn(random: &mut Random, length: usize) -> String {
    let set = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let text: String = (0..length - 1).map(|_| char::from(set[random.below(set.len())])).collect();
    text + "7"
}

/// The places where `%` is a secret.
const PLACES: &[&str] = &[
    "postgres://app:%@db.example:5432/app",
    "clone https://x-access-token:%@github.com/a/b.git\n",
    "pip install --index-url https://user:%@pypi.example/simple thing\n",
    "git clone https://%@github.com/a/b.git\n",
    "Authorization: Bearer %\n",
    "authorization: Basic %\r\n",
    "Proxy-Authorization: Basic %==\n",
    "curl -H 'Authorization: token %' https://api.example\n",
    "curl --header \"x-api-key: %\" https://api.example\n",
    "curl -s -u admin:% https://api.example\n",
    "curl --user 'admin:%' https://api.example\n",
    "headers = {\"Authorization\": \"Bearer %\"}\n",
    "requests.get(url, auth=(\"Authorization\", \"Bearer %\"))\n",
    "{\"headers\":{\"authorization\":\"Bearer %\",\"accept\":\"*/*\"}}\n",
    "Cookie: session=%; theme=dark\n",
    "Set-Cookie: sid=%; Path=/; HttpOnly\n",
    "//registry.npmjs.org/:_authToken=%\n",
    "//registry.example/:_auth=%==\n",
    "machine example.com login me password %\n",
    "machine example.com\n  login me\n  password %\n",
    "API_KEY=%\n",
    "export GH_TOKEN=\"%\"\n",
    "set MY_SECRET=%\r\n",
    "DB_PASSWORD: %\n",
    "password = '%'\n",
    "passwd: %\n",
    "aws_secret_access_key = %\n",
    "aws_session_token=%\n",
    "_token=%\n",
    "client_secret: \"%\",\n",
    "\"apiKey\": \"%\"\n",
    "\"api_key\":\"%\"\n",
    "{\"access_token\":\"%\",\"expires_in\":3600}\n",
    "{\"output\":\"{\\\"refresh_token\\\": \\\"%\\\"}\"}\n",
    "{\"output\":\"GITHUB_TOKEN=%\\nHOME=/root\\n\"}\n",
    "GOOGLE_CREDENTIALS=%\n",
    "x-api-key: %\n",
    "privateKey: \"%\"\n",
    "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=%==;EndpointSuffix=core\n",
    "kind: Secret\nmetadata:\n  name: x\ntype: Opaque\ndata:\n  tls.crt: %\n  other: %\n",
    "apiVersion: v1\ndata:\n  one: %\n  two: %\nkind: Secret\n",
    "{\"kind\":\"Secret\",\"data\":{\"one\":\"%\",\"two\":\"%\"}}\n",
    "-----BEGIN RSA PRIVATE KEY-----\n%\n%\n-----END RSA PRIVATE KEY-----\n",
    "-----BEGIN OPENSSH PRIVATE KEY-----\n%\n%\n",
    "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n%\n-----END EC PRIVATE KEY-----\n",
    "{\"private_key\":\"-----BEGIN PRIVATE KEY-----\\n%\\n%\\n-----END PRIVATE KEY-----\\n\",\"id\":\"x\"}\n",
    "{\"private_key\":\"-----BEGIN PRIVATE KEY-----\\n%\\n%\",\"id\":\"x\"}\n",
    "{\"output\":\"     1\u{2192}-----BEGIN PRIVATE KEY-----\\n     2\u{2192}%\\n     3\u{2192}%\\n\"}\n",
    "[\"-----BEGIN PRIVATE KEY-----\", \"%\", \"%\", \"-----END PRIVATE KEY-----\"]\n",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n%\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----\n",
    "+-----BEGIN PRIVATE KEY-----\n+%\n+%\n+-----END PRIVATE KEY-----\n",
];

#[test]
fn no_structure_leaks_however_it_is_cut() {
    let mut random = Random(21);
    let mut leaked = Vec::new();
    for place in PLACES {
        let secret = drawn(&mut random, 40);
        let text = place.replace('%', &secret);
        let whole = redacted(&[text.as_bytes()]);
        if leaks(secret.as_bytes(), &whole) {
            leaked.push(String::from_utf8_lossy(&whole).into_owned());
        }
        if text.starts_with(['{', '[']) {
            assert!(serde_json::from_slice::<Value>(&whole).is_ok(), "{}", String::from_utf8_lossy(&whole));
        }
        for cut in 0..text.len() {
            let output = redacted(&[&text.as_bytes()[..cut], &text.as_bytes()[cut..]]);
            assert!(output == whole, "{text} cut at {cut}: {}", String::from_utf8_lossy(&output));
        }
    }
    assert!(leaked.is_empty(), "{}", leaked.join(""));
}

/// What `%` is must stay in these: names and prose that only look like the above.
#[test]
fn prose_code_and_names_stay() {
    for text in [
        "The token validation uses basic authentication and a bearer token scheme.\n",
        "let token = parse_header(line)?;\nlet key: String = map.next_key()?;\n",
        "token: CancellationToken,\n    key: BTreeMap<String, Value>,\n",
        "self.token = token; this.password = options.password;\n",
        "password: process.env.DB_PASSWORD, secret: config.get(\"secret\")\n",
        "api_key = os.environ[\"API_KEY\"]\ntoken = ${{ secrets.GITHUB_TOKEN }}\nexport TOKEN=$OTHER_TOKEN\n",
        "const KEY: &str = \"name\";\nprimary_key: id\nsort_key = created_at_desc\n",
        "{\"key\":\"ArrowDown\",\"cache_key\":\"4b825dc642cb6eb9a060e54bf8d69288fbee4904\"}\n",
        "{\"idempotency_key\":\"0190a6b2-7c1e-7b3a-9f00-1234567890ab\"}\n",
        "{\"usage\":{\"input_tokens\":12345678,\"max_token\":100000000}}\n",
        "monkey: bananas12345\nthe key: it must be sorted\n",
        "ssh_key: ~/.ssh/id_ed25519\nprivate_key=/etc/ssl/private/key1.pem\n",
        "see https://docs.example/a:b@c and git@github.com:a/b.git and http://localhost:8080/@scope/x\n",
        "fn set(&self, authorization: AuthorizationRef); // char *pw_passwd Encrypted password, login name.\n",
        "Authorization: Bearer <token>\nAuthorization: Bearer $TOKEN\nCookie: see below\n",
        "-----BEGIN CERTIFICATE-----\nMIIB7TCCAZOgAwIBAgIUabcdefgh0123456789ABCDEFGHIJKLMN\n-----END CERTIFICATE-----\n",
        "-----BEGIN PRIVATE KEY-----\n",
        "task-force-of-the-risk-committee-for-the-disk-0190a6b2-7c1e-7b3a-9f00-1234567890ab\n",
        "task-4b825dc642cb6eb9a060e54bf8d69288fbee4904 disk-e3b0c44298fc1c149afbf4c8996fb924\n",
        "npm_config_registry npm_lifecycle_event hf_transfer hf_hub_download sk_buff_head_init\n",
        "commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n",
        "checksum = \"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"\n",
        "\"integrity\": \"sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==\"\n",
        "[redacted:API_KEY:0123abcd] GITHUB_TOKEN=[redacted:GITHUB_TOKEN:0123abcd]\n",
        "docker run -u 1000:1000 image; curl -u user:password https://example.com\n",
    ] {
        assert_eq!(redact_text(&Secrets::default(), text), (text.to_owned(), 0));
    }
}

#[test]
fn candidates_of_the_greatest_length_are_masked_whole() {
    let mut random = Random(22);
    let long = drawn(&mut random, 40_000);
    for text in [
        format!("ghp_{long} after\n"),
        format!("API_KEY={long} after\n"),
        format!("-----BEGIN PRIVATE KEY-----\n{long} after\n"),
    ] {
        let whole = redacted(&[text.as_bytes()]);
        assert!(
            !leaks(long.as_bytes(), &whole) && whole.ends_with(b"] after\n"),
            "{}",
            String::from_utf8_lossy(&whole)
        );
        for size in [1000, 16 * 1024, 16 * 1024 + 1, 20_001] {
            let writes: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            let output = redacted(&writes);
            assert!(output == whole, "{} in writes of {size}: {}", &text[..30], String::from_utf8_lossy(&output));
        }
    }
}

#[test]
fn the_same_secret_has_the_same_tag_everywhere() {
    let token = format!("ghp_{}", drawn(&mut Random(23), 36));
    let secrets = Secrets::new([1; 32]);
    let tag = |text: &str| {
        let masked = redact_text(&secrets, text).0;
        let start = masked.find("[redacted:").unwrap();
        let end = masked[start..].find(']').unwrap() + start;
        masked[end - 8..end].to_owned()
    };
    let tags = [format!("x {token} y"), format!("Authorization: Bearer {token}"), format!("A_TOKEN=\"{token}\"")]
        .map(|text| tag(&text));
    assert!(tags.iter().all(|other| *other == tags[0]), "{tags:?}");
    let other = redact_text(&Secrets::new([2; 32]), &token).0;
    assert!(!other.contains(&tags[0]) && other.starts_with("[redacted:github-token:"));
    assert_eq!(redact_text(&Secrets::default(), &token).0, "[redacted:github-token]");
}

#[test]
fn values_in_a_record_are_masked_and_the_record_reads_on() {
    let secret = drawn(&mut Random(24), 32);
    let mut value = json!({"env": {"API_KEY": secret}, "cmd": format!("curl -u me:{secret} x")});
    assert_eq!(crate::redact_json(&Secrets::default(), &mut value), 1, "a pair is a pair only as text: {value}");
}

/// Passwords with characters that end other things, and values behind a type.
#[test]
fn no_sign_of_code_hides_a_value() {
    for (before, secret, behind) in [
        ("const API_KEY: &str = \"", "kJ8wq2Lm9ZrTTx81", "\";\n"),
        ("const API_KEY: &'static str = \"", "kJ8wq2Lm9ZrTTx81", "\";\n"),
        ("api_key: str = \"", "kJ8wq2Lm9ZrTTx81", "\"\n"),
        ("api_key: str | None = '", "kJ8wq2Lm9ZrTTx81", "'\n"),
        ("const apiKey: string = '", "kJ8wq2Lm9ZrTTx81", "';\n"),
        ("db_password: Option<String> = \"", "kJ8wq2Lm9ZrTTx81", "\"\n"),
        ("postgres://app:", "kJ8wq2%2FLm9ZrTTx81", "@db.example/x\n"),
        ("postgres://app:", "kJ8wq2%40Lm9ZrTTx81", "@db.example/x@y\n"),
        ("postgres://app:", "kJ8wq2@Lm9ZrTTx81", "@db.example/x@y\n"),
        ("postgres://app:", "kJ8wq2/Lm9ZrTTx81%23", "@db.example/x\n"),
        ("redis://:", "kJ8$q2*m9", "@db.example/x\n"),
        ("password = \"", "@kJ8wq2Lm9ZrTTx81", "\"\n"),
        ("password = \"", "kJ8w..q2Lm9ZrTTx81", "\"\n"),
        ("DB_PASSWORD=", "!kJ8wq2Lm9ZrTTx81", "\n"),
        ("password: '", "#kJ8wq2Lm9ZrTTx81", "'\n"),
        ("password = \"", "correct-horse-battery-staple", "\"\n"),
        ("password = \"", "xkqlmzrwtp", "\"\n"),
        ("Authorization: Basic ", "YXBwOmtKOHdxMkxtOVpy", "\n"),
    ] {
        let text = format!("{before}{secret}{behind}");
        let masked = redact_text(&Secrets::default(), &text).0;
        let is_masked = masked.starts_with(&format!("{before}[redacted:")) && masked.ends_with(&format!("]{behind}"));
        assert!(is_masked, "{masked}");
        for cut in 0..text.len() {
            let output = redacted(&[&text.as_bytes()[..cut], &text.as_bytes()[cut..]]);
            assert!(!leaks(secret.as_bytes(), &output), "{text} cut at {cut}: {}", String::from_utf8_lossy(&output));
        }
    }
}
