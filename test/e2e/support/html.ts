import { HtmlValidate } from "html-validate";

/** Rules of form are those of the HTML standard; how an empty attribute or element ends is left to what writes the page. */
const VALIDATOR = new HtmlValidate({
  root: true,
  extends: ["html-validate:recommended"],
  rules: {
    "void-style": "off",
    "attribute-boolean-style": "off",
    // Of the code that is shown, and of names and queries in titles: the text is that of others.
    "no-trailing-whitespace": "off",
    "long-title": "off",
    // The same name on several checkboxes makes a list.
    "form-dup-name": ["error", { shared: ["checkbox", "radio", "submit"] }],
  },
});

/** What html-validate finds wrong in the text of a page, one line each. */
export async function findHtmlFaults(html: string): Promise<string[]> {
  const { results } = await VALIDATOR.validateString(html);
  return results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, offset }) => {
      const near = html.slice(Math.max(0, offset - 60), offset + 120).replaceAll("\n", " ");
      return `${ruleId}: ${message} — ${near}`;
    }),
  );
}
