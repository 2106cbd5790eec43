// @ts-types="../support/console/playwright.d.ts"
export { chromium } from "npm:playwright-core@1.65.1";
