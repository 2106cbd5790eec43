/** Failures have names: in lists, filters, files and the API; failed attempts have a line each. */
import assert from "node:assert/strict";
import { limitWords } from "../../gateway/accounts/limits/limit_levels.ts";
import { LIMIT_NAMES, LIMITS } from "../../gateway/accounts/records.ts";
import { helpOf } from "../../routes/console/parts/reasons.tsx";
import { ERROR_STATUS } from "../../translate/model/error.ts";
import { objectOr } from "../../translate/bytes/json.ts";
import {
  ADMIN_TOKEN,
  credentialOf,
  visit,
  visitAs,
  type Visitor,
} from "../support/console/visitor.ts";
import { csvRows } from "../support/console/csv_rows.ts";
import { type Candidates, withCandidates } from "../support/with_candidates.ts";
import { bearer } from "../support/clients/bearer.ts";

/** Lines of the first table of a page. */
function linesOf(html: string): number {
  return (/<tbody>(.*?)<\/tbody>/s.exec(html)?.[1] ?? "").split("<tr>")
    .length - 1;
}

function test(
  name: string,
  run: (candidates: Candidates, operator: Visitor) => Promise<void>,
): void {
  Deno.test(name, () =>
    withCandidates(
      { env: { GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN }, random: () => 0 },
      async (candidates) =>
        run(
          candidates,
          await visit(candidates.gateway.url, "operator", ADMIN_TOKEN),
        ),
    ));
}

/** Makes a call and returns its id once its record can be read. */
async function callOf(
  { gateway, ask, entryOf }: Candidates,
  how: Parameters<Candidates["ask"]>[0] = {},
): Promise<string> {
  const reply = await ask(how);
  await reply.text().catch(() => {});
  await entryOf(reply);
  await gateway.accounts.flush();
  await gateway.recorded();
  return reply.headers.get("request-id") ?? "";
}

test(
  "refusals with a status that no table knows are counted, listed, and lead to their attempts",
  async (candidates, operator) => {
    const { a, gateway } = candidates;
    assert.doesNotMatch(
      await operator.read("/console/operator/upstreams"),
      /Unknown refusals/,
    );
    a.play([
      { status: 418, message: "quota of teapots" },
      { status: 418 },
      { status: 400 },
      { status: 422 },
    ]);
    for (let call = 0; call < 4; call++) await callOf(candidates);
    const html = await operator.read("/console/operator/upstreams");
    const [, section = ""] = html.split("<h2>Unknown refusals</h2>");
    assert.match(section, /a\/model-a[^]*?418/);
    const href = /<a href="(\/console\/operator\/attempts\?[^"]+)">2<\/a>/
      .exec(section)?.[1];
    assert.ok(href !== undefined, section.slice(0, 2_000));
    assert.equal(linesOf(await operator.read(href)), 2);
    const metrics = await (await fetch(
      `${gateway.url}/metrics`,
      bearer(ADMIN_TOKEN),
    )).text();
    assert.match(
      metrics,
      /gateway_upstream_refusals_total\{[^}]*unknown_418[^}]*\} 2/,
    );
  },
);

