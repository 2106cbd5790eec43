/**
 * What a call through a configured route is charged for beside tokens: how much its request can
 * cause, and how much its reply reports.
 */
import { withDoubles } from "../../translate/bytes/exact_json.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { invalidField } from "../../translate/model/error.ts";
import type { Usage } from "../../translate/model/reply.ts";
import type { UnitMeter } from "../accounts/charges/meters.ts";
import { type PassedBody, valueAt } from "../http/passed_body.ts";
import type {
  CountedField,
  PassedRoute,
} from "../upstream/catalogue/route_settings.ts";

type Amounts = Readonly<Partial<Record<UnitMeter, number>>>;

/** The amounts that a request states or can cause. */
export interface RequestAmounts {
  /** The most that it can cause. */
  readonly most: Amounts;
  /** The most that any reply has. */
  readonly bound: Amounts;
  /** Charged where the reply reports nothing. */
  readonly otherwise: Amounts;
  /** The meters of `otherwise` that are estimates. */
  readonly estimated: ReadonlySet<UnitMeter>;
}

/** Bytes of a second of speech at the lowest rate of usual codecs, 8 kbit/s. */
const LEAST_BYTES_PER_SECOND = 1_000;
/** At a usual rate of recorded speech, 32 kbit/s. */
const USUAL_BYTES_PER_SECOND = 4_000;
/** More than a request can ask for, a day of sound for example. */
const MOST: Readonly<Record<UnitMeter, number>> = {
  second: 86_400,
  character: 10_000_000,
  image: 1_000,
};
/** Beyond what any host makes without being asked. */
const MOST_UNASKED_IMAGES = 100;

/**
 * The amounts of a request.
 *
 * @throws {ApiError} `invalid_request` for a field that cannot be counted
 */
export function requestAmounts(
  { counts }: Pick<PassedRoute, "counts">,
  body: PassedBody,
): RequestAmounts {
  const most: Partial<Record<UnitMeter, number>> = {};
  const bound: Partial<Record<UnitMeter, number>> = {};
  const otherwise: Partial<Record<UnitMeter, number>> = {};
  const estimated = new Set<UnitMeter>();
  for (const [name, field] of Object.entries(counts)) {
    const unit = name as UnitMeter;
    const asked = askedAmount(unit, field, body);
    most[unit] = asked ?? field.reserve ?? mostIn(unit, body);
    otherwise[unit] = asked ?? usualIn(unit, body);
    bound[unit] = asked ?? mostUnasked(unit, body);
    if (asked === undefined && unit !== "image") estimated.add(unit);
  }
  return { most, bound, otherwise, estimated };
}

function askedAmount(
  unit: UnitMeter,
  { request: path }: CountedField,
  body: PassedBody,
): number | undefined {
  const value = path === undefined ? undefined : body.field(path);
  if (path === undefined || value === undefined || value === null) {
    return undefined;
  }
  const amount = amountOf(unit, value);
  // Upstreams that do not refuse it make the usual number.
  if (amount === 0 && unit !== "character") return undefined;
  if (amount !== undefined && amount <= MOST[unit]) return amount;
  throw invalidField(
    path,
    amount === undefined
      ? "must be a number, a text or a list"
      : `must not be more than ${MOST[unit]}`,
  );
}

/** A number, the characters of a text, or the length of a list. */
function amountOf(unit: UnitMeter, value: unknown): number | undefined {
  switch (typeof value) {
    case "number":
      return value >= 0 ? Math.ceil(value) : undefined;
    case "string": {
      if (unit === "character") return charactersIn(value);
      const number = value.trim() === "" ? NaN : Number(value);
      return number >= 0 ? Math.ceil(number) : undefined;
    }
  }
  if (!Array.isArray(value)) return undefined;
  if (unit !== "character") return value.length;
  let sum = 0;
  for (const one of value) {
    if (typeof one !== "string") return undefined;
    sum += charactersIn(one);
  }
  return sum;
}

/** Characters of Unicode. */
function charactersIn(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function mostIn(unit: UnitMeter, { bytes }: PassedBody): number {
  switch (unit) {
    case "second":
      return Math.ceil(bytes / LEAST_BYTES_PER_SECOND);
    case "character":
      return bytes;
    case "image":
      return 1;
  }
}

function mostUnasked(unit: UnitMeter, body: PassedBody): number {
  if (unit === "image") return MOST_UNASKED_IMAGES;
  // Sound that is in the body; JSON may name the place of longer sound.
  return unit === "second" && body.isForm ? mostIn(unit, body) : MOST[unit];
}

function usualIn(unit: UnitMeter, { bytes }: PassedBody): number {
  return unit === "second"
    ? Math.ceil(bytes / USUAL_BYTES_PER_SECOND)
    : unit === "character"
    ? bytes
    : 1;
}

/** A number beyond a double's range counts as such, too. */
function reportedAmount(
  unit: UnitMeter,
  reply: JsonObject,
  path: string,
): number | undefined {
  const { value } = withDoubles({ value: valueAt(reply, path) });
  return amountOf(unit, value);
}

/** The amounts of a call: those that its reply reports, else those of its request. */
export function replyAmounts(
  { counts }: Pick<PassedRoute, "counts">,
  { bound, otherwise, estimated }: RequestAmounts,
  reply: JsonObject | undefined,
): Pick<Usage, "units" | "areUnitsEstimated"> {
  const units: Partial<Record<UnitMeter, number>> = {};
  let areEstimated = false;
  for (const [name, { reply: paths = [] }] of Object.entries(counts)) {
    const unit = name as UnitMeter;
    const used = reply === undefined
      ? undefined
      : paths.map((path) => reportedAmount(unit, reply, path))
        .find((amount) => amount !== undefined);
    const most = bound[unit] ?? 0;
    units[unit] = used === undefined
      ? otherwise[unit] ?? 0
      : Math.min(used, most);
    areEstimated ||= used === undefined ? estimated.has(unit) : used > most;
  }
  return { units, ...(areEstimated ? { areUnitsEstimated: true } : {}) };
}
