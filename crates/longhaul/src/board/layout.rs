//! Where the parts of the board are on the screen: a title, the list, the pane, and the rows at the bottom.
//! Pure. On a wide screen the pane is beside the list, otherwise below it; on a small one it is only shown when it is opened.

use ratatui::layout::Rect;

/// From so many columns on, the pane is beside the list.
const WIDE: u16 = 150;
/// The fewest rows of a pane with its title, and of a list beside it.
const LEAST_PANE: u16 = 8;
const LEAST_LIST: u16 = 4;

/// The parts of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) title: Rect,
    pub(super) list: Option<Rect>,
    /// The row with the names of the panes, and the pane.
    pub(super) tabs: Option<Rect>,
    pub(super) pane: Option<Rect>,
    pub(super) foot: Rect,
}

impl Layout {
    /// Columns and rows of the pane.
    pub(super) fn pane_size(&self) -> Option<(usize, usize)> {
        self.pane.map(|pane| (usize::from(pane.width), usize::from(pane.height)))
    }
}

/// Divides a screen of this size, with a list of so many rows.
pub(super) fn layout((width, height): (u16, u16), list_rows: usize, is_open: bool, foot: u16) -> Layout {
    let foot_height = foot.min(height.saturating_sub(1));
    let title = Rect::new(0, 0, width, height.min(1));
    let foot = Rect::new(0, height - foot_height, width, foot_height);
    let (top, middle) = (title.height, height.saturating_sub(title.height + foot_height));
    let whole = Rect::new(0, top, width, middle);
    let (list, below) = if is_open {
        (None, Some(whole))
    } else if width >= WIDE {
        let left = width / 2;
        (Some(Rect { width: left - 1, ..whole }), Some(Rect::new(left, top, width - left, middle)))
    } else if middle >= LEAST_PANE + LEAST_LIST {
        let wanted = u16::try_from(list_rows).unwrap_or(u16::MAX);
        let list = wanted.clamp(LEAST_LIST, middle - LEAST_PANE);
        (Some(Rect { height: list, ..whole }), Some(Rect::new(0, top + list, width, middle - list)))
    } else {
        (Some(whole), None)
    };
    let tabs = below.map(|below| Rect { height: below.height.min(1), ..below });
    let pane = below.map(|below| {
        let rest = below.height.saturating_sub(1);
        Rect::new(below.x, below.y + below.height - rest, below.width, rest)
    });
    Layout { title, list, tabs, pane, foot }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_never_overlap_and_never_leave_the_screen() {
        for width in [0, 1, 20, 80, 149, 150, 200] {
            for height in [0, 1, 2, 5, 12, 24, 50] {
                for (rows, is_open, foot) in [(0, false, 1), (14, false, 1), (9_999, false, 4), (14, true, 1)] {
                    let Layout { title, list, tabs, pane, foot } = layout((width, height), rows, is_open, foot);
                    let parts: Vec<Rect> = [Some(title), list, tabs, pane, Some(foot)].into_iter().flatten().collect();
                    let screen = Rect::new(0, 0, width, height);
                    for (at, part) in parts.iter().enumerate() {
                        assert_eq!(screen.intersection(*part), *part, "{width}x{height}: {part:?}");
                        assert!(
                            parts[..at].iter().all(|other| !other.intersects(*part) || part.is_empty()),
                            "{parts:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn ten_tasks_in_four_groups_and_a_pane_fit_80_by_24() {
        let parts = layout((80, 24), 14, false, 1);
        assert_eq!((parts.list.unwrap().height, parts.pane.unwrap().height), (14, 7));
        let wide = layout((200, 50), 14, false, 1);
        assert_eq!((wide.list.unwrap().width, wide.pane.unwrap().x), (99, 100));
    }
}
