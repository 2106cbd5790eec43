/** Checks of the area `counts`: a rule is written once for every format of requests. */
import { changeRequest } from "../../faults/change_request.ts";
import {
  accept,
  admit,
  changeReplies,
  replaceInBody,
} from "../../faults/change_hooks.ts";
import { mapValues } from "@model-gateway/replay/map_values";
import { type Exchange, headerOf } from "../../evidence/exchange.ts";
import { at, brief, numberAt } from "../../evidence/json_path.ts";
import type { Json } from "@model-gateway/replay/json";
import { parseRequest } from "@model-gateway/replay/parse_request";
import { inputTokens } from "@model-gateway/replay/token_count";
import { withAt } from "../../faults/change_reply.ts";
import { literal, whole } from "../../faults/field.ts";
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import { problemOf } from "../../reference_gateway/problems.ts";
import {
  type Check,
  checksWith,
  type Level,
  type Misses,
  type Mode,
} from "../../suite/check.ts";
import {
  COUNT_FORMATS,
  type CountFormat,
  type CountName,
} from "../../suite/count_formats.ts";
import type { Evidence } from "../../suite/evidence.ts";
import {
  fact,
  factOf,
  type Finding,
  offered,
  satisfies,
  some,
  statusIs,
} from "../../suite/finding.ts";
import { contentType } from "../transport/checks_request_ids.ts";
import { refusalMembers, refusalWords } from "../replies/refusals.ts";
import { NAMES, WORDS } from "./scenarios.ts";

const SECTION = "Counts (beyond the base specification)";

interface CountRule {
  readonly id: string;
  readonly rule: string;
  readonly level?: Level;
  readonly mode?: Mode;
  readonly reads: string;
  readonly judge: (
    name: CountName,
    format: CountFormat,
    e: Evidence,
  ) => readonly Finding[];
  readonly misses: (format: CountFormat, name: CountName) => Misses;
}

function onEveryFormat(
  { id, reads, judge, misses, mode = "both", ...rule }: CountRule,
): readonly Check[] {
  return NAMES.flatMap((name) =>
    checksWith({ section: SECTION, mode }, [{
      ...rule,
      id: `counts.${name}-${id}`,
      needs: COUNT_FORMATS[name].feature,
      reads: [reads],
      judge: (e) => judge(name, COUNT_FORMATS[name], e),
      misses: misses(COUNT_FORMATS[name], name),
    }])
  );
}

/** The counts of a format with this form of a request. */
function counts(
  e: Evidence,
  name: CountName,
  form: string,
): readonly { readonly x: Exchange; readonly count: number }[] {
  return e.replies(`${name}/*/${form}`).map((x) => ({
    x,
    count: numberAt(x.json, COUNT_FORMATS[name].member) ?? 0,
  }));
}

const isCount = (x: Context, { endpoint }: CountFormat): boolean =>
  x.does === "count" && x.endpoint === endpoint;
const countsOf = ({ endpoint }: CountFormat) =>
  ({ endpoint, does: "count" }) as const;

type Refusals = ReturnType<typeof refusalMembers>;

function ofRefusals(
  rule: (...of: Parameters<typeof refusalMembers>) => Refusals,
): Readonly<Record<CountName, Refusals>> {
  const of = (name: CountName): Refusals =>
    rule(
      name,
      (x) => isCount(x, COUNT_FORMATS[name]),
      ({ label }) => label.startsWith(`${name}/`),
    );
  return {
    messages: of("messages"),
    chat: of("chat"),
    responses: of("responses"),
    generate_content: of("generate_content"),
  };
}
const REFUSALS = ofRefusals(refusalMembers);
const REFUSAL_WORDS = ofRefusals(refusalWords);

/** Puts a value in place of the count. */
function put(format: CountFormat, value: Json | undefined): Hooks {
  return counted(format, () => value);
}

function counted(
  format: CountFormat,
  change: (count: number) => Json | undefined,
): Hooks {
  const { member } = format;
  return changeReplies({ ...countsOf(format), status: 200 }, ({ body }) => ({
    body: withAt(body, member, change(numberAt(body, member) ?? 0)),
  }));
}

