/**
 * The live list on a page, and its event stream. Without JavaScript the list is as of the page, and
 * a link loads it again.
 */
import type { JSX } from "../jsx.d.ts";
import type { Admin } from "../../../gateway/accounts/repositories/admin.ts";
import type { AccountScope } from "../../../gateway/admin/account_scope.ts";
import type { JustEnded } from "../../../gateway/live/live_call.ts";
import type { LivePicture } from "../../../gateway/live/live_picture.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import { liveStream } from "../../account/live_stream.ts";
import type { RouteContext } from "../../route.ts";
import { sessionCookie } from "../http/cookies.ts";
import { DataTable } from "./data_table.tsx";
import { LiveText } from "./live_cell.tsx";
import {
  endedColumns,
  type LiveColumn,
  type LiveLook,
  liveNote,
  type LiveRow,
  liveRows,
  underWayColumns,
} from "./live_rows.ts";
import { Moment, momentText } from "./moment.tsx";
import { areaOf, requireConsole } from "../http/page_access.ts";
import { PAGE_HEADERS } from "../http/page_headers.ts";
import { requireOwnPage } from "../http/same_origin.ts";

/** What a live list on a page shows. */
interface LiveSectionProps {
  readonly look: LiveLook;
  readonly picture: LivePicture;
  /** The ended calls of the page; absent: those of the picture. */
  readonly ended?: readonly JustEnded[];
  /** Address of the event stream. */
  readonly events: string;
  /** Address that loads the page again. */
  readonly refresh: string;
  readonly title: string;
  readonly endedTitle: string;
  /** Shown while there is nothing else. */
  readonly empty: string;
}

export function LiveSection(
  { look, picture, ended, events, refresh, title, endedTitle, empty }:
    LiveSectionProps,
): JSX.Element {
  const underWay = picture.underWay.data;
  const ends = ended ?? picture.ended.data;
  return (
    <section class="card" data-live={events}>
      <div class="head">
        <h2>{title}</h2>
        <div class="acts">
          <span class="soft" role="status" data-live-state></span>
          <span class="soft">
            As of{" "}
            <span data-live-time>
              <Moment atMs={picture.atMs} of="clock" /> UTC
            </span>
          </span>
          <span data-live-pause hidden>
            <button type="button">Pause</button>
          </span>
          <a class="button" href={refresh}>Refresh</a>
        </div>
      </div>
      <p class="soft" data-live-note>{liveNote(picture)}</p>
      <p data-live-empty hidden={underWay.length + ends.length > 0}>{empty}</p>
      <LiveTable
        name={title}
        part="under_way"
        columns={underWayColumns(look, picture.atMs)}
        calls={underWay}
      />
      <div data-live-ended hidden={ends.length === 0}>
        <h3>{endedTitle}</h3>
        <LiveTable
          name={endedTitle}
          part="ended"
          columns={endedColumns(look)}
          calls={ends}
        />
      </div>
    </section>
  );
}

function LiveTable<T extends { readonly requestId: string }>(
  { name, part, columns, calls }: {
    readonly name: string;
    readonly part: "under_way" | "ended";
    readonly columns: readonly LiveColumn<T>[];
    readonly calls: readonly T[];
  },
): JSX.Element {
  return (
    <div data-live-table={part} hidden={calls.length === 0}>
      <DataTable
        name={name}
        rows={liveRows(columns, calls)}
        columns={columns.map((column, at) => ({
          name: column.name,
          ...(column.number === true ? { number: true } : {}),
          ...(column.isFirst === true ? { isFirst: true } : {}),
          ...(column.wraps === true ? { wraps: true } : {}),
          cell: ({ cells }: LiveRow) => (
            <LiveText cell={cells[at] ?? { text: "" }} />
          ),
        }))}
      />
    </div>
  );
}

/**
 * The event stream of a live list: the rows as texts. It ends with the session.
 *
 * @throws {ApiError} `permission` for a page of another origin; `rate_limit` if too many are open
 */
export async function liveEvents(
  context: RouteContext,
  visit: Visit,
  scope: Partial<AccountScope>,
  base: string,
): Promise<HttpReply> {
  requireOwnPage(context.request);
  const look = await lookOf(context, scope, base);
  const console = requireConsole(context);
  const area = areaOf(context.path);
  const secret = sessionCookie(context, area);
  return liveStream(context, {
    visitor: visit.session.id,
    scope,
    check: async () =>
      secret !== undefined &&
      await console.session(area, secret, false) !== undefined,
    render: (picture) => eventData(look, picture),
  }, PAGE_HEADERS);
}

function eventData(look: LiveLook, picture: LivePicture): string {
  const { atMs, underWay, ended } = picture;
  return JSON.stringify({
    time: `${momentText(atMs).slice(11)} UTC`,
    note: liveNote(picture),
    under_way: liveRows(underWayColumns(look, atMs), underWay.data),
    ended: liveRows(endedColumns(look), ended.data),
  });
}

/** Who looks; without the names of keys while the store is down. */
export async function lookOf(
  { gateway }: RouteContext,
  scope: Partial<AccountScope>,
  base: string,
): Promise<LiveLook> {
  return {
    base,
    isOperator: base.endsWith("/operator"),
    keyNames: scope.accountId === undefined
      ? new Map()
      : await ownKeyNames(gateway.admin, scope).catch(() => new Map()),
  };
}

/** Calls to come may be of any key. */
async function ownKeyNames(
  admin: Admin,
  { accountId, keyId }: Partial<AccountScope>,
): Promise<ReadonlyMap<string, string>> {
  if (keyId !== undefined || accountId === undefined) return new Map();
  const { data } = await admin.keys.list({ limit: 1000, accountId });
  return new Map(
    data.map(({ id, name, hint }) => [id, name === "" ? hint : name]),
  );
}
