/**
 * A script is what the replay server does with one request, as plain data: a status, headers, and steps in order.
 * Nothing here touches a socket; `connection.ts` plays scripts, `answer.ts` chooses them.
 */

/** One request as it arrived, with nothing interpreted. */
export interface ReplayRequest {
  /** The method in capitals. */
  readonly method: string;
  /** The request target as received: path and query. */
  readonly path: string;
  /** Lower-case names; a repeated header is joined with ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** The body decoded as UTF-8; "" when there is none. */
  readonly body: string;
  /** How often this marker with this nonce has arrived, this time included; absent without a nonce. */
  readonly attempt?: number;
}

/** How the bytes of an exchange stop. */
export type End =
  /** The body ends properly; the connection stays open for the next request. */
  | "keep-alive"
  /** The body ends properly (final chunk), then the connection is closed. */
  | "fin"
  /** The connection is reset. */
  | "rst"
  /** The connection is closed without the final chunk. */
  | "no-final-chunk"
  /** Nothing more is sent; the exchange lasts until the caller hangs up. */
  | "hold";

/** One thing the server does. Steps before the first `head` or `bytes` step happen before the status line is sent. */
export type Step =
  /** Sends status and headers now; implied by the first `bytes` and by an end that is proper. */
  | { readonly step: "head" }
  /** Sends bytes as one write; with `edge`, what follows waits (1-2 ms) so that it arrives as a read of its own. */
  | {
    readonly step: "bytes";
    readonly bytes: Uint8Array;
    readonly edge?: boolean;
  }
  /** Sleeps. */
  | { readonly step: "wait"; readonly ms: number }
  /** Waits until the gate of that name is opened; a gate stays open. */
  | { readonly step: "gate"; readonly name: string }
  /** Stops; without this step a script ends as "keep-alive". */
  | { readonly step: "end"; readonly how: End };

/**
 * How the length of the body is told: `length` counts the bytes, `chunked` frames every write, `close` says nothing,
 * and a number is sent as `content-length` whether it is true or not.
 */
export type Framing = "chunked" | "length" | "close" | number;

/** A whole exchange from the vendor's side. */
export interface Script {
  /** Status of the reply. */
  readonly status: number;
  /** Headers besides those that tell the length. */
  readonly headers: Readonly<Record<string, string>>;
  /** How the length is told. */
  readonly framing: Framing;
  /** What happens, in order. */
  readonly steps: readonly Step[];
}

/** A script, or how to make one from the request. */
export type ScriptSource = Script | ((request: ReplayRequest) => Script);

const encoder = new TextEncoder();

/** Writes text as one segment. */
export function bytes(text: string): Step {
  return { step: "bytes", bytes: encoder.encode(text) };
}

/** A whole reply of known length. */
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

/** A whole JSON reply. */
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
