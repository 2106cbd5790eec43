// @ts-types="../support/playwright.d.ts"
export { chromium } from "npm:playwright-core@1.65.1";
