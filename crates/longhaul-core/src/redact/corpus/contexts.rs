//! What tokens stand in: prose, code, files, terminals, records.
//! Used by `tokens` with every format; a context never changes the token but by what it is about.

use serde_json::json;

/// A name and a function that puts a token there.
pub(super) type Context = (&'static str, fn(&str) -> Vec<u8>);

pub(super) const CONTEXTS: &[Context] = &[
    ("blank", |token| format!("use {token} now\n").into()),
    ("end", |token| format!("it is {token}").into()),
    ("alone", |token| token.into()),
    ("double quotes", |token| format!("say \"{token}\" twice\n").into()),
    ("single quotes", |token| format!("say '{token}' twice\n").into()),
    ("comma", |token| format!("a,{token},b\n").into()),
    ("brackets", |token| format!("f({token}) [{token}] {{{token}}}\n").into()),
    ("escaped quote", |token| format!("{{\"a\":\"say \\\"{token}\\\" twice\"}}\n").into()),
    ("escaped line break", |token| format!("{{\"a\":\"one\\n{token}\\ntwo\"}}\n").into()),
    ("twice escaped line break", |token| {
        format!("{{\"a\":\"{{\\\"b\\\":\\\"one\\\\n{token}\\\\ntwo\\\"}}\"}}\n").into()
    }),
    ("query", |token| format!("GET https://example.com/?a=1&t={token}&b=2 HTTP/1.1\n").into()),
    ("markup", |token| format!("<b>{token}</b>\n").into()),
    ("sentence", |token| format!("The token is {token}. It works.\n").into()),
    ("colour", |token| format!("\x1b[1;32m{token}\x1b[0m ok\n").into()),
    ("colour inside", |token| {
        let half = token.len() / 2;
        format!("see {}\x1b[31m{}\x1b[0m\n", &token[..half], &token[half..]).into()
    }),
    ("colour in JSON", |token| {
        let third = token.len() / 3;
        let text = format!("see \x1b[33m{}\x1b[31m{}\x1b[0m\n", &token[..third], &token[third..]);
        format!("{}\n", json!({"text": text})).into()
    }),
    ("no width", |token| {
        let half = token.len() / 2;
        format!("see {}\u{200b}{}\n", &token[..half], &token[half..]).into()
    }),
    ("glued", |token| format!("x{token}\n").into()),
    ("colon", |token| format!("a:{token}:b\n").into()),
    ("backslash", |token| format!("\\{token}\\ \n").into()),
    ("export", |token| format!("export THING={token}\n").into()),
    ("YAML", |token| format!("thing: {token}\nother: 1\n").into()),
    ("TOML", |token| format!("thing = \"{token}\"\n").into()),
    ("environment", |token| format!("A=b\0THING={token}\0HOME=/root\0").into()),
    ("diff", |token| format!("@@ -1 +1 @@\n+{token}\n-{token}\n").into()),
    ("line ends of two bytes", |token| format!("a\r\n{token}\r\nb\r\n").into()),
    ("Markdown", |token| format!("Use `{token}` or\n```\n{token}\n```\n").into()),
    ("record", |token| format!("{}\n", json!({"type": "tool", "output": format!("{token}\n"), "ok": true})).into()),
    ("record in record", |token| {
        let inner = json!({"stdout": format!("A\n{token}\tB")}).to_string();
        format!("{}\n", json!({"type": "tool", "output": inner})).into()
    }),
    ("noise", |token| {
        let mut text = vec![0x1f, 0x8b, 8, 0, 0xff, 0xfe, 0xe2];
        text.extend_from_slice(token.as_bytes());
        text.extend_from_slice(&[0x80, 0x1b, 0xc2]);
        text
    }),
    ("wrapped", |token| {
        let text = format!("curl: this line is meant to be as long as the screen is wide. {token} and more\n");
        let lines: Vec<&[u8]> = text.as_bytes().chunks(80).collect();
        lines.join(&b'\n')
    }),
];
