/** One run, from the settings to the exit code. */
import { compact } from "@model-gateway/replay/compact";
import { CHECKS } from "../areas/checks.ts";
import { Redaction } from "../evidence/redaction.ts";
import type { Exchange } from "../evidence/exchange.ts";
import { type ReplayServer, startReplay } from "@model-gateway/replay";
import { SCENARIOS } from "../areas/scenarios.ts";
import { Budget, type Cost, usdOf } from "../suite/budget.ts";
import {
  chooseChecks,
  chooseScenarios,
  planText,
  withoutLacking,
} from "./choose.ts";
import { discover } from "./discover.ts";
import { readExpectedFailures, staleEntries } from "./expected_failures.ts";
import { causesText } from "../reports/causes.ts";
import { explain, quoted, transcript } from "../reports/explain.ts";
import { failureTexts, SHOWN_IN_FULL } from "../reports/failure_list.ts";
import { goneText } from "../reports/gone.ts";
import { judge, type Result } from "./judge.ts";
import { repeatedText } from "../reports/repeated.ts";
import { play, type PlayOptions } from "./play.ts";
import { htmlReport } from "../reports/report_html.ts";
import { jsonReport, junitReport, type RunReport } from "../reports/reports.ts";
import { RateLimitWait } from "../suite/rate_limit.ts";
import type { Screen } from "../reports/screen.ts";
import { sharedReplyText } from "./shared_reply.ts";
import { checkReplay } from "./self_check.ts";
import { helpText, type Settings, UsageError } from "./settings.ts";
import { countOf, summaryTable } from "../reports/summary.ts";
import { type OwnGateway, startOwnGateway, UPSTREAM_CANARY } from "./target.ts";

export const EXIT = {
  conformant: 0,
  nonconformant: 1,
  usage: 2,
  unreachable: 3,
  suiteFault: 4,
  partial: 5,
} as const;

/**
 * The caps of a live run by default; the plan of a full run stays below them, so that it does not
 * end as partial. The limit on requests is high because more than half of them are refused before
 * they reach a model; tokens and dollars limit the bill.
 */
export const LIVE_CAPS = {
  requests: 600,
  outputTokens: 22_000,
  usd: 3,
} as const;
/** The address of `deno task start`, which without vendor keys answers from the same fixtures. */
const STARTED_BY_HAND = "http://127.0.0.1:8787";
const WIDTH = { live: 4, replay: 8 } as const;
const TIMEOUT_MS = { live: 60_000, replay: 10_000 } as const;

