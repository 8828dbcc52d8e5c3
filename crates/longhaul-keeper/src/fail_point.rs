//! Named places where a test can kill or pause this very process, to see what the others make of it.
//!
//! Called by keeper and worker at the places that matter. In release builds it is nothing at all.
//!
//! `LONGHAUL_FAIL_POINTS="a,b=pause"` with `LONGHAUL_FAIL_DIR=<dir>`: the first process ever to reach `a` leaves the
//! file `<dir>/a` and kills itself; `b` leaves `<dir>/b` and waits until `<dir>/b.go` exists or it is killed.

/// Marks a place by name.
#[cfg(not(debug_assertions))]
#[inline]
pub fn reach(_name: &str) {}

/// Marks a place by name.
#[cfg(debug_assertions)]
pub fn reach(name: &str) {
    let (Ok(points), Some(directory)) =
        (std::env::var("LONGHAUL_FAIL_POINTS"), std::env::var_os("LONGHAUL_FAIL_DIR").map(std::path::PathBuf::from))
    else {
        return;
    };
    let Some(action) = points.split(',').find_map(|point| action_of(point, name)) else { return };
    if std::fs::File::create_new(directory.join(name)).is_err() {
        return;
    }
    match action {
        Action::Die => die(),
        Action::Pause => wait_for(&directory.join(format!("{name}.go"))),
    }
}

#[cfg(debug_assertions)]
enum Action {
    Die,
    Pause,
}

#[cfg(debug_assertions)]
fn action_of(point: &str, name: &str) -> Option<Action> {
    match point.strip_prefix(name)? {
        "" => Some(Action::Die),
        "=pause" => Some(Action::Pause),
        _ => None,
    }
}

#[cfg(debug_assertions)]
fn die() {
    // A kill of oneself can not fail, and there is no way on from it.
    let _sent = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
}

#[cfg(debug_assertions)]
fn wait_for(file: &std::path::Path) {
    while !file.exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}
