//! Rule: what people read is plain English: strings of shipped code, `--help` texts and the pages (`*.md`).
//! Called by `check`; it finds whole words and phrases, across line breaks too, and knows nothing of grammar.
//! Stored names are no text for people, and the files that hold them are not read.

use super::Violation;
use super::source::{Page, SourceFile};

/// Files that are not read: this one holds the phrases, the others hold stored names, the event `told` and columns.
const NOT_READ: &[&str] = &[
    "xtask/src/check/dialect.rs",
    "crates/longhaul-core/src/task/event.rs",
    "crates/longhaul-store/src/sqlite/accounts.rs",
    "crates/longhaul-store/src/sqlite/outbox.rs",
    "docs/reference/states.md",
];
/// Doc comments here become the text of `--help`.
const HELP: &[&str] = &["crates/longhaul/src/cli"];

/// A word or phrase, and what to write instead.
const PHRASES: &[(&str, &str)] = &[
    ("go on", "continue, resume"),
    ("goes on", "continues, resumes"),
    ("going on", "continuing"),
    ("gone on", "continued, resumed"),
    ("went on", "continued, resumed"),
    ("mend", "fix"),
    ("mends", "fixes"),
    ("mended", "fixed"),
    ("anew", "again"),
    ("take away", "remove"),
    ("takes away", "removes"),
    ("taken away", "removed"),
    ("took away", "removed"),
    ("leave it away", "drop it"),
    ("told", "reported, shown, warned"),
    ("says so", "warns, reports it"),
    ("say so", "warn, report it"),
    ("is said", "is reported"),
    ("nobody knows", "unknown"),
    ("of its own", "its own"),
    ("of their own", "their own"),
    ("of your own", "your own"),
    ("stands", "is"),
    ("lies", "is"),
    ("comes to", "is, results in"),
    ("is none", "does not exist, there is no"),
    ("heed", "respect"),
    ("heeded", "respected"),
    ("otherwise than", "not as"),
    ("for now failed", "temporary failure"),
    ("what each was for", "purpose"),
    ("afresh", "from the start, in a new conversation"),
    ("as asked", "on request"),
    ("by itself", "automatically"),
    ("can not", "cannot"),
    ("exists already", "already exists"),
    ("for ever", "forever"),
    ("needs help", "needs you"),
    ("of yours", "your"),
    ("speaks of", "refers to"),
    ("tells of", "is about, refers to"),
    ("there again", "back, available again"),
    ("a stranger", "untrusted, someone else"),
    ("are not there", "do not exist, are missing"),
    ("came to", "was, resulted in"),
    ("comes about", "is made, arises"),
    ("each once", "without repeats"),
    ("is not there", "does not exist, is missing"),
    ("more than nothing", "more than zero"),
    ("must be there", "is required"),
    ("tells no", "does not report"),
    ("without a question", "without asking"),
    ("is no program", "was not found"),
    ("makes no sense", "is invalid"),
    ("waited out", "waited for"),
];

/// Finds phrases of the table.
pub(super) fn violations(files: &[SourceFile], pages: &[Page]) -> Vec<Violation> {
    let in_files = files.iter().map(|file| (&*file.path, hits_in_file(file)));
    let in_pages = pages.iter().map(|page| (&*page.path, hits(1, &page.text)));
    let found = in_files.chain(in_pages).filter(|(path, _)| !NOT_READ.contains(path));
    found.flat_map(|(path, hits)| hits.into_iter().map(|hit| hit.violation(path))).collect()
}

struct Hit {
    line: usize,
    phrase: &'static str,
    instead: &'static str,
}

impl Hit {
    fn violation(&self, path: &str) -> Violation {
        Violation {
            rule: "dialect",
            place: format!("{path}:{}", self.line),
            what: format!("`{}` is not plain English", self.phrase),
            remedy: format!("rewrite the sentence; an ordinary word is: {}", self.instead),
        }
    }
}

fn hits_in_file(file: &SourceFile) -> Vec<Hit> {
    let strings = file.strings.iter().flat_map(|(line, text)| hits(*line, text));
    let help = file.text.lines().enumerate().filter(|_| file.is_below(HELP));
    let help = help.filter(|(_, line)| line.trim_start().starts_with("///"));
    strings.chain(help.flat_map(|(index, line)| hits(index + 1, line))).collect()
}

