/**
 * Decodes the turns of a client's request. Calls and results may come without ids here: a result
 * then belongs to the first call of its name that has none. `encode_messages.ts` is the inverse.
 */
import { invalidField } from "../../model/error.ts";
import { isObject, textIn } from "../../bytes/json.ts";
import type {
  Part,
  ResultPart,
  Signature,
  TextPart,
  Turn,
} from "../../model/request.ts";
import {
  MAX_UNKNOWN_FIELDS,
  noteUnknown,
  type UnknownFields,
} from "../../model/unknown_fields.ts";
import { decodeBlob, decodeFile, opaque } from "./decode_content.ts";
import type { OneSpelling } from "./key_names.ts";
import { readSignature } from "./signatures.ts";
import type { WirePart, WireResult, WireTurn } from "./wire.ts";
import { type Steps, visitEach } from "../../steps.ts";

const TURN_FIELDS: ReadonlySet<string> = new Set(["role", "parts"]);
const PART_FIELDS: ReadonlySet<string> = new Set([
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "thought",
  "thoughtSignature",
]);
const CALL_FIELDS: ReadonlySet<string> = new Set(["id", "name", "args"]);
const RESULT_FIELDS: ReadonlySet<string> = new Set([
  "id",
  "name",
  "response",
  "parts",
]);
const BLOB_FIELDS: ReadonlySet<string> = new Set([
  "mimeType",
  "data",
  "displayName",
]);
const FILE_FIELDS: ReadonlySet<string> = new Set(["mimeType", "fileUri"]);
/** Parts that only upstreams of this format can read: tools that the vendor ran. */
const VENDOR_PARTS: readonly string[] = [
  "executableCode",
  "codeExecutionResult",
  "toolCall",
  "toolResponse",
];
const PREFIX = "contents[].parts[].";

/** What the decoders of one request share. */
export interface Reading {
  readonly unknown: UnknownFields;
  /** A path in the client's spelling. */
  readonly written: OneSpelling["written"];
}

/** Finds the call that a result without an id answers. */
interface Calls {
  add(name: string, id: string): void;
  /** Records that a call has its result. */
  answer(id: string): void;
  /** The id of the first call of that name without a result; it has one then. */
  next(name: string): string | undefined;
}

/**
 * Decodes the turns.
 *
 * @throws {ApiError} `invalid_request` for a role that the format does not have
 */
export function* decodeMessages(
  contents: readonly WireTurn[],
  reading: Reading,
): Steps<readonly Turn[]> {
  const open = openCalls();
  const turns: { readonly role: Turn["role"]; readonly parts: Part[] }[] = [];
  yield* visitEach(contents, (turn, index) => {
    const role = roleOf(turn, index, reading);
    note(turn, TURN_FIELDS, "contents[].", reading);
    const last = turns.at(-1);
    const continues = role === "assistant" && last?.role === role;
    const parts = continues ? last.parts : [];
    if (!continues) turns.push({ role, parts });
    turn.parts?.forEach((part, at) => {
      const path = `contents[${index}].parts[${at}]`;
      for (const one of decodePart(part, role, path, open, reading)) {
        if (role === "assistant") join(parts, one);
        else parts.push(one);
      }
    });
  });
  return turns;
}

/**
 * Adds a part of the model. Client libraries keep every piece of a streamed text as a turn of its
 * own; a signature belongs to the whole text before it.
 */
function join(parts: Part[], next: Part): void {
  const last = parts.at(-1);
  if (
    last?.type === "text" && next.type === "text" &&
    last.signature === undefined
  ) parts[parts.length - 1] = { ...next, text: last.text + next.text };
  else if (
    last?.type === "reasoning" && next.type === "reasoning" &&
    last.signature === undefined && next.signature?.redacted !== true
  ) parts[parts.length - 1] = { ...next, text: last.text + next.text };
  else parts.push(next);
}

/** The texts of the system prompt; other parts of it are essential. */
export function decodeSystem(
  system: string | WireTurn | null | undefined,
  { unknown, written }: Reading,
): readonly TextPart[] {
  if (system === null || system === undefined) return [];
  if (typeof system === "string") {
    return system === "" ? [] : [{ type: "text", text: system }];
  }
  const texts: TextPart[] = [];
  (system.parts ?? []).forEach((part, at) => {
    const { text } = part;
    if (typeof text === "string") texts.push({ type: "text", text });
    else if (Object.keys(part).length > 0) {
      unknown.essential.add(written(`systemInstruction.parts[${at}]`));
    }
  });
  return texts;
}

/** Records fields that are not decoded, in the client's spelling. */
export function note(
  object: object | null | undefined,
  known: ReadonlySet<string>,
  prefix: string,
  { unknown, written }: Reading,
): void {
  if (unknown.optional.size >= MAX_UNKNOWN_FIELDS) return;
  if (Object.keys(object ?? {}).every((key) => known.has(key))) return;
  const found: UnknownFields = { ...unknown, optional: new Set() };
  noteUnknown(object, known, prefix, found);
  for (const path of found.optional) unknown.optional.add(written(path));
}

/** In older requests, results are turns of a role of their own. */
const ROLES: ReadonlyMap<string, "user" | "assistant"> = new Map([
  ["user", "user"],
  ["model", "assistant"],
  ["function", "user"],
  ["tool", "user"],
]);

