/**
 * The rows of `routes` in the configuration file: endpoints whose requests pass to an upstream with
 * nothing but the model's name replaced.
 */
import { z } from "zod";
import { compact } from "../../../translate/bytes/compact.ts";
import { UNIT_METERS, type UnitMeter } from "../../accounts/charges/meters.ts";

/** A path from a JSON object to a value: `usage.seconds`. */
const fieldPath = z.string().regex(
  /^\w+(\.\w+)*$/,
  "must be the names of fields, separated by dots",
);

/**
 * Appended to a vendor's address, so that no row leads to another host. It has neither `..` nor an
 * empty part.
 */
const upstreamPath = z.string().regex(
  /^(\/(?!\.+(\/|\?|$))[\w{}.:~-]+)+(\?[\w{}.=&-]+)?$/,
  "must be a path below the vendor's address, such as /audio/speech",
);

const count = z.strictObject({
  request: fieldPath,
  reply: z.array(fieldPath).min(1).max(10),
  reserve: z.int().positive().max(1_000_000_000),
}).partial();

/** The shape of a row. */
export const routeSettings = z.strictObject({
  endpoint: z.string().regex(
    /^\/v\d+(\/[a-z0-9][a-z0-9_.-]*)+$/,
    "must be a path such as /v1/audio/speech, in lower case",
  ),
  path: upstreamPath,
  vendor_paths: z.record(z.string().min(1), upstreamPath).optional(),
  counts: z.strictObject(
    Object.fromEntries(UNIT_METERS.map((name) => [name, count])) as Record<
      UnitMeter,
      typeof count
    >,
  ).partial().optional(),
  max_body_bytes: z.int().min(1024).max(1024 * 1024 * 1024).optional(),
});

/** The name of a row: what a model that it can call has among its `operations`. */
export const routeName = z.string().regex(
  /^[a-z][a-z0-9_]{0,39}$/,
  "must be a name of lower-case letters, digits and underscores",
);

/** Where an amount is found. */
export interface CountedField {
  /** Path in the request's body of a number, a text whose characters count, or a list. */
  readonly request?: string;
  /** Paths in the reply's body; the first that is present counts. */
  readonly reply?: readonly string[];
  /** What is reserved where the request does not state it. */
  readonly reserve?: number;
}

/** A configured endpoint. */
export interface PassedRoute {
  /** The operation of the models that it calls. */
  readonly name: string;
  readonly endpoint: string;
  /** The path for a vendor's address: a template. */
  pathAt(vendor: string): string;
  readonly counts: Readonly<Partial<Record<UnitMeter, CountedField>>>;
  /** Absent: the limit of every body. */
  readonly maxBodyBytes?: number;
}

export type RouteSettings = Readonly<
  Record<string, z.infer<typeof routeSettings>>
>;

/** The endpoints of the rows, by their paths. */
export function passedRoutes(
  rows: RouteSettings = {},
): ReadonlyMap<string, PassedRoute> {
  return new Map(
    Object.entries(rows).map(([name, row]) => [row.endpoint, {
      name,
      endpoint: row.endpoint,
      pathAt: (vendor) => row.vendor_paths?.[vendor] ?? row.path,
      // The library types what is absent as undefined.
      counts: JSON.parse(JSON.stringify(row.counts ?? {})),
      ...compact({ maxBodyBytes: row.max_body_bytes }),
    }]),
  );
}
