/**
 * The vendors: address, dialects and authentication, one row each. The dialects themselves are in
 * `translate/`.
 *
 * @module
 */
import type { DialectName } from "../../translate/model/request.ts";

/** The neutral names of the built-in vendors. */
export type VendorName = "vendora" | "vendorb" | "vendorc" | "vendord";

/** A dialect as one vendor serves it. */
export interface VendorDialect {
  /** Unique within a vendor. */
  readonly dialect: DialectName;
  /** Path of a call, relative to the base address. */
  path(model: string, stream: boolean): string;
  /** Path of the token count, relative to the base address; absent if the vendor has none. */
  readonly countPath?: string;
  /** The headers that carry the key, and those that the vendor requires on every call. */
  headers(apiKey: string): Readonly<Record<string, string>>;
}

/** A vendor: a built-in row, or one from the overrides file. */
export interface Vendor {
  /** The name that models and the overrides file use. */
  readonly name: string;
  /** The built-in vendor whose API it has; for a built-in vendor, itself. */
  readonly kind: VendorName;
  /** As the vendor's own client libraries take it. */
  readonly baseUrl: string;
  /** Preferred first, for clients whose dialect the vendor does not support. */
  readonly dialects: readonly VendorDialect[];
}

/** A vendor whose key and address have their own settings. */
export interface BuiltInVendor extends Vendor {
  /** Equals its kind. */
  readonly name: VendorName;
  /** The setting that holds its key. If no vendor has a key, the replay offers its models. */
  readonly keySetting:
    | "VENDORA_API_KEY"
    | "VENDORB_API_KEY"
    | "VENDORC_API_KEY"
    | "VENDORD_API_KEY";
  /** The setting that replaces its address; takes precedence over the overrides file. */
  readonly baseUrlSetting:
    | "VENDORA_BASE_URL"
    | "VENDORB_BASE_URL"
    | "VENDORC_BASE_URL"
    | "VENDORD_BASE_URL";
}

const bearer = (apiKey: string): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${apiKey}`,
});

/** Every built-in vendor, with its public address. */
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
    dialects: [
      {
        dialect: "chat_completions",
        path: () => "/chat/completions",
        headers: bearer,
      },
      { dialect: "responses", path: () => "/responses", headers: bearer },
    ],
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
      // Not as `?key=`, because URLs end up in logs and traces.
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