export async function run(settings: Settings, screen: Screen): Promise<number> {
  if (settings.help) {
    screen.line(helpText());
    return EXIT.conformant;
  }
  const live = settings.baseUrl !== undefined && settings.replay === undefined;
  const mode = live ? "live" : "replay";
  const wanted = chooseChecks(CHECKS, mode, settings.levels, settings.filters)
    .filter(({ needs }) =>
      needs === undefined || (settings.endpoints?.has(needs) ?? true)
    );
  if (wanted.length === 0) {
    throw new UsageError("no check matches: nothing would be judged");
  }
  if (settings.list) {
    for (const { id, level, mode: where, rule } of wanted) {
      screen.line(`${id}  ${level}, ${where}  "${rule.text}"`);
    }
    return EXIT.conformant;
  }
  const expected = settings.expectedFailures === undefined
    ? new Set<string>()
    : readExpectedFailures(await readList(settings.expectedFailures), CHECKS);
  if (settings.baseUrl !== undefined && settings.apiKey === undefined) {
    throw new UsageError("a key is needed: CONFORMANCE_API_KEY or --api-key");
  }
  if (live) return await runAgainst(undefined, undefined);
  const replay = await openReplay(settings);
  let own: OwnGateway | undefined;
  try {
    const problems = await checkReplay(replay);
    if (problems.length > 0) {
      screen.line(`The replay server is faulty: ${problems.join("; ")}`);
      return EXIT.suiteFault;
    }
    own = settings.baseUrl === undefined
      ? await startOwnGateway(replay.url)
      : undefined;
    return await runAgainst(replay, own);
  } finally {
    await own?.stop();
    await replay.close();
  }

  async function runAgainst(
    upstream: ReplayServer | undefined,
    gateway: OwnGateway | undefined,
  ): Promise<number> {
    const startMs = performance.now();
    const startedAt = new Date().toISOString();
    const redaction = new Redaction();
    const key = gateway?.key ?? settings.apiKey ?? "";
    redaction.hide(key);
    const otherKey = gateway === undefined
      ? settings.otherKey
      : gateway.otherKey;
    const keepAliveMs = gateway?.keepAliveMs ?? settings.keepAliveMs;
    if (otherKey !== undefined) redaction.hide(otherKey, "+");
    redaction.hide(UPSTREAM_CANARY, "^");
    for (const [name, value] of settings.headers) {
      if (/auth|key|token|secret|cookie/.test(name)) redaction.hide(value);
    }
    const budget = new Budget(capsOf(settings, mode));
    const base = {
      mode,
      baseUrl: gateway?.url ?? settings.baseUrl ?? "",
      key,
      ...compact({ otherKey, keepAliveMs }),
      redaction,
      budget,
      timeoutMs: settings.timeoutMs ?? TIMEOUT_MS[mode],
      seed: settings.seed,
      headers: settings.headers,
      ...(live ? { patience: new RateLimitWait() } : {}),
      ...compact({ replay: upstream }),
    } as const;
    const profile = await discover({
      ...base,
      asks: new Set(wanted.flatMap(({ needs = [] }) => needs)),
      ...compact({
        embeddingModel: settings.embeddingModel,
        model: settings.model,
        chatModel: settings.chatModel,
      }),
    });
    const { checks, lines } = withoutLacking(wanted, profile, settings);
    const scenarios = chooseScenarios(checks, SCENARIOS, mode, profile);
    screen.line(`target    ${base.baseUrl} (${mode}), seed ${settings.seed}`);
    for (const line of lines) screen.line(line);
    if (checks.length === 0) {
      throw new UsageError("no check is left: nothing would be judged");
    }
    screen.line(planText(checks, scenarios, profile, mode));
    if (settings.plan) return EXIT.conformant;
    const stage: PlayOptions = { ...base, profile };
    let done = 0;
    const { records, capped, repeated } = await play(
      scenarios,
      stage,
      WIDTH[mode],
      ({ name }) => screen.progress(++done, scenarios.length, name),
    );
    const results = checks.map((check) => judge(check, mode, records, capped));
    // The gateway that the run started is gone when the user reads a failure: the command then uses
    // one started by hand.
    const asked = gateway === undefined ? base.baseUrl : STARTED_BY_HAND;
    const { explanations, file } = await explainAll(results, asked, settings);
    for (
      const text of failureTexts(
        results,
        explanations,
        expected,
        screen.verdict,
      )
    ) screen.line(text);
    const stale = staleEntries(expected, results);
    for (const id of stale) {
      screen.line(
        `\n✗ ${id} passes but is listed in ${settings.expectedFailures}`,
      );
    }
    if (gateway !== undefined && explanations.size > 0) {
      screen.line(
        "\nThe curl commands need a running gateway: GATEWAY_KEY=$CONFORMANCE_API_KEY deno task start",
      );
    }
    if (explanations.size > SHOWN_IN_FULL) {
      screen.line(`\nEvery failure in full: ${file}`);
    }
    const again = repeatedText(repeated);
    if (again !== undefined) screen.line(`\n${again}`);
    const gone = goneText([...records.values()]);
    const cause = gone ?? profile.flaw ?? sharedReplyText(results) ??
      causesText(results);
    if (cause !== undefined) screen.line(`\n${cause}`);
    const exitCode = exitOf(results, expected, stale);
    const seconds = (performance.now() - startMs) / 1000;
    screen.line(`\n${summaryTable(results)}\n`);
    screen.line(
      `${closingLine(results, exitCode)}; ${spentText(budget.spent, mode)} in ${
        seconds.toFixed(1)
      } s`,
    );
    await writeReports(settings, redaction, {
      target: base.baseUrl,
      mode,
      startedAt,
      seconds,
      requests: budget.spent.requests,
      exitCode,
      results,
      explanations,
    });
    return exitCode;
  }
}

async function readList(file: string): Promise<string> {
  try {
    return await Deno.readTextFile(file);
  } catch (error) {
    throw new UsageError(`--expected-failures cannot be read: ${error}`);
  }
}

async function openReplay(settings: Settings): Promise<ReplayServer> {
  const { host = "127.0.0.1", port = 0 } = settings.replay ?? {};
  try {
    return await startReplay({ hostname: host, port, keepEntries: 20_000 });
  } catch (error) {
    throw new Error(`Cannot listen at ${host}:${port}`, { cause: error });
  }
}

