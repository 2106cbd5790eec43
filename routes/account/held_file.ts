/**
 * Files that clients read at their own pace, such as exports: each holds a slot until its end, and
 * a client that leaves its file unread is cut off.
 */
import type { Gateway } from "../../gateway/gateway.ts";
import type { HttpReply } from "../../gateway/http/http_reply.ts";
import type { TimerId } from "../../gateway/timers.ts";
import { ApiError } from "../../translate/model/error.ts";

/**
 * A reply of a credential; one that is a file holds a slot while it is read.
 *
 * @throws {ApiError} `rate_limit` if too many files are being read
 */
export async function heldFile(
  { fileSlots, timers, config }: Pick<
    Gateway,
    "fileSlots" | "timers" | "config"
  >,
  credential: string,
  reply: HttpReply,
): Promise<HttpReply> {
  const { body } = reply;
  if (reply.isFile !== true || !(body instanceof ReadableStream)) return reply;
  let release: () => void;
  try {
    release = fileSlots.take(credential);
  } catch (error) {
    await body.cancel();
    throw error;
  }
  const reader = body.getReader();
  let stall: TimerId | undefined;
  const wait = (controller: ReadableStreamDefaultController): void => {
    stall = timers.set(() => {
      release();
      controller.error(
        new ApiError("timeout", "the client left its file unread"),
      );
      reader.cancel().catch(() => {});
    }, config.slowReaderMs);
  };
  const goOn = (): void => {
    if (stall !== undefined) timers.clear(stall);
  };
  return {
    ...reply,
    body: new ReadableStream<Uint8Array>({
      start: wait,
      async pull(controller) {
        goOn();
        try {
          const { done, value } = await reader.read();
          if (!done) {
            controller.enqueue(value);
            return wait(controller);
          }
          controller.close();
        } catch (error) {
          controller.error(error);
        }
        release();
      },
      async cancel() {
        goOn();
        release();
        await reader.cancel();
      },
    }, { highWaterMark: 0 }),
  };
}
