/**
 * The path of `GATEWAY_PUBLIC_URL`. Routes, links and redirects are written without it: it is taken
 * off a request's path, and put before every address of the gateway in a reply.
 */
import type { HttpReply } from "../gateway/http/http_reply.ts";

/**
 * Paths that a proxy may keep inside. A proxy that takes the path off itself would pass
 * `/base/base/metrics` on as `/base/metrics`.
 */
const INSIDE = /^\/(?:metrics$|admin\/)/;

/** The path of a route; `/metrics` and the admin API have none under the base path. */
export function withoutBasePath(path: string, basePath: string): string {
  if (basePath === "" || !path.startsWith(`${basePath}/`)) return path;
  const rest = path.slice(basePath.length);
  return INSIDE.test(rest) ? path : rest;
}

/** The reply whose links, forms and redirects lead to paths under the base path. */
export function underBasePath(reply: HttpReply, basePath: string): HttpReply {
  if (basePath === "") return reply;
  const { location, refresh } = reply.headers;
  return {
    ...reply,
    headers: {
      ...reply.headers,
      ...(location?.startsWith("/") && { location: `${basePath}${location}` }),
      ...(refresh !== undefined && {
        refresh: refresh.replace(/;url=\//, `;url=${basePath}/`),
      }),
    },
    body: typeof reply.body === "string" &&
        reply.headers["content-type"]?.startsWith("text/html")
      ? htmlUnder(reply.body, basePath)
      : reply.body,
  };
}

/** Texts of a page have no quotation mark that is not escaped, so only attributes are found. */
function htmlUnder(html: string, basePath: string): string {
  return html
    .replace("<html ", `<html data-base="${basePath}" `)
    .replaceAll(
      / (href|src|action|data-live)="\//g,
      ` $1="${basePath}/`,
    );
}
