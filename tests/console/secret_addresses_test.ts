/** What is entered into a search or a filter is in no address, page or log if it is a credential. */
import assert from "node:assert/strict";
import { keyHint, newCredential, newKey } from "../../gateway/accounts/key.ts";
import { ALL_ROUTES } from "../support/all_routes.ts";
import {
  ADMIN_TOKEN,
  credentialOf,
  startConsole,
  visitAs,
  type Visitor,
} from "../support/console/visitor.ts";
import { TEST_KEY, type TestGateway } from "../support/test_gateway.ts";

/** Inputs in which a person chooses, and enters no text. */
const CHOSEN =
  /type="(?:hidden|checkbox|radio|date|month|datetime-local|number|submit)"/;

interface Form {
  readonly action: string;
  readonly isSent: boolean;
  /** Names of the inputs that take any text. */
  readonly texts: readonly string[];
  readonly fields: Readonly<Record<string, string>>;
}

function formsOf(html: string): readonly Form[] {
  return [...html.matchAll(/<form\b([^>]*)>([^]*?)<\/form>/g)].map(
    ([, head = "", body = ""]) => {
      const inputs = [...body.matchAll(/<(?:input|textarea)\b[^>]*>/g)].map(
        ([tag]) => tag,
      );
      const named = (tag: string): string =>
        /name="([^"]*)"/.exec(tag)?.[1] ?? "";
      return {
        action: /action="([^"]*)"/.exec(head)?.[1] ?? "",
        isSent: head.includes('method="post"'),
        texts: inputs.filter((tag) => !CHOSEN.test(tag)).map(named),
        fields: Object.fromEntries(
          inputs.filter((tag) => tag.includes('type="hidden"')).map((tag) => [
            named(tag),
            /value="([^"]*)"/.exec(tag)?.[1] ?? "",
          ]),
        ),
      };
    },
  );
}

interface World {
  readonly gateway: TestGateway;
  readonly visitors: readonly (readonly [Visitor, "account" | "operator"])[];
  readonly key: { readonly id: string; readonly text: string };
}

async function withWorld(run: (world: World) => Promise<void>): Promise<void> {
  await using gateway = await startConsole();
  const { admin } = gateway.accounts;
  const key = await credentialOf(gateway, "key");
  for (let i = 0; i < 12; i++) await admin.plans.create({ id: `plan-${i}` });
  const reply = await gateway.post("/v1/messages", {
    model: "vendorb-5.5",
    max_tokens: 10,
    metadata: { user_id: "5f".repeat(32) },
    messages: [{ role: "user", content: "Hello" }],
  }, { "x-api-key": key.text });
  await reply.text();
  await gateway.recorded();
  await run({
    gateway,
    key,
    visitors: [
      [await visitAs(gateway, "manage"), "account"],
      [await visitAs(gateway, "key"), "account"],
      [await visitAs(gateway, "operator"), "operator"],
    ],
  });
}

