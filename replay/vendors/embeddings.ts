/**
 * Vectors for embedding requests, in the chat vendor's form and in that of generate content. The
 * same model, text and length give the same vector.
 */
import { countBytes } from "./token_count.ts";
import { arrayOf, type Json, objectOf, stringOf } from "../json.ts";
import { type ParsedRequest, textsIn } from "../parse_request.ts";
import { refuse } from "./refuse.ts";
import { jsonScript, type Script } from "../script.ts";
import { seededRandom } from "./seeded.ts";

const DEFAULT_LENGTH = 256;
const MAX_LENGTH = 4096;
const STEPS = 2_000_001;

export function embeddings(call: ParsedRequest): Script {
  return call.dialect === "generate_content"
    ? generateContent(call)
    : chat(call);
}

function chat(call: ParsedRequest): Script {
  const { input, dimensions, encoding_format } = objectOf(call.body);
  const inputs = inputsOf(input ?? null);
  if (inputs.length === 0) {
    return refuse(call, 400, "'$.input' is invalid.", "input");
  }
  const length = lengthOf(dimensions);
  if (length === undefined) {
    return refuse(call, 400, "Invalid value for 'dimensions'.", "dimensions");
  }
  const tokens = inputs.reduce((sum, one) => sum + one.tokens, 0);
  return jsonScript(200, {
    object: "list",
    data: inputs.map(({ text }, index) => {
      const vector = vectorOf(call.model, text, length);
      return {
        object: "embedding",
        index,
        embedding: encoding_format === "base64" ? base64(vector) : [...vector],
      };
    }),
    model: call.model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  });
}

function generateContent(call: ParsedRequest): Script {
  const requests = arrayOf(objectOf(call.body)["requests"]).map(objectOf);
  const vectors: Json[] = [];
  for (const { content, outputDimensionality } of requests) {
    const text = textsIn(objectOf(content)["parts"]).join("\n");
    const length = lengthOf(outputDimensionality);
    if (text === "" || length === undefined) {
      return refuse(call, 400, "requests: invalid content or dimensionality");
    }
    vectors.push({ values: [...vectorOf(call.model, text, length)] });
  }
  return vectors.length === 0
    ? refuse(call, 400, "requests: must not be empty")
    : jsonScript(200, { embeddings: vectors });
}

interface Input {
  readonly text: string;
  readonly tokens: number;
}

/** The inputs; none where one of them is neither a text nor a list of tokens. */
function inputsOf(input: Json): readonly Input[] {
  const list = Array.isArray(input) && typeof input[0] !== "number"
    ? input
    : [input];
  const inputs = list.flatMap((one): Input[] => {
    const text = stringOf(one);
    if (text !== undefined && text !== "") {
      return [{ text, tokens: Math.max(1, Math.ceil(countBytes(text) / 4)) }];
    }
    const tokens = arrayOf(one);
    return tokens.length > 0 && tokens.every((t) => Number.isInteger(t))
      ? [{ text: JSON.stringify(tokens), tokens: tokens.length }]
      : [];
  });
  return inputs.length === list.length ? inputs : [];
}

function lengthOf(value: Json | undefined): number | undefined {
  if (value === undefined || value === null) return DEFAULT_LENGTH;
  return Number.isInteger(value) && Number(value) >= 1 &&
      Number(value) <= MAX_LENGTH
    ? Number(value)
    : undefined;
}

function vectorOf(model: string, text: string, length: number): Float32Array {
  const random = seededRandom(`${model}\n${text}`);
  const raw = Float32Array.from(
    { length },
    () => (random(STEPS) - (STEPS - 1) / 2) / STEPS,
  );
  const norm = Math.hypot(...raw) || 1;
  return raw.map((value) => value / norm);
}

function base64(vector: Float32Array): string {
  const view = new DataView(new ArrayBuffer(vector.length * 4));
  vector.forEach((value, at) => view.setFloat32(at * 4, value, true));
  return new Uint8Array(view.buffer).toBase64();
}