function roleOf(
  { role }: WireTurn,
  index: number,
  { written }: Reading,
): "user" | "assistant" {
  const known = ROLES.get(textIn(role) ?? "user");
  if (known !== undefined) return known;
  throw invalidField(
    written(`contents[${index}].role`),
    "expected user or model",
  );
}

function decodePart(
  part: WirePart,
  role: "user" | "assistant",
  path: string,
  open: Calls,
  reading: Reading,
): readonly Part[] {
  const vendors = VENDOR_PARTS.find((kind) =>
    isObject(Reflect.get(part, kind))
  );
  if (vendors !== undefined) {
    const { written } = reading;
    return [opaque(written(vendors), written(path), part, role === "user")];
  }
  note(part, PART_FIELDS, PREFIX, reading);
  const { text, functionCall, functionResponse } = part;
  const signature = signatureOf(part);
  if (functionCall) {
    note(functionCall, CALL_FIELDS, `${PREFIX}functionCall.`, reading);
    const id = textIn(functionCall.id) ?? idOf(path);
    open.add(functionCall.name, id);
    return [{
      type: "tool_call",
      id,
      name: functionCall.name,
      arguments: JSON.stringify(functionCall.args ?? {}),
      ...signature,
      at: reading.written(`${path}.functionCall`),
    }];
  }
  if (functionResponse) {
    note(
      functionResponse,
      RESULT_FIELDS,
      `${PREFIX}functionResponse.`,
      reading,
    );
    return [{
      type: "tool_result",
      id: answeredId(functionResponse, path, open),
      ...contentOf(functionResponse, `${path}.functionResponse`, reading),
      at: reading.written(`${path}.functionResponse`),
    }];
  }
  if (part.thought === true) {
    return [{
      type: "reasoning",
      text: text ?? "",
      ...redact(text, signature),
    }];
  }
  const media = mediaOf(part, path, PREFIX, reading);
  if (media.length > 0) return media;
  return typeof text === "string" ? [{ type: "text", text, ...signature }] : [];
}

function mediaOf(
  { inlineData, fileData }: Pick<WirePart, "inlineData" | "fileData">,
  path: string,
  prefix: string,
  reading: Reading,
): readonly ReturnType<typeof decodeBlob>[] {
  if (inlineData) {
    note(inlineData, BLOB_FIELDS, `${prefix}inlineData.`, reading);
    return [decodeBlob(inlineData, path, reading.written)];
  }
  if (fileData) {
    note(fileData, FILE_FIELDS, `${prefix}fileData.`, reading);
    return [decodeFile(fileData, path, reading.written)];
  }
  return [];
}

function signatureOf(
  { thoughtSignature }: WirePart,
): { readonly signature?: Signature } {
  const value = textIn(thoughtSignature);
  const signature = value === undefined ? undefined : readSignature(value);
  return signature === undefined ? {} : { signature };
}

/** A signature of another format that replaces its text. */
function redact(
  text: string | null | undefined,
  { signature }: { readonly signature?: Signature },
): { readonly signature?: Signature } {
  if (signature === undefined) return {};
  const isRedacted = signature.redacted === true && (text ?? "") === "";
  const { redacted: _, ...proof } = signature;
  return { signature: isRedacted ? signature : proof };
}

/** The id of a call without one: the same in every request that repeats the turn. */
function idOf(path: string): string {
  return `call_${path.replaceAll(/\D+/g, "_").slice(1, -1)}`;
}

/**
 * The id of the call that a result answers; for a result without an id, that of the first open call
 * of its name.
 */
function answeredId(
  result: WireResult,
  path: string,
  open: Calls,
): string {
  const given = textIn(result.id);
  if (given === undefined) return open.next(result.name) ?? idOf(path);
  open.answer(given);
  return given;
}

function openCalls(): Calls {
  const byName = new Map<string, { readonly ids: string[]; at: number }>();
  const answered = new Set<string>();
  return {
    add(name, id) {
      const same = byName.get(name);
      if (same === undefined) byName.set(name, { ids: [id], at: 0 });
      else same.ids.push(id);
    },
    answer: (id) => void answered.add(id),
    next(name) {
      const same = byName.get(name);
      while (same !== undefined && same.at < same.ids.length) {
        const id = same.ids[same.at++];
        if (id !== undefined && !answered.has(id)) return id;
      }
      return undefined;
    },
  };
}

/**
 * What a function returned. The vendor's convention: `output` holds the result, `error` the
 * failure; without either the whole object is the result.
 */
function contentOf(
  { response, parts }: WireResult,
  path: string,
  reading: Reading,
): { readonly content: readonly ResultPart[]; readonly failed?: true } {
  const keys = Object.keys(response ?? {});
  const [only = ""] = keys.length === 1 ? keys : [];
  const failed = only === "error";
  const value = only === "output" || failed
    ? (response ?? {})[only]
    : response ?? {};
  const text = typeof value === "string"
    ? value
    : keys.length === 0
    ? ""
    : JSON.stringify(value);
  return {
    content: [
      ...(text === "" ? [] : [{ type: "text" as const, text }]),
      ...(parts ?? []).flatMap((part, at) =>
        mediaOf(
          part,
          `${path}.parts[${at}]`,
          `${PREFIX}functionResponse.parts[].`,
          reading,
        )
      ),
    ],
    ...(failed ? { failed: true as const } : {}),
  };
}
