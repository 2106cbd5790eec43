/** Checks of the area `generate_content`: what of a request reaches the model. */
import {
  callsOf,
  contentIn,
  everyContentReply,
} from "../../endpoints/read_generate_content.ts";
import type { Exchange, UpstreamCall } from "../../evidence/exchange.ts";
import { containedKey } from "../../evidence/redaction.ts";
import { at, brief, inKeyOrder, textAt } from "../../evidence/json_path.ts";
import {
  keepsSchema,
  type OfferedTool,
  offeredTools,
  toolChoiceIn,
} from "../../evidence/offered_tools.ts";
import { historySteps } from "../../evidence/tool_history.ts";
import {
  readUpstreamRequest,
  type UpstreamRequest,
} from "../../evidence/upstream_request.ts";
import { WRITTEN } from "@model-gateway/replay/fixtures";
import { isObject, parseJson } from "@model-gateway/replay/json";
import {
  asked,
  refuses,
  sent,
} from "../../reference_gateway/change_generate_content.ts";
import { asking } from "../../reference_gateway/change_request.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import type { ModelRequest, TurnPart } from "../../reference_gateway/part.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import {
  demanded,
  type Finding,
  observed,
  statusIs,
} from "../../suite/finding.ts";
import { sentFor } from "../responses/sent_request.ts";
import {
  PICTURE,
  PICTURE_ADDRESS,
  PLACED,
  SETTINGS,
} from "./scenarios_requests.ts";

/** Judges the request upstream of each request with that name. */
function upstream(
  name: string,
  expected: string,
  test: (request: UpstreamRequest, call: UpstreamCall) => boolean,
): Check["judge"] {
  return (e) =>
    e.matching(`generate_content/*/*/${name}`).map((x) => {
      const call = sentFor(x);
      return observed("request upstream", call.body.slice(0, 400), x).mustBe(
        expected,
        test(readUpstreamRequest(call), call),
      );
    });
}

const all =
  (...judges: readonly Check["judge"][]): Check["judge"] => (e): Finding[] =>
    judges.flatMap((judge) => [...judge(e)]);

/** The texts of a request's turns, by role. */
function turnsText({ turns }: UpstreamRequest): string {
  return turns.map(({ role, parts }) =>
    `${role}: ${
      parts.map((part) => part.kind === "text" ? part.text : part.kind).join(
        "|",
      )
    }`
  ).join("; ");
}

function hasPicture({ turns }: UpstreamRequest, source: string): boolean {
  return turns.some(({ parts }) =>
    parts.some((part) => part.kind === "image" && part.source.includes(source))
  );
}

/** The conversation as `user`, `call ARGUMENTS`, `result of N: TEXT`. */
function steps(call: UpstreamCall): string {
  return historySteps(call.dialect, call.json).map((step) =>
    step.kind === "call"
      ? `call ${JSON.stringify(inKeyOrder(step.args))}`
      : step.kind === "result"
      ? `result of ${step.of}: ${step.text}`
      : step.kind
  ).join("; ");
}

const HISTORY =
  'user; call {"city":"Paris"}; call {"city":"Tokyo"}; result of 0: 12 degrees in Paris; result of 1: 20 degrees in Tokyo; user';

/** The tools that the client offers, beside those that reach the upstream. */
function offers(
  x: Exchange,
): readonly (readonly [OfferedTool, OfferedTool | undefined])[] {
  const call = sentFor(x);
  const found = offeredTools(call.dialect, call.json);
  return offeredTools("generate_content", parseJson(x.request.body)).map(
    (tool, index) => [tool, found[index]],
  );
}

/** Judges each function that a request declares. */
function eachTool(
  test: (sent: OfferedTool, found: OfferedTool, x: Exchange) => boolean,
): Check["judge"] {
  return (e) =>
    ["auto", "named"].flatMap((name) =>
      e.matching(`generate_content/*/*/${name}`).flatMap((x) =>
        offers(x).map(([sent, found]) =>
          observed("function upstream", found, x).mustBe(
            brief(sent),
            found !== undefined && test(sent, found, x),
          )
        )
      )
    );
}

