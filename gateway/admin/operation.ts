/**
 * An admin operation: its path, input and reply. The routes and the command line are built
 * from the same list, see `mod.ts`.
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import { compact } from "../../translate/bytes/compact.ts";
import { invalidField } from "../../translate/model/error.ts";
import { isObject, type JsonObject } from "../../translate/bytes/json.ts";
import { check } from "../../translate/model/schema.ts";
import type { Admin } from "../accounts/repositories/admin.ts";
import type { IdempotencyKey } from "../accounts/repositories/repository.ts";

/** An operation. It validates its own input. */
export interface AdminOperation {
  /** Operation id in the API description. */
  readonly operationId: string;
  /** Summary in the API description. */
  readonly summary: string;
  /** GET reads, POST changes. */
  readonly method: "GET" | "POST";
  /** Path with at most one variable part, `:id`. */
  readonly path: string;
  /** Schema of the body; absent: no body. */
  readonly request?: z.ZodType;
  /** Schema of the query; absent: no query. */
  readonly query?: z.ZodType;
  readonly reply: z.ZodType;
  /**
   * Runs the operation.
   *
   * @throws {ApiError} `invalid_request`, `not_found`, `conflict`, `unavailable`
   */
  run(admin: Admin, input: OperationInput): Promise<JsonObject>;
}

export interface OperationInput {
  /** The variable part of the path. */
  readonly id?: string;
  /** The body, not validated. */
  readonly body?: unknown;
  /** The query, not validated. */
  readonly query?: JsonObject;
  /** The client's unique key for this request: a repeated change with it is applied once. */
  readonly idempotencyKey?: string;
}

/** Defines an operation that changes something. */
export function mutation<B>(
  definition: Omit<AdminOperation, "method" | "run" | "query"> & {
    readonly request: z.ZodType<B>;
    run(
      admin: Admin,
      body: B,
      target: { readonly id: string; readonly idempotencyKey?: IdempotencyKey },
    ): Promise<JsonObject>;
  },
): AdminOperation {
  return {
    ...definition,
    method: "POST",
    async run(admin, input) {
      const body = check(definition.request, input.body ?? {});
      const idempotencyKey = idempotencyKeyOf(definition.operationId, input);
      return await definition.run(admin, body, {
        id: input.id ?? "",
        ...compact({ idempotencyKey }),
      });
    },
  };
}

/** Defines an operation that only reads. */
export function query<Q>(
  definition: Omit<AdminOperation, "method" | "run" | "request"> & {
    readonly query: z.ZodType<Q>;
    run(admin: Admin, query: Q, id: string): Promise<JsonObject>;
  },
): AdminOperation {
  return {
    ...definition,
    method: "GET",
    run: async (admin, input) =>
      await definition.run(
        admin,
        check(definition.query, input.query ?? {}),
        input.id ?? "",
      ),
  };
}

/**
 * The idempotency key of a request, with the fingerprint of its content.
 *
 * @throws {ApiError} `invalid_request` for a key that is no visible ASCII text
 */
export function idempotencyKeyOf(
  operation: string,
  input: OperationInput,
): IdempotencyKey | undefined {
  const key = input.idempotencyKey;
  if (key === undefined) return undefined;
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw invalidField(
      "idempotency-key",
      "expected 1 to 255 visible ASCII characters, without blanks",
    );
  }
  const text = JSON.stringify([operation, input.id, sort(input.body ?? {})]);
  return { key, fingerprint: createHash("sha256").update(text).digest("hex") };
}

/** The same value with sorted object keys: their order does not make it another request. */
function sort(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sort);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value).sort().map((key) => [key, sort(value[key])]),
  );
}
