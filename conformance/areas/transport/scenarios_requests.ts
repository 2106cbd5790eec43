/**
 * Scenarios of the area `transport` about requests: methods, paths, headers, many requests in a
 * row, and upstreams that identify themselves.
 */
import { replyIn } from "@model-gateway/replay/reply_in";
import type { Header } from "../../evidence/exchange.ts";
import { WRITTEN } from "@model-gateway/replay/fixtures";
import { parseRequest } from "@model-gateway/replay/parse_request";
import type { JsonObject } from "@model-gateway/replay/json";
import { deliverWritten } from "@model-gateway/replay/deliver";
import {
  jsonScript,
  type ReplayRequest,
  type Script,
} from "@model-gateway/replay/script";
import {
  firstRoute,
  GENERATION,
  plainRequest,
  streamed,
} from "../../suite/requests.ts";
import { calls, free, perRoute, type Scenario } from "../../suite/scenario.ts";

const PATHS = {
  messages: "/v1/messages",
  chat: "/v1/chat/completions",
  models: "/v1/models",
} as const;

export const WRONG_METHODS = {
  messages: ["GET", "PUT", "PATCH", "DELETE"],
  chat: ["PUT", "PATCH", "DELETE"],
  models: ["POST", "PUT", "DELETE"],
} as const;

const NO_PATHS = [
  "/v1/",
  "/v1/nothing",
  "/v1/messages/nothing/here",
  "/v1/chat",
  "/v1/chat/completions/nothing/here",
  "/v1/v1/messages",
  "/v1/v1/chat/completions",
] as const;

const METHODS: Scenario = {
  name: "methods",
  about: "Methods and paths that no operation has, HEAD and OPTIONS",
  mode: "both",
  cost: free(24),
  async play(session) {
    for (const endpoint of GENERATION) {
      const route = firstRoute(session, endpoint);
      const requestOf = (form: string) =>
        plainRequest(
          endpoint,
          route,
          form,
          session.prompt("text", "Say hello."),
          { max_tokens: 16 },
        );
      for (const method of WRONG_METHODS[endpoint]) {
        const { body, ...bare } = requestOf(method);
        await session.send({
          ...bare,
          method,
          ...(method === "GET" || body === undefined ? {} : { body }),
        });
      }
      await session.send({ ...requestOf("OPTIONS"), method: "OPTIONS" });
      const { body: _, ...bare } = requestOf("HEAD");
      await session.send({
        ...bare,
        method: "HEAD",
        auth: "none",
        rawLines: [`x-api-key: ${session.key}`],
      });
    }
    const send = (form: string, method: string) =>
      session.send({
        label: `models/list/${form}`,
        endpoint: "models",
        method,
      });
    for (const method of WRONG_METHODS.models) await send(method, method);
    await send("OPTIONS", "OPTIONS");
    await session.send({
      label: "models/list/HEAD",
      endpoint: "models",
      method: "HEAD",
      auth: "none",
      rawLines: [`x-api-key: ${session.key}`],
    });
    for (const path of NO_PATHS) {
      await session.send({
        label: `other/get/${path.replaceAll("/", ".")}`,
        endpoint: "other",
        path,
        auth: "bearer",
      });
      if (session.mode === "live" && path !== NO_PATHS[0]) continue;
      await session.send({
        label: `other/post/${path.replaceAll("/", ".")}`,
        endpoint: "other",
        method: "POST",
        path,
        auth: "bearer",
        body: { json: {} },
      });
    }
  },
};

/** Headers that clients send and that have no meaning to a gateway. */
const EXTRA_HEADERS: readonly Header[] = [
  ["anthropic-beta", "interleaved-thinking-2025-05-14,effort-2025-11-24"],
  ["anthropic-never-heard-of", "a=1, b"],
  ["x-stainless-lang", "js"],
  ["x-stainless-retry-count", "0"],
  ["x-stainless-timeout", "600"],
  ["x-app", "cli"],
  ["x-nobody-knows-this", 'a "quoted" value; with=things, and more'],
  ["traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"],
  ["openai-organization", "org-nobody"],
  ["cookie", "session=none"],
  ["accept-language", "de-DE,de;q=0.9"],
  ["user-agent", "claude-cli/2.1.329 (external, sdk-cli)"],
];

