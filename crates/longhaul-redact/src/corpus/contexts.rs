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
    ("escaped quote", |token| format!("{}\n", json!({"a": format!("say \"{token}\" twice")})).into()),
    ("escaped line break", |token| format!("{}\n", json!({"a": format!("one\n{token}\ntwo")})).into()),
    ("twice escaped line break", |token| {
        let inner = json!({"b": format!("one\n{token}\ntwo")}).to_string();
        format!("{}\n", json!({"a": inner})).into()
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
    ("wrapped", |token| wrapped(token, "").into()),
    ("wrapped in JSON", |token| format!("{}\n", json!({"type": "tool", "output": wrapped(token, "")})).into()),
    ("hanging indent", |token| indented(token).into()),
    ("hanging indent in JSON", |token| format!("{}\n", json!({"type": "tool", "output": indented(token)})).into()),
    ("HTML cell", |token| format!("<tr><td>{token}</td><td>{token}</td></tr>\n").into()),
    ("HTML attribute", |token| format!("<input value=\"{token}\"/>\n").into()),
    ("Markdown table", |token| format!("| name | {token} |\n").into()),
    ("end of a line", |token| format!("it is {token}\nand The next line\n").into()),
];

/// Wrapped, with the next lines indented, as lists and help texts are.
fn indented(token: &str) -> String {
    wrapped(token, "    ")
}

/// A line of more than 80 columns, wrapped there; the token is cut behind what tells it.
fn wrapped(token: &str, indent: &str) -> String {
    let telling = token.rfind([':', '.', '~', '/', '=', ' ']).map_or(0, |at| at + 6).min(token.len() - 1);
    let cut = telling.max(token.len() / 2).min(79);
    let before: String = "as wide as the screen is ".chars().cycle().take(79 - cut).collect();
    let text = format!("{before} {token} and more\n");
    let (first, rest) = text.split_at(text.len().min(80));
    let rest =
        rest.as_bytes().chunks(80 - indent.len()).map(|line| format!("\n{indent}{}", String::from_utf8_lossy(line)));
    first.to_owned() + &rest.collect::<String>()
}
