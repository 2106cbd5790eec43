/**
 * Checks of the area `upstream`: the request upstream asks for exactly what the client requested.
 */
import { asking } from "../../reference_gateway/change_request.ts";
import { type Check, checksWith, shared } from "../../suite/check.ts";
import {
  call,
  limitLostOnChat,
  otherModel,
  otherModelOnChat,
  parts,
  pictures,
  withBody,
} from "./faults.ts";
import { at, listAt, sameJson } from "../../evidence/json_path.ts";
import {
  turnsText,
  type UpstreamRequest,
} from "../../evidence/upstream_request.ts";
import { isObject, type Json } from "@model-gateway/replay/json";
import { OWN, VALUES } from "./scenarios_request.ts";
import { GENERATION } from "../../suite/requests.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { fact, type Finding, some, statusIs } from "../../suite/finding.ts";
import {
  equal,
  MEMBERS,
  passed,
  passedRequest,
  SAME,
  TABLE,
} from "./passed_request.ts";
import { CONVERSATION_CHECKS } from "./checks_conversation.ts";

/**
 * A sampling value reaches the upstream unchanged, or not at all where a model accepts none; then
 * the same holds whole and streamed. On each endpoint it must reach at least one upstream.
 */
function sampled(
  e: Evidence,
  form: string,
  read: (sent: UpstreamRequest) => number | undefined,
  value: number,
): Finding[] {
  return GENERATION.flatMap((endpoint) => {
    const all = passed(e, form, endpoint);
    return [
      ...all.map((p) => {
        const taken = all.some(({ asked, sent }) =>
          asked.model === p.asked.model && read(sent) !== undefined
        );
        const right = taken ? value : undefined;
        return fact(
          read(p.sent) === right,
          `${form} upstream`,
          `${right ?? "nothing, as for this model in the other form"}`,
          read(p.sent),
          p.x,
        );
      }),
      fact(
        all.some(({ sent }) => read(sent) !== undefined),
        `${form} of the ${endpoint} endpoint upstream`,
        "sent for at least one model",
        "for none",
      ),
    ];
  });
}
/** A tool without members of its schema that add no meaning, since some gateways add them. */
function meant(tool: UpstreamRequest["tools"][number]): Json {
  const { schema } = tool;
  if (!isObject(schema)) return { ...tool };
  const keywords = Object.entries(schema).filter(([key, value]) =>
    !(key.startsWith("$def") && sameJson(value, {}))
  );
  return { ...tool, schema: Object.fromEntries(keywords) };
}

