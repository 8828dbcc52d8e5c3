//! The picture of the board in the README: a screen drawn by the board itself, as SVG. `UPDATE_DOCS=1` writes it; a stale one fails.
//! Every run of equal cells is a text of a fixed length, so that columns stay straight in any font.

use jiff::tz::TimeZone;
use longhaul_app::follow::Item;
use longhaul_app::operations::Listing;
use longhaul_app::report::Checks;
use longhaul_app::views::{
    ActorView, Attempts, Choices, EventFacts, EventView, Outcome, PlanView, Progress, ShowView, StepView, TaskView,
    WaitView, WorkspaceView,
};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use crate::board::model::{Action, Message, Model};
use crate::board::seen::News;
use crate::board::text_rows::Palette;
use crate::board::view;
use crate::commands::list::board::tests::{NOW, task};
use crate::when::When;
use crate::width::columns;

const SIZE: (u16, u16) = (100, 28);
const CELL: (f32, f32) = (8.4, 18.0);
const PLACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/board.svg");

fn running(name: &str, step: &str, agent: &str, minutes: i64, cost: Option<f64>, done: u32, total: u32) -> TaskView {
    TaskView {
        step: Some(step.into()),
        agent: agent.into(),
        cost_usd: cost,
        progress: Some(Progress { done, total }),
        ..task(name, "working", Outcome::Running, minutes)
    }
}

fn done(name: &str, minutes: i64, steps: u32, cost: f64) -> TaskView {
    TaskView {
        is_finished: true,
        status: "done, verified".into(),
        result: Some("verified".into()),
        branch: Some(format!("longhaul/{name}")),
        progress: Some(Progress { done: steps, total: steps }),
        cost_usd: Some(cost),
        ..task(name, "done", Outcome::Done, minutes)
    }
}

fn tasks() -> Vec<TaskView> {
    let until = Some("2026-11-18T14:05:00Z".to_owned());
    let limit = WaitView { why: "usage limit".into(), until, agent: Some("codex".into()) };
    let asks = "needs you: the agent asks: may I raise the minimum Rust version to 1.95?";
    vec![
        TaskView { status: asks.into(), ..task("port-parser", "needs_help", Outcome::NeedsPerson, 3) },
        TaskView { progress: None, ..task("fix-login", "paused", Outcome::NeedsPerson, 12) },
        running("list-items", "list items by date", "claude", 41, Some(3.12), 2, 6),
        running("release-notes", "a section for each breaking change", "codex", 7, Some(0.4), 1, 3),
        TaskView {
            wait: Some(limit),
            status: "waiting (usage limit of codex) until 2026-11-18T14:05:00Z".into(),
            ..task("translate-docs", "waiting", Outcome::Waiting, 55)
        },
        done("upgrade-deps", 120, 4, 1.87),
        done("remove-dead-code", 150, 3, 0.92),
    ]
}

fn event(seq: u64, at: &str, sentence: &str) -> News {
    let actor =
        ActorView { principal: "worker".into(), scope: "worker".into(), session_id: None, channel: None, key_id: None };
    let facts = EventFacts::default();
    let at = format!("2026-11-18T{at}:00Z");
    News::Item(Item::Event(Box::new(EventView { seq, at, actor, kind: "picture", sentence: sentence.into(), facts })))
}

fn step(number: u32, text: &str, ticked: bool) -> StepView {
    StepView { number, text: text.into(), phase: None, ticked }
}

fn show(task: TaskView) -> ShowView {
    let steps = vec![
        step(1, "read the grammar and its tests", true),
        step(2, "port the lexer", true),
        step(3, "port the expressions", false),
        step(4, "remove the old parser", false),
    ];
    ShowView {
        goal: "Port the parser to winnow. Keep the public API and all tests.".into(),
        status: task.status.clone(),
        next_step: "answer with `longhaul resume port-parser --reason \"...\"`".into(),
        task,
        result: None,
        owner: None,
        owner_status: String::new(),
        live: None,
        held_by: None,
        choices: Choices {
            fallbacks: vec!["codex".into()],
            model: None,
            sandbox: "workspace".into(),
            network: Vec::new(),
            context: "auto".into(),
            on_limit: "switch".into(),
            hours: None,
            prompts: Vec::new(),
        },
        conversation: None,
        agent_limits: Vec::new(),
        handover: None,
        warnings: Vec::new(),
        workspace: WorkspaceView {
            directory: String::new(),
            kind: None,
            branch: None,
            base: None,
            task_directory: String::new(),
        },
        after: None,
        retry_of: None,
        idle_ms: 0,
        used: "3 sessions, 21m 04s of work, 48210 tokens".into(),
        attempts: Attempts { failed: 0, allowed: 5 },
        limits: Vec::new(),
        guidance: Vec::new(),
        verification: Checks {
            possible: true,
            round: None,
            criteria: Vec::new(),
            checks: Vec::new(),
            expected_files: Vec::new(),
            earlier_rounds: Vec::new(),
        },
        plan: Some(PlanView {
            revision: 1,
            hash: String::new(),
            progress: Progress { done: 2, total: 4 },
            percent: 50,
            current: Some(3),
            steps,
        }),
        run: None,
        degraded: 0,
        sessions: Vec::new(),
        notices: Vec::new(),
        next: None,
    }
}

