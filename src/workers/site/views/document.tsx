/** What the pages of the dashboard and of the documentation have in common. */
import type { Context } from "hono";
import { getCookie } from "hono/cookie";
import { raw } from "hono/html";
import type { Child } from "hono/jsx";
import { ICON, SCRIPT, STYLE } from "../assets/index.ts";
import { Icon } from "./icons.tsx";

/** The HTML document of a page. `head` is added to its head, after the common style. */
export function Document({ c, title, head, children }: { c: Context; title: string; head?: Child; children?: Child }) {
  const theme = themeOf(c);
  return (
    <>
      {raw("<!DOCTYPE html>")}
      <html lang="en" class="no-js" {...(theme === undefined ? {} : { "data-theme": theme })}>
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <title>{`${title} · Code Context`}</title>
          <link rel="icon" href={ICON.path} type="image/svg+xml" />
          <link rel="stylesheet" href={STYLE.path} />
          <script src={SCRIPT.path} defer></script>
          {head}
        </head>
        <body>{children}</body>
      </html>
    </>
  );
}

/** A link past the navigation, for keyboards. */
export function SkipLink() {
  return (
    <a class="skip" href="#main">
      Skip to the content
    </a>
  );
}

/** The name of the service, linked to `home`. */
export function Brand({ home }: { home: string }) {
  return (
    <a class="brand" href={home}>
      <img src={ICON.path} alt="" width="20" height="20" /> Code Context
    </a>
  );
}

/** Top of the navigation, with the button that opens the element `side-fold` on narrow screens. */
export function FoldBar({ home }: { home: string }) {
  return (
    <div class="fold-bar">
      <Brand home={home} />
      <button type="button" class="quiet" data-fold aria-expanded="false" aria-controls="side-fold">
        <Icon name="menu" /> Menu
      </button>
    </div>
  );
}

/** A button that cycles through the themes: system, light, dark. */
export function ThemeSwitch({ c }: { c: Context }) {
  return (
    <button type="button" class="quiet" data-theme-switch>
      <Icon name="theme" /> Theme: <span data-theme-name>{themeOf(c) ?? "system"}</span>
    </button>
  );
}

/** The theme that was chosen in this browser; undefined for the system's. */
function themeOf(c: Context): "light" | "dark" | undefined {
  const theme = getCookie(c, "cc_theme");
  return theme === "light" || theme === "dark" ? theme : undefined;
}
