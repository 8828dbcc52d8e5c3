//! API keys: created and revoked by the writer, listed and found by readers. Rows are never deleted, because the history names them.
//!
//! Called by the handle. Rights that cannot be read allow nothing.

use longhaul_core::task::Rights;
use longhaul_core::time::Time;
use rusqlite::{Connection, Row, params};

use super::failure::store_error;
use super::statement::{execute, first};
use crate::{ApiKey, StoreError, Tenant};

const COLUMNS: &str = "id, tenant, name, rights, created, expires, revoked";

/// Keeps a key; no, if a usable one of the tenant has its name.
pub(super) fn create(connection: &Connection, key: &ApiKey, digest: &str) -> Result<bool, StoreError> {
    const SQL: &str = "INSERT INTO api_keys (id, tenant, name, rights, created, expires, digest) \
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE NOT EXISTS (SELECT 1 FROM api_keys \
         WHERE tenant = ?2 AND name = ?3 AND revoked IS NULL AND (expires IS NULL OR expires > ?5))";
    let expires = key.expires.map(|at| at.0);
    let values = params![key.id, key.tenant.name(), key.name, key.rights.to_string(), key.created.0, expires, digest];
    Ok(execute(connection, SQL, values)? == 1)
}

/// Revokes a key, if it is not already.
pub(super) fn revoke(connection: &Connection, id: &str, at: Time) -> Result<Option<ApiKey>, StoreError> {
    let sql = format!("UPDATE api_keys SET revoked = coalesce(revoked, ?2) WHERE id = ?1 RETURNING {COLUMNS}");
    first(connection, &sql, params![id, at.0], read)
}

/// The key with this digest.
pub(super) fn find(connection: &Connection, digest: &str) -> Result<Option<ApiKey>, StoreError> {
    first(connection, &format!("SELECT {COLUMNS} FROM api_keys WHERE digest = ?1"), [digest], read)
}

/// Every key, the oldest first.
pub(super) fn list(connection: &Connection) -> Result<Vec<ApiKey>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM api_keys ORDER BY created, id");
    let rows = connection.prepare_cached(&sql).and_then(|mut statement| statement.query_map([], read)?.collect());
    rows.map_err(store_error)
}

fn read(row: &Row<'_>) -> rusqlite::Result<ApiKey> {
    let rights: String = row.get(3)?;
    Ok(ApiKey {
        id: row.get(0)?,
        tenant: Tenant::new(row.get::<_, String>(1)?),
        name: row.get(2)?,
        rights: rights.parse().unwrap_or(Rights::NONE),
        created: Time(row.get(4)?),
        expires: row.get::<_, Option<i64>>(5)?.map(Time),
        revoked: row.get::<_, Option<i64>>(6)?.map(Time),
    })
}
