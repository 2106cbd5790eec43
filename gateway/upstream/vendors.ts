/**
 * The vendors: where each is, which dialects it speaks there and how it wants its key. A row each; what a dialect is, `translate/`
 * knows.
 *
 * @module
 */
import type { DialectName } from "../../translate/request.ts";

/** The neutral names of the built-in vendors. */
export type VendorName = "vendora" | "vendorb" | "vendorc" | "vendord";

/** A dialect as one vendor speaks it. */
export interface VendorDialect {
  /** A vendor has at most one row for each. */
  readonly dialect: DialectName;
  /** Path under the base address of a call, streamed or whole. */
  path(model: string, stream: boolean): string;
  /** Path under the base address for counting a prompt's tokens, where the vendor does. */
  readonly countPath?: string;
  /** The headers that carry the key, and those that the vendor demands on every call. */
  headers(apiKey: string): Readonly<Record<string, string>>;
}

/** A vendor: a row here, or one that the file of overrides adds. */
export interface Vendor {
  /** What models and the file of overrides call it. */
  readonly name: string;
  /** Whose manners it has: the row here that gave it its dialects. A row's own name where it stands here. */
  readonly kind: VendorName;
  /** As its own client libraries take it. */
  readonly baseUrl: string;
  /** Best first, for callers who speak none of them. */
  readonly dialects: readonly VendorDialect[];
}

/** A vendor whose key and address have settings of their own. */
export interface BuiltInVendor extends Vendor {
  /** The same as its kind. */
  readonly name: VendorName;
  /** Setting that holds its key; not set: only the replay offers its models. */
  readonly keySetting:
    | "VENDORA_API_KEY"
    | "VENDORB_API_KEY"
    | "VENDORC_API_KEY"
    | "VENDORD_API_KEY";
  /** Setting that replaces its address; it wins over the file of overrides. */
  readonly baseUrlSetting:
    | "VENDORA_BASE_URL"
    | "VENDORB_BASE_URL"
    | "VENDORC_BASE_URL"
    | "VENDORD_BASE_URL";
}

const bearer = (apiKey: string): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${apiKey}`,
});

/** Every vendor that is built in; their addresses are the public ones. */
export const VENDORS: readonly BuiltInVendor[] = [
  {
    name: "vendora",
    kind: "vendora",
    keySetting: "VENDORA_API_KEY",
    baseUrlSetting: "VENDORA_BASE_URL",
    baseUrl: "https://api.anthropic.com",
    dialects: [{
      dialect: "messages",
      path: () => "/v1/messages",
      countPath: "/v1/messages/count_tokens",
      headers: (apiKey) => ({
        "x-api-key": apiKey,
        "anthropic-version": "2023-06-01",
      }),
    }],
  },
  {
    name: "vendorb",
    kind: "vendorb",
    keySetting: "VENDORB_API_KEY",
    baseUrlSetting: "VENDORB_BASE_URL",
    baseUrl: "https://api.openai.com/v1",
    dialects: [{
      dialect: "chat_completions",
      path: () => "/chat/completions",
      headers: bearer,
    }],
  },
  {
    name: "vendorc",
    kind: "vendorc",
    keySetting: "VENDORC_API_KEY",
    baseUrlSetting: "VENDORC_BASE_URL",
    baseUrl: "https://generativelanguage.googleapis.com",
    dialects: [{
      dialect: "generate_content",
      path: (model, stream) =>
        `/v1beta/models/${encodeURIComponent(model)}:${
          stream ? "streamGenerateContent?alt=sse" : "generateContent"
        }`,
      // Never as `?key=`: addresses end up in logs and traces.
      headers: (apiKey) => ({ "x-goog-api-key": apiKey }),
    }],
  },
  {
    name: "vendord",
    kind: "vendord",
    keySetting: "VENDORD_API_KEY",
    baseUrlSetting: "VENDORD_BASE_URL",
    baseUrl: "https://api.minimax.io",
    dialects: [
      {
        dialect: "messages",
        path: () => "/anthropic/v1/messages",
        headers: (apiKey) => ({
          ...bearer(apiKey),
          "x-api-key": apiKey,
          "anthropic-version": "2023-06-01",
        }),
      },
      {
        dialect: "chat_completions",
        path: () => "/v1/chat/completions",
        headers: bearer,
      },
    ],
  },
];
