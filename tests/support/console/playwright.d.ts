/**
 * Types for the used part of `npm:playwright-core`. Its own bring the types of Node.js along, which
 * replace Deno's in every module of the project.
 */

export interface ConsoleMessage {
  text(): string;
}

/** Elements found by role or label. */
export interface Locator {
  click(): Promise<void>;
  fill(text: string): Promise<void>;
  press(key: string): Promise<void>;
  dblclick(): Promise<void>;
  setInputFiles(
    file: {
      readonly name: string;
      readonly mimeType: string;
      readonly buffer: Uint8Array;
    },
  ): Promise<void>;
  selectOption(value: string): Promise<unknown>;
  inputValue(): Promise<string>;
  textContent(): Promise<string | null>;
  innerText(): Promise<string>;
  getAttribute(name: string): Promise<string | null>;
  count(): Promise<number>;
  focus(): Promise<void>;
  waitFor(options?: { readonly state?: "visible" | "hidden" }): Promise<void>;
  first(): Locator;
  nth(at: number): Locator;
  hover(): Promise<void>;
  tap(): Promise<void>;
  filter(options: { readonly hasText: string }): Locator;
  getByRole(
    role: string,
    options?: { readonly name?: string | RegExp; readonly exact?: boolean },
  ): Locator;
}

export interface Page {
  close(): Promise<void>;
  readonly keyboard: {
    press(key: string): Promise<void>;
    type(text: string): Promise<void>;
  };
  on(event: "console", listener: (message: ConsoleMessage) => void): void;
  on(event: "pageerror", listener: (error: Error) => void): void;
  goto(url: string): Promise<unknown>;
  reload(): Promise<unknown>;
  goBack(): Promise<unknown>;
  url(): string;
  title(): Promise<string>;
  content(): Promise<string>;
  locator(selector: string): Locator;
  getByLabel(
    text: string | RegExp,
    options?: { readonly exact?: boolean },
  ): Locator;
  getByText(
    text: string | RegExp,
    options?: { readonly exact?: boolean },
  ): Locator;
  getByRole(
    role: string,
    options?: { readonly name?: string | RegExp; readonly exact?: boolean },
  ): Locator;
  evaluate(script: string): Promise<unknown>;
  screenshot(
    options: { readonly path: string; readonly fullPage?: boolean },
  ): Promise<unknown>;
  setViewportSize(
    size: { readonly width: number; readonly height: number },
  ): Promise<void>;
  emulateMedia(
    options: { readonly colorScheme: "light" | "dark" },
  ): Promise<void>;
  waitForLoadState(state: "load"): Promise<void>;
  waitForURL(url: string | RegExp): Promise<void>;
}

/** Cookies and storage apart from others. */
export interface BrowserContext {
  newPage(): Promise<Page>;
  waitForEvent(event: "page"): Promise<Page>;
  clearCookies(): Promise<void>;
  addCookies(
    cookies: readonly {
      readonly name: string;
      readonly value: string;
      readonly url: string;
    }[],
  ): Promise<void>;
  grantPermissions(names: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export interface Browser extends AsyncDisposable {
  newContext(options?: {
    readonly viewport?: { readonly width: number; readonly height: number };
    readonly colorScheme?: "light" | "dark";
    readonly forcedColors?: "active" | "none";
    readonly javaScriptEnabled?: boolean;
    readonly hasTouch?: boolean;
    readonly timezoneId?: string;
  }): Promise<BrowserContext>;
  close(): Promise<void>;
}

export declare const chromium: {
  launch(options: {
    readonly executablePath: string;
    readonly args: readonly string[];
  }): Promise<Browser>;
};