fn hits(first_line: usize, text: &str) -> Vec<Hit> {
    let words = words(first_line, text);
    let starts = |at: usize, phrase: &str| {
        let mut rest = words[at..].iter().map(|(_, word)| word.as_str());
        phrase.split(' ').all(|wanted| rest.next() == Some(wanted))
    };
    let phrases = |at: usize| PHRASES.iter().filter(move |(phrase, _)| starts(at, phrase));
    let hit = |at: usize| phrases(at).map(move |(phrase, instead)| (at, *phrase, *instead));
    let found = (0..words.len()).flat_map(hit);
    found.map(|(at, phrase, instead)| Hit { line: words[at].0, phrase, instead }).collect()
}

/// The words in lower case with their lines; anything but letters, digits and blanks between two words is an empty one.
fn words(first_line: usize, text: &str) -> Vec<(usize, String)> {
    let mut words: Vec<(usize, String)> = Vec::new();
    for (index, line) in text.split('\n').enumerate() {
        for part in line.split_whitespace() {
            for word in part.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_') {
                let bare = word.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '_');
                words.push((first_line + index, bare.to_lowercase()));
                if bare.len() < word.len() && !bare.is_empty() {
                    words.push((first_line + index, String::new()));
                }
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::super::source::{Page, sources};
    use super::{PHRASES, violations};

    const CODE: &str = "crates/a/src/b.rs";

    fn in_code(text: &str) -> Vec<String> {
        in_file(CODE, text)
    }

    fn in_file(path: &str, text: &str) -> Vec<String> {
        let found = violations(&sources(vec![(path.to_owned(), text.to_owned())]), &[]);
        found.into_iter().map(|violation| violation.place).collect()
    }

    fn in_page(text: &str) -> Vec<String> {
        page_at("docs/guide/a.md", text)
    }

    fn page_at(path: &str, text: &str) -> Vec<String> {
        let page = Page { path: path.to_owned(), text: text.to_owned() };
        violations(&[], &[page]).into_iter().map(|violation| violation.place).collect()
    }

    #[test]
    fn every_phrase_is_found_in_strings_and_pages() {
        for (phrase, _) in PHRASES {
            assert_eq!(
                in_code(&format!("\nconst A: &str = \"it {phrase} here\";\n")),
                [format!("{CODE}:2")],
                "{phrase}"
            );
            assert_eq!(in_code(&format!("const A: &str = r#\"{phrase}\"#;")), [format!("{CODE}:1")], "{phrase}");
            assert_eq!(in_page(&format!("# Head\n\nIt {phrase}.\n")), ["docs/guide/a.md:3"], "{phrase}");
        }
    }

    #[test]
    fn capitals_marks_and_line_breaks_hide_nothing() {
        assert_eq!(in_page("It (Goes\non) works, *told*.\n"), ["docs/guide/a.md:1", "docs/guide/a.md:2"]);
        assert_eq!(in_code("const A: &str = \"a\n   task goes on\";\n"), [format!("{CODE}:2")]);
    }

    #[test]
    fn parts_of_words_and_phrases_across_sentences_pass() {
        for text in ["It amends and recommends.", "retold understands", "It goes. On top of it.", "is_told mend_all"] {
            assert_eq!(in_page(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn names_comments_and_tests_are_not_read_but_help_is() {
        for text in
            ["fn told() {} // it goes on", "#[cfg(test)]\nmod tests { const A: &str = \"told\"; }", "/// Is told."]
        {
            assert_eq!(in_code(text), Vec::<String>::new(), "{text}");
        }
        let help = "crates/longhaul/src/cli/task.rs";
        assert_eq!(in_file(help, "    /// Is told\n"), [format!("{help}:1")]);
    }

    #[test]
    fn stored_names_pass_where_they_are_and_nowhere_else() {
        assert_eq!(page_at("docs/reference/states.md", "It is told."), Vec::<String>::new());
        assert_eq!(page_at("docs/reference/limits.md", "It is told."), ["docs/reference/limits.md:1"]);
    }
}
