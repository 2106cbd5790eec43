/**
 * The script of the console: conveniences only. The page sends this function's own text, so it uses
 * nothing outside itself.
 *
 * @module
 */

/** Runs in the browser. */
export function consoleClient() {
  /** @param {string} selector @returns {HTMLElement[]} */
  const all = (selector) =>
    [...document.querySelectorAll(selector)].filter(
      /** @returns {one is HTMLElement} */ (one) => one instanceof HTMLElement,
    );

  /** A sign-in link carries its code in the fragment, which reaches no server and no log. */
  const moveCode = () => {
    const field = document.querySelector("input[data-code]");
    const code = decodeURIComponent(location.hash.slice(1));
    if (!(field instanceof HTMLInputElement) || !code.startsWith("code-")) {
      return;
    }
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

  moveCode();
  addEventListener("hashchange", moveCode);
  copyButtons();
  localTimes();
  shortcuts();
}
