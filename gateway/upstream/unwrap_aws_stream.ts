/**
 * The body of AWS's binary event streams as event-stream text.
 */
import type { UpstreamDialect } from "../../translate/dialect.ts";
import { AwsEventStream } from "../../translate/stream/aws_event_stream.ts";
import type { ByteSink, ByteSource } from "./http/byte_source.ts";

/**
 * Wraps a body. An exception, a wrong checksum and a cut inside a frame are failures of the body.
 *
 * @param dialect decodes exceptions
 */
export function unwrapAwsStream(
  source: ByteSource,
  dialect: UpstreamDialect,
): ByteSource {
  const stream = new AwsEventStream(dialect.decodeError);
  const read = async (): Promise<Uint8Array | undefined> => {
    for (;;) {
      if (stream.error !== undefined) throw stream.error;
      const chunk = await source.read();
      if (chunk === undefined) {
        stream.end();
        if (stream.error !== undefined) throw stream.error;
        return undefined;
      }
      const text = stream.push(chunk);
      if (stream.error !== undefined) source.cancel();
      if (text.length > 0) return text;
    }
  };
  return {
    read,
    pushTo: (sink) => {
      if (stream.error !== undefined) sink.onError(stream.error);
      else source.pushTo(unwrappingSink(stream, source, sink));
    },
    pause: () => source.pause(),
    resume: () => source.resume(),
    countOnlyFrames: () => source.countOnlyFrames(),
    cancel: () => source.cancel(),
  };
}

function unwrappingSink(
  stream: AwsEventStream,
  source: ByteSource,
  sink: ByteSink,
): ByteSink {
  let hasFailed = false;
  const fail = (error: unknown): void => {
    // A source may report its own cancellation as a failure.
    if (hasFailed) return;
    hasFailed = true;
    sink.onError(error);
  };
  return {
    onChunk(bytes) {
      if (hasFailed) return;
      const text = stream.push(bytes);
      if (text.length > 0) sink.onChunk(text);
      if (stream.error === undefined) return;
      fail(stream.error);
      source.cancel();
    },
    onEnd() {
      if (hasFailed) return;
      stream.end();
      if (stream.error === undefined) sink.onEnd();
      else fail(stream.error);
    },
    onError: fail,
  };
}
