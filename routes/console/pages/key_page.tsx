/**
 * One key: how full its limits are, and the way to its calls and changes.
 */
import { isPermitted } from "../../../gateway/accounts/credential_kind.ts";
import type { KeyRecord } from "../../../gateway/accounts/records.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { AccountPageRoute, RouteContext } from "../../route.ts";
import { cutText } from "../parts/data_table.tsx";
import { Facts } from "../parts/facts.tsx";
import { usageLink } from "../parts/figure_links.ts";
import { page } from "../parts/layout.tsx";
import { LimitCards } from "../parts/limit_cards.tsx";
import { Distance, Moment } from "../parts/moment.tsx";
import { ownKey } from "./key_changes.tsx";
import { isUsable, KeyState } from "./keys.tsx";
import { accountPageRoute } from "../http/page_route.ts";

export const KEY_PAGE: AccountPageRoute = accountPageRoute(
  "see_account",
  "GET",
  "/console/keys/:id",
  async (context, visit) =>
    keyPage(context, visit, await ownKey(context, visit), {
      base: "/console",
      acts: isPermitted(visit.holder.kind, "manage")
        ? ["limits", "rotate", "revoke"]
        : [],
    }),
);

/** The page of a key in an area, with the forms that the visitor may use while the key works. */
export async function keyPage(
  context: RouteContext,
  visit: Visit,
  key: KeyRecord,
  { base, acts }: { readonly base: string; readonly acts: readonly string[] },
): Promise<HttpReply> {
  const { gateway } = context;
  const nowMs = gateway.now();
  const state = (await gateway.admin.keyStates([key.id])).get(key.id);
  const list = `${base}/keys`;
  return page(
    context,
    visit,
    {
      title: `Key ${cutText(key.name || key.hint)}`,
      nav: list,
      actions: (
        <>
          <a class="button" href={`${base}/usage?by=model&key=${key.id}`}>
            Usage
          </a>
          <a class="button" href={`${base}/calls?key=${key.id}`}>Calls</a>
          <a class="button" href={`${base}/changes?target=${key.id}`}>
            Changes
          </a>
          {(isUsable(key, nowMs) ? acts : []).map((act) => (
            <a class="button" href={`${list}/${act}/${key.id}`}>
              {`${act[0]?.toUpperCase()}${act.slice(1)}`}
            </a>
          ))}
        </>
      ),
    },
    <>
      {state === undefined
        ? (
          <p class="note">
            It has no limits of its own; those of the account's plan apply.
          </p>
        )
        : (
          <>
            <div class="cards">
              <LimitCards
                use={state.use}
                limits={state.limits}
                of="key"
                nowMs={nowMs}
                {...(key.replaces === undefined
                  ? {
                    linkOf: (from: string, to: string) =>
                      usageLink(base, { from, to, key: key.id }, "model"),
                  }
                  : {})}
              />
            </div>
            {key.replaces === undefined ? null : (
              <p class="soft">
                With what the replaced key had used when it was rotated.
              </p>
            )}
          </>
        )}
      <section class="card">
        <Facts
          of={{
            State: <KeyState item={key} nowMs={nowMs} />,
            Key: <code>{key.hint}</code>,
            Id: <code>{key.id}</code>,
            Models: key.models === undefined ? "all" : key.models.join(", "),
            Made: <Moment atMs={key.createdAtMs} />,
            "Last used": key.lastUsedAtMs === undefined
              ? "never"
              : <Distance atMs={key.lastUsedAtMs} nowMs={nowMs} />,
            Replaces: key.replaces === undefined
              ? null
              : (
                <a href={`${list}/${key.replaces}`}>
                  <code>{key.replaces}</code>
                </a>
              ),
          }}
        />
      </section>
    </>,
  );
}
