/** Scenarios of the area `auth`: the same small request under every kind of key. */
import type { Header } from "../evidence/exchange.ts";
import { firstRoute, plainAsk, streamed } from "../suite/asks.ts";
import type { Ask, Lab } from "../suite/lab.ts";
import { calls, free, type Scenario, together } from "../suite/scenario.ts";
import {
  type Pasted,
  PASTED_KEYS,
  pastedIn,
  QUOTED_KEYS,
  WRONG_KEYS,
} from "./auth_keys.ts";

/** The operations that the specification has; the generation endpoints in both forms. */
export const OPERATIONS = [
  "messages",
  "messages-stream",
  "chat",
  "chat-stream",
  "models",
] as const;

type Operation = typeof OPERATIONS[number];

/** Ways to show the right key that are neither of the two schemes. */
export const OTHER_SCHEMES: Readonly<Record<string, (key: string) => Header>> =
  {
    "basic": (key) => ["authorization", `Basic ${btoa(`:${key}`)}`],
    "basic-user": (key) => ["authorization", `Basic ${btoa(`${key}:`)}`],
    "token": (key) => ["authorization", `Token ${key}`],
    "bare": (key) => ["authorization", key],
    "twice-bearer": (key) => ["authorization", `Bearer Bearer ${key}`],
    "bearer-in-x-api-key": (key) => ["x-api-key", `Bearer ${key}`],
    "empty": () => ["x-api-key", ""],
    "empty-bearer": () => ["authorization", "Bearer "],
    "only-bearer": () => ["authorization", "Bearer"],
  };

/** A small request of an operation. A refused key must refuse it before any model sees it. */
function small(lab: Lab, operation: Operation, form: string): Ask {
  const label = `${operation}/${form}`;
  if (operation === "models") return { label, endpoint: "models" };
  const endpoint = operation.startsWith("messages") ? "messages" : "chat";
  return {
    ...plainAsk(
      endpoint,
      firstRoute(lab, endpoint),
      form,
      lab.prompt("text", "Say hello."),
      {
        max_tokens: 16,
        ...(operation.endsWith("stream") ? streamed(endpoint) : {}),
      },
    ),
    label,
  };
}

/** In a live run what says the same of each operation is sent to the model list alone, and there as a bearer. */
function operationsFor(lab: Lab): readonly Operation[] {
  return lab.mode === "replay" ? OPERATIONS : ["models"];
}

async function underBothSchemes(
  lab: Lab,
  operation: Operation,
  form: string,
  key: string,
): Promise<void> {
  const ask = (name: string): Ask => small(lab, operation, name);
  if (lab.mode === "replay" || operation !== "models") {
    await lab.send({
      ...ask(form),
      auth: "none",
      headers: [["x-api-key", key]],
    });
  }
  await lab.send({
    ...ask(`${form}-bearer`),
    auth: "none",
    headers: [["authorization", `Bearer ${key}`]],
  });
}

const KEYS: Scenario = {
  name: "keys",
  about:
    "Each operation with no key, wrong keys, quoted keys, and the right key in both headers",
  mode: "both",
  cost: together(calls(22, 16), free(26)),
  async play(lab) {
    const { key } = lab;
    await Promise.all(OPERATIONS.map(async (operation) => {
      const send = (form: string, more: Partial<Ask>) =>
        lab.send({ ...small(lab, operation, form), ...more });
      await send("x-api-key", { auth: "x-api-key" });
      await send("bearer", { auth: "bearer" });
      await send("missing", { auth: "none" });
      if (lab.mode === "live" && operation.endsWith("stream")) return;
      const everything = operationsFor(lab).includes(operation) &&
        !operation.endsWith("stream");
      for (const [form, spoil] of Object.entries(WRONG_KEYS)) {
        if (form !== "wrong" && !everything) continue;
        await underBothSchemes(
          lab,
          operation,
          form,
          lab.variant(spoil(key)),
        );
      }
      for (const [form, spoil] of Object.entries(QUOTED_KEYS)) {
        if (form !== "double-quoted" && !everything) continue;
        await underBothSchemes(lab, operation, form, spoil(key));
      }
    }));
  },
};

