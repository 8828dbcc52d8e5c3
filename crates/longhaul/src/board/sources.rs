//! Reads what the board shows and sends it as messages: the list whenever the store changes, and the selected task as it happens.
//! Only operations and feeds of `longhaul-app`, as the same caller as every verb. Nothing polls a store that is quiet.

use std::sync::Arc;
use std::time::Duration;

use longhaul_app::follow::{Follow, Interest, Item, Output, Until, before_newest_work};
use longhaul_app::operations::{Diff, DiffInput, List, ListInput, Listing, Show, TaskPageInput};
use longhaul_app::views::PageInput;
use longhaul_app::{AppError, Call, lookup};
use tokio::sync::Notify;
use tokio::sync::mpsc::Sender;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use super::model::Message;
use super::seen::News;

/// Many small changes cost one reading.
const BREATH: Duration = Duration::from_millis(100);
/// The death of a worker rings no bell, so its lock is looked at this often.
const LOOK_AGAIN: Duration = Duration::from_secs(3);
/// How long a task stays selected before it is read, so that scrolling through many reads few.
const SETTLED: Duration = Duration::from_millis(60);

/// A reader that ends with its owner.
pub(super) struct Reader {
    task: JoinHandle<()>,
    /// Asks it to read once more now.
    pub(super) again: Arc<Notify>,
}

impl Reader {
    fn start<F: Future<Output = ()> + Send + 'static>(read: impl FnOnce(Arc<Notify>) -> F) -> Reader {
        let again = Arc::new(Notify::new());
        Reader { task: tokio::spawn(read(Arc::clone(&again))), again }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Sends the list now and after every change.
pub(super) fn list(call: &Call, send: &Sender<Message>) -> Reader {
    let (call, send) = (call.clone(), send.clone());
    Reader::start(|again| async move {
        let mut changes = None;
        loop {
            // Before the reading, so that no change after it is missed. A home that does not exist has no bell yet.
            changes = changes.or_else(|| call.store().ok()?.changes().ok());
            let began = Instant::now();
            if send.send(Message::Listed(whole_list(&call).await)).await.is_err() {
                return;
            }
            // A large list takes a fifth of the time at most.
            sleep(BREATH.max(began.elapsed() * 4)).await;
            let change = async {
                match &mut changes {
                    Some(changes) => changes.rung().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                _ = timeout(LOOK_AGAIN, change) => {}
                () = again.notified() => {}
            }
        }
    })
}

async fn whole_list(call: &Call) -> Result<Listing, AppError> {
    let mut whole = call.perform::<List>(ListInput::default()).await?.view;
    while let Some(after) = whole.next.take() {
        let page = call.perform::<List>(ListInput { after: Some(after), ..ListInput::default() }).await?.view;
        whole.tasks.extend(page.tasks);
        whole.next = page.next;
    }
    Ok(whole)
}

/// Sends everything about one task: what `show` says, now and whenever it is asked to read again, and what happens to it from its newest
/// work on.
pub(super) fn look(call: &Call, send: &Sender<Message>, task: String, generation: u64) -> Reader {
    let (call, send) = (call.clone(), send.clone());
    Reader::start(move |again| async move {
        sleep(SETTLED).await;
        let news = |news| send.send(Message::News(generation, news));
        let mut feed = None;
        let mut opened = Some(open(&call, &task).await);
        loop {
            if news(News::Show(show(&call, &task).await)).await.is_err() {
                return;
            }
            match opened.take() {
                Some(Ok(opened)) => feed = Some(opened),
                Some(Err(error)) => drop(news(News::Lost(error)).await),
                None => {}
            }
            loop {
                let item = tokio::select! {
                    item = next(&mut feed) => item,
                    () = again.notified() => break,
                };
                match item {
                    Ok(Some(item)) => drop(news(News::Item(item)).await),
                    Ok(None) => feed = None,
                    Err(error) => {
                        feed = None;
                        news(News::Lost(error)).await.ok();
                    }
                }
            }
        }
    })
}

async fn show(call: &Call, task: &str) -> Result<Box<longhaul_app::views::ShowView>, AppError> {
    let input = TaskPageInput { task: Some(task.to_owned()), page: PageInput::default() };
    Ok(Box::new(call.perform::<Show>(input).await?.view))
}

async fn open(call: &Call, task: &str) -> Result<Follow, AppError> {
    let stored = lookup::find_to_read(call, Some(task)).await?;
    let after = before_newest_work(call, stored.task.id).await?;
    let interest =
        Interest { after, events: true, output: Output::Turns, until: Until::Finished, ..Interest::default() };
    Follow::new(call, stored, interest)
}

async fn next(feed: &mut Option<Follow>) -> Result<Option<Item>, AppError> {
    match feed {
        Some(feed) => feed.next().await,
        None => std::future::pending().await,
    }
}

/// Sends what a task changed.
pub(super) fn diff(call: &Call, send: &Sender<Message>, task: String, generation: u64) -> Reader {
    let (call, send) = (call.clone(), send.clone());
    Reader::start(move |_| async move {
        sleep(SETTLED).await;
        let answer = call.perform::<Diff>(DiffInput { task: Some(task), stat: false }).await;
        let diff = answer.map(|answer| Box::new(answer.view));
        send.send(Message::News(generation, News::Diff(diff))).await.ok();
    })
}
