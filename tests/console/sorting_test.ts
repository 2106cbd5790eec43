/** Lists in the order of a column: by links, over all pages, with filters, with bounded reads. */
import assert from "node:assert/strict";
import { RANKED } from "../../gateway/accounts/reports/ranked.ts";
import { openStore } from "../../gateway/accounts/store/open_store.ts";
import { storeCharges } from "../../gateway/accounts/testing/stored_charges.ts";
import {
  startConsole,
  visit,
  visitAs,
  type Visitor,
} from "../support/console/visitor.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const OPERATOR = "/console/operator";
const OLD_DOLLARS = 900;

/** The exact amounts of the column with this heading. */
function amounts(html: string, heading: string): readonly number[] {
  const [head = "", body = ""] = html.split("<tbody>");
  const at = [...head.matchAll(/<th [^]*?<\/th>/g)].findIndex(([one]) =>
    one.includes(`>${heading}<`)
  );
  return [...(body.split("</tbody>")[0] ?? "").matchAll(/<tr>([^]*?)<\/tr>/g)]
    .map(([, row = ""]) => {
      const cell = [...row.matchAll(/<t[dh][^]*?<\/t[dh]>/g)][at]?.[0] ?? "";
      return Number(
        /<data value="(-?\d+)"/.exec(cell)?.[1] ??
          cell.replaceAll(/<[^>]*>|,/g, ""),
      );
    });
}

function headLink(html: string, heading: string): string {
  return new RegExp(`<th[^>]*><a href="([^"]*)">${heading}</a>`).exec(html)
    ?.[1] ?? "";
}

/** The page of an address, and those that follow by its links. */
async function pagesFrom(
  visitor: Visitor,
  path: string,
  more: RegExp,
): Promise<readonly string[]> {
  const pages: string[] = [];
  for (let next: string | undefined = path; next !== undefined;) {
    const html: string = await visitor.read(next);
    pages.push(html);
    next = more.exec(html)?.[1];
  }
  return pages;
}