fn board() -> Model {
    let mut model = Model::new(SIZE, When::at(NOW, TimeZone::UTC), Palette { colours: true }, "shop".to_owned());
    let listing = Listing { tasks: tasks(), next: None, has_older: false, damaged: Vec::new() };
    let actions = model.update(Message::Listed(Ok(listing)));
    let [Action::Look { generation, .. }] = actions[..] else { panic!("{actions:?}") };
    let shown = tasks().swap_remove(0);
    let shown = TaskView { cost_usd: Some(1.2), sessions: 3, progress: None, ..shown };
    model.update(Message::News(generation, News::Show(Ok(Box::new(show(shown))))));
    model.update(Message::News(generation, event(1, "11:41", "work session 3 started with claude")));
    model.update(Message::News(generation, event(2, "11:57", "the agent asks for help")));
    model
}

/// The colours of a terminal with a dark background: those of the text and behind it.
fn colours(cell: &Cell) -> (&'static str, &'static str) {
    let (front, back) = match cell.fg {
        Color::Red => ("#ff7b72", "#0d1117"),
        Color::Yellow => ("#e3b341", "#0d1117"),
        Color::Green => ("#7ee787", "#0d1117"),
        _ if cell.modifier.contains(Modifier::DIM) => ("#8b949e", "#0d1117"),
        _ => ("#e6edf3", "#0d1117"),
    };
    if cell.modifier.contains(Modifier::REVERSED) { (back, front) } else { (front, back) }
}

/// Cells beside each other that look alike.
fn run(buffer: &Buffer, x: u16, y: u16) -> (String, u16) {
    let look = |x: u16| (colours(&buffer[(x, y)]), buffer[(x, y)].modifier.contains(Modifier::BOLD));
    let (mut text, mut at) = (String::new(), x);
    while at < buffer.area.width && look(at) == look(x) {
        let symbol = buffer[(at, y)].symbol();
        text.push_str(symbol);
        at += u16::try_from(columns(symbol)).unwrap().max(1);
    }
    (text, at - x)
}

fn svg(buffer: &Buffer) -> String {
    let (wide, high) = (f32::from(buffer.area.width) * CELL.0 + 16.0, f32::from(buffer.area.height) * CELL.1 + 16.0);
    let font = "font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, monospace\" font-size=\"14\"";
    let mut lines = vec![
        format!("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {wide:.1} {high:.1}\" {font}>"),
        "<title>The board of longhaul: tasks in groups, and the selected one in detail</title>".to_owned(),
        format!("<rect width=\"{wide:.1}\" height=\"{high:.1}\" rx=\"8\" fill=\"#0d1117\"/>"),
    ];
    for y in 0..buffer.area.height {
        let mut x = 0;
        while x < buffer.area.width {
            let (text, cells) = run(buffer, x, y);
            lines.extend(drawn(&buffer[(x, y)], &text, (x, y), cells));
            x += cells;
        }
    }
    lines.push("</svg>\n".to_owned());
    lines.join("\n")
}

fn drawn(cell: &Cell, text: &str, (x, y): (u16, u16), cells: u16) -> Vec<String> {
    let (left, top, wide) = (f32::from(x) * CELL.0 + 8.0, f32::from(y) * CELL.1 + 8.0, f32::from(cells) * CELL.0);
    let (front, back) = colours(cell);
    let behind = (back != "#0d1117")
        .then(|| format!("<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"18\" fill=\"{back}\"/>"));
    let bold = if cell.modifier.contains(Modifier::BOLD) { " font-weight=\"bold\"" } else { "" };
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let base = top + 13.0;
    let written = (!text.trim().is_empty()).then(|| {
        format!(
            "<text x=\"{left:.1}\" y=\"{base:.1}\" textLength=\"{wide:.1}\" lengthAdjust=\"spacingAndGlyphs\" \
             fill=\"{front}\"{bold} xml:space=\"preserve\">{escaped}</text>"
        )
    });
    behind.into_iter().chain(written).collect()
}

#[test]
fn the_picture_in_the_readme_is_fresh() {
    let mut terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).unwrap();
    terminal.draw(|frame| view::draw(&board(), frame)).unwrap();
    let fresh = svg(terminal.backend().buffer());
    assert!(fresh.contains(">needs you") || fresh.contains("need you"), "{fresh}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(PLACE, &fresh).unwrap();
    }
    assert_eq!(std::fs::read_to_string(PLACE).unwrap_or_default(), fresh, "UPDATE_DOCS=1 writes it");
}
