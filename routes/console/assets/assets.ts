/**
 * The style sheet, the script and the icon, each under a hash of its text, so that browsers keep
 * them for ever.
 */
import { keyHash } from "../../../gateway/accounts/key.ts";
import { ApiError } from "../../../translate/model/error.ts";
import type { PublicPageRoute } from "../../route.ts";
import { consoleClient } from "./client.js";
import { PAGE_HEADERS } from "../http/page_headers.ts";
import { STYLE } from "./style.ts";

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">` +
  `<rect width="32" height="32" rx="8" fill="#0f6b5c"/>` +
  `<path d="M7 22V10l9 7 9-7v12" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>`;

interface Asset {
  readonly type: string;
  readonly text: string;
}

const ASSETS = new Map<string, Asset>();

function add(name: string, end: string, type: string, text: string): string {
  const file = `${name}-${keyHash(text).slice(0, 12)}.${end}`;
  ASSETS.set(file, { type, text });
  return `/console/assets/${file}`;
}

/** Addresses of the assets; each changes with the text. */
export const ASSET_PATHS: Readonly<
  Record<"style" | "script" | "icon", string>
> = {
  style: add("style", "css", "text/css; charset=utf-8", STYLE),
  script: add(
    "client",
    "js",
    "text/javascript; charset=utf-8",
    `(${consoleClient})()`,
  ),
  icon: add("icon", "svg", "image/svg+xml", ICON),
};

/** Serves the assets to everyone: they contain nothing of an account. */
export const ASSET_ROUTES: readonly PublicPageRoute[] = [{
  access: "page",
  area: "public",
  method: "GET",
  path: "/console/assets/:name",
  handle({ parameters }) {
    const asset = ASSETS.get(parameters["name"] ?? "");
    if (asset === undefined) {
      throw new ApiError("not_found", "there is no such file", {
        retryable: false,
      });
    }
    return {
      status: 200,
      headers: {
        ...PAGE_HEADERS,
        "content-type": asset.type,
        "cache-control": "public, max-age=31536000, immutable",
      },
      body: asset.text,
    };
  },
}];
