/**
 * Any other gateway that is already running: `--target=NAME=URL`.
 */
import { compact } from "../../replay/compact.ts";
import type { UpstreamDialect } from "../mock/mock_bodies.ts";
import {
  CALLER_PATHS,
  isPassThrough,
  siteFor,
  type TargetKind,
} from "./target.ts";

/** A gateway that was started elsewhere. */
export interface OtherTarget {
  /** Name in the tables. */
  readonly name: string;
  /** Base URL: `http://host:port`, and a path when its endpoints have a prefix. */
  readonly url: URL;
  /** Request headers, such as the key. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Model id for each upstream dialect; directions to a dialect without one are not measured. When
   * empty, only directions without translation are measured.
   */
  readonly models: Readonly<Partial<Record<UpstreamDialect, string>>>;
  /** Id of its process on this machine; absent: only times are measured. */
  readonly pid?: number;
}

/** Makes a target of a running gateway. */
export function otherTarget(other: OtherTarget): TargetKind {
  const { name, url, headers, models, pid } = other;
  const knowsModels = Object.keys(models).length > 0;
  return {
    name,
    about: "named on the command line",
    prepare: () =>
      siteFor(() =>
        Promise.resolve({
          ...compact({ pid }),
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
