//! What must stay: source code, and generated text full of ids, digests and images.
//! The bound for source is one alarm in two megabytes; for ids, digests and images it is none.
//! Large source trees are measured with `cargo xtask bench redaction --sources DIR`.

use std::path::{Path, PathBuf};

use super::{false_hits, redacted};
use crate::tests::Random;
use crate::{Secrets, redact_text};

fn sources(directory: &Path, extensions: &[&str], found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            sources(&path, extensions, found);
        } else if path.extension().is_some_and(|extension| extensions.iter().any(|wanted| extension == *wanted)) {
            found.push(path);
        }
    }
}

/// What is masked in files that hold no secret.
#[derive(Default)]
struct Alarms {
    bytes: usize,
    /// File, rule, and what was masked between the text around it.
    hits: Vec<String>,
}

impl Alarms {
    fn of<'a>(files: impl Iterator<Item = &'a PathBuf>) -> Alarms {
        let mut alarms = Alarms::default();
        for file in files {
            let Ok(text) = std::fs::read_to_string(file) else { continue };
            alarms.bytes += text.len();
            alarms.hits.extend(false_hits(text.as_bytes()).iter().map(|hit| format!("{}: {hit}", file.display())));
        }
        alarms
    }
}

/// At most one false alarm in two megabytes; files of tests that hold made-up secrets on purpose are left out by name.
#[test]
fn our_own_source_stays() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &["rs", "toml"], &mut files);
    let Alarms { bytes, hits } = Alarms::of(files.iter().filter(|file| !is_about_secrets(file)));
    assert!(bytes > 500_000, "there is something to look at: {bytes}");
    assert!(hits.len() * 2_000_000 <= bytes, "{} in {bytes} bytes:\n{}", hits.len(), hits.join("\n"));
}

fn is_about_secrets(file: &Path) -> bool {
    let tests = [
        "redact/src/tests.rs",
        "keeper/scene.rs",
        "task_run/tests.rs",
        "task_run/import_tests.rs",
        "e2e/secrets.rs",
        "e2e/handover.rs",
        "e2e/custom_agents/session_verb.rs",
        "e2e/real/finish.rs",
        "e2e/real/session_tools.rs",
    ];
    let path = file.to_string_lossy();
    path.contains("redact/src/corpus/") || tests.iter().any(|test| path.ends_with(test))
}

