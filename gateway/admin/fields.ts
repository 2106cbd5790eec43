/**
 * Fields shared by several operations, as zod schemas, and their JSON form.
 *
 * @module
 */
import { z } from "zod";
import type {
  ListPage,
  PageRequest,
} from "../accounts/repositories/repository.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";

/** An id chosen by the operator. */
export const chosenId: z.ZodType<string> = z.string().regex(
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
  "expected 1 to 64 letters, digits, dots, dashes or underscores",
);

/** A display name. */
export const name: z.ZodType<string> = z.string().min(1).max(200).regex(
  /^[^\0]*$/,
  "expected text without NUL",
);

/** A list of model ids. */
export const models: z.ZodType<string[]> = z.array(z.string().min(1).max(200))
  .min(1).max(500);

/** An amount in whole micro-dollars, up to ten million dollars. */
export const microUsd: z.ZodType<number> = z.int().min(-1e13).max(1e13);

/** A limit: a positive whole number. */
export const limit: z.ZodType<number> = z.int().min(1).max(1e12);

/** A time in RFC 3339 form. */
export const timestamp: z.ZodType<string> = z.iso.datetime({
  offset: true,
  error: "expected a time such as 2026-12-31T23:59:59Z",
});

/** A time, or the start of a day (UTC). */
export const timestampOrDay: z.ZodType<string> = z.union(
  [timestamp, z.iso.date("a day such as 2026-12-31")],
);

/** Query fields of every list. */
export const PAGE_FIELDS = {
  limit: z.string().regex(/^([1-9]\d{0,2}|1000)$/, "expected 1 to 1000")
    .optional(),
  after: z.string().max(5000).optional(),
} as const;

/** Query of a list without other fields. */
export const pageQuery: z.ZodObject<typeof PAGE_FIELDS, z.core.$strict> = z
  .strictObject(PAGE_FIELDS);

/** An empty query. */
export const noQuery: z.ZodObject<Record<never, never>, z.core.$strict> = z
  .strictObject({});

/** An empty body. */
export const noBody: z.ZodObject<Record<never, never>, z.core.$strict> = z
  .strictObject({});

/** Converts the query fields to a page request. */
export function pageOf(
  query: {
    readonly limit?: string | undefined;
    readonly after?: string | undefined;
  },
): PageRequest {
  return {
    ...(query.limit === undefined ? {} : { limit: Number(query.limit) }),
    ...(query.after === undefined ? {} : { after: query.after }),
  };
}

/** JSON form of a list. */
export function listOf(item: z.ZodType): z.ZodType {
  return z.object({
    object: z.literal("list"),
    data: z.array(item),
    next: z.string().nullable().describe(
      "cursor of the next page, for the query field after; null on the last page",
    ),
  });
}

/** A page in its JSON form. */
export function listJson<T>(
  page: ListPage<T>,
  item: (value: T) => JsonObject,
): JsonObject {
  return {
    object: "list",
    data: page.data.map(item),
    next: page.next ?? null,
  };
}

/** A time in its JSON form; null if absent. */
export function timestampText(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}

/** A copy without the undefined fields. */
export function withoutUndefined<T extends object>(
  fields: { readonly [K in keyof T]: T[K] | undefined },
): Partial<T>;
export function withoutUndefined(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  );
}
