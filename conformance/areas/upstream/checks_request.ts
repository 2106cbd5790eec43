/**
 * Checks of the area `upstream`: the request upstream asks for exactly what the client requested.
 */
import { changeReplies, replaceInBody } from "../../faults/change_hooks.ts";
import {
  fact,
  factOf,
  type Finding,
  some,
  statusIs,
} from "../../suite/finding.ts";
import { changeRequest, setting } from "../../faults/change_request.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { limitLostOnChat, otherModel, otherModelOnChat } from "./faults.ts";
import { at, listAt, sameJson, textAt } from "../../evidence/json_path.ts";
import type { UpstreamRequest } from "../../evidence/upstream_request.ts";
import { OWN, VALUES } from "./scenarios_request.ts";
import { headerOf } from "../../evidence/exchange.ts";
import { GENERATION } from "../../suite/requests.ts";
import type { Evidence } from "../../suite/evidence.ts";
import {
  equal,
  MEMBERS,
  passed,
  passedRequest,
  SAME,
  TABLE,
} from "./passed_request.ts";
import { CALL_CHECKS } from "./checks_call.ts";
import { CONTENT_CHECKS } from "./checks_content.ts";
import { CONVERSATION_CHECKS } from "./checks_conversation.ts";
import { isObject, parseJson } from "@model-gateway/replay/json";

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
        return factOf(`${form} upstream`, read(p.sent), p.x).mustBe(
          `${right ?? "nothing, as for this model in the other form"}`,
          read(p.sent) === right,
        );
      }),
      factOf(`${form} of the ${endpoint} endpoint upstream`, "for none")
        .mustBe(
          "sent for at least one model",
          all.some(({ sent }) => read(sent) !== undefined),
        ),
    ];
  });
}

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
      "limit-lost": changeRequest({ maxTokens: undefined }),
      "limit-one-more": setting("maxTokens", (tokens) => tokens + 1),
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
        factOf("limit upstream", sent.maxTokens, x).mustBe(
          "an integer of at least 1 in the message dialect",
          call.dialect !== "messages" ||
            (sent.maxTokens !== undefined && sent.maxTokens >= 1),
        )
      ),
    faults: {
      "limit-zero-by-default": changeRequest((request) => ({
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
      // The range of the message format ends at 1; a model of another format accepts the range of
      // the chat format.
      ...passed(e, "hot", "chat").filter(({ call, sent }) =>
        call.dialect !== "messages" && sent.temperature !== undefined
      ).map((p) =>
        equal(p, "temperature upstream", VALUES.hot, p.sent.temperature)
      ),
    ],
    faults: {
      "temperature-cut-to-one": setting(
        "temperature",
        (value) => Math.min(value, 1),
      ),
      "temperature-lost": changeRequest({ temperature: undefined }),
      "temperature-doubled": setting("temperature", (value) => value * 2),
      "temperature-zero-lost": changeRequest((request) => ({
        temperature: request.temperature || undefined,
      })),
      "temperature-lost-in-streams": changeRequest((request) =>
        request.stream ? { temperature: undefined } : {}
      ),
      "temperature-invented": changeRequest((request) => ({
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
      "top_p-lost": changeRequest({ topP: undefined }),
      "top_p-is-one": changeRequest({ topP: 1 }),
      "top_p-lost-on-chat": changeRequest((_, { endpoint }) =>
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
      "stops-lost": changeRequest({ stops: [] }),
      "first-stop-only": changeRequest((request) => ({
        stops: request.stops.slice(0, 1),
      })),
      "stops-trimmed": changeRequest((request) => ({
        stops: request.stops.map((stop) => stop.trim()),
      })),
      "stops-lost-on-chat": changeRequest((_, { endpoint }) =>
        endpoint === "chat" ? { stops: [] } : {}
      ),
      "stop-text-lost": changeRequest((_, { request }) =>
        request.body.includes('"stop":"') ? { stops: [] } : {}
      ),
    },
  },
  ...CONTENT_CHECKS,
  {
    id: "upstream.metadata",
    rule:
      "| metadata | object | no | Passed through; `user_id` inside it serves the caller's own attribution |",
    judge: (e) =>
      passed(e, "metadata", "messages").map(({ x, call }) =>
        factOf(
          "metadata.user_id upstream",
          at(call.json, "metadata.user_id") ?? "nothing",
          x,
        ).mustBe(
          VALUES.user,
          call.dialect !== "messages" ||
            at(call.json, "metadata.user_id") === VALUES.user,
        )
      ),
    faults: {
      "metadata-lost": changeRequest({ user: undefined }),
      "user-id-replaced": changeRequest((request) => ({
        user: request.user === undefined ? undefined : "gateway",
      })),
    },
  },
  {
    id: "upstream.reply-in-schema",
    source:
      "https://platform.openai.com/docs/guides/structured-outputs, response_format",
    rule:
      "With `response_format` of the type `json_schema` the reply is JSON in that schema, or the request is refused.",
    judge: (e) =>
      some(
        e.matching("chat/*/schema-whole").map((x) => {
          if (x.head?.status !== 200) return statusIs(x, 400, 422);
          const text = textAt(x.json, "choices.0.message.content");
          const reply = parseJson(text);
          return factOf("content", text, x).mustBe(
            "JSON with city and days",
            isObject(reply) && typeof reply["city"] === "string" &&
              Number.isInteger(reply["days"]),
          );
        }),
        "a reply",
      ),
    faults: {
      "schema-lost": replaceInBody(
        '"response_format":{"type":"json_schema"',
        '"ignored":{"type":"json_schema"',
      ),
    },
  },
  {
    id: "upstream.several-choices",
    source: "https://platform.openai.com/docs/api-reference/chat/create, n",
    rule:
      "A request for two choices gets two, or is refused; it is not answered with one as if one had been requested.",
    matching: "chat/*/several-whole",
    each: (x) => {
      if (x.head?.status !== 200) return statusIs(x, 400, 422);
      // The replay upstream sends one choice even when two are requested.
      const wished = at(x.upstream[0]?.json, "n") === 2;
      const choices = listAt(x.json, "choices").length;
      return fact(wished || choices === 2, "choices", "2", choices, x);
    },
    faults: {
      "choices-ignored": replaceInBody(',"n":2', ""),
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
      "system-invented": changeRequest((request) =>
        request.system === "" ? { system: "You are helpful." } : {}
      ),
      "stops-invented": changeRequest((request) =>
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
            factOf(`${name} upstream`, at(call.json, name) ?? "nothing", x)
              .mustBe(
                JSON.stringify(value),
                call.dialect !== own || sameJson(at(call.json, name), value),
              )
          );
        }),
    faults: {
      "own-members-lost": changeRequest({ own: {} }),
      "own-members-lost-in-streams": changeRequest((request) =>
        request.stream ? { own: {} } : {}
      ),
    },
  },
  {
    id: "upstream.loss-named",
    source: "docs/translation.md of this gateway: different formats",
    level: "contract",
    rule:
      "`x-gateway-dropped` names a member that no word of the upstream's format replaces.",
    judge: (e) =>
      [...e.matching("chat/*/own-whole"), ...e.matching("chat/*/own-stream")]
        .map((x) => {
          const named = headerOf(x, "x-gateway-dropped") ?? "";
          return factOf("x-gateway-dropped", named, x).mustBe(
            "logit_bias, exactly where it is lost",
            /\blogit_bias\b/.test(named) ===
              (at(x.upstream[0]?.json, "logit_bias") === undefined),
          );
        }),
    misses: {
      "in-replies": changeReplies({}, { headers: { "x-gateway-dropped": "" } }),
      "in-streams": {
        streamHeaders: ({ "x-gateway-dropped": _, ...headers }) => headers,
      },
    },
  },
  ...CALL_CHECKS,
  {
    id: "upstream.unknown-member",
    source:
      "Clients send members that are newer than the gateway; coding assistants above all",
    rule:
      "An unknown member of the body does no harm: the request is answered, or refused with a 400 that names the member.",
    matching: "*/*/unknown-whole",
    each: (x) =>
      factOf("status", x.head?.status ?? x.ending, x).mustBe(
        "200, or 400 that names x_unknown_member",
        x.head?.status === 200 ||
          (x.head?.status === 400 && x.text.includes("x_unknown_member")),
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
      "other-model-for-streams": changeRequest((request) =>
        request.stream ? otherModel(request) : {}
      ),
    },
  },
]);
