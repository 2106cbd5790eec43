/** A figure that is a link opens as many lines as it counts, on every page, for every ending. */
import assert from "node:assert/strict";
import {
  ADMIN_TOKEN,
  credentialOf,
  visit,
  visitAs,
  type Visitor,
} from "../support/console/visitor.ts";
import { csvRows } from "../support/console/csv_rows.ts";
import {
  type Candidates,
  MODEL,
  withCandidates,
} from "../support/with_candidates.ts";

/** Calls that complete, are rescued, fail, break off, and are refused for several reasons. */
async function makeCalls(
  { gateway, ask, entryOf, a, b }: Candidates,
): Promise<string> {
  const { admin } = gateway.accounts;
  const limited = await credentialOf(gateway, "key");
  const made = async (
    how: Parameters<Candidates["ask"]>[0] = {},
  ): Promise<void> => {
    const reply = await ask(how);
    await reply.text().catch(() => {});
    await entryOf(reply);
  };
  for (let at = 0; at < 3; at++) {
    await made({ body: { metadata: { user_id: `u${at}` } } });
  }
  a.play([{ status: 503 }, { status: 529 }]);
  await made();
  await made();
  a.play([], { status: 500 });
  b.play([], { status: 500 });
  await made();
  a.play([]);
  b.play([]);
  a.play(["cut"]);
  await made({ stream: true });
  await made({ body: { max_tokens: -1 } });
  await made({ body: { model: "no-such-model" } });
  await made({ body: { model: "no-such-model", max_tokens: -1 } });
  await made({ headers: { "x-api-key": limited.text } });
  await admin.keys.update(limited.id, { requestsPerMinute: 1 });
  await made({ headers: { "x-api-key": limited.text } });
  await made({ headers: { "x-api-key": limited.text } });
  await gateway.accounts.flush();
  await gateway.recorded();
  return limited.text;
}

const LISTS = /\/(calls|ledger|attempts)\?/;

/** Follows every number of a page that leads to a list, also in bars. Returns their number. */
async function followCounts(visitor: Visitor, path: string): Promise<number> {
  const html = await visitor.read(path);
  let followed = 0;
  for (
    const [link, given = "", inner = ""] of html.matchAll(
      /<a [^>]*?href="([^"]+)"[^>]*>(.*?)<\/a>/gs,
    )
  ) {
    const href = given.replaceAll("&amp;", "&");
    // The label of a bar begins with its time: `2026-11-26 07:00: 2 of 40 calls; cut 2`.
    const bar =
      /aria-label="[\d-]{10}(?: \d\d:\d\d)?: ([\d,]+(?: of [\d,]+ calls)?)(?:;[^"]*)?"/
        .exec(link)?.[1];
    const text = bar ?? inner.replaceAll(/<[^>]*>/g, "").trim();
    const count = /^([\d,]+)(?: (?:of|charges?|calls?|attempts?)\b.*)?$/s
      .exec(text)?.[1]?.replaceAll(",", "");
    if (count === undefined || !LISTS.test(href)) continue;
    const lines = href.includes("/attempts?")
      ? (await visitor.read(href)).split("<tbody>").at(-1)?.split("<tr>")
        .length ?? 0
      : csvRows(await visitor.read(href.replace(LISTS, "/$1.csv?")))
        .length + 1;
    assert.equal(lines - 1, Number(count), `${path}: ${text} → ${href}`);
    followed++;
  }
  return followed;
}

Deno.test("every count that is a link opens as many lines as it counts", () =>
  withCandidates(
    { env: { GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN }, random: () => 0 },
    async (candidates) => {
      const { gateway } = candidates;
      const key = await makeCalls(candidates);
      const owner = await visitAs(gateway, "manage");
      const operator = await visitAs(gateway, "operator");
      const ofKey = await visit(gateway.url, "key", key);
      const found: Record<string, number> = {};
      const { data: [limited] } = await gateway.accounts.admin.keys.list({});
      const keyId = limited?.id ?? "";
      const hour = (hours: number): string =>
        `${
          new Date(Date.now() + hours * 3_600_000).toISOString().slice(0, 13)
        }:00`;
      const today = hour(0).slice(0, 10);
      for (
        const [visitor, path] of [
          [owner, "/console/"],
          [owner, "/console/usage?by=day"],
          [owner, "/console/usage?by=model"],
          [owner, "/console/usage?by=key"],
          [owner, "/console/usage?by=user"],
          [owner, "/console/usage?by=day&show=calls"],
          [
            owner,
            `/console/usage?by=model&show=errors&from=${today}&to=${today}`,
          ],
          [
            owner,
            `/console/usage?by=day&show=calls&from=${hour(-23)}&to=${hour(1)}`,
          ],
          [owner, "/console/usage?by=model&show=calls&model=vendorb-5"],
          [ofKey, "/console/usage?by=model&show=errors"],
          [operator, "/console/operator/"],
          [operator, "/console/operator/usage?by=day"],
          [operator, "/console/operator/usage?by=account"],
          [operator, "/console/operator/usage?by=key"],
          [
            operator,
            "/console/operator/usage?by=key&show=errors&account=default",
          ],
          [
            operator,
            `/console/operator/usage?by=model&show=calls&key=${keyId}`,
          ],
          [operator, "/console/operator/accounts/default"],
          [operator, "/console/operator/?show=calls"],
          [operator, "/console/operator/upstreams"],
        ] as const
      ) found[path] = await followCounts(visitor, path);
      for (const [path, count] of Object.entries(found)) {
        assert.ok(count > 0, `${path} has no count that is a link`);
      }
      // A key has no keys to group by, and usage of end users has no hours.
      for (
        const [visitor, path] of [
          [ofKey, `/console/models/${MODEL}`],
          [owner, `/console/usage?from=${hour(-23)}&to=${hour(1)}`],
        ] as const
      ) {
        const links = [...(await visitor.read(path)).matchAll(
          /<a class="button[^"]*" href="([^"]*\/usage\?[^"]*)"/g,
        )];
        assert.ok(links.length > 0, path);
        for (const [, href = ""] of links) await visitor.read(href);
      }
      const ofUsers = await owner.read("/console/usage?by=user");
      assert.ok(ofUsers.includes(">Today<") && !ofUsers.includes(">24 h<"));
      // Both spans, and at least five causes.
      assert.ok((found["/console/operator/"] ?? 0) >= 12);
      // Neither may an account or a key have a count that leads elsewhere.
      for (
        const path of [
          "keys",
          "statement",
          "calls",
          "ledger",
          "models",
          "access",
          "changes",
          "connect",
        ]
      ) await followCounts(owner, `/console/${path}`);
      for (const path of ["", "usage", "calls", "models"]) {
        await followCounts(ofKey, `/console/${path}`);
      }
      for (
        const path of [
          "accounts",
          "accounts/default",
          "accounts?sort=-spent",
          "models",
          "webhooks",
          "statement?account=default",
          "keys",
          "plans",
          "calls",
          "ledger",
          "attempts",
          "changes",
          "settings",
        ]
      ) await followCounts(operator, `/console/operator/${path}`);
    },
  ));