const KEY_SCHEMES: Scenario = {
  name: "key-schemes",
  about:
    "The right key where it does not belong, in letters of another case, in both headers, and beside other faults",
  mode: "both",
  // In a live run only the model list is asked.
  cost: free(24),
  async play(lab) {
    const { key } = lab;
    const wrong = lab.variant(WRONG_KEYS.wrong(key));
    await Promise.all(
      operationsFor(lab).map(async (operation) => {
        const send = (
          form: string,
          headers: readonly Header[],
          more: Partial<Ask> = {},
        ) =>
          lab.send({
            ...small(lab, operation, form),
            auth: "none",
            headers,
            ...more,
          });
        await send("control", [["authorization", `Bearer ${key}`]]);
        for (const [form, header] of Object.entries(OTHER_SCHEMES)) {
          const [name, value] = header(key);
          await send(form, [[
            name,
            form.startsWith("basic") ? lab.variant(value) : value,
          ]]);
        }
        await send("lower-case", [["authorization", `bearer ${key}`]]);
        await send("upper-case", [["AUTHORIZATION", `BEARER ${key}`]]);
        await send("upper-case-name", [["X-API-Key", key]]);
        await send("both", [["x-api-key", key], [
          "authorization",
          `Bearer ${key}`,
        ]]);
        await send("conflict", [["x-api-key", key], [
          "authorization",
          `Bearer ${wrong}`,
        ]]);
        const path = PATHS[operation];
        for (const name of ["key", "api_key", "x-api-key", "access_token"]) {
          await send(`query-${name}`, [], {
            path: `${path}?${name}=${encodeURIComponent(key)}`,
          });
        }
        if (operation === "models") return;
        await send("wrong-and-unlisted", [["x-api-key", wrong]], {
          body: {
            json: {
              model: "no-such-model-1",
              max_tokens: 16,
              messages: [{ role: "user", content: "Hello." }],
            },
          },
        });
        await send("wrong-and-no-json", [["x-api-key", wrong]], {
          body: { text: '{"model":' },
        });
      }),
    );
  },
};

const PATHS: Readonly<Record<Operation, string>> = {
  "messages": "/v1/messages",
  "messages-stream": "/v1/messages",
  "chat": "/v1/chat/completions",
  "chat-stream": "/v1/chat/completions",
  "models": "/v1/models",
};

const PASTED: Scenario = {
  name: "pasted-keys",
  about:
    "Keys with bytes that fetch would repair or refuse, over a bare socket",
  mode: "both",
  cost: free(12),
  async play(lab) {
    const { key } = lab;
    const lines = (text: string): Readonly<Record<string, string>> => ({
      "": `x-api-key: ${text}`,
      "-bearer": `authorization: Bearer ${text}`,
    });
    const shown = (pasted: Pasted): string =>
      pasted.inner === undefined
        ? `${pasted.before ?? ""}${key}${pasted.after ?? ""}`
        : lab.variant(key.slice(0, 6) + pasted.inner + key.slice(6));
    const operations = operationsFor(lab).filter((name) =>
      !name.endsWith("stream")
    );
    await Promise.all(operations.map(async (operation) => {
      for (const form of pastedIn(lab.mode)) {
        const pasted = PASTED_KEYS[form];
        if (pasted === undefined) continue;
        for (const [ending, line] of Object.entries(lines(shown(pasted)))) {
          if (lab.mode === "live" && ending === "") continue;
          if (operation === "messages" && ending !== "") continue;
          if (operation === "chat" && ending === "") continue;
          await lab.send({
            ...small(lab, operation, form + ending),
            auth: "none",
            rawLines: [line],
          });
        }
      }
    }));
  },
};

/** The scenarios. */
export const AUTH_SCENARIOS: readonly Scenario[] = [KEYS, KEY_SCHEMES, PASTED];
