/**
 * Replies of endpoints that generate no text in a conversation: transcriptions, speech, images,
 * rerank and moderations, in the forms of the vendors that have them. The same request has the same
 * reply.
 */
import { arrayOf, type JsonObject, objectOf, stringOf } from "../json.ts";
import { MEDIA_PATH, type ParsedRequest, textsIn } from "../parse_request.ts";
import { refuse } from "./refuse.ts";
import {
  jsonScript,
  type Script,
  streamScript,
  wholeScript,
} from "../script.ts";
import { seededRandom } from "./seeded.ts";
import { countBytes } from "./token_count.ts";

/** The rate of speech at 32 kbit/s. */
const BYTES_PER_SECOND = 4_000;
const AUDIO_CHUNKS = 8;
const AUDIO_CHUNK_BYTES = 4_096;
const CREATED = 1_767_225_600;
/** A picture of one pixel, as PNG. */
const PICTURE =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** The script for a request of one of these endpoints. */
export function media(call: ParsedRequest): Script {
  const path = call.request.path.split("?")[0] ?? "";
  const form = formOf(call.request);
  const fields = form ?? call.body;
  if (fields === undefined) {
    return refuse(call, 400, "We could not parse the body of your request.");
  }
  if ((stringOf(fields["model"]) ?? "") === "") {
    return refuse(call, 400, "model: Field required", "model");
  }
  switch (MEDIA_PATH.exec(path)?.[1]) {
    case "audio/transcriptions":
      return form === undefined
        ? refuse(call, 400, "file: Field required", "file")
        : transcription(call, form);
    case "audio/speech":
      return speech(call, fields);
    case "images/generations":
      return images(call, fields);
    case "rerank":
      return rerank(call, fields);
    default:
      return moderations(call, fields);
  }
}

/** The fields of a multipart body that are no files; undefined for another body. */
function formOf(
  { headers, body }: ParsedRequest["request"],
): JsonObject | undefined {
  const boundary = /^multipart\/form-data;.*boundary="?([^";]+)"?/i.exec(
    headers["content-type"] ?? "",
  )?.[1];
  if (boundary === undefined) return undefined;
  return Object.fromEntries(
    body.split(`--${boundary}`).flatMap((part) => {
      const [head = "", ...rest] = part.split("\r\n\r\n");
      const name = /[; ]name="([^"]*)"/.exec(head)?.[1];
      return name === undefined || /filename/i.test(head)
        ? []
        : [[name, rest.join("\r\n\r\n").replace(/\r\n$/, "")]];
    }),
  );
}

function transcription(call: ParsedRequest, form: JsonObject): Script {
  const text = "The audio says this.";
  const seconds = Math.ceil(call.request.body.length / BYTES_PER_SECOND);
  if (form["stream"] === "true") {
    return streamScript([
      event({ type: "transcript.text.delta", delta: "The audio " }),
      event({ type: "transcript.text.delta", delta: "says this." }),
      event({
        type: "transcript.text.done",
        text,
        usage: {
          type: "tokens",
          input_tokens: seconds * 10,
          input_token_details: { text_tokens: 0, audio_tokens: seconds * 10 },
          output_tokens: 5,
          total_tokens: seconds * 10 + 5,
        },
      }),
    ]);
  }
  switch (form["response_format"]) {
    case "text":
      return wholeScript(200, "text/plain; charset=utf-8", `${text}\n`);
    case "verbose_json":
      return jsonScript(200, {
        task: "transcribe",
        language: "english",
        duration: seconds,
        text,
        segments: [],
      });
  }
  return jsonScript(200, { text, usage: { type: "duration", seconds } });
}

const AUDIO_TYPES: Readonly<Record<string, string>> = {
  mp3: "audio/mpeg",
  wav: "audio/wav",
  opus: "audio/ogg",
  aac: "audio/aac",
  flac: "audio/flac",
  pcm: "audio/pcm",
};

