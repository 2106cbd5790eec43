/**
 * What is asked of the targets: kinds of exchange, in each of the directions that gateways have.
 *
 * @module
 */
import { DEFAULT_PLAN, planTag, type ReplyPlan } from "./reply_plan.ts";
import type { CallerDialect } from "./reply_judge.ts";
import { type Direction, isPassThrough } from "./targets/target.ts";

/** A kind of exchange. */
export interface ExchangeKind {
  /** As `--scenario` names it. */
  readonly name: string;
  /** For people. */
  readonly about: string;
  /** What the cost is told for. */
  readonly unit: "request" | "event";
  /** What the mock is asked for. */
  readonly plan: ReplyPlan;
  /** Whether a stream is asked for. */
  readonly stream: boolean;
  /** Bytes of the prompt, roughly. */
  readonly promptBytes: number;
  /** Connections, each with one request at a time. */
  readonly connections: number;
  /** What it is for: the processor time over the raw pipe's, or a time over the direct connection's. */
  readonly measures: "cpu" | "wait" | "delay";
  /** Names of the directions that are asked; absent: all. */
  readonly directions?: readonly string[];
  /** Only where `--scenario` names it. */
  readonly onRequest?: boolean;
}

/** How long a paced stream is. */
const PACED_SECONDS = 3;
const PACED_PER_SECOND = 50;

const NOT_TRANSLATED: readonly string[] = ["messages", "chat"];
/** One direction of each sort that the peers know, too. */
const SAMPLED: readonly string[] = ["messages", "chat-to-messages"];

/** The kinds. */
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
    onRequest: true,
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
  },
];

/** The directions, those without translation first. */
export const DIRECTIONS: readonly Direction[] = [
  { caller: "messages", upstream: "messages" },
  { caller: "messages", upstream: "chat_completions" },
  { caller: "messages", upstream: "generate_content" },
  { caller: "chat_completions", upstream: "chat_completions" },
  { caller: "chat_completions", upstream: "messages" },
  { caller: "chat_completions", upstream: "generate_content" },
];

const SHORT = {
  messages: "messages",
  chat_completions: "chat",
  generate_content: "generate",
} as const;

/** A direction's name: `messages`, or `messages-to-chat` where something is translated. */
export function directionName(direction: Direction): string {
  const { caller, upstream } = direction;
  return isPassThrough(direction)
    ? SHORT[caller]
    : `${SHORT[caller]}-to-${SHORT[upstream]}`;
}

/** An exchange in a direction. */
export interface Scenario {
  /** `messages-to-chat/whole-small` */
  readonly name: string;
  /** What is exchanged. */
  readonly kind: ExchangeKind;
  /** From which dialect to which. */
  readonly direction: Direction;
}

/**
 * The scenarios that names choose: each a kind, a direction or both with a slash. No name chooses all that are not on request only.
 *
 * @throws {RangeError} where a name chooses nothing
 */
export function chosenScenarios(names: readonly string[]): readonly Scenario[] {
  const all = EXCHANGE_KINDS.flatMap((kind) =>
    DIRECTIONS.filter((one) =>
      kind.directions?.includes(directionName(one)) ?? true
    ).map((direction) => scenarioOf(kind, direction))
  );
  if (names.length === 0) return all.filter(({ kind }) => !kind.onRequest);
  const kindNames = EXCHANGE_KINDS.map(({ name }) => name);
  const kinds = names.filter((name) => kindNames.includes(name));
  const directionNames = DIRECTIONS.map(directionName);
  const directions = names.filter((name) => directionNames.includes(name));
  for (const name of names) {
    if (
      !kinds.includes(name) && !directions.includes(name) &&
      !all.some((scenario) => scenario.name === name)
    ) throw new RangeError(`no scenario is called ${name}`);
  }
  return all.filter(({ name, kind, direction }) =>
    names.includes(name) ||
    (kinds.length + directions.length > 0 &&
      (kinds.length === 0 ? !kind.onRequest : kinds.includes(kind.name)) &&
      (directions.length === 0 ||
        directions.includes(directionName(direction))))
  );
}

/** An exchange in a direction, whether or not it is one of the usual. */
export function scenarioOf(kind: ExchangeKind, direction: Direction): Scenario {
  return { name: `${directionName(direction)}/${kind.name}`, kind, direction };
}

/** A request's body. */
export function requestBody(
  caller: CallerDialect,
  model: string,
  { plan, stream, promptBytes }: Pick<
    ExchangeKind,
    "plan" | "stream" | "promptBytes"
  >,
): string {
  const text = `${planTag(plan)} ${promptText(promptBytes)}`;
  return JSON.stringify({
    model,
    max_tokens: 1024,
    ...(stream ? { stream: true } : {}),
    ...(stream && caller === "chat_completions"
      ? { stream_options: { include_usage: true } }
      : {}),
    messages: [{ role: "user", content: text }],
  });
}

const LINE = 'The quick brown fox said "hello" and went on.\n';

/** Prompts hold what JSON escapes, as source code does. */
function promptText(bytes: number): string {
  return LINE.repeat(Math.ceil(bytes / LINE.length)).slice(0, bytes);
}
