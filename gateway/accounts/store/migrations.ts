/**
 * The tables, as an append-only list of migrations.
 *
 * Money is in whole micro-dollars, times are Unix milliseconds, days count from 1970 in
 * UTC. Not every id is a foreign key: the ledger outlives keys and plans.
 */
/**
 * One migration: SQL statements in which INTEGER means 64 bits, and `{serial}`, `{strict}`
 * and `{rowless}` are replaced by the dialect's own syntax. Programs of the version before go on
 * working beside it, so it only adds; one that takes away states it with {@linkcode worksSince}.
 */
export type Migration = readonly string[];

/**
 * The step of a migration that takes away or changes what older programs use: the schema version of
 * the oldest program that works with the tables from now on, at most the one before. First a version
 * adds what is to come and no longer needs the old; the next one takes the old away.
 */
export function worksSince(version: number): string {
  return `UPDATE writers SET least_version = ${version} WHERE least_version < ${version}`;
}

const ROLL_UP_COLUMNS = `account_id TEXT NOT NULL,
      key_id TEXT NOT NULL,
      model TEXT NOT NULL,
      requests INTEGER NOT NULL,
      estimated INTEGER NOT NULL,
      input_tokens INTEGER NOT NULL,
      cache_read_tokens INTEGER NOT NULL,
      cache_write_tokens INTEGER NOT NULL,
      output_tokens INTEGER NOT NULL,
      reasoning_tokens INTEGER NOT NULL,
      micro_usd INTEGER NOT NULL,
      estimated_micro_usd INTEGER NOT NULL`;

