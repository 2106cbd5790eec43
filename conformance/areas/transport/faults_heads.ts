/** Mutants for the checks of the area `transport` about the heads of replies. */
import type { Hooks, JsonReply } from "../../reference_gateway/hooks.ts";
import { CANARY } from "./scenarios_requests.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";

type Headers = Readonly<Record<string, string>>;

/** Changes the headers of streams. */
function streams(change: (headers: Headers) => Headers): Hooks {
  return { streamHeaders: change };
}

/** Changes the headers of JSON replies. */
function json(change: (headers: Headers, reply: JsonReply) => Headers): Hooks {
  return {
    reply: (reply) => ({ ...reply, headers: change(reply.headers, reply) }),
  };
}

/** Changes the headers of all replies. */
function all(change: (headers: Headers) => Headers): Hooks {
  return { ...streams(change), ...json(change) };
}

function without(headers: Headers, ...names: string[]): Headers {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !names.includes(name)),
  );
}

const typed = (type: string) => (headers: Headers): Headers => ({
  ...headers,
  "content-type": type,
});

const SAME_IDS = { "request-id": "req_1", "x-request-id": "req_1" } as const;

/** Part of `TRANSPORT_MUTANTS`. */
export const TRANSPORT_HEAD_MUTANTS: readonly Mutant[] = [
  {
    name: "stream-as-json",
    about: "A stream has the content type application/json",
    hooks: streams(typed("application/json")),
  },
  {
    name: "stream-as-text",
    about: "A stream has the content type text/plain",
    hooks: streams(typed("text/plain; charset=utf-8")),
  },
  {
    name: "stream-charset-latin1",
    about: "A stream declares another charset",
    hooks: streams(typed("text/event-stream; charset=iso-8859-1")),
  },
  {
    name: "stream-with-length",
    about: "A stream has a content-length",
    hooks: streams((headers) => ({
      ...without(headers, "transfer-encoding"),
      "content-length": "1000000",
    })),
  },
  {
    name: "stream-says-gzip",
    about: "A stream declares compression, but is not compressed",
    hooks: streams((headers) => ({ ...headers, "content-encoding": "gzip" })),
  },
  {
    name: "stream-cacheable",
    about: "A stream may be stored by caches",
    hooks: streams((headers) => ({
      ...headers,
      "cache-control": "public, max-age=60",
    })),
  },
  {
    name: "stream-without-cache-control",
    about: "A stream has no cache-control",
    hooks: streams((headers) => without(headers, "cache-control")),
  },
  {
    name: "stream-without-accel",
    about: "A stream has no x-accel-buffering",
    hooks: streams((headers) => without(headers, "x-accel-buffering")),
  },
  {
    name: "json-as-text",
    about: "JSON has a text content type",
    hooks: json(typed("text/plain")),
  },
  {
    name: "json-without-type",
    about: "JSON has no content type",
    hooks: json((headers) => without(headers, "content-type")),
  },
  {
    name: "json-charset-latin1",
    about: "JSON declares another charset",
    hooks: json(typed("application/json; charset=iso-8859-1")),
  },
  {
    name: "length-and-chunks",
    about: "A reply has two framings",
    hooks: json((headers) => ({ ...headers, "transfer-encoding": "chunked" })),
  },
  {
    name: "length-too-large",
    about: "The declared length exceeds the body",
    hooks: json((headers, { body }) => ({
      ...headers,
      "content-length": String(
        new TextEncoder().encode(JSON.stringify(body)).length + 5,
      ),
    })),
  },
  {
    name: "no-request-id",
    about: "Replies have no request id",
    hooks: all((headers) => without(headers, "request-id", "x-request-id")),
  },
  {
    name: "no-request-id-on-errors",
    about: "Refusals have no request id",
    hooks: json((headers, { status }) =>
      status === 200 ? headers : without(headers, "request-id", "x-request-id")
    ),
  },
  {
    name: "constant-request-id",
    about: "All replies have the same request id",
    hooks: all((headers) => ({ ...headers, ...SAME_IDS })),
  },
  {
    name: "request-id-mismatch",
    about: "The body has another request id than the header",
    hooks: {
      reply: (reply) => ({
        ...reply,
        body: { ...reply.body, request_id: "req_other" },
      }),
    },
  },
  {
    name: "upstream-headers-passed-on",
    about: "Headers of the upstream are passed on",
    hooks: all((headers) => ({ ...headers, "openai-organization": CANARY })),
  },
  {
    name: "upstream-request-id-passed-on",
    about: "The upstream's request id is passed on",
    hooks: all((headers) => ({ ...headers, "x-request-id": `req_${CANARY}` })),
  },
  {
    name: "upstream-address-in-error",
    about: "An error contains the address that could not be reached",
    hooks: {
      upstream: (call, { state }) => {
        state.set("url", call.url);
        return call;
      },
      problem: (problem, { state }) =>
        problem.status === 502
          ? {
            ...problem,
            message: `error sending request for url (${state.get("url")})`,
          }
          : problem,
    },
  },
  {
    name: "upstream-address-in-header",
    about: "A header contains the upstream's address",
    hooks: {
      upstream: (call, { state }) => {
        state.set("url", call.url);
        return call;
      },
      reply: (reply, { state }) => ({
        ...reply,
        headers: { ...reply.headers, "x-upstream": String(state.get("url")) },
      }),
    },
  },
];
