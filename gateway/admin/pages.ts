/**
 * Pages of lists: their query fields, and their JSON form.
 */
import { z } from "zod";
import { compact } from "../../translate/bytes/compact.ts";
import type {
  ListPage,
  PageRequest,
} from "../accounts/repositories/list_page.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";

export const PAGE_FIELDS = {
  limit: z.string().regex(/^([1-9]\d{0,2}|1000)$/, "expected 1 to 1000")
    .optional(),
  after: z.string().max(5000).optional(),
} as const;

/** Query of a list without other fields. */
export const pageQuery: z.ZodObject<typeof PAGE_FIELDS, z.core.$strict> = z
  .strictObject(PAGE_FIELDS);

export const noQuery: z.ZodObject<Record<never, never>, z.core.$strict> = z
  .strictObject({});

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
    ...compact({ after: query.after }),
  };
}

/** JSON form of a list, with further fields beside its items. */
export function listOf(
  item: z.ZodType,
  fields: Readonly<Record<string, z.ZodType>> = {},
): z.ZodType {
  return z.object({
    object: z.literal("list"),
    data: z.array(item),
    next: z.string().nullable().describe(
      "cursor of the next page, for the query field after; null on the last page",
    ),
    ...fields,
  });
}

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

/** The Unix time of a text that the schema accepted. */
export function timeMs(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}
