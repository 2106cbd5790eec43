/**
 * The gateway with marked secrets: none of them may be printed, returned to the wrong party, sent
 * to the wrong upstream, or stored.
 */
import assert from "node:assert/strict";
import { type Program, startProgram } from "../support/programs/program.ts";
import { startRawUpstream } from "../support/upstreams/raw_upstream.ts";
import {
  chunk,
  framesOf,
  LAST_CHUNK,
  STREAM_HEAD,
  wholeAnswer,
  wholeOf,
} from "../support/upstreams/upstream_bytes.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { bearer } from "../support/clients/bearer.ts";

const VENDOR_KEYS = {
  VENDORA_API_KEY: "canary-vendora-0123456789",
  VENDORB_API_KEY: "canary-vendorb-0123456789",
  VENDORC_API_KEY: "canary-vendorc-0123456789",
} as const;
const CALLER_KEY = "sk-canary-caller-0123456789";
const ADMIN_TOKEN = "canary-admin-0123456789";
const STRANGE_KEY = "sk-canary-strange-0123456789";
const PROMPT = "canary-prompt";
const REPLY = "canary-reply";

async function withFolder(
  run: (folder: string) => Promise<void>,
): Promise<void> {
  await using folder = await temporaryFolder();
  await run(folder.path);
}

/** Records every response that clients and operators receive. */
class Recorder {
  readonly responses: string[] = [];

  async ask(url: string, init?: RequestInit): Promise<string> {
    const response = await fetch(url, init);
    const body = await response.text();
    this.responses.push(
      `${response.status} of ${new URL(url).pathname}\n${
        [...response.headers].join("\n")
      }\n${body}`,
    );
    return body;
  }
}

function hasNone(
  text: string,
  secrets: readonly string[],
  where: string,
): void {
  for (const secret of secrets) {
    const at = text.indexOf(secret);
    assert.equal(
      at,
      -1,
      `${secret} is in ${where}: ${
        text.slice(Math.max(0, at - 300), at + 100)
      }`,
    );
  }
}

Deno.test("no secret is printed, returned, sent to the wrong side or stored", () =>
  withFolder(async (folder) => {
    await using upstream = await startRawUpstream();
    const { vendora, vendorb, vendorc } = upstream.vendors;
    const recorder = new Recorder();
    let stored = "";
    await using program = await startProgram({
      folder,
      env: {
        ...VENDOR_KEYS,
        VENDORA_BASE_URL: vendora.baseUrl,
        VENDORB_BASE_URL: vendorb.baseUrl,
        VENDORC_BASE_URL: vendorc.baseUrl,
        GATEWAY_KEY: CALLER_KEY,
        GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN,
        GATEWAY_MAX_ATTEMPTS: "1",
      },
    });
    const issued = await traffic(program, upstream, recorder);
    program.signal("SIGTERM");
    assert.equal(await program.ended, 0, program.output());
    const secrets = [
      ...Object.values(VENDOR_KEYS),
      CALLER_KEY,
      ADMIN_TOKEN,
      STRANGE_KEY,
      issued,
    ];
    hasNone(program.output(), [...secrets, PROMPT, REPLY], "the output");
    assert.match(program.output(), /"ended":"complete"/);
    for (const response of recorder.responses) {
      hasNone(response, secrets, "an answer");
    }
    for (const { head, body } of upstream.requests) {
      const vendor = Object.values(VENDOR_KEYS).filter((key) =>
        head.includes(key)
      );
      assert.equal(vendor.length, 1, "each vendor gets its own key");
      hasNone(
        `${head}${body}`,
        [CALLER_KEY, ADMIN_TOKEN, STRANGE_KEY, issued],
        "a request to an upstream",
      );
      hasNone(head.split("\r\n")[0] ?? "", vendor, "an address");
      hasNone(body, vendor, "a body");
    }
    for await (const { name } of Deno.readDir(`${folder}/data`)) {
      stored += new TextDecoder("latin1").decode(
        await Deno.readFile(`${folder}/data/${name}`),
      );
    }
    assert.match(stored, /SQLite format/);
    hasNone(stored, [...secrets, PROMPT, REPLY], "the store");
  }));

