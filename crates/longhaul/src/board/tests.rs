//! Whole screens of the board, drawn as a terminal would show them, with a fixed clock and without colours.
//! Keys go in, screens and actions come out.

mod guide;
mod picture;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::tz::TimeZone;
use longhaul_app::operations::Listing;
use longhaul_app::views::TaskView;
use longhaul_app::{AppError, Choice, Choices, ErrorKind, Missing};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::model::{Action, Message, Model};
use super::orders::{Order, Reply};
use super::text_rows::Palette;
use super::view;
use crate::commands::list::board::tests::{NOW, ten};
use crate::when::When;
use crate::width::columns;

/// A board of this size with these tasks.
fn board_of(size: (u16, u16), tasks: Vec<TaskView>) -> Model {
    let palette = Palette { colours: false };
    let mut model = Model::new(size, When::at(NOW, TimeZone::UTC), palette, "todo".to_owned());
    model.update(Message::Listed(Ok(Listing { tasks, next: None, has_older: false, damaged: Vec::new() })));
    model
}

fn board(size: (u16, u16)) -> Model {
    board_of(size, ten())
}

/// What a terminal shows, row by row, without spaces at the ends.
fn screen(model: &Model) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(model.size.0, model.size.1)).unwrap();
    terminal.draw(|frame| view::draw(model, frame)).unwrap();
    let buffer = terminal.backend().buffer();
    // The cell behind a wide character belongs to it.
    let row = |y| {
        let (mut text, mut x) = (String::new(), 0);
        while x < buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            text.push_str(symbol);
            x += u16::try_from(columns(symbol)).unwrap().max(1);
        }
        text.trim_end().to_owned()
    };
    (0..buffer.area.height).map(row).collect()
}

fn press(model: &mut Model, keys: &str) -> Vec<Action> {
    keys.chars().flat_map(|key| press_code(model, KeyCode::Char(key))).collect()
}

fn press_code(model: &mut Model, code: KeyCode) -> Vec<Action> {
    model.update(Message::Key(KeyEvent::new(code, KeyModifiers::NONE)))
}

fn selected(model: &Model) -> &str {
    model.tasks.selected().map_or("", |task| task.name.as_str())
}

#[test]
fn ten_tasks_in_four_groups_at_80_by_24() {
    let expected = [
        " longhaul  todo  2 need you · 4 running · 1 waiting",
        " NEEDS YOU",
        ">! auth              the agent refuses to work: not logged in …    2/6    3m ago",
        " ! held-up           paused                                        2/6   12m ago",
    ];
    let shown = screen(&board((80, 24))).join("\n");
    assert!(shown.starts_with(&expected.join("\n")), "{shown}");
    let titles = ["NEEDS YOU", "RUNNING", "WAITING", "DONE"].map(|title| shown.find(&format!("\n {title}")));
    assert!(titles.is_sorted() && titles.iter().all(Option::is_some), "{shown}");
    assert!(shown.contains("── auth ── [Detail] Log  Diff  ──") && shown.ends_with("q quit"), "{shown}");
    assert!(!shown.contains("needs_help"), "no stored names: {shown}");
}

#[test]
fn every_size_shows_a_screen_and_columns_stay_where_they_are() {
    for width in [1, 10, 40, 80, 149, 150, 200] {
        for height in [1, 2, 5, 12, 24, 50] {
            let mut model = board((width, height));
            press(&mut model, "?");
            assert_eq!(screen(&model).len(), usize::from(height));
        }
    }
    // The columns after Chinese and after right-to-left text are where they are in the other rows.
    let mut tasks = ten();
    tasks[6].step = None;
    tasks[6].status = "مرحبا بالعالم".to_owned();
    let model = board_of((120, 24), tasks);
    let mut terminal = Terminal::new(TestBackend::new(120, 24)).unwrap();
    terminal.draw(|frame| view::draw(&model, frame)).unwrap();
    let buffer = terminal.backend().buffer();
    let column = |y: u16, text: &str| {
        let cells: Vec<&str> = (0..120).map(|x| buffer[(x, y)].symbol()).collect();
        cells.windows(text.len()).position(|cells| cells.concat() == text)
    };
    let agents: Vec<_> = (0..24).filter_map(|y| column(y, "  claude")).collect();
    assert_eq!(agents.len(), 4, "the running ones");
    assert!(agents.iter().all(|place| *place == agents[0]), "{agents:?}");
}

#[test]
fn keys_move_through_the_list_and_the_list_scrolls() {
    let mut model = board((80, 24));
    let first = model.update(Message::Resized((80, 24)));
    assert_eq!(first, [], "the first task is followed already");
    let moved = press(&mut model, "j");
    assert!(
        matches!(&moved[..], [Action::Look { task: Some(task), generation: 2 }] if task.contains("held-up")),
        "{moved:?}"
    );
    press(&mut model, "G");
    assert_eq!(selected(&model), "gone");
    assert!(press(&mut model, "j").is_empty(), "there is no further task");
    press(&mut model, "gk");
    assert_eq!(selected(&model), "auth");
    let mut small = board((60, 8));
    press(&mut small, "G");
    assert!(screen(&small).iter().any(|row| row.starts_with(">✗ gone")), "{:#?}", screen(&small));
    press(&mut small, "g");
    assert!(screen(&small)[1].ends_with("NEEDS YOU"), "the heading too: {:#?}", screen(&small));
}