const VARIANTS: Scenario = {
  name: "request-variants",
  about:
    "Good requests with unknown headers, queries, and other spellings of the content type",
  mode: "both",
  cost: calls(20, 16),
  async play(session) {
    await Promise.all(GENERATION.map(async (endpoint) => {
      const route = firstRoute(session, endpoint);
      const path = PATHS[endpoint];
      const send = (
        form: string,
        more: Partial<Parameters<typeof session.send>[0]>,
        body: JsonObject = {},
      ) =>
        session.send({
          ...plainRequest(
            endpoint,
            route,
            form,
            session.prompt("text", "Say hello."),
            { max_tokens: 16, ...body },
          ),
          ...more,
        });
      await send("control", {});
      await send("extra-headers", { headers: EXTRA_HEADERS });
      await send(
        "extra-headers-stream",
        { headers: EXTRA_HEADERS },
        streamed(endpoint),
      );
      await send("query", { path: `${path}?beta=true` });
      await send("query-many", {
        path: `${path}?api-version=2026-01-01&x=%20%26&x=&stream=true`,
      });
      const type = (
        value: string,
      ): Partial<Parameters<typeof session.send>[0]> => ({
        headers: [["content-type", value]],
      });
      await send("charset", type("application/json; charset=utf-8"));
      await send("type-case", type("Application/JSON"));
      await send("accept-any", { headers: [["accept", "*/*"]] });
      await send(
        "accept-json",
        { headers: [["accept", "application/json"]] },
        streamed(endpoint),
      );
    }));
    await session.send({
      label: "models/list/extra-headers",
      endpoint: "models",
      headers: EXTRA_HEADERS,
    });
    await session.send({
      label: "models/list/query",
      endpoint: "models",
      path: "/v1/models?limit=1000&x=1",
    });
  },
};

/** Number of refusals before each good request of the scenario below. */
const REFUSALS = 6;

const AFTER_REFUSALS: Scenario = {
  name: "after-refusals",
  about: "Wrong requests of all kinds in a row, and good ones after them",
  mode: "replay",
  cost: calls(2, 16),
  async play(session) {
    for (const endpoint of GENERATION) {
      const route = firstRoute(session, endpoint);
      for (let n = 0; n < REFUSALS; n++) {
        const request = plainRequest(endpoint, route, `refused-${n}`, "Hello.");
        await session.send({ ...request, body: { text: '{"model":' } });
        await session.send({ ...request, auth: "none" });
        await session.send({
          ...request,
          endpoint: "other",
          path: "/v1/nothing",
        });
      }
      for (
        const [form, more] of [["whole", {}], [
          "stream",
          streamed(endpoint),
        ]] as const
      ) {
        await session.send(
          plainRequest(
            endpoint,
            route,
            form,
            session.prompt("text", "Say hello."),
            more,
          ),
        );
      }
    }
  },
};

/** The value of every header below. */
export const CANARY = "upstream-canary-5e1f";

/** Headers with which an upstream identifies itself, and cookies that it sets. */
const IDENTIFYING_HEADERS = {
  "set-cookie": `__cf_bm=${CANARY}; path=/; HttpOnly`,
  "anthropic-organization-id": CANARY,
  "openai-organization": CANARY,
  "cf-ray": CANARY,
  "request-id": `req_${CANARY}`,
  "x-request-id": `req_${CANARY}`,
  "via": `1.1 ${CANARY}`,
} as const;

function identifying(request: ReplayRequest): Script {
  const call = parseRequest(request);
  const text = WRITTEN.get("text");
  if (text === undefined) throw new Error("the text fixture is missing");
  const script = deliverWritten(call, replyIn(text, call.dialect), {});
  return { ...script, headers: { ...script.headers, ...IDENTIFYING_HEADERS } };
}

/** An upstream that repeats the refused key. */
function echoing(status: number): (request: ReplayRequest) => Script {
  return ({ headers }) => {
    const key = headers["x-api-key"] ?? headers["x-goog-api-key"] ??
      headers["authorization"] ?? "";
    const message = `Incorrect API key provided: ${key}`;
    return jsonScript(status, {
      type: "error",
      error: { type: "authentication_error", message },
    }, IDENTIFYING_HEADERS);
  };
}

const IDENTITY: Scenario = {
  name: "upstream-identity",
  about:
    "An upstream that identifies itself in headers, repeats its key in refusals, or is unreachable",
  mode: "replay",
  cost: perRoute(8, 64),
  async play(session) {
    session.replay.script("telling", identifying);
    session.replay.script("echoing-401", echoing(401));
    session.replay.script("echoing-403", echoing(403));
    session.note("upstream host", new URL(session.replay.url).host);
    await Promise.all(
      GENERATION.flatMap((endpoint) =>
        session.routes(endpoint).flatMap((route) =>
          ["telling", "echoing-401", "echoing-403", "drop"].map(
            async (fixture) => {
              for (const form of ["whole", "stream"] as const) {
                const nonce = session.nonce();
                const wanted = plainRequest(
                  endpoint,
                  route,
                  `${fixture}-${form}`,
                  session.prompt(fixture, "Say hello.", nonce),
                  form === "stream" ? streamed(endpoint) : {},
                );
                const x = await session.send(wanted);
                const entry = await session.logEntryOf(nonce, 500);
                const { headers = {} } = entry?.request ?? {};
                const key = headers["x-api-key"] ?? headers["x-goog-api-key"] ??
                  headers["authorization"]?.replace(/^Bearer /, "") ?? "";
                session.note(
                  `${wanted.label} holds key`,
                  key !== "" &&
                    (x.text + JSON.stringify(x.head?.headers ?? [])).includes(
                      key,
                    ),
                );
              }
            },
          )
        )
      ),
    );
  },
};

export const TRANSPORT_REQUEST_SCENARIOS: readonly Scenario[] = [
  METHODS,
  VARIANTS,
  AFTER_REFUSALS,
  IDENTITY,
];
