/**
 * Upstreams repeat their request in errors. The client receives that; the store, the log, the
 * pages, the readiness and the metrics have no word of it.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import {
  jsonScript,
  type Script,
  streamScript,
  wholeScript,
} from "../../replay/mod.ts";
import { keptCode } from "../../translate/errors/kept_words.ts";
import {
  ADMIN_TOKEN,
  startConsole,
  visitAs,
} from "../support/console/visitor.ts";
import { FAMILIES, type TestGateway } from "../support/test_gateway.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const PROMPT =
  `Patientin Erika Mustermann, 1961-04-12: "Zwiebelkuchen" & <Haus> in C:\\Akten`;
const PROMPT_BASE64 = Buffer.from(PROMPT).toString("base64");
/** Parts by which any spelling of the prompt would be found. */
const PARTS = [
  "erika",
  "mustermann",
  "patientin",
  "1961",
  "zwiebel",
  "akten",
  "nnamretsum",
  PROMPT_BASE64.slice(0, 16).toLowerCase(),
];

const BODY = JSON.stringify({ messages: [{ role: "user", content: PROMPT }] });

/** How errors repeat what they were sent. */
const ECHOES: Readonly<Record<string, string>> = {
  quoted: `Invalid value: '${PROMPT}'. Supported values are: 'auto'.`,
  "in double quotes": `Could not parse "${PROMPT}" as JSON`,
  plain: `Invalid value: ${PROMPT} is not supported`,
  "of one word": "Mustermann",
  "as the body": `400: invalid request: ${BODY}`,
  "as a JSON string": `invalid request ${JSON.stringify(BODY)}`,
  "cut in the middle": `invalid request {"content": "${PROMPT.slice(0, 40)}`,
  "escaped as HTML": `invalid &quot;${PROMPT.replaceAll(" ", "&nbsp;")}&quot;`,
  "escaped as a URL": `invalid ${encodeURIComponent(PROMPT)}`,
  "in base64": `invalid ${PROMPT_BASE64} given`,
  "in capitals": `INVALID VALUE: ${PROMPT.toUpperCase()}`,
  "arguments of a tool": `tool call find({"name": "${PROMPT}"}) failed`,
  "as a field": `metadata.Erika_Mustermann.Akten: extra inputs not permitted`,
  "behind known words": `the model is overloaded. ${PROMPT}`,
};

interface Failure {
  readonly model: string;
  readonly stream: boolean;
  readonly script: Script;
  /** Whether the client receives the upstream's message. */
  readonly isPassed: boolean;
}

const STARTS = {
  messages:
    'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}\n\n',
  chat:
    'data: {"id":"1","choices":[{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null}]}\n\n',
  gemini: 'data: {"candidates":[{"content":{"parts":[{"text":"a"}]}}]}\r\n\r\n',
};

function formatOf(model: string): keyof typeof STARTS {
  return model.startsWith("vendorc")
    ? "gemini"
    : model.startsWith("vendorb")
    ? "chat"
    : "messages";
}

/** The ways in which the upstream of a model fails with a message. */
function failuresOf(model: string, message: string): readonly Failure[] {
  const format = formatOf(model);
  const error = format === "gemini"
    ? { code: 400, message, status: "INVALID_ARGUMENT" }
    : {
      type: "invalid_request_error",
      message,
      code: "Erika_Mustermann",
      param: "Mustermann",
      details: { error_code: "x", input: PROMPT },
      input: PROMPT,
    };
  const body = format === "messages" ? { type: "error", error } : { error };
  const frame = `event: error\ndata: ${JSON.stringify(body)}\n\n`;
  const ofCredential = format === "gemini"
    ? { error: { ...error, status: "UNAUTHENTICATED" } }
    : { error: { ...error, type: "authentication_error" } };
  return [
    [false, jsonScript(400, body), true],
    [true, jsonScript(422, body), true],
    [false, jsonScript(529, body), true],
    [false, jsonScript(401, ofCredential), false],
    [true, jsonScript(403, ofCredential), false],
    [false, jsonScript(200, body), true],
    [true, streamScript([frame]), true],
    [true, streamScript([STARTS[format], frame]), true],
    [false, wholeScript(502, "text/html", `<p>${message}</p>`), true],
    [false, wholeScript(400, "text/plain", `${message}`), true],
  ].map(([stream, script, isPassed]) =>
    ({ model, stream, script, isPassed }) as Failure
  );
}

let scripts = 0;

async function fail(
  gateway: TestGateway,
  { model, stream, script, isPassed }: Failure,
): Promise<void> {
  const marker = `repeats-${scripts++}`;
  gateway.replay.script(marker, script);
  const reply = await gateway.post("/v1/chat/completions", {
    model,
    stream,
    max_tokens: 100,
    messages: [{ role: "user", content: `[[fx:${marker}]] ${PROMPT}` }],
  });
  const text = await reply.text();
  if (isPassed) assert.match(text, /error/, text);
}

