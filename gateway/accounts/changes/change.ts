/**
 * A change that a person or a program made: who, when, what, before and after. Never the text of a
 * credential.
 */
import { isObject, type JsonObject } from "../../../translate/bytes/json.ts";
import { z } from "zod";
import {
  field,
  fields,
  type Kind,
  oneOf,
  optional,
  type RecordOf,
  TEXT,
  TIME,
} from "../field.ts";
import { textOf } from "../store/store.ts";

/** What can be done; the part before the dot is the kind of the target. */
export const ACTIONS = [
  "account.create",
  "account.update",
  "account.top_up",
  "plan.create",
  "plan.update",
  "key.issue",
  "key.update",
  "key.rotate",
  "key.revoke",
  "token.issue",
  "token.revoke",
  "operator_token.issue",
  "operator_token.revoke",
  "sign_in_link.create",
  "sign_in_link.use",
  "webhook.set",
  "webhook.remove",
  "webhook.test",
  "session.start",
  "session.refuse",
  "session.end",
  "configuration.load",
  "configuration.refuse",
  "prices.import",
] as const;

export type Action = typeof ACTIONS[number];

/** Kinds of credentials, and what changes something without one; `unknown`: a refused sign-in. */
export const ACTOR_KINDS = [
  "operator",
  "manage",
  "read",
  "key",
  "command_line",
  "gateway",
  "unknown",
] as const;

export type ActorKind = typeof ACTOR_KINDS[number];

type Via = "page" | "api" | "command_line" | "gateway";

/** Who makes a change. */
export interface Actor {
  /** `unknown` only for refused sign-ins. */
  readonly kind: ActorKind;
  /** Id of the key, token or sign-in link; absent where the kind has none. */
  readonly id?: string;
  /** Name of the person at the command line. */
  readonly name?: string;
  /** Id of the console session. */
  readonly session?: string;
  readonly via: Via;
  /** Id of the HTTP request, as in the log; absent without one. */
  readonly requestId?: string;
}

/** The gateway itself: a first start, a changed configuration file. */
export const GATEWAY: Actor = { kind: "gateway", via: "gateway" };

/** One change, as the code that makes it reports it. */
export interface Change {
  /** What was done. */
  readonly action: Action;
  /** Id of the changed record; for a webhook, the account's id. */
  readonly target: string;
  /** Absent: it belongs to no account. */
  readonly accountId?: string;
  /** The fields that differ, before; absent if there was nothing. */
  readonly before?: JsonObject;
  /** The fields that differ, after; absent if there is nothing left. */
  readonly after?: JsonObject;
}

const OBJECT: Kind<JsonObject> = {
  sqlType: "TEXT",
  fromSql(row, column) {
    const value: unknown = JSON.parse(textOf(row, column));
    if (!isObject(value)) {
      throw new Error(`could not read column ${column}: it holds no object`);
    }
    return value;
  },
  toSql: (value) => JSON.stringify(value),
  toJson: (value) => value,
  reply: z.record(z.string(), z.unknown()),
  flagKind: "text",
};

export const CHANGE = fields({
  // Begins with the time; ids sort by time.
  id: field(TEXT),
  atMs: field(TIME, { json: "time" }),
  // A newer program on the same store may have recorded others.
  action: field<string>({ ...TEXT, reply: z.enum(ACTIONS) }),
  target: field(TEXT, { describe: "id of what was changed" }),
  accountId: field(optional(TEXT)),
  actorKind: field(
    oneOf<ActorKind>(...ACTOR_KINDS),
    { describe: "credential that made the change; unknown: a refused sign-in" },
  ),
  actorId: field(optional(TEXT), {
    json: "actor_id",
    describe: "id of the key, token or sign-in link",
  }),
  actorName: field(optional(TEXT), {
    describe: "its name and hint at that time; at the command line the user",
  }),
  session: field(optional(TEXT), { describe: "id of the console session" }),
  via: field(oneOf<Via>("page", "api", "command_line", "gateway")),
  requestId: field(optional(TEXT), { json: "request_id" }),
  before: field(optional(OBJECT), { describe: "the fields that differ" }),
  after: field(optional(OBJECT), { describe: "the fields that differ" }),
});

/** A change as it is stored. */
export interface ChangeRecord extends RecordOf<typeof CHANGE> {}

/**
 * The fields in which two JSON forms of a record differ. Without `before`: every field of `after`
 * that has a value.
 */
export function difference(
  before: JsonObject | undefined,
  after: JsonObject,
): Pick<Change, "before" | "after"> {
  // `object` is the type of the record, which never changes.
  const names = Object.keys(after).filter((name) => name !== "object");
  if (before === undefined) {
    return {
      after: Object.fromEntries(
        names.filter((name) => after[name] !== null)
          .map((name) => [name, after[name]]),
      ),
    };
  }
  const differing = [...new Set([...Object.keys(before), ...names])].filter((
    name,
  ) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return {
    before: Object.fromEntries(
      differing.map((name) => [name, before[name] ?? null]),
    ),
    after: Object.fromEntries(
      differing.map((name) => [name, after[name] ?? null]),
    ),
  };
}

const PREFIX = "change_";
const TIME_CHARS = 9;

function timeText(atMs: number): string {
  return Math.max(0, Math.floor(atMs)).toString(36).padStart(TIME_CHARS, "0");
}

/** The lowest id of a millisecond: times are bounds of the id. */
export function firstChangeId(atMs: number): string {
  return `${PREFIX}${timeText(atMs)}`;
}

/** The id of the nth change of a millisecond. */
export function changeId(atMs: number, nth: number): string {
  return `${firstChangeId(atMs)}${nth.toString(36).padStart(4, "0")}`;
}

/** The number of an id within its millisecond; the inverse of {@linkcode changeId}. */
export function changeNumber(id: string): number {
  return Number.parseInt(id.slice(PREFIX.length + TIME_CHARS), 36);
}
