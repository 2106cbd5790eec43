/**
 * Tables of requests: what a client sends, and the body for the upstream. Each row is one test
 * step. Tables that need the whole gateway are in `tests/requests/`.
 */
import assert from "node:assert/strict";
import { ApiError, translateRequest, type UpstreamRequest } from "../mod.ts";
import {
  type Capabilities,
  DEFAULT_CAPABILITIES,
} from "../model/capabilities.ts";

/** One request and what is expected of it. */
export interface RequestRow {
  /** Name of the test step. */
  readonly name: string;
  /** Merged over the table's base body; a field set to undefined is removed. */
  readonly body: Readonly<Record<string, unknown>>;
  /**
   * Expected values by path (`a.b[0]`) in the upstream's body; undefined: the path is absent.
   */
  readonly arrives?: Readonly<Record<string, unknown>>;
  /** Texts that the upstream's body contains verbatim. */
  readonly arrivesContaining?: readonly string[];
  /** Texts that the upstream's body does not contain. */
  readonly arrivesWithout?: readonly string[];
  /** Expected headers beside the vendor's own; absent: none. */
  readonly arrivesWithHeaders?: Readonly<Record<string, string>>;
  /** Expected dropped fields, in any order; absent: no field may be dropped. */
  readonly dropped?: readonly string[];
  /** Path of the field that a refused request's error names. */
  readonly param?: string;
}

/** What the rows of a table have in common. */
export interface RequestTable
  extends Pick<Parameters<typeof translateRequest>[0], "from" | "to"> {
  /** The body that the rows are merged over. */
  readonly base: Readonly<Record<string, unknown>>;
  /** Differences from the format's capabilities, by the `model` of a body. */
  readonly models: Readonly<Record<string, Partial<Capabilities>>>;
}

/** The value at a path such as `messages[1].content`; undefined if the path does not exist. */
export function valueAt(value: unknown, path: string): unknown {
  let found = value;
  for (const key of path.matchAll(/[^.[\]]+/g)) {
    if (typeof found !== "object" || found === null) return undefined;
    const step: unknown = Reflect.get(found, key[0]);
    found = step;
  }
  return found;
}

/** Runs every row of a table as a test step. */
export async function checkRows(
  t: Deno.TestContext,
  table: RequestTable,
  rows: readonly RequestRow[],
): Promise<void> {
  for (const row of rows) {
    await t.step(row.name, () => {
      const translate = (): UpstreamRequest => translated(table, row);
      if (row.param === undefined) return checkRequest(translate(), row);
      assert.throws(translate, (error) => {
        assert.ok(error instanceof ApiError);
        assert.equal(error.kind, "invalid_request");
        assert.equal(error.details.param, row.param);
        return true;
      });
    });
  }
}

function translated(
  { from, to, base, models }: RequestTable,
  row: RequestRow,
): UpstreamRequest {
  const body = { ...base, ...row.body };
  const model = String(body["model"]);
  const differences = models[model];
  assert.ok(differences !== undefined, `no model ${model}`);
  const isInPath = from === "generate_content";
  return translateRequest({
    body: new TextEncoder().encode(
      JSON.stringify(isInPath ? { ...body, model: undefined } : body),
    ),
    ...(isInPath ? { target: { model, stream: false } } : {}),
    from,
    to,
    model,
    capabilities: { ...DEFAULT_CAPABILITIES[to], ...differences },
  });
}

function checkRequest(request: UpstreamRequest, row: RequestRow): void {
  const text = new TextDecoder().decode(request.bytes);
  const json: unknown = JSON.parse(text);
  for (const [where, expected] of Object.entries(row.arrives ?? {})) {
    assert.deepEqual(valueAt(json, where), expected, `${where} of ${text}`);
  }
  for (const expected of row.arrivesContaining ?? []) {
    assert.ok(text.includes(expected), `${expected} in ${text}`);
  }
  for (const unexpected of row.arrivesWithout ?? []) {
    assert.ok(!text.includes(unexpected), `${unexpected} in ${text}`);
  }
  assert.deepEqual(request.headers, row.arrivesWithHeaders ?? {});
  assert.deepEqual(
    [...new Set(request.dropped)].sort(),
    [...row.dropped ?? []].sort(),
  );
}
