//! The tasks of the board in their groups, the filter, and which one is selected.
//! Pure. The groups and what a row says are those of `list`.

use longhaul_app::views::TaskView;

use crate::commands::list::board::Group;

/// A row of the list.
#[derive(Debug, Clone, Copy)]
pub(super) enum ListRow<'a> {
    Heading(Group),
    Task(&'a TaskView),
}

/// The tasks, in the order in which they are shown.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    all: Vec<TaskView>,
    /// Places in `all` of those that match the filter.
    shown: Vec<usize>,
    filter: String,
    /// The id of the selected task, and where it was when it was last seen.
    selected: Option<String>,
    at: usize,
}

impl Tasks {
    /// Replaces the tasks. The selected one stays selected; if it is gone, its neighbour is.
    pub(super) fn replace(&mut self, mut all: Vec<TaskView>) {
        // Stable: within a group they stay newest first.
        all.sort_by_key(Group::of);
        self.all = all;
        self.match_filter();
    }

    pub(super) fn set_filter(&mut self, filter: String) {
        self.filter = filter;
        self.match_filter();
    }

    pub(super) fn filter(&self) -> &str {
        &self.filter
    }

    fn match_filter(&mut self) {
        let words: Vec<String> = self.filter.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let matches = |task: &TaskView| {
            let text = [&task.name, &task.goal, &task.status, &task.agent].map(String::as_str).join(" ").to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        self.shown = (0..self.all.len()).filter(|at| matches(&self.all[*at])).collect();
        let found = self.shown().position(|task| Some(&task.id) == self.selected.as_ref());
        self.select(found.unwrap_or(self.at));
    }

    fn shown(&self) -> impl Iterator<Item = &TaskView> {
        self.shown.iter().map(|at| &self.all[*at])
    }

    /// Selects the task at this place, or the last one.
    pub(super) fn select(&mut self, at: usize) {
        self.at = at.min(self.shown.len().saturating_sub(1));
        self.selected = self.shown.get(self.at).map(|at| self.all[*at].id.clone());
    }

    /// Selects a task that is so many places away.
    pub(super) fn step(&mut self, by: isize) {
        self.select(self.at.saturating_add_signed(by));
    }

    pub(super) fn selected(&self) -> Option<&TaskView> {
        self.shown.get(self.at).map(|at| &self.all[*at])
    }

    /// How many tasks exist, and how many are shown.
    pub(super) fn count(&self) -> (usize, usize) {
        (self.all.len(), self.shown.len())
    }

    /// How many tasks of a group exist.
    pub(super) fn in_group(&self, group: Group) -> usize {
        self.all.iter().filter(|task| Group::of(task) == group).count()
    }

    /// The rows of the list, and which of them is selected.
    pub(super) fn rows(&self) -> (Vec<ListRow<'_>>, usize) {
        let (mut rows, mut selected, mut last) = (Vec::new(), 0, None);
        for (at, task) in self.shown().enumerate() {
            let group = Group::of(task);
            if last != Some(group) {
                rows.push(ListRow::Heading(group));
                last = Some(group);
            }
            if at == self.at {
                selected = rows.len();
            }
            rows.push(ListRow::Task(task));
        }
        (rows, selected)
    }
}
