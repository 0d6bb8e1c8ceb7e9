/**
 * What was typed into a form that was refused, kept in a cookie until the page of the form is shown again: without JavaScript the browser
 * would show it empty. The page is rewritten while it is sent, so forms need nothing for it.
 */
import { getCookie, setCookie } from "hono/cookie";
import * as z from "zod";
import { escapeHtml } from "../../../lib/html.ts";
import type { DashboardContext } from "./context.ts";
import { settingsOf } from "./settings.ts";

const KEPT_COOKIE = "cc_form";
/** Long enough to sign in with a code from a mail. */
const KEPT_SECONDS = 15 * 60;
/** Browsers keep cookies of 4 KB, attributes included. */
const MAX_COOKIE_BYTES = 3_500;
/** Fields that are not kept, and left empty: secrets, and what belongs to one page. */
const NOT_KEPT = /token|secret|password|code|key|once|handle/i;
const ERROR_ID = "refused-field";

const KeptForm = z.strictObject({
  /** Page with the form, and where the form is sent. The query tells forms of one page apart that are sent to one route. */
  page: z.string(),
  action: z.string(),
  /** The refused field; none if the form as a whole was refused. */
  field: z.string().optional(),
  message: z.string(),
  /** Who sent it; none if the session had expired. */
  by: z.string().optional(),
  values: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
});
export type KeptForm = z.output<typeof KeptForm>;

/** Keeps a form for its page, and for the person who is signed in, if anybody is. Values that a cookie has no room for are left out, the longest first. */
export function keepForm(c: DashboardContext, { values, ...form }: Omit<KeptForm, "by">): void {
  const by = c.get("session")?.user.id;
  const kept = Object.entries(values)
    .filter(([name]) => !NOT_KEPT.test(name))
    .toSorted(([, a], [, b]) => String(a).length - String(b).length);
  for (; ; kept.pop()) {
    const text = JSON.stringify({ ...form, by, values: Object.fromEntries(kept) });
    if (encodeURIComponent(text).length <= MAX_COOKIE_BYTES) return setKept(c, text, KEPT_SECONDS);
    if (kept.length === 0) return;
  }
}

/** The form that is kept for the page of the request; undefined if there is none. */
export function readKeptForm(c: DashboardContext): KeptForm | undefined {
  const text = getCookie(c, KEPT_COOKIE);
  if (text === undefined) return undefined;
  try {
    const form = KeptForm.parse(JSON.parse(text));
    const isOthers = form.by !== undefined && form.by !== c.get("session")?.user.id;
    return form.page.split("?")[0] === c.req.path && !isOthers ? form : undefined;
  } catch {
    return undefined;
  }
}

export function forgetKeptForm(c: DashboardContext): void {
  setKept(c, "", 0);
}

function setKept(c: DashboardContext, text: string, maxAge: number): void {
  const secure = settingsOf(c.env).hasSecureCookies;
  setCookie(c, KEPT_COOKIE, text, { path: "/app", httpOnly: true, secure, sameSite: "Lax", maxAge });
}

/** Fills the form of a page with what was typed. The refused field is marked, says why, and has the focus. */
export function withKeptForm(page: Response, form: KeptForm): Response {
  const { action, field, message, values } = form;
  let isInside = false;
  let isMarked = false;
  let select: string | null = null;
  const valuesOf = (name: string | null): string[] | undefined => {
    const value = name === null ? undefined : values[name];
    return value === undefined ? undefined : [value].flat();
  };
  const mark = (element: Element, name: string | null): void => {
    if (field === undefined || name !== field || isMarked) return;
    isMarked = true;
    element.setAttribute("aria-invalid", "true");
    const described = element.getAttribute("aria-describedby");
    element.setAttribute("aria-describedby", described === null ? ERROR_ID : `${described} ${ERROR_ID}`);
    element.setAttribute("autofocus", "");
    element.after(`<p class="form-error" id="${ERROR_ID}">${escapeHtml(message)}</p>`, { html: true });
  };
  return new HTMLRewriter()
    .on("form", {
      element(element) {
        isInside = element.getAttribute("action") === escapeHtml(action);
        element.onEndTag(() => {
          isInside = false;
        });
      },
    })
    .on("input", {
      element(element) {
        const [name, type] = [element.getAttribute("name"), element.getAttribute("type") ?? "text"];
        if (!isInside || type === "hidden" || type === "password") return;
        const own = valuesOf(name);
        if (type === "checkbox" || type === "radio") {
          // A box that is not ticked is not sent.
          if (own?.includes(element.getAttribute("value") ?? "on")) element.setAttribute("checked", "");
          else element.removeAttribute("checked");
        } else if (own) element.setAttribute("value", own[0] ?? "");
        mark(element, name);
      },
    })
    .on("textarea", {
      element(element) {
        const name = element.getAttribute("name");
        if (!isInside) return;
        const own = valuesOf(name);
        if (own) element.setInnerContent(own[0] ?? "");
        mark(element, name);
      },
    })
    .on("select", {
      element(element) {
        select = isInside ? element.getAttribute("name") : null;
        if (isInside) mark(element, select);
      },
    })
    .on("option", {
      element(element) {
        const own = isInside ? valuesOf(select) : undefined;
        if (!own) return;
        if (own.includes(element.getAttribute("value") ?? "")) element.setAttribute("selected", "");
        else element.removeAttribute("selected");
      },
    })
    .on("[data-error]", {
      element(element) {
        if (isInside && !isMarked) element.setInnerContent(message);
      },
    })
    .transform(page);
}
