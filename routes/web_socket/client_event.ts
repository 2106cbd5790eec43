/**
 * The events that a client of the Responses format sends through a web socket.
 */
import {
  type JsonBody,
  parseJsonBody,
  topOf,
} from "../../gateway/http/request_body.ts";
import { spliceFields } from "../../translate/bytes/json_splice.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { ApiError, invalidField } from "../../translate/model/error.ts";

/** What a client asks for. `streamId` names a lane; absent: the one without a name. */
export type ClientEvent =
  | {
    readonly type: "create";
    readonly streamId?: string;
    /** As the body of a request over HTTP that asks for a stream. */
    readonly body: JsonBody;
    /** False: the reply is empty, and prepares a later one. */
    readonly generates: boolean;
  }
  /** Further input for a reply under way. */
  | { readonly type: "steer"; readonly event: JsonObject }
  /** A notice that needs no answer. */
  | { readonly type: "notice" }
  /** An event that cannot be executed. */
  | {
    readonly type: "refused";
    readonly streamId?: string;
    readonly error: ApiError;
  };

/** The fields of an event that are not part of the request. */
const ENVELOPE = ["type", "stream_id", "generate"];
const STREAM_ID = /^[\w.-]{1,256}$/;

/** Reads a text message. Never throws. */
export async function readClientEvent(
  message: Uint8Array,
): Promise<ClientEvent> {
  let streamId: string | undefined;
  try {
    const body = await parseJsonBody(message);
    const { json } = body;
    switch (json["type"]) {
      case "response.create":
        streamId = streamIdIn(json);
        return await createEvent(body, streamId);
      case "response.steer":
        return { type: "steer", event: json };
      // Codex states that it has read a reply.
      case "response.processed":
        return { type: "notice" };
    }
    throw invalidField("type", "expected response.create or response.steer");
  } catch (error) {
    return {
      type: "refused",
      ...(streamId === undefined ? {} : { streamId }),
      error: error instanceof ApiError
        ? error
        : new ApiError("internal", "the gateway failed to read the event"),
    };
  }
}

async function createEvent(
  { bytes, json, top }: JsonBody,
  streamId: string | undefined,
): Promise<ClientEvent> {
  const { type: _, stream_id: __, generate = true, ...rest } = json;
  if (typeof generate !== "boolean") {
    throw invalidField("generate", "expected true or false");
  }
  const set: JsonObject = {
    stream: true,
    // Settings alone can be prepared.
    ...(generate || rest["input"] !== undefined ? {} : { input: [] }),
  };
  const spliced = spliceFields(bytes, set, top, ENVELOPE);
  return {
    type: "create",
    ...(streamId === undefined ? {} : { streamId }),
    body: {
      bytes: spliced,
      json: { ...rest, ...set },
      top: await topOf(spliced),
    },
    generates: generate,
  };
}

function streamIdIn({ stream_id: value }: JsonObject): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" && STREAM_ID.test(value)) return value;
  throw invalidField(
    "stream_id",
    "must be 1 to 256 letters, digits, underscores, hyphens and periods; leave it out for the lane without a name",
    "invalid_stream_id",
  );
}
