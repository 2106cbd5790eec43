/**
 * The names of request fields in a client's format, for reports of dropped and refused ones.
 *
 * @module
 */

/**
 * The dialect's field name for each neutral field. Encoders use it to name dropped and refused
 * fields.
 */
export type FieldNames = Readonly<Record<NeutralField, string>>;

/** The request fields and kinds of part that some dialect cannot express. */
export type NeutralField =
  | "messages"
  | "image"
  | "document"
  | "audio"
  | "arguments"
  | "system"
  | "tools"
  | "toolChoice"
  | "parallelTools"
  | "maxTokens"
  | "temperature"
  | "topP"
  | "topK"
  | "stop"
  | "format"
  | "reasoning"
  | "user"
  | "serviceTier"
  | "promptCache"
  | "candidates"
  | "seed"
  | "presencePenalty"
  | "frequencyPenalty"
  | "logprobs";