/** The reply to a request is a call of a function, or none is called. */
function called(name: string, expected: string | undefined): Check["judge"] {
  return (e) =>
    everyContentReply(e, name).map((x) => {
      const names = callsOf(x).map((call) => textAt(call, "name"));
      return demanded(e)(
        expected === undefined
          ? names.length === 0
          : names.length > 0 && names.every((each) => each === expected),
        "calls",
        expected ?? "none",
        names,
        x,
      );
    });
}

/** The choice upstream; offering nothing equals a ban, one function that must be called its name. */
function choices(
  name: string,
  ...expected: readonly string[]
): Check["judge"] {
  return upstream(name, expected.join(" or "), (_, { dialect, json }) => {
    const { choice } = toolChoiceIn(dialect, json);
    const offered = offeredTools(dialect, json);
    return expected.includes(choice) ||
      (expected.includes("none") && offered.length === 0) ||
      (choice === "any" && offered.length === 1 &&
        expected.includes(`tool:${offered[0]?.name}`));
  });
}

/** Judges that the text of a reply is JSON in the schema of its request. */
function isJson(name: string): Check["judge"] {
  return (e) =>
    everyContentReply(e, name).map((x) => {
      const found = parseJson(contentIn(x).text);
      return demanded(e)(
        isObject(found) && typeof found["city"] === "string" &&
          Number.isInteger(found["days"]),
        "text",
        "JSON with city and days",
        contentIn(x).text,
        x,
      );
    });
}

/** Changes the parts of every turn as the reference gateway understood them. */
function inTurns(change: (part: TurnPart) => TurnPart | undefined): Hooks {
  return ofContents(({ turns }) => ({
    turns: turns.map((turn) => ({
      ...turn,
      parts: turn.parts.flatMap((part) => change(part) ?? []),
    })),
  }));
}

/** Changes the request of a client of the format as it was understood. */
function ofContents(
  change: (request: ModelRequest) => Partial<ModelRequest>,
): Hooks {
  return asking((request, { endpoint }) =>
    endpoint === "generate_content" ? change(request) : {}
  );
}

const forgets = (name: string): Hooks =>
  asked(({ [name]: _, ...body }) => body);

