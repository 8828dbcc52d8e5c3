//! Draws the board: the model in, cells out. Pure, and tested against whole screens.
//! All text is safe before it comes here; every row is cut to the columns it has.

use longhaul_app::views::TaskView;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::keys::{Does, KEYS, Key};
use super::layout::Layout;
use super::line_input::LineInput;
use super::model::{Model, Note, asks_person};
use super::prompt::Prompt;
use super::seen::Pane;
use super::tasks::ListRow;
use crate::commands::list::board::{Board, Group, group_colour, mark, shown_name};
use crate::out::safe;
use crate::paint::{Colour, Paint};
use crate::width::{columns, cut, pad};

/// The longest part of a name that the list shows.
const LONGEST_NAME: usize = 24;

/// Draws everything.
pub(super) fn draw(model: &Model, frame: &mut Frame<'_>) {
    let parts = model.layout();
    let buffer = frame.buffer_mut();
    row(buffer, parts.title, 0, &title(model));
    if let Some(area) = parts.list {
        list(model, buffer, area);
    }
    pane(model, buffer, &parts);
    let cursor = foot(model, buffer, parts.foot);
    if model.shows_help {
        help(model, buffer);
    }
    cursor.iter().for_each(|cursor| frame.set_cursor_position(*cursor));
}

/// Writes one line into a row of an area.
fn row(buffer: &mut Buffer, area: Rect, at: u16, line: &Line<'_>) {
    if at < area.height {
        buffer.set_line(area.x, area.y + at, line, area.width);
    }
}

fn title(model: &Model) -> Line<'static> {
    let words = [(Group::NeedsYou, "needs you", "need you"), (Group::Running, "running", "running")];
    let counts = words.iter().chain(&[(Group::Waiting, "waiting", "waiting")]).filter_map(|(group, one, many)| {
        match model.tasks.in_group(*group) {
            0 => None,
            1 => Some(format!("1 {one}")),
            count => Some(format!("{count} {many}")),
        }
    });
    let counts = counts.collect::<Vec<_>>().join(" · ");
    let bold = model.palette.style(Colour::Bold);
    Line::from(vec![
        Span::styled(" longhaul ", bold),
        Span::styled(format!(" {}  ", safe(&model.place)), model.palette.style(Colour::Dim)),
        Span::raw(counts),
    ])
}

fn list(model: &Model, buffer: &mut Buffer, area: Rect) {
    let (rows, selected) = model.tasks.rows();
    if rows.is_empty() {
        empty(model).iter().zip(1..).for_each(|(text, at)| row(buffer, area, at, &Line::from(text.as_str())));
        return;
    }
    let names = rows.iter().filter_map(|row| match row {
        ListRow::Task(task) => Some(columns(&safe(shown_name(task)))),
        ListRow::Heading(_) => None,
    });
    let names = names.max().unwrap_or(0).min(LONGEST_NAME).min(usize::from(area.width) / 5);
    for (at, (place, shown)) in (0..).zip(rows.iter().enumerate().skip(model.top).take(usize::from(area.height))) {
        let is_selected = place == selected;
        let line = match shown {
            ListRow::Heading(group) => {
                let title = texts(model, usize::from(area.width).saturating_sub(1)).heading(*group);
                Line::styled(format!(" {title}"), model.palette.style(Colour::Bold))
            }
            ListRow::Task(task) => task_row(model, task, names, usize::from(area.width), is_selected),
        };
        row(buffer, area, at, &line);
        if is_selected {
            buffer.set_style(Rect { y: area.y + at, height: 1, ..area }, Modifier::REVERSED);
        }
    }
}

/// What is shown instead of tasks.
fn empty(model: &Model) -> Vec<String> {
    let (all, _) = model.tasks.count();
    match (model.is_read, all) {
        (false, _) => vec![" reading the tasks".to_owned()],
        (true, 0) if model.has_older => vec![
            " Nothing is unfinished in this project.".to_owned(),
            " `longhaul list --all` lists older tasks.".to_owned(),
        ],
        (true, 0) => {
            vec![" No tasks in this project yet.".to_owned(), " Start one with `longhaul run \"goal\"`.".to_owned()]
        }
        (true, _) => vec![format!(" No task matches `{}`. Esc shows all.", safe(model.tasks.filter()))],
    }
}

/// The words of `list`.
fn texts(model: &Model, width: usize) -> Board<'_> {
    Board { width: Some(width), when: &model.when, paint: Paint(false), all: false }
}