/** All migrations, oldest first. */
export const MIGRATIONS: readonly Migration[] = [
  [
    // NULL means no limit; in models, every model.
    `CREATE TABLE plans (
      id TEXT PRIMARY KEY,
      models TEXT,
      requests_per_minute INTEGER CHECK (requests_per_minute > 0),
      tokens_per_minute INTEGER CHECK (tokens_per_minute > 0),
      concurrent_requests INTEGER CHECK (concurrent_requests > 0),
      spend_per_day_micro_usd INTEGER CHECK (spend_per_day_micro_usd >= 0),
      created_at_ms INTEGER NOT NULL
    ) {strict}`,
    // reserved_micro_usd and open_requests sum up the rows of reservations; requests_* and
    // tokens_* are leaky buckets, see bucket.ts.
    `CREATE TABLE accounts (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      status TEXT NOT NULL CHECK (status IN ('active', 'disabled')),
      billing TEXT NOT NULL CHECK (billing IN ('prepaid', 'postpaid')),
      plan_id TEXT NOT NULL REFERENCES plans (id),
      balance_micro_usd INTEGER NOT NULL DEFAULT 0,
      reserved_micro_usd INTEGER NOT NULL DEFAULT 0 CHECK (reserved_micro_usd >= 0),
      open_requests INTEGER NOT NULL DEFAULT 0 CHECK (open_requests >= 0),
      requests_used INTEGER NOT NULL DEFAULT 0,
      requests_at_ms INTEGER NOT NULL DEFAULT 0,
      tokens_used INTEGER NOT NULL DEFAULT 0,
      tokens_at_ms INTEGER NOT NULL DEFAULT 0,
      day INTEGER NOT NULL DEFAULT 0,
      day_spent_micro_usd INTEGER NOT NULL DEFAULT 0,
      created_at_ms INTEGER NOT NULL
    ) {strict}`,
    `CREATE INDEX accounts_plan ON accounts (plan_id)`,
    // Balances of single models.
    `CREATE TABLE purses (
      account_id TEXT NOT NULL REFERENCES accounts (id),
      model TEXT NOT NULL,
      balance_micro_usd INTEGER NOT NULL DEFAULT 0,
      reserved_micro_usd INTEGER NOT NULL DEFAULT 0 CHECK (reserved_micro_usd >= 0),
      PRIMARY KEY (account_id, model)
    ) {strict}`,
    `CREATE TABLE keys (
      id TEXT PRIMARY KEY,
      account_id TEXT NOT NULL REFERENCES accounts (id),
      name TEXT NOT NULL,
      hash TEXT NOT NULL UNIQUE,
      hint TEXT NOT NULL,
      models TEXT,
      created_at_ms INTEGER NOT NULL,
      expires_at_ms INTEGER,
      revoked_at_ms INTEGER,
      last_used_at_ms INTEGER,
      replaces TEXT
    ) {strict}`,
    `CREATE INDEX keys_account ON keys (account_id, id)`,
    // Incremented with every change of a key, plan or account, so that processes know when
    // their caches are outdated.
    `CREATE TABLE revision (id INTEGER PRIMARY KEY CHECK (id = 1), value INTEGER NOT NULL) {strict}`,
    `INSERT INTO revision (id, value) VALUES (1, 1)`,
    `CREATE TABLE owners (id TEXT PRIMARY KEY, beat INTEGER NOT NULL) {strict}`,
    `CREATE TABLE reservations (
      request_id TEXT PRIMARY KEY,
      owner_id TEXT NOT NULL,
      account_id TEXT NOT NULL,
      key_id TEXT NOT NULL,
      model TEXT NOT NULL,
      purse TEXT NOT NULL,
      user_id TEXT,
      input_tokens INTEGER NOT NULL,
      max_output_tokens INTEGER NOT NULL,
      price TEXT NOT NULL,
      reserved_micro_usd INTEGER NOT NULL,
      at_ms INTEGER NOT NULL
    ) {strict}`,
    `CREATE INDEX reservations_owner ON reservations (owner_id)`,
    // micro_usd is the amount added to the balance of the model in `purse` ('' is the account's
    // own): charges are negative.
    `CREATE TABLE ledger (
      seq {serial},
      request_id TEXT NOT NULL UNIQUE,
      kind TEXT NOT NULL CHECK (kind IN ('charge', 'top_up')),
      account_id TEXT NOT NULL,
      key_id TEXT,
      model TEXT,
      purse TEXT NOT NULL,
      user_id TEXT,
      input_tokens INTEGER NOT NULL,
      cache_read_tokens INTEGER NOT NULL,
      cache_write_tokens INTEGER NOT NULL,
      output_tokens INTEGER NOT NULL,
      reasoning_tokens INTEGER NOT NULL,
      price TEXT,
      estimated INTEGER NOT NULL CHECK (estimated IN (0, 1)),
      ended TEXT,
      note TEXT,
      micro_usd INTEGER NOT NULL,
      at_ms INTEGER NOT NULL
    ) {strict}`,
    `CREATE INDEX ledger_account ON ledger (account_id, seq)`,
    // Usage reports read this table; they never sum up the ledger.
    `CREATE TABLE usage_daily (
      day INTEGER NOT NULL,
      account_id TEXT NOT NULL,
      key_id TEXT NOT NULL,
      model TEXT NOT NULL,
      user_id TEXT NOT NULL,
      requests INTEGER NOT NULL,
      estimated INTEGER NOT NULL,
      input_tokens INTEGER NOT NULL,
      cache_read_tokens INTEGER NOT NULL,
      cache_write_tokens INTEGER NOT NULL,
      output_tokens INTEGER NOT NULL,
      reasoning_tokens INTEGER NOT NULL,
      micro_usd INTEGER NOT NULL,
      PRIMARY KEY (account_id, day, key_id, model, user_id)
    ) {strict}`,
    `CREATE INDEX usage_daily_day ON usage_daily (day)`,
    // Replies to POSTs with an idempotency key, to repeat them for the same key.
    `CREATE TABLE answers (
      idempotency_key TEXT PRIMARY KEY,
      fingerprint TEXT NOT NULL,
      answer TEXT NOT NULL,
      at_ms INTEGER NOT NULL
    ) {strict}`,
    `CREATE INDEX answers_age ON answers (at_ms)`,
  ],
  [
    // A reservation is inserted and deleted within seconds, so its cost is the number of
    // B-trees written: now one.
    `CREATE TABLE calls_under_way (
      request_id TEXT PRIMARY KEY,
      owner_id TEXT NOT NULL,
      account_id TEXT NOT NULL,
      key_id TEXT NOT NULL,
      model TEXT NOT NULL,
      purse TEXT NOT NULL,
      user_id TEXT,
      input_tokens INTEGER NOT NULL,
      max_output_tokens INTEGER NOT NULL,
      price TEXT NOT NULL,
      reserved_micro_usd INTEGER NOT NULL,
      at_ms INTEGER NOT NULL
    ) {strict}{rowless}`,
    `INSERT INTO calls_under_way SELECT * FROM reservations`,
    `DROP TABLE reservations`,
    `ALTER TABLE calls_under_way RENAME TO reservations`,
  ],
  [
    // Replies that later requests can refer to. Addresses and contents depend on the client's
    // key, which is not in the store: see gateway/responses/seal.ts. previous is the address of
    // the reply that this one continues; input and reply are sealed.
    `CREATE TABLE stored_replies (
      address TEXT PRIMARY KEY,
      previous TEXT,
      account_id TEXT NOT NULL,
      key_id TEXT NOT NULL,
      at_ms INTEGER NOT NULL,
      bytes INTEGER NOT NULL,
      reply_bytes INTEGER NOT NULL,
      input TEXT NOT NULL,
      reply TEXT NOT NULL
    ) {strict}`,
    `CREATE INDEX stored_replies_age ON stored_replies (at_ms)`,
    `CREATE INDEX stored_replies_account ON stored_replies (account_id, at_ms)`,
    `CREATE INDEX stored_replies_key ON stored_replies (key_id)`,
    // Which reply has the item at an address.
    `CREATE TABLE stored_items (
      address TEXT PRIMARY KEY,
      reply TEXT NOT NULL
    ) {strict}{rowless}`,
    `CREATE INDEX stored_items_reply ON stored_items (reply)`,
    // The sum of an account's stored_replies.bytes.
    `CREATE TABLE stored_bytes (
      account_id TEXT PRIMARY KEY,
      bytes INTEGER NOT NULL
    ) {strict}{rowless}`,
  ],
  [
    // Reports read these tables; they never sum up the ledger. usage_daily, which has a row per
    // end user, remains for reports by end user.
    `CREATE TABLE usage_days (
      day INTEGER NOT NULL,
      ${ROLL_UP_COLUMNS},
      PRIMARY KEY (day, account_id, key_id, model)
    ) {strict}{rowless}`,
    `CREATE INDEX usage_days_account ON usage_days (account_id, day, key_id, model)`,
    `CREATE INDEX usage_days_key ON usage_days (key_id, day, account_id, model)`,
    // Hours count from 1970. Rows older than 35 days are removed.
    `CREATE TABLE usage_hours (
      hour INTEGER NOT NULL,
      ${ROLL_UP_COLUMNS},
      PRIMARY KEY (hour, account_id, key_id, model)
    ) {strict}{rowless}`,
    `CREATE INDEX usage_hours_account ON usage_hours (account_id, hour, key_id, model)`,
    `CREATE INDEX usage_hours_key ON usage_hours (key_id, hour, account_id, model)`,
    // The day's entries are within these bounds; entries of neighbouring days may be as well.
    `CREATE TABLE ledger_days (
      day INTEGER PRIMARY KEY,
      first_seq INTEGER NOT NULL,
      last_seq INTEGER NOT NULL
    ) {strict}`,
    // The top-ups among the ledger's entries. An index on the ledger would take longer to make
    // than a start may take.
    `CREATE TABLE ledger_top_ups (
      seq INTEGER PRIMARY KEY,
      account_id TEXT NOT NULL
    ) {strict}`,
    `CREATE INDEX ledger_top_ups_account ON ledger_top_ups (account_id, seq)`,
    // Entries up to next_seq are missing in the four tables above, so that the sums are complete
    // only from from_day on. 0: none is missing.
    `CREATE TABLE roll_up_backfill (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      next_seq INTEGER NOT NULL,
      from_day INTEGER NOT NULL
    ) {strict}`,
    `INSERT INTO roll_up_backfill (id, next_seq, from_day) SELECT 1,
      COALESCE((SELECT seq FROM ledger ORDER BY seq DESC LIMIT 1), 0),
      COALESCE((SELECT at_ms / 86400000 + 1 FROM ledger ORDER BY seq DESC LIMIT 1), 0)`,
  ],
  [
    // Limits of keys, and limits by week and month and of tokens. Adding a column does not
    // rewrite the table.
    ...["plans", "keys"].flatMap((table) =>
      [
        ...(table === "plans" ? [] : [
          "requests_per_minute",
          "tokens_per_minute",
          "concurrent_requests",
          "spend_per_day_micro_usd",
        ]),
        "spend_per_week_micro_usd",
        "spend_per_month_micro_usd",
        "tokens_per_day",
        "tokens_per_week",
        "tokens_per_month",
      ].map((column) => `ALTER TABLE ${table} ADD COLUMN ${column} INTEGER`)
    ),
    // The week and the month are those of accounts.day. Their sums begin with this migration.
    ...[
      "reserved_tokens",
      "day_tokens",
      "week_spent_micro_usd",
      "week_tokens",
      "month_spent_micro_usd",
      "month_tokens",
      "warned",
    ].map((column) =>
      `ALTER TABLE accounts ADD COLUMN ${column} INTEGER NOT NULL DEFAULT 0`
    ),
    // NULL: reserved by a process that does not count it.
    `ALTER TABLE reservations ADD COLUMN reserved_tokens INTEGER`,
    // What is used of the limits of a key, as the columns of accounts; a row per key with limits.
    `CREATE TABLE key_states (
      key_id TEXT PRIMARY KEY,
      reserved_micro_usd INTEGER NOT NULL,
      requests_used INTEGER NOT NULL,
      requests_at_ms INTEGER NOT NULL,
      tokens_used INTEGER NOT NULL,
      tokens_at_ms INTEGER NOT NULL,
      open_requests INTEGER NOT NULL,
      reserved_tokens INTEGER NOT NULL,
      day INTEGER NOT NULL,
      day_spent_micro_usd INTEGER NOT NULL,
      day_tokens INTEGER NOT NULL,
      week_spent_micro_usd INTEGER NOT NULL,
      week_tokens INTEGER NOT NULL,
      month_spent_micro_usd INTEGER NOT NULL,
      month_tokens INTEGER NOT NULL,
      warned INTEGER NOT NULL
    ) {strict}{rowless}`,
  ],
  [
    `ALTER TABLE accounts ADD COLUMN warn_below_micro_usd INTEGER`,
    // Where an account's warnings are sent, at most one address. The secret signs them, so it
    // cannot be stored as a hash.
    `CREATE TABLE webhooks (
      account_id TEXT PRIMARY KEY REFERENCES accounts (id),
      url TEXT NOT NULL,
      secret TEXT NOT NULL,
      created_at_ms INTEGER NOT NULL
    ) {strict}`,
    // Messages that are not delivered yet.
    `CREATE TABLE webhook_messages (
      id TEXT PRIMARY KEY,
      account_id TEXT NOT NULL,
      body TEXT NOT NULL,
      attempts INTEGER NOT NULL,
      next_at_ms INTEGER NOT NULL
    ) {strict}`,
    `CREATE INDEX webhook_messages_due ON webhook_messages (next_at_ms)`,
    `CREATE INDEX webhook_messages_account ON webhook_messages (account_id)`,
  ],
  [
    // Credentials of the console. Of each only a hash is stored.
    `CREATE TABLE account_tokens (
      id TEXT PRIMARY KEY,
      account_id TEXT NOT NULL REFERENCES accounts (id),
      scope TEXT NOT NULL CHECK (scope IN ('read', 'manage')),
      name TEXT NOT NULL,
      hint TEXT NOT NULL,
      hash TEXT NOT NULL UNIQUE,
      created_at_ms INTEGER NOT NULL,
      expires_at_ms INTEGER NOT NULL,
      revoked_at_ms INTEGER,
      last_used_at_ms INTEGER
    ) {strict}`,
    `CREATE INDEX account_tokens_account ON account_tokens (account_id, id)`,
    // Codes of sign-in links. Each opens one console session.
    `CREATE TABLE sign_in_codes (
      id TEXT PRIMARY KEY,
      account_id TEXT NOT NULL REFERENCES accounts (id),
      scope TEXT NOT NULL CHECK (scope IN ('read', 'manage')),
      hash TEXT NOT NULL UNIQUE,
      created_at_ms INTEGER NOT NULL,
      expires_at_ms INTEGER NOT NULL,
      used_at_ms INTEGER
    ) {strict}`,
    // subject is the id of a key, token or code. proof depends on the cookie's value and on a
    // credential that is not in the store; '' where the credential is.
    `CREATE TABLE console_sessions (
      id TEXT PRIMARY KEY,
      hash TEXT NOT NULL UNIQUE,
      kind TEXT NOT NULL CHECK (kind IN ('key', 'read', 'manage', 'operator')),
      subject TEXT NOT NULL,
      account_id TEXT,
      proof TEXT NOT NULL,
      made_at_ms INTEGER NOT NULL,
      seen_at_ms INTEGER NOT NULL,
      ends_at_ms INTEGER NOT NULL
    ) {strict}`,
    `CREATE INDEX console_sessions_account ON console_sessions (account_id, id)`,
    `CREATE INDEX console_sessions_end ON console_sessions (ends_at_ms)`,
  ],
  [
    // A record per generation call, without prompt or reply. An id begins with the time, so that
    // times are bounds of the id. more: refusals of the same key and minute without a record.
    // detail: the fields that no filter uses, as JSON; a column of each would cost every call time.
    `CREATE TABLE calls (
      request_id TEXT{bytewise} PRIMARY KEY,
      account_id TEXT NOT NULL,
      key_id TEXT NOT NULL,
      model TEXT,
      user_id TEXT,
      status INTEGER,
      ended TEXT NOT NULL,
      code TEXT,
      duration_ms INTEGER,
      micro_usd INTEGER NOT NULL,
      more INTEGER NOT NULL,
      detail TEXT NOT NULL
    ) {strict}{rowless}`,
    `CREATE INDEX calls_account ON calls (account_id, request_id)`,
    `CREATE INDEX calls_key ON calls (key_id, request_id)`,
    // Counting the rows of calls would read all of them.
    `CREATE TABLE call_count (rows_kept INTEGER NOT NULL) {strict}`,
    `INSERT INTO call_count (rows_kept) VALUES (0)`,
  ],
  [
    // Who changed what. An id begins with the time, so that times are bounds of the id. before and
    // after: the fields that differ, as JSON. signs_in: the credential of a sign-in or sign-out, of
    // which the newest are kept; NULL for all other changes.
    `CREATE TABLE changes (
      id TEXT{bytewise} PRIMARY KEY,
      at_ms INTEGER NOT NULL,
      action TEXT NOT NULL,
      target TEXT NOT NULL,
      account_id TEXT,
      actor_kind TEXT NOT NULL,
      actor_id TEXT,
      actor_name TEXT,
      session TEXT,
      via TEXT NOT NULL,
      request_id TEXT,
      before TEXT,
      after TEXT,
      signs_in TEXT
    ) {strict}{rowless}`,
    ...["account_id", "target", "actor_id", "actor_kind", "action", "signs_in"]
      .map((column) =>
        `CREATE INDEX changes_${column} ON changes (${column}, id)`
      ),
    // The configuration that was recorded last, so that each is recorded once over all processes.
    `CREATE TABLE recorded_configuration (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      state TEXT NOT NULL
    ) {strict}`,
  ],
  [
    // What each process reports of itself, one row a part. A process writes its own rows only.
    `CREATE TABLE process_reports (
      process_id TEXT NOT NULL,
      part TEXT NOT NULL,
      at_ms INTEGER NOT NULL,
      body TEXT NOT NULL,
      PRIMARY KEY (process_id, part)
    ) {strict}`,
  ],
  [
    // Audits of the books. kind: daily, in the background, or full, by the command line.
    `CREATE TABLE audits (
      id TEXT{bytewise} PRIMARY KEY,
      kind TEXT NOT NULL CHECK (kind IN ('daily', 'full')),
      started_at_ms INTEGER NOT NULL,
      ended_at_ms INTEGER NOT NULL,
      accounts INTEGER NOT NULL,
      entries INTEGER NOT NULL,
      findings TEXT NOT NULL
    ) {strict}`,
    // The newest daily audit of each account. days: whether the sums by day were compared.
    `CREATE TABLE account_audits (
      account_id TEXT PRIMARY KEY,
      at_ms INTEGER NOT NULL,
      entries INTEGER NOT NULL,
      days INTEGER NOT NULL,
      findings TEXT NOT NULL
    ) {strict}{rowless}`,
    // Which daily audit was the last, and until when a process has claimed the next.
    `CREATE TABLE audit_turn (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      done_ms INTEGER NOT NULL,
      claimed_until_ms INTEGER NOT NULL,
      claimed_by TEXT NOT NULL
    ) {strict}`,
    `INSERT INTO audit_turn (id, done_ms, claimed_until_ms, claimed_by) VALUES (1, 0, 0, '')`,
  ],
  [
    // Failed and refused calls are few among many. Complete calls are not in these indexes, so
    // that they cost them nothing.
    `CREATE INDEX calls_incomplete ON calls (request_id, ended, status) WHERE ended <> 'complete'`,
    `CREATE INDEX calls_account_incomplete ON calls (account_id, request_id, ended, status)
      WHERE ended <> 'complete'`,
  ],
  [
    // The request id of the charge that a correction corrects.
    `ALTER TABLE ledger ADD COLUMN corrects TEXT`,
  ],
  [
    // What a charge is made of, as JSON; NULL: the tokens at the four rates of its price.
    `ALTER TABLE ledger ADD COLUMN lines TEXT`,
  ],
  [
    // What became of a call: see calls/outcome.ts. Of the records of earlier versions, those that
    // completed after an upstream failed count as complete.
    `ALTER TABLE calls ADD COLUMN outcome TEXT NOT NULL DEFAULT 'complete'`,
    `UPDATE calls SET outcome = CASE
      WHEN ended = 'failed' THEN 'cut'
      WHEN ended IN ('caller_left', 'lost') THEN ended
      WHEN detail LIKE '%"attempts":[{%' AND (status >= 500 OR status = 429) THEN 'upstream_failed'
      WHEN code IN ('insufficient_balance', 'account_disabled', 'model_not_in_plan', 'key_revoked', 'key_expired')
        OR code LIKE '%_per_%' OR code LIKE '%concurrent_requests' THEN 'limited'
      WHEN status >= 500 THEN 'gateway_failed'
      ELSE 'invalid' END
      WHERE ended <> 'complete'`,
    `DROP INDEX calls_incomplete`,
    `DROP INDEX calls_account_incomplete`,
    `CREATE INDEX calls_unsmooth ON calls (request_id, outcome, status) WHERE outcome <> 'complete'`,
    `CREATE INDEX calls_account_unsmooth ON calls (account_id, request_id, outcome, status)
      WHERE outcome <> 'complete'`,
    // A line for each attempt that failed at its upstream, also where another one replied. An id
    // begins with the time of the failure, so that times are bounds of the id.
    `CREATE TABLE failed_attempts (
      id TEXT{bytewise} PRIMARY KEY,
      request_id TEXT NOT NULL,
      account_id TEXT NOT NULL,
      model TEXT NOT NULL,
      upstream TEXT NOT NULL,
      error TEXT NOT NULL,
      outcome TEXT NOT NULL,
      duration_ms INTEGER NOT NULL,
      words TEXT
    ) {strict}{rowless}`,
    `CREATE INDEX failed_attempts_upstream ON failed_attempts (upstream, id)`,
  ],
  [
    // Calls by minute of their arrival, outcome, and class of the time to the first token.
    `CREATE TABLE call_minutes (
      minute INTEGER NOT NULL,
      outcome TEXT NOT NULL,
      first_token INTEGER NOT NULL,
      calls INTEGER NOT NULL,
      PRIMARY KEY (minute, outcome, first_token)
    ) {strict}{rowless}`,
  ],
  [
    // Who a sign-in link is for, and who has a session; NULL: not known.
    `ALTER TABLE sign_in_codes ADD COLUMN name TEXT`,
    `ALTER TABLE console_sessions ADD COLUMN name TEXT`,
  ],
  [
    // Why the last attempt failed; NULL: it did not, or there was none yet.
    `ALTER TABLE webhook_messages ADD COLUMN last_error TEXT`,
    // Messages that were delivered, or given up with an error; the newest of each account.
    `CREATE TABLE webhook_deliveries (
      id TEXT PRIMARY KEY,
      account_id TEXT NOT NULL,
      at_ms INTEGER NOT NULL,
      type TEXT NOT NULL,
      attempts INTEGER NOT NULL,
      error TEXT
    ) {strict}`,
    `CREATE INDEX webhook_deliveries_account ON webhook_deliveries (account_id, at_ms)`,
  ],
  [
    // As ledger_days, by account: a row that entries of all accounts change would let one write run
    // at a time. ledger_days keeps the entries of earlier versions.
    `CREATE TABLE account_days (
      account_id TEXT NOT NULL,
      day INTEGER NOT NULL,
      first_seq INTEGER NOT NULL,
      last_seq INTEGER NOT NULL,
      PRIMARY KEY (account_id, day)
    ) {strict}{rowless}`,
    `CREATE INDEX account_days_day ON account_days (day)`,
    // For a replica: a number that is written once all entries up to it are.
    `CREATE TABLE ledger_end (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      seq INTEGER NOT NULL
    ) {strict}`,
    `INSERT INTO ledger_end (id, seq) VALUES (1, 0)`,
  ],
  [
    // Programs of versions that do not look at `writers` know the open calls by another name, so
    // that their writes fail.
    `ALTER TABLE reservations RENAME TO open_calls`,
    // Programs with an older schema than this neither start nor write: see worksSince().
    `CREATE TABLE writers (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      least_version INTEGER NOT NULL
    ) {strict}`,
    `INSERT INTO writers (id, least_version) VALUES (1, 0)`,
    worksSince(20),
  ],
  [
    // Calls by day and hour of their arrival, as call_minutes, of each key and model; with an empty
    // key_id of each account, and with an empty account_id too of all of them.
    ...["day", "hour"].flatMap((step) => [
      `CREATE TABLE call_${step}s (
        account_id TEXT NOT NULL,
        key_id TEXT NOT NULL,
        ${step} INTEGER NOT NULL,
        model TEXT NOT NULL,
        outcome TEXT NOT NULL,
        first_token INTEGER NOT NULL,
        calls INTEGER NOT NULL,
        PRIMARY KEY (account_id, key_id, ${step}, model, outcome, first_token)
      ) {strict}{rowless}`,
      `CREATE INDEX call_${step}s_${step} ON call_${step}s (${step})`,
    ]),
  ],
  [
    // The next message of an account, however many wait.
    `DROP INDEX webhook_messages_account`,
    `CREATE INDEX webhook_messages_next ON webhook_messages (account_id, next_at_ms, id)`,
  ],
  [
    `ALTER TABLE plans ADD COLUMN estimated_percent INTEGER CHECK (estimated_percent >= 0)`,
  ],
  [
    // Long texts of stored replies, in sealed parts that are written before the reply's row. at_ms
    // is when the last part was written, 0 once the reply is stored: see stored_parts.ts.
    `CREATE TABLE stored_texts (
      reply TEXT PRIMARY KEY,
      at_ms INTEGER NOT NULL
    ) {strict}{rowless}`,
    `CREATE TABLE stored_parts (
      reply TEXT NOT NULL,
      part INTEGER NOT NULL,
      sealed TEXT NOT NULL,
      PRIMARY KEY (reply, part)
    ) {strict}`,
  ],
  [
    // Of each operator token only a hash is stored. scope: see operator_scope.ts.
    `CREATE TABLE operator_tokens (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      scope TEXT NOT NULL,
      hint TEXT NOT NULL,
      hash TEXT NOT NULL UNIQUE,
      created_at_ms INTEGER NOT NULL,
      expires_at_ms INTEGER NOT NULL,
      revoked_at_ms INTEGER,
      last_used_at_ms INTEGER
    ) {strict}`,
  ],
  [
    // Who served the call of a charge; NULL: not known, or no vendor.
    `ALTER TABLE ledger ADD COLUMN vendor TEXT`,
  ],
];

/** The schema version from which on `writers` exists. */
export const WRITERS_SINCE: number = 1 +
  MIGRATIONS.findIndex((steps) =>
    steps.some((step) => step.startsWith("CREATE TABLE writers"))
  );