/** Part of `GENERATE_CONTENT_CHECKS`. */
export const GENERATE_CONTENT_REQUEST_CHECKS: readonly Check[] = checksWith({
  section: "Generate content requests",
  mode: "replay",
  needs: "generate-content",
  reads: ["generate-content-requests"],
}, [
  {
    id: "generate_content.takes-forms",
    rule:
      "`contents` is a list of turns with `parts` and the `role` `user` or `model`; a turn without a role is the user's.",
    mode: "both",
    reads: ["generate-content-requests"],
    judge: (e) =>
      // Models differ in the settings that they take.
      e.matching("generate_content/*/whole/*").filter(({ label }) =>
        !label.endsWith("/settings")
      ).map((x) => statusIs(x, 200)),
    misses: {
      "role-required": refuses(({ request }) =>
        !request.body.includes('"role"')
      ),
      "one-turn": refuses(({ request }) => request.body.includes('"model"')),
    },
  },
  {
    id: "generate_content.model-in-path",
    rule: "The model that the path names receives the request.",
    mode: "replay",
    judge: upstream(
      "turns",
      "a model of that name, or that of another vendor's name for it",
      ({ model }) => model !== "",
    ),
    misses: {
      lost: {
        upstream: (call, { endpoint }) =>
          endpoint === "generate_content"
            ? {
              ...call,
              url: call.url.replace(/models\/[^:]*:/, "models/%20:").replace(
                "%20",
                "",
              ),
              body: { ...call.body, model: "" },
            }
            : call,
      },
    },
  },
  {
    id: "generate_content.turns",
    rule: "All turns reach the model, in order.",
    judge: upstream(
      "turns",
      "user, assistant, user",
      (request) =>
        turnsText(request).startsWith(
          `user: ${PLACED.first}; assistant: ${PLACED.answer}; user: Say`,
        ),
    ),
    misses: {
      "last-only": ofContents(({ turns }) => ({ turns: turns.slice(-1) })),
      reversed: ofContents(({ turns }) => ({
        turns: [...turns.slice(0, -1).toReversed(), ...turns.slice(-1)],
      })),
      "model-as-user": ofContents(({ turns }) => ({
        turns: turns.map((turn) => ({ ...turn, role: "user" })),
      })),
    },
  },
  {
    id: "generate_content.all-parts",
    rule: "All parts of a turn reach the model, in order.",
    judge: upstream("parts", "both texts", (request) => {
      const text = turnsText(request);
      return text.indexOf(PLACED.first) >= 0 &&
        text.indexOf("Say something.") > text.indexOf(PLACED.first);
    }),
    misses: {
      "last-only": ofContents(({ turns }) => ({
        turns: turns.map((turn) => ({ ...turn, parts: turn.parts.slice(-1) })),
      })),
      "reversed": ofContents(({ turns }) => ({
        turns: turns.map((turn) => ({
          ...turn,
          parts: turn.parts.toReversed(),
        })),
      })),
    },
  },
  {
    id: "generate_content.system",
    rule: "`systemInstruction` is the model's instruction.",
    judge: upstream(
      "system",
      PLACED.system,
      ({ system, turns }) =>
        system.join() === PLACED.system && turns.length === 1,
    ),
    misses: {
      lost: forgets("systemInstruction"),
      "as-turn": ofContents(({ system, turns }) => ({
        system: "",
        turns: [
          { role: "user", parts: [{ type: "text", text: system }] },
          ...turns,
        ],
      })),
    },
  },
  {
    id: "generate_content.spelling",
    rule:
      "Keys may be written in the other spelling, such as `max_output_tokens`.",
    level: "convention",
    judge: upstream(
      "other-spelling",
      "the instruction and the cap",
      ({ system, maxTokens }) =>
        system.join() === PLACED.system &&
        maxTokens === SETTINGS.maxOutputTokens,
    ),
    misses: {
      "instruction-unread": forgets("system_instruction"),
      "config-unread": forgets("generation_config"),
    },
  },
  {
    id: "generate_content.cap",
    rule: "`maxOutputTokens` is the upper bound on the model's output.",
    judge: upstream(
      "settings",
      `${SETTINGS.maxOutputTokens}`,
      ({ maxTokens }) => maxTokens === SETTINGS.maxOutputTokens,
    ),
    misses: {
      lost: ofContents(() => ({ maxTokens: undefined })),
      fixed: ofContents(() => ({ maxTokens: 4096 })),
    },
  },
  {
    id: "generate_content.temperature",
    rule: "`temperature` reaches the model.",
    judge: whereTaken(({ temperature }) => temperature, SETTINGS.temperature),
    misses: {
      lost: ofContents(() => ({ temperature: undefined })),
      doubled: ofContents(() => ({ temperature: 1 })),
    },
  },
  {
    id: "generate_content.stop-strings",
    rule: "`stopSequences` reach the model, where its vendor has them.",
    judge: whereTaken(
      ({ stops }) => stops.length === 0 ? undefined : stops.join(),
      SETTINGS.stopSequences.join(),
    ),
    misses: {
      lost: ofContents(() => ({ stops: [] })),
      "first-only": ofContents(({ stops }) => ({ stops: stops.slice(0, 1) })),
    },
  },
  {
    id: "generate_content.inline-data",
    rule: "A picture as `inlineData` reaches the model.",
    reads: ["generate-content-media"],
    judge: upstream(
      "inline",
      "the picture",
      (request) =>
        hasPicture(request, PICTURE) && hasPicture(request, "image/png"),
    ),
    misses: {
      lost: inTurns((part) => part.type === "image" ? undefined : part),
      retyped: inTurns((part) =>
        part.type === "image" ? { ...part, media: "image/jpeg" } : part
      ),
      cut: inTurns((part) =>
        part.type === "image" ? { ...part, data: part.data.slice(0, -4) } : part
      ),
    },
  },
  {
    id: "generate_content.file-data",
    rule: "A picture by its address in `fileData` reaches the model.",
    reads: ["generate-content-media"],
    judge: upstream(
      "file",
      PICTURE_ADDRESS,
      (request) => hasPicture(request, PICTURE_ADDRESS),
    ),
    misses: {
      lost: inTurns((part) => part.type === "image-url" ? undefined : part),
      "as-text": inTurns((part) =>
        part.type === "image-url" ? { type: "text", text: part.url } : part
      ),
    },
  },
  {
    id: "generate_content.functions",
    rule:
      "A function reaches the model with its name, its description and its schema, whether `parameters` or `parametersJsonSchema` has it.",
    reads: ["generate-content-modes"],
    judge: eachTool((sent, found, x) =>
      found.name === sent.name && found.description === sent.description &&
      keepsSchema(lowered(sent), lowered(found), x.via === "generate_content")
    ),
    misses: {
      "schemas-lost": ofContents(({ tools }) => ({
        tools: tools.map((tool) => ({ ...tool, schema: { type: "object" } })),
      })),
      "descriptions-lost": ofContents(({ tools }) => ({
        tools: tools.map((tool) => ({ ...tool, about: undefined })),
      })),
      "first-only": ofContents(({ tools }) => ({ tools: tools.slice(0, 1) })),
    },
  },
  {
    id: "generate_content.mode-any",
    rule:
      "With the mode `ANY` the reply is a call, with `allowedFunctionNames` of a function in it.",
    mode: "both",
    reads: ["generate-content-modes"],
    judge: all(called("any", "get_weather"), called("named", "get_weather")),
    misses: { ignored: forgets("toolConfig") },
    isSkillLive: true,
  },
  {
    id: "generate_content.mode-none",
    rule: "With the mode `NONE` no function is called.",
    mode: "both",
    reads: ["generate-content-modes"],
    judge: called("none", undefined),
    misses: {
      "as-any": ofContents(({ choice }) =>
        choice === "none" ? { choice: "any" } : {}
      ),
    },
    isSkillLive: true,
  },
  {
    id: "generate_content.modes-sent",
    rule: "Every mode reaches the model in the words of its vendor.",
    reads: ["generate-content-modes"],
    judge: all(
      choices("auto", "auto", "unset"),
      choices("any", "any", "tool:get_weather"),
      choices("named", "tool:get_weather"),
      choices("none", "none"),
      choices("validated", "auto", "unset"),
    ),
    misses: {
      "any-as-auto": ofContents(({ choice }) =>
        choice === "any" ? { choice: "auto" } : {}
      ),
      "names-lost": ofContents(({ choice }) =>
        choice?.startsWith("tool:") ? { choice: "any" } : {}
      ),
      "none-lost": ofContents(({ choice }) =>
        choice === "none" ? { choice: undefined } : {}
      ),
    },
  },
  {
    id: "generate_content.validated",
    rule:
      "With the mode `VALIDATED` functions are strict upstream, where their vendor has a word for it.",
    level: "convention",
    reads: ["generate-content-modes"],
    judge: upstream(
      "validated",
      "a strict function",
      (_, { dialect, json }) => {
        const mode = textAt(json, "toolConfig.functionCallingConfig.mode");
        return dialect === "messages" || mode === "VALIDATED" ||
          (at(json, "tools.0.function.strict") ??
              at(json, "tools.0.strict")) ===
            true;
      },
    ),
    misses: {
      loose: ofContents(({ tools }) => ({
        tools: tools.map(({ strict: _, ...tool }) => tool),
      })),
    },
  },
  {
    id: "generate_content.results-by-id",
    rule:
      "A `functionResponse` with an `id` belongs to the call with that `id`.",
    reads: ["generate-content-history"],
    judge: upstream(
      "with-ids",
      "both calls with their own results",
      (_, call) => steps(call) === HISTORY,
    ),
    misses: {
      "in-order": asked((body) =>
        JSON.parse(JSON.stringify(body).replaceAll(/"id":"call_\d",/g, ""))
      ),
      "results-as-text": inTurns((part) =>
        part.type === "result" ? { type: "text", text: part.text } : part
      ),
    },
  },
  {
    id: "generate_content.results-by-name",
    rule:
      "Without an `id` a result belongs to the first call of its name that has none.",
    reads: ["generate-content-history"],
    judge: upstream(
      "without-ids",
      "both calls with their own results",
      (_, call) => steps(call) === HISTORY,
    ),
    misses: {
      "last-first": ofContents(({ turns }) => {
        const ids = turns.flatMap(({ parts }) =>
          parts.flatMap((part) => part.type === "result" ? [part.id] : [])
        ).toReversed();
        let at = 0;
        return {
          turns: turns.map((turn) => ({
            ...turn,
            parts: turn.parts.map((part) =>
              part.type === "result" ? { ...part, id: ids[at++] ?? "" } : part
            ),
          })),
        };
      }),
      "arguments-lost": inTurns((part) =>
        part.type === "call" ? { ...part, args: {} } : part
      ),
    },
  },
  {
    id: "generate_content.results",
    rule: "The text of a result reaches the model.",
    reads: ["generate-content-history"],
    judge: all(
      ...["with-ids", "without-ids"].map((name) =>
        upstream(
          name,
          "both results",
          (_, { body }) =>
            body.includes("12 degrees in Paris") &&
            body.includes("20 degrees in Tokyo"),
        )
      ),
    ),
    misses: {
      empty: inTurns((part) =>
        part.type === "result" ? { ...part, text: "" } : part
      ),
      "first-only": inTurns((part) =>
        part.type === "result" && part.text.includes("Tokyo")
          ? { ...part, text: "12 degrees in Paris" }
          : part
      ),
    },
  },
  {
    id: "generate_content.json-schema",
    rule: "With `responseJsonSchema` the reply is JSON in that schema.",
    mode: "both",
    reads: ["generate-content-json"],
    judge: isJson("json-schema"),
    misses: { ignored: forgetsFormat("responseJsonSchema") },
    isSkillLive: true,
  },
  {
    id: "generate_content.own-schema",
    rule:
      "With `responseSchema`, whose types are in upper case, the reply is JSON in that schema.",
    mode: "both",
    reads: ["generate-content-json"],
    judge: isJson("own-schema"),
    misses: { ignored: forgetsFormat("responseSchema") },
    isSkillLive: true,
  },
  {
    id: "generate_content.signature-returns",
    rule:
      "A `thoughtSignature` that a reply contained returns to its upstream unchanged.",
    reads: ["generate-content-signatures"],
    judge: (e) =>
      e.matching("generate_content/*/whole/repeated").filter(({ via }) =>
        via === "messages" || via === "generate_content"
      ).map((x) => {
        const call = sentFor(x);
        const signature = SIGNATURE_OF[call.dialect];
        return observed("request upstream", call.body.slice(0, 600), x).mustBe(
          "the signature of its reply",
          signature !== undefined && call.body.includes(`"${signature}"`),
        );
      }),
    misses: {
      lost: {
        ...inTurns((part) => part.type === "kept" ? undefined : part),
        upstream: (call) => ({
          ...call,
          body: JSON.parse(
            JSON.stringify(call.body).replaceAll(
              /,"thoughtSignature":"[^"]*"/g,
              "",
            ),
          ),
        }),
      },
      altered: sent((body) =>
        JSON.parse(JSON.stringify(body).replaceAll("Erx0", "Erx1"))
      ),
    },
  },
  {
    id: "generate_content.key-in-header",
    rule: "The key is accepted in `x-goog-api-key`",
    mode: "both",
    reads: ["generate-content-keys"],
    judge: keyIn("header"),
    misses: {
      unread: unreadKey(({ headers }) => headers["x-goog-api-key"]),
    },
  },
  {
    id: "generate_content.key-in-query",
    rule: "as `key` in the query",
    mode: "both",
    reads: ["generate-content-keys"],
    judge: keyIn("query"),
    misses: {
      unread: unreadKey(({ path }) => /[?&]key=/.exec(path)?.[0]),
    },
  },
  {
    id: "generate_content.key-as-bearer",
    rule: "or as a bearer.",
    mode: "both",
    reads: ["generate-content-keys"],
    judge: keyIn("bearer"),
    misses: {
      unread: unreadKey(({ headers }) => headers["authorization"]),
    },
  },
  {
    id: "generate_content.key-stays",
    rule: "A key in the query goes to no upstream, and is in no reply.",
    level: "convention",
    reads: ["generate-content-keys"],
    judge: (e) =>
      e.matching("generate_content/*/whole/query").map((x) => {
        const call = sentFor(x);
        const sent = `${call.path} ${brief(call.headers, 2000)} ${call.body}`;
        return observed("request upstream", sent.slice(0, 400), x).mustBe(
          "without the client's key, like the reply",
          !sent.includes(maskOf(x)) && !containedKey(x.text),
        );
      }),
    misses: {
      "passed-on": {
        upstream: (call, { endpoint, request }) =>
          endpoint === "generate_content"
            ? {
              ...call,
              url: `${call.url}${call.url.includes("?") ? "&" : "?"}caller=${
                new URLSearchParams(request.path.split("?")[1] ?? "").get(
                  "key",
                ) ?? ""
              }`,
            }
            : call,
      },
      "in-reply": {
        reply: (reply, { endpoint, request }) =>
          endpoint === "generate_content" && request.path.includes("key=")
            ? { ...reply, body: { ...reply.body, path: request.path } }
            : reply,
      },
    },
  },
]);