/// Lines of real programs that were taken for secrets.
#[test]
fn code_of_other_languages_stays() {
    for line in [
        "#define EFI_KEY_x 1\nEFI_KEY = 0x0000000a\n",
        "TokenKey: refresh_token\n",
        "key = win32api.RegEnumKey(handle, index)\n",
        "exports.getSetCookies = getSetCookies;\n",
        "pub const HKEY_LOCAL_MACHINE: HKEY = -2147483646i32 as _;\n",
        "ClientEarlyTrafficSecret => \"CLIENT_EARLY_TRAFFIC_SECRET\",\n",
        "// Parse offset datetime `key = 1979-05-27T07:32:00Z`.\n",
        "DAEMON_ADDRESS_KEY = \"AWS_XRAY_DAEMON_ADDRESS\"\n",
        "client = Client(access_key=self.access_key, secret_key=secret_key)\n",
        "    aws_secret_access_key=credentials.secret_key,\n    password=password,\n",
        "const OID_EC_PUBLIC_KEY = '1.2.840.10045.2.1';\n",
        "exports.GRANT_TYPE_REFRESH_TOKEN = 'refresh_token';\n",
        "exports.SignatureV4SignWithCredentials = SignatureV4SignWithCredentials;\n",
        "fetch(url, { credentials: \"same-origin\" })\n",
        "source: credential ? \"stored credential\" : \"environment\",\n",
        "\"Resource\":\"arn:aws:secretsmanager:*:*:secret:aws/ssm/3p/*\",\n",
        "\"AWS::ApiGateway::ApiKey\": \"48205d4ffd7feba3\",\n",
        "MLKEM768X25519PrivateKey = rust_openssl.hpke.MLKEM768X25519PrivateKey\n",
        "Authorization: tokens3.token_type + \" \" + tokens.access_token\n",
        "ACCESS_KEY = 'AWSAccessKeyId'\nSECRET_KEY = 'AWSSecretKey'\n",
        "    'en_sg':    'en_SG.ISO8859-1',\n",
        "ctx.load_cert_chain(PROTECTED, password=getpass_unicode)\n",
        "pub const VK_PAD_A: XINPUT_VIRTUAL_KEY = 22528u16;\npub const NTE_BAD_KEY: HRESULT = -2146893821i32;\n",
        "pub static kSecClassGenericPassword: CFStringRef;\n    pub passphrase: CFTypeRef,\n",
        "pub const InheritPublicKey: X509RequestInheritOptions = 4i32;\n    pub Authorization: WINBIO_PRESENCE_0,\n",
        "title: f(GEMMA_4_31B_IT_MODEL),\nkey: GEMMA_4_31B_IT_MODEL\n",
        "exports.ENV_KEY=ENV_KEY;exports.ENV_SECRET=ENV_SECRET;useBearerToken=bearerToken!==void 0&&!skipAuth;\n",
        "this.secret=this.privateKey=this.key=secretStream,clientSecret=this.#clientAuthentication.clientSecret||\"\"\n",
        "KEY_PASSWORD = \"somepass\"\nsmtp.password = 'doesnotexist'\n\"password\": \"incorrect\", PASSWD = 'testPass'\n",
        "password = \"password\"\ntoken: 'your-token-here'\napi_key=<token>\nsecret = 'changeme'\npassword: xxxxxxxx\n",
        "http://foo:bar@example.com ftp://rms:secret123@example.com http://Aladdin:opensesame@localhost:8887\n",
        "headers={\"Authorization\": \"Basic dXNlcjpwYXNz\"}, b'Authorization: Digest username=\"user\", '\n",
        "\"Sec-WebSocket-Key\": \"dGhlIHNhbXBsZSBub25jZQ==\"\n",
        "key=\"-----BEGIN PRIVATE KEY-----\\nXXXX\\nXXXX\\n-----END PRIVATE KEY-----\"\n",
        "wasm(\"AGFzbQEAAAAAEAhkeWxpbmsuMAEFjFsEHgABvwEaYAF/AX9gAn9/AX9gAX8AYAN/f38AYAN/f38Bf2ACf38AYAR/\")\n",
        ".. _`RFC6749#Authorization`: https://tools.ietf.org/html/rfc6749#section-3.1\n",
    ] {
        assert_eq!(redact_text(&Secrets::default(), line), (line.to_owned(), 0));
    }
}

#[test]
fn ids_digests_and_images_stay() {
    let mut random = Random(41);
    let mut draw = |set: &[u8], length: usize| -> String {
        (0..length).map(|_| char::from(set[random.below(set.len())])).collect()
    };
    let (hex, base64) = (b"0123456789abcdef", b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    let mut text = String::new();
    for _ in 0..300 {
        text += &format!("commit {}\n{}  file\n", draw(hex, 40), draw(hex, 64));
        text += &format!("{}-{}-7{}-9{}-{}\n", draw(hex, 8), draw(hex, 4), draw(hex, 3), draw(hex, 3), draw(hex, 12));
        text += &format!("checksum = \"{}\"\n\"integrity\": \"sha512-{}==\"\n", draw(hex, 64), draw(base64, 86));
        text += &format!(
            "h1:{}= sha256:{} index {}..{} 100644\n",
            draw(base64, 43),
            draw(hex, 64),
            draw(hex, 7),
            draw(hex, 7)
        );
    }
    for _ in 0..10 {
        text += &format!("{{\"image\":\"data:image/png;base64,iVBORw0KGgo{}\"}}\n", draw(base64, 40_000));
    }
    let output = redacted(&text.as_bytes().chunks(8192).collect::<Vec<_>>());
    let first = text.bytes().zip(&output).position(|(one, other)| one != *other);
    assert!(
        output == text.as_bytes(),
        "at {first:?}: {}",
        String::from_utf8_lossy(&output[first.unwrap_or(0)..][..80])
    );
}
