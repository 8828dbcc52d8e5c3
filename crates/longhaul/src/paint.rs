//! Our own colours. They support a meaning that the text has anyway, and are left out where nobody sees them.
//! Text from agents never brings its own.

/// A colour by its meaning here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    /// A person is needed, or something failed.
    Red,
    /// It waits.
    Yellow,
    /// It works, or has worked.
    Green,
    /// It matters less.
    Dim,
    /// A heading.
    Bold,
}

/// Whether colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Paint(pub(crate) bool);

impl Paint {
    /// The text in a colour, if colours are used.
    pub(crate) fn in_colour(self, colour: Colour, text: &str) -> String {
        let code = match colour {
            Colour::Red => 31,
            Colour::Yellow => 33,
            Colour::Green => 32,
            Colour::Dim => 2,
            Colour::Bold => 1,
        };
        if self.0 { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}
