// The pages work without this script. With it, forms report errors in place, lists refresh themselves, and codes can be copied.
(() => {
  document.documentElement.classList.remove("no-js");

  /** Sends a form as JSON and follows the answer's redirect; shows errors beside the form. */
  async function submit(form, submitter) {
    const button = submitter ?? form.querySelector("button:not([type=button])");
    const error = form.querySelector("[data-error]");
    if (error) error.textContent = "";
    button?.setAttribute("aria-busy", "true");
    try {
      const response = await fetch(form.action, {
        method: "POST",
        headers: { Accept: "application/json", "Content-Type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams(new FormData(form, submitter)),
      });
      const answer = await response.json();
      if (answer.ok) return location.assign(answer.to ?? location.href);
      if (response.status === 401) return location.reload();
      showError(form, error, answer.error ?? "That did not work.");
    } catch {
      showError(form, error, "The service cannot be reached. Try again.");
    }
    button?.removeAttribute("aria-busy");
  }

  function showError(form, place, text) {
    const target = place ?? form.appendChild(document.createElement("p"));
    target.className = "form-error";
    target.setAttribute("role", "alert");
    target.setAttribute("data-error", "");
    target.textContent = text;
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("form[data-enhance]")) return;
    event.preventDefault();
    if (form.querySelector("[aria-busy]")) return;
    void submit(form, event.submitter);
  });

  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
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
    const isDark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
    document.cookie = `cc_theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=lax; secure`;
  });

  async function copy(button) {
    await navigator.clipboard.writeText(button.dataset.copy);
    const verb = button.firstChild;
    verb.data = "Copied";
    setTimeout(() => (verb.data = "Copy"), 1500);
  }

  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input,textarea,select,[contenteditable]");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
      const search = document.querySelector("[data-search]");
      if (!search) return;
      event.preventDefault();
      if (search.matches("a")) search.click();
      else search.focus();
    }
  });

  /** Replaces a region by that of a fresh copy of its page, unless the user is interacting with it. */
  async function refresh(region) {
    const busy = region.contains(document.activeElement) || region.querySelector("details[open],:popover-open");
    if (document.hidden || busy) return;
    const response = await fetch(region.dataset.refreshUrl ?? location.href, {
      headers: { Accept: "text/html" },
      // Without a limit, one answer that never comes would end the refreshing.
      signal: AbortSignal.timeout(10_000),
    });
    if (!response.ok || response.redirected) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.getElementById(region.id);
    if (!fresh) return;
    // Before the comparison, or a region with a time would always differ.
    localTimes(fresh);
    if (fresh.innerHTML !== region.innerHTML) region.replaceChildren(...fresh.childNodes);
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
