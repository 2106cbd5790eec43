/**
 * The rows of the live list as plain texts: the page and its event stream show the same.
 */
import { callTimeMs } from "../../../gateway/accounts/calls/call_record.ts";
import type { JustEnded } from "../../../gateway/live/live_call.ts";
import type {
  LivePicture,
  UnderWayAt,
} from "../../../gateway/live/live_picture.ts";
import { endingOf, secondsText } from "./call_ending.tsx";
import { cutText } from "./data_table.tsx";
import type { LiveCell } from "./live_cell.tsx";
import { momentText } from "./moment.tsx";
import { countText, moneyText } from "./money.tsx";

/** A call in a live table. */
export interface LiveRow {
  readonly id: string;
  readonly cells: readonly LiveCell[];
}

/** A column of a live table. */
export interface LiveColumn<T> {
  readonly name: string;
  readonly number?: boolean;
  /** See the columns of tables. */
  readonly isFirst?: boolean;
  readonly wraps?: boolean;
  readonly cell: (call: T) => LiveCell;
}

/** Who looks. */
export interface LiveLook {
  /** Path of the area, without a slash at its end. */
  readonly base: string;
  /** Whether accounts and upstreams are shown. */
  readonly isOperator: boolean;
  /** Names of the account's keys, by id. */
  readonly keyNames: ReadonlyMap<string, string>;
}

/** A silence beyond it is marked. */
const SILENT_MS = 10_000;
/** A wait for the first byte beyond it is marked. */
const SLOW_MS = 30_000;

/** The columns of the calls under way at a Unix time in milliseconds. */
export function underWayColumns(
  look: LiveLook,
  nowMs: number,
): readonly LiveColumn<UnderWayAt>[] {
  const since = (ms: number): number => Math.max(0, nowMs - ms);
  const all: readonly (LiveColumn<UnderWayAt> | undefined)[] = [
    {
      name: "Age",
      isFirst: true,
      cell: ({ arrivedMs, requestId }) =>
        callCell(look, requestId, secondsText(since(arrivedMs))),
    },
    look.isOperator ? ACCOUNT : ENDPOINT,
    MODEL,
    { name: "Phase", isFirst: true, cell: (call) => phase(call, nowMs) },
    {
      name: "First token",
      number: true,
      cell: ({ firstTokenMs, arrivedMs }) => ({
        text: secondsText(
          firstTokenMs === undefined ? undefined : firstTokenMs - arrivedMs,
        ),
      }),
    },
    {
      name: "Last byte",
      number: true,
      cell: ({ lastByteMs }) => ({
        text: lastByteMs === undefined
          ? "–"
          : `${secondsText(since(lastByteMs))} ago`,
      }),
    },
    {
      name: "Tokens out",
      number: true,
      cell: ({ outputTokens, estimated }) => ({
        text: `${estimated ? "≈ " : ""}${countText(outputTokens)}`,
      }),
    },
    look.isOperator
      ? {
        name: "Upstream",
        wraps: true,
        cell: ({ upstream, attempts }) => ({
          text: attempts > 1 ? `${upstream}, attempt ${attempts}` : upstream,
        }),
      }
      : keyColumn(look),
  ];
  return all.filter((one) => one !== undefined);
}

/** The columns of the calls that have just ended. */
export function endedColumns(
  look: LiveLook,
): readonly LiveColumn<JustEnded>[] {
  const all: readonly (LiveColumn<JustEnded> | undefined)[] = [
    {
      name: "Time (UTC)",
      isFirst: true,
      cell: ({ requestId }) =>
        callCell(
          look,
          requestId,
          momentText(callTimeMs(requestId)).slice(11),
        ),
    },
    look.isOperator ? ACCOUNT : ENDPOINT,
    MODEL,
    { name: "Ended", isFirst: true, cell: ending },
    {
      name: "Whole",
      number: true,
      cell: ({ durationMs }) => ({ text: secondsText(durationMs) }),
    },
    {
      name: "First token",
      number: true,
      cell: ({ firstTokenMs }) => ({ text: secondsText(firstTokenMs) }),
    },
    {
      name: "Cost",
      number: true,
      cell: ({ microUsd, estimated }) => ({
        text: `${estimated ? "≈ " : ""}${moneyText(microUsd, 6)}`,
      }),
    },
    look.isOperator
      ? {
        name: "Upstream",
        wraps: true,
        cell: ({ upstream }) => ({ text: upstream ?? "–" }),
      }
      : keyColumn(look),
  ];
  return all.filter((one) => one !== undefined);
}

/** The rows of calls. */
export function liveRows<T extends { readonly requestId: string }>(
  columns: readonly LiveColumn<T>[],
  calls: readonly T[],
): readonly LiveRow[] {
  return calls.map((call) => ({
    id: call.requestId,
    cells: columns.map(({ cell }) => cell(call)),
  }));
}

/** What a picture holds, in a sentence. */
export function liveNote(
  { complete, processes, underWay, ended }: LivePicture,
): string {
  const left = underWay.leftOut + ended.leftOut;
  return [
    complete
      ? `${countText(underWay.data.length + underWay.leftOut)} under way in ${
        countText(processes)
      } ${processes === 1 ? "process" : "processes"}.`
      : "The store does not answer: only calls of this process.",
    left === 0
      ? ""
      : `${countText(underWay.leftOut)} calls under way and ${
        countText(ended.leftOut)
      } that just ended are left out.`,
  ].join(" ").trim();
}

const ACCOUNT = {
  name: "Account",
  wraps: true,
  cell: ({ accountId }: { readonly accountId: string }): LiveCell => ({
    text: cutText(accountId),
    foreign: true,
    href: `/console/operator/accounts/${encodeURIComponent(accountId)}`,
  }),
};

const ENDPOINT = {
  name: "Endpoint",
  cell: ({ endpoint }: { readonly endpoint: string }): LiveCell => ({
    text: endpoint,
  }),
};

/** The link to the page of a call, which shows also those under way. */
function callCell(
  { base }: LiveLook,
  requestId: string,
  text: string,
): LiveCell {
  const href = `${base}/calls/${encodeURIComponent(requestId)}`;
  return { text, href, note: requestId };
}

const MODEL = {
  name: "Model",
  wraps: true,
  cell: ({ model }: { readonly model?: string | undefined }): LiveCell => ({
    text: cutText(model ?? "–"),
    foreign: true,
  }),
};

function keyColumn(
  { keyNames }: LiveLook,
): LiveColumn<{ readonly keyId: string }> {
  return {
    name: "Key",
    wraps: true,
    cell: ({ keyId }) => ({
      text: cutText(keyNames.get(keyId) ?? keyId),
      foreign: true,
    }),
  };
}

function phase(call: UnderWayAt, nowMs: number): LiveCell {
  switch (call.phase) {
    case "waiting": {
      const isSlow = nowMs - call.arrivedMs >= SLOW_MS;
      return { text: "waits for a reply", tag: isSlow ? "bad" : "warn" };
    }
    case "client":
      return { text: "the client does not read", tag: "warn" };
    case "streaming": {
      const { lastByteMs, arrivedMs, stream } = call;
      const isSilent = stream &&
        nowMs - (lastByteMs ?? arrivedMs) >= SILENT_MS;
      return isSilent
        ? { text: "silent", tag: "bad" }
        : { text: "streams", tag: "ok" };
    }
  }
}

function ending({ outcome, ended, status, code }: JustEnded): LiveCell {
  return endingOf(outcome ?? ended, status, code);
}
