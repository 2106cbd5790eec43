/**
 * Generic faults of replies: what a proxy in front of a correct gateway could spoil at any of its
 * endpoints. The self-test demands that a check notices each of them, also at an endpoint that was
 * added later.
 */
import { isObject, type Json } from "@model-gateway/replay/json";
import { type Ending, type Exchange, isStream } from "../evidence/exchange.ts";
import type { Redaction } from "../evidence/redaction.ts";
import type { Check } from "../suite/check.ts";
import type { ScenarioRecord } from "../suite/evidence.ts";
import { replyOf } from "../suite/recorder.ts";
import { judge } from "./judge.ts";

/** A reply with other parts; an absent one stays as it is. */
interface Spoilt {
  readonly status?: number;
  readonly type?: string;
  readonly body?: string | Uint8Array;
  readonly ending?: Ending;
}

/** How a reply is spoilt; undefined where it is not. */
type Spoil = (x: Exchange) => Spoilt | undefined;

const encoder = new TextEncoder();

function hasJson(x: Exchange): boolean {
  return x.json !== undefined && x.request.method !== "HEAD";
}

function text(change: (text: string) => string): Spoil {
  return (x) => hasJson(x) ? { body: change(x.text) } : undefined;
}

function frames(
  change: (frames: readonly string[]) => readonly string[],
  ending?: Ending,
): Spoil {
  return (x) => ({
    body: change(x.text.split(/(?<=\n\n)/)).join(""),
    ...(ending === undefined ? {} : { ending }),
  });
}

function eachFrame(change: (frame: string) => string): Spoil {
  return frames((all) =>
    all.map((frame) => frame.startsWith(":") ? frame : change(frame))
  );
}

const half = <Item>(all: readonly Item[]): number => all.length >> 1;

const OF_REPLIES: Readonly<Record<string, Spoil>> = {
  "type-absent": () => ({ type: "" }),
  "type-plain": () => ({ type: "text/plain" }),
  "type-latin1": (x) => ({
    type: isStream(x)
      ? "text/event-stream; charset=iso-8859-1"
      : "application/json; charset=iso-8859-1",
  }),
};

const OF_JSON: Readonly<Record<string, Spoil>> = {
  "empty": text(() => ""),
  "cut": text((body) => body.slice(0, -1)),
  "twice": text((body) => body + body),
  "quoted": text((body) => JSON.stringify(body)),
  "listed": text((body) => `[${body}]`),
  "wrapped": text((body) => `{"data":${body}}`),
  "as-event": text((body) => `data: ${body}\n\n`),
  "marked": text((body) => `\ufeff${body}`),
  "page": text(() => "<html><body>Bad gateway</body></html>"),
  "null": text(() => "null"),
  "broken-off": (x) =>
    hasJson(x)
      ? { body: x.text.slice(0, x.text.length >> 1), ending: "broken" }
      : undefined,
};

