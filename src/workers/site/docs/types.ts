/** The documentation as the build hands it to the site Worker. */
export interface Heading {
  /** Anchor on the page, the same one as on GitHub. */
  id: string;
  text: string;
  /** 2 for `##`. */
  depth: number;
  /** 1-based line in the Markdown. */
  line: number;
}

export interface DocsPage {
  /** Last part of the address `/docs/<slug>`; empty for the first page. */
  slug: string;
  /** Name of the file in `docs/`. */
  file: string;
  title: string;
  /** Name in the navigation. */
  label: string;
  group: string;
  /** One sentence. */
  description: string;
  html: string;
  headings: Heading[];
  markdown: string;
}

export interface Docs {
  /** In the order of the navigation. */
  pages: readonly DocsPage[];
  /** Texts of example files that pages link to, by their path from the root of the repository; served below `/docs/files/`. */
  attachments: Record<string, string>;
}
