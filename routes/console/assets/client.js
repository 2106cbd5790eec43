/**
 * The script of the console: conveniences only. The page sends this function's own text, so it uses
 * nothing outside itself.
 *
 * @module
 */

/** Runs in the browser. */
export function consoleClient() {
  /** The path of the public address; pages have it in their links. */
  const base = document.documentElement.dataset.base ?? "";

  /** @param {string} selector @returns {HTMLElement[]} */
  const all = (selector) =>
    [...document.querySelectorAll(selector)].filter(
      /** @returns {one is HTMLElement} */ (one) => one instanceof HTMLElement,
    );

  /** A sign-in link carries its code in the fragment, which reaches no server and no log. */
  const moveCode = () => {
    const field = document.querySelector("input[data-code]");
    const code = decodeURIComponent(location.hash.slice(1));
    if (!(field instanceof HTMLInputElement)) return;
    // Not by its attribute: browsers complain about that beside a fragment.
    field.focus();
    if (!code.startsWith("code-")) return;
    field.value = code;
    history.replaceState(null, "", location.pathname);
    document.querySelector("[data-open]")?.removeAttribute("hidden");
    const button = field.form?.querySelector("button");
    if (button instanceof HTMLButtonElement) {
      button.textContent = "Open";
      button.focus();
    }
  };

  /** Copies a field or a block; without access to the clipboard its text is selected. */
  const copyButtons = () => {
    for (const button of all("[data-copy]")) {
      button.hidden = false;
      button.addEventListener("click", async () => {
        const source = document.getElementById(button.dataset.copy ?? "");
        if (source === null) return;
        const text = source instanceof HTMLInputElement
          ? source.value
          : source.textContent ?? "";
        try {
          await navigator.clipboard.writeText(text);
          button.textContent = "Copied";
        } catch {
          if (source instanceof HTMLInputElement) source.select();
          else getSelection()?.selectAllChildren(source);
          button.textContent = "Selected: press Ctrl+C";
        }
      });
    }
  };

  /** The values of a bar stand below its plot; a first touch shows them, a second one follows the link. */
  const plotValues = () => {
    for (const plot of all(".plot")) {
      const values = plot.querySelector("[data-values]");
      /** @param {Event} event */
      const show = (event) => {
        const bar = event.target instanceof Element &&
          event.target.closest("a[aria-label]");
        const text = bar ? bar.getAttribute("aria-label") : null;
        if (values === null || text === null || values.textContent === text) {
          return;
        }
        values.textContent = text;
        if (event instanceof PointerEvent && event.pointerType === "touch") {
          touched = true;
        }
      };
      let touched = false;
      plot.addEventListener("pointerover", show);
      plot.addEventListener("pointerdown", show);
      plot.addEventListener("focusin", show);
      plot.addEventListener("click", (event) => {
        if (touched) event.preventDefault();
        touched = false;
      });
    }
  };

  /** A table that is not wider than its card scrolls with the page, so that its head stays in sight. */
  const fitTables = () => {
    const observer = new ResizeObserver((entries) => {
      for (const { target } of entries) {
        const box = target.closest(".scroll");
        box?.classList.toggle("fits", box.scrollWidth <= box.clientWidth);
      }
    });
    for (const box of all(".scroll, .scroll > table")) observer.observe(box);
  };

  /** Times are in UTC; the viewer's own zone is in the tooltip. */
  const localTimes = () => {
    for (const time of document.querySelectorAll("time[datetime]")) {
      const date = new Date(time.getAttribute("datetime") ?? "");
      if (time instanceof HTMLElement && !Number.isNaN(date.getTime())) {
        time.title = `${
          date.toLocaleString(undefined, { timeZoneName: "short" })
        } (your time)`;
      }
    }
  };

  /** `/` goes to the search, `g` and a letter to a page, `?` to the list of keys. */
  const shortcuts = () => {
    let isGo = false;
    document.addEventListener("keydown", (event) => {
      const { target } = event;
      if (
        event.ctrlKey || event.metaKey || event.altKey ||
        (target instanceof HTMLElement &&
          target.matches("input,select,textarea"))
      ) return;
      if (event.key === "/") {
        const search = document.querySelector("input[type=search]");
        if (search instanceof HTMLInputElement) {
          event.preventDefault();
          search.focus();
        }
      } else if (isGo) {
        const link = all("nav a").find((one) => one.dataset.key === event.key);
        link?.click();
      } else if (event.key === "?") {
        const help = document.querySelector("#shortcuts");
        if (help instanceof HTMLDetailsElement) {
          help.open = true;
          help.querySelector("summary")?.focus();
        }
      }
      isGo = event.key === "g";
    });
  };

  /** A double click sends a form once: the second reply would replace the one with a new key. */
  const sendOnce = () => {
    document.addEventListener("submit", (event) => {
      const { target: form } = event;
      if (!(form instanceof HTMLFormElement) || form.method !== "post") return;
      if (form.dataset.sent) event.preventDefault();
      form.dataset.sent = "yes";
      // Without a reply it can be sent again, but not while a slow one is on its way.
      setTimeout(() => delete form.dataset.sent, 15_000);
    });
    // A kept page that the Back button shows again can send its forms again.
    addEventListener("pageshow", ({ persisted }) => {
      if (!persisted) return;
      for (const form of document.forms) delete form.dataset.sent;
    });
  };

  /** In a narrow window the navigation is a row that scrolls: the page's own link is in sight. */
  const currentPage = () =>
    document.querySelector("nav [aria-current]")?.scrollIntoView({
      block: "nearest",
      inline: "center",
    });

  /**
   * What a call cost, as a sentence. Records of calls are written once a second.
   *
   * @param {string} id @param {string} key
   */
  const costOf = async (id, key) => {
    for (let attempt = 1; attempt <= 10; attempt++) {
      const reply = await fetch(base + "/v1/calls?limit=10", {
        credentials: "omit",
        headers: { "x-api-key": key },
      });
      /** @type {{ data?: { request_id: string, micro_usd: number }[] }} */
      const { data = [] } = await reply.json();
      const call = data.find(({ request_id }) => request_id === id);
      if (call) return `Cost $${(call.micro_usd / 1e6).toFixed(6)}: `;
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
    return "Its cost is on the page of the call: ";
  };

  /** Sends a prompt with the pasted key and shows the streamed reply. */
  const tryPrompt = () => {
    const form = document.querySelector("form[data-try]");
    if (!(form instanceof HTMLFormElement)) return;
    form.hidden = false;
    document.querySelector("[data-terminal]")?.setAttribute("hidden", "");
    const [box, text, state] = [
      "[data-reply]",
      "[data-reply-text]",
      "[data-reply-state]",
    ]
      .map((selector) => document.querySelector(selector));
    const stop = form.querySelector("[data-stop]");
    if (
      !(box instanceof HTMLElement) || !text || !state ||
      !(stop instanceof HTMLButtonElement)
    ) return;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const fields = new FormData(form);
      const abort = new AbortController();
      stop.disabled = false;
      stop.onclick = () => abort.abort();
      box.hidden = false;
      text.textContent = "";
      state.textContent = "Sent…";
      const startedMs = performance.now();
      let firstMs = 0;
      let usage = "";
      try {
        const reply = await fetch(base + "/v1/messages", {
          method: "POST",
          signal: abort.signal,
          credentials: "omit",
          headers: {
            "content-type": "application/json",
            "x-api-key": String(fields.get("key")),
          },
          body: JSON.stringify({
            model: fields.get("model"),
            max_tokens: 1000,
            stream: true,
            messages: [{ role: "user", content: fields.get("prompt") }],
          }),
        });
        const id = reply.headers.get("request-id") ?? "";
        if (!reply.ok || reply.body === null) {
          const { error } = await reply.json();
          state.textContent = `${reply.status}: ${error?.message} (${id})`;
          return;
        }
        const reader = reply.body.pipeThrough(new TextDecoderStream())
          .getReader();
        let rest = "";
        for (;;) {
          const { done, value } = await reader.read();
          if (done) break;
          const lines = (rest + value).split("\n");
          rest = lines.pop() ?? "";
          for (const line of lines) {
            if (!line.startsWith("data: ")) continue;
            const data = JSON.parse(line.slice(6));
            const piece = data.delta?.text ?? data.delta?.thinking ?? "";
            if (piece !== "") firstMs ||= performance.now() - startedMs;
            text.textContent += piece;
            if (data.usage) usage = `${data.usage.output_tokens} tokens out, `;
            if (data.error) usage += `${data.error.message}, `;
          }
        }
        state.textContent = `${usage}first token after ${
          (firstMs / 1000).toFixed(2)
        } s, whole ${((performance.now() - startedMs) / 1000).toFixed(2)} s. `;
        state.append(await costOf(id, String(fields.get("key"))));
        const link = document.createElement("a");
        link.href = `${base}/console/calls/${encodeURIComponent(id)}`;
        link.textContent = id;
        state.append(link);
      } catch (error) {
        state.textContent = abort.signal.aborted
          ? "Stopped."
          : `The call failed: ${error}`;
      } finally {
        stop.disabled = true;
      }
    });
  };

  /** Keeps the list of calls up to date from its event stream. */
  const liveList = () => {
    const list = document.querySelector("[data-live]");
    if (!(list instanceof HTMLElement)) return;
    /** @param {string} name @returns {HTMLElement | null} */
    const part = (name) => list.querySelector(`[data-live-${name}]`);
    const state = part("state");
    const time = part("time");
    const note = part("note");
    const pause = part("pause");
    const button = pause?.querySelector("button");
    if (!state || !time || !note || !pause || !button) return;
    const maxEnded = 50;

    /** @param {{ id: string, cells: { text: string, foreign?: boolean, tag?: string, href?: string, note?: string }[] }} row @param {HTMLElement} table */
    const rowOf = (row, table) => {
      const heads = table.querySelectorAll("th");
      const line = document.createElement("tr");
      row.cells.forEach(({ text, foreign, tag, href, note }, at) => {
        const cell = document.createElement(at === 0 ? "th" : "td");
        if (at === 0) cell.setAttribute("scope", "row");
        cell.className = heads[at]?.className ?? "";
        const { first, label } = heads[at]?.dataset ?? {};
        if (first) cell.classList.add("first");
        if (label) cell.dataset.name = label;
        const box = href
          ? document.createElement("a")
          : tag
          ? document.createElement("span")
          : foreign
          ? document.createElement("bdi")
          : cell;
        if (box instanceof HTMLAnchorElement && href) {
          box.href = base + href;
          if (foreign) box.dir = "auto";
        }
        if (tag) box.className = `tag ${tag}`;
        box.textContent = text;
        if (box !== cell) cell.append(box);
        if (note) {
          const below = document.createElement("code");
          below.className = "id";
          below.textContent = note;
          cell.append(below);
        }
        line.append(cell);
      });
      return line;
    };

    /** @param {any} event */
    const show = ({ data }) => {
      const picture = JSON.parse(data);
      time.textContent = picture.time;
      if (note.textContent !== picture.note) note.textContent = picture.note;
      const tables = all("[data-live-table]");
      for (const table of tables) {
        const body = table.querySelector("tbody");
        if (!body) continue;
        if (table.dataset.liveTable === "under_way") {
          // The row is replaced while a keyboard's focus is on its link.
          const focused = body.contains(document.activeElement)
            ? document.activeElement?.getAttribute("href")
            : undefined;
          body.replaceChildren(
            .../** @type {any[]} */ (picture.under_way).map((row) =>
              rowOf(row, table)
            ),
          );
          if (focused) {
            all("[data-live-table] a").find((one) =>
              one.getAttribute("href") === focused
            )?.focus({ preventScroll: true });
          }
        } else {
          const shown = new Set(
            [...body.rows].map((row) => row.querySelector(".id")?.textContent),
          );
          body.prepend(
            .../** @type {any[]} */ (picture.ended)
              .filter((row) => !shown.has(row.id))
              .map((row) => rowOf(row, table)),
          );
          while (body.rows.length > maxEnded) body.deleteRow(-1);
        }
        table.hidden = body.rows.length === 0;
      }
      const ended = part("ended");
      if (ended) ended.hidden = tables.at(-1)?.hidden ?? true;
      const empty = part("empty");
      if (empty) empty.hidden = tables.some((table) => !table.hidden);
      list.dataset.liveShown = String(Number(list.dataset.liveShown ?? 0) + 1);
    };

    /** @type {EventSource | undefined} */
    let source;
    let isPaused = false;
    const stop = () => {
      source?.close();
      source = undefined;
    };
    const start = () => {
      if (source || isPaused) return;
      const opened = new EventSource(list.dataset.live ?? "");
      source = opened;
      opened.addEventListener("open", () => {
        state.textContent = "Live.";
      });
      opened.addEventListener("calls", show);
      opened.addEventListener("end", (event) => {
        if (JSON.parse(event.data).reason !== "signed_out") return;
        stop();
        state.textContent = "The session has ended: sign in again.";
      });
      opened.addEventListener("error", () => {
        if (source !== opened) return;
        // The browser tries again by itself, except after a refusal.
        state.textContent = opened.readyState === EventSource.CLOSED
          ? "Not live: the session has ended, or too many lists are open."
          : "Not live, trying again.";
      });
    };
    pause.hidden = false;
    button.addEventListener("click", () => {
      isPaused = !isPaused;
      button.textContent = isPaused ? "Go on" : "Pause";
      if (isPaused) {
        stop();
        state.textContent = "Paused.";
      } else start();
    });
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) stop();
      else start();
    });
    start();
  };

  currentPage();
  fitTables();
  moveCode();
  sendOnce();
  tryPrompt();
  liveList();
  addEventListener("hashchange", moveCode);
  copyButtons();
  localTimes();
  plotValues();
  shortcuts();
}
