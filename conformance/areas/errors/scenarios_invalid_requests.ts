/** Bodies with one mistake each, and the member that a refusal must name. */
import type { Json, JsonObject } from "@model-gateway/replay/json";
import {
  firstRoute,
  GENERATION,
  type Generation,
  plainRequest,
} from "../../suite/requests.ts";
import { UNLIMITED_OUTPUT_TOKENS } from "../../suite/test_request.ts";
import { calls, type Scenario, together } from "../../suite/scenario.ts";

/** Bodies that are not a request of the format at all. */
const NO_REQUESTS: Readonly<Record<string, string>> = {
  "body-empty": "",
  "body-blank": " \n",
  "body-array": "[]",
  "body-null": "null",
  "body-string": '"hello"',
  "body-number": "17",
};

/** A request with one wrong member, and the name that a refusal must contain. */
export interface WrongMember {
  /** Members to replace in a right body; undefined removes one. */
  readonly change: Readonly<Record<string, Json | undefined>>;
  readonly names: readonly string[];
  /** The only endpoint with this mistake; absent means both. */
  readonly only?: Generation;
}

const USER = { role: "user", content: "Hello." };

/** Required members of the specification, each left out once. */
export const MISSING: Readonly<Record<string, WrongMember>> = {
  "missing-model": { change: { model: undefined }, names: ["model"] },
  "missing-messages": { change: { messages: undefined }, names: ["messages"] },
  "missing-max_tokens": {
    change: { max_tokens: undefined },
    names: ["max_tokens"],
    only: "messages",
  },
  "missing-role": {
    change: { messages: [{ content: "Hello." }] },
    names: ["role"],
  },
  "missing-content": {
    change: { messages: [{ role: "user" }] },
    names: ["content"],
  },
};

export const MISTYPED: Readonly<Record<string, WrongMember>> = {
  "type-model": { change: { model: 5 }, names: ["model"] },
  "type-messages-string": { change: { messages: "Hi" }, names: ["messages"] },
  "type-messages-object": {
    change: { messages: { role: "user", content: "Hi" } },
    names: ["messages"],
  },
  "type-message": { change: { messages: ["Hi"] }, names: ["messages"] },
  "type-role": {
    change: { messages: [{ role: 7, content: "Hi" }] },
    names: ["role"],
  },
  "type-content": {
    change: { messages: [{ role: "user", content: 7 }] },
    names: ["content"],
  },
  "type-second-role": {
    change: { messages: [USER, { role: "robot", content: "Hi" }, USER] },
    names: ["role"],
  },
  "type-max_tokens": { change: { max_tokens: "16" }, names: ["max_tokens"] },
  "type-max_tokens-half": {
    change: { max_tokens: 1.5 },
    names: ["max_tokens"],
  },
  "type-max_tokens-negative": {
    change: { max_tokens: -1 },
    names: ["max_tokens"],
  },
  "type-temperature": {
    change: { temperature: "warm" },
    names: ["temperature"],
  },
  "type-top_p": {
    change: { top_p: "most" },
    names: ["top_p"],
    only: "messages",
  },
  "type-stream": { change: { stream: "yes" }, names: ["stream"] },
  "type-system": { change: { system: 5 }, names: ["system"], only: "messages" },
  "type-stop_sequences": {
    change: { stop_sequences: "END" },
    names: ["stop_sequences"],
    only: "messages",
  },
  "type-stop_sequences-items": {
    change: { stop_sequences: [1] },
    names: ["stop_sequences"],
    only: "messages",
  },
  "type-tools": { change: { tools: "none" }, names: ["tools"] },
  "type-metadata": {
    change: { metadata: "me" },
    names: ["metadata"],
    only: "messages",
  },
};

const UNKNOWN = "no-such-model-1";
/** If the gateway asks the vendor, the vendor does not have the unknown model either. */
const TEXT = `text?no-model=${UNKNOWN}`;

/** Wrong requests between right ones; the last right one proves that the gateway still works. */
export const INVALID_REQUESTS: Scenario = {
  name: "wrong-bodies",
  about: "Bodies with one mistake each, right ones before and after them",
  mode: "both",
  // When the mistake is in the limit, a gateway that accepts the body may let the model answer.
  cost: together(calls(63, 16), calls(5, UNLIMITED_OUTPUT_TOKENS)),
  async play(session) {
    for (const endpoint of GENERATION) {
      const route = firstRoute(session, endpoint);
      const send = (form: string, more: JsonObject = {}) =>
        session.send(
          plainRequest(
            endpoint,
            route,
            form,
            session.prompt(TEXT, "Say hello."),
            { max_tokens: 16, ...more },
          ),
        );
      await send("control");
      const words = session.prompt("text", "Say hello.");
      const bare = plainRequest(endpoint, route, "", words);
      const right = JSON.stringify({
        model: route.model,
        max_tokens: 16,
        messages: [{ role: "user", content: words }],
      });
      const texts = {
        ...NO_REQUESTS,
        "body-cut": right.slice(0, -2),
        "body-trailing": `${right}}`,
        "body-form": "model=x&max_tokens=16",
      };
      await Promise.all(
        Object.entries(texts).map(([form, text]) =>
          session.send({
            ...bare,
            label: `${endpoint}/${route.name}/${form}`,
            body: { text },
          })
        ),
      );
      const members = { ...MISSING, ...MISTYPED };
      await Promise.all(
        Object.entries(members).map(async ([form, { change, only }]) => {
          if (only !== undefined && only !== endpoint) return;
          await send(form, { ...change });
        }),
      );
      await send("unknown-model", { model: UNKNOWN });
      await send("unknown-model-stream", { model: UNKNOWN, stream: true });
      await send("empty-model", { model: "" });
      await send("control-after");
    }
  },
};
