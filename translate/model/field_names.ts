/**
 * The names of request fields in a client's format, for reports of dropped and refused ones.
 */
import type { Setting } from "./settings.ts";

/**
 * The dialect's field name for each neutral field. Encoders use it to name dropped and refused
 * fields.
 */
export type FieldNames = Readonly<Record<NeutralField, string>>;

/** The request fields and kinds of part that some dialect cannot express. */
export type NeutralField = OtherField | Setting;

/** The names of fields that are no settings: a format's decoder has them. */
export type OtherNames = Readonly<Record<OtherField, string>>;

type OtherField =
  | "messages"
  | "image"
  | "document"
  | "audio"
  | "arguments"
  | "system"
  | "tools"
  | "toolChoice"
  | "parallelTools"
  | "format"
  | "reasoning";