function capsOf(
  settings: Settings,
  mode: "live" | "replay",
): ConstructorParameters<typeof Budget>[0] {
  const standard = mode === "live" ? LIVE_CAPS : {};
  const { maxRequests, maxOutputTokens, maxUsd } = settings;
  return {
    ...standard,
    ...compact({
      requests: maxRequests,
      outputTokens: maxOutputTokens,
      usd: maxUsd,
    }),
  };
}

async function explainAll(
  results: readonly Result[],
  baseUrl: string,
  settings: Settings,
): Promise<{ explanations: ReadonlyMap<string, string>; file: string }> {
  const bad = results.filter(({ verdict }) => verdict !== "pass");
  if (bad.length === 0) return { explanations: new Map(), file: "" };
  const folder = await Deno.makeTempDir({ prefix: "conformance-exchanges-" });
  const written = new Map<Exchange, string>();
  const names = new Map<string, number>();
  const fileOf = (exchange: Exchange): string => {
    const known = written.get(exchange);
    if (known !== undefined) return known;
    const name = `${exchange.scenario}-${exchange.label}`.replaceAll(
      /[^\w.-]/g,
      "_",
    );
    // Several requests of a scenario may have the same label.
    const again = names.get(name) ?? 0;
    names.set(name, again + 1);
    const file = `${folder}/${name}${again === 0 ? "" : `-${again + 1}`}.txt`;
    Deno.writeTextFileSync(file, transcript(exchange));
    written.set(exchange, file);
    return file;
  };
  const command = commandOf(settings);
  const explanations = new Map(
    bad.map((result) =>
      [result.check.id, explain(result, { command, baseUrl, fileOf })] as const
    ),
  );
  const file = `${folder}/failures.txt`;
  await Deno.writeTextFile(
    file,
    [...explanations].map(([id, text]) => `${id}\n${text}\n`).join("\n"),
  );
  return { explanations, file };
}

function commandOf(settings: Settings): string {
  const { replay, seed, timeoutMs, keepAliveMs } = settings;
  const flags: readonly (readonly [string, string | number | undefined])[] = [
    ["base-url", settings.baseUrl],
    ["replay", replay === undefined ? replay : `${replay.host}:${replay.port}`],
    // The value may be a secret, so that the user has to fill it in.
    ...settings.headers.map(([name]) => ["header", `${name}:VALUE`] as const),
    ["model", settings.model],
    ["chat-model", settings.chatModel],
    ["embedding-model", settings.embeddingModel],
    ["profile", settings.profile],
    ["timeout", timeoutMs === undefined ? undefined : timeoutMs / 1000],
    ["keep-alive", keepAliveMs === undefined ? undefined : keepAliveMs / 1000],
    ["seed", seed],
  ];
  return [
    "deno task conformance",
    ...flags.flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name}=${word(String(value))}`]
    ),
  ].join(" ");
}

/** The text as one shell word, quoted only where necessary. */
function word(text: string): string {
  return /^[\w.:/,@%+-]+$/.test(text) ? text : quoted(text);
}

export function exitOf(
  results: readonly Result[],
  expected: ReadonlySet<string>,
  stale: readonly string[],
): number {
  if (countOf(results, "error") > 0) return EXIT.suiteFault;
  const failed = results.some(({ check, verdict }) =>
    verdict === "fail" && !expected.has(check.id)
  );
  if (failed || stale.length > 0) return EXIT.nonconformant;
  if (countOf(results, "not-run") > 0) return EXIT.partial;
  return EXIT.conformant;
}

/** The cost so far; only a live run can cost anything. */
function spentText(spent: Cost, mode: "live" | "replay"): string {
  const requests = `${spent.requests} requests`;
  return mode === "replay"
    ? requests
    : `${requests}, at most ${spent.outputTokens} output tokens and ${
      usdOf(spent).toFixed(2)
    } dollars`;
}

function closingLine(results: readonly Result[], exitCode: number): string {
  const word = Object.entries(EXIT).find(([, code]) => code === exitCode)?.[0];
  return `${word}: ${countOf(results, "pass")} passed, ${
    countOf(results, "fail")
  } failed, ${countOf(results, "unclear")} unclear, ${
    countOf(results, "not-run")
  } not run, ${countOf(results, "error")} errors`;
}

async function writeReports(
  settings: Settings,
  redaction: Redaction,
  report: RunReport,
): Promise<void> {
  const render = { json: jsonReport, junit: junitReport, html: htmlReport };
  for (const { kind, file } of settings.reports) {
    const text = render[kind](report);
    redaction.assertClean(text);
    await Deno.writeTextFile(file, text);
  }
}
