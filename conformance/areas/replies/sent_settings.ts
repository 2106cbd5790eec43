/** The rule that a setting reaches the model, for every endpoint. */
import {
  readUpstreamRequest,
  type Tuning,
  type UpstreamRequest,
} from "../../evidence/upstream_request.ts";
import { withAt } from "../../faults/change_reply.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Feature } from "../../suite/route.ts";
import { factOf } from "../../suite/finding.ts";
import { sentFor } from "../responses/sent_request.ts";

/**
 * Judges a setting that some models do not take: it is right wherever it is sent, and sent to one
 * and to every upstream of the endpoint's own format.
 */
export function sentWhereTaken(
  pattern: string,
  read: (request: UpstreamRequest) => number | string | undefined,
  value: number | string,
): Check["judge"] {
  return (e) => {
    const all = e.matching(pattern).filter(({ head }) => head?.status === 200)
      .map((x) => [x, read(readUpstreamRequest(sentFor(x)))] as const);
    return [
      ...all.map(([x, found]) =>
        factOf("setting upstream", found, x).mustBe(
          x.via === x.endpoint ? `${value}` : `${value}, or nothing`,
          found === value || (found === undefined && x.via !== x.endpoint),
        )
      ),
      factOf("models that receive it", all.map(([, found]) => found))
        .mustBe(
          "at least one",
          all.some(([, found]) => found === value),
        ),
    ];
  };
}

/** A setting that some vendors have, and its value in the request. */
interface Tuned {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly setting: Tuning;
  readonly value: number | string;
}

/** The upstreams of the endpoint's own format do not receive what is at the path. */
function lostInItsFormat(path: string): Hooks {
  return {
    upstream: (call, { endpoint, via }) =>
      endpoint === via
        ? { ...call, body: withAt(call.body, path, undefined) }
        : call,
  };
}

/** A rule for each setting that some vendors have. */
export function tuningChecks(
  { section, needs, reads, label, put }: {
    readonly section: string;
    readonly needs: Feature;
    readonly reads: string;
    /** The requests that have the settings. */
    readonly label: string;
    /** Requests with another value at the path; without one: with none. */
    readonly put: (path: string, value?: number | string) => Hooks;
  },
  settings: readonly Tuned[],
): readonly Check[] {
  return checksWith(
    { section, mode: "replay", needs, reads: [reads] },
    settings.map(({ id, name, path, setting, value }) => ({
      id,
      rule: `\`${name}\` reaches the model, where it takes it.`,
      judge: sentWhereTaken(label, ({ tuning }) => tuning[setting], value),
      misses: {
        lost: put(path),
        changed: put(path, typeof value === "number" ? value + 1 : "medium"),
        "lost-in-its-format": lostInItsFormat(path),
      },
    })),
  );
}
