/**
 * An id of another account and an unknown one get the same reply. The reads of the store behind it
 * are the same too, because the time of a reply depends on them.
 */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import {
  credentialOf,
  startConsole,
  visit,
} from "../support/console/visitor.ts";

/**
 * Reads of what has an id. The gateway's own work in the background reads other tables first, such
 * as the purge of stored replies, or places in the ledger (`seq`).
 */
const READ =
  /^\s*(?:SELECT|WITH)\b(?! seq\b)(?:(?!\bFROM\b)[^])*\bFROM (?:keys|account_tokens|console_sessions|calls|ledger|changes)\b/i;

interface Statement {
  readonly sourceSQL: string;
}

/** Records every run of a statement; the returned function ends that. */
function recordReads(reads: string[]): () => void {
  const database = new DatabaseSync(":memory:");
  const prototype = Object.getPrototypeOf(database.prepare("SELECT 1"));
  database.close();
  const originals = ["all", "get", "run", "iterate"].map((name) =>
    [name, prototype[name]] as const
  );
  for (const [name, original] of originals) {
    prototype[name] = function (this: Statement, ...values: unknown[]) {
      if (READ.test(this.sourceSQL)) reads.push(this.sourceSQL);
      return original.apply(this, values);
    };
  }
  return () => {
    for (const [name, original] of originals) prototype[name] = original;
  };
}

Deno.test("an id of another account and an unknown one get the same reply for the same work", async (t) => {
  const reads: string[] = [];
  const gateway = await startConsole();
  const stop = recordReads(reads);
  try {
    const { url, accounts } = gateway;
    for (const id of ["ours", "theirs"]) {
      await accounts.admin.accounts.create({ id });
      await accounts.admin.accounts.topUp(id, { microUsd: 1_000_000 });
    }
    const key = await credentialOf(gateway, "key", "theirs");
    const token = await credentialOf(gateway, "read", "theirs");
    const call = await gateway.call({}, key.text);
    await call.text();
    await accounts.flush();
    await accounts.calls?.flush();
    const callId = call.headers.get("request-id") ?? "";
    const { text } = await credentialOf(gateway, "manage", "ours");
    const visitor = await visit(url, "manage", text);
    const api = (method: string, path: string): Promise<Response> =>
      fetch(`${url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${text}`,
          "content-type": "application/json",
        },
        ...(method === "POST" ? { body: "{}" } : {}),
      });
    const ways: readonly (readonly [
      name: string,
      id: string,
      ask: (id: string) => Promise<Response>,
    ])[] = [
      ["a call's page", callId, (id) => visitor.get(`/console/calls/${id}`)],
      ["a call", callId, (id) => api("GET", `/v1/calls/${id}`)],
      ...["limits", "rotate", "revoke"].map((page) =>
        [
          `a key's page: ${page}`,
          key.id,
          (id: string) => visitor.get(`/console/keys/${page}/${id}`),
        ] as const
      ),
      ["a key", key.id, (id) => api("POST", `/v1/account/keys/${id}`)],
      ["rotate", key.id, (id) => api("POST", `/v1/account/keys/${id}/rotate`)],
      ["revoke", key.id, (id) => api("POST", `/v1/account/keys/${id}/revoke`)],
      [
        "a token",
        token.id,
        (id) => api("POST", `/v1/account/tokens/${id}/revoke`),
      ],
      [
        "changes of a key",
        key.id,
        (id) => api("GET", `/v1/account/changes?target=${id}`),
      ],
    ];
    for (const [name, id, ask] of ways) {
      await t.step(name, async () => {
        const unknown = `${id.slice(0, -4)}zzzz`;
        const outcome = async (one: string): Promise<unknown> => {
          reads.length = 0;
          const reply = await ask(one);
          const text = (await reply.text()).replaceAll(one, "ID")
            .replaceAll(/req_\w+/g, "REQUEST")
            .replaceAll(/value="[\w-]{32,}"/g, "");
          return { status: reply.status, text, reads: [...reads] };
        };
        // The first reply may fill a cache.
        await outcome(unknown);
        const theirs = await outcome(id);
        assert.deepEqual(theirs, await outcome(unknown));
        assert.ok(reads.length > 0);
      });
    }
  } finally {
    stop();
    await gateway.close();
  }
});
