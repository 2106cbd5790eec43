/** Mutants for the checks of the area `auth` about which keys are accepted. */
import { problemOf } from "../../reference_gateway/problems.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";
import {
  admitting,
  brokenLines,
  refusing,
  repairing,
  shown,
  shownAs,
} from "./hooks.ts";

/** Part of `AUTH_MUTANTS`. */
export const AUTH_KEY_MUTANTS: readonly Mutant[] = [
  {
    name: "models-take-bearer-only",
    about: "The model list does not read x-api-key",
    hooks: {
      key: (key, { endpoint, request }) =>
        endpoint === "models" && request.headers["x-api-key"] !== undefined
          ? undefined
          : key,
    },
  },
  {
    name: "bearer-not-for-streams",
    about: "A stream requires x-api-key",
    hooks: {
      key: (key, { stream, request }) =>
        stream ? request.headers["x-api-key"] : key,
    },
  },
  {
    name: "models-for-any-key",
    about: "The model list only checks that a key is present",
    hooks: {
      admit: (problem, { endpoint }) =>
        endpoint === "models" && problem?.message.includes("missing") === false
          ? undefined
          : problem,
    },
  },
  {
    name: "models-401-of-chat",
    about: "The model list refuses with the error body of the chat format",
    hooks: {
      problem: (problem, { endpoint }) =>
        endpoint === "models" && problem.status === 401
          ? { ...problem, type: "invalid_request_error" }
          : problem,
    },
  },
  {
    name: "streams-without-key",
    about: "The key of a streamed request is not checked",
    hooks: admitting(({ stream }) => stream),
  },
  {
    name: "missing-key-403",
    about: "A missing key is refused with 403",
    hooks: refusing(403, true),
  },
  {
    name: "wrong-key-403",
    about: "A wrong key is refused with 403",
    hooks: refusing(403, false),
  },
  {
    name: "wrong-key-400",
    about: "A wrong key is refused with 400",
    hooks: refusing(400, false),
  },
  {
    name: "key-by-part",
    about: "A string that contains the key is accepted",
    hooks: admitting((x) => /sk-selftest-7f3a9c51d2e84b60/.test(shown(x))),
  },
  {
    name: "first-of-listed-keys",
    about: "Of two keys separated by a comma, the first is used",
    hooks: repairing((key) => key.split(",")[0] ?? ""),
  },
  {
    name: "key-in-any-case",
    about: "Keys are compared case-insensitively",
    hooks: repairing((key) => key.toLowerCase()),
  },
  {
    name: "foreign-keys-ok",
    about: "Keys of another service are accepted",
    hooks: admitting((x) => /sk-(ant|proj)-/.test(shown(x))),
  },
  {
    name: "quotes-stripped-before",
    about: "A quote before the key is removed",
    hooks: repairing((key) => key.replace(/^["']/, "")),
  },
  {
    name: "back-quotes-stripped",
    about: "Backticks around the key are removed",
    hooks: repairing((key) => key.replaceAll("`", "")),
  },
  {
    name: "escaped-quotes-stripped",
    about: "Quotes escaped with a backslash are removed",
    hooks: repairing((key) => key.replaceAll('\\"', "")),
  },
  {
    name: "curly-quotes-stripped",
    about: "Typographic quotes are removed",
    hooks: repairing((key) =>
      key.replaceAll(/[\u2018-\u201d\u00ab\u00bb]/g, "")
    ),
  },
  {
    name: "key-trimmed-before",
    about:
      "Characters that are not HTTP whitespace are trimmed from the start of the key",
    hooks: repairing((key) => key.replaceAll(/^[\s\u200b\ufeff]+/g, "")),
  },
  {
    name: "key-decoded",
    about: "The key is percent-decoded and trimmed",
    hooks: repairing((key) =>
      key.replaceAll("%0A", "").replaceAll("%20", "").replaceAll("%22", "")
    ),
  },
  {
    name: "key-of-ascii-only",
    about: "All non-ASCII bytes are dropped from the key",
    hooks: repairing((key) => key.replaceAll(/[^\x20-\x7e]/g, "")),
  },
  {
    name: "broken-lines-repaired",
    about: "A malformed header line is accepted",
    hooks: brokenLines(200),
  },
  {
    name: "broken-lines-500",
    about: "A malformed header line causes a server error",
    hooks: brokenLines(500),
  },
  {
    name: "basic-accepted",
    about: "The key is also read from basic credentials",
    hooks: shownAs(({ authorization = "" }) => {
      const [, coded] = /^Basic (.+)$/.exec(authorization) ?? [];
      return coded === undefined ? undefined : atob(coded).replaceAll(":", "");
    }),
  },
  {
    name: "any-scheme-accepted",
    about: "The last word of the authorization is taken as the key",
    hooks: shownAs(({ authorization }) => authorization?.split(" ").at(-1)),
  },
  {
    name: "bearer-stripped-anywhere",
    about: "The word Bearer is removed from x-api-key",
    hooks: repairing((key) => key.replace(/^Bearer /, "")),
  },
  {
    name: "bearer-stripped-twice",
    about: "The word Bearer is removed however often it is repeated",
    hooks: shownAs(({ authorization }) =>
      authorization?.replaceAll(/Bearer /g, "")
    ),
  },
  {
    name: "empty-key-ok",
    about: "An empty key is accepted",
    hooks: admitting(({ request }) =>
      request.headers["x-api-key"] === "" ||
      request.headers["authorization"] === "Bearer"
    ),
  },
  {
    name: "scheme-case-sensitive",
    about: "The scheme is accepted only as Bearer with a capital letter",
    hooks: {
      key: (key, { request }) =>
        /^bearer /i.test(request.headers["authorization"] ?? "Bearer ") &&
          !/^Bearer /.test(request.headers["authorization"] ?? "Bearer ")
          ? undefined
          : key,
    },
  },
  {
    name: "both-headers-refused",
    about: "A request with the key in both headers is refused",
    hooks: {
      key: (key, { request }) =>
        request.headers["x-api-key"] !== undefined &&
          request.headers["authorization"] !== undefined
          ? undefined
          : key,
    },
  },
  {
    name: "both-headers-500",
    about: "Two different keys cause a server error",
    hooks: {
      admit: (problem, { request: { headers } }) =>
        headers["x-api-key"] !== undefined &&
          headers["authorization"] !== undefined &&
          headers["authorization"] !== `Bearer ${headers["x-api-key"]}`
          ? problemOf(500, "two keys")
          : problem,
    },
  },
  {
    name: "query-key-accepted",
    about: "The key is also read from the query",
    hooks: shownAs((_, path) => /[?&](?:key|api_key)=([^&]+)/.exec(path)?.[1]),
  },
  {
    name: "model-before-key",
    about: "The model is looked up before the key is checked",
    hooks: {
      admit: (problem, { model }) =>
        model.startsWith("no-such") ? problemOf(404, "no such model") : problem,
    },
  },
  {
    name: "body-before-key",
    about: "The body is parsed before the key is checked",
    hooks: {
      admit: (problem, { request }) =>
        request.body === '{"model":' ? problemOf(400, "no JSON") : problem,
    },
  },
  {
    name: "auth-after-upstream",
    about: "The key is checked after the model has answered",
    hooks: {
      admit: (problem, { state }) => {
        if (problem !== undefined) state.set("refused", true);
        return undefined;
      },
      reply: (reply, { state }) =>
        state.get("refused") === true
          ? {
            ...reply,
            status: 401,
            body: {
              type: "error",
              error: { type: "authentication_error", message: "wrong key" },
            },
          }
          : reply,
    },
  },
];
