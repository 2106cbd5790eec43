/**
 * Reads a multipart body piece by piece and lets it pass unchanged, except for the value of one
 * part: the model. Whatever an upstream's parser could read differently is refused, so that no
 * request names another model there than here.
 */
import { Buffer } from "node:buffer";
import { tolerantName } from "../../translate/bytes/key_spelling.ts";
import { ApiError, invalidField } from "../../translate/model/error.ts";

/** Replaces the value of the part `model`. */
export const MODEL: unique symbol = Symbol("model");

/** Bytes that pass unchanged, or the place of the model's name. */
export type MultipartPiece = Uint8Array | typeof MODEL;

const MAX_HEAD_BYTES = 8 * 1024;
const MAX_PARTS = 1_000;
const MAX_MODEL_BYTES = 1024;
/** Text of one part, and of all of them, that is kept. */
const MAX_TEXT_BYTES = 1024 * 1024;

const CRLF = Buffer.from("\r\n");
const HEAD_END = Buffer.from("\r\n\r\n");

/** The text of a part, or why it is not read; undefined while it arrives. */
type PartText = { readonly text: string } | { readonly problem: string };

/** What a parameter of a header is: a name, and a text in quotes or a token. */
const PARAMETER =
  /\s*;\s*([\w*-]+)=(?:"((?:[^"\\\p{Cc}]|\\.)*)"|([^\s";,]+))/uy;

/**
 * The boundary between the parts, from the `content-type` header.
 *
 * @throws {ApiError} `invalid_request` where the content type names no valid one
 */