/** Makes calls of every kind; returns the key that it issued. */
async function traffic(
  { url }: Program,
  upstream: Awaited<ReturnType<typeof startRawUpstream>>,
  recorder: Recorder,
): Promise<string> {
  const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const json = { "content-type": "application/json" };
  // The admin API shows a new key once, so this response is not recorded.
  const issued = await (await fetch(`${url}/admin/v1/keys`, {
    method: "POST",
    headers: { ...admin, ...json },
    body: JSON.stringify({ account: "default", name: "n" }),
  })).json();
  const own: string = issued.key;
  assert.match(own, /^sk-/);
  for (
    const [model, format] of [
      ["vendora-opus-4-8", "messages"],
      ["vendorb-5", "chat"],
      ["vendorc-3-flash", "gemini"],
    ] as const
  ) {
    const whole = wholeOf("text", format).replace("Hello", REPLY);
    const stream = framesOf("text", format).map((frame) =>
      frame.replace("Hello", REPLY)
    );
    const first = stream.slice(0, 4).map(chunk).join("");
    for (const path of ["/v1/messages", "/v1/chat/completions"]) {
      for (const key of [CALLER_KEY, own, STRANGE_KEY]) {
        for (const streamed of [true, false]) {
          const answers: readonly ((head: string) => string)[] = [
            () =>
              streamed
                ? STREAM_HEAD + stream.map(chunk).join("") + LAST_CHUNK
                : wholeAnswer(whole),
            // The upstream sends back everything that the gateway sent, headers included.
            (head) => wholeAnswer(head, "text/plain", "400 Bad"),
            (head) =>
              wholeAnswer(
                JSON.stringify({
                  error: { message: head, code: head, param: head, type: head },
                }),
                "application/json",
                "500 Oops",
              ),
            (head) =>
              wholeAnswer(
                JSON.stringify({ type: "error", error: { message: head } }),
              ),
            (head) =>
              STREAM_HEAD + first +
              chunk(
                `event: error\ndata: ${
                  JSON.stringify({
                    type: "error",
                    error: { type: "api_error", message: head },
                  })
                }\n\n`,
              ) +
              LAST_CHUNK,
            (head) =>
              wholeAnswer("{}", "application/json", "429 Slow").replace(
                "\r\n\r\n",
                `\r\nx-echo: ${
                  /canary-vendor\w-\d+/.exec(head)?.[0]
                }\r\nretry-after: 1\r\n\r\n`,
              ),
          ];
          for (const answer of answers) {
            upstream.answer(({ socket, head }) => socket.send(answer(head)));
            await recorder.ask(`${url}${path}?key=${STRANGE_KEY}`, {
              method: "POST",
              headers: {
                ...json,
                ...(path === "/v1/messages"
                  ? { "x-api-key": key }
                  : { authorization: `Bearer ${key}` }),
                traceparent: STRANGE_KEY,
                "x-request-id": STRANGE_KEY,
                cookie: STRANGE_KEY,
                "user-agent": STRANGE_KEY,
              },
              body: JSON.stringify({
                model,
                max_tokens: 9,
                stream: streamed,
                messages: [{ role: "user", content: PROMPT }],
              }),
            });
          }
        }
      }
    }
  }
  for (
    const body of ["{", `{"${STRANGE_KEY}":1}`, `{"model":"${STRANGE_KEY}"`]
  ) {
    await fetch(`${url}/v1/messages`, {
      method: "POST",
      headers: { ...json, "x-api-key": CALLER_KEY },
      body,
    }).then((response) => response.text());
  }
  for (
    const path of [
      "/",
      "/healthz",
      "/readyz",
      "/readyz?verbose",
      "/openapi.json",
      "/v1/models",
      "/v1/usage",
      `/nothing/${"x"}`,
    ]
  ) await recorder.ask(url + path, { headers: { "x-api-key": CALLER_KEY } });
  for (const credential of [own, CALLER_KEY, STRANGE_KEY, ADMIN_TOKEN]) {
    const path = credential === ADMIN_TOKEN
      ? "/console/operator/sign-in"
      : "/console/sign-in";
    await recorder.ask(url + path, {
      method: "POST",
      redirect: "manual",
      headers: { "sec-fetch-site": "same-origin" },
      body: new URLSearchParams({ credential }),
    });
  }
  for (
    const path of [
      "/metrics",
      "/admin/v1/changes",
      "/admin/v1/settings",
      "/admin/v1/keys",
      `/admin/v1/keys/${issued.id}`,
      "/admin/v1/accounts",
      "/admin/v1/plans",
      "/admin/v1/ledger",
      "/admin/v1/ledger/export",
      "/admin/v1/ledger/export?format=csv",
      "/admin/v1/usage",
    ]
  ) {
    await recorder.ask(url + path, { headers: admin });
    await recorder.ask(url + path, bearer(STRANGE_KEY));
  }
  return own;
}