test(
  "each failed attempt has a line, and the upstreams' figures lead to as many",
  async (candidates, operator) => {
    const { a, b } = candidates;
    // Rescued twice, refused by both once, and a request that is itself at fault.
    a.play([{ status: 503 }, { status: 529 }], { status: 500 });
    b.play(["ok", "ok"], { status: 502 });
    const rescued = await callOf(candidates);
    await callOf(candidates);
    const failed = await callOf(candidates);
    a.play([{ status: 400 }]);
    await callOf(candidates);
    const { record } = await candidates.gateway.accounts.admin.calls.get(
      failed,
      {},
    );
    const attempts = record.attempts ?? [];
    const at = (upstream: string): number =>
      attempts.filter((one) => one["upstream"] === upstream).length;
    const all = 2 + attempts.length;
    const html = await operator.read("/console/operator/upstreams");
    let followed = 0;
    for (
      const [, href = "", text = ""] of html.matchAll(
        /<a href="(\/console\/operator\/attempts\?[^"]+)">([^<]+)<\/a>/g,
      )
    ) {
      const lines = linesOf(await operator.read(href));
      assert.equal(lines, Number(text.split(" ")[0]), `${text}: ${href}`);
      followed += lines;
    }
    // Each once in the sum of its candidate, and once by its status.
    assert.equal(followed, 2 * all);
    const page = await operator.read("/console/operator/attempts");
    assert.equal(linesOf(page), all);
    assert.match(page, new RegExp(`${rescued}[^]*?rescued`));
    for (
      const [query, lines] of [
        ["outcome=rescued", 2],
        ["error=503", 1],
        ["error=418", 0],
        ["upstream=a/model-a", 2 + at("a/model-a")],
        ["upstream=b/model-b&error=502", at("b/model-b")],
        ["model=house-model&from=2026-01-01T00:00", all],
        ["to=2026-01-01T00:00", 0],
      ] as const
    ) {
      const found = await operator.read(`/console/operator/attempts?${query}`);
      assert.equal(linesOf(found), lines, query);
    }
    const listed = await (await fetch(
      `${candidates.gateway.url}/admin/v1/failed-attempts?outcome=upstream_failed`,
      bearer(ADMIN_TOKEN),
    )).json();
    assert.deepEqual(
      listed["data"].map((one: Record<string, unknown>) => [
        one["request_id"],
        one["upstream"],
        one["error"],
      ]),
      attempts.toReversed().map((one) => [
        failed,
        one["upstream"],
        String(one["status"]),
      ]),
    );
  },
);

test(
  "the upstreams have every way in which attempts failed, which add up",
  async (candidates, operator) => {
    for (const status of [500, 502, 503, 529]) {
      for (const one of [candidates.a, candidates.b]) one.play([], { status });
      await callOf(candidates);
    }
    const html = await operator.read("/console/operator/upstreams");
    const rows = [
      ...html.matchAll(/<a [^>]*>(\d+) of \d+ failed<\/a>(.*?)<\/td>/g),
    ]
      .map(([, sum, ways = ""]) => ({
        sum: Number(sum),
        ways: [...ways.matchAll(/>(\d+)<\/a>/g)].map(([, count]) =>
          Number(count)
        ),
      }));
    assert.ok(rows.some(({ ways }) => ways.length === 4));
    for (const { sum, ways } of rows) {
      assert.equal(ways.reduce((all, count) => all + count, 0), sum);
    }
  },
);

test(
  "lists, filters, files and the API tell the endings apart",
  async (candidates, operator) => {
    const { a, b, gateway } = candidates;
    const { admin } = gateway.accounts;
    const own = await credentialOf(gateway, "key");
    const made: Record<string, string> = {};
    made["complete"] = await callOf(candidates);
    a.play([{ status: 503 }]);
    made["rescued"] = await callOf(candidates);
    a.play([], { status: 500 });
    b.play([], { status: 500 });
    made["upstream_failed"] = await callOf(candidates);
    a.play([]);
    b.play([]);
    made["invalid"] = await callOf(candidates, { body: { max_tokens: -1 } });
    a.play(["cut"]);
    made["cut"] = await callOf(candidates, { stream: true });
    await admin.keys.update(own.id, { spendPerDayMicroUsd: 1 });
    made["limited"] = await callOf(candidates, {
      headers: { "x-api-key": own.text },
    });
    const rows = csvRows(await operator.read("/console/operator/calls.csv"));
    for (const [outcome, id] of Object.entries(made)) {
      const row = rows.find((one) => one["request_id"] === id);
      assert.equal(row?.["outcome"], outcome);
      const list = await operator.read(
        `/console/operator/calls?outcome=${outcome}`,
      );
      assert.equal(linesOf(list), 1, outcome);
      assert.ok(list.includes(id), outcome);
      const json = objectOr(
        await (await fetch(
          `${gateway.url}/admin/v1/calls/${id}`,
          bearer(ADMIN_TOKEN),
        )).json(),
      );
      assert.equal(json["outcome"], outcome);
    }
    const page = (outcome: string): Promise<string> =>
      operator.read(`/console/operator/calls/${made[outcome]}`);
    assert.match(await page("upstream_failed"), /status <b>500<\/b>/);
    assert.match(
      await page("upstream_failed"),
      /What helps: The vendor failed/,
    );
    assert.match(await page("rescued"), /status <b>503<\/b>/);
    assert.match(
      await page("cut"),
      /ended with <b>no complete reply<\/b>: <bdi>the upstream/,
    );
    assert.match(await page("limited"), /this key's daily budget/);
    assert.match(await page("limited"), /The limit was <data value="1">\$0/);
    assert.match(
      await page("limited"),
      /room for it at no time[^]*What helps: Lower max_tokens, or ask/,
    );
  },
);

for (
  const [action, limit, words] of [
    ["silence", "first_byte_seconds", "the upstream did not answer in time"],
    ["stall", "idle_seconds", "the upstream fell silent during its reply"],
  ] as const
) {
  Deno.test(`the page of a call and the list of attempts say that ${words}`, () =>
    withCandidates(
      {
        env: { GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN },
        model: { timeouts: { [limit]: 0.2 } },
        b: null,
      },
      async (candidates) => {
        const { gateway, a } = candidates;
        a.play([], action);
        const id = await callOf(candidates, { stream: true });
        const operator = await visitAs(gateway, "operator");
        const page = await operator.read(`/console/operator/calls/${id}`);
        assert.ok(page.includes(`<b>timeout</b>: <bdi>${words}</bdi>`));
        assert.match(page, /What helps: The vendor took too long/);
        const upstreams = await operator.read("/console/operator/upstreams");
        const [, href = "", count = ""] =
          /timeout: <a href="([^"]+)">(\d+)</.exec(upstreams) ?? [];
        const attempts = await operator.read(href);
        assert.equal(linesOf(attempts), Number(count));
        assert.ok(attempts.includes(words));
      },
    ));
}

