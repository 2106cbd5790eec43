/**
 * Fuzzing of the admin API, for tests: no body and no query may be answered with a 5xx.
 */
import assert from "node:assert/strict";
import { ADMIN_OPERATIONS } from "../../../gateway/admin/mod.ts";
import { dispatch } from "../../../routes/mod.ts";
import {
  isObject,
  type JsonObject,
  parseJson,
} from "../../../translate/bytes/json.ts";
import { diceOf, pick, spoiled } from "./spoil.ts";
import type { Defect } from "./spoiled_requests.ts";
import { startTestGateway } from "../test_gateway.ts";

const TOKEN = "an-admin-token-of-some-length";

/** Valid bodies; each belongs to at least one operation. */
const BODIES: readonly JsonObject[] = [
  {
    id: "starter",
    models: ["vendora-opus-4-8"],
    requests_per_minute: 60,
    tokens_per_minute: 1_000,
    spend_per_day_micro_usd: 5_000_000,
    concurrent_requests: 4,
  },
  { id: "acme", plan: "starter", billing: "prepaid", name: "Acme" },
  { micro_usd: 10, note: "invoice 7", model: "vendora-opus-4-8" },
  {
    account: "acme",
    name: "laptop",
    models: ["vendora-opus-4-8"],
    expires_at: "2027-01-01T00:00:00Z",
  },
  { overlap_seconds: 60 },
  {},
];
/** Valid queries; each belongs to at least one operation. */
const QUERIES: readonly JsonObject[] = [
  { limit: "2", after: "acme" },
  { from: "2026-01-01", to: "2026-02-01", by: "model", account: "acme" },
  { format: "csv", cursor: "1" },
];

/**
 * Sends `count` requests, most of them spoiled, and calls `found` for every defect. Returns how
 * many got a 200.
 */
export async function trySpoiledAdmin(
  count: number,
  seed: number,
  found: (defect: Defect) => void,
): Promise<number> {
  const dice = diceOf(seed);
  await using gateway = await startTestGateway({
    env: { GATEWAY_ADMIN_TOKEN: TOKEN },
  });
  const operations = ADMIN_OPERATIONS.filter(({ path }) =>
    !path.includes("export")
  );
  let served = 0;
  for (let n = 0; n < count; n++) {
    const { method, path } = pick(dice, operations);
    const id = pick(dice, ["default", "acme", "starter", "unlimited", "%00"]);
    const isLook = method === "GET";
    const seeds = isLook ? QUERIES : BODIES;
    const good = pick(dice, seeds);
    const text = dice(4) === 0
      ? JSON.stringify(good)
      : spoiled(good, seeds, dice);
    const body = parseJson(text);
    if (!isObject(body)) continue;
    const query = isLook
      ? `?${new URLSearchParams(
        Object.entries(body).map(([key, value]) => [
          key.toWellFormed(),
          (typeof value === "string" ? value : JSON.stringify(value)).slice(
            0,
            2_000,
          ).toWellFormed(),
        ]),
      )}`
      : "";
    const where = `${method} ${path.replace(":id", id)}${query}`;
    try {
      const response = await dispatch(
        gateway.gateway,
        new Request(`http://gateway${path.replace(":id", id)}${query}`, {
          method,
          headers: {
            authorization: `Bearer ${TOKEN}`,
            "content-type": "application/json",
            ...(dice(3) === 0 ? { "idempotency-key": `k${dice(50)}` } : {}),
          },
          ...(isLook ? {} : { body: text }),
        }),
      );
      const answer = await response.text();
      assert.ok(response.status < 500, answer);
      assert.ok(isObject(parseJson(answer)), answer);
      if (response.status === 200) served++;
    } catch (error) {
      found({ body: text, where, error });
    }
  }
  return served;
}
