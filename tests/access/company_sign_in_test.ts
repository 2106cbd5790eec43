/** Company sign-in, at a real issuer: what the table permits, and attempts to get around it. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { CHROMIUM, openTab, withBrowser } from "../support/console/chromium.ts";
import { ADMIN_TOKEN, startConsole } from "../support/console/visitor.ts";
import {
  type Issuer,
  type Page,
  startIssuer,
  type Walker,
  walker,
} from "../support/console/issuer.ts";
import type { TestGateway } from "../support/test_gateway.ts";
import { serveLoopback } from "../support/serve_loopback.ts";

const GROUPS = [
  { claim: "groups", value: "platform", operator: true },
  { claim: "groups", value: "team-a", account: "team-a", scope: "manage" },
  { claim: "groups", value: "team-b", account: "team-b" },
];

function configFile(issuer: Pick<Issuer, "url">, more: object = {}): string {
  return JSON.stringify({
    sign_in: {
      issuer: issuer.url,
      client_id: "console",
      name: "Example",
      scopes: ["openid", "email", "groups"],
      rules: GROUPS,
      ...more,
    },
  });
}

interface Company {
  readonly issuer: Issuer;
  readonly gateway: TestGateway;
}

async function withCompany(
  run: (company: Company) => Promise<void>,
): Promise<void> {
  await using issuer = await startIssuer();
  await using gateway = await startConsole({
    configFile: configFile(issuer),
    env: {
      GATEWAY_SIGN_IN_SECRET: "a-secret-of-the-client",
    },
  });
  for (const id of ["team-a", "team-b"]) {
    await gateway.accounts.admin.accounts.create({ id });
  }
  await issuer.set("console", gateway.url);
  await run({ issuer, gateway });
}

/** The claims of a person of these groups. */
const member = (...groups: string[]) => ({
  email: "ada@example.com",
  email_verified: true,
  groups,
});

/** Begins at the console: the address of the issuer's page. */
async function depart(
  { gateway }: Company,
  person: Walker,
  query = "door=account",
): Promise<string> {
  const reply = await person.ask(
    `${gateway.url}/console/company-sign-in?${query}`,
  );
  assert.equal(reply.status, 303, reply.text);
  return reply.headers.get("location") ?? "";
}

/** The whole way: the page that the console shows at its end. */
async function signIn(
  company: Company,
  person: Walker,
  query?: string,
): Promise<Page> {
  const url = await depart(company, person, query);
  return await person.ask(await person.signInAt(company.issuer, url, "ada"));
}

async function statusOf(
  { gateway }: Company,
  person: Walker,
  path: string,
): Promise<number> {
  return (await person.ask(gateway.url + path)).status;
}