const OF_STREAMS: Readonly<Record<string, Spoil>> = {
  "empty": frames(() => []),
  "first-lost": frames((all) => all.slice(1)),
  "middle-lost": frames((all) => all.toSpliced(half(all), 1)),
  "last-lost": frames((all) => all.slice(0, -1)),
  "last-two-lost": frames((all) => all.slice(0, -2)),
  "half-lost": frames((all) => all.slice(0, half(all))),
  "first-twice": frames((all) => [...all.slice(0, 1), ...all]),
  "middle-twice": frames((all) =>
    all.toSpliced(half(all), 0, all[half(all)] ?? "")
  ),
  "last-twice": frames((all) => [...all, ...all.slice(-1)]),
  "all-twice": frames((all) => [...all, ...all]),
  "reversed": frames((all) => all.toReversed()),
  "first-two-swapped": frames(([first = "", second = "", ...all]) => [
    second,
    first,
    ...all,
  ]),
  "last-two-swapped": frames((all) => [
    ...all.slice(0, -2),
    ...all.slice(-2).toReversed(),
  ]),
  "ended-by-reset": frames((all) => all, "broken"),
  "cut-and-reset": frames((all) => all.slice(0, half(all)), "broken"),
  "last-cut": frames((all) => [
    ...all.slice(0, -1),
    (all.at(-1) ?? "").slice(0, -4),
  ]),
  "last-blank-line-lost": frames((all) => [
    ...all.slice(0, -1),
    (all.at(-1) ?? "").slice(0, -1),
  ]),
  "blank-lines-lost": eachFrame((frame) => frame.slice(0, -1)),
  "data-cut": eachFrame((frame) => `${frame.slice(0, -3)}\n\n`),
  "data-prefixed": eachFrame((frame) =>
    frame.replace(/^data: /m, "data: data: ")
  ),
  "data-bare": eachFrame((frame) => frame.replace(/^data: /m, "")),
  "names-changed": eachFrame((frame) =>
    `event: other\n${frame.replace(/^event: .*\n/, "")}`
  ),
  "ping-as-data": frames(([first = "", ...all]) => [
    first,
    "data: ping\n\n",
    ...all,
  ]),
  "done-added": frames((all) => [...all, "data: [DONE]\n\n"]),
  "json-added": frames((all) => [...all, "data: {}\n\n"]),
  "one-array": (x) => ({
    body: JSON.stringify(x.frames.map(({ json }) => json ?? null)),
  }),
  "characters-lost": (x) =>
    /[^\0-\x7f]/.test(x.text)
      ? { body: x.text.replaceAll(/[^\0-\x7f]/g, "\ufffd") }
      : undefined,
};

/** A member of every object is left out, or has another value. */
function ofMember(name: string): Readonly<Record<string, Spoil>> {
  const changed =
    (change: (value: Json | undefined) => Json | undefined) =>
    (x: Exchange): Spoilt | undefined =>
      isObject(x.json) && x.json[name] !== undefined
        ? { body: JSON.stringify({ ...x.json, [name]: change(x.json[name]) }) }
        : undefined;
  return {
    [`${name}-absent`]: changed(() => undefined),
    [`${name}-listed`]: changed((value) => [value ?? null]),
  };
}

/** Members beside `error` that only refusals of the message format need. */
const HARMLESS =
  /^(?!messages)\S+( count)? refusal: (type|request_id)-(absent|listed)$/;

/** A kind of replies: the endpoint with what it does, and whole, stream or refusal. */
function kindOf(x: Exchange): string | undefined {
  if (x.head === undefined || x.ending !== "complete") return undefined;
  const path = x.request.path.split("?")[0] ?? "";
  const does = /count_?tokens|input_tokens/i.test(path)
    ? " count"
    : x.endpoint === "generate_content" && x.request.method === "GET"
    ? " models"
    : "";
  const form = x.head.status >= 400
    ? "refusal"
    : isStream(x)
    ? "stream"
    : Array.isArray(x.json)
    ? "array"
    : "reply";
  return x.endpoint === "other" ? undefined : `${x.endpoint}${does} ${form}`;
}

/** The most bytes of a reply that is spoilt: larger ones prove nothing more. */
const MAX_BYTES = 20_000;

/** A generic fault of one kind of replies. */
interface Spoiling {
  /** The kind and the fault, such as `chat stream: last-lost`. */
  readonly name: string;
  readonly kind: string;
  readonly spoil: Spoil;
}