Deno.test("lists are sorted by a column over all pages, and keep their filters", async (t) => {
  await using folder = await temporaryFolder();
  const url = `sqlite:${folder.path}/books.sqlite3`;
  await using gateway = await startConsole({ env: { DATABASE_URL: url } });
  const { admin } = gateway.accounts;
  for (let at = 0; at < 230; at++) {
    await admin.accounts.topUp("default", { microUsd: 1000 + at * 37 % 230 });
  }
  for (const words of [5, 500, 50]) {
    const reply = await gateway.call({
      model: "vendorb-5.5",
      text: "word ".repeat(words),
    });
    await reply.text();
  }
  await gateway.recorded();
  const operator = await visitAs(gateway, "operator");

  await t.step("the ledger by amount, in both directions", async () => {
    const path = `${OPERATOR}/ledger?kind=top_up&account=default`;
    const first = headLink(await operator.read(path), "Amount");
    assert.match(first, /kind=top_up&account=default&sort=amount/);
    const pages = await pagesFrom(
      operator,
      first,
      /<a href="([^"]*)">More lines/,
    );
    assert.match(pages[0] ?? "", /aria-sort="ascending"[^>]*><a/);
    const found = pages.flatMap((html) => amounts(html, "Amount"));
    assert.equal(pages.length, 3);
    assert.deepEqual(
      found,
      Array.from({ length: 230 }, (_, at) => 1000 + at),
    );
    const back = headLink(pages[0] ?? "", "Amount");
    assert.equal(
      amounts(await operator.read(back), "Amount")[0],
      1229,
    );
  });

  await t.step("the ledger from the oldest line on", async () => {
    const pages = await pagesFrom(
      operator,
      headLink(
        await operator.read(`${OPERATOR}/ledger`),
        "Time \\(UTC\\)",
      ),
      /<a href="([^"]*)">Newer lines/,
    );
    const lines = pages.flatMap((html) =>
      [...html.matchAll(/<th[^>]*>#(\d+)/g)].map(([, seq]) => Number(seq))
    );
    assert.equal(new Set(lines).size, 233);
    assert.deepEqual(lines, lines.toSorted((a, b) => a - b));
  });

  await t.step("calls by cost", async () => {
    const list = await operator.read(`${OPERATOR}/calls?model=vendorb-5.5`);
    assert.match(list, /aria-sort="descending"[^>]*><a[^>]*>Time/);
    const path = headLink(list, "Cost");
    assert.match(path, /model=vendorb-5\.5&sort=-cost/);
    const costs = amounts(await operator.read(path), "Cost");
    assert.equal(costs.length, 3);
    assert.deepEqual(costs, costs.toSorted((a, b) => b - a));
    assert.ok(new Set(costs).size > 1);
    await operator.read(headLink(list, "Whole"));
  });

  await t.step("usage by every column", async () => {
    const html = await operator.read(`${OPERATOR}/usage?by=model`);
    for (
      const column of [
        ...["Charges", "Input", "Cache read", "Output", "Cost"],
        ...["Calls", "Refused", "Errors"],
      ]
    ) {
      const path = headLink(html, column);
      assert.match(path, /by=model&sort=/, column);
      const found = amounts(await operator.read(path), column);
      assert.deepEqual(found, found.toSorted((a, b) => b - a), column);
    }
    for (
      const column of ["First token p50, p95", "From cache", "Saved by it"]
    ) {
      const sorted = await operator.read(headLink(html, column));
      assert.match(
        sorted,
        new RegExp(`aria-sort="descending"[^>]*><a[^>]*>${column}<`),
      );
    }
  });

  await t.step(
    "the dearest of very many end users, whose name is last",
    async () => {
      const store = await openStore(url);
      await storeCharges(
        store,
        Array.from({ length: 1200 }, (_, at) => ({
          requestId: `req_of_user_${at}`,
          accountId: "of_users",
          model: "model_1",
          user: `user_${at === 0 ? "z" : String(at).padStart(4, "0")}`,
          tokens: { input: 1, cacheRead: 0, cacheWrite: 0, output: 0 },
          price: {
            input: at === 0 ? 5e12 : 1_000_000,
            cacheRead: 0,
            cacheWrite: 0,
            output: 0,
          },
          atMs: Date.now(),
        })),
      );
      await store.close();
      const path = `${OPERATOR}/usage?by=user&account=of_users`;
      const html = await operator.read(path);
      assert.equal(amounts(html, "Cost")[0], 5_000_000);
      assert.equal(amounts(html, "Cost").length, 100);
      assert.match(html, /The first 100\s+lines in this order/);
      assert.match(html, /Sum<\/td>[^]*1,200/);
    },
  );

  await t.step(
    "a figure of another table orders only lines that are all shown",
    async () => {
      const store = await openStore(url);
      await storeCharges(
        store,
        Array.from({ length: 101 }, (_, at) => ({
          requestId: `req_of_key_${at}`,
          accountId: "of_keys",
          keyId: `key_of_${at}`,
          model: "model_1",
          tokens: { input: 1, cacheRead: 1, cacheWrite: 0, output: 0 },
          price: { input: 1, cacheRead: 0, cacheWrite: 0, output: 0 },
          atMs: Date.now(),
        })),
      );
      await store.close();
      const path = `${OPERATOR}/usage?by=key&account=of_keys`;
      const html = await operator.read(path);
      assert.match(html, /The first 100 of 101\s+lines in this order/);
      assert.equal(headLink(html, "Errors"), "");
      assert.notEqual(headLink(html, "Cost"), "");
      const reply = await operator.get(`${path}&sort=-errors`);
      assert.equal(reply.status, 400);
      assert.match(
        await reply.text(),
        /role="alert">Sort: orders at most 100 lines/,
      );
    },
  );

  await t.step(
    "plans, models and tokens by every order of theirs",
    async () => {
      for (const requestsPerMinute of [7, 8]) {
        await admin.plans.create({
          id: `plan_${requestsPerMinute}`,
          requestsPerMinute,
        });
      }
      await admin.tokens.issue({
        accountId: "default",
        scope: "read",
        name: "b",
      });
      const { text = "" } = await admin.tokens.issue({
        accountId: "default",
        scope: "manage",
        name: "a",
      });
      const owner = await visit(gateway.url, "manage", text);
      for (
        const [visitor, path, first, count] of [
          [operator, `${OPERATOR}/plans`, "Plan", 2],
          [operator, `${OPERATOR}/models`, "Model", 7],
          [owner, "/console/models", "Model", 9],
          [owner, "/console/access", "Name", 5],
        ] as const
      ) {
        const html = await visitor.read(path);
        const heads = [
          ...html.matchAll(/<th scope="col"[^>]*><a href="([^"]*)">([^<]*)</g),
        ];
        assert.equal(heads.length, count, path);
        for (const [, href = "", name = ""] of heads) {
          const there = await visitor.read(href);
          assert.match(
            there,
            new RegExp(`aria-sort="[a-z]*"[^>]*><a[^>]*>${name}<`),
            `${path}: ${name}`,
          );
        }
        const firstCells = (page: string): readonly string[] =>
          [...(page.split("<tbody>")[1]?.split("</tbody>")[0] ?? "")
            .matchAll(/<tr><th[^>]*>([^]*?)<\/th>/g)].map(([, cell = ""]) =>
              cell
            );
        const one = firstCells(await visitor.read(headLink(html, first)));
        const back = headLink(
          await visitor.read(headLink(html, first)),
          first,
        );
        assert.ok(one.length > 1, path);
        assert.deepEqual(
          firstCells(await visitor.read(back)),
          one.toReversed(),
        );
        const reply = await visitor.get(`${path}?sort=x`);
        assert.equal(reply.status, 400, path);
        await reply.body?.cancel();
      }
    },
  );

  await t.step("an order that a list does not have", async () => {
    for (
      const path of [
        "calls?sort=x",
        "calls?sort=time",
        "ledger?sort=x",
        "usage?sort=x",
        "upstreams?sort=x",
        "webhooks?sort=x",
      ]
    ) {
      const reply = await operator.get(`${OPERATOR}/${path}`);
      assert.equal(reply.status, 400, path);
      assert.match(await reply.text(), /role="alert">Sort: /, path);
    }
  });

  await t.step("the newest lines of very many", async () => {
    const store = await openStore(url);
    const charge = (at: number, dollars: number) => ({
      requestId: `req_${String(at).padStart(12, "0")}`,
      keyId: "key_1",
      model: "model_1",
      tokens: { input: 1_000_000, cacheRead: 0, cacheWrite: 0, output: 0 },
      price: {
        input: dollars * 1_000_000,
        cacheRead: 0,
        cacheWrite: 0,
        output: 0,
      },
      atMs: Date.now(),
    });
    await storeCharges(store, [
      charge(0, OLD_DOLLARS),
      ...Array.from({ length: RANKED }, (_, at) => charge(at + 1, at % 7)),
    ]);
    await store.close();
    const path = `${OPERATOR}/ledger?kind=charge&sort=amount`;
    const html = await operator.read(path);
    assert.equal(amounts(html, "Amount")[0], -6_000_000);
    assert.match(html, /In order are the newest 10,000 lines/);
    assert.match(html, /More lines/);
  });
});