/** Judges a setting that some models do not take: it is right wherever it is sent, and sent to one. */
function whereTaken(
  read: (request: UpstreamRequest) => number | string | undefined,
  value: number | string,
): Check["judge"] {
  return (e) => {
    const all = e.matching("generate_content/*/whole/settings").map((x) =>
      [x, read(readUpstreamRequest(sentFor(x)))] as const
    );
    return [
      ...all.map(([x, found]) =>
        observed("setting upstream", found, x).mustBe(
          `${value}, or nothing`,
          found === undefined || found === value,
        )
      ),
      observed("models that receive it", all.map(([, found]) => found)).mustBe(
        "at least one",
        all.some(([, found]) => found === value),
      ),
    ];
  };
}

/** The request with a setting of the reply's form left out, and with it the type. */
function forgetsFormat(name: string): Hooks {
  return asked((body) => {
    const config = body["generationConfig"];
    if (!isObject(config) || config[name] === undefined) return body;
    const { [name]: _, responseMimeType: __, ...others } = config;
    return { ...body, generationConfig: others };
  });
}

/** Judges that the key was accepted there. */
function keyIn(name: string): Check["judge"] {
  return (e) =>
    e.matching(`generate_content/*/whole/${name}`).map((x) => statusIs(x, 200));
}

