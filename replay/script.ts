/**
 * A script is the reply to one request as plain data: a status, headers, and steps in order.
 * `answer.ts` chooses scripts, `connection.ts` plays them; nothing here touches a socket.
 */

/** One request as it arrived, not interpreted. */
export interface ReplayRequest {
  /** HTTP method in capitals. */
  readonly method: string;
  /** The request target as received: path and query. */
  readonly path: string;
  /** Lower-case names; a repeated header is joined with ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** The body decoded as UTF-8; "" when there is none. */
  readonly body: string;
  /**
   * How often the same marker and nonce have arrived, including this request; absent without a
   * nonce.
   */
  readonly attempt?: number;
}

export type End =
  /** The body ends properly; the connection stays open for the next request. */
  | "keep-alive"
  /** The body ends properly (final chunk), then the connection is closed. */
  | "fin"
  /** The connection is reset. */
  | "rst"
  /** The connection is closed without the final chunk. */
  | "no-final-chunk"
  /** Nothing more is sent; the exchange lasts until the client hangs up. */
  | "hold";

/**
 * One action of the server. Steps before the first `head` or `bytes` happen before the status line
 * is sent.
 */
export type ScriptStep =
  /**
   * Sends the status line and headers; implied by the first `bytes` and by the ends "keep-alive"
   * and "fin".
   */
  | { readonly step: "head" }
  /**
   * Sends bytes as one write; with `edge`, waits 1-2 ms afterwards so that the client reads them
   * separately.
   */
  | {
    readonly step: "bytes";
    readonly bytes: Uint8Array;
    readonly edge?: boolean;
  }
  | { readonly step: "wait"; readonly ms: number }
  /** Waits until the gate of that name is opened. */
  | { readonly step: "gate"; readonly name: string }
  /** Ends the reply; a script without this step ends as "keep-alive". */
  | { readonly step: "end"; readonly how: End };

/**
 * How the body is delimited: `length` by its true content-length, `chunked` with one chunk per
 * write, `close` by the end of the connection; a number is sent as content-length, right or wrong.
 */
export type Framing = "chunked" | "length" | "close" | number;

export interface Script {
  readonly status: number;
  /** Headers except those that delimit the body. */
  readonly headers: Readonly<Record<string, string>>;
  readonly framing: Framing;
  readonly steps: readonly ScriptStep[];
}

/** A script, or a function that makes one from the request. */
export type ScriptSource = Script | ((request: ReplayRequest) => Script);

const encoder = new TextEncoder();

/** A step that sends a text as one write. */
export function bytes(text: string): ScriptStep {
  return { step: "bytes", bytes: encoder.encode(text) };
}

/** A whole reply with a content-length. */
export function wholeScript(
  status: number,
  contentType: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Script {
  return {
    status,
    headers: { "content-type": contentType, ...headers },
    framing: "length",
    steps: body === "" ? [] : [bytes(body)],
  };
}

/** A whole JSON reply with a content-length. */
export function jsonScript(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Script {
  return wholeScript(status, "application/json", JSON.stringify(body), headers);
}

/** A streamed reply: every frame is its own chunk and its own write. */
export function streamScript(
  frames: readonly string[],
  contentType: string = "text/event-stream; charset=utf-8",
  headers: Readonly<Record<string, string>> = {},
): Script {
  return {
    status: 200,
    headers: {
      "content-type": contentType,
      "cache-control": "no-cache",
      ...headers,
    },
    framing: "chunked",
    steps: frames.map(bytes),
  };
}