/** Everything that is kept or shown of the calls. */
async function keptText(
  gateway: TestGateway,
  folder: string,
): Promise<ReadonlyMap<string, string>> {
  await gateway.recorded();
  const kept = new Map<string, string>([
    ["the log", JSON.stringify(gateway.logged)],
    ["the events", JSON.stringify(gateway.events)],
  ]);
  const operator = await visitAs(gateway, "operator");
  const owner = await visitAs(gateway, "manage");
  for (
    const path of ["", "attempts", "calls", "live", "upstreams", "notices"]
  ) kept.set(path, await operator.read(`/console/operator/${path}`));
  for (const path of ["", "calls"]) {
    kept.set(`own ${path}`, await owner.read(`/console/${path}`));
  }
  const { request_id: call } = gateway.logged.at(-1) ?? {};
  kept.set("a call", await operator.read(`/console/operator/calls/${call}`));
  for (
    const path of [
      "/admin/v1/calls?limit=200",
      "/admin/v1/failed-attempts?limit=200",
      "/admin/v1/calls/under-way",
      "/admin/v1/upstreams",
      "/readyz?verbose",
      "/metrics",
    ]
  ) {
    const reply = await fetch(`${gateway.url}${path}`, {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    const text = await reply.text();
    assert.ok(reply.status !== 404, `${path}: ${text}`);
    kept.set(path, text);
  }
  for await (const { name } of Deno.readDir(folder)) {
    const bytes = await Deno.readFile(`${folder}/${name}`);
    kept.set(name, new TextDecoder("latin1").decode(bytes));
  }
  return kept;
}

Deno.test("what an upstream's error repeats of the request is in no record, log, page, metric or file", async () => {
  await using folder = await temporaryFolder();
  await using gateway = await startConsole({
    env: {
      DATABASE_URL: `sqlite:${folder.path}/books.sqlite3`,
      GATEWAY_MAX_ATTEMPTS: "1",
    },
  });
  let calls = 0;
  for (const model of FAMILIES) {
    for (const message of Object.values(ECHOES)) {
      for (const failure of failuresOf(model, message)) {
        await fail(gateway, failure);
        calls++;
      }
    }
  }
  assert.equal(calls, FAMILIES.length * Object.keys(ECHOES).length * 10);
  const kept = await keptText(gateway, folder.path);
  assert.ok(kept.size > 15, [...kept.keys()].join());
  for (const [where, text] of kept) {
    const lower = text.toLowerCase();
    for (const part of PARTS) {
      const at = lower.indexOf(part);
      assert.ok(
        at < 0,
        `${where}: ${text.slice(Math.max(0, at - 200), at + 100)}`,
      );
    }
  }
  const attempts = kept.get("/admin/v1/failed-attempts?limit=200") ?? "";
  assert.match(attempts, /Invalid value: … /);
  assert.match(attempts, /the credential was refused with 40[13]/);
});

Deno.test("the client receives the upstream's words as they came", async () => {
  await using gateway = await startConsole({
    env: { GATEWAY_MAX_ATTEMPTS: "1" },
  });
  for (const model of FAMILIES) {
    for (const stream of [false, true]) {
      const [failure] = failuresOf(model, `Invalid value: '${PROMPT}'`);
      assert.ok(failure !== undefined);
      const marker = `passed-${scripts++}`;
      gateway.replay.script(marker, failure.script);
      const reply = await gateway.post("/v1/messages", {
        model,
        stream,
        max_tokens: 100,
        messages: [{ role: "user", content: `[[fx:${marker}]] ${PROMPT}` }],
      });
      const { error } = await reply.json();
      assert.equal(error.message, `Invalid value: '${PROMPT}'`);
    }
  }
});

Deno.test("the log has the gateway's own codes whole", async () => {
  const codes = new Set<string>();
  const read = async (folder: string): Promise<void> => {
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      const path = `${folder}/${name}`;
      if (isDirectory) await read(path);
      else if (/(?<!_test)\.tsx?$/.test(name)) {
        const text = await Deno.readTextFile(path);
        for (const [, code = ""] of text.matchAll(/\bcode: "(\w{3,})"/g)) {
          codes.add(code);
        }
      }
    }
  };
  const root = new URL("../../", import.meta.url).pathname;
  for (const part of ["gateway", "routes", "translate"]) {
    await read(root + part);
  }
  assert.ok(codes.size > 40, String(codes.size));
  assert.deepEqual([...codes].filter((code) => keptCode(code) !== code), []);
});