/** The mask of the key in the query of a request. */
function maskOf({ request }: Exchange): string {
  return /key=(.*)$/.exec(request.path)?.[1] ?? "";
}

/** Ignores the key where the test finds it. */
function unreadKey(
  find: (
    request: { headers: Readonly<Record<string, string>>; path: string },
  ) => string | undefined,
): Hooks {
  return {
    key: (key, { request, endpoint }) =>
      endpoint === "generate_content" && find(request) !== undefined
        ? undefined
        : key,
  };
}

/** The signature in the fixture's reply of each dialect that has one. */
const SIGNATURE_OF: Readonly<Record<string, string | undefined>> = Object
  .fromEntries(
    ["messages", "generate_content"].map((dialect) => [
      dialect,
      /"(Erx0[^"]*)"/.exec(
        JSON.stringify(WRITTEN.get("thinking-tool") ?? {}).replaceAll(
          '\\"',
          '"',
        ),
      )?.[1],
    ]),
  );

/** A schema without the differences of the format's own kind. */
function lowered({ schema }: OfferedTool): OfferedTool["schema"] {
  return parseJson(
    JSON.stringify(schema ?? {}).replaceAll(
      /"type":"([A-Z]+)"/g,
      (all) => all.toLowerCase(),
    ),
  );
}
