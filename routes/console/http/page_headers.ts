/**
 * The headers of every page: nothing is loaded from elsewhere, nothing is inline, no other site
 * frames or reads a page, and no cache keeps it.
 */
import type { HeaderFields } from "../../../gateway/http/http_reply.ts";

/** For pages, and for every other reply under `/console`. */
export const PAGE_HEADERS: HeaderFields = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; "),
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};
