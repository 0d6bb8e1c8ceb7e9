/** Building blocks of pages. */
import type { Child } from "hono/jsx";
import { relativeTime } from "./format.ts";

/** Head of a page: title, one sentence, and actions. */
export function Head({
  title,
  text,
  crumb,
  children,
}: {
  title: string;
  text?: Child;
  crumb?: Child;
  children?: Child;
}) {
  return (
    <div class="head">
      <div class="text">
        {crumb !== undefined && <div class="crumb">{crumb}</div>}
        <h1>{title}</h1>
        {text !== undefined && <p>{text}</p>}
      </div>
      <div class="buttons">{children}</div>
    </div>
  );
}

/** A framed section with a heading. */
export function Panel({
  title,
  text,
  danger = false,
  aside,
  children,
}: {
  title: string;
  text?: Child;
  danger?: boolean;
  aside?: Child;
  children?: Child;
}) {
  return (
    <section class={danger ? "panel danger" : "panel"}>
      <header>
        <h2>{title}</h2>
        {aside}
        {text !== undefined && <p>{text}</p>}
      </header>
      {children}
    </section>
  );
}

/** Placeholder of an empty list. */
export function Empty({ title, children }: { title: string; children?: Child }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** A relative time such as "3 minutes ago", with the exact time in `datetime` and on hover. */
export function Time({ at, nowMs = Date.now() }: { at: Date | string | null; nowMs?: number }) {
  if (at === null) return <span class="soft">never</span>;
  const date = new Date(at);
  return (
    <time datetime={date.toISOString()} title={`${date.toISOString().slice(0, 19).replace("T", " ")} UTC`}>
      {relativeTime(date, nowMs)}
    </time>
  );
}

/** Text with a button that copies it. */
export function Copyable({ text, label, block = false }: { text: string; label: string; block?: boolean }) {
  return (
    <div class="copyable">
      {block ? (
        <pre tabindex={0} aria-label={label}>
          <code>{text}</code>
        </pre>
      ) : (
        <code tabindex={0} aria-label={label}>
          {text}
        </code>
      )}
      <button type="button" data-copy={text}>
        Copy<span class="sr"> {label}</span>
      </button>
    </div>
  );
}

/** A form that posts to the dashboard's API. With JavaScript it is sent without leaving the page. */
export function Form({ action, children, inline = false }: { action: string; children?: Child; inline?: boolean }) {
  return (
    <form method="post" action={action} data-enhance class={inline ? "inline" : ""}>
      {children}
      <p class="form-error" data-error role="alert"></p>
    </form>
  );
}

/** A button that asks before an action, an irreversible one unless `isDestructive` says otherwise, in a popover that needs no JavaScript. */
export function Confirm({
  label,
  subject,
  title,
  question,
  action,
  button,
  isDestructive = true,
  children,
}: {
  label: string;
  /** What the button is about, where several buttons of a page have the same label: for screen readers. */
  subject?: string;
  title: string;
  question: Child;
  action: string;
  button: string;
  isDestructive?: boolean;
  children?: Child;
}) {
  // Several buttons of a page may have one action.
  const id = `confirm${`${action} ${button}`.replace(/[^\w]+/g, "-")}`;
  return (
    <>
      <button type="button" class="quiet" popovertarget={id} aria-haspopup="dialog">
        {label}
        {subject !== undefined && <span class="sr"> {subject}</span>}
      </button>
      <div id={id} class="sheet" popover="auto" role="dialog" aria-modal="true" aria-labelledby={`${id}-title`}>
        <h2 id={`${id}-title`}>{title}</h2>
        <p>{question}</p>
        <Form action={action}>
          {children}
          <div class="row">
            <button type="submit" class={isDestructive ? "destructive" : "primary"}>
              {button}
            </button>
            <button type="button" popovertarget={id} popovertargetaction="hide">
              Keep it
            </button>
          </div>
        </Form>
      </div>
    </>
  );
}

/** A labelled choice. `options` are values with the texts shown for them. */
export function Select({
  label,
  name,
  options,
  value,
}: {
  label: string;
  name: string;
  options: readonly (readonly [value: string, text: string])[];
  value?: string | undefined;
}) {
  const id = `field-${name}`;
  return (
    <div class="field fit">
      <label for={id}>{label}</label>
      <select id={id} name={name}>
        {options.map(([option, text]) => (
          <option value={option} selected={option === value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

/** A labelled input. */
export function Field({
  label,
  name,
  hint,
  children,
  fit = false,
  id = `field-${name}`,
  ...input
}: {
  label: string;
  name: string;
  /** Only where two forms of a page have a field of this name. */
  id?: string;
  hint?: Child;
  children?: Child;
  fit?: boolean;
  type?: string;
  value?: string;
  placeholder?: string;
  required?: boolean;
  autocomplete?: string;
  maxlength?: number;
  min?: number;
  max?: number;
}) {
  const described = hint === undefined ? {} : { "aria-describedby": `${id}-hint` };
  return (
    <div class={fit ? "field fit" : "field"}>
      <label for={id}>{label}</label>
      {children ?? <input id={id} name={name} type="text" {...described} {...input} />}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
