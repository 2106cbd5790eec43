/**
 * Reads an HTTP/1.1 or 1.0 response from bytes that arrive in any pieces: its head, then its body in any
 * framing.
 */
import type { Header } from "../evidence/exchange.ts";

/** A response head, and the bytes of the body that came with it. */
interface ReadHead {
  readonly status: number;
  /** All headers in order, names in lower case. */
  readonly headers: readonly Header[];
  /** True for HTTP/1.0, whose connections end with a reply. */
  readonly isOld: boolean;
  /** Bytes read beyond the head. */
  readonly rest: Uint8Array;
}

const decoder = new TextDecoder("latin1");
/** The end of HTTP on the connection: a web socket follows. */
const SWITCHING = 101;

/**
 * Reads a head; interim replies (1xx, but not a change of the protocol) are skipped.
 * @throws when the connection ends first, or the bytes are not HTTP
 */
export async function readHead(
  pieces: AsyncGenerator<Uint8Array>,
): Promise<ReadHead> {
  let seen: Uint8Array = new Uint8Array();
  for (;;) {
    const text = decoder.decode(seen);
    const end = text.indexOf("\r\n\r\n");
    if (end === -1) {
      const next = await pieces.next();
      if (next.done === true) {
        throw new Error(
          seen.length === 0
            ? "the connection was closed without a reply"
            : "the connection was closed inside the response head",
        );
      }
      seen = join(seen, next.value);
      continue;
    }
    const [first = "", ...lines] = text.slice(0, end).split("\r\n");
    const match = /^HTTP\/1\.([01]) (\d{3})/.exec(first);
    if (match === null) {
      throw new Error(`the reply is not HTTP: ${first.slice(0, 80)}`);
    }
    const status = Number(match[2]);
    seen = seen.subarray(end + 4);
    if (status >= 100 && status < 200 && status !== SWITCHING) continue;
    const headers = lines.map((line): Header => {
      const colon = line.indexOf(":");
      return [
        line.slice(0, colon).trim().toLowerCase(),
        line.slice(colon + 1).trim(),
      ];
    });
    return { status, headers, isOld: match[1] === "0", rest: seen };
  }
}

/** The input of `readBody()`. */
interface BodySource extends Omit<ReadHead, "isOld"> {
  /** The request's method: a reply to HEAD has no body. */
  readonly method: string;
  readonly pieces: AsyncGenerator<Uint8Array>;
}

/** Reads a body and passes its pieces to `take`; false when it ended before its framing did. */
export async function readBody(
  source: BodySource,
  take: (piece: Uint8Array) => void,
): Promise<boolean> {
  const { headers, status, method } = source;
  const value = (name: string): string | undefined =>
    headers.find(([key]) => key === name)?.[1];
  // What follows is no HTTP.
  if (status === SWITCHING) return true;
  if (method === "HEAD" || status === 204 || status === 304) {
    // Such a reply has no body; bytes that follow nevertheless are recorded. The request asked the
    // target to close the connection.
    for await (const piece of following(source)) take(piece);
    return true;
  }
  if (/chunked/i.test(value("transfer-encoding") ?? "")) {
    return await readChunks(source, take);
  }
  const declaredLength = value("content-length");
  let left = declaredLength === undefined ? Infinity : Number(declaredLength);
  for await (const piece of following(source)) {
    take(piece.subarray(0, left));
    left -= piece.length;
    if (left <= 0) return true;
  }
  return left === Infinity || left <= 0;
}

async function* following(
  { rest, pieces }: BodySource,
): AsyncGenerator<Uint8Array> {
  yield rest;
  yield* pieces;
}

async function readChunks(
  source: BodySource,
  take: (piece: Uint8Array) => void,
): Promise<boolean> {
  let seen: Uint8Array = new Uint8Array();
  for await (const piece of following(source)) {
    seen = join(seen, piece);
    for (;;) {
      const lineEnd = decoder.decode(seen.subarray(0, 64)).indexOf("\r\n");
      if (lineEnd === -1) break;
      const size = parseInt(decoder.decode(seen.subarray(0, lineEnd)), 16);
      if (Number.isNaN(size)) return false;
      if (size === 0) return true;
      if (seen.length < lineEnd + 4 + size) break;
      take(seen.slice(lineEnd + 2, lineEnd + 2 + size));
      seen = seen.subarray(lineEnd + 4 + size);
    }
  }
  return false;
}

function join(left: Uint8Array, right: Uint8Array): Uint8Array {
  if (left.length === 0) return right;
  const both = new Uint8Array(left.length + right.length);
  both.set(left);
  both.set(right, left.length);
  return both;
}
