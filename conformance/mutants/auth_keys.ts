/** Mutants for the checks of the area `auth` about which key is let in. */
import { problemOf } from "../golden/problems.ts";
import type { Mutant } from "./mutant.ts";
import {
  admitting,
  brokenLines,
  refusing,
  repairing,
  shown,
  shownAs,
} from "./auth_hooks.ts";

/** The mutants. */
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
    about: "A stream needs x-api-key",
    hooks: {
      key: (key, { stream, request }) =>
        stream ? request.headers["x-api-key"] : key,
    },
  },
  {
    name: "models-for-any-key",
    about: "The model list looks only whether there is a key",
    hooks: {
      admit: (problem, { endpoint }) =>
        endpoint === "models" && problem?.message.includes("missing") === false
          ? undefined
          : problem,
    },
  },
  {
    name: "models-401-of-chat",
    about: "The model list refuses in the words of the chat format",
    hooks: {
      problem: (problem, { endpoint }) =>
        endpoint === "models" && problem.status === 401
          ? { ...problem, type: "invalid_request_error" }
          : problem,
    },
  },
  {
    name: "streams-without-key",
    about: "The key of a streamed request is not looked at",
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
    about: "A text that holds the key is let in",
    hooks: admitting((x) => /sk-selftest-7f3a9c51d2e84b60/.test(shown(x))),
  },
  {
    name: "first-of-listed-keys",
    about: "Of two keys with a comma the first counts",
    hooks: repairing((key) => key.split(",")[0] ?? ""),
  },
  {
    name: "key-in-any-case",
    about: "Letters of the key are compared without their case",
    hooks: repairing((key) => key.toLowerCase()),
  },
  {
    name: "foreign-keys-ok",
    about: "Keys of another service are let in",
    hooks: admitting((x) => /sk-(ant|proj)-/.test(shown(x))),
  },
  {
    name: "quotes-stripped-before",
    about: "A quote before the key is taken away",
    hooks: repairing((key) => key.replace(/^["']/, "")),
  },
  {
    name: "back-quotes-stripped",
    about: "Back quotes around the key are taken away",
    hooks: repairing((key) => key.replaceAll("`", "")),
  },
  {
    name: "escaped-quotes-stripped",
    about: "Quotes with a backslash are taken away",
    hooks: repairing((key) => key.replaceAll('\\"', "")),
  },
  {
    name: "curly-quotes-stripped",
    about: "Typographic quotes are taken away",
    hooks: repairing((key) =>
      key.replaceAll(/[\u2018-\u201d\u00ab\u00bb]/g, "")
    ),
  },
  {
    name: "key-trimmed-before",
    about: "Blanks that are none in HTTP are trimmed from the start of the key",
    hooks: repairing((key) => key.replaceAll(/^[\s\u200b\ufeff]+/g, "")),
  },
  {
    name: "key-decoded",
    about: "Percent signs in the key are decoded and the key trimmed",
    hooks: repairing((key) =>
      key.replaceAll("%0A", "").replaceAll("%20", "").replaceAll("%22", "")
    ),
  },
  {
    name: "key-of-ascii-only",
    about: "All bytes beyond ASCII are dropped from the key",
    hooks: repairing((key) => key.replaceAll(/[^\x20-\x7e]/g, "")),
  },
  {
    name: "broken-lines-repaired",
    about: "A broken header line is answered as if it were right",
    hooks: brokenLines(200),
  },
  {
    name: "broken-lines-500",
    about: "A broken header line breaks the gateway",
    hooks: brokenLines(500),
  },
  {
    name: "basic-accepted",
    about: "The key is read from basic credentials as well",
    hooks: shownAs(({ authorization = "" }) => {
      const [, coded] = /^Basic (.+)$/.exec(authorization) ?? [];
      return coded === undefined ? undefined : atob(coded).replaceAll(":", "");
    }),
  },
  {
    name: "any-scheme-accepted",
    about: "The last word of the authorization is the key",
    hooks: shownAs(({ authorization }) => authorization?.split(" ").at(-1)),
  },
  {
    name: "bearer-stripped-anywhere",
    about: "The word Bearer is taken away from x-api-key",
    hooks: repairing((key) => key.replace(/^Bearer /, "")),
  },
  {
    name: "bearer-stripped-twice",
    about: "The word Bearer is taken away as often as it comes",
    hooks: shownAs(({ authorization }) =>
      authorization?.replaceAll(/Bearer /g, "")
    ),
  },
  {
    name: "empty-key-ok",
    about: "An empty key is let in",
    hooks: admitting(({ request }) =>
      request.headers["x-api-key"] === "" ||
      request.headers["authorization"] === "Bearer"
    ),
  },
  {
    name: "scheme-case-sensitive",
    about: "Only Bearer in this spelling is read",
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
    about: "The key in both headers is refused",
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
    about: "Keys that differ break the gateway",
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
    about: "The key is read from the query as well",
    hooks: shownAs((_, path) => /[?&](?:key|api_key)=([^&]+)/.exec(path)?.[1]),
  },
  {
    name: "model-before-key",
    about: "The model is looked up before the key",
    hooks: {
      admit: (problem, { model }) =>
        model.startsWith("no-such") ? problemOf(404, "no such model") : problem,
    },
  },
  {
    name: "body-before-key",
    about: "The body is read before the key is looked at",
    hooks: {
      admit: (problem, { request }) =>
        request.body === '{"model":' ? problemOf(400, "no JSON") : problem,
    },
  },
  {
    name: "auth-after-upstream",
    about: "The key is looked at when the model has answered",
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
