//! Usage limits of accounts: written with the change of a task that reports them, read before any task starts a session.
//!
//! Writing is called by the writer within its transaction, reading by the handle. A damaged row is left out: the limit is met again.

use longhaul_core::task::{AccountChange, AccountLimit, Task, account_changes};
use longhaul_core::time::Time;
use rusqlite::{Connection, Row, params};

use super::read::sound_rows;
use super::statement::execute;
use crate::{StoreError, Tenant};

/// Writes down what a change of a task says about accounts. A guess does not shorten what is known.
pub(super) fn record(connection: &Connection, before: Option<&Task>, after: &Task) -> Result<(), StoreError> {
    const REACHED: &str = "INSERT INTO account_limits (account, agent, until, told, task) VALUES (?1, ?2, ?3, ?4, ?5) \
         ON CONFLICT (account) DO UPDATE SET agent = ?2, until = ?3, told = ?4, task = ?5 \
         WHERE ?4 OR until < ?3";
    const CLEARED: &str = "DELETE FROM account_limits WHERE account = ?1 AND until <= ?2";
    let Some(before) = before else { return Ok(()) };
    for change in account_changes(before, after) {
        match change {
            AccountChange::Reached(AccountLimit { account, agent, until, told, task }) => {
                execute(connection, REACHED, params![account, agent, until.0, told, task.to_string()])?
            }
            AccountChange::Cleared { account, until } => execute(connection, CLEARED, params![account, until.0])?,
        };
    }
    Ok(())
}

/// Every limit, or every one that a task of this tenant reached, by account.
pub(super) fn limits(connection: &Connection, tenant: Option<&Tenant>) -> Result<Vec<AccountLimit>, StoreError> {
    const SQL: &str = "SELECT account, agent, until, told, task FROM account_limits \
         WHERE ?1 IS NULL OR EXISTS (SELECT 1 FROM tasks WHERE id = account_limits.task AND tenant = ?1) ORDER BY account";
    sound_rows(connection, SQL, [tenant.map(Tenant::name)], read)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Option<AccountLimit>> {
    let Ok(task) = row.get::<_, String>(4)?.parse() else { return Ok(None) };
    let (account, agent, until, told) = (row.get(0)?, row.get(1)?, Time(row.get(2)?), row.get(3)?);
    Ok(Some(AccountLimit { account, agent, until, told, task }))
}
