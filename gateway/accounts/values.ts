/**
 * The values that operators give, as zod schemas.
 */
import { z } from "zod";
import { isLinkLocal } from "../link_local.ts";

/** An id chosen by the operator. */
export const chosenId: z.ZodType<string> = z.string().regex(
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
  "expected 1 to 64 letters, digits, dots, dashes or underscores",
);

/** The id of an existing plan or account. */
export const reference: z.ZodType<string> = z.string().min(1).max(64);

/** A name shown to people. */
export const displayName: z.ZodType<string> = z.string().min(1).max(200).regex(
  /^[^\0]*$/,
  "expected text without NUL",
);

export const modelList: z.ZodType<readonly string[]> = z.array(
  z.string().min(1).max(200),
).min(1).max(500);

/** An amount in whole micro-dollars, up to ten million dollars. */
export const microUsd: z.ZodType<number> = z.int().min(-1e13).max(1e13);

/** A limit: a positive whole number. */
export const limit: z.ZodType<number> = z.int().min(1).max(1e12);

/** A whole percentage. */
export const percent: z.ZodType<number> = z.int().min(0).max(100);

/** A time in RFC 3339 form. */
export const timestamp: z.ZodType<string> = z.iso.datetime({
  offset: true,
  error: "expected a time such as 2026-12-31T23:59:59Z",
});

/** A time, or the start of a day (UTC). */
export const timestampOrDay: z.ZodType<string> = z.union(
  [timestamp, z.iso.date("a day such as 2026-12-31")],
);

export const webhookUrl: z.ZodType<string> = z.string().max(2000).refine(
  (text) => {
    if (!URL.canParse(text)) return false;
    const { protocol, hostname, username, password, hash } = new URL(text);
    const isLoopback = hostname === "localhost" || hostname === "[::1]" ||
      /^127(\.\d{1,3}){3}$/.test(hostname);
    return (protocol === "https:" || (protocol === "http:" && isLoopback)) &&
      username === "" && password === "" && hash === "";
  },
  "expected an https:// address without user name, password and fragment; http:// only for this machine (localhost)",
).refine(
  (text) => !URL.canParse(text) || !isLinkLocal(new URL(text).hostname),
  "a link-local address is not accepted: no receiver has one, and clouds serve a machine's credentials there",
);