fn task_row(model: &Model, task: &TaskView, names: usize, width: usize, is_selected: bool) -> Line<'static> {
    let group = Group::of(task);
    let texts = texts(model, width);
    let right = texts.right(task, group);
    // On a narrow screen the words matter more than the columns.
    let right = if width < names + columns(&right) + 24 { String::new() } else { right };
    let says = pad(&safe(&texts.says(task, group)), width.saturating_sub(names + columns(&right) + 7));
    let style = |colour| model.palette.style(colour);
    let marker = if is_selected { ">" } else { " " };
    Line::from(vec![
        Span::raw(marker),
        Span::styled(mark(task, group).to_string(), style(group_colour(task, group))),
        Span::raw(format!(" {}  {says}  ", pad(&safe(shown_name(task)), names))),
        Span::styled(right, style(Colour::Dim)),
    ])
}

fn pane(model: &Model, buffer: &mut Buffer, parts: &Layout) {
    let (Some(tabs), Some(area)) = (parts.tabs, parts.pane) else { return };
    for y in (tabs.top()..area.bottom()).filter(|_| tabs.x > 0) {
        buffer.set_string(tabs.x - 1, y, "│", model.palette.style(Colour::Dim));
    }
    let Some(seen) = &model.seen else { return };
    let rows = seen.rows(model.pane, &model.when);
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let top = seen.top(model.pane, &rows, (width.saturating_sub(1), height));
    row(buffer, tabs, 0, &tab_row(model, usize::from(tabs.width), (top, rows.len())));
    let lines = rows.iter().skip(top).flat_map(|row| row.wrapped(width.saturating_sub(1), model.palette));
    for (at, line) in (0..area.height).zip(lines) {
        row(buffer, Rect { x: area.x + 1, width: area.width.saturating_sub(1), ..area }, at, &line);
    }
}

/// A line with the task's name, the panes, and which part of the pane is shown.
fn tab_row(model: &Model, width: usize, (top, rows): (usize, usize)) -> Line<'static> {
    let style = |colour| model.palette.style(colour);
    let name = model.tasks.selected().map_or("", |task| shown_name(task));
    let mut spans = vec![
        Span::styled("── ", style(Colour::Dim)),
        Span::styled(cut(&safe(name), width / 2), style(Colour::Bold)),
        Span::styled(" ──", style(Colour::Dim)),
    ];
    spans.push(Span::raw(" "));
    for pane in Pane::ALL {
        let (text, style) = match pane == model.pane {
            true => (format!("[{}]", pane.name()), style(Colour::Bold)),
            false => (format!(" {} ", pane.name()), style(Colour::Dim)),
        };
        spans.push(Span::styled(text, style));
    }
    spans.push(Span::raw(" "));
    let place = if top > 0 { format!(" row {} of {rows} ", top + 1) } else { String::new() };
    let used: usize = spans.iter().map(Span::width).sum::<usize>() + columns(&place);
    spans.push(Span::styled("─".repeat(width.saturating_sub(used)), style(Colour::Dim)));
    spans.push(Span::styled(place, style(Colour::Dim)));
    Line::from(spans)
}

/// What is reported and asked, or the keys. Answers with the place of the cursor.
fn foot(model: &Model, buffer: &mut Buffer, area: Rect) -> Option<Position> {
    let notes = model.note_rows();
    let style = match &model.note {
        Some(Note::Failed(_)) => model.palette.style(Colour::Red),
        Some(Note::Said(_)) | None => Style::default(),
    };
    for (at, text) in (0..).zip(&notes) {
        row(buffer, area, at, &Line::styled(format!(" {text}"), style));
    }
    let below = u16::try_from(notes.len()).unwrap_or(u16::MAX).min(area.height);
    let area = Rect { y: area.y + below, height: area.height - below, ..area };
    let bold = model.palette.style(Colour::Bold);
    match &model.prompt {
        None if notes.is_empty() => row(buffer, area, 0, &hints(model)),
        None => {}
        Some(Prompt::Filter(input)) => return typed(buffer, area, " /", input),
        Some(Prompt::Text { asks, input }) => return typed(buffer, area, &format!(" {}:", safe(&asks.label())), input),
        Some(Prompt::Confirm { question, .. }) => {
            let question = cut(&safe(question), usize::from(area.width).saturating_sub(8));
            row(buffer, area, 0, &Line::styled(format!(" {question} y/N"), bold));
        }
        Some(Prompt::Agent { among, .. }) => {
            row(buffer, area, 0, &Line::styled(" Which agent? Press its number; Esc drops the task.", bold));
            for (at, choice) in (1..).zip(among) {
                row(buffer, area, at, &Line::from(format!("  {at}  {}", safe(&choice.row))));
            }
        }
    }
    None
}

