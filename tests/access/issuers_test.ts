/** The tables of issuers in docs/console.md: who enters by which claims, and why others do not. */
import assert from "node:assert/strict";
import {
  type Lies,
  signInWith,
  startHostileIssuer,
} from "../support/console/hostile_issuer.ts";
import { startConsole } from "../support/console/visitor.ts";
import {
  AUTHORITY_FILE,
  certificate,
} from "../support/upstreams/fault_upstream.ts";
import { startLoopbackProxy } from "../support/upstreams/loopback_proxy.ts";

const PAGE = await Deno.readTextFile(
  new URL("../../docs/console.md", import.meta.url),
);
/** The sections with their issuers; `TENANT` and `REALM` are as good as any. */
const ISSUERS: Readonly<Record<string, string>> = {
  "Microsoft Entra ID": "https://login.microsoftonline.com/TENANT/v2.0",
  Google: "https://accounts.google.com",
  Okta: "https://example.okta.com/oauth2/default",
  Keycloak: "https://keycloak.example.com/realms/REALM",
};
const GRAPH = "graph.microsoft.com";
const NAMED = "graph.windows.net";

interface Row {
  readonly rule: { readonly claim: string; readonly value: string };
  readonly idToken: object;
  /** Cells by the heads of the other columns, without quotes. */
  readonly second: Readonly<Record<string, string>>;
  readonly outcome: string;
}

function rowsOf(section: string): readonly Row[] {
  const text = PAGE.split(`\n### ${section}\n`)[1]?.split(/\n##/)[0] ?? "";
  const [heads = [], _line, ...rows] = text.split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) => line.slice(1, -1).split("|").map((cell) => cell.trim()));
  return rows.map((cells) => {
    const at = (head: string): string =>
      (cells[heads.indexOf(head)] ?? "").replaceAll(/^`|`$/g, "");
    const [, claim = "", value = ""] =
      /^`([^`]+)`: `([^`]+)`$/.exec(cells[0] ?? "") ?? [];
    return {
      rule: { claim, value },
      idToken: JSON.parse(at("ID token")),
      second: {
        "user info": at("user info"),
        "Microsoft Graph": at("Microsoft Graph"),
      },
      outcome: at("a person"),
    };
  });
}

function liesOf({ idToken, second }: Row, asked: string[]): Lies {
  const { "user info": info = "", "Microsoft Graph": graph = "" } = second;
  return {
    token(_, claims) {
      delete claims["groups"];
      Object.assign(claims, idToken, {
        // As Entra ID names it; the address is not to be asked.
        _claim_sources: { src1: { endpoint: `https://${NAMED}/me` } },
      });
    },
    userInfo: () => Response.json({ sub: "ada", ...JSON.parse(info || "{}") }),
    graph(request) {
      asked.push(
        `${request.method} ${request.url} ${
          request.headers.get("authorization")
        }`,
      );
      return graph.startsWith("[")
        ? Response.json({ value: JSON.parse(graph) })
        : new Response("{}", { status: Number(graph) });
    },
  };
}

Deno.test("a person enters, or reads why not, as the tables of issuers have it", async (t) => {
  await using issuer = startHostileIssuer(certificate("issuers"));
  const hosts = [
    GRAPH,
    ...Object.values(ISSUERS).map((url) => new URL(url).hostname),
  ];
  await using proxy = startLoopbackProxy({
    leadsTo: Object.fromEntries(
      hosts.map((host) => [`${host}:443`, issuer.port]),
    ),
  });
  const configFile = (url: string, rule: object): string =>
    JSON.stringify({
      sign_in: {
        issuer: url,
        client_id: "console",
        rules: [{ ...rule, account: "default" }],
      },
    });
  const [anyIssuer = ""] = Object.values(ISSUERS);
  await using gateway = await startConsole({
    env: { HTTPS_PROXY: proxy.address, SSL_CERT_FILE: AUTHORITY_FILE },
    configFile: configFile(anyIssuer, { claim: "c", value: "v" }),
  });
  let refusals = 0;
  for (const [section, url] of Object.entries(ISSUERS)) {
    const rows = rowsOf(section);
    assert.ok(rows.length >= 4, `${section} has no table`);
    assert.ok(PAGE.includes(`\`${url}\``), `${url} is not on the page`);
    for (const row of rows) {
      const { rule, idToken, second, outcome } = row;
      await t.step(
        `${section}: ${rule.claim} by ${JSON.stringify(idToken)} ${
          second["Microsoft Graph"]
        }`,
        async () => {
          issuer.become(url);
          gateway.configure(configFile(url, rule));
          const asked: string[] = [];
          const page = await signInWith(gateway, issuer, liesOf(row, asked));
          assert.equal(page.isIn, outcome === "enters", page.text);
          assert.deepEqual(
            asked,
            second["Microsoft Graph"] === ""
              ? []
              : [`POST https://${GRAPH}/v1.0/me/getMemberObjects Bearer a`],
          );
          if (page.isIn) return;
          refusals++;
          assert.ok(page.text.includes(`that fits: ${outcome}`), page.text);
          const { data: [change] } = await gateway.accounts.admin.changes.list({
            limit: 1,
          });
          assert.equal(change?.action, "session.refuse");
          assert.equal(change.after?.["reason"], outcome);
          const entry = await gateway.logEntry(({ note }) => note === outcome);
          assert.equal(entry.code, "not_in_table");
        },
      );
    }
  }
  assert.ok(refusals > 5);
  assert.ok(proxy.requests.some((line) => line.includes(GRAPH)));
  assert.ok(!proxy.requests.some((line) => line.includes(NAMED)));
});