export function boundaryOf(contentType: string): string {
  const parameters = parametersIn(
    contentType.slice("multipart/form-data".length),
  );
  const boundary = parameters?.get("boundary") ?? "";
  if (!/^[\w'()+,./:=?-]{1,70}$/.test(boundary)) {
    throw bodyError("content-type must have a boundary of 1 to 70 characters");
  }
  return boundary;
}

export class MultipartReader {
  readonly #delimiter: Buffer;
  #state: "start" | "delimiter" | "head" | "content" | "end" | "behind" =
    "start";
  #rest: Buffer = Buffer.alloc(0);
  #parts = 0;
  /** Name of the part that is being read; undefined for a file. */
  #name: string | undefined;
  #text: Buffer[] = [];
  #textBytes = 0;
  #keptBytes = 0;
  #model: string | undefined;
  readonly #texts = new Map<string, PartText | undefined>();
  readonly #repeated = new Set<string>();

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`--${boundary}`);
  }

  /** The model's name; undefined until its part has ended. */
  get model(): string | undefined {
    return this.#model;
  }

  /**
   * The text of a part; undefined where there is none so far.
   *
   * @throws {ApiError} `invalid_request` where there are several, also by another spelling of the
   * name, where it is a file, or too long to be read
   */
  text(name: string): string | undefined {
    if (this.#repeated.has(name)) {
      throw invalidField(name, "appears more than once in the body");
    }
    for (const other of this.#texts.keys()) {
      if (isOtherPartName(other, name)) {
        throw invalidField(other, `must be spelled ${name}`);
      }
    }
    const part = this.#texts.get(name);
    if (part === undefined) return undefined;
    if ("problem" in part) throw invalidField(name, part.problem);
    return part.text;
  }

  /**
   * The pieces that this chunk completes, in order.
   *
   * @throws {ApiError} `invalid_request`
   */
  push(chunk: Uint8Array): readonly MultipartPiece[] {
    const pieces: MultipartPiece[] = [];
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    this.#rest = this.#rest.length === 0
      ? bytes
      : Buffer.concat([this.#rest, bytes]);
    while (this.#step(pieces));
    return pieces;
  }

  /**
   * The body has ended.
   *
   * @throws {ApiError} `invalid_request` where it is incomplete
   */
  end(): void {
    if (this.#state !== "end" && this.#state !== "behind") {
      throw bodyError("the body ends before the last boundary");
    }
    if (this.#rest.length > 0) throw trailing();
    if (this.#model === undefined) {
      throw invalidField("model", "is missing in the body");
    }
  }

  /** Reads on by one step; false where more bytes are needed. */
  #step(pieces: MultipartPiece[]): boolean {
    switch (this.#state) {
      case "start":
        if (!startsAlike(this.#rest, this.#delimiter)) {
          throw bodyError("the body must begin with its boundary");
        }
        if (this.#rest.length < this.#delimiter.length) return false;
        pieces.push(this.#take(this.#delimiter.length));
        this.#state = "delimiter";
        return true;
      case "delimiter":
        return this.#afterDelimiter(pieces);
      case "head":
        return this.#head(pieces);
      case "content":
        return this.#content(pieces);
      case "end":
        if (!startsAlike(this.#rest, CRLF)) throw trailing();
        if (this.#rest.length < CRLF.length) return false;
        pieces.push(this.#take(CRLF.length));
        this.#state = "behind";
        return true;
      case "behind":
        if (this.#rest.length > 0) throw trailing();
        return false;
    }
  }

  #afterDelimiter(pieces: MultipartPiece[]): boolean {
    if (this.#rest.length < 2) return false;
    const next = this.#rest.toString("latin1", 0, 2);
    if (next !== "\r\n" && next !== "--") throw strayBoundary();
    pieces.push(this.#take(2));
    this.#state = next === "--" ? "end" : "head";
    return true;
  }

  #head(pieces: MultipartPiece[]): boolean {
    const end = this.#rest.indexOf(HEAD_END);
    if (
      end > MAX_HEAD_BYTES || (end < 0 && this.#rest.length > MAX_HEAD_BYTES)
    ) {
      throw bodyError(`the headers of a part exceed ${MAX_HEAD_BYTES} bytes`);
    }
    if (end < 0) return false;
    if (++this.#parts > MAX_PARTS) {
      throw bodyError(`the body has more than ${MAX_PARTS} parts`);
    }
    const { name, isFile } = readHead(this.#rest.toString("utf8", 0, end));
    if (name === "model" && (isFile || this.#model !== undefined)) {
      throw invalidField(
        "model",
        isFile
          ? "must be a text, not a file"
          : "appears more than once in the body",
      );
    }
    this.#name = isFile ? undefined : name;
    if (name !== "model") {
      if (this.#texts.has(name)) this.#repeated.add(name);
      this.#texts.set(
        name,
        // With an empty file name it is a text to some readers.
        isFile ? { problem: "must be a text, not a file" } : undefined,
      );
    }
    this.#text = [];
    this.#textBytes = 0;
    pieces.push(this.#take(end + HEAD_END.length));
    this.#state = "content";
    return true;
  }

  #content(pieces: MultipartPiece[]): boolean {
    const at = this.#rest.indexOf(this.#delimiter);
    if (at < 0) {
      // The end of what is there may be the beginning of a delimiter.
      const sure = this.#rest.length - this.#delimiter.length - CRLF.length;
      if (sure > 0) this.#pass(pieces, this.#take(sure));
      return false;
    }
    if (at < 2 || this.#rest.toString("latin1", at - 2, at) !== "\r\n") {
      throw strayBoundary();
    }
    this.#pass(pieces, this.#take(at - 2));
    this.#endPart(pieces);
    pieces.push(this.#take(CRLF.length + this.#delimiter.length));
    this.#state = "delimiter";
    return true;
  }

  #pass(pieces: MultipartPiece[], bytes: Buffer): void {
    if (this.#name !== undefined) {
      this.#textBytes += bytes.length;
      this.#keptBytes += bytes.length;
      if (this.#name === "model" && this.#textBytes > MAX_MODEL_BYTES) {
        throw invalidField("model", `is longer than ${MAX_MODEL_BYTES} bytes`);
      }
      if (this.#name === "model" || this.#keptBytes <= MAX_TEXT_BYTES) {
        this.#text.push(bytes);
      }
    }
    if (this.#name !== "model" && bytes.length > 0) pieces.push(bytes);
  }

  #endPart(pieces: MultipartPiece[]): void {
    const name = this.#name;
    if (name === undefined) return;
    const text = Buffer.concat(this.#text).toString("utf8");
    this.#text = [];
    if (name !== "model") {
      this.#texts.set(
        name,
        this.#keptBytes > MAX_TEXT_BYTES
          ? { problem: `is longer than ${MAX_TEXT_BYTES} bytes` }
          : { text },
      );
      return;
    }
    if (text === "") {
      throw invalidField("model", "must not be empty");
    }
    this.#model = text;
    pieces.push(MODEL);
  }

  #take(bytes: number): Buffer {
    const taken = this.#rest.subarray(0, bytes);
    this.#rest = this.#rest.subarray(bytes);
    return taken;
  }
}

function readHead(
  text: string,
): { readonly name: string; readonly isFile: boolean } {
  let disposition: string | undefined;
  for (const line of text.split("\r\n")) {
    const [, field = "", value = ""] = /^([\w-]+):([^\r\n\0]*)$/.exec(
      line,
    ) ?? [];
    switch (field.toLowerCase()) {
      case "":
        throw bodyError("a part has a malformed header");
      case "content-disposition":
        if (disposition !== undefined) throw badDisposition();
        disposition = value.trim();
        break;
      case "content-transfer-encoding":
        if (!/^(?:binary|7bit|8bit)$/i.test(value.trim())) {
          throw bodyError(
            "content-transfer-encoding of a part must be binary, 7bit or 8bit",
          );
        }
    }
  }
  const match = /^form-data(?=\s*;)/i.exec(disposition ?? "");
  const parameters = match === null
    ? undefined
    : parametersIn((disposition ?? "").slice(match[0].length));
  const name = parameters?.get("name");
  const filename = parameters?.get("filename") ??
    parameters?.get("filename*");
  if (
    name === undefined || /[\\%\ufffd]/.test(name) ||
    parameters?.has("name*") ||
    // A parser that does not know quotes would read it as the part's name.
    /name\*?\s*=/i.test(filename ?? "")
  ) throw badDisposition();
  if (isOtherPartName(name, "model")) {
    throw invalidField(
      "model",
      "must be the name of the part as it stands here",
    );
  }
  return { name, isFile: filename !== undefined };
}

/**
 * Whether some readers take a part for the one of this name: `Size`, `size[]`, `size[a]`, `size.x`
 * and `s_ize` for `size`.
 */
function isOtherPartName(other: string, name: string): boolean {
  if (other === name) return false;
  const wanted = tolerantName(name);
  const [first = ""] = other.split(/[[.]/, 1);
  return tolerantName(first) === wanted || tolerantName(other) === wanted ||
    tolerantName(other.replaceAll(/\[\d*\]/g, "")) === wanted;
}

/** Parameters by their names in lower case; undefined where one is malformed or repeated. */
function parametersIn(text: string): ReadonlyMap<string, string> | undefined {
  const found = new Map<string, string>();
  const trimmed = text.trimEnd();
  const length = trimmed.endsWith(";")
    ? trimmed.slice(0, -1).trimEnd().length
    : trimmed.length;
  let end = 0;
  while (end < length) {
    PARAMETER.lastIndex = end;
    const match = PARAMETER.exec(text);
    const [, name = "", quoted, token = ""] = match ?? [];
    if (match === null || found.has(name.toLowerCase())) return undefined;
    found.set(name.toLowerCase(), quoted ?? token);
    end = PARAMETER.lastIndex;
  }
  return found;
}

/** Whether one is the beginning of the other. */
function startsAlike(one: Buffer, other: Buffer): boolean {
  const length = Math.min(one.length, other.length);
  return one.subarray(0, length).equals(other.subarray(0, length));
}

function bodyError(message: string): ApiError {
  return new ApiError("invalid_request", message, { retryable: false });
}

function badDisposition(): ApiError {
  return bodyError(
    "each part needs one content-disposition: form-data with one plain name",
  );
}

function strayBoundary(): ApiError {
  return bodyError("the boundary occurs inside a part of the body");
}

function trailing(): ApiError {
  return bodyError("the body goes on after its last boundary");
}
