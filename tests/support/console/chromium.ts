/**
 * A real browser for tests: Debian's Chromium, driven by `npm:playwright-core`.
 */
import assert from "node:assert/strict";
import axe from "axe-core";
import { chromium } from "playwright-core";
import type { Browser, BrowserContext, Page } from "./playwright.d.ts";

const PATHS = ["/usr/bin/chromium", "/usr/bin/chromium-browser"];

async function program(): Promise<string | undefined> {
  for (const path of PATHS) {
    const found = await Deno.stat(path).catch(() => undefined);
    if (found?.isFile === true) return path;
  }
  return undefined;
}

/** Where the browser is; undefined if none is installed: tests then skip themselves. */
export const CHROMIUM: string | undefined = await program();

/** A tab that collects what the page complains about. */
export interface Tab {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Console messages and errors: breaches of the content security policy among them. */
  readonly complaints: string[];
}

export async function withBrowser(
  run: (browser: Browser) => Promise<void>,
): Promise<void> {
  assert.ok(CHROMIUM !== undefined);
  // Without a sandbox, because tests run as root.
  await using browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox"],
  });
  await run(browser);
}

/** Opens a tab of its own context. */
export async function openTab(
  browser: Browser,
  options: Parameters<Browser["newContext"]>[0] = {},
): Promise<Tab> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    ...options,
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  return { context, page, complaints };
}

/** Accessibility faults, as `rule: element`; of colours alone where only these have changed. */
export async function accessibilityFaults(
  page: Page,
  rules: "all" | "colours" = "all",
): Promise<readonly string[]> {
  // It stays in the page until the next one is opened.
  if (await page.evaluate("typeof axe") === "undefined") {
    await page.evaluate(axe.source);
  }
  const options = JSON.stringify({
    resultTypes: ["violations"],
    ...rules === "all" ? {} : { runOnly: ["cat.color"] },
  });
  const faults = await page.evaluate(
    `axe.run(${options}).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ": " + html)))`,
  );
  assert.ok(Array.isArray(faults));
  return faults.map(String);
}

/** Whether the page itself scrolls sideways. */
export async function scrollsSideways(page: Page): Promise<boolean> {
  return await page.evaluate(
    "document.documentElement.scrollWidth > document.documentElement.clientWidth",
  ) === true;
}

/** Links and buttons of one short word that the page breaks over two lines. */
export async function brokenWords(page: Page): Promise<readonly string[]> {
  const words = await page.evaluate(`[...document.querySelectorAll("a, button")]
    .filter(({ textContent }) => /^[a-z]{1,10}$/i.test(textContent))
    .filter((element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      return new Set([...range.getClientRects()].map(({ top }) => top)).size > 1;
    })
    .map(({ textContent }) => textContent)`);
  assert.ok(Array.isArray(words));
  return words.map(String);
}