const WRONG: readonly (readonly [string, Readonly<Record<string, string>>])[] =
  [
    ["a vendor key with a space", { VENDORA_API_KEY: "canary key" }],
    ["a key that is too short", { GATEWAY_KEY: "canary" }],
    ["a token that is too short", { GATEWAY_ADMIN_TOKEN: "canary" }],
    ["an unsupported store", {
      DATABASE_URL: "mysql://u:canary@127.0.0.1/db",
    }],
    [
      "an unreachable store",
      {
        DATABASE_URL: "postgres://u:canary@127.0.0.1:1/db",
        GATEWAY_START_WAIT_SECONDS: "0",
      },
    ],
    ["an address with a query", { VENDORA_BASE_URL: "http://u:canary@a?b" }],
    ["a misspelt setting", { GATEWAY_KEYS: "canary" }],
    ["a gateway open to other machines without a vendor", {
      HOST: "0.0.0.0",
      GATEWAY_KEY: "sk-canary-0123456789abc",
    }],
    ["an invalid port", { PORT: "canary" }],
  ];

Deno.test("a failed start repeats no secret", (t) =>
  withFolder(async (folder) => {
    for (const [name, env] of WRONG) {
      await t.step(name, async () => {
        await using program = await startProgram({ folder, env });
        assert.notEqual(await program.ended, 0, program.output());
        assert.notEqual(program.output(), "");
        hasNone(program.output(), ["canary"], "the output");
      });
    }
    await t.step("a port that is taken", async () => {
      using taken = Deno.listen({ port: 0, hostname: "127.0.0.1" });
      await using program = await startProgram({
        folder,
        env: {
          PORT: String(taken.addr.port),
          VENDORA_API_KEY: "canary-0123456789",
          GATEWAY_KEY: "sk-canary-0123456789abc",
        },
      });
      assert.notEqual(await program.ended, 0);
      hasNone(program.output(), ["canary"], "the output");
    });
    await t.step("an invalid configuration file", async () => {
      await Deno.writeTextFile(
        `${folder}/config.json`,
        '{"vendors":{"vendora":{"api_key":"canary"}},"canary":1',
      );
      await using program = await startProgram({
        folder,
        env: { GATEWAY_CONFIG: `${folder}/config.json` },
      });
      assert.notEqual(await program.ended, 0);
      hasNone(program.output(), ['"canary"'], "the output");
    });
    for (
      const command of [["help"], ["--help"], ["keys", "list"], ["nonsense"]]
    ) {
      await t.step(`the command ${command.join(" ")}`, async () => {
        await using program = await startProgram({
          folder,
          command: ["gateway/cli/cli.ts", ...command],
          env: {
            VENDORA_API_KEY: "canary-0123456789",
            GATEWAY_KEY: "sk-canary-0123456789abc",
            GATEWAY_ADMIN_TOKEN: "canary-0123456789",
          },
        });
        await program.ended;
        hasNone(program.output(), ["canary"], "the output");
      });
    }
  }));
