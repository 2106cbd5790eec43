/**
 * What an operation of operators is: where it is asked for, what it takes, what it answers. The routes and the command line are
 * made from the same list, see `mod.ts`.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import { invalidField } from "../../translate/error.ts";
import { isObject, type JsonObject } from "../../translate/json.ts";
import { checked } from "../../translate/schema.ts";
import type { Admin } from "../accounts/admin.ts";
import type { Once } from "../accounts/register.ts";

/** An operation, asked for with something that nobody has checked yet. */
export interface AdminOperation {
  /** Its id in the API description. */
  readonly operation: string;
  /** For people. */
  readonly summary: string;
  /** GET only looks, POST changes. */
  readonly method: "GET" | "POST";
  /** Path with at most one variable part, `:id`. */
  readonly path: string;
  /** What the body must be; absent: there is none. */
  readonly request?: z.ZodType;
  /** What the query must be; absent: there is none. */
  readonly query?: z.ZodType;
  /** What it answers. */
  readonly reply: z.ZodType;
  /**
   * Carries it out.
   *
   * @throws {ApiError} `invalid_request`, `not_found`, `conflict`, `unavailable`
   */
  run(admin: Admin, asked: Asked): Promise<JsonObject>;
}

/** How an operation was asked for. */
export interface Asked {
  /** The variable part of the path. */
  readonly id?: string;
  /** What the body was, unchecked. */
  readonly body?: unknown;
  /** What the query was, unchecked. */
  readonly query?: JsonObject;
  /** The caller's own word for this one request: asked again with it, a change is not made again. */
  readonly idempotencyKey?: string;
}

/** An operation that changes something. */
export function change<B>(
  told: Omit<AdminOperation, "method" | "run" | "query"> & {
    readonly request: z.ZodType<B>;
    run(
      admin: Admin,
      body: B,
      at: { readonly id: string; readonly once?: Once },
    ): Promise<JsonObject>;
  },
): AdminOperation {
  return {
    ...told,
    method: "POST",
    async run(admin, asked) {
      const body = checked(told.request, asked.body ?? {});
      const once = onceOf(told.operation, asked);
      return await told.run(admin, body, {
        id: asked.id ?? "",
        ...(once === undefined ? {} : { once }),
      });
    },
  };
}

/** An operation that only looks. */
export function look<Q>(
  told: Omit<AdminOperation, "method" | "run" | "request"> & {
    readonly query: z.ZodType<Q>;
    run(admin: Admin, query: Q, id: string): Promise<JsonObject>;
  },
): AdminOperation {
  return {
    ...told,
    method: "GET",
    run: async (admin, asked) =>
      await told.run(
        admin,
        checked(told.query, asked.query ?? {}),
        asked.id ?? "",
      ),
  };
}

function onceOf(operation: string, asked: Asked): Once | undefined {
  const key = asked.idempotencyKey;
  if (key === undefined) return undefined;
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw invalidField(
      "idempotency-key",
      "expected 1 to 255 letters without blanks",
    );
  }
  const text = JSON.stringify([operation, asked.id, sorted(asked.body ?? {})]);
  return { key, fingerprint: createHash("sha256").update(text).digest("hex") };
}

/** The same value with the fields of objects in one order: how a body is written does not make it another request. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value).sort().map((key) => [key, sorted(value[key])]),
  );
}
