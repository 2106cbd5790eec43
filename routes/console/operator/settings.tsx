/**
 * The settings in force in this process, to read. No page changes a setting: it decides what the
 * process may do.
 */
import type { Children, JSX } from "../jsx.d.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import { SETTING_DESCRIPTIONS } from "../../../gateway/settings/setting_descriptions.ts";
import type { SettingInForce } from "../../../gateway/settings/settings_in_force.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import { DataTable } from "../parts/data_table.tsx";
import { page } from "../parts/layout.tsx";
import { Moment } from "../parts/moment.tsx";
import { operatorPageRoute } from "../http/page_route.ts";

/** Every setting with its value, default and source; served from memory. */
export const SETTINGS_PAGE: OperatorPageRoute = operatorPageRoute(
  "GET",
  "/console/operator/settings",
  settingsPage,
);

function settingsPage(context: RouteContext, visit: Visit): HttpReply {
  const { config, configuredAtMs } = context.gateway;
  return page(
    context,
    visit,
    {
      title: "Settings",
      about:
        "In force in this process. They are environment variables, set where the gateway is started.",
      actions: (
        <a
          class="button"
          href="/console/operator/changes?action=configuration.load"
        >
          Changes
        </a>
      ),
    },
    <>
      <section class="card">
        <h2>Configuration file</h2>
        <p>
          {config.configHash === undefined ? "None" : (
            <>
              <code>{config.configFile}</code>, version{" "}
              <code>{config.configHash}</code>
            </>
          )}; in force since <Moment atMs={configuredAtMs} />.
        </p>
        <p class="soft">
          <code>docs/configuration.md#settings</code> has the same table.
        </p>
      </section>
      <section class="card">
        <DataTable<SettingInForce>
          name="Settings"
          rows={config.settings}
          columns={[
            {
              name: "Setting",
              cell: ({ name }) => <code id={name}>{name}</code>,
            },
            {
              name: "Value",
              wraps: true,
              cell: (setting) => <ValueOf setting={setting} />,
            },
            { name: "From", cell: ({ source }) => <Source source={source} /> },
            {
              name: "Default",
              wraps: true,
              cell: ({ name }) => words(SETTING_DESCRIPTIONS[name].default),
            },
            {
              name: "Meaning",
              wraps: true,
              cell: ({ name }) => words(SETTING_DESCRIPTIONS[name].meaning),
            },
          ]}
        />
      </section>
    </>,
  );
}

function ValueOf(
  { setting: { value, isSecret, isSet } }: { readonly setting: SettingInForce },
): JSX.Element {
  if (isSecret && isSet) return <span class="tag ok">set</span>;
  return value === undefined
    ? <span class="soft">not set</span>
    : <code>{value}</code>;
}

function Source(
  { source }: { readonly source: SettingInForce["source"] },
): JSX.Element {
  return source === "default"
    ? <span class="soft">default</span>
    : <b>{SOURCES[source]}</b>;
}

const SOURCES = {
  environment: "environment",
  secret_file: "file of its own",
  file: "configuration file",
} as const;

/** One line of Markdown: code between backquotes, links as their text. */
function words(markdown: string): Children {
  return markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").split("`")
    .map((text, at) => at % 2 === 1 ? <code key={at}>{text}</code> : text);
}
