/**
 * For tables of requests: what a caller sends, and what must then arrive at the upstream. Each row is one step against one
 * gateway, in order, so that the last entry of the replay's journal is the row's own.
 *
 * @module
 */
import assert from "node:assert/strict";
import { fieldPath } from "../translate/schema.ts";
import { startTestGateway, type TestGateway } from "./test_gateway.ts";

/** A request and its fate. */
export interface Row {
  /** A plain sentence. */
  readonly name: string;
  /** Laid over the table's own body; undefined takes a field away. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Beside the key. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Absent: 200. */
  readonly status?: number;
  /** What stands at paths of the upstream's body, as `a.b[0]`; undefined: nothing does. */
  readonly arrives?: Readonly<Record<string, unknown>>;
  /** Texts that stand in the upstream's body as they are here. */
  readonly sends?: readonly string[];
  /** Headers that arrive at the upstream; undefined: none of that name does. */
  readonly arrivesWith?: Readonly<Record<string, string | undefined>>;
  /** What `x-gateway-dropped` names, in any order; absent where nothing may be dropped. */
  readonly dropped?: readonly string[];
  /** The `error.param` of a refusal. Such a row must not reach the upstream. */
  readonly param?: string;
}

/** What came of one request. */
export interface Arrival {
  /** Of the gateway's answer. */
  readonly response: Response;
  /** The gateway's answer, read. */
  readonly answer: unknown;
  /** The body that arrived upstream, parsed; undefined where none did. */
  readonly json: unknown;
  /** The body that arrived upstream, as text. */
  readonly text: string | undefined;
  /** The headers that arrived upstream. */
  readonly headers: Readonly<Record<string, string>>;
  /** The address called upstream, without its host. */
  readonly path: string | undefined;
}

/** Sends one request and waits for its answer. */
export async function sent(
  gateway: TestGateway,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Arrival> {
  gateway.replay.journal.clear();
  const response = await gateway.post(path, body, headers);
  const text = await response.text();
  const entry = gateway.replay.journal.entries.at(-1);
  return {
    response,
    answer: text.startsWith("{") ? JSON.parse(text) : text,
    json: entry?.json,
    text: entry?.request.body,
    headers: entry?.request.headers ?? {},
    path: entry?.request.path,
  };
}

/** The value at a path such as `messages[1].content`; undefined where there is none. */
export function at(value: unknown, path: string): unknown {
  let found = value;
  for (const key of path.matchAll(/[^.[\]]+/g)) {
    if (typeof found !== "object" || found === null) return undefined;
    const step: unknown = Reflect.get(found, key[0]);
    found = step;
  }
  return found;
}

/** Runs a table. */
export async function checkRows(
  t: Deno.TestContext,
  path: string,
  base: Readonly<Record<string, unknown>>,
  rows: readonly Row[],
): Promise<void> {
  const gateway = await startTestGateway();
  try {
    for (const row of rows) {
      await t.step(
        row.name,
        async () => await checkRow(gateway, path, base, row),
      );
    }
  } finally {
    await gateway.close();
  }
}

async function checkRow(
  gateway: TestGateway,
  path: string,
  base: Readonly<Record<string, unknown>>,
  row: Row,
): Promise<void> {
  const arrival = await sent(
    gateway,
    path,
    { ...base, ...row.body },
    row.headers,
  );
  const { response, answer, json } = arrival;
  const told = JSON.stringify(answer);
  assert.equal(
    response.status,
    row.status ?? (row.param === undefined ? 200 : 400),
    told,
  );
  if (row.param !== undefined) {
    assert.equal(at(answer, "error.param"), row.param, told);
    assert.equal(json, undefined, "it reached the upstream");
    return;
  }
  for (const [where, expected] of Object.entries(row.arrives ?? {})) {
    assert.deepEqual(at(json, where), expected, `${where} of ${arrival.text}`);
  }
  for (const expected of row.sends ?? []) {
    assert.ok(
      arrival.text?.includes(expected) === true,
      `${expected} in ${arrival.text}`,
    );
  }
  for (const [name, expected] of Object.entries(row.arrivesWith ?? {})) {
    assert.equal(arrival.headers[name], expected, name);
  }
  const dropped = response.headers.get("x-gateway-dropped");
  assert.deepEqual(
    dropped === null ? [] : dropped.split(/,\s*/).sort(),
    [...row.dropped ?? []].sort(),
  );
}

/** Every path of an object that satisfies the test, for "nothing of this may arrive". */
export function pathsOf(
  value: unknown,
  wanted: (key: PropertyKey, value: unknown) => boolean,
  above: readonly PropertyKey[] = [],
): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const key = Array.isArray(value) ? Number(name) : name;
    const path = [...above, key];
    return [
      ...(wanted(key, inner) ? [fieldPath(path)] : []),
      ...pathsOf(inner, wanted, path),
    ];
  });
}