function speech(call: ParsedRequest, body: JsonObject): Script {
  const input = stringOf(body["input"]) ?? "";
  if (input === "") return refuse(call, 400, "input: Field required", "input");
  const random = seededRandom(`${call.model}\n${input}`);
  const chunks = Array.from(
    { length: AUDIO_CHUNKS },
    () => Uint8Array.from({ length: AUDIO_CHUNK_BYTES }, () => random(256)),
  );
  if (body["stream_format"] === "sse") {
    return streamScript([
      ...chunks.map((chunk) =>
        event({ type: "speech.audio.delta", audio: chunk.toBase64() })
      ),
      event({
        type: "speech.audio.done",
        usage: {
          input_tokens: Math.ceil(countBytes(input) / 4),
          output_tokens: 100,
          total_tokens: Math.ceil(countBytes(input) / 4) + 100,
        },
      }),
    ]);
  }
  return {
    status: 200,
    headers: {
      "content-type": AUDIO_TYPES[stringOf(body["response_format"]) ?? "mp3"] ??
        "audio/mpeg",
    },
    framing: "chunked",
    steps: chunks.map((chunk) => ({ step: "bytes", bytes: chunk })),
  };
}

function images(call: ParsedRequest, body: JsonObject): Script {
  const prompt = stringOf(body["prompt"]) ?? "";
  const count = body["n"] ?? 1;
  if (prompt === "") {
    return refuse(call, 400, "prompt: Field required", "prompt");
  }
  if (typeof count !== "number" || count < 1 || count > 10) {
    return refuse(call, 400, "n: must be 1 to 10", "n");
  }
  const input = Math.ceil(countBytes(prompt) / 4);
  return jsonScript(200, {
    created: CREATED,
    data: Array.from({ length: count }, () => ({ b64_json: PICTURE })),
    // Models of the older kind are billed by picture.
    ...(call.model.startsWith("gpt-image")
      ? {
        usage: {
          input_tokens: input,
          input_tokens_details: { text_tokens: input, image_tokens: 0 },
          output_tokens: 1_056 * count,
          output_tokens_details: { image_tokens: 1_056 * count },
          total_tokens: input + 1_056 * count,
        },
      }
      : {}),
  });
}

function rerank(call: ParsedRequest, body: JsonObject): Script {
  const query = stringOf(body["query"]) ?? "";
  const documents = arrayOf(body["documents"]).map((one) =>
    stringOf(one) ?? stringOf(objectOf(one)["text"]) ?? ""
  );
  if (query === "" || documents.length === 0) {
    return refuse(call, 400, "query and documents: Field required");
  }
  const top = Number(body["top_n"] ?? documents.length);
  return jsonScript(200, {
    id: "rerank-replay",
    results: documents.map((text, index) => ({
      index,
      relevance_score:
        seededRandom(`${call.model}\n${query}\n${text}`)(1_000_001) / 1_000_000,
    })).toSorted((a, b) => b.relevance_score - a.relevance_score)
      .slice(0, Number.isInteger(top) && top > 0 ? top : undefined),
    meta: { api_version: { version: "2" }, billed_units: { search_units: 1 } },
  });
}

const CATEGORIES = ["harassment", "hate", "self-harm", "sexual", "violence"];

function moderations(call: ParsedRequest, body: JsonObject): Script {
  const { input } = body;
  const inputs = typeof input === "string"
    ? [input]
    : arrayOf(input).flatMap((one) => textsIn([one]));
  if (inputs.length === 0) {
    return refuse(call, 400, "input: Field required", "input");
  }
  return jsonScript(200, {
    id: "modr-replay",
    model: call.model,
    results: inputs.map((text) => {
      const scores = CATEGORIES.map((name) => [
        name,
        seededRandom(`${name}\n${text}`)(1_000) / 1_000_000,
      ]);
      return {
        flagged: false,
        categories: Object.fromEntries(CATEGORIES.map((name) => [name, false])),
        category_scores: Object.fromEntries(scores),
        category_applied_input_types: Object.fromEntries(
          CATEGORIES.map((name) => [name, ["text"]]),
        ),
      };
    }),
  });
}

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
