import { type DashboardContext, tenantPath } from "../app/context.ts";
import { formatCount } from "./format.ts";
import { isUuid } from "../../../lib/uuid.ts";

/** Links to the first and the next page. */
export function Pager({
  c,
  page,
  before,
  last,
}: {
  c: DashboardContext;
  page: string;
  before: string | undefined;
  last: string | undefined;
}) {
  if (before === undefined && last === undefined) return null;
  const query = (value: string) => {
    const search = new URL(c.req.url).searchParams;
    search.set("before", value);
    return `${tenantPath(c, page)}?${search.toString()}`;
  };
  return (
    <nav class="pager" aria-label="Pages">
      {before === undefined ? <span /> : <a href={tenantPath(c, page)}>First page</a>}
      {last === undefined ? <span /> : <a href={query(last)}>Older</a>}
    </nav>
  );
}

/** A page's cursor: the id of the previous page's last row. */
export function cursorOf(c: DashboardContext, name: string): string | undefined {
  const value = c.req.query(name);
  return value !== undefined && isUuid(value) ? value : undefined;
}

/** Rows on numbered pages, with links to the page before and the one after; nothing if all are on the first. */
export function NumberPager({
  page,
  rows,
  total,
  linkTo,
}: {
  page: number;
  /** Rows of a page, and of all pages. */
  rows: number;
  total: number;
  linkTo: (page: number) => string;
}) {
  if (page === 1 && total <= rows) return null;
  const first = (page - 1) * rows;
  return (
    <nav class="pager" aria-label="Pages">
      {page > 1 ? <a href={linkTo(page - 1)}>Previous</a> : <span />}
      <span class="soft">
        {formatCount(Math.min(first + 1, total))} to {formatCount(Math.min(first + rows, total))} of{" "}
        {formatCount(total)}
      </span>
      {first + rows < total ? <a href={linkTo(page + 1)}>Next</a> : <span />}
    </nav>
  );
}
