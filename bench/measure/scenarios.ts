/**
 * The measured scenarios: kinds of exchange, each in the directions from one dialect to another.
 */
import { DEFAULT_PLAN, planTag, type ReplyPlan } from "../load/reply_plan.ts";
import type { CallerDialect } from "../load/reply_judge.ts";
import { type Direction, isPassThrough } from "../targets/target.ts";

export interface ExchangeKind {
  /** Name in `--scenario` and in the tables. */
  readonly name: string;
  /** Description for the tables. */
  readonly about: string;
  /** The unit of the cost. */
  readonly unit: "request" | "event";
  /** The reply of the mock upstream. */
  readonly plan: ReplyPlan;
  /** Whether the request asks for a stream. */
  readonly stream: boolean;
  /** Approximate length of the prompt. */
  readonly promptBytes: number;
  /** Connections, each with one request at a time. */
  readonly connections: number;
  /**
   * The primary figure: processor time (`cpu`, compared with the raw pipe), time to the end of the
   * reply (`wait`) or delay of an event (`delay`), both compared with the direct connection.
   */
  readonly measures: "cpu" | "wait" | "delay";
  /** Names of the directions that can be measured; absent: all. */
  readonly directions?: readonly string[];
  /** Directions that a run without `--scenario` measures; absent: all of `directions`. */
  readonly usualDirections?: readonly string[];
  /** Directions that a quick run measures; absent: those of `usualDirections`. */
  readonly quickDirections?: readonly string[];
  /** The same for an upstream over TLS; absent: none. */
  readonly usualTlsDirections?: readonly string[];
  /** The same for an upstream over TLS in a quick run; absent: none. */
  readonly quickTlsDirections?: readonly string[];
  /** True: measured only when `--scenario` names it. */
  readonly onlyWhenNamed?: boolean;
  /** True: the request leaves out `store`, as client libraries do, so that the reply is stored. */
  readonly stored?: boolean;
}

const PACED_SECONDS = 3;
const PACED_PER_SECOND = 50;

const NOT_TRANSLATED: readonly string[] = ["messages", "chat"];
/** One pass-through and one translated direction that the peers support too. */
const SAMPLED: readonly string[] = ["messages", "chat-to-messages"];
/** For each dialect of clients, one direction without translation and one with it. */
const EACH_CALLER: readonly string[] = [
  "messages",
  "messages-to-chat",
  "chat",
  "chat-to-messages",
  "generate",
  "generate-to-messages",
  "responses",
  "responses-to-messages",
];
/** Two dialects of clients: each without translation, and each translated to the other. */
const TWO_CALLERS: readonly string[] = [
  "messages",
  "messages-to-chat",
  "chat",
  "chat-to-messages",
];

export const EXCHANGE_KINDS: readonly ExchangeKind[] = [
  {
    name: "whole-small",
    about: "whole reply, 0.2 KB in, 1 KB out, 16 at once",
    unit: "request",
    plan: DEFAULT_PLAN,
    stream: false,
    promptBytes: 100,
    connections: 16,
    measures: "cpu",
    quickDirections: EACH_CALLER,
    usualTlsDirections: ["messages", "chat", "chat-to-messages"],
    quickTlsDirections: ["messages"],
  },
  {
    name: "whole-100k",
    about: "whole reply, 100 KB in, 1 KB out, 8 at once",
    unit: "request",
    plan: DEFAULT_PLAN,
    stream: false,
    promptBytes: 100_000,
    connections: 8,
    measures: "cpu",
    directions: NOT_TRANSLATED,
    usualTlsDirections: ["messages"],
  },
  {
    name: "stream-unpaced",
    about:
      "stream of 200 events, one write each, as fast as it is read, 16 at once",
    unit: "event",
    plan: { ...DEFAULT_PLAN, events: 200 },
    stream: true,
    promptBytes: 100,
    connections: 16,
    measures: "cpu",
    quickDirections: EACH_CALLER,
    usualTlsDirections: TWO_CALLERS,
    quickTlsDirections: ["messages"],
  },
  {
    name: "stream-coalesced",
    about: "the same, all events in one write",
    unit: "event",
    plan: { ...DEFAULT_PLAN, events: 200, perWrite: 0 },
    stream: true,
    promptBytes: 100,
    connections: 16,
    measures: "cpu",
    onlyWhenNamed: true,
  },
  {
    name: "stream-paced",
    about:
      `100 streams at once, ${PACED_PER_SECOND} events/s each, ${PACED_SECONDS} s long`,
    unit: "event",
    plan: {
      ...DEFAULT_PLAN,
      events: PACED_PER_SECOND * PACED_SECONDS,
      perSecond: PACED_PER_SECOND,
    },
    stream: true,
    promptBytes: 100,
    connections: 100,
    measures: "cpu",
    usualDirections: [...TWO_CALLERS, "responses"],
    quickDirections: SAMPLED,
    usualTlsDirections: TWO_CALLERS,
  },
  {
    name: "latency",
    about: "whole reply, 0.2 KB in, 1 KB out, one at a time",
    unit: "request",
    plan: DEFAULT_PLAN,
    stream: false,
    promptBytes: 100,
    connections: 1,
    measures: "wait",
    directions: SAMPLED,
    quickDirections: ["messages"],
  },
  {
    name: "event-delay",
    about: `10 streams at once, ${PACED_PER_SECOND} events/s each, 1.5 s long`,
    unit: "event",
    plan: {
      ...DEFAULT_PLAN,
      events: PACED_PER_SECOND * 1.5,
      perSecond: PACED_PER_SECOND,
    },
    stream: true,
    promptBytes: 100,
    connections: 10,
    measures: "delay",
    directions: SAMPLED,
    quickDirections: ["messages"],
  },
  {
    name: "whole-stored",
    about: "whole reply that is stored, 0.2 KB in, 1 KB out, 16 at once",
    unit: "request",
    plan: DEFAULT_PLAN,
    stream: false,
    promptBytes: 100,
    connections: 16,
    measures: "cpu",
    directions: ["responses"],
    onlyWhenNamed: true,
    stored: true,
  },
  {
    name: "stream-stored",
    about: "stream of 200 events, one write each, that is stored, 16 at once",
    unit: "event",
    plan: { ...DEFAULT_PLAN, events: 200 },
    stream: true,
    promptBytes: 100,
    connections: 16,
    measures: "cpu",
    directions: ["responses"],
    onlyWhenNamed: true,
    stored: true,
  },
];

