/**
 * A request body, JSON or multipart, that passes to an upstream with the model's name replaced. A
 * long multipart body is sent while it arrives.
 */
import { encodeText, joinPieces } from "../../translate/bytes/buffers.ts";
import { type JsonObject, objectOr } from "../../translate/bytes/json.ts";
import { tolerantName } from "../../translate/bytes/key_spelling.ts";
import { spliceFields } from "../../translate/bytes/json_splice.ts";
import { ApiError, invalidField } from "../../translate/model/error.ts";
import type { Timers } from "../timers.ts";
import type { SentRequest } from "../upstream/authenticated_call.ts";
import { ResentBody } from "../upstream/http/resent_body.ts";
import {
  boundaryOf,
  MODEL,
  type MultipartPiece,
  MultipartReader,
} from "./multipart_reader.ts";
import { type BodyLimits, bodyPieces, readJsonBody } from "./request_body.ts";

/** A body whose model is known. */
export interface PassedBody {
  /** The model's name as the client wrote it. */
  readonly model: string;
  /** Its length; the longest that it may have where it is not known. */
  readonly bytes: number;
  /** Whether the body is a file with fields beside it, not JSON. */
  readonly isForm: boolean;
  /**
   * The value at a path from the top level; undefined where there is none so far.
   *
   * @throws {ApiError} `invalid_request` where an upstream could read another value there
   */
  field(path: string): unknown;
  /**
   * The request for an upstream that calls the model `model`.
   *
   * @throws {ApiError} where it was sent already and cannot be sent again
   */
  as(model: string): SentRequest;
  /** Whether all of it can be sent again. */
  canRepeat(): boolean;
  /** It will not be sent again. */
  release(): void;
  close(): Promise<void>;
}

const FORM = "multipart/form-data";

/** A longer body is sent before it has arrived, if its model is known by then. */
const STREAMED_FROM = 1024 * 1024;

/**
 * Reads a body until its model is known; all of it, unless it is long and `maySend` permits to send
 * it meanwhile.
 *
 * @param maySend whether a call of this model can be sent before its whole body is known
 * @throws {ApiError} `unsupported_media`, `too_large`, `request_timeout`, or `invalid_request`
 */
export async function readPassedBody(
  request: Request,
  limits: BodyLimits,
  timers: Timers,
  maySend: (model: string) => boolean,
): Promise<PassedBody> {
  const type = request.headers.get("content-type") ?? "";
  const kind = type.split(";")[0]?.trim().toLowerCase();
  if (kind === FORM) {
    return await readForm(request, type.trim(), limits, timers, maySend);
  }
  if (kind !== "" && !/^application\/([\w.+-]+\+)?json$/.test(kind ?? "")) {
    throw new ApiError(
      "unsupported_media",
      `content-type must be application/json or ${FORM}`,
      { retryable: false },
    );
  }
  const { bytes, json, top } = await readJsonBody(
    request,
    limits,
    timers,
    NO_KEYS,
  );
  const { model } = json;
  if (typeof model !== "string" || model === "") {
    throw invalidField(
      "model",
      model === undefined ? "is required" : "must be the id of a model",
    );
  }
  return {
    model,
    bytes: bytes.length,
    isForm: false,
    field: (path) => onlyValueAt(json, path),
    as: (upstreamModel) => ({
      bytes: spliceFields(bytes, { model: upstreamModel }, top),
      headers: { "content-type": "application/json" },
    }),
    ...WHOLE_BODY,
  };
}

/** What a body that was read to its end can do: it can be sent again, and holds nothing. */
const WHOLE_BODY: Pick<PassedBody, "canRepeat" | "release" | "close"> = {
  canRepeat: () => true,
  release() {},
  close: () => Promise.resolve(),
};

/** A field that an endpoint reads as an amount may be in any object. */
const NO_KEYS: ReadonlySet<string> = new Set();

/** The value at a path of a request, if no key beside it is another spelling. */
function onlyValueAt(json: JsonObject, path: string): unknown {
  let value: unknown = json;
  let above = "";
  for (const name of path.split(".")) {
    const object = objectOr(value);
    const wanted = tolerantName(name);
    for (const key in object) {
      if (key !== name && tolerantName(key) === wanted) {
        throw invalidField(above + key, `must be spelled ${name}`);
      }
    }
    value = object[name];
    above += `${name}.`;
  }
  return value;
}

/** The value at a path of names, separated by dots. */
export function valueAt(json: JsonObject, path: string): unknown {
  let value: unknown = json;
  for (const name of path.split(".")) value = objectOr(value)[name];
  return value;
}

async function readForm(
  request: Request,
  type: string,
  limits: BodyLimits,
  timers: Timers,
  maySend: (model: string) => boolean,
): Promise<PassedBody> {
  const boundary = boundaryOf(type);
  const reader = new MultipartReader(boundary);
  const source = formPieces(request, limits, timers, reader);
  const begun: MultipartPiece[] = [];
  let size = 0;
  let isWhole = false;
  for (;;) {
    const { done, value } = await source.next();
    if (done === true) {
      isWhole = true;
      break;
    }
    begun.push(...value);
    size += value.reduce((sum, piece) => sum + sizeOf(piece), 0);
    if (
      size > STREAMED_FROM && reader.model !== undefined &&
      maySend(reader.model)
    ) break;
  }
  const { model = "" } = reader;
  const declared = request.headers.has("content-encoding")
    ? undefined
    : request.headers.get("content-length");
  const form = {
    model,
    isForm: true,
    field: (path: string) => reader.text(path),
  };
  const headers = { "content-type": `${FORM}; boundary=${quote(boundary)}` };
  if (isWhole) {
    return {
      ...form,
      bytes: size + model.length,
      as: (upstreamModel) => ({
        bytes: joinPieces(begun.map(writer(upstreamModel))),
        headers,
      }),
      ...WHOLE_BODY,
    };
  }
  const bytes = Number(declared ?? limits.maxBytes);
  const resent = new ResentBody(begun, source, sizeOf);
  return {
    ...form,
    bytes,
    as(upstreamModel) {
      if (!resent.canRepeat) {
        throw new ApiError("upstream", "the body cannot be sent again");
      }
      const change = encodeText(upstreamModel).length -
        encodeText(model).length;
      return {
        bytes: NOTHING,
        headers,
        body: resent.as(
          writer(upstreamModel),
          typeof declared === "string" ? bytes + change : undefined,
        ),
      };
    },
    canRepeat: () => resent.canRepeat,
    release: () => resent.release(),
    close: () => resent.close(),
  };
}

const NOTHING = new Uint8Array(0);

async function* formPieces(
  request: Request,
  limits: BodyLimits,
  timers: Timers,
  reader: MultipartReader,
): AsyncGenerator<readonly MultipartPiece[], void, void> {
  const encoding = request.headers.get("content-encoding");
  for await (const piece of bodyPieces(request, encoding, limits, timers)) {
    yield reader.push(piece);
  }
  reader.end();
}

function writer(model: string): (piece: MultipartPiece) => Uint8Array {
  return (piece) => piece === MODEL ? encodeText(model) : piece;
}

function sizeOf(piece: MultipartPiece): number {
  return piece === MODEL ? 0 : piece.length;
}

function quote(boundary: string): string {
  return /^[\w'+.-]+$/.test(boundary) ? boundary : `"${boundary}"`;
}