/** Part of `UPSTREAM_CHECKS`. */
export const REQUEST_CHECKS: readonly Check[] = checksWith({
  section: TABLE,
  mode: "replay",
  reads: ["sent-members"],
}, [
  ...CONVERSATION_CHECKS,
  {
    id: "upstream.max_tokens",
    rule:
      "| max_tokens | integer | yes | Maximum output tokens; generation stops at this count |",
    judge: (e) =>
      passed(e, "limit").map((p) =>
        equal(p, "limit upstream", VALUES.maxTokens, p.sent.maxTokens)
      ),
    faults: {
      "limit-lost": asking({ maxTokens: undefined }),
      "limit-one-more": asking((request) => ({
        maxTokens: request.maxTokens === undefined
          ? undefined
          : request.maxTokens + 1,
      })),
      "limit-lost-on-chat": limitLostOnChat,
    },
  },
  {
    id: "upstream.limit-where-needed",
    source: SAME,
    rule:
      "A chat request without a limit gets one where the upstream's format requires it.",
    judge: (e) =>
      passed(e, "no-limit", "chat").map(({ x, sent, call }) =>
        fact(
          call.dialect !== "messages" ||
            (sent.maxTokens !== undefined && sent.maxTokens >= 1),
          "limit upstream",
          "an integer of at least 1 in the message dialect",
          sent.maxTokens,
          x,
        )
      ),
    faults: {
      "limit-zero-by-default": asking((request) => ({
        maxTokens: request.maxTokens ?? 0,
      })),
    },
  },
  {
    id: "upstream.temperature",
    level: "convention",
    rule: "| temperature | number | no | 0 to 1. Omit for the model default |",
    judge: (e) => [
      ...sampled(
        e,
        "temperature",
        (sent) => sent.temperature,
        VALUES.temperature,
      ),
      ...sampled(e, "zero", (sent) => sent.temperature, 0),
      ...passed(e, "limit").map((p) =>
        equal(p, "temperature upstream", undefined, p.sent.temperature)
      ),
      // The range of the message format ends at 1; a model of another format accepts the range of the
      // chat format.
      ...passed(e, "hot", "chat").filter(({ call, sent }) =>
        call.dialect !== "messages" && sent.temperature !== undefined
      ).map((p) =>
        equal(p, "temperature upstream", VALUES.hot, p.sent.temperature)
      ),
    ],
    faults: {
      "temperature-cut-to-one": asking((request) => ({
        temperature: request.temperature === undefined
          ? undefined
          : Math.min(request.temperature, 1),
      })),
      "temperature-lost": asking({ temperature: undefined }),
      "temperature-doubled": asking((request) => ({
        temperature: request.temperature === undefined
          ? undefined
          : request.temperature * 2,
      })),
      "temperature-zero-lost": asking((request) => ({
        temperature: request.temperature || undefined,
      })),
      "temperature-lost-in-streams": asking((request) =>
        request.stream ? { temperature: undefined } : {}
      ),
      "temperature-invented": asking((request) => ({
        temperature: request.temperature ?? 0.7,
      })),
    },
  },
  {
    id: "upstream.top_p",
    level: "convention",
    rule: "| top_p | number | no | Nucleus sampling.",
    judge: (e) => sampled(e, "top_p", (sent) => sent.topP, VALUES.topP),
    faults: {
      "top_p-lost": asking({ topP: undefined }),
      "top_p-is-one": asking({ topP: 1 }),
      "top_p-lost-on-chat": asking((_, { endpoint }) =>
        endpoint === "chat" ? { topP: undefined } : {}
      ),
    },
  },
  {
    id: "upstream.stop_sequences",
    rule:
      "| stop_sequences | array of strings | no | Generation halts when one is produced |",
    judge: (e) => {
      // Some models refuse stop strings, and a gateway must leave them out for those.
      const all = passed(e, "stops");
      return [
        ...all.map((p) =>
          equal(
            p,
            "stop strings upstream",
            p.sent.stops.length === 0 ? [] : VALUES.stops,
            p.sent.stops,
          )
        ),
        ...["messages", "chat"].map((endpoint) => {
          const sent = all.some((p) =>
            p.x.endpoint === endpoint && p.sent.stops.length > 0
          );
          const what = `stop strings of the ${endpoint} endpoint upstream`;
          return fact(sent, what, "sent for at least one model", sent);
        }),
        ...passed(e, "stop-text", "chat").map((p) => {
          const taken = all.some(({ asked, sent, x }) =>
            x.endpoint === "chat" && asked.model === p.asked.model &&
            sent.stops.length > 0
          );
          const right = taken ? p.asked.stops : [];
          return equal(p, "the one stop string upstream", right, p.sent.stops);
        }),
      ];
    },
    faults: {
      "stops-lost": asking({ stops: [] }),
      "first-stop-only": asking((request) => ({
        stops: request.stops.slice(0, 1),
      })),
      "stops-trimmed": asking((request) => ({
        stops: request.stops.map((stop) => stop.trim()),
      })),
      "stops-lost-on-chat": asking((_, { endpoint }) =>
        endpoint === "chat" ? { stops: [] } : {}
      ),
      "stop-text-lost": asking((_, { request }) =>
        request.body.includes('"stop":"') ? { stops: [] } : {}
      ),
    },
  },
  {
    id: "upstream.tools",
    rule: "| tools | array | no | Tool definitions;",
    reads: ["sent-things"],
    judge: (e) =>
      passed(e, "tools").map(({ x, asked, sent }) =>
        fact(
          sameJson(asked.tools.map(meant), sent.tools.map(meant)),
          "tools upstream",
          JSON.stringify(asked.tools),
          JSON.stringify(sent.tools),
          x,
        )
      ),
    faults: {
      "tools-lost": asking({ tools: [] }),
      "second-tool-lost": asking((request) => ({
        tools: request.tools.slice(0, 1),
      })),
      "tools-reversed": asking(({ tools }) => ({
        tools: [...tools].reverse(),
      })),
      "schemas-emptied": asking((request) => ({
        tools: request.tools.map((tool) => ({
          ...tool,
          schema: { type: "object" },
        })),
      })),
      "descriptions-lost": asking((request) => ({
        tools: request.tools.map((tool) => ({ ...tool, about: undefined })),
      })),
      // No parameter of a tool is required.
      "required-lost": asking((request) => ({
        tools: request.tools.map((tool) => ({
          ...tool,
          schema: JSON.parse(
            JSON.stringify(tool.schema).replace(/,"required":\[[^\]]*\]/, ""),
          ),
        })),
      })),
    },
  },
  {
    id: "upstream.metadata",
    rule:
      "| metadata | object | no | Passed through; `user_id` inside it serves the caller's own attribution |",
    judge: (e) =>
      passed(e, "metadata", "messages").map(({ x, call }) =>
        fact(
          call.dialect !== "messages" ||
            at(call.json, "metadata.user_id") === VALUES.user,
          "metadata.user_id upstream",
          VALUES.user,
          at(call.json, "metadata.user_id") ?? "nothing",
          x,
        )
      ),
    faults: {
      "metadata-lost": asking({ user: undefined }),
      "user-id-replaced": asking((request) => ({
        user: request.user === undefined ? undefined : "gateway",
      })),
    },
  },
  {
    id: "upstream.several-choices",
    source: "https://platform.openai.com/docs/api-reference/chat/create, n",
    rule:
      "A request for two choices gets two, or is refused; it is not answered with one as if one had been requested.",
    judge: (e) =>
      e.matching("chat/*/several-whole").map((x) => {
        if (x.head?.status !== 200) return statusIs(x, 400, 422);
        // The replay upstream sends one choice even when two are requested.
        const wished = at(x.upstream[0]?.json, "n") === 2;
        const choices = listAt(x.json, "choices").length;
        return fact(wished || choices === 2, "choices", "2", choices, x);
      }),
    faults: {
      "choices-ignored": {
        request: (request) => ({
          ...request,
          body: request.body.replace(',"n":2', ""),
        }),
      },
    },
  },
  {
    id: "upstream.nothing-added",
    source: SAME,
    rule:
      "A request without instructions, tools or stop strings reaches the upstream without them.",
    judge: (e) =>
      passed(e, "limit").map((p) =>
        equal(p, "system, tools and stop strings upstream", [[], [], []], [
          p.sent.system,
          p.sent.tools,
          p.sent.stops,
        ])
      ),
    faults: {
      "system-invented": asking((request) =>
        request.system === "" ? { system: "You are helpful." } : {}
      ),
      "stops-invented": asking((request) =>
        request.stops.length === 0 ? { stops: ["Human:"] } : {}
      ),
    },
  },
  {
    id: "upstream.own-members",
    source: SAME,
    rule:
      "A member that only the request's own format has reaches an upstream of the same format, or the request is refused.",
    judge: (e) =>
      [...e.matching("*/*/own-whole"), ...e.matching("*/*/own-stream")]
        .flatMap((x) => {
          if (x.head?.status !== 200) return [statusIs(x, 400, 422)];
          const { call } = passedRequest(x);
          const own = x.endpoint === "chat" ? "chat_completions" : "messages";
          const members = x.endpoint === "chat" ? OWN.chat : OWN.messages;
          return Object.entries(members).map(([name, value]) =>
            fact(
              call.dialect !== own || sameJson(at(call.json, name), value),
              `${name} upstream`,
              JSON.stringify(value),
              at(call.json, name) ?? "nothing",
              x,
            )
          );
        }),
    faults: {
      "own-members-lost": asking({ own: {} }),
      "own-members-lost-in-streams": asking((request) =>
        request.stream ? { own: {} } : {}
      ),
    },
  },
  {
    id: "upstream.image",
    level: "convention",
    rule: "block arrays such as image blocks are also used",
    reads: ["sent-things"],
    judge: (e) =>
      ["image", "images"].flatMap((form) => passed(e, form)).map((p) =>
        equal(p, "turns upstream", turnsText(p.asked), turnsText(p.sent))
      ),
    faults: {
      "image-lost": pictures(() => []),
      "image-cut": pictures((part) =>
        part.type === "image"
          ? [{ ...part, data: part.data.slice(0, -4) }]
          : [part]
      ),
      "image-type-changed": pictures((part) =>
        part.type === "image" ? [{ ...part, media: "image/jpeg" }] : [part]
      ),
      // Pictures are moved after the text.
      "image-after-text": asking((request) => ({
        turns: request.turns.map((turn) => ({
          ...turn,
          parts: [...turn.parts].sort((left, right) =>
            Number(left.type === "image") - Number(right.type === "image")
          ),
        })),
      })),
      // Only the first of several pictures is passed on.
      "second-image-lost": {
        modelRequest: (request, x) => {
          let seen = 0;
          const change = parts((part) =>
            part.type === "image" && ++seen > 1 ? [] : [part]
          );
          return change?.(request, x) ?? request;
        },
      },
    },
  },
  {
    id: "upstream.image-url",
    source: SAME,
    rule:
      "The URL of a picture reaches the upstream unchanged, or the request is refused.",
    reads: ["sent-things"],
    judge: (e) =>
      [...e.matching("*/*/image-url-whole")].map((x) => {
        if (x.head?.status !== 200) return statusIs(x, 400);
        const p = passedRequest(x);
        return equal(
          p,
          "turns upstream",
          turnsText(p.asked),
          turnsText(p.sent),
        );
      }),
    faults: {
      "image-address-cut": pictures((part) =>
        part.type === "image-url"
          ? [{ ...part, url: part.url.split("?")[0] ?? "" }]
          : [part]
      ),
      ...shared("image-lost"),
    },
  },
  {
    id: "upstream.stream",
    source: SAME,
    rule: "A stream request becomes a stream request upstream.",
    judge: (e) =>
      MEMBERS.flatMap((form) => e.streams(`*/*/${form}-stream`)).map(
        passedRequest,
      )
        .map((p) => equal(p, "stream upstream", true, p.sent.streamed)),
    faults: {
      "streams-asked-whole": call((out) => ({
        ...out,
        url: out.url.replace("streamGenerateContent", "generateContent"),
        body: { ...out.body, stream: false },
      })),
    },
  },
  {
    id: "upstream.unknown-member",
    source:
      "Clients send members that are newer than the gateway; coding assistants above all",
    rule:
      "An unknown member of the body does no harm: the request is answered, or refused with a 400 that names the member.",
    judge: (e) =>
      e.matching("*/*/unknown-whole")
        .map((x) =>
          fact(
            x.head?.status === 200 ||
              (x.head?.status === 400 && x.text.includes("x_unknown_member")),
            "status",
            "200, or 400 that names x_unknown_member",
            x.head?.status ?? x.ending,
            x,
          )
        ),
    faults: {
      "unknown-member-500": {
        accept: (problem, body) =>
          "x_unknown_member" in body
            ? { status: 500, type: "api_error", message: "It failed" }
            : problem,
      },
    },
  },
  {
    id: "upstream.model",
    level: "convention",
    section: "What the service does",
    rule:
      "Both endpoints accept the same set of model ids, including models of different vendors.",
    judge: (e) => {
      const all = MEMBERS.flatMap((form) => passed(e, form));
      return all.map((p) => {
        const first = all.find(({ asked }) => asked.model === p.asked.model);
        return equal(p, "model upstream", first?.sent.model, p.sent.model);
      });
    },
    faults: {
      "other-model-on-chat": otherModelOnChat,
      "other-model-for-streams": asking((request) =>
        request.stream ? otherModel(request) : {}
      ),
    },
  },
  {
    id: "upstream.one-call",
    source: "Each upstream call is billed to the operator",
    rule: "A request that succeeds is sent upstream once.",
    judge: (e) =>
      some(
        e.exchanges.filter(({ head }) => head?.status === 200).map((x) =>
          fact(
            x.upstream.length === 1,
            "calls of the upstream",
            "1",
            x.upstream.length,
            x,
          )
        ),
        "a success",
      ),
    faults: shared("called-twice"),
  },
  {
    id: "upstream.call-is-json",
    source: "Each vendor's API documentation",
    rule:
      "The upstream is called with POST, `content-type: application/json` and a JSON object.",
    judge: (e) =>
      MEMBERS.flatMap((form) => passed(e, form)).flatMap(({ x, call }) => [
        fact(call.method === "POST", "method upstream", "POST", call.method, x),
        fact(
          /^application\/json\b/i.test(call.headers["content-type"] ?? "") &&
            isObject(call.json),
          "body upstream",
          "a JSON object under application/json",
          call.headers["content-type"] ?? "no content-type",
          x,
        ),
      ]),
    faults: {
      "called-with-text-plain": call((out) => ({
        ...out,
        headers: { ...out.headers, "content-type": "text/plain" },
      })),
    },
  },
  {
    id: "upstream.callers-key",
    source:
      "A key belongs to exactly one gateway (section Authentication): to others it is a secret",
    rule: "The client's key is never sent upstream.",
    judge: (e) => [
      fact(
        e.note("the client's key was seen upstream") === false,
        "the client's key upstream",
        "never",
        e.note("the client's key was seen upstream"),
      ),
    ],
    faults: {
      // The client's key is sent upstream in a header.
      "callers-key-passed-on": call((out, { request }) => ({
        ...out,
        headers: {
          ...out.headers,
          "x-forwarded-authorization": request.headers["authorization"] ??
            request.headers["x-api-key"] ?? "",
        },
      })),
      "callers-key-as-user": withBody((body, { request }) => ({
        ...body,
        user: request.headers["authorization"] ??
          request.headers["x-api-key"] ?? "",
      })),
    },
  },
]);