/** The counts of the requests with `more` exceed those of the others on the same route. */
function exceed(
  e: Evidence,
  name: CountName,
  more: string,
): Finding[] {
  const short = counts(e, name, "short");
  return counts(e, name, more).map(({ x, count }, index) =>
    fact(
      count > (short[index]?.count ?? Infinity),
      "count",
      `more than ${short[index]?.count}`,
      count,
      x,
    )
  );
}

/** The upstream's number for a count; undefined where it was not asked. */
function vendorsCount({ upstream }: Exchange): number | undefined {
  const call = upstream.at(-1);
  return call === undefined ? undefined : inputTokens(parseRequest(call));
}

/** Each request for a count reached a vendor, at its address that counts tokens. */
const asked = (x: Exchange): readonly string[] =>
  x.upstream.map((call) => parseRequest(call).operation);

const ALL_FEATURES = NAMES.map((name) => COUNT_FORMATS[name]);

/** Applies a fault to the counts of every format. */
function everywhere(change: (format: CountFormat) => Hooks): Hooks {
  const all = ALL_FEATURES.map(change);
  return {
    reply: (reply, x) =>
      all.reduce(
        (changed, { reply: hook }) => hook?.(changed, x) ?? changed,
        reply,
      ),
  };
}

export const COUNTS_CHECKS: readonly Check[] = [
  ...onEveryFormat({
    id: "number",
    rule:
      "The count is a whole number of at least 1, in `input_tokens`, of generate content in `totalTokens`.",
    reads: "counts",
    judge: (name, { member }, e) =>
      e.replies(`${name}/*/*`).map((x) => {
        const found = at(x.json, member);
        return factOf(member, found, x).mustBe(
          "a whole number of at least 1",
          whole(1).test(found),
        );
      }),
    misses: (format) =>
      mapValues(whole(1).misses, (value) => put(format, value)),
  }),
  ...onEveryFormat({
    id: "grows",
    rule: "A longer prompt has a higher count.",
    reads: "counts",
    judge: (name, _, e) => exceed(e, name, "long"),
    misses: (format) => ({
      fixed: put(format, 8),
      capped: counted(format, (count) => Math.min(count, 9)),
    }),
  }),
  ...onEveryFormat({
    id: "all-of-it",
    rule: "Instructions and tools are counted, too.",
    reads: "counts",
    judge: (name, _, e) => exceed(e, name, "more"),
    misses: (format) => ({
      "turns-only": changeRequest((_, x) =>
        isCount(x, format) ? { system: "", tools: [] } : {}
      ),
    }),
  }),
  ...onEveryFormat({
    id: "no-reply",
    rule: "A count has no model generate a reply.",
    mode: "replay",
    reads: "counts",
    judge: (name, _, e) =>
      e.matching(`${name}/*/*`).map((x) =>
        factOf("operations upstream", asked(x), x).mustBe(
          "none, or counts",
          asked(x).every((operation) => operation !== "generate"),
        )
      ),
    misses: (format) => ({
      generated: {
        upstream: (call, x) =>
          isCount(x, format)
            ? {
              ...call,
              url: call.url.replace("/count_tokens", "").replace(
                ":countTokens",
                ":generateContent",
              ),
              body: { max_tokens: 1, ...call.body },
            }
            : call,
      },
    }),
  }),
  ...onEveryFormat({
    id: "whole-prompt",
    rule: "A vendor that counts is asked about the whole prompt, and once.",
    level: "convention",
    mode: "replay",
    reads: "counts",
    judge: (name, _, e) =>
      e.matching(`${name}/*/*`).map((x) => {
        const bodies = x.upstream.map(({ body }) => body);
        const wrong = WORDS[x.label.split("/")[2] ?? ""]?.find((words) =>
          bodies.length > 0 && bodies.join().split(words).length !== 2
        );
        return factOf("requests upstream", bodies, x).mustBe(
          `with ${wrong ?? "all words"} once`,
          wrong === undefined,
        );
      }),
    misses: (format) => ({
      "twice": changeRequest(({ turns }, x) =>
        isCount(x, format) ? { turns: [...turns, ...turns] } : {}
      ),
      "tools-lost": changeRequest((_, x) =>
        isCount(x, format) ? { tools: [] } : {}
      ),
    }),
  }),
  ...onEveryFormat({
    id: "wrong",
    rule: "What the format does not allow as a prompt is refused with 400.",
    reads: "counts-refused",
    judge: (name, _, e) =>
      e.matching(`${name}/*/wrong`).map((x) => statusIs(x, 400)),
    misses: (format) => ({
      accepted: accept(countsOf(format)),
    }),
  }),
  ...onEveryFormat({
    id: "unknown-model",
    rule:
      "An unknown model is refused with 404, as where a reply is asked for.",
    reads: "counts-refused",
    judge: (name, _, e) =>
      e.matching(`${name}/*/unknown-model`).map((x) => statusIs(x, 404, 400)),
    misses: (format) => ({
      counted: changeRequest((_, x) =>
        isCount(x, format) ? { model: "vendora-haiku-4-5" } : {}
      ),
    }),
  }),
  ...onEveryFormat({
    id: "key-needed",
    rule: "A count needs a key.",
    reads: "counts-refused",
    judge: (name, _, e) =>
      e.matching(`${name}/*/no-key`).map((x) => statusIs(x, 401)),
    misses: (format) => ({
      open: admit(countsOf(format)),
    }),
  }),
  ...onEveryFormat({
    id: "content-type",
    rule: "A count is a JSON object under `application/json`.",
    reads: "counts",
    judge: (name, _, e) =>
      e.replies(`${name}/*/*`).map((x) => contentType(x, "application/json")),
    misses: (format) => {
      const typed = (type: string): Hooks =>
        changeReplies({ ...countsOf(format), status: 200 }, {
          headers: { "content-type": type },
        });
      return {
        text: typed("text/plain"),
        latin1: typed("application/json; charset=iso-8859-1"),
      };
    },
  }),
  ...onEveryFormat({
    id: "refusals",
    rule: "A refusal has the members of its format's other refusals.",
    reads: "counts-refused",
    judge: (name, _, e) => REFUSALS[name].judge(e),
    misses: (_, name) => REFUSALS[name].misses,
  }),
  ...onEveryFormat({
    id: "refusal-words",
    rule: "The words of a refusal fit its status.",
    level: "convention",
    reads: "counts-refused",
    judge: (name, _, e) => REFUSAL_WORDS[name].judge(e),
    misses: (_, name) => REFUSAL_WORDS[name].misses,
  }),
  ...onEveryFormat({
    id: "delay",
    level: "convention",
    rule: "A client learns after which time it may count again.",
    mode: "replay",
    reads: "counts-limited",
    judge: (name, _, e) =>
      offered(
        e.matching(`${name}/*/limited`).filter(({ upstream }) =>
          upstream.some(({ status }) => status === 429)
        ),
        "counts",
      ).map((x) => {
        const delay = name === "generate_content"
          ? brief(at(x.json, "error.details"), 4000)
          : headerOf(x, "retry-after") ?? "none";
        return factOf("delay", delay, x).mustBe(
          "7 seconds",
          delay === "7" || delay.includes('"retryDelay":"7s"'),
        );
      }),
    misses: (format) => ({
      lost: {
        problem: ({ retryAfter, ...problem }, x) =>
          isCount(x, format) || retryAfter === undefined
            ? problem
            : { ...problem, retryAfter },
      },
    }),
  }),
  ...checksWith({ section: SECTION, mode: "replay", reads: ["counts"] }, [
    {
      id: "counts.chat-object",
      rule: "The `object` of a chat count is `chat.completion.input_tokens`",
      level: "contract",
      needs: "chat-counts",
      ...objectIs("chat", "chat.completion.input_tokens"),
    },
    {
      id: "counts.responses-object",
      rule: "The `object` of a Responses count is `response.input_tokens`.",
      needs: "response-counts",
      ...objectIs("responses", "response.input_tokens"),
    },
    {
      id: "counts.vendors-own",
      rule: "Where the vendor of a model counts, the count is the vendor's.",
      level: "contract",
      needs: "message-counts",
      judge: (e) =>
        some(
          NAMES.flatMap((name) =>
            e.exchanges.some(({ label }) => label.startsWith(`${name}/`))
              ? ["short", "long", "more"].flatMap((form) =>
                counts(e, name, form)
              )
              : []
          ).flatMap(({ x, count }) => {
            const expected = vendorsCount(x);
            return expected === undefined || asked(x).includes("unknown")
              ? []
              : [fact(count === expected, "count", `${expected}`, count, x)];
          }),
          "counted by a vendor",
        ),
      misses: {
        "off-by-one": everywhere((format) => counted(format, (n) => n + 1)),
        "with-margin": everywhere((format) =>
          counted(format, (n) => Math.ceil(n * 1.1) + 1)
        ),
      },
    },
    {
      id: "counts.same",
      rule: "One prompt has one count for a model, whatever its format.",
      level: "contract",
      needs: "message-counts",
      reads: ["counts-same"],
      judge: (e) => {
        const all = NAMES.flatMap((name) =>
          e.exchanges.some(({ label }) =>
              label === `${name}/${label.split("/")[1]}/same`
            )
            ? counts(e, name, "same")
            : []
        );
        return all.map(({ x, count }) => {
          const first = all.find((other) => modelOf(other.x) === modelOf(x));
          return fact(
            count === first?.count,
            "count",
            `${first?.count}, as in ${first?.x.label}`,
            count,
            x,
          );
        });
      },
      misses: {
        "by-format": counted(COUNT_FORMATS.chat, (count) => count + 3),
        "by-other-format": counted(
          COUNT_FORMATS.generate_content,
          (n) => n - 1,
        ),
      },
    },
    {
      id: "counts.generate_content-inside",
      rule:
        "A count of generate content may have the whole request in `generateContentRequest`.",
      needs: "content-counts",
      reads: ["counts-same"],
      judge: (e) => {
        const plain = counts(e, "generate_content", "same");
        return counts(e, "generate_content", "same-inside").map((
          { x, count },
          index,
        ) =>
          fact(
            count === plain[index]?.count,
            "count",
            `${plain[index]?.count}`,
            count,
            x,
          )
        );
      },
      misses: {
        unread: replaceInBody(
          '"generateContentRequest"',
          '"contents":[{"parts":[{"text":"x"}]}],"unread"',
        ),
      },
    },
    {
      id: "counts.limited",
      rule: "A vendor's limit on counts is 429.",
      needs: "message-counts",
      reads: ["counts-limited"],
      judge: (e) =>
        some(
          e.matching("*/*/limited").filter((x) =>
            asked(x).includes("count_tokens")
          ).map((x) => statusIs(x, 429)),
          "asked of a vendor",
        ),
      misses: {
        "as-500": {
          problem: (problem, { does }) =>
            does === "count" ? problemOf(500, problem.message) : problem,
        },
        "as-count": changeReplies({ does: "count", status: 429 }, {
          status: 200,
          body: { input_tokens: 1 },
        }),
      },
    },
  ]),
];

/** The model of a count: two formats may know one by its dialect, two dialects are two models. */
function modelOf({ via, request: { path, body } }: Exchange): string {
  const model = /"model":"([^"]+)"/.exec(body)?.[1] ??
    decodeURIComponent(/models\/([^:]+):/.exec(path)?.[1] ?? "");
  return `${via} ${model}`;
}

/** The judge of `object`, with its near misses. */
function objectIs(
  name: CountName,
  value: string,
): Pick<Check, "judge"> & { readonly misses: Misses } {
  const right = literal(value);
  return {
    judge: (e) =>
      e.replies(`${name}/*/*`).map((x) =>
        satisfies(x, "object", right.expected, right.test)
      ),
    misses: mapValues(right.misses, (wrong) =>
      changeReplies(
        { ...countsOf(COUNT_FORMATS[name]), status: 200 },
        ({ body }) => ({ body: { ...body, object: wrong } }),
      )),
  };
}
