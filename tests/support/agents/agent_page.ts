/**
 * The agent's table as text: a line for each session that is not plain, and the section of
 * `docs/agents.md` with a row for each host.
 */
import { STRICT_HOSTS } from "../upstreams/strict_hosts/hosts.ts";
import { type Step, STEPS, type Verdict } from "./agent_session.ts";
import type { TableRow } from "./agent_table.ts";

/** The page whose table is made from the sessions. */
export const AGENT_PAGE = new URL("../../../docs/agents.md", import.meta.url);

/** What a session may lose, by the clients' paths of dropped fields. */
const ABILITIES: readonly (readonly [string, RegExp])[] = [
  [
    "effort",
    /^(?:thinking|reasoning|reasoning_effort|output_config\.effort)$|thinkingConfig$/,
  ],
  ["pictures", /image_url$|content\[\d+\]$|output\[\d+\]$|parts\[\d+\]$/],
  ["schema", /format$|responseJsonSchema$/],
  ["cache marks", /cache_control$/],
  [
    "other settings",
    /^(?:frequency_penalty|metadata|prompt_cache_key|service_tier|store|user)$/,
  ],
  ["earlier reasoning", /reasoning_content$|reasoning_details$|extra_content$/],
];

/** What a verdict is, in a few words. */
export function verdictText({ dropped, refused, faults }: Verdict): string {
  if (faults.length > 0) return `WRONG: ${faults.join("; ")}`;
  if (refused !== undefined) return `refused: ${refused}`;
  return dropped.length === 0 ? "works" : `works without ${dropped.join(", ")}`;
}

/** A line for each session: host, format, form, other host, and its steps. */
export function tableText(rows: readonly TableRow[]): string {
  return rows.map(({ host, client, stream, other, session }) =>
    [
      `${host}, ${client.name}, ${
        stream ? "streamed" : "whole"
      }, moves to ${other}`,
      ...STEPS.flatMap((step) => {
        const verdict = session[step];
        return verdict === undefined
          ? []
          : [`  ${step}: ${verdictText(verdict)}`];
      }),
    ].join("\n")
  ).join("\n");
}

/** The steps at the host itself; what another host loses is in that one's row. */
const OWN_STEPS: readonly Step[] = STEPS.filter((step) =>
  step !== "fail over" && step !== "move"
);

/** What becomes of an ability: it is kept, or named as dropped, in all steps or in some. */
function kept(sessions: readonly TableRow[], ability: RegExp): string {
  const steps = OWN_STEPS.filter((step) =>
    sessions.some(({ session }) =>
      session[step]?.dropped.some((path) => ability.test(path))
    )
  );
  const first = ability.test("format") ? "schema" : OWN_STEPS[0];
  return steps.length === 0 ? "yes" : steps.some((step) => step === first) ||
      steps.includes("results, a text and a picture")
    ? "named"
    : `named: ${steps.join(", ")}`;
}

/** The table of the page. */
export function hostTable(rows: readonly TableRow[]): string {
  const lines = Object.entries(STRICT_HOSTS).map(([name, host]) => {
    const sessions = rows.filter((row) => row.host === name);
    const [refused] = refusals(sessions);
    return [
      `\`${host.preset ?? host.kind}\``,
      `\`${host.model}\``,
      refused === undefined ? "yes" : `“${refused}”`,
      ...ABILITIES.map(([, pattern]) =>
        refused === undefined ? kept(sessions, pattern) : "–"
      ),
    ];
  });
  return markdown([
    ["host", "model", "works", ...ABILITIES.map(([title]) => title)],
    ...lines,
  ]);
}

function refusals(sessions: readonly TableRow[]): readonly string[] {
  return sessions.flatMap(({ session }) =>
    Object.values(session).flatMap(({ refused }) => refused ?? [])
  );
}

/** The dropped paths that belong to no column of the page. */
export function unknownLosses(rows: readonly TableRow[]): readonly string[] {
  const paths = rows.flatMap(({ session }) =>
    Object.values(session).flatMap(({ dropped }) => dropped)
  );
  return [...new Set(paths)].filter((path) =>
    !ABILITIES.some(([, pattern]) => pattern.test(path))
  );
}

/** A table as `deno fmt` writes it. */
function markdown(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((line) => (line[column] ?? "").length))
  );
  const row = (line: readonly string[]): string =>
    `| ${line.map((text, n) => text.padEnd(widths[n] ?? 0)).join(" | ")} |`;
  const [head = [], ...rest] = lines;
  return [
    row(head),
    row(widths.map((width) => "-".repeat(width))),
    ...rest.map(row),
  ].join("\n");
}

const START = "<!-- made by `deno task agents --write` -->";
const END = "<!-- end -->";

/** The page with this table in place of its own. */
export function pageWith(page: string, table: string): string {
  const [before = "", rest = ""] = page.split(START);
  const [, after = ""] = rest.split(END);
  return `${before}${START}\n\n${table}\n\n${END}${after}`;
}
