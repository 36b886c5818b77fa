//! Large bodies, kept by tenant and digest and written before the fact that names them.

use oxagen_domain::{Digest, TenantId};

use crate::error::JournalError;
use crate::journal::Journal;

impl Journal {
    /// Keeps a body under its digest. Keeping it twice is the same as once.
    ///
    /// # Errors
    /// [`JournalError::Unavailable`].
    pub async fn put_object(
        &self,
        tenant: TenantId,
        digest: &Digest,
        bytes: &[u8],
    ) -> Result<(), JournalError> {
        const PUT: &str = "insert into journal.objects (tenant_id, digest, bytes) values ($1, $2, $3) on conflict do nothing";
        let put = sqlx::query(PUT).bind(tenant.0).bind(digest.as_str()).bind(bytes);
        self.bounded(async { Ok(put.execute(self.pool()).await.map(drop)?) }).await
    }

    /// A kept body; `None` if this tenant has none under the digest.
    ///
    /// # Errors
    /// [`JournalError::Unavailable`].
    pub async fn object(&self, tenant: TenantId, digest: &Digest) -> Result<Option<Vec<u8>>, JournalError> {
        const GET: &str = "select bytes from journal.objects where tenant_id = $1 and digest = $2";
        let get = sqlx::query_scalar(GET).bind(tenant.0).bind(digest.as_str());
        self.bounded(async { Ok(get.fetch_optional(self.pool()).await?) }).await
    }
}