Deno.test("a person enters as the table permits, and nowhere else", () =>
  withCompany(async (company) => {
    const { issuer, gateway } = company;
    await issuer.set("claims/ada", member("team-a"));
    const ada = walker();
    const entered = await signIn(
      company,
      ada,
      "door=account&next=/console/keys",
    );
    assert.equal(entered.status, 200, entered.text);
    assert.equal(entered.headers.get("refresh"), "0;url=/console/keys");
    assert.equal(await statusOf(company, ada, "/console/keys/new"), 200);
    assert.equal(await statusOf(company, ada, "/console/operator/"), 401);
    const page = await ada.ask(`${gateway.url}/console/`);
    assert.match(page.text, /ada@example\.com/);
    const access = await ada.ask(`${gateway.url}/console/access`);
    assert.match(access.text, />the company's account \(manage\)</);
    assert.doesNotMatch(access.text, />a token \(/);
    const refused = await signIn(company, walker(), "door=operator");
    assert.equal(refused.status, 403);
    assert.match(refused.text, /no row for operators/);
    const other = await signIn(
      company,
      walker(),
      "door=account&account=team-b",
    );
    assert.equal(other.status, 403);
    assert.match(other.text, /account team-b/);
    const { data } = await gateway.accounts.admin.changes.list();
    const refusals = data.filter(({ action }) => action === "session.refuse");
    assert.equal(refusals.length, 2);
    assert.match(JSON.stringify(refusals), /company account ada@example\.com/);
    const [start] = data.filter(({ action }) => action === "session.start");
    assert.equal(start?.actorName, "ada@example.com");
    assert.match(start?.actorId ?? "", /^person_[\da-f]{24}$/);
  }));

Deno.test("an operator enters the operators' area, and changes have the person's name", () =>
  withCompany(async (company) => {
    const { issuer, gateway } = company;
    await issuer.set("claims/ada", member("platform"));
    const ada = walker();
    assert.equal((await signIn(company, ada, "door=operator")).status, 200);
    const page = await ada.ask(`${gateway.url}/console/operator/plans/new`);
    assert.equal(page.status, 200);
    const token = /name="form_token" value="(\w+)"/.exec(page.text)?.[1];
    const made = await ada.ask(`${gateway.url}/console/operator/plans/new`, {
      form_token: token ?? "",
      id: "small",
      no_limit: "yes",
      all_models: "yes",
    });
    assert.equal(made.status, 303, made.text);
    const { data } = await gateway.accounts.admin.changes.list();
    const change = data.find(({ action }) => action === "plan.create");
    assert.equal(change?.actorName, "ada@example.com");
    assert.equal(change?.actorKind, "operator");
  }));

Deno.test("a person of several accounts chooses one", () =>
  withCompany(async (company) => {
    await company.issuer.set("claims/ada", member("team-a", "team-b"));
    const ada = walker();
    const { text: choice } = await signIn(company, ada);
    const links = [...choice.matchAll(/account=(team-\w)/g)].map(([, id]) =>
      id
    );
    assert.deepEqual(links, ["team-a", "team-b"]);
    assert.equal(
      (await signIn(company, ada, "door=account&account=team-b")).status,
      200,
    );
    // The scope read.
    assert.equal(await statusOf(company, ada, "/console/keys"), 200);
    assert.equal(await statusOf(company, ada, "/console/keys/new"), 403);
  }));

/** What is changed on the way back, and the status that answers. */
const ATTACKS: Readonly<
  Record<string, (back: URL, ticket: Record<string, unknown>) => void>
> = {
  "another state": (back) => back.searchParams.set("state", "forged"),
  "no state": (back) => back.searchParams.delete("state"),
  "another issuer (mix-up)": (back) =>
    back.searchParams.set("iss", "http://127.0.0.1:9"),
  "no issuer": (back) => back.searchParams.delete("iss"),
  "another code": (back) => back.searchParams.set("code", "forged"),
  "an error of the issuer": (back) => {
    back.searchParams.delete("code");
    back.searchParams.set("error", "access_denied");
    back.searchParams.set("error_description", "<b>canary</b>");
  },
  "another nonce": (_, ticket) => ticket["nonce"] = "forged",
  "another verifier": (_, ticket) => ticket["verifier"] = "v".repeat(43),
};

Deno.test("a way back that was changed opens nothing", (t) =>
  withCompany(async (company) => {
    const { issuer, gateway } = company;
    await issuer.set("claims/ada", member("team-a"));
    const at = `${gateway.url} company-sign-in`;
    for (const [name, change] of Object.entries(ATTACKS)) {
      await t.step(name, async () => {
        const person = walker();
        const url = await depart(company, person);
        const back = new URL(await person.signInAt(issuer, url, "ada"));
        const ticket = JSON.parse(
          Buffer.from(person.cookies.get(at) ?? "", "base64url").toString(),
        );
        change(back, ticket);
        person.cookies.set(
          at,
          Buffer.from(JSON.stringify(ticket)).toString("base64url"),
        );
        const reply = await person.ask(back.href);
        assert.equal(reply.status, 401);
        assert.doesNotMatch(reply.text, /canary|forged/);
        assert.ok(!person.cookies.has(`${gateway.url} console`));
      });
    }
    await t.step("a second time (replay)", async () => {
      const person = walker();
      const url = await depart(company, person);
      const back = await person.signInAt(issuer, url, "ada");
      assert.equal((await person.ask(back)).status, 200);
      assert.equal((await person.ask(back)).status, 401);
    });
    await t.step("another browser", async () => {
      const person = walker();
      const back = await person.signInAt(
        issuer,
        await depart(company, person),
        "ada",
      );
      assert.equal((await walker().ask(back)).status, 401);
    });
    await t.step("a page of another site at its end", async () => {
      for (
        const next of ["https://127.0.0.2/", "//127.0.0.2/", "/console/../v1"]
      ) {
        const reply = await signIn(
          company,
          walker(),
          `door=account&next=${encodeURIComponent(next)}`,
        );
        assert.equal(reply.headers.get("refresh"), "0;url=/console/");
      }
    });
  }));

Deno.test("a session ends with its row of the table, with its group, and with the configured age", () =>
  withCompany(async (company) => {
    const { issuer, gateway } = company;
    await issuer.set("claims/ada", member("team-a"));
    const ada = walker();
    assert.equal((await signIn(company, ada)).status, 200);
    assert.equal(await statusOf(company, ada, "/console/"), 200);
    gateway.configure(configFile(issuer, { rules: GROUPS.slice(2) }));
    assert.equal(await statusOf(company, ada, "/console/"), 401);
    gateway.configure(configFile(issuer, { session_minutes: 60 }));
    assert.equal((await signIn(company, ada)).status, 200);
    const [session] = await gateway.accounts.admin.sessions.list("team-a");
    assert.ok(session !== undefined);
    assert.equal(session.endsAtMs - session.madeAtMs, 60 * 60_000);
    await issuer.set("claims/ada", member());
    assert.equal((await signIn(company, walker())).status, 403);
  }));

Deno.test("an address of mail counts only once the issuer has verified it", () =>
  withCompany(async (company) => {
    const { issuer, gateway } = company;
    gateway.configure(configFile(issuer, {
      rules: [{ claim: "email", value: "ada@example.com", account: "team-a" }],
    }));
    await issuer.set("claims/ada", { ...member(), email_verified: false });
    assert.equal((await signIn(company, walker())).status, 403);
    await issuer.set("claims/ada", member());
    assert.equal((await signIn(company, walker())).status, 200);
  }));

Deno.test("new keys of the issuer and a clock that differs a little do not matter; much does", () =>
  withCompany(async (company) => {
    const { issuer } = company;
    await issuer.set("claims/ada", member("team-a"));
    assert.equal((await signIn(company, walker())).status, 200);
    // Starts the issuer anew, with other keys. Its ID tokens are valid for 20 seconds.
    await issuer.set("clock", -45);
    assert.equal((await signIn(company, walker())).status, 200);
    await issuer.set("clock", -300);
    assert.equal((await signIn(company, walker())).status, 401);
  }));

Deno.test("without the issuer nobody signs in there, and other credentials do", async () => {
  const issuer = await startIssuer();
  await issuer[Symbol.asyncDispose]();
  await using gateway = await startConsole({
    configFile: configFile(issuer),
  });
  const reply = await fetch(`${gateway.url}/console/company-sign-in`, {
    redirect: "manual",
  });
  assert.equal(reply.status, 503);
  const page = await reply.text();
  assert.match(page, />The issuer 127\.0\.0\.1:\d+ cannot be reached/);
  assert.doesNotMatch(page, /store/);
  const other = await fetch(`${gateway.url}/console/operator/sign-in`, {
    method: "POST",
    redirect: "manual",
    headers: { "sec-fetch-site": "same-origin" },
    body: new URLSearchParams({ credential: ADMIN_TOKEN }),
  });
  assert.equal(other.status, 303);
  await other.body?.cancel();
});

Deno.test("strangers and an issuer that never answers leave room for other pages", async () => {
  const arrived = Array.from(
    { length: 4 },
    () => Promise.withResolvers<void>(),
  );
  let asked = 0;
  const never = new AbortController();
  const hung = Deno.serve(
    {
      port: 0,
      hostname: "127.0.0.1",
      onListen: () => {},
      signal: never.signal,
    },
    () => {
      arrived[asked++]?.resolve();
      return new Promise<Response>(() => {});
    },
  );
  const gateway = await startConsole({
    configFile: configFile({ url: `http://127.0.0.1:${hung.addr.port}` }),
  });
  const leave = new AbortController();
  try {
    const url = `${gateway.url}/console/company-sign-in`;
    const waiting = arrived.map(() => fetch(url, { signal: leave.signal }));
    await Promise.all(arrived.map(({ promise }) => promise));
    const next = await walker().ask(url);
    assert.match(next.text, /Too many people are signing in at once/);
    const other = await walker().ask(`${gateway.url}/console/sign-in`);
    assert.equal(other.status, 200);
    assert.equal(asked, 4);
    leave.abort();
    await Promise.allSettled(waiting);
  } finally {
    never.abort();
    await gateway.close();
  }
});

Deno.test("an issuer whose reply never ends is away, and fills no memory", async () => {
  let sent = 0;
  const piece = new Uint8Array(64 * 1024).fill(0x20);
  await using issuer = serveLoopback(() =>
    new Response(
      new ReadableStream({
        pull(controller) {
          sent += piece.length;
          controller.enqueue(piece);
        },
      }),
      { headers: { "content-type": "application/json" } },
    )
  );
  await using gateway = await startConsole({
    configFile: configFile({ url: `http://127.0.0.1:${issuer.addr.port}` }),
  });
  const { status } = await walker().ask(
    `${gateway.url}/console/company-sign-in?door=account`,
  );
  assert.equal(status, 503);
  // What waits in sockets on the way is more than what is read.
  assert.ok(sent < 32 * 1024 * 1024, `${sent} bytes`);
});

Deno.test("without the setting there is no such sign-in", async () => {
  await using gateway = await startConsole();
  for (const path of ["", "/callback?code=x&state=y"]) {
    const reply = await fetch(
      `${gateway.url}/console/company-sign-in${path}`,
    );
    assert.equal(reply.status, 404);
    await reply.body?.cancel();
  }
  const page = await (await fetch(`${gateway.url}/console/sign-in`)).text();
  assert.doesNotMatch(page, /company-sign-in/);
});

Deno.test({
  name: "in a browser: there, back, out, and out at the issuer",
  ignore: CHROMIUM === undefined,
  fn: () =>
    withCompany(async ({ issuer, gateway }) => {
      await issuer.set("claims/ada", member("team-a"));
      await withBrowser(async (browser) => {
        const { page, complaints } = await openTab(browser);
        await page.goto(`${gateway.url}/console/sign-in`);
        await page.getByRole("link", { name: "Sign in with Example" }).click();
        await page.locator("input[name=login]").fill("ada");
        await page.locator("input[name=password]").fill("any");
        await page.locator("button[type=submit]").click();
        await page.locator("button[type=submit]").click();
        await page.waitForURL(`${gateway.url}/console/`);
        assert.match(await page.content(), /ada@example\.com/);
        await page.getByRole("button", { name: "Sign out" }).click();
        await page.waitForURL(/\/session\/end/);
        await page.locator("button[value=yes]").click();
        await page.waitForURL(`${gateway.url}/console/sign-in`);
        const own = complaints.filter((text) => /Content Security/.test(text));
        assert.deepEqual(own, []);
        await page.goto(`${gateway.url}/console/`);
        assert.match(await page.content(), /Sign in with Example/);
      });
    }),
});
