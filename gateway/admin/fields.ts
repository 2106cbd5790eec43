/**
 * The fields that several operations share, as zod schemas, and how they are written.
 *
 * @module
 */
import { z } from "zod";
import type { Page, PageRequest } from "../accounts/register.ts";
import type { JsonObject } from "../../translate/json.ts";

/** An id that an operator may choose. */
export const chosenId: z.ZodType<string> = z.string().regex(
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
  "expected 1 to 64 letters, digits, dots, dashes or underscores",
);

/** A name for people. */
export const name: z.ZodType<string> = z.string().min(1).max(200).regex(
  /^[^\0]*$/,
  "expected text without NUL",
);

/** Ids of models. */
export const models: z.ZodType<string[]> = z.array(z.string().min(1).max(200))
  .min(1).max(500);

/** An amount of money: whole micro-dollars, up to ten million dollars. */
export const microUsd: z.ZodType<number> = z.int().min(-1e13).max(1e13);

/** A limit: a whole number above zero. */
export const limit: z.ZodType<number> = z.int().min(1).max(1e12);

/** A moment, as RFC 3339 writes it. */
export const moment: z.ZodType<string> = z.iso.datetime({
  offset: true,
  error: "expected a time such as 2026-12-31T23:59:59Z",
});

/** A moment of the query: a time, or the beginning of a day (UTC). */
export const momentOrDay: z.ZodType<string> = z.union(
  [moment, z.iso.date()],
  "expected a time such as 2026-12-31T23:59:59Z or a day such as 2026-12-31",
);

/** What the query of every list may say. */
export const PAGE_FIELDS = {
  limit: z.string().regex(/^([1-9]\d{0,2}|1000)$/, "expected 1 to 1000")
    .optional(),
  after: z.string().max(5000).optional(),
} as const;

/** The query of a list that takes nothing else. */
export const pageQuery: z.ZodObject<typeof PAGE_FIELDS, z.core.$strict> = z
  .strictObject(PAGE_FIELDS);

/** A query with nothing in it. */
export const noQuery: z.ZodObject<Record<never, never>, z.core.$strict> = z
  .strictObject({});

/** A body with nothing in it. */
export const noBody: z.ZodObject<Record<never, never>, z.core.$strict> = z
  .strictObject({});

/** The page that a query asks for. */
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

/** What a list answers. */
export function listOf(item: z.ZodType): z.ZodType {
  return z.object({
    object: z.literal("list"),
    data: z.array(item),
    next: z.string().nullable().describe(
      "ask for the next page with after=…; null on the last one",
    ),
  });
}

/** A page as it is answered. */
export function listJson<T>(
  page: Page<T>,
  item: (value: T) => JsonObject,
): JsonObject {
  return {
    object: "list",
    data: page.data.map(item),
    next: page.next ?? null,
  };
}

/** A moment as it is answered; null where there is none. */
export function momentText(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}

/** The same record without what is undefined: absent is absent. */
export function given<T extends object>(
  fields: { readonly [K in keyof T]: T[K] | undefined },
): Partial<T>;
export function given(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  );
}