/** All pages of a visitor: those of the routes, and those that their links lead to. */
async function crawl(
  { gateway, key }: World,
  visitor: Visitor,
  area: string,
): Promise<ReadonlyMap<string, string>> {
  const call = gateway.logged.at(0)?.request_id ?? "";
  const waiting = new Set(
    ALL_ROUTES.flatMap((route) =>
      route.access !== "page" || route.method !== "GET" ||
        ![area, "public", "operator_sign_in"].includes(route.area) ||
        route.isBackground === true
        ? []
        : route.path.replace(
          /:\w+$/,
          () =>
            route.path.includes("/calls/")
              ? call
              : route.path.includes("/keys/")
              ? key.id
              : route.path.includes("/models/")
              ? "vendorb-5.5"
              : route.path.includes("/plans/")
              ? "plan-1"
              : "default",
        )
    ),
  );
  const pages = new Map<string, string>();
  for (const path of waiting) {
    const reply = await visitor.get(path);
    const html = await reply.text();
    if (!html.startsWith("<!")) continue;
    pages.set(path, html.replaceAll("&amp;", "&"));
    // One filter of each name is refused, and the page is shown with the text.
    if (!path.includes("?")) waiting.add(`${path}?from=x`);
    for (const [, link = ""] of html.matchAll(/href="(\/console\/[^"#]*)/g)) {
      const clean = link.replaceAll("&amp;", "&");
      const [base = ""] = clean.split("?");
      const isNew = ![...waiting].some((one) => one.startsWith(`${base}?`));
      if (isNew && !/assets|events|live$|\.csv/.test(base)) waiting.add(clean);
    }
  }
  return pages;
}

Deno.test("no form of any page sends a text in the address", () =>
  withWorld(async (world) => {
    let texts = 0;
    for (const [visitor, area] of world.visitors) {
      for (const [path, html] of await crawl(world, visitor, area)) {
        for (const form of formsOf(html)) {
          texts += form.texts.length;
          assert.ok(
            form.isSent || form.texts.length === 0,
            `${path}: ${form.action} ${form.texts.join(", ")}`,
          );
        }
      }
    }
    assert.ok(texts > 200, `only ${texts} fields`);
  }));

Deno.test("a credential that is entered into any search or filter is in no address, page or log", () =>
  withWorld(async (world) => {
    const { gateway, visitors, key } = world;
    const secrets = [
      key.text,
      newKey(),
      newCredential("at"),
      newCredential("code"),
      ADMIN_TOKEN,
      TEST_KEY,
      "8f2b1c9d4e7a6053f1e2d3c4b5a69788",
      "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.Zk3pQ8vL1xT6mB9nR2cYw",
      "sk-ant-api03-Qm9yZGVyLWNvbGxpZS1waXp6YQ-AAAA",
      "Zk3pQ8vL1xT6mB9nR2cYw7Hd",
    ];
    const searched = new Set<string>();
    for (const [visitor, area] of visitors) {
      for (const [path, html] of await crawl(world, visitor, area)) {
        for (const { action, texts, fields } of formsOf(html)) {
          if (!action.endsWith("/search")) continue;
          const at = `${action} ${fields["searched_page"]} ${texts.join(" ")}`;
          if (path.includes("?") || searched.has(at)) continue;
          searched.add(at);
          const secret = secrets[searched.size % secrets.length] ?? "";
          const entered = Object.fromEntries(
            texts.map((name) => [name, ` ${secret} `]),
          );
          let reply = await visitor.post(action, { ...fields, ...entered });
          for (let leads = 0; reply.status === 303; leads++) {
            await reply.body?.cancel();
            assert.ok(leads < 5, at);
            const to = decodeURIComponent(
              reply.headers.get("location")?.replaceAll("+", " ") ?? "",
            );
            checkNoPart(to, secret);
            reply = await visitor.get(reply.headers.get("location") ?? "");
          }
          const shown = await reply.text();
          assert.ok([200, 400].includes(reply.status), `${at}: ${shown}`);
          checkNoPart(shown, secret);
        }
      }
    }
    assert.ok(searched.size > 15, [...searched].join("\n"));
    const log = JSON.stringify(gateway.logged);
    for (const secret of secrets) checkNoPart(log, secret);
  }));

/** Neither the secret nor more of it than a hint has. */
function checkNoPart(text: string, secret: string): void {
  const bare = secret.replace(/^Bearer /, "");
  for (const part of [bare, bare.slice(8), bare.slice(0, 13)]) {
    assert.ok(!text.includes(part), `${part} in ${text.slice(0, 2000)}`);
  }
}

Deno.test("a whole key finds that key, in the search and in the lists, and a whole id of an end user its calls", () =>
  withWorld(async ({ visitors, key }) => {
    const lead = async (
      visitor: Visitor,
      page: string,
      fields: Readonly<Record<string, string>>,
    ): Promise<string> => {
      const area = /^\/console(?:\/operator)?/.exec(page)?.[0];
      let reply = await visitor.post(`${area}/search`, {
        searched_page: page,
        ...fields,
      });
      let to = "";
      while (reply.status === 303) {
        await reply.body?.cancel();
        to = reply.headers.get("location") ?? "";
        reply = await visitor.get(to);
      }
      const html = await reply.text();
      assert.equal(reply.status, 200, html);
      return `${to} ${html.slice(html.indexOf("<main"))}`;
    };
    for (const [visitor, area] of visitors) {
      const base = area === "operator" ? "/console/operator" : "/console";
      // The page of a key's holder has that key's calls alone, and no keys.
      const list = await visitor.get(`${base}/keys`);
      await list.text();
      if (list.status !== 200) continue;
      const user = "5f".repeat(32);
      assert.match(
        await lead(visitor, `${base}/calls`, { user, status: "" }),
        new RegExp(`^${base}/calls\\?user=${user}&status= .*/calls/req_`, "s"),
      );
      assert.match(
        await lead(visitor, `${base}/find`, { q: "vendorb-5.5 " }),
        /models\/vendorb-5\.5/,
      );
      for (const text of [key.text, `Bearer ${key.text}`]) {
        assert.ok(
          (await lead(visitor, `${base}/find`, { q: text })).startsWith(
            `${base}/keys/${key.id} `,
          ),
        );
        const list = await lead(visitor, `${base}/keys`, { q: text });
        assert.ok(list.includes(`/keys/${key.id}"`), list);
        assert.ok(list.includes(keyHint(key.text)), list);
        assert.ok(
          (await lead(visitor, `${base}/usage`, { key: text }))
            .startsWith(`${base}/usage?key=${key.id} `),
        );
      }
    }
  }));

Deno.test("an address with a credential leads to one without it, also before the sign-in", () =>
  withWorld(async ({ gateway, visitors }) => {
    const key = newKey();
    const stranger = (path: string): Promise<Response> =>
      fetch(`${gateway.url}${path}`, { redirect: "manual" });
    for (const get of [stranger, ...visitors.map(([one]) => one.get)]) {
      for (
        const path of [
          `/console/find?q=${key}`,
          `/console/operator/find?q=Bearer+${key}`,
          `/console/calls?user=${key}&status=200`,
          `/console/keys?${key}=1`,
          `/console/calls/${key}`,
          `/console/operator/accounts/change/Bearer%20${key}`,
        ]
      ) {
        const reply = await get(path);
        await reply.body?.cancel();
        assert.equal(reply.status, 303, path);
        const to = reply.headers.get("location") ?? "";
        assert.ok(!to.includes(key.slice(8)), to);
        if (path.includes("?")) {
          assert.equal(to.split("?")[0], path.split("?")[0]);
        }
        assert.ok(decodeURIComponent(to).includes(keyHint(key)), to);
        const next = await get(to);
        assert.ok(!(await next.text()).includes(key.slice(8)), path);
      }
    }
  }));

Deno.test("an id that looks like a credential leads to no circle of addresses", () =>
  withWorld(async ({ gateway, visitors }) => {
    const id = "sk-Team-2026-of-Berlin";
    await gateway.accounts.admin.accounts.create({ id, planId: "plan-1" });
    const operator = visitors.at(-1)?.[0];
    assert.ok(operator !== undefined);
    let path = `/console/operator/calls?account=${id}`;
    const seen = new Set<string>();
    for (;;) {
      assert.ok(!seen.has(path), path);
      seen.add(path);
      const reply = await operator.get(path);
      await reply.body?.cancel();
      if (reply.status !== 303) break;
      path = reply.headers.get("location") ?? "";
    }
    assert.equal(seen.size, 2);
  }));

Deno.test("a search leads to no other site and to no other path", () =>
  withWorld(async ({ visitors }) => {
    for (const [visitor, area] of visitors) {
      const action = area === "operator"
        ? "/console/operator/search"
        : "/console/search";
      for (
        const page of [
          "",
          "https://evil.example/",
          "//evil.example/console/",
          "/console/../v1/models",
          "/console/calls?user=x",
          "/console/calls#x",
          "/v1/models",
        ]
      ) {
        const reply = await visitor.post(action, {
          searched_page: page,
          q: "x",
        });
        await reply.text();
        assert.equal(reply.status, 400, page);
      }
    }
  }));

Deno.test("a credential in a query of the API is in no log, whatever becomes of the request", () =>
  withWorld(async ({ gateway, key }) => {
    const secret = newKey();
    let asked = 0;
    for (const route of ALL_ROUTES) {
      if (route.method !== "GET" || /live|:/.test(route.path)) continue;
      for (const name of ["search", "user", "key", "model", secret]) {
        const query = new URLSearchParams({ [name]: secret });
        for (
          const credential of [key.text, ADMIN_TOKEN, "none", secret]
        ) {
          const reply = await fetch(`${gateway.url}${route.path}?${query}`, {
            redirect: "manual",
            headers: { authorization: `Bearer ${credential}` },
          });
          await reply.body?.cancel();
          asked++;
        }
      }
    }
    assert.ok(asked > 500, String(asked));
    const log = JSON.stringify([gateway.logged, gateway.events]);
    assert.ok(gateway.logged.length > 100, String(gateway.logged.length));
    assert.ok(!log.includes(secret.slice(8)), "the log has it");
  }));
