/** Scenarios of the area `auth`: the same small request under every kind of key. */
import type { Header } from "../../evidence/exchange.ts";
import { firstRoute, plainRequest, streamed } from "../../suite/requests.ts";
import type { TestRequest } from "../../suite/test_request.ts";
import type { Session } from "../../suite/session.ts";
import { calls, free, type Scenario, together } from "../../suite/scenario.ts";
import {
  type Pasted,
  PASTED_KEYS,
  pastedIn,
  QUOTED_KEYS,
  WRONG_KEYS,
} from "./scenarios_keys.ts";

// Names of scenarios that other areas read.
export const KEYS_SCENARIO = "keys";

/** The operations of the specification; the generation endpoints whole and streamed. */
const OPERATIONS = [
  "messages",
  "messages-stream",
  "chat",
  "chat-stream",
  "models",
] as const;

type Operation = typeof OPERATIONS[number];

/** Ways to send the right key that belong to neither scheme. */
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

/** A small request of an operation. With a refused key it must not reach a model. */
function small(
  session: Session,
  operation: Operation,
  form: string,
): TestRequest {
  const label = `${operation}/${form}`;
  if (operation === "models") return { label, endpoint: "models" };
  const endpoint = operation.startsWith("messages") ? "messages" : "chat";
  return {
    ...plainRequest(
      endpoint,
      firstRoute(session, endpoint),
      form,
      session.prompt("text", "Say hello."),
      {
        max_tokens: 16,
        ...(operation.endsWith("stream") ? streamed(endpoint) : {}),
      },
    ),
    label,
  };
}

/**
 * In a live run, variants that should behave the same on every operation are sent only to the model
 * list, as a bearer key.
 */
function operationsFor(session: Session): readonly Operation[] {
  return session.mode === "replay" ? OPERATIONS : ["models"];
}

async function underBothSchemes(
  session: Session,
  operation: Operation,
  form: string,
  key: string,
): Promise<void> {
  const requestWith = (name: string): TestRequest =>
    small(session, operation, name);
  if (session.mode === "replay" || operation !== "models") {
    await session.send({
      ...requestWith(form),
      auth: "none",
      headers: [["x-api-key", key]],
    });
  }
  await session.send({
    ...requestWith(`${form}-bearer`),
    auth: "none",
    headers: [["authorization", `Bearer ${key}`]],
  });
}

/**
 * In a live run, nearly right keys are sent to the generation endpoints under the documented scheme
 * only.
 */
async function nearKeys(session: Session, operation: Operation): Promise<void> {
  const shown = operation.startsWith("messages")
    ? (key: string): Header => ["x-api-key", key]
    : (key: string): Header => ["authorization", `Bearer ${key}`];
  const forms = operation.endsWith("stream")
    ? ["wrong", "cut"] as const
    : ["other-case", "extended"] as const;
  for (const form of forms) {
    await session.send({
      ...small(session, operation, form),
      auth: "none",
      headers: [shown(session.variant(WRONG_KEYS[form](session.key)))],
    });
  }
}

const KEYS: Scenario = {
  name: KEYS_SCENARIO,
  about:
    "Each operation with no key, wrong keys, quoted keys, and the right key in both headers",
  mode: "both",
  cost: together(calls(30, 16), free(21)),
  async play(session) {
    const { key } = session;
    await Promise.all(OPERATIONS.map(async (operation) => {
      const send = (form: string, more: Partial<TestRequest>) =>
        session.send({ ...small(session, operation, form), ...more });
      await send("x-api-key", { auth: "x-api-key" });
      await send("bearer", { auth: "bearer" });
      await send("missing", { auth: "none" });
      if (session.mode === "live" && operation !== "models") {
        await nearKeys(session, operation);
      }
      if (session.mode === "live" && operation.endsWith("stream")) return;
      const everything = operationsFor(session).includes(operation) &&
        !operation.endsWith("stream");
      for (const [form, spoil] of Object.entries(WRONG_KEYS)) {
        if (form !== "wrong" && !everything) continue;
        await underBothSchemes(
          session,
          operation,
          form,
          session.variant(spoil(key)),
        );
      }
      for (const [form, spoil] of Object.entries(QUOTED_KEYS)) {
        if (form !== "double-quoted" && !everything) continue;
        await underBothSchemes(session, operation, form, spoil(key));
      }
    }));
  },
};

const KEY_SCHEMES: Scenario = {
  name: "key-schemes",
  about:
    "The right key in a wrong place, in another letter case, in both headers, and in otherwise wrong requests",
  mode: "both",
  // A live run asks only the model list.
  cost: free(20),
  async play(session) {
    const { key } = session;
    const wrong = session.variant(WRONG_KEYS.wrong(key));
    await Promise.all(
      operationsFor(session).map(async (operation) => {
        const send = (
          form: string,
          headers: readonly Header[],
          more: Partial<TestRequest> = {},
        ) =>
          session.send({
            ...small(session, operation, form),
            auth: "none",
            headers,
            ...more,
          });
        await send("control", [["authorization", `Bearer ${key}`]]);
        for (const [form, header] of Object.entries(OTHER_SCHEMES)) {
          const [name, value] = header(key);
          await send(form, [[
            name,
            form.startsWith("basic") ? session.variant(value) : value,
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
  async play(session) {
    const { key } = session;
    const lines = (text: string): Readonly<Record<string, string>> => ({
      "": `x-api-key: ${text}`,
      "-bearer": `authorization: Bearer ${text}`,
    });
    const shown = (pasted: Pasted): string =>
      pasted.inner === undefined
        ? `${pasted.before ?? ""}${key}${pasted.after ?? ""}`
        : session.variant(key.slice(0, 6) + pasted.inner + key.slice(6));
    const operations = operationsFor(session).filter((name) =>
      !name.endsWith("stream")
    );
    await Promise.all(operations.map(async (operation) => {
      for (const form of pastedIn(session.mode)) {
        const pasted = PASTED_KEYS[form];
        if (pasted === undefined) continue;
        for (const [ending, line] of Object.entries(lines(shown(pasted)))) {
          if (session.mode === "live" && ending === "") continue;
          if (operation === "messages" && ending !== "") continue;
          if (operation === "chat" && ending === "") continue;
          await session.send({
            ...small(session, operation, form + ending),
            auth: "none",
            rawLines: [line],
          });
        }
      }
    }));
  },
};

export const AUTH_SCENARIOS: readonly Scenario[] = [KEYS, KEY_SCHEMES, PASTED];
