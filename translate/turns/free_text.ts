/**
 * Tools whose input is free text ("custom" tools). A format or model without them is offered a
 * function with one string field, and the gateway itself always holds the input of such a call as
 * the arguments of that function. The reader extracts the text from arguments that arrive in
 * fragments; the writer wraps fragments of the text as arguments.
 */
import {
  isObject,
  type JsonObject,
  parseJson,
  stringIn,
} from "../bytes/json.ts";
import type {
  FunctionTool,
  GenerationRequest,
  Grammar,
} from "../model/request.ts";

/** The one field of the function that represents a free-text tool. */
const FREE_TEXT_FIELD = "input";

const FREE_TEXT_PARAMETERS: JsonObject = {
  type: "object",
  properties: {
    [FREE_TEXT_FIELD]: {
      type: "string",
      description: "The whole input of the tool, as plain text",
    },
  },
  required: [FREE_TEXT_FIELD],
  additionalProperties: false,
};

/** The neutral form of a free-text tool. */
export function freeTextTool(
  name: string,
  description: string | undefined,
  grammar: Grammar | undefined,
): FunctionTool {
  const texts = [
    ...(description === undefined ? [] : [description]),
    // A function cannot have a grammar.
    ...(grammar === undefined ? [] : [
      `The value of "${FREE_TEXT_FIELD}" must match this ${
        grammar.syntax === "" ? "" : `${grammar.syntax} `
      }grammar:\n${grammar.definition}`,
    ]),
  ];
  return {
    type: "function",
    name,
    ...(texts.length === 0 ? {} : { description: texts.join("\n\n") }),
    parameters: FREE_TEXT_PARAMETERS,
    freeText: {
      ...(description === undefined ? {} : { description }),
      ...(grammar === undefined ? {} : { grammar }),
    },
  };
}

const NO_NAMES: ReadonlySet<string> = new Set();

/** The names of a request's free-text tools. */
export function freeTextNames(
  { tools }: Pick<GenerationRequest, "tools">,
): ReadonlySet<string> {
  return tools === undefined ? NO_NAMES : new Set(
    tools.flatMap((tool) =>
      tool.type === "function" && tool.freeText !== undefined ? [tool.name] : []
    ),
  );
}

/** The input of a free-text call as JSON arguments. */
export function freeTextArguments(input: string): string {
  return JSON.stringify({ [FREE_TEXT_FIELD]: input });
}

/** The input of a free-text call, from its JSON arguments. */
export function freeTextInput(text: string): string {
  const reader = freeTextReader();
  return reader.push(text) + reader.end();
}

/** Extracts the text from the arguments of one call. */
export interface FreeTextReader {
  /** Reads the next fragment of the arguments; returns the text that it adds, possibly empty. */
  push(fragment: string): string;
  /** Called when the arguments are complete; returns the rest of the text. */
  end(): string;
}

const OPENING = new RegExp(`^\\s*\\{\\s*"${FREE_TEXT_FIELD}"\\s*:\\s*"`);
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

/** Creates the reader for one call. */
export function freeTextReader(): FreeTextReader {
  let all = "";
  let emitted = "";
  /** Position in `all` where the string continues; -1 until its opening quote was found. */
  let at = -1;
  let closed = false;
  const read = (): string => {
    if (closed) return "";
    if (at < 0) {
      const found = OPENING.exec(all);
      if (found === null) return "";
      at = found[0].length;
    }
    let text = "";
    let from = at;
    while (at < all.length) {
      const char = all[at];
      if (char === '"') {
        closed = true;
        break;
      }
      if (char !== "\\") {
        at++;
        continue;
      }
      const escape = all[at + 1];
      const length = escape === "u" ? 6 : 2;
      if (escape === undefined || at + length > all.length) break;
      text += all.slice(from, at);
      text += escape === "u"
        ? String.fromCharCode(parseInt(all.slice(at + 2, at + 6), 16))
        : ESCAPES[escape] ?? escape;
      at += length;
      from = at;
    }
    text += all.slice(from, at);
    return text;
  };
  /**
   * The first half of a surrogate pair is held back until its second half arrives; encoded alone
   * it would be lost.
   */
  let half = "";
  const whole = (text: string): string => {
    const joined = half + text;
    const last = joined.charCodeAt(joined.length - 1);
    const isHalf = last >= 0xd800 && last <= 0xdbff;
    half = isHalf ? joined.slice(-1) : "";
    return isHalf ? joined.slice(0, -1) : joined;
  };
  return {
    push(fragment) {
      all += fragment;
      const text = whole(read());
      emitted += text;
      return text;
    },
    end() {
      const args = parseJson(all);
      const input = isObject(args)
        ? stringIn(args[FREE_TEXT_FIELD])
        : undefined;
      // If the model did not write the expected object, everything that it wrote is the input.
      const text = input ?? (emitted === "" ? all : emitted + half);
      return text.startsWith(emitted) ? text.slice(emitted.length) : half;
    },
  };
}

/** Wraps fragments of text as the arguments of one call. */
export interface FreeTextWriter {
  /** Writes the next fragment of the text; returns the arguments that it adds. */
  push(text: string): string;
  /** Returns the end of the arguments. */
  end(): string;
}

/** Creates the writer for one call. */
export function freeTextWriter(): FreeTextWriter {
  let begun = false;
  const begin = (): string => {
    if (begun) return "";
    begun = true;
    return `{"${FREE_TEXT_FIELD}":"`;
  };
  return {
    push: (text) =>
      text === "" ? "" : `${begin()}${JSON.stringify(text).slice(1, -1)}`,
    end: () => `${begin()}"}`,
  };
}