#[test]
fn a_filter_narrows_the_list_and_escape_clears_it() {
    let mut model = board((80, 24));
    press(&mut model, "/LIM");
    let shown = screen(&model).join("\n");
    assert!(shown.contains(">◔ docs") && shown.contains("✓ lim") && !shown.contains("auth"), "{shown}");
    assert!(shown.ends_with(" / LIM"), "{shown}");
    press_code(&mut model, KeyCode::Enter);
    press(&mut model, "j");
    assert_eq!(selected(&model), "lim");
    assert!(screen(&model).join("\n").contains("[LIM]"), "what is left out is not forgotten");
    press(&mut model, "/q");
    assert!(screen(&model).join("\n").contains("No task matches `q`"));
    press_code(&mut model, KeyCode::Esc);
    assert_eq!(model.tasks.count(), (10, 10));
}

#[test]
fn a_task_that_moves_to_another_group_stays_selected() {
    let mut model = board((80, 24));
    press(&mut model, "jjj");
    let name = selected(&model).to_owned();
    let mut tasks = ten();
    let moved = tasks.iter_mut().find(|task| task.name == name).unwrap();
    (moved.is_finished, moved.updated) = (true, "2026-11-18T12:00:00Z".to_owned());
    let listing = |tasks| Message::Listed(Ok(Listing { tasks, next: None, has_older: false, damaged: Vec::new() }));
    assert_eq!(model.update(listing(tasks)), [Action::LookAgain]);
    assert_eq!(selected(&model), name);
    assert!(matches!(&model.update(listing(Vec::new()))[..], [Action::Look { task: None, .. }]));
    assert!(screen(&model).join("\n").contains("No tasks in this project yet."));
}

#[test]
fn panes_are_read_only_when_they_are_shown() {
    let mut model = board((80, 24));
    assert!(press_code(&mut model, KeyCode::Tab).is_empty(), "the log comes with the task");
    assert!(matches!(&press_code(&mut model, KeyCode::Tab)[..], [Action::ReadDiff { generation: 1, .. }]));
    let moved = press(&mut model, "j");
    assert!(matches!(&moved[..], [Action::Look { .. }, Action::ReadDiff { generation: 2, .. }]), "{moved:?}");
    press_code(&mut model, KeyCode::Enter);
    let open = screen(&model);
    assert!(open[1].starts_with("── held-up ──  Detail  Log [Diff]"), "{open:#?}");
    press_code(&mut model, KeyCode::Esc);
    press_code(&mut model, KeyCode::BackTab);
    assert!(screen(&model).join("\n").contains("Detail [Log] Diff"));
}

#[test]
fn every_key_fits_the_window_of_keys() {
    let mut model = board((80, 24));
    press(&mut model, "?");
    let shown = screen(&model).join("\n");
    for key in super::keys::KEYS {
        assert!(shown.contains(key.shown) && shown.contains(key.help), "{key:?} in\n{shown}");
    }
    assert!(press(&mut model, "j").is_empty(), "any key closes it");
    assert!(!screen(&model).join("\n").contains("any key"));
}

#[test]
fn text_of_strangers_is_made_harmless() {
    let mut tasks = ten();
    tasks[8].status = "needs you: \u{1b}[31m\u{202e}red".to_owned();
    tasks[8].name = "a\u{7}b".to_owned();
    let shown = screen(&board_of((120, 24), tasks)).join("\n");
    assert!(shown.contains("\\u{1b}[31m\\u{202e}red") && shown.contains("a\\u{7}b"), "{shown}");
    assert_eq!(shown.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}'), None);
}

/// The last row, where questions and reports are.
fn foot(model: &Model) -> String {
    screen(model).pop().unwrap()
}

/// What an action asks to be done.
fn orders(actions: &[Action]) -> Vec<&Order> {
    let performed = actions.iter().filter_map(|action| match action {
        Action::Perform(errand) => Some(&errand.order),
        _ => None,
    });
    performed.collect()
}

/// Answers the order of these actions.
fn reply(model: &mut Model, actions: &[Action], reply: Result<Reply, AppError>) {
    let [Action::Perform(errand)] = actions else { panic!("one order: {actions:?}") };
    model.update(Message::Ended(errand.clone(), reply));
}

#[test]
fn keys_that_destroy_ask_once_and_only_a_yes_counts() {
    for (key, question, order) in [
        ("D", "Cancel auth for good? y/N", Order::Cancel),
        ("X", "Remove worktree and branch of auth? y/N", Order::Discard),
        ("R", "Start auth over as a new task? y/N", Order::Retry),
    ] {
        let mut model = board((80, 24));
        for no in ["n", "q", "D"] {
            assert!(press(&mut model, key).is_empty());
            assert!(foot(&model).contains(question), "{}", foot(&model));
            assert!(press(&mut model, no).is_empty(), "{no} is no yes");
        }
        press(&mut model, key);
        assert_eq!(orders(&press(&mut model, "y")), [&order]);
    }
}

