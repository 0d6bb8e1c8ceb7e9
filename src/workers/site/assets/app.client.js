// The pages work without this script. With it, forms report errors in place, lists refresh themselves, and codes can be copied.
(() => {
  document.documentElement.classList.remove("no-js");

  /** Sends a form as JSON and follows the answer's redirect; shows errors beside the form. */
  async function submit(form, submitter) {
    const button = submitter ?? form.querySelector("button:not([type=button])");
    const error = form.querySelector("[data-error]");
    if (error) error.textContent = "";
    for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
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
      showError(form, error, answer.error ?? "That did not work.");
      markField(form, answer.details?.issues?.[0]?.path);
    } catch {
      showError(form, error, "The service cannot be reached. Try again.");
    }
    button?.removeAttribute("aria-busy");
  }

  function hiddenField(name, value) {
    return Object.assign(document.createElement("input"), { type: "hidden", name, value });
  }

  function showError(form, place, text) {
    const target = place ?? form.appendChild(document.createElement("p"));
    target.className = "form-error";
    target.setAttribute("role", "alert");
    target.setAttribute("data-error", "");
    target.textContent = text;
  }

  /** Marks the field that was refused, and moves the focus there. */
  function markField(form, name) {
    const field = name && form.elements.namedItem(name);
    const place = form.querySelector("[data-error]");
    if (!(field instanceof HTMLElement) || field.type === "hidden") return;
    if (place && !place.id) place.id = `error-${crypto.randomUUID()}`;
    field.setAttribute("aria-invalid", "true");
    if (place) field.setAttribute("aria-errormessage", place.id);
    field.focus();
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

  /** Marks the lines of an address that ends with #L10-L20. */
  function markLines() {
    for (const line of document.querySelectorAll(".line-no.on")) line.classList.remove("on");
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
      const [from, to] = [Number(first), Number(line.dataset.n)].sort((a, b) => a - b);
      location.hash = `L${from}-L${to}`;
      return;
    }
    const code = event.target.closest("[data-names]");
    if (!code || line || String(getSelection()) !== "") return;
    const name = nameAt(event.clientX, event.clientY);
    if (name) location.assign(code.dataset.names + encodeURIComponent(name));
  });

  /** The name at a place of the screen. */
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
    return /^[\p{L}_$]/u.test(name) && name.length <= 200 ? name : undefined;
  }

  /** Tags of the copies that regions show. */
  const etags = new WeakMap();

  /**
   * Replaces a region by that of a fresh copy of its page, unless the user is interacting with it. Details with an id stay open, and
   * keep the focus.
   */
  async function refresh(region) {
    const focused = region.contains(document.activeElement) ? document.activeElement : undefined;
    const busy =
      (focused && !focused.matches("details[id] > summary")) ||
      region.querySelector("details[open]:not([id]),:popover-open,input:checked");
    if (document.hidden || busy) return;
    const response = await fetch(region.dataset.refreshUrl ?? location.href, {
      headers: { Accept: "text/html", "X-Refresh": "1", "If-None-Match": etags.get(region) ?? "" },
      // Without a limit, one answer that never comes would end the refreshing.
      signal: AbortSignal.timeout(10_000),
    });
    if (!response.ok || response.redirected) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.getElementById(region.id);
    if (!fresh) return;
    // Before the comparison, or a region with a time would always differ.
    localTimes(fresh);
    for (const { id } of region.querySelectorAll("details[open][id]"))
      fresh.querySelector(`#${CSS.escape(id)}`)?.setAttribute("open", "");
    if (fresh.innerHTML !== region.innerHTML) {
      const summary = focused === document.activeElement && focused?.parentElement.id;
      region.replaceChildren(...fresh.childNodes);
      if (summary) document.querySelector(`#${CSS.escape(summary)} > summary`)?.focus({ preventScroll: true });
    }
    const etag = response.headers.get("ETag");
    if (etag) etags.set(region, etag);
    const seconds = fresh.dataset.refresh;
    if (seconds) region.dataset.refresh = seconds;
    else delete region.dataset.refresh;
  }

  /** Refreshes a region until its `data-refresh` attribute is gone. */
  function keepFresh(region) {
    const seconds = Number(region.dataset.refresh);
    if (!seconds) return;
    const again = () => keepFresh(region);
    setTimeout(() => void refresh(region).then(again, again), seconds * 1000);
  }
  for (const region of document.querySelectorAll("[data-refresh]")) keepFresh(region);

  function localTimes(root) {
    for (const time of root.querySelectorAll("time[datetime]")) {
      time.title = new Date(time.dateTime).toLocaleString();
    }
  }
  localTimes(document);
})();
