import type { Admin } from "../../../gateway/accounts/repositories/admin.ts";
import type {
  CallQuery,
  FoundCall,
} from "../../../gateway/accounts/reports/call_report.ts";
import { callJson, operatorJson } from "../../../gateway/admin/calls.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import { type JsonObject, objectOr } from "../../../translate/bytes/json.ts";
import { csvOf, csvReply } from "./csv.ts";
import { withNames } from "./with_names.ts";

const COLUMNS: readonly string[] = [
  "request_id",
  "time",
  "key",
  "model",
  "user",
  "endpoint",
  "stream",
  "status",
  "ended",
  "outcome",
  "code",
  "more_refusals",
  "duration_ms",
  "first_byte_ms",
  "first_token_ms",
  "attempts",
  "dropped",
  "input_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "output_tokens",
  "reasoning_tokens",
  "estimated",
  "micro_usd",
  "ledger_seq",
  "key_name",
];
const OPERATOR_COLUMNS: readonly string[] = [
  ...COLUMNS,
  "account",
  "account_name",
  "upstream",
  "trace",
];

/** Every call of the filters as CSV, newest first. */
export function callsCsv(
  admin: Admin,
  query: CallQuery,
  isOperators: boolean,
): Promise<HttpReply> {
  return csvReply(
    "calls",
    csvOf(
      isOperators ? OPERATOR_COLUMNS : COLUMNS,
      withNames(admin, admin.calls.all(query), ({ record }) => ({
        key: record.keyId,
        account: isOperators ? record.accountId : undefined,
      })),
      ({ item, names }) => ({
        ...rowOf(isOperators ? operatorJson(item) : callJson(item), item),
        ...names,
      }),
    ),
  );
}

function rowOf(call: JsonObject, { record }: FoundCall): JsonObject {
  const tokens = objectOr(call["tokens"]);
  return {
    ...call,
    attempts: record.attempts?.length ?? 0,
    input_tokens: tokens["input"],
    cache_read_tokens: tokens["cache_read"],
    cache_write_tokens: tokens["cache_write"],
    output_tokens: tokens["output"],
    reasoning_tokens: tokens["reasoning"],
  };
}
