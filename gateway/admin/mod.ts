/**
 * All operations for operators. The admin API and the command line are built from this
 * list.
 */
import { ACCOUNT_OPERATIONS } from "./accounts.ts";
import { AUDIT_OPERATIONS } from "./audits.ts";
import { ATTEMPT_OPERATIONS } from "./attempts.ts";
import { CALL_OPERATIONS } from "./calls.ts";
import { CHANGE_OPERATIONS } from "./changes.ts";
import { IMPORT_OPERATIONS } from "./account_import.ts";
import { KEY_OPERATIONS } from "./keys.ts";
import { LEDGER_OPERATIONS } from "./ledger.ts";
import type { AdminOperation } from "./operation.ts";
import { OPERATOR_TOKEN_OPERATIONS } from "./operator_tokens.ts";
import { PLAN_OPERATIONS } from "./plans.ts";
import { TOKEN_OPERATIONS } from "./tokens.ts";
import { TOP_UP_OPERATIONS } from "./top_ups.ts";
import { USAGE_OPERATIONS } from "./usage.ts";
import { WEBHOOK_OPERATIONS } from "./webhooks.ts";

/** All operations; a longer path precedes its prefixes. */
export const ADMIN_OPERATIONS: readonly AdminOperation[] = [
  ...TOP_UP_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...ACCOUNT_OPERATIONS,
  ...IMPORT_OPERATIONS,
  ...PLAN_OPERATIONS,
  ...KEY_OPERATIONS.toSorted((a, b) => b.path.length - a.path.length),
  ...TOKEN_OPERATIONS,
  ...OPERATOR_TOKEN_OPERATIONS,
  ...USAGE_OPERATIONS,
  ...LEDGER_OPERATIONS,
  ...CALL_OPERATIONS,
  ...ATTEMPT_OPERATIONS,
  ...CHANGE_OPERATIONS,
  ...AUDIT_OPERATIONS,
];
