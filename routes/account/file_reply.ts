/**
 * A reply with an export, read from the store at the client's pace.
 */
import type { HeaderFields, HttpReply } from "../../gateway/http/http_reply.ts";

/**
 * Sends the pieces of a text as the body. A piece is read when the client has taken the one before,
 * and none after the client has left; at most two are in memory.
 *
 * @throws {ApiError} from the first piece, which is read before the status is sent: a wrong filter
 * or a store that does not answer is an error and not a truncated file
 */
export async function fileReply(
  headers: HeaderFields,
  text: AsyncGenerator<string, void, void>,
): Promise<HttpReply> {
  let first: IteratorResult<string, void> | undefined = await text.next();
  let isCancelled = false;
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      while (!isCancelled) {
        const piece = first ?? await text.next();
        first = undefined;
        if (isCancelled) return;
        if (piece.done === true) return controller.close();
        if (piece.value === "") continue;
        return controller.enqueue(encoder.encode(piece.value));
      }
    },
    async cancel() {
      isCancelled = true;
      await text.return();
    },
  });
  return { status: 200, headers, body, isFile: true };
}