/** All directions, in the order of the tables. */
export const DIRECTIONS: readonly Direction[] = [
  { caller: "messages", upstream: "messages" },
  { caller: "messages", upstream: "chat_completions" },
  { caller: "messages", upstream: "generate_content" },
  { caller: "chat_completions", upstream: "chat_completions" },
  { caller: "chat_completions", upstream: "messages" },
  { caller: "chat_completions", upstream: "generate_content" },
  { caller: "generate_content", upstream: "generate_content" },
  { caller: "generate_content", upstream: "messages" },
  { caller: "responses", upstream: "responses" },
  { caller: "responses", upstream: "messages" },
];

const SHORT = {
  messages: "messages",
  chat_completions: "chat",
  generate_content: "generate",
  responses: "responses",
} as const;

/** How long a paced exchange takes, in milliseconds; 0: it is not paced. */
export function pacedMs({ plan: { events, perSecond } }: ExchangeKind): number {
  return perSecond > 0 ? events / perSecond * 1000 : 0;
}

/** Name of a direction: `messages` for pass-through, `messages-to-chat` for a translation. */
export function directionName(direction: Direction): string {
  const { caller, upstream } = direction;
  return isPassThrough(direction)
    ? SHORT[caller]
    : `${SHORT[caller]}-to-${SHORT[upstream]}`;
}

/** A kind of exchange in a direction, with a kind of upstream. */
export interface Scenario {
  /**
   * Direction and kind, such as `messages-to-chat/whole-small`; over TLS
   * `tls/messages-to-chat/whole-small`.
   */
  readonly name: string;
  /** The kind of exchange. */
  readonly kind: ExchangeKind;
  /** The dialects of client and upstream. */
  readonly direction: Direction;
  /** Whether the target calls the upstream over TLS. */
  readonly tls: boolean;
}

const TLS_NAME = "tls";
const TLS_PREFIX = `${TLS_NAME}/`;

/** The scenarios of a run without `--scenario`. */
export function usualScenarios(
  { quick, tlsOnly }: { readonly quick: boolean; readonly tlsOnly: boolean },
): readonly Scenario[] {
  return ALL.filter(({ kind, direction, tls }) => {
    if (kind.onlyWhenNamed === true || tlsOnly && !tls) return false;
    const name = directionName(direction);
    if (tls) {
      const { quickTlsDirections = [], usualTlsDirections = [] } = kind;
      return (quick ? quickTlsDirections : usualTlsDirections).includes(name);
    }
    const usual = kind.usualDirections?.includes(name) ?? true;
    return quick ? kind.quickDirections?.includes(name) ?? usual : usual;
  });
}

/**
 * The scenarios that names select. A name is a kind, a direction, or both joined by a slash; with
 * `tls/` before it, over TLS. `tls` alone selects the scenarios of a run with `--tls`.
 *
 * @throws {RangeError} when a name is unknown
 */