/** The generic faults of the replies in these records. */
function spoilings(
  records: ReadonlyMap<string, ScenarioRecord>,
): readonly Spoiling[] {
  const kinds = new Map<string, Set<string>>();
  for (const x of [...records.values()].flatMap(({ exchanges }) => exchanges)) {
    const kind = kindOf(x);
    if (kind === undefined) continue;
    const members = isObject(x.json) ? Object.keys(x.json) : [];
    const known = kinds.get(kind);
    // A member that only some replies have may be absent.
    kinds.set(
      kind,
      new Set(
        known === undefined ? members : members.filter((n) => known.has(n)),
      ),
    );
  }
  return [...kinds].flatMap(([kind, members]) =>
    Object.entries({
      ...OF_REPLIES,
      ...(kind.endsWith(" stream")
        ? OF_STREAMS
        : Object.assign({}, OF_JSON, ...[...members].map(ofMember))),
    } as Record<string, Spoil>).map(([fault, spoil]) => ({
      name: `${kind}: ${fault}`,
      kind,
      spoil,
    }))
  ).filter(({ name }) => !HARMLESS.test(name));
}

/** The names of the generic faults that no check notices in these records. */
export function unnoticed(
  records: ReadonlyMap<string, ScenarioRecord>,
  checks: readonly Check[],
  redaction: Redaction,
): readonly string[] {
  const scenarios = new Map<string, Set<string>>();
  for (const [name, { exchanges }] of records) {
    for (const x of exchanges) {
      const kind = kindOf(x) ?? "";
      scenarios.set(kind, (scenarios.get(kind) ?? new Set()).add(name));
    }
  }
  // What noticed the last fault of a kind is the first to be asked about the next one, and what
  // reads much is the last.
  const keenOf = new Map<string, Check[]>();
  const weight = ({ reads }: Check): number =>
    reads === "everything"
      ? Infinity
      : reads.reduce((n, r) => n + (records.get(r)?.exchanges.length ?? 0), 0);
  const light = checks.toSorted((a, b) => weight(a) - weight(b) || 0);
  return spoilings(records).filter(({ kind, spoil }) => {
    const own = scenarios.get(kind) ?? new Set();
    const spoilt = new Map<string, ScenarioRecord>();
    const read = (name: string): ScenarioRecord | undefined => {
      const record = records.get(name);
      if (record === undefined || !own.has(name)) return record;
      const known = spoilt.get(name);
      if (known !== undefined) return known;
      const exchanges = record.exchanges.map((x) =>
        kindOf(x) === kind && x.body.length <= MAX_BYTES
          ? spoiltBy(spoil, x, redaction)
          : x
      );
      spoilt.set(name, { ...record, exchanges });
      return spoilt.get(name);
    };
    const notices = (check: Check): boolean => {
      const names = check.reads === "everything"
        ? [...records.keys()]
        : check.reads;
      if (!names.some((name) => own.has(name))) return false;
      const found = new Map(
        names.flatMap((name) => {
          const record = read(name);
          return record === undefined ? [] : [[name, record] as const];
        }),
      );
      return judge(check, "replay", found).verdict === "fail";
    };
    const keen = keenOf.get(kind) ?? [];
    keenOf.set(kind, keen);
    const noticed = [...keen, ...light].find(notices);
    if (noticed === undefined) return true;
    const at = keen.indexOf(noticed);
    if (at >= 0) keen.splice(at, 1);
    keen.unshift(noticed);
    return false;
  }).map(({ name }) => name);
}

function spoiltBy(spoil: Spoil, x: Exchange, redaction: Redaction): Exchange {
  const spoilt = spoil(x);
  if (spoilt === undefined || x.head === undefined) return x;
  const { type, status = x.head.status, ending = x.ending } = spoilt;
  const body = typeof spoilt.body === "string"
    ? encoder.encode(spoilt.body)
    : spoilt.body ?? x.body;
  const headers = x.head.headers.filter(([name]) =>
    type === undefined || name !== "content-type"
  );
  return {
    ...x,
    ...replyOf({
      head: {
        ...x.head,
        status,
        headers: type === undefined || type === ""
          ? headers
          : [...headers, ["content-type", type]],
      },
      body,
      arrivals: body.length === 0
        ? []
        : [{ atMs: x.arrivals.at(-1)?.atMs ?? 0, upTo: body.length }],
      ending,
      endedMs: x.endedMs,
    }, redaction),
  };
}