test(
  "a refused credential does not work, and an unused one is not used yet",
  async (candidates, operator) => {
    const { a } = candidates;
    const credentials = async (): Promise<readonly string[]> =>
      (await operator.read("/console/operator/upstreams")).split("<tr>")
        .filter((row) => /<td [^>]*>[ab]\/model-/.test(row))
        .toSorted((one, other) =>
          one.indexOf("a/model-a") < other.indexOf("a/model-a") ? 1 : -1
        )
        .map((row) =>
          (row.split("</tr>")[0]?.split("<td").at(-1) ?? "").replaceAll(
            /^[^>]*>|<[^>]*>/g,
            "",
          )
        );
    assert.deepEqual(await credentials(), ["not used yet", "not used yet"]);
    a.play([{ status: 401 }]);
    const id = await callOf(candidates);
    assert.deepEqual(await credentials(), [
      "refused the credential was refused with 401: error_by_status: scripted error",
      "works",
    ]);
    const page = await operator.read(`/console/operator/calls/${id}`);
    assert.match(page, /the credential was refused/);
    assert.match(
      page,
      /What helps: The vendor refuses the gateway's credential/,
    );
  },
);

Deno.test("for every code of a refusal the console knows what helps", async () => {
  const codes = new Set<string>(Object.keys(ERROR_STATUS));
  for (const name of LIMIT_NAMES) {
    const column = LIMITS[name].column.replace(/_micro_usd$/, "")
      .replace("spend_", "spending_");
    codes.add(column).add(`key_${column}`);
  }
  // Of calls, not of the console and the administration.
  for (
    const folder of [
      "gateway/accounts/limits",
      "gateway/pipeline",
      "gateway/responses",
      "translate",
    ]
  ) {
    for await (
      const text of sources(new URL(`../../${folder}/`, import.meta.url))
    ) {
      for (const [, code = ""] of text.matchAll(/\bcode: "([a-z_]+)"/g)) {
        codes.add(code);
      }
    }
  }
  for (
    const code of [
      "insufficient_balance",
      "account_disabled",
      "model_not_in_plan",
      "key_revoked",
      "key_expired",
    ]
  ) codes.add(code);
  assert.ok(codes.size > 40, `only ${codes.size} codes`);
  assert.deepEqual([...codes].filter((code) => helpOf(code) === undefined), []);
  assert.equal(helpOf("no_such_code"), undefined);
  assert.equal(limitWords("key_spending_per_day"), "this key's daily budget");
});

async function* sources(folder: URL): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* sources(new URL(`${name}/`, folder));
    else if (name.endsWith(".ts") && !/_test\.ts$|_spec\.ts$/.test(name)) {
      yield await Deno.readTextFile(new URL(name, folder));
    }
  }
}
