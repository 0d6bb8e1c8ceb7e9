// The pages work without this script. With it, forms report errors in place, lists refresh themselves, and codes can be copied.
(() => {
  document.documentElement.classList.remove("no-js");

  /** Sends a form as JSON and follows the answer's redirect; shows errors beside the form. */
  async function submit(form, submitter) {
    const button = submitter ?? form.querySelector("button:not([type=button])");
    forgetErrors(form);
    button?.setAttribute("aria-busy", "true");
    try {
      const response = await fetch(form.action, {
        method: "POST",
        headers: { Accept: "application/json", "Content-Type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams(new FormData(form, submitter)),
      });
      const answer = await response.json();
      if (answer.ok) return location.assign(answer.to ?? location.href);
      // The session has expired. Sent as a plain form, it leads to the sign-in and is filled again afterwards.
      if (response.status === 401) {
        if (submitter?.name) form.append(hiddenField(submitter.name, submitter.value));
        return form.submit();
      }
      showError(form, answer.error ?? "That did not work.", answer.details?.issues?.[0]?.path);
    } catch {
      showError(form, "The service cannot be reached. Try again.");
    }
    button?.removeAttribute("aria-busy");
  }

  function hiddenField(name, value) {
    return Object.assign(document.createElement("input"), { type: "hidden", name, value });
  }

  function forgetErrors(form) {
    for (const error of form.querySelectorAll("[data-field-error]")) error.remove();
    const error = form.querySelector("[data-error]");
    if (error) error.textContent = "";
    for (const field of form.querySelectorAll("[aria-invalid]")) {
      field.removeAttribute("aria-invalid");
      field.removeAttribute("aria-errormessage");
    }
  }

  /** Says why a form was refused: beside the refused field, which gets the focus, else below the form. */
  function showError(form, text, name) {
    const field = name && form.elements.namedItem(name);
    const isShown = field instanceof HTMLElement && field.type !== "hidden";
    const known = isShown ? undefined : form.querySelector("[data-error]");
    const place = known ?? document.createElement("p");
    place.className = "form-error";
    place.setAttribute("role", "alert");
    if (isShown) {
      place.dataset.fieldError = "";
      place.id = `error-${crypto.randomUUID()}`;
      field.after(place);
      field.setAttribute("aria-invalid", "true");
      field.setAttribute("aria-errormessage", place.id);
    } else if (!known) {
      place.dataset.error = "";
      form.append(place);
    }
    // The interface calls fields by names that the page does not show.
    const plain = name && text.startsWith(`${name}: `) ? text.slice(name.length + 2) : text;
    place.textContent = plain.charAt(0).toUpperCase() + plain.slice(1);
    if (isShown) field.focus();
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("form[data-enhance]")) return;
    event.preventDefault();
    if (form.querySelector("[aria-busy]")) return;
    void submit(form, event.submitter);
  });

  document.addEventListener("click", (event) => {
    const target = event.target.closest("[data-copy],[data-fold],[data-theme-switch]");
    if (!target) return;
    if (target.matches("[data-copy]")) return void copy(target);
    if (target.matches("[data-fold]")) {
      const side = target.closest(".side");
      const open = side.toggleAttribute("data-open");
      target.setAttribute("aria-expanded", String(open));
      return;
    }
    const root = document.documentElement;
    const theme = { "": "light", light: "dark", dark: "" }[root.dataset.theme ?? ""];
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
    for (const name of document.querySelectorAll("[data-theme-name]")) name.textContent = theme || "system";
    document.cookie = `cc_theme=${theme}; path=/; max-age=${theme ? 31536000 : 0}; samesite=lax; secure`;
  });

  // Code of the documentation gets its buttons here: without the script they would do nothing.
  for (const block of document.querySelectorAll(".doc pre")) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "copy-code", textContent: "Copy" });
    button.dataset.copy = block.textContent;
    block.before(button);
  }

  async function copy(button) {
    await navigator.clipboard.writeText(button.dataset.copy);
    const verb = button.firstChild;
    verb.data = "Copied";
    setTimeout(() => (verb.data = "Copy"), 1500);
  }

  // Operators of a query are completed: "lang:" with languages, "path:" with the entries of the folder that is being typed.
  const completions = document.getElementById("completions");
  if (completions) {
    const query = document.querySelector("[list=completions]");
    const languages = [...document.querySelectorAll("#languages option")].map(({ value }) => value);
    const folders = new Map();
    const pathsOf = (folder) => {
      const value = (name) => query.form.elements.namedItem(name).value;
      const search = new URLSearchParams({ repo: value("repo"), ref: value("ref"), folder }).toString();
      if (!folders.has(search)) {
        const headers = { Accept: "application/json" };
        const asked = fetch(`${completions.dataset.paths}?${search}`, { headers, signal: AbortSignal.timeout(10_000) })
          .then((response) => response.json())
          .then(({ paths = [] }) => paths);
        folders.set(
          search,
          asked.catch(() => []),
        );
      }
      return folders.get(search);
    };
    const complete = async () => {
      const typed = query.value;
      const [, before, operator, part = ""] = /^((?:.*\s)?)(lang|path):(\S*)$/.exec(typed) ?? [];
      const word = /\S*$/.exec(typed)[0];
      const values = operator
        ? (operator === "lang" ? languages : await pathsOf(part.slice(0, part.lastIndexOf("/") + 1)))
            .filter((value) => value.startsWith(part))
            .map((value) => `${before}${operator}:${value}`)
        : ["lang:", "path:"]
            .filter((name) => word && name.startsWith(word))
            .map((name) => typed.slice(0, typed.length - word.length) + name);
      if (query.value !== typed) return;
      completions.replaceChildren(
        ...values.slice(0, 30).map((value) => Object.assign(document.createElement("option"), { value })),
      );
    };
    query.addEventListener("input", () => void complete());
  }

  // Keys: "/" searches, arrows walk through results, "g" and a letter go to a page.
  let isGoing = false;
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input,textarea,select,[contenteditable]");
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing) {
      if (event.key === "Escape") typing.blur();
      if (event.key === "ArrowDown" && typing.matches("[data-search]")) walk(event, 1);
      return;
    }
    if (isGoing) {
      isGoing = false;
      const link = document.querySelector(`[data-go="${CSS.escape(event.key)}"]`);
      if (link) link.click();
      return;
    }
    if (event.key === "g") isGoing = true;
    else if (event.key === "ArrowDown" && isResult(event.target)) walk(event, 1);
    else if (event.key === "ArrowUp" && isResult(event.target)) walk(event, -1);
    else if (event.key === "/") {
      const search = document.querySelector("input[data-search]") ?? document.querySelector("[data-search]");
      if (!search) return;
      event.preventDefault();
      if (search.matches("a")) search.click();
      else search.focus();
    }
  });

  const isResult = (element) => element === document.body || element.matches("[data-result]");

  /** Moves the focus to the next or the previous result. */
  function walk(event, step) {
    const results = [...document.querySelectorAll("[data-result]")];
    const next = results[results.indexOf(event.target) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  // A dialog keeps the focus while it is open, at first on its field or on the button that does nothing. Afterwards the browser returns it to
  // the button that opened the dialog.
  const FIELD = "input:not([type=hidden]),select,textarea";
  document.addEventListener(
    "toggle",
    (event) => {
      if (event.newState === "open" && event.target.matches("[role=dialog]"))
        (event.target.querySelector(FIELD) ?? event.target.querySelector("button[popovertarget]"))?.focus();
    },
    true,
  );
  document.addEventListener("keydown", (event) => {
    const dialog = event.key === "Tab" && document.querySelector("[role=dialog]:popover-open");
    if (!dialog) return;
    const parts = [...dialog.querySelectorAll(`button,${FIELD}`)];
    const at = parts.indexOf(document.activeElement);
    const next = event.shiftKey
      ? at <= 0
        ? parts.at(-1)
        : undefined
      : at === parts.length - 1 || at < 0
        ? parts[0]
        : undefined;
    if (!next) return;
    event.preventDefault();
    next.focus();
  });

  /** Marks the lines of an address that ends with #L10-L20. */
  function markLines() {
    for (const line of document.querySelectorAll(".line-no[id].on")) line.classList.remove("on");
    const [, from, to] = /^#L(\d+)-L(\d+)$/.exec(location.hash) ?? [];
    for (let line = Number(from); line <= Math.min(Number(to), Number(from) + 5000); line++)
      document.getElementById(`L${line}`)?.classList.add("on");
    if (from) document.getElementById(`L${from}`)?.scrollIntoView();
  }
  addEventListener("hashchange", markLines);
  markLines();

  document.addEventListener("click", (event) => {
    const line = event.target.closest("a.line-no[id]");
    const [, first] = /^#L(\d+)/.exec(location.hash) ?? [];
    if (line && event.shiftKey && first) {
      event.preventDefault();
      const [from, to] = [Number(first), Number(line.textContent)].sort((a, b) => a - b);
      location.hash = `L${from}-L${to}`;
      return;
    }
    const code = event.target.closest("[data-names]");
    if (!code || line || String(getSelection()) !== "") return;
    const place = nameAt(event.clientX, event.clientY);
    if (place) location.assign(`${code.dataset.names}&${new URLSearchParams(place).toString()}`);
  });

  /** The name at a place of the screen, with its line and column. */
  function nameAt(x, y) {
    const place = document.caretPositionFromPoint?.(x, y);
    const range = place ? undefined : document.caretRangeFromPoint?.(x, y);
    const node = place?.offsetNode ?? range?.startContainer;
    const offset = place?.offset ?? range?.startOffset ?? 0;
    if (node?.nodeType !== Node.TEXT_NODE || node.parentElement.closest(".hl-str,.hl-com,.hl-num,.hl-key"))
      return undefined;
    const isPart = (character) => character !== undefined && /[\p{L}\p{N}_$]/u.test(character);
    let [start, end] = [offset, offset];
    while (isPart(node.data[start - 1])) start--;
    while (isPart(node.data[end])) end++;
    const name = node.data.slice(start, end);
    if (!/^[\p{L}_$]/u.test(name) || name.length > 200) return undefined;
    const before = [...node.parentElement.closest(".block").querySelectorAll(".line-no")].filter(
      (number) => number.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING,
    );
    const number = before.at(-1);
    const text = document.createRange();
    text.setStartAfter(number);
    text.setEnd(node, start);
    return { line: number.textContent, column: String(text.toString().length + 1), name };
  }

  const isBusy = (region) => {
    const focused = region.contains(document.activeElement) && !document.activeElement.matches("details[id] > summary");
    return focused || region.querySelector("details[open]:not([id]),:popover-open,input:checked");
  };

  /** Tag of the copy of the page that all regions show; empty if one of them shows an older copy. */
  let etag = "";

  /** Replaces the regions that the user is not interacting with by those of a fresh copy of the page. */
  async function refresh() {
    if (document.hidden || [...document.querySelectorAll("[data-refresh]")].every(isBusy)) return;
    const response = await fetch(location.href, {
      headers: { Accept: "text/html", "X-Refresh": "1", "If-None-Match": etag },
      // Without a limit, one answer that never comes would end the refreshing.
      signal: AbortSignal.timeout(10_000),
    });
    if (!response.ok || response.redirected) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    etag = response.headers.get("ETag") ?? "";
    for (const region of document.querySelectorAll("[data-refresh]")) {
      const fresh = page.getElementById(region.id);
      if (isBusy(region)) etag = "";
      else if (fresh) replace(region, fresh);
    }
  }

  /** Replaces a region's content. Details with an id stay open, and keep the focus. */
  function replace(region, fresh) {
    // Before the comparison, or a region with a time would always differ.
    localTimes(fresh);
    for (const { id } of region.querySelectorAll("details[open][id]"))
      fresh.querySelector(`#${CSS.escape(id)}`)?.setAttribute("open", "");
    if (fresh.innerHTML !== region.innerHTML) {
      const summary = region.contains(document.activeElement) && document.activeElement.parentElement.id;
      region.replaceChildren(...fresh.childNodes);
      if (summary) document.querySelector(`#${CSS.escape(summary)} > summary`)?.focus({ preventScroll: true });
    }
    const seconds = fresh.dataset.refresh;
    if (!seconds) delete region.dataset.refresh;
    else if (seconds !== region.dataset.refresh) region.dataset.refresh = seconds;
  }

  /** Asks for the page again as often as the region in the greatest hurry wants it, until none does. */
  function keepFresh() {
    const regions = [...document.querySelectorAll("[data-refresh]")];
    if (regions.length === 0) return;
    const seconds = Math.min(...regions.map((region) => Number(region.dataset.refresh)));
    setTimeout(() => void refresh().then(keepFresh, keepFresh), seconds * 1000);
  }
  keepFresh();

  function localTimes(root) {
    for (const time of root.querySelectorAll("time[datetime]")) {
      time.title = new Date(time.dateTime).toLocaleString();
    }
  }
  // After the first paint: the first time that a browser writes in its language costs it some 30 ms.
  requestAnimationFrame(() => setTimeout(() => localTimes(document)));
})();