#[test]
fn landing_is_looked_at_first_and_asked_about() {
    let mut model = board((80, 24));
    press(&mut model, "G");
    let look = press(&mut model, "L");
    assert_eq!(orders(&look), [&Order::LookAtLanding]);
    let land = Order::Land { unverified: false };
    reply(&mut model, &look, Ok(Reply::Asks("Land gone on main as \"Port it\"?".to_owned(), land.clone())));
    assert_eq!(foot(&model), " Land gone on main as \"Port it\"? y/N");
    let landing = press(&mut model, "y");
    assert_eq!(orders(&landing), [&land]);
    reply(&mut model, &landing, Ok(Reply::Done("gone: landed as 1a2b3c4 on main".to_owned())));
    assert_eq!(foot(&model), " gone: landed as 1a2b3c4 on main");
    press(&mut model, "k");
    assert!(foot(&model).ends_with("q quit"), "the next key takes the report away");
}

#[test]
fn an_error_is_shown_and_what_was_typed_is_kept() {
    let mut model = board((80, 24));
    press(&mut model, "tuse the new API");
    assert_eq!(foot(&model), " Message to the next session of auth: use the new API");
    let told = press_code(&mut model, KeyCode::Enter);
    assert_eq!(orders(&told), [&Order::Tell { text: "use the new API".to_owned() }]);
    let error = AppError::new(ErrorKind::Conflict, "the store is full").hint("free some space");
    reply(&mut model, &told, Err(error));
    let shown = screen(&model).join("\n");
    assert!(shown.contains("error: the store is full\n hint: free some space\n Message to the next"), "{shown}");
    press(&mut model, "!");
    assert!(foot(&model).ends_with("use the new API!"), "{}", foot(&model));
    assert!(!screen(&model).join("\n").contains("error:"));
    press_code(&mut model, KeyCode::Esc);
    assert!(press(&mut model, "t").is_empty() && press_code(&mut model, KeyCode::Enter).is_empty(), "nothing typed");
}

#[test]
fn an_answer_goes_only_to_a_task_that_asks() {
    let mut model = board((80, 24));
    press(&mut model, "alogged in");
    let reason = Some("logged in".to_owned());
    assert_eq!(orders(&press_code(&mut model, KeyCode::Enter)), [&Order::Resume { reason }]);
    press(&mut model, "j");
    assert_eq!(selected(&model), "held-up");
    assert!(press(&mut model, "a").is_empty());
    assert_eq!(foot(&model), " held-up has no question");
    assert_eq!(orders(&press(&mut model, "r")), [&Order::Resume { reason: None }]);
    assert_eq!(orders(&press(&mut model, "p")), [&Order::Pause]);
    assert!(matches!(&press(&mut model, "T")[..], [Action::TakeOver { .. }]));
}

#[test]
fn a_new_task_lacks_an_agent_only_once() {
    let mut model = board_of((80, 24), Vec::new());
    press(&mut model, "n");
    model.update(Message::Pasted("Port the parser\nto winnow".to_owned()));
    assert_eq!(foot(&model), " Goal of the new task: Port the parser to winnow");
    let goal = "Port the parser\nto winnow".to_owned();
    let sent = press_code(&mut model, KeyCode::Enter);
    assert_eq!(orders(&sent), [&Order::New { goal: goal.clone(), agent: None }]);
    let choice = |name: &str| Choice { value: name.to_owned(), row: name.to_owned() };
    let among = vec![choice("codex"), choice("claude")];
    let mut error = AppError::new(ErrorKind::Usage, "several agents can work");
    error.choices = Some(Box::new(Choices { missing: Missing::Agent, among }));
    reply(&mut model, &sent, Err(error));
    let shown = screen(&model).join("\n");
    assert!(shown.contains("Which agent?") && shown.ends_with("  1  codex\n  2  claude"), "{shown}");
    assert!(press(&mut model, "3").is_empty());
    assert_eq!(orders(&press(&mut model, "2")), [&Order::New { goal, agent: Some("claude".to_owned()) }]);
}

#[test]
fn the_bottom_row_names_the_keys_for_the_task() {
    let mut model = board((100, 24));
    assert!(foot(&model).starts_with(" t tell  a answer "), "{}", foot(&model));
    press(&mut model, "j");
    assert!(foot(&model).starts_with(" r resume  t tell "), "{}", foot(&model));
    press(&mut model, "j");
    assert!(foot(&model).starts_with(" p pause  t tell "), "{}", foot(&model));
    for width in [20, 60, 80] {
        model.update(Message::Resized((width, 24)));
        assert!(width < 60 || foot(&model).ends_with("q quit"), "{}", foot(&model));
    }
}
