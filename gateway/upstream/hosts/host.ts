/**
 * The shape of a row of the host table: where a host is, in which dialects it is called, how it
 * takes credentials, and how its requests and errors differ from the dialect. Data only.
 */
import type { Capabilities } from "../../../translate/model/capabilities.ts";
import type { BodyEdits } from "../../../translate/body_edits.ts";
import type { HostErrors } from "../../../translate/host_errors.ts";
import type { EmbeddingForm } from "../../../translate/embeddings/embedding_form.ts";
import type { DialectName } from "../../../translate/model/request.ts";
import type { HostAuth } from "../credentials/credential.ts";

/** The neutral names of the built-in vendors, each a host of its own. */
export type VendorName = "vendora" | "vendorb" | "vendorc" | "vendord";

/** Names of the host rows: the `kind` of a vendor in the configuration file. */
export type HostKind =
  | VendorName
  | "azure_openai"
  | "azure_deployments"
  | "azure_models"
  | "foundry_messages"
  | "bedrock_messages"
  | "bedrock_chat"
  | "bedrock_invoke"
  | "bedrock_converse"
  | "mantle_messages"
  | "mantle_chat"
  | "claude_aws"
  | "vertex_gemini"
  | "vertex_claude"
  | "vertex_chat"
  | "vertex_express"
  | "google_claude"
  | "openai_compatible";

/** Settings of a vendor in the configuration file that fill the templates of its host. */
export type HostSetting =
  | "region"
  | "resource"
  | "project"
  | "location"
  | "workspace"
  | "api_version";

/** Paths relative to the base address: templates with `{model}` and {@linkcode HostSetting}s. */
interface HostPaths {
  /** Path for a whole reply. */
  readonly whole: string;
  /** Path for a stream; absent: the same. */
  readonly stream?: string;
}

export interface HostCount {
  /** A template, relative to the base address. */
  readonly path: string;
  /**
   * How the request is sent: as the request itself, in the dialect; `vertex`: with the model's bare
   * id in it; `bedrock`: in base64 inside an `input`; `gemini`: inside a `generateContentRequest`,
   * with the model's id in it.
   */
  readonly wrap: "none" | "vertex" | "bedrock" | "gemini";
  /** Betas that it refuses for counts only; absent: none. */
  readonly refusedBetas?: readonly string[];
}

interface HostEmbeddings {
  /** A template, relative to the base address. */
  readonly path: string;
  /** The form of requests and replies; `bedrock`: that of the model's maker. */
  readonly form: EmbeddingForm | "bedrock";
}

/**
 * What is special about the tools of a request: reasoning was asked for beside them, or left to the
 * model, or one of them is a search of the web.
 */
export type ToolUse =
  | "reasoning asked"
  | "reasoning left to the model"
  | "web search";

/** The dialect in which a model takes such tools, where it does not take them in every one. */
export interface PreferredDialect {
  /** Preferred where the vendor supports it and nothing else decides. */
  readonly dialect: DialectName;
  /** The requests that it is spoken for. */
  readonly when: readonly ToolUse[];
}

/** What the models of a host with certain names have in common. */
export interface ModelRule {
  /** Upstream names; `*` matches any text, and case does not matter. */
  readonly models: readonly string[];
  /** Differences from the capabilities of the host. */
  readonly capabilities?: Partial<Capabilities>;
  /** Keys that these models refuse beside those that the host refuses. */
  readonly refuses?: readonly string[];
  /** Absent: every dialect takes all tools. Ignored if a candidate names its dialect. */
  readonly preferred?: PreferredDialect;
}

export interface HostDialect extends HostPaths {
  /** Unique within a host. */
  readonly dialect: DialectName;
  /** Other paths that some models need, by the name that a candidate gives as its `route`. */
  readonly routes?: Readonly<Record<string, HostPaths>>;
  /** Absent if the host does not count. */
  readonly count?: HostCount;
  readonly embeddings?: HostEmbeddings;
  /** The credentials that it takes. */
  readonly auth: HostAuth;
  /** Headers of every call: templates. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Changes to the body and the version headers; absent: none. */
  readonly edits?: BodyEdits;
  /** Framing of its streams; absent: event streams. */
  readonly framing?: "aws_event_stream";
  /** Whose error form it uses beside the dialect's own; absent: the dialect's alone. */
  readonly errors?: HostErrors;
  /** Differences from the dialect's defaults that every model has there. */
  readonly capabilities?: Partial<Capabilities>;
  /** Differences of some models; the first rule that matches a model applies. Absent: none. */
  readonly modelRules?: readonly ModelRule[];
}

/** A place where models are called, in one or more dialects. */
export interface Host {
  /** Unique. */
  readonly kind: HostKind;
  /** Template of the base address; absent: the configuration file gives it. */
  readonly base?: string;
  /** Preferred first, for clients whose dialect the host does not support. */
  readonly dialects: readonly HostDialect[];
  /** The built-in vendor whose models it serves, with their capabilities; absent: any models. */
  readonly serves?: VendorName;
  /**
   * True where a reply that is cancelled is generated and billed to its end; absent: it ends there.
   * Source: https://openrouter.ai/docs/api-reference/streaming, "Stream Cancellation", read
   * 2026-11-28.
   */
  readonly billsCancelled?: true;
  /** Day of the last call to the true host, YYYY-MM-DD; absent: only checked against emulators. */
  readonly checked?: string;
}