export function selectScenarios(names: readonly string[]): readonly Scenario[] {
  const overTls = names.filter(isOverTlsName).map((name) =>
    name.slice(TLS_PREFIX.length)
  );
  const plain = names.filter((name) =>
    name !== TLS_NAME && !isOverTlsName(name)
  );
  const found = new Set([
    ...names.includes(TLS_NAME)
      ? usualScenarios({ quick: false, tlsOnly: true })
      : [],
    ...select(overTls, true),
    ...select(plain, false),
  ]);
  return ALL.filter((scenario) => found.has(scenario));
}

/** The scenarios of one kind of upstream that names without `tls/` select. */
function select(
  names: readonly string[],
  overTls: boolean,
): readonly Scenario[] {
  const all = ALL.filter(({ tls }) => tls === overTls);
  const kindNames = all.map(({ kind }) => kind.name);
  const kinds = names.filter((name) => kindNames.includes(name));
  const directionNames = DIRECTIONS.map(directionName);
  const directions = names.filter((name) => directionNames.includes(name));
  const prefix = overTls ? TLS_PREFIX : "";
  for (const name of names) {
    if (
      !kinds.includes(name) && !directions.includes(name) &&
      !all.some((scenario) => scenario.name === prefix + name)
    ) throw new RangeError(`unknown scenario ${prefix}${name}`);
  }
  return all.filter(({ name, kind, direction }) =>
    names.includes(name.slice(prefix.length)) ||
    (kinds.length + directions.length > 0 &&
      (kinds.length === 0 ? !kind.onlyWhenNamed : kinds.includes(kind.name)) &&
      (directions.length === 0 ||
        directions.includes(directionName(direction))))
  );
}

/** The scenario of any kind in any direction. */
export function scenarioOf(
  kind: ExchangeKind,
  direction: Direction,
  tls = false,
): Scenario {
  const name = `${directionName(direction)}/${kind.name}`;
  return { name: tls ? TLS_PREFIX + name : name, kind, direction, tls };
}

/**
 * Every scenario, in the order of the tables. Delays are compared with the direct connection, which
 * the load generator does not make over TLS.
 */
const ALL: readonly Scenario[] = EXCHANGE_KINDS.flatMap((kind) => {
  const directions = DIRECTIONS.filter((one) =>
    kind.directions?.includes(directionName(one)) ?? true
  );
  return (kind.measures === "cpu" ? [true, false] : [false]).flatMap((tls) =>
    directions.map((direction) => scenarioOf(kind, direction, tls))
  );
});

/** The name that selects over TLS what a name without `tls/` selects. */
export function overTlsName(name: string): string {
  return name === TLS_NAME || isOverTlsName(name) ? name : TLS_PREFIX + name;
}

/** Whether a scenario of this name has an upstream over TLS. */
export function isOverTlsName(name: string): boolean {
  return name.startsWith(TLS_PREFIX);
}

/** The name of a scenario, without its kind. */
export function nameWithoutKind(name: string): string {
  return name.slice(0, name.lastIndexOf("/"));
}

/** Path of a scenario's request. */
export function requestPath(
  { path, model }: { readonly path: string; readonly model: string },
  { stream }: Pick<ExchangeKind, "stream">,
): string {
  return path.replace("{model}", model).replace(
    "{method}",
    stream ? "streamGenerateContent?alt=sse" : "generateContent",
  );
}

/** Body of a scenario's request, with the tag for its plan. */
export function requestBody(
  caller: CallerDialect,
  model: string,
  { plan, stream, promptBytes, stored }: Pick<
    ExchangeKind,
    "plan" | "stream" | "promptBytes" | "stored"
  >,
): string {
  const text = `${planTag(plan)} ${promptText(promptBytes)}`;
  if (caller === "generate_content") {
    return JSON.stringify({
      contents: [{ role: "user", parts: [{ text }] }],
      generationConfig: { maxOutputTokens: 1024 },
    });
  }
  return JSON.stringify({
    model,
    ...(caller === "responses"
      ? {
        max_output_tokens: 1024,
        ...(stored === true ? {} : { store: false }),
      }
      : { max_tokens: 1024 }),
    ...(stream ? { stream: true } : {}),
    ...(stream && caller === "chat_completions"
      ? { stream_options: { include_usage: true } }
      : {}),
    [caller === "responses" ? "input" : "messages"]: [
      { role: "user", content: text },
    ],
  });
}

const LINE = 'The quick brown fox said "hello" and went on.\n';

/** Filler text with characters that JSON escapes, as in source code. */
function promptText(bytes: number): string {
  return LINE.repeat(Math.ceil(bytes / LINE.length)).slice(0, bytes);
}
