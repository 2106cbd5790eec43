/**
 * Writes AWS's binary event streams with AWS's own library.
 */
import { EventStreamCodec } from "@smithy/eventstream-codec";

const CODEC = new EventStreamCodec(
  (bytes) =>
    typeof bytes === "string" ? bytes : new TextDecoder().decode(bytes),
  (text) => new TextEncoder().encode(text),
);

/** A frame with text headers. */
export function awsFrame(
  headers: Readonly<Record<string, string>>,
  body: string,
): Uint8Array {
  return CODEC.encode({
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, {
        type: "string" as const,
        value,
      }]),
    ),
    body: new TextEncoder().encode(body),
  });
}

/** A frame of `InvokeModelWithResponseStream`: the event in base64, padded as Bedrock pads. */
export function chunkFrame(event: string): Uint8Array {
  const bytes = new TextEncoder().encode(event);
  const base64 = btoa(
    Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""),
  );
  return awsFrame({
    ":event-type": "chunk",
    ":content-type": "application/json",
    ":message-type": "event",
  }, JSON.stringify({ bytes: base64, p: "abcdefgh" }));
}

/** A frame that ends a stream with a failure. */
export function exceptionFrame(type: string, message: string): Uint8Array {
  return awsFrame({
    ":exception-type": type,
    ":content-type": "application/json",
    ":message-type": "exception",
  }, JSON.stringify({ message }));
}