/// A line that is typed behind its label.
fn typed(buffer: &mut Buffer, area: Rect, label: &str, input: &LineInput) -> Option<Position> {
    let label = cut(label, usize::from(area.width) / 2);
    let before = columns(&label) + 1;
    let (text, column) = input.visible(usize::from(area.width).saturating_sub(before));
    row(buffer, area, 0, &Line::from(format!("{label} {text}")));
    let column = u16::try_from(before + column).unwrap_or(u16::MAX);
    Some(Position::new(area.x + column.min(area.width.saturating_sub(1)), area.y))
}

/// The keys that mean something now, as far as they fit; those for the selected task come first.
fn hints(model: &Model) -> Line<'static> {
    let (bold, dim) = (model.palette.style(Colour::Bold), model.palette.style(Colour::Dim));
    let filter = model.tasks.filter();
    let filter = (!filter.is_empty()).then(|| Span::styled(format!(" [{}]", safe(filter)), bold));
    let hint = |key: &Key| {
        let shown = key.shown.split(", ").next()?;
        Some([Span::styled(format!(" {shown} "), bold), Span::styled(format!("{} ", key.hint?), dim)])
    };
    let width = |spans: &[Span<'_>]| spans.iter().map(Span::width).sum::<usize>();
    let is_for_task = |key: &&Key| key.does().is_some_and(is_of_task);
    let general: Vec<_> = KEYS.iter().filter(|key| !is_for_task(key)).filter_map(hint).flatten().collect();
    let mut room =
        usize::from(model.size.0).saturating_sub(width(&general) + filter.iter().map(Span::width).sum::<usize>());
    let selected = model.tasks.selected();
    let fits = |spans: &[Span<'static>; 2]| {
        let is_room = width(spans) <= room;
        room = room.saturating_sub(if is_room { width(spans) } else { 0 });
        is_room
    };
    let offered = KEYS.iter().filter(is_for_task);
    let offered = offered.filter(|key| selected.zip(key.does()).is_some_and(|(task, does)| is_offered(does, task)));
    let own: Vec<_> = offered.filter_map(hint).filter(fits).flatten().collect();
    Line::from(filter.into_iter().chain(own).chain(general).collect::<Vec<_>>())
}

fn is_of_task(does: Does) -> bool {
    matches!(does, Does::Pause | Does::Resume | Does::Tell | Does::Answer | Does::Land)
}

/// Whether a key is worth a hint for this task. The key works for others too, as far as the operation allows.
fn is_offered(does: Does, task: &TaskView) -> bool {
    match does {
        Does::Pause => !task.is_finished && !task.needs_person,
        Does::Resume => task.needs_person && !asks_person(task),
        Does::Answer => asks_person(task),
        Does::Tell => !task.is_finished,
        Does::Land => task.is_finished && task.result.is_some() && task.branch.is_some() && task.followed_up.is_none(),
        _ => true,
    }
}

/// The keys, over everything else.
fn help(model: &Model, buffer: &mut Buffer) {
    let (area, dim, bold) = (buffer.area, model.palette.style(Colour::Dim), model.palette.style(Colour::Bold));
    let keys = KEYS.iter().map(|key| columns(key.shown)).max().unwrap_or(0);
    let helps = KEYS.iter().map(|key| columns(key.help)).max().unwrap_or(0);
    let helps = helps.min(usize::from(area.width).saturating_sub(keys + 7));
    let inner = keys + 3 + helps;
    let title = "─ Keys · any key closes this ";
    let rule = "─".repeat((inner + 2).saturating_sub(columns(title)));
    let mut window = vec![Line::styled(format!("┌{title}{rule}┐"), dim)];
    for key in KEYS {
        let text = Span::raw(format!("   {}", pad(key.help, helps)));
        let (left, right) = (Span::styled("│ ", dim), Span::styled(" │", dim));
        window.push(Line::from(vec![left, Span::styled(pad(key.shown, keys), bold), text, right]));
    }
    window.push(Line::styled(format!("└{}┘", "─".repeat(inner + 2)), dim));
    let (width, height) =
        (u16::try_from(inner + 4).unwrap_or(u16::MAX), u16::try_from(window.len()).unwrap_or(u16::MAX));
    let place = Rect::new(area.width.saturating_sub(width) / 2, area.height.saturating_sub(height) / 2, width, height);
    let place = place.intersection(area);
    for (at, line) in (0..place.height).zip(&window) {
        buffer.set_style(Rect { y: place.y + at, height: 1, ..place }, Style::reset());
        row(buffer, place, at, line);
    }
}
