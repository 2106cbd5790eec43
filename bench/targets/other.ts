/**
 * Any other gateway that runs already: `--target name=url`.
 *
 * @module
 */
import type { UpstreamDialect } from "../mock_replies.ts";
import {
  CALLER_PATHS,
  isPassThrough,
  siteFor,
  type TargetKind,
} from "./target.ts";

/** How it is reached. */
export interface OtherTarget {
  /** As the tables call it. */
  readonly name: string;
  /** `http://host:port`, with a path where its endpoints are under one. */
  readonly url: URL;
  /** The key and whatever else it wants. */
  readonly headers: Readonly<Record<string, string>>;
  /** What it calls a model whose upstream speaks a dialect; a dialect without one is not measured. None at all: what is not translated. */
  readonly models: Readonly<Partial<Record<UpstreamDialect, string>>>;
  /** Its process on this machine; absent: only times are measured. */
  readonly pid?: number;
}

/** The target. */
export function otherTarget(other: OtherTarget): TargetKind {
  const { name, url, headers, models, pid } = other;
  const knowsModels = Object.keys(models).length > 0;
  return {
    name,
    about: "named on the command line",
    prepare: () =>
      siteFor(() =>
        Promise.resolve({
          ...(pid === undefined ? {} : { pid }),
          address(direction) {
            const model = knowsModels
              ? models[direction.upstream]
              : isPassThrough(direction)
              ? "mock-model"
              : undefined;
            return model === undefined ? undefined : {
              host: url.hostname,
              port: Number(url.port || 80),
              path: url.pathname.replace(/\/+$/, "") +
                CALLER_PATHS[direction.caller],
              headers,
              model,
            };
          },
          [Symbol.asyncDispose]: () => Promise.resolve(),
        })
      ),
  };
}
