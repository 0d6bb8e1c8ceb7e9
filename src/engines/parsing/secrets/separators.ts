/** What may stand between the name of a secret and its value, in the formats and languages of repositories. */

export interface Separator {
  pattern: RegExp;
  /** Every match begins with one of these characters. */
  starts?: string;
  /** Whether the value must be quoted. */
  quoted?: boolean;
  /** Whether it separates the words of prose too. */
  loose?: boolean;
  /** Whether words in quotes may be the value, though it is loose. */
  words?: boolean;
  /** Whether it also separates the members of lists and arguments. */
  comma?: boolean;
  /** Whether the value is the text of an element of XML. */
  element?: boolean;
  /** Whether it only separates names of passwords and credentials from their values. */
  credentials?: boolean;
}

/** Block markers, anchors and tags of YAML, emphasis of Markdown, brackets. */
const OPEN = String.raw`\*{0,2}(?:[ \t]{0,4}\\\r?\n)?\s{0,40}(?:[|>][+-]?\s{1,40}|[&!][\w!]{1,20}[ \t]{1,4}|<<[~-]?["']?\w{1,20}["']?[.\w]{0,20}\s{0,4}\n\s{0,20})?(?:[({]|<(?:code|b|strong|kbd|tt|em)>|\[{0,2})\s{0,40}`;
/** What may come between a name and its value. Each pattern is bounded, so that the time is linear in the file's size. */
export const SEPARATORS: readonly Separator[] = [
  // `name: type = value`
  { pattern: new RegExp(String.raw`\s{0,4}[!?]?:\s{0,4}[A-Za-z_&][\w.<>|\[\]&' ?]{0,40}=${OPEN}`, "y"), quoted: true },
  // `"name": "DB_PASSWORD", "value": …`, `- name: DB_PASSWORD` and `value: …` on the next line
  { pattern: /["']?\s{0,4},?\s{0,80}["']?[vV]alue["']?\s{0,4}[:=]\s{0,10}/y },
  // `name = value`, `name: value`, `["name"] => value`, `name := value`, `name <- value`, `name ||= value`, `name == value`
  {
    pattern: new RegExp(
      String.raw`["'\x60\])\\*]{0,3}(?:\.(?:[vV]alue|[tT]ext|AsString|[dD]efault))?\s{0,40}(?:=>|[:?|!=+]{0,3}=|<-|:(?!:)|：)${OPEN}`,
      "y",
    ),
  },
  // `name string = value`, `name As String = value`, `name[] = value`, `Name { get; set; } = value`
  {
    pattern:
      /(?:[ \t]{1,4}(?:As[ \t]{1,4})?[A-Za-z]\w{0,20}|\[\w{0,8}\]|[ \t]{0,4}\{[^{}\n]{0,40}\})[ \t]{0,4}=(?!=)\s{0,20}/y,
    quoted: true,
  },
  // `getenv("NAME").orElse("value")`, `getenv("NAME") ?: "value"`, `process.env.NAME || "value"`
  {
    pattern:
      /(?:["'`]?[)\]]{1,3})?\s{0,10}(?:\.\s{0,4}\w{0,12}(?:[oO]r|[dD]efault)\w{0,12}\((?:\|\w?\||\(\)\s?=>)?|\?\?|\|\||\?:|or\b)\s{0,20}/y,
    quoted: true,
  },
  // `match getenv "NAME" with | null -> "value"`, `match var("NAME") { Ok(v) => v, Err(_) => "value" }`
  {
    starts: "\"'`",
    pattern:
      /["'`][)\]]{0,3}\s{1,20}(?:with|\{|of)\s(?:[^\n"'`]{0,80}\n){0,3}?[^\n"'`]{0,80}?\b(?:None|null|Nothing|nil|Err\w{0,4}(?:[( ]_?\w{0,10}\)?)?)\s{0,4}[-=]>\s{0,20}/y,
    quoted: true,
  },
  // `userPassword:: value`, of LDIF
  { starts: ":", pattern: /::[ \t]{1,4}/y, credentials: true },
  // `${NAME}    value`, of Robot Framework; `\newcommand{\name}{value}`
  { starts: "}", pattern: /\}(?:[ \t]{2,40}|\{)/y },
  // `${NAME:-value}`
  { starts: ":", pattern: /:[-=]/y },
  // `put(Names.NAME, "value")`
  { starts: ", \t", pattern: /[ \t]{0,2},\s{0,20}/y, quoted: true, credentials: true, comma: true },
  // `nameField.sendKeys("value")`
  {
    starts: ".",
    pattern: /\.(?:setText|setValue|send_?[kK]eys|fill|type|enterText)\([ \t]{0,4}/y,
    quoted: true,
  },
  // `setName("value")`, `.name("value")`, `NAME('value')`
  { starts: "(", pattern: /\([ \t]{0,4}/y, quoted: true },
  // `name() { return "value"`, `fun name(): String = "value"`, `var name: String { "value" }`
  {
    starts: "( \t:",
    pattern:
      /(?:\(\)|(?=[ \t]{0,4}:))\s{0,4}(?:(?::|->)\s{0,4}[A-Za-z][\w.<>?]{0,30}\s{0,4})?(?:=>|[={])\s{0,20}(?:get\s{0,4}\{\s{0,20})?(?:return\b\s{0,4})?/y,
    quoted: true,
  },
  // `define('NAME', value)`, `setenv("NAME", value)`, `os.environ.get("NAME", value)`
  { starts: "\"'`", pattern: /["'`]\s{0,10},\s{0,40}/y, quoted: true, comma: true },
  // `<add key="Name" value="…"/>`
  { starts: "\"'", pattern: /["']\s{1,20}(?:value|content)\s{0,4}=\s{0,4}/y, quoted: true },
  // `<password>…</password>`, `<key>Password</key><string>…</string>`, `<entry key="password"><value>…`, `<pass encoding="…">…`
  {
    pattern:
      /(?:<\/[\w:.-]{1,30}|["']?(?:[ \t][^<>\n]{0,80}["'\w])?)>\s{0,40}(?:<PlainText>\w{4,5}<\/PlainText>\s{0,40})?(?:<[\w:.-]{1,30}(?:\s[^<>\n]{0,60})?>\s{0,40}){0,3}(?:<!\[CDATA\[)?/y,
    element: true,
  },
  // A heading, and the value in a block of code below it; `token → value`
  {
    pattern:
      /(?:[*_:]{0,3}(?:<\/\w{1,10}>){0,2}\s{0,10}\n\s{0,10}(?:`{3}\w{0,10}\s{0,10}\n\s{0,10}|`)|[ \t]{1,4}(?:→|⇒|➜|->|—|–)[ \t]{1,4})/y,
    loose: true,
  },
  // `The password is value`
  { pattern: /[ \t](?:is|was|ist|lautet|est)(?: now| set to)?:?[ \t]{1,4}/y, loose: true, words: true },
  // `--password value`, `ENV NAME value`, `machine … password value`, `X-Api-Key value`
  { pattern: /["'`]?[ \t]{1,8}/y, loose: true },
];
